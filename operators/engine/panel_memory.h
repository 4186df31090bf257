#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

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

/// Scratch panels of one worker, handed out in order and given back when a Frame ends. Grows when
/// it must and keeps what it has, so that only the first panel costs allocations.
template <class T>
class PanelArena {
 public:
  explicit PanelArena(const PanelKernels<T>& kernels) : kernels_(kernels) {}

  const PanelKernels<T>& kernels() const { return kernels_; }

  /// [rows rounded up][P], uninitialised. Throws std::bad_alloc.
  T* rows(int count) {
    const std::size_t numbers =
        static_cast<std::size_t>(round_up_rows(count)) * static_cast<std::size_t>(kernels_.points);
    while (chunk_ < chunks_.size() && used_ + numbers > chunks_[chunk_].size()) {
      ++chunk_;
      used_ = 0;
    }
    if (chunk_ == chunks_.size()) {
      constexpr std::size_t usual_rows = 1024;
      chunks_.emplace_back(
          std::max(numbers, usual_rows * static_cast<std::size_t>(kernels_.points)));
      used_ = 0;
    }
    T* start = chunks_[chunk_].data() + used_;
    used_ += numbers;
    return start;
  }

  /// Gives back what was handed out during its life.
  class Frame {
   public:
    explicit Frame(PanelArena& arena) : arena_(arena), chunk_(arena.chunk_), used_(arena.used_) {}
    ~Frame() {
      arena_.chunk_ = chunk_;
      arena_.used_ = used_;
    }
    Frame(const Frame&) = delete;
    Frame& operator=(const Frame&) = delete;

   private:
    PanelArena& arena_;
    std::size_t chunk_;
    std::size_t used_;
  };

 private:
  const PanelKernels<T>& kernels_;
  std::vector<AlignedBuffer<T>> chunks_;
  std::size_t chunk_ = 0;
  std::size_t used_ = 0;
};

}  // namespace funcattn
