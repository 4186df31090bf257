#pragma once

#include <cstddef>
#include <memory>

#include "core/memory_error.h"
#include "operators/engine/engine_options.h"

namespace funcattn {

/// Keeps the panels of all points between two visits. Slots may be used by several threads at once,
/// each slot by one.
template <class T>
class ActivationStore {
 public:
  virtual ~ActivationStore() = default;
  /// False where nothing is kept (ActivationMemory::recomputed).
  virtual bool keeps() const = 0;
  /// The numbers of `count` slots from `first` as last left, in memory that lasts until the next
  /// call of the same worker; as they are, uninitialised, where `load` is false.
  virtual T* open(int worker, std::size_t first, std::size_t count, bool load) = 0;
  /// Keeps what open() gave to the worker.
  virtual void close(int worker, std::size_t first, std::size_t count) = 0;
};

/// The memory for the panels is not there. Whoever asked for them knows what to advise.
class PanelsTooLarge : public MemoryError {
 public:
  using MemoryError::MemoryError;
};

/// @param slots panels in all @param slot_size numbers of a panel
/// @param tile_slots most slots opened at once
/// Throws PanelsTooLarge, FileError.
template <class T>
std::unique_ptr<ActivationStore<T>> make_activation_store(const EngineOptions& options,
                                                          std::size_t slots, std::size_t slot_size,
                                                          std::size_t tile_slots, int workers);

}  // namespace funcattn
