#pragma once

#include <vector>

#include "operators/model.h"

namespace funcattn {

/// Published: added to the sum of a group's weights, which is 1.
constexpr double group_mass_floor = 1e-5;

/// What a few_shot model computes besides its parameters.
struct FewShotSettings {
  Activation activation = Activation::relu;
  double ridge = 0;
  bool relative_ridge = false;
};

/// FewShotModel::predict as a single differentiable operation for small problems on the CPU, where
/// the several hundred tensor operations of a training step cost far more than their arithmetic.
/// Differentiable once.
///
/// Checked shapes are expected. Undefined where it does not apply: another device or layout, a
/// large problem, input that is not finite, a sample without points, or a system that is singular
/// to working precision.
///
/// @param parameters temperature, weight and bias of every encoder layer, weight and bias of the
///   slice; all of the dtype of the coordinates
Tensor few_shot_kernel(const FewShotSettings& settings, const std::vector<Tensor>& parameters,
                       const PointSamples& source, const PointSamples& query);

}  // namespace funcattn
