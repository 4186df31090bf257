#pragma once

#include <vtkSmartPointer.h>

#include <Eigen/Core>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/array_spec.h"

class vtkDataArray;

namespace funcattn {

/// Row-major float64 matrix: one row per point or cell, one column per component.
using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

enum class ScalarType {
  int8,
  uint8,
  int16,
  uint16,
  int32,
  uint32,
  int64,
  uint64,
  float32,
  float64
};

/// What has been copied out of VTK's memory so far in this process, to be compared before and
/// after.
struct CopyCount {
  std::uint64_t arrays = 0;
  std::uint64_t bytes = 0;
};
CopyCount copies_made();

/// Values of an array as float64, [rows, components]: borrowed where VTK holds them so (the array
/// is kept alive), converted into a copy otherwise.
class DoubleView {
 public:
  Eigen::Map<const RowMatrix> matrix() const { return {data_, rows_, components_}; }
  bool copied() const { return copy_ != nullptr; }

 private:
  friend class ArrayView;
  explicit DoubleView(std::shared_ptr<const RowMatrix> copy);
  DoubleView(const double* data, Eigen::Index rows, int components,
             vtkSmartPointer<vtkDataArray> array,
             std::shared_ptr<const std::vector<double>> values);
  friend class Mesh;

  const double* data_;
  Eigen::Index rows_;
  Eigen::Index components_;
  std::shared_ptr<const RowMatrix> copy_;
  vtkSmartPointer<vtkDataArray> keep_alive_;
  std::shared_ptr<const std::vector<double>> keep_values_;
};

/// Values of a mesh array: rows x components, interleaved. Borrowed from VTK where VTK holds them
/// that way (the array is kept alive), copied otherwise.
class ArrayView {
 public:
  /// Throws DataError for arrays that are not numeric (strings, bits, variants). Copied arrays
  /// (struct-of-arrays and implicit layouts) are held as float64.
  explicit ArrayView(vtkSmartPointer<vtkDataArray> array);

  const void* data() const { return data_; }
  ScalarType type() const { return type_; }
  Eigen::Index rows() const { return rows_; }
  int components() const { return components_; }
  bool copied() const { return copied_; }  ///< True where VTK's layout had to be copied.

  RowMatrix to_double() const;  ///< A copy, counted.
  DoubleView doubles() const;   ///< No copy where the values are float64 already.

  /// Writes the components `columns` of every row to `target`, row after row, `stride` numbers from
  /// the beginning of one row to that of the next.
  void copy_columns(const std::vector<int>& columns, double* target, Eigen::Index stride) const;

  /// Row of the first value that is not finite, or -1.
  Eigen::Index first_non_finite() const;

 private:
  vtkSmartPointer<vtkDataArray> keep_alive_;
  std::shared_ptr<const std::vector<double>>
      copy_;  ///< Shared, so that copies of a view stay valid.
  const void* data_ = nullptr;
  ScalarType type_ = ScalarType::float64;
  Eigen::Index rows_ = 0;
  int components_ = 1;
  bool copied_ = false;
};

}  // namespace funcattn
