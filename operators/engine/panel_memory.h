#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>

#include "operators/engine/panel_kernels.h"

namespace funcattn {

/// Numbers aligned for SIMD registers, uninitialised; 64 spare bytes at the end.
template <class T>
class AlignedBuffer {
 public:
  AlignedBuffer() = default;
  /// Throws std::bad_alloc.
  explicit AlignedBuffer(std::size_t count) : count_(count) {
    const std::size_t bytes = (count * sizeof(T) + 127) / 64 * 64;
    data_.reset(static_cast<T*>(std::aligned_alloc(64, bytes)));
    if (!data_) throw std::bad_alloc();
  }
  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  std::size_t size() const { return count_; }
  T& operator[](std::size_t i) { return data_.get()[i]; }
  const T& operator[](std::size_t i) const { return data_.get()[i]; }
  void fill(T value) {
    for (std::size_t i = 0; i < count_; ++i) data_.get()[i] = value;
  }

 private:
  struct Free {
    void operator()(T* p) const { std::free(p); }
  };
  std::unique_ptr<T, Free> data_;
  std::size_t count_ = 0;
};

/// Scratch panels of one worker, handed out in order and given back when the Frame ends. Never
/// allocates after construction.
template <class T>
class PanelArena {
 public:
  /// @param rows most rows in use at once, each request rounded up to panel_row_group
  PanelArena(const PanelKernels<T>& kernels, std::size_t rows)
      : kernels_(kernels), buffer_(rows * static_cast<std::size_t>(kernels.points)) {}

  const PanelKernels<T>& kernels() const { return kernels_; }

  /// [rows rounded up][P]
  T* rows(int count) {
    T* start = buffer_.data() + used_;
    used_ +=
        static_cast<std::size_t>(round_up_rows(count)) * static_cast<std::size_t>(kernels_.points);
    if (used_ > buffer_.size()) std::abort();  // A wrong estimate in scratch_rows().
    return start;
  }

  /// Returns what was handed out during its life.
  class Frame {
   public:
    explicit Frame(PanelArena& arena) : arena_(arena), used_(arena.used_) {}
    ~Frame() { arena_.used_ = used_; }
    Frame(const Frame&) = delete;
    Frame& operator=(const Frame&) = delete;

   private:
    PanelArena& arena_;
    std::size_t used_;
  };

 private:
  const PanelKernels<T>& kernels_;
  AlignedBuffer<T> buffer_;
  std::size_t used_ = 0;
};

}  // namespace funcattn
