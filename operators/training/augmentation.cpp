#include "operators/training/augmentation.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/text.h"

namespace funcattn {

const char* to_string(Symmetries symmetries) {
  switch (symmetries) {
    case Symmetries::none:
      return "none";
    case Symmetries::rectangle:
      return "rectangle";
    case Symmetries::square:
      return "square";
  }
  return "";
}

Symmetries symmetries_from_string(const std::string& text) {
  std::vector<std::string> names;
  for (const auto symmetries : {Symmetries::none, Symmetries::rectangle, Symmetries::square}) {
    if (text == to_string(symmetries)) return symmetries;
    names.emplace_back(to_string(symmetries));
  }
  const auto meant = closest_match(text, names);
  throw UsageError("unknown symmetries '" + text + "': expected one of " + join(names, ", ") +
                   (meant ? "; did you mean " + *meant + "?" : ""));
}

namespace {

/// Half the edge of the box seen from the center, relative: what rounding may make of a square.
constexpr double edge_tolerance = 1e-6;

class PlaneSymmetries final : public Augmentation {
 public:
  PlaneSymmetries(Symmetries symmetries, std::array<double, 2> center)
      : symmetries_(symmetries), center_(center) {}

  Sample apply(const Sample& sample, RandomGenerator& random) const override {
    const std::uint64_t element = random.below(symmetries_ == Symmetries::square ? 8 : 4);
    Sample moved = sample;
    moved.source.coordinates = move(sample.source.coordinates, element);
    moved.query.coordinates =
        sample.query_is_source ? moved.source.coordinates : move(sample.query.coordinates, element);
    return moved;
  }

  Json description() const override {
    return Json{{"kind", "symmetries"},
                {"group", to_string(symmetries_)},
                {"center", {center_[0], center_[1]}}};
  }

 private:
  /// Bits of the element: reflect the first axis, the second, exchange them.
  Tensor move(const Tensor& coordinates, std::uint64_t element) const {
    Tensor moved = coordinates.clone();
    const bool exchanges = (element & 4) != 0;
    for (std::int64_t axis = 0; axis < 2; ++axis) {
      const auto index = static_cast<std::size_t>(axis);
      const std::int64_t from = exchanges ? 1 - axis : axis;
      const double sign = ((element >> index) & 1) != 0 ? -1 : 1;
      const Tensor offset = coordinates.select(1, from) - center_[static_cast<std::size_t>(from)];
      moved.select(1, axis).copy_(sign * offset + center_[index]);
    }
    return moved;
  }

  Symmetries symmetries_;
  std::array<double, 2> center_;
};

void require_scalar(const std::string& what, const ArraySpec& array) {
  if (array.components != 1)
    throw UsageError("symmetries need arrays of one component, but the " + what + " '" +
                     array.name + "' has " + std::to_string(array.components) +
                     ", which would have to be turned with the points; train without symmetries");
}

}  // namespace

std::shared_ptr<const Augmentation> make_symmetries(
    Symmetries symmetries, Contract& contract, const std::optional<std::array<double, 2>>& center) {
  if (symmetries == Symmetries::none)
    throw UsageError("symmetries 'none' are no augmentation; leave it away");
  if (contract.coordinates.dimension() < 2)
    throw UsageError("symmetries are those of the first two coordinates, but the points have " +
                     std::to_string(contract.coordinates.dimension()) +
                     "; train without symmetries");
  for (const InputArray& input : contract.inputs)
    require_scalar(input.role == InputRole::parameter ? "parameter" : "input", input);
  for (const ArraySpec& output : contract.outputs) require_scalar("target", output);
  if (contract.bounds_min.size() < 2 || contract.bounds_max.size() < 2)
    throw UsageError("symmetries need the box of the points, which the contract does not have");

  std::array<double, 2> fixed{}, reach{};
  for (std::size_t axis = 0; axis < 2; ++axis) {
    const double low = contract.bounds_min[axis];
    const double high = contract.bounds_max[axis];
    fixed[axis] = center ? (*center)[axis] : 0.5 * (low + high);
    reach[axis] = std::max(high - fixed[axis], fixed[axis] - low);
    if (fixed[axis] < low || fixed[axis] > high || !std::isfinite(fixed[axis]))
      throw UsageError("the center of the symmetries is at " + format_number(fixed[axis]) +
                       " on axis " + std::to_string(axis) + ", outside of the points, which are " +
                       "from " + format_number(low) + " to " + format_number(high));
  }
  if (symmetries == Symmetries::square &&
      std::abs(reach[0] - reach[1]) > edge_tolerance * std::max(reach[0], reach[1]))
    throw UsageError("the symmetries of a square are asked for, but the points reach " +
                     format_number(reach[0]) + " from the center along the first axis and " +
                     format_number(reach[1]) +
                     " along the second; take those of a rectangle, or give the center of the "
                     "square");
  for (std::size_t axis = 0; axis < 2; ++axis) {
    contract.bounds_min[axis] = fixed[axis] - reach[axis];
    contract.bounds_max[axis] = fixed[axis] + reach[axis];
  }
  return std::make_shared<PlaneSymmetries>(symmetries, fixed);
}

}  // namespace funcattn
