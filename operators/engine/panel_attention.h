#pragma once

#include <vector>

#include "operators/engine/packed_linear.h"

// The two visits that an attention pays to every point, on panels: what a point adds to the
// coefficients, and what the transported coefficients give back to it. In between stands a solve of
// small systems. Nothing here holds more than one panel.

namespace funcattn {

/// Numbers of one sample's points that the coefficients need.
struct SampleSize {
  double points = 0;   ///< All points, those of weight 0 included.
  double present = 1;  ///< Points of positive weight, at least 1.
};

/// What the points of a panel weigh.
template <class T>
struct PanelMeasure {
  const T* share = nullptr;  ///< [P] weight / sum of the weights, or 0 and 1 where the form counts.
  bool all_present = true;   ///< No share of the panel is 0.
};

/// Which of an attention's sums a point takes part in; both in self-attention.
struct Sides {
  bool source = true;
  bool query = true;
};

/// What the solve hands to the second visit: one small map per head.
template <class T>
using Transported = std::vector<PackedLinear<T>>;

/// One attention layer. Const functions may run in several threads at once.
template <class T>
class PanelAttention {
 public:
  virtual ~PanelAttention() = default;

  /// Numbers that one set of sums takes.
  virtual std::size_t sum_size() const = 0;
  /// True where every point of positive weight counts alike (coefficients `sum`).
  virtual bool counts_points() const { return false; }
  /// True where the coefficients of the queries enter the transport.
  virtual bool needs_query_sums() const { return true; }
  /// Known values at the points of the source that follow the width features of a panel.
  virtual int source_values() const { return 0; }

  /// Sets sums to those of no point.
  virtual void clear_tile(T* sums) const;
  /// Adds the points of a panel. @param x [width + source_values()][P]
  virtual void accumulate(PanelArena<T>& arena, Sides sides, const T* x,
                          const PanelMeasure<T>& measure, T* sums) const = 0;
  /// Sets float64 sums to those of no point.
  virtual void clear_total(double* sums) const;
  /// Adds the sums of a tile, or of other tiles, in float64.
  virtual void merge_tile(const T* tile, double* sums) const;
  virtual void merge_total(const double* part, double* sums) const;

  // What processes exchange of the float64 sums: first the numbers that are maxima, then those that
  // add up once every process has brought its own to the maxima of all.
  virtual std::size_t maxima() const { return 0; }
  virtual std::size_t packed_size() const = 0;
  /// @param packed [packed_size()]
  virtual void pack(const double* sums, double* packed) const = 0;
  virtual void unpack(const double* packed, double* sums) const = 0;
  /// Brings packed sums to other maxima, not smaller than their own.
  virtual void rescale(const double* /*maxima*/, double* /*packed*/) const {}

  /// Coefficients, transport, and maps for apply(). Throws nothing of its own: a system that
  /// cannot be solved gives NaN.
  virtual Transported<T> solve(const double* sums, const SampleSize& source,
                               const SampleSize& query) const = 0;

  /// y += attention at the points of a panel. @param x [width][P] @param y [width][P]
  virtual void apply(PanelArena<T>& arena, const Transported<T>& transported, const T* x,
                     T* y) const = 0;
};

template <class T>
void PanelAttention<T>::clear_tile(T* sums) const {
  const std::size_t size = sum_size();
  for (std::size_t i = 0; i < size; ++i) sums[i] = T(0);
}

template <class T>
void PanelAttention<T>::clear_total(double* sums) const {
  const std::size_t size = sum_size();
  for (std::size_t i = 0; i < size; ++i) sums[i] = 0.0;
}

template <class T>
void PanelAttention<T>::merge_tile(const T* tile, double* sums) const {
  const std::size_t size = sum_size();
  for (std::size_t i = 0; i < size; ++i) sums[i] += static_cast<double>(tile[i]);
}

template <class T>
void PanelAttention<T>::merge_total(const double* part, double* sums) const {
  const std::size_t size = sum_size();
  for (std::size_t i = 0; i < size; ++i) sums[i] += part[i];
}

}  // namespace funcattn
