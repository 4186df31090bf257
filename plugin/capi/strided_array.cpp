#include "plugin/capi/strided_array.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/error.h"

namespace funcattn {

namespace {

template <class Visit>
void with_type(ScalarType type, const Visit& visit) {
  switch (type) {
    case ScalarType::uint8:
      return visit(std::uint8_t{});
    case ScalarType::int32:
      return visit(std::int32_t{});
    case ScalarType::int64:
      return visit(std::int64_t{});
    case ScalarType::float32:
      return visit(float{});
    default:
      return visit(double{});
  }
}

std::uintptr_t address(const void* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer);
}

char* element(const StridedArray& array, Eigen::Index row, int component) {
  return static_cast<char*>(array.data) + row * array.row_stride +
         component * array.component_stride;
}

/// First byte and the byte after the last.
struct Range {
  std::uintptr_t begin;
  std::uintptr_t end;
  bool meets(const Range& other) const { return begin < other.end && other.begin < end; }
};

Range range_of(const StridedArray& array, int first_component, int last_component) {
  const std::uintptr_t corners[] = {address(element(array, 0, first_component)),
                                    address(element(array, 0, last_component)),
                                    address(element(array, array.rows - 1, first_component)),
                                    address(element(array, array.rows - 1, last_component))};
  return {*std::min_element(std::begin(corners), std::end(corners)),
          *std::max_element(std::begin(corners), std::end(corners)) + size_of(array.type)};
}

/// Two columns with the same distance between rows meet if they do within one such distance.
bool columns_overlap(const StridedArray& a, int component_a, const StridedArray& b,
                     int component_b) {
  if (!range_of(a, component_a, component_a).meets(range_of(b, component_b, component_b)))
    return false;
  const auto stride = static_cast<std::uintptr_t>(std::abs(a.row_stride));
  if (std::abs(a.row_stride) != std::abs(b.row_stride)) return true;
  const std::uintptr_t from_a_to_b = (address(element(b, 0, component_b)) % stride + stride -
                                      address(element(a, 0, component_a)) % stride) %
                                     stride;
  return from_a_to_b < size_of(a.type) || stride - from_a_to_b < size_of(b.type);
}

std::string numbers_of(const StridedArray& array) {
  return std::to_string(array.rows) + " x " + std::to_string(array.components) + " elements of " +
         std::to_string(size_of(array.type)) + " bytes";
}

/// The number of bytes between the first and the last of `count` elements, or nothing sensible.
bool fits(Eigen::Index count, std::int64_t stride) {
  std::int64_t bytes = 0;
  return stride != std::numeric_limits<std::int64_t>::min() &&
         !__builtin_mul_overflow(static_cast<std::int64_t>(count), std::abs(stride), &bytes) &&
         bytes < std::numeric_limits<std::int64_t>::max() / 4;
}

bool elements_are_apart(const StridedArray& array) {
  const auto size = static_cast<std::ptrdiff_t>(size_of(array.type));
  const std::ptrdiff_t row = std::abs(array.row_stride);
  const std::ptrdiff_t component = std::abs(array.component_stride);
  if (array.rows == 1) return array.components == 1 || component >= size;
  if (array.components == 1) return row >= size;
  const bool row_by_row = component >= size && row >= (array.components - 1) * component + size;
  const bool column_by_column = row >= size && component >= (array.rows - 1) * row + size;
  return row_by_row || column_by_column;
}

}  // namespace

std::size_t size_of(ScalarType type) {
  std::size_t size = 0;
  with_type(type, [&](auto number) { size = sizeof number; });
  return size;
}

bool StridedArray::is_packed() const {
  const auto size = static_cast<std::ptrdiff_t>(size_of(type));
  return (components == 1 || component_stride == size) &&
         (rows == 1 || row_stride == components * size) && address(data) % size_of(type) == 0;
}

bool StridedArray::operator==(const StridedArray& other) const {
  return data == other.data && type == other.type && rows == other.rows &&
         components == other.components && (rows == 1 || row_stride == other.row_stride) &&
         (components == 1 || component_stride == other.component_stride);
}

StridedArray make_strided_array(const std::string& what, void* data, ScalarType type,
                                Eigen::Index rows, int components, std::int64_t row_stride,
                                std::int64_t component_stride) {
  if (data == nullptr) throw UsageError(what + ": the pointer to its numbers is NULL");
  StridedArray array{data, type, rows, components, row_stride, component_stride};
  const auto size = static_cast<std::ptrdiff_t>(size_of(type));
  if (row_stride == 0) array.row_stride = component_stride == 0 ? components * size : size;
  if (component_stride == 0) array.component_stride = size;
  const std::string strides = what + ": strides of " + std::to_string(array.row_stride) +
                              " bytes from point to point and " +
                              std::to_string(array.component_stride) +
                              " from component to component, for " + numbers_of(array) + ", ";
  if (!fits(rows, array.row_stride) || !fits(components, array.component_stride))
    throw UsageError(strides + "reach beyond the memory of any machine");
  if (!elements_are_apart(array))
    throw UsageError(strides + "make elements overlap; strides count bytes, 0 is packed");
  return array;
}

void copy_to(const StridedArray& array, double* target, Eigen::Index stride) {
  with_type(array.type, [&](auto number) {
    for (Eigen::Index row = 0; row < array.rows; ++row)
      for (int component = 0; component < array.components; ++component) {
        std::memcpy(&number, element(array, row, component), sizeof number);
        target[row * stride + component] = static_cast<double>(number);
      }
  });
}

bool overflows(const StridedArray& array, const Eigen::Ref<const RowMatrix>& values) {
  if (array.type != ScalarType::float32) return false;
  const auto all = values.array();
  return (all.isFinite() && !all.cast<float>().isFinite()).any();
}

void copy_from(const Eigen::Ref<const RowMatrix>& values, const StridedArray& array) {
  with_type(array.type, [&](auto number) {
    for (Eigen::Index row = 0; row < array.rows; ++row)
      for (int component = 0; component < array.components; ++component) {
        number = static_cast<decltype(number)>(values(row, component));
        std::memcpy(element(array, row, component), &number, sizeof number);
      }
  });
}

bool overlap(const StridedArray& a, const StridedArray& b) {
  if (!range_of(a, 0, a.components - 1).meets(range_of(b, 0, b.components - 1))) return false;
  for (int of_a = 0; of_a < a.components; ++of_a)
    for (int of_b = 0; of_b < b.components; ++of_b)
      if (columns_overlap(a, of_a, b, of_b)) return true;
  return false;
}

}  // namespace funcattn
