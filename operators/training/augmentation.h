#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/random.h"
#include "operators/contract.h"
#include "operators/point_samples.h"

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

/// Groups of maps of the plane of the first two coordinates onto itself.
enum class Symmetries {
  none,
  rectangle,  ///< The 4 of a rectangle: reflections in both axes and the half turn.
  square,     ///< The 8 of a square: those, the quarter turns and the reflections in its diagonals.
};

const char* to_string(Symmetries symmetries);
/// Throws UsageError with the known names.
Symmetries symmetries_from_string(const std::string& text);

/// Maps the coordinates of each sample, its queries included, by an element of the group with equal
/// probability; values and targets move with their points. That is a sample of the same problem
/// where nothing but the shape of the domain distinguishes the axes.
///
/// @param contract of the samples, with the box of their points, which becomes that of all places
///   that a point is mapped to
/// @param center the fixed point; std::nullopt: the middle of the box of the points
/// Throws UsageError for fewer than two coordinates, for arrays of several components (a vector
/// would have to be turned with the points), and where `square` is asked of a box that is not one.
std::shared_ptr<const Augmentation> make_symmetries(
    Symmetries symmetries, Contract& contract, const std::optional<std::array<double, 2>>& center);

/// Turns the coordinates of each sample, its queries included, by a rotation about the middle of
/// the box of the points, all rotations being equally likely; values and targets move with their
/// points. That is a sample of the same problem where directions mean nothing.
///
/// @param contract of the samples, with the box of their points, which becomes that of all places
///   that a point may be turned to
/// Throws UsageError unless there are three coordinates, and for arrays of several components.
std::shared_ptr<const Augmentation> make_rotations(Contract& contract);

}  // namespace funcattn
