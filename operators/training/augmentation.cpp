#include "operators/training/augmentation.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/text.h"
#include "operators/plane_maps.h"

namespace funcattn {

namespace {

/// Half the edge of the box seen from the center, relative: what rounding may make of a square.
constexpr double edge_tolerance = 1e-6;

class PlaneSymmetries final : public Augmentation {
 public:
  explicit PlaneSymmetries(const SymmetryGroup& group) : group_(group) {}

  Sample apply(const Sample& sample, RandomGenerator& random) const override {
    const int element = draw(random);
    Sample moved = sample;
    moved.source = mapped(sample.source, group_, element);
    moved.query.coordinates = sample.query_is_source
                                  ? moved.source.coordinates
                                  : mapped(sample.query.coordinates, group_, element);
    return moved;
  }

  void skip(const Sample&, RandomGenerator& random) const override { (void)draw(random); }

  Json description() const override {
    return Json{{"kind", "symmetries"},
                {"group", to_string(group_.kind)},
                {"center", {group_.center[0], group_.center[1]}}};
  }

 private:
  int draw(RandomGenerator& random) const {
    return static_cast<int>(random.below(static_cast<std::uint64_t>(group_.order())));
  }

  SymmetryGroup group_;
};

class Rotations final : public Augmentation {
 public:
  explicit Rotations(const std::array<double, 3>& center)
      : center_(torch::tensor({center[0], center[1], center[2]}, torch::kFloat64)) {}

  Sample apply(const Sample& sample, RandomGenerator& random) const override {
    const Tensor rotation = draw(random);
    const auto turn = [&](const Tensor& coordinates) {
      return ((coordinates.to(torch::kFloat64) - center_).matmul(rotation.t()) + center_)
          .to(coordinates.scalar_type());
    };
    Sample turned = sample;
    turned.source.coordinates = turn(sample.source.coordinates);
    turned.query.coordinates =
        sample.query_is_source ? turned.source.coordinates : turn(sample.query.coordinates);
    return turned;
  }

  Json description() const override {
    const double* c = center_.data_ptr<double>();
    return Json{{"kind", "rotations"}, {"center", {c[0], c[1], c[2]}}};
  }

 private:
  /// A quaternion of normal numbers has no preferred direction.
  static Tensor draw(RandomGenerator& random) {
    std::array<double, 4> q{};
    double length = 0;
    while (!(length > 1e-6)) {
      length = 0;
      for (double& part : q) {
        part = random.normal();
        length += part * part;
      }
      length = std::sqrt(length);
    }
    const double w = q[0] / length, x = q[1] / length, y = q[2] / length, z = q[3] / length;
    return torch::tensor({{1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)},
                          {2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)},
                          {2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)}},
                         torch::kFloat64);
  }

  Tensor center_;  ///< [3]
};

/// @param which "symmetries" or "rotations"
void require_scalars(const Contract& contract, const std::string& which) {
  const auto require = [&](const std::string& what, const ArraySpec& array) {
    if (array.components != 1)
      throw UsageError(which + " need arrays of one component, but the " + what + " '" +
                       array.name + "' has " + std::to_string(array.components) +
                       ", which would have to be turned with the points; train without " + which);
  };
  for (const InputArray& input : contract.inputs)
    require(input.role == InputRole::parameter ? "parameter" : "input", input);
  for (const OutputArray& output : contract.outputs) require("target", output);
}

}  // namespace

std::shared_ptr<const Augmentation> make_symmetries(const SymmetryGroup& group) {
  if (group.kind == Symmetries::none)
    throw UsageError("symmetries 'none' are no augmentation; leave it away");
  return std::make_shared<PlaneSymmetries>(group);
}

SymmetryGroup symmetries_of(Symmetries symmetries, Contract& contract,
                            const std::optional<std::array<double, 2>>& center) {
  if (contract.coordinates.dimension() < 2)
    throw UsageError("symmetries are those of the first two coordinates, but the points have " +
                     std::to_string(contract.coordinates.dimension()) +
                     "; train without symmetries");
  require_scalars(contract, "symmetries");
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
  return {symmetries, fixed};
}

std::shared_ptr<const Augmentation> make_rotations(Contract& contract) {
  if (contract.coordinates.dimension() != 3)
    throw UsageError("rotations are those of three coordinates, but the points have " +
                     std::to_string(contract.coordinates.dimension()) +
                     "; train without rotations");
  require_scalars(contract, "rotations");
  if (contract.bounds_min.size() != 3 || contract.bounds_max.size() != 3)
    throw UsageError("rotations need the box of the points, which the contract does not have");
  std::array<double, 3> center{};
  double reach = 0;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    center[axis] = 0.5 * (contract.bounds_min[axis] + contract.bounds_max[axis]);
    reach = std::hypot(reach, contract.bounds_max[axis] - center[axis]);
  }
  for (std::size_t axis = 0; axis < 3; ++axis) {
    contract.bounds_min[axis] = center[axis] - reach;
    contract.bounds_max[axis] = center[axis] + reach;
  }
  return std::make_shared<Rotations>(center);
}

}  // namespace funcattn
