#pragma once

#include <string>
#include <vector>

#include "core/json.h"
#include "operators/field_error.h"
#include "operators/operator.h"

namespace funcattn {

/// Errors of one predicted array over a set of samples. All means over points are weighted by the
/// quadrature weights; points of weight 0 do not count.
struct FieldMetrics {
  std::string field;
  double relative_l2 = 0;  ///< Mean over samples of |p - t| / |t| in the weighted L2 norm.
  double relative_l2_median = 0;
  double relative_l2_worst = 0;
  std::string worst_sample;
  double mse = 0;        ///< Mean over samples of the weighted mean square over points, components.
  double rmse = 0;       ///< sqrt(mse), in the unit of the field.
  double max_error = 0;  ///< Largest absolute error at any point of positive weight.
};

/// Errors at one resolution, or under one shift of the distribution.
struct CaseMetrics {
  std::string label;
  int samples = 0;
  double points = 0;  ///< Mean number of query points per sample.
  double seconds_per_million_points = 0;
  std::vector<FieldMetrics> fields;
  Json to_json() const;
};

/// Predicts every sample by itself and measures. Throws DataError without samples, NumericError,
/// naming the sample, if a prediction is not finite.
CaseMetrics evaluate_samples(const Operator& op, const std::vector<Sample>& samples,
                             const std::string& label);

/// Prediction [M,C] of one sample, float64, no gradient recorded.
Tensor predict_sample(const Operator& op, const Sample& sample);

/// Mean over the fields of the mean relative L2 errors.
double overall_relative_l2(const CaseMetrics& metrics);

}  // namespace funcattn
