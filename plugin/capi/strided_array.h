#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "meshio/array_view.h"

namespace funcattn {

/// Numbers in memory that somebody else owns: `rows` x `components`, anywhere on a lattice of two
/// strides.
struct StridedArray {
  void* data = nullptr;
  ScalarType type = ScalarType::float64;  ///< uint8, int32, int64, float32 or float64.
  Eigen::Index rows = 0;
  int components = 1;
  std::ptrdiff_t row_stride = 0;        ///< Bytes from a row to the next; may be negative.
  std::ptrdiff_t component_stride = 0;  ///< Bytes from a component to the next.

  /// Rows one after the other, each without gaps, as VTK holds arrays, and aligned.
  bool is_packed() const;
  bool operator==(const StridedArray& other) const;
};

std::size_t size_of(ScalarType type);

/// Strides as given, 0 replaced by what stands for packed. Throws UsageError, beginning with
/// `what`, for null data, strides with which elements would overlap each other, and memory beyond
/// the address space.
StridedArray make_strided_array(const std::string& what, void* data, ScalarType type,
                                Eigen::Index rows, int components, std::int64_t row_stride,
                                std::int64_t component_stride);

/// Writes all values as float64 to `target`, [rows, components], `stride` numbers from row to row.
void copy_to(const StridedArray& array, double* target, Eigen::Index stride);

/// Whether copy_from() would turn a finite value into an infinite one.
bool overflows(const StridedArray& array, const Eigen::Ref<const RowMatrix>& values);

/// Writes [rows, components] values into an array of type float32 or float64.
void copy_from(const Eigen::Ref<const RowMatrix>& values, const StridedArray& array);

/// Whether the two share a byte that belongs to an element of either. Exact where both have the
/// same row stride or disjoint ranges; elsewhere it may say so of arrays that merely interleave.
bool overlap(const StridedArray& a, const StridedArray& b);

}  // namespace funcattn
