#pragma once

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "core/json.h"
#include "core/random.h"
#include "operators/contract.h"
#include "operators/point_samples.h"
#include "operators/symmetries.h"

namespace funcattn {

/// What a training step sees of a sample, changed at random each time that it is drawn. Stateless:
/// all randomness comes from the generator given.
class Augmentation {
 public:
  virtual ~Augmentation() = default;
  /// @return a sample that shares no tensor with `sample` that differs
  virtual Sample apply(const Sample& sample, RandomGenerator& random) const = 0;
  /// Draws what apply() would, for a sample that another process changes.
  /// @param sample as the data set has it; how much is drawn must not depend on what augmentations
  ///   before this one make of it
  virtual void skip(const Sample& sample, RandomGenerator& random) const {
    (void)apply(sample, random);
  }
  /// Recorded in the training state; a resumed run must agree with it.
  virtual Json description() const = 0;
};

using Augmentations = std::vector<std::shared_ptr<const Augmentation>>;

/// Maps the coordinates of each sample, its queries included, by an element of the group with equal
/// probability; values and targets move with their points. That is a sample of the same problem
/// where nothing but the shape of the domain distinguishes the axes.
/// Throws UsageError for an order of 1.
std::shared_ptr<const Augmentation> make_symmetries(const SymmetryGroup& group);

/// The group about a fixed point for samples of a contract, whose box of their points becomes that
/// of all places that a point is mapped to.
/// @param center the fixed point; std::nullopt: the middle of the box of the points
/// Throws UsageError for fewer than two coordinates, for arrays of several components (a vector
/// would have to be turned with the points), and where `square` is asked of a box that is not one.
SymmetryGroup symmetries_of(Symmetries symmetries, Contract& contract,
                            const std::optional<std::array<double, 2>>& center);

/// Turns the coordinates of each sample, its queries included, by a rotation about the middle of
/// the box of the points, all rotations being equally likely; values and targets move with their
/// points. That is a sample of the same problem where directions mean nothing.
///
/// @param contract of the samples, with the box of their points, which becomes that of all places
///   that a point may be turned to
/// Throws UsageError unless there are three coordinates, and for arrays of several components.
std::shared_ptr<const Augmentation> make_rotations(Contract& contract);

}  // namespace funcattn
