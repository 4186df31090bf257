#include "meshio/array_view.h"

#include <vtkDataArray.h>

#include <atomic>
#include <cmath>

#include "core/error.h"
#include "meshio/large_pages.h"

namespace funcattn {

namespace {

std::string described(vtkDataArray* array) {
  return array->GetName() ? "array '" + std::string(array->GetName()) + "'" : "unnamed array";
}

template <class T>
constexpr ScalarType integer_type() {
  switch (sizeof(T)) {
    case 1:
      return std::is_signed_v<T> ? ScalarType::int8 : ScalarType::uint8;
    case 2:
      return std::is_signed_v<T> ? ScalarType::int16 : ScalarType::uint16;
    case 4:
      return std::is_signed_v<T> ? ScalarType::int32 : ScalarType::uint32;
    default:
      return std::is_signed_v<T> ? ScalarType::int64 : ScalarType::uint64;
  }
}

ScalarType scalar_type(vtkDataArray* array) {
  switch (array->GetDataType()) {
    case VTK_FLOAT:
      return ScalarType::float32;
    case VTK_DOUBLE:
      return ScalarType::float64;
    case VTK_CHAR:
      return integer_type<char>();
    case VTK_SIGNED_CHAR:
      return ScalarType::int8;
    case VTK_UNSIGNED_CHAR:
      return ScalarType::uint8;
    case VTK_SHORT:
      return integer_type<short>();
    case VTK_UNSIGNED_SHORT:
      return integer_type<unsigned short>();
    case VTK_INT:
      return integer_type<int>();
    case VTK_UNSIGNED_INT:
      return integer_type<unsigned int>();
    case VTK_LONG:
      return integer_type<long>();
    case VTK_UNSIGNED_LONG:
      return integer_type<unsigned long>();
    case VTK_LONG_LONG:
      return integer_type<long long>();
    case VTK_UNSIGNED_LONG_LONG:
      return integer_type<unsigned long long>();
    case VTK_ID_TYPE:
      return integer_type<vtkIdType>();
    default:
      throw DataError(described(array) + " holds values of type '" + array->GetDataTypeAsString() +
                      "', which is not numeric; convert it to a number type first");
  }
}

/// Calls `function` with a typed pointer to the values.
template <class Function>
auto dispatch(ScalarType type, const void* data, const Function& function) {
  switch (type) {
    case ScalarType::int8:
      return function(static_cast<const std::int8_t*>(data));
    case ScalarType::uint8:
      return function(static_cast<const std::uint8_t*>(data));
    case ScalarType::int16:
      return function(static_cast<const std::int16_t*>(data));
    case ScalarType::uint16:
      return function(static_cast<const std::uint16_t*>(data));
    case ScalarType::int32:
      return function(static_cast<const std::int32_t*>(data));
    case ScalarType::uint32:
      return function(static_cast<const std::uint32_t*>(data));
    case ScalarType::int64:
      return function(static_cast<const std::int64_t*>(data));
    case ScalarType::uint64:
      return function(static_cast<const std::uint64_t*>(data));
    case ScalarType::float32:
      return function(static_cast<const float*>(data));
    case ScalarType::float64:
      break;
  }
  return function(static_cast<const double*>(data));
}

std::atomic<std::uint64_t> copied_arrays{0};
std::atomic<std::uint64_t> copied_bytes{0};

void count_copy(Eigen::Index values) {
  ++copied_arrays;
  copied_bytes += static_cast<std::uint64_t>(values) * sizeof(double);
}

}  // namespace

CopyCount copies_made() {
  return {copied_arrays, copied_bytes};
}

DoubleView::DoubleView(std::shared_ptr<const RowMatrix> copy)
    : data_(copy->data()), rows_(copy->rows()), components_(copy->cols()), copy_(std::move(copy)) {}

DoubleView::DoubleView(const double* data, Eigen::Index rows, int components,
                       vtkSmartPointer<vtkDataArray> array,
                       std::shared_ptr<const std::vector<double>> values)
    : data_(data),
      rows_(rows),
      components_(components),
      keep_alive_(std::move(array)),
      keep_values_(std::move(values)) {}

ArrayView::ArrayView(vtkSmartPointer<vtkDataArray> array) : keep_alive_(std::move(array)) {
  type_ = scalar_type(keep_alive_);
  rows_ = keep_alive_->GetNumberOfTuples();
  components_ = keep_alive_->GetNumberOfComponents();
  if (keep_alive_->HasStandardMemoryLayout()) {
    data_ = keep_alive_->GetVoidPointer(0);
    return;
  }
  copied_ = true;
  count_copy(rows_ * components_);
  type_ = ScalarType::float64;
  const auto copy = std::make_shared<std::vector<double>>(static_cast<std::size_t>(rows_) *
                                                          static_cast<std::size_t>(components_));
  for (Eigen::Index row = 0; row < rows_; ++row)
    keep_alive_->GetTuple(row, copy->data() + row * components_);
  copy_ = copy;
  data_ = copy->data();
}

DoubleView ArrayView::doubles() const {
  if (type_ == ScalarType::float64)
    return {static_cast<const double*>(data_), rows_, components_, keep_alive_, copy_};
  return DoubleView(std::make_shared<const RowMatrix>(to_double()));
}

RowMatrix ArrayView::to_double() const {
  count_copy(rows_ * components_);
  return dispatch(type_, data_, [this](const auto* values) -> RowMatrix {
    using T = std::decay_t<decltype(*values)>;
    using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    if (rows_ == 0) return RowMatrix(0, components_);
    RowMatrix copy = in_large_pages(RowMatrix(rows_, components_));
    copy = Eigen::Map<const Matrix>(values, rows_, components_).template cast<double>();
    return copy;
  });
}

void ArrayView::copy_columns(const std::vector<int>& columns, double* target,
                             Eigen::Index stride) const {
  dispatch(type_, data_, [&](const auto* values) {
    for (Eigen::Index row = 0; row < rows_; ++row, values += components_, target += stride)
      for (std::size_t i = 0; i < columns.size(); ++i)
        target[i] = static_cast<double>(values[columns[i]]);
  });
}

Eigen::Index ArrayView::first_non_finite() const {
  return dispatch(type_, data_, [this](const auto* values) -> Eigen::Index {
    using T = std::decay_t<decltype(*values)>;
    if constexpr (std::is_floating_point_v<T>) {
      for (Eigen::Index i = 0; i < rows_ * components_; ++i)
        if (!std::isfinite(values[i])) return i / components_;
    }
    return -1;
  });
}

}  // namespace funcattn
