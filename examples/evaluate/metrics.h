#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/json.h"
#include "meshio/mesh.h"
#include "operators/field_error.h"
#include "operators/operator.h"

namespace funcattn {

/// One figure over the samples of a set.
struct SampleFigure {
  double mean = 0;
  double median = 0;
  double worst = 0;
  std::string worst_sample;
};

/// What became of the points of one class, all samples of a set together, each point counting
/// alike; of those alone that have positive weight and a class that is not the ignored one.
struct ClassFigures {
  int value = 0;               ///< The class, as arrays hold it.
  std::int64_t points = 0;     ///< That are of it.
  std::int64_t predicted = 0;  ///< Points, of whatever class, that are said to be of it.
  std::int64_t right = 0;      ///< In both.

  double recall() const;     ///< right / points; NaN without points.
  double precision() const;  ///< right / predicted; NaN where it was never predicted.
};

/// Mean over the classes that have points.
double mean_recall(const std::vector<ClassFigures>& classes);

/// Errors of one predicted array over a set of samples. All means over points but the accuracy are
/// weighted by the quadrature weights; points of weight 0 do not count. Of classes there is the
/// accuracy alone, and the other numbers are NaN.
struct FieldMetrics {
  std::string field;
  bool is_class = false;
  double relative_l2 = 0;  ///< Mean over samples of |p - t| / |t| in the weighted L2 norm.
  double relative_l2_median = 0;
  double relative_l2_worst = 0;
  std::string worst_sample;
  double mse = 0;        ///< Mean over samples of the weighted mean square over points, components.
  double rmse = 0;       ///< sqrt(mse), in the unit of the field.
  double max_error = 0;  ///< Largest absolute error at any point of positive weight.
  /// |p - t| / |t| in the H1 seminorm (meshio/h1_seminorm.h), for point arrays on meshes whose
  /// cells have extent.
  std::optional<SampleFigure> relative_h1;
  /// Share of the points, each counting alike, whose class is right: of classes where the true one
  /// is known, over the samples that have such points; of fields whose largest component is that of
  /// the truth, where the truth is one component 1, the others 0, at every point. The worst is the
  /// least.
  std::optional<SampleFigure> accuracy;
  std::vector<ClassFigures> classes;  ///< Of classes: each that the operator has, ascending.
  std::int64_t unknown_points = 0;    ///< Of classes that it does not have: always wrong.
};

/// Errors at one resolution, or under one shift of the distribution.
struct CaseMetrics {
  std::string label;
  int samples = 0;
  double points = 0;  ///< Mean number of points per sample that have a result.
  /// Of pairs of meshes: mean number of points of the mesh with the inputs.
  std::optional<double> source_points{};
  double seconds_per_million_points = 0;
  std::vector<FieldMetrics> fields;
  /// Of files: where they are, and how points are weighted; empty where that does not apply.
  std::string data{}, query_data{}, weights{}, error_weights{};
  Json to_json() const;
};

/// Predicts and measures sample after sample; none is kept.
class CaseEvaluation {
 public:
  /// @param op which must outlive this
  CaseEvaluation(const Operator& op, std::string label);

  /// @return the prediction [M,C], float64
  /// @param mesh that the results belong to, or null: then there is no H1 seminorm
  /// @param error_weights [M] of the errors, where not those of the sample
  /// @param first_result where M begins: places of the query before it have no result
  /// Throws NumericError, naming the sample, if the prediction is not finite.
  Tensor add(const Sample& sample, const Mesh* mesh = nullptr, const Tensor& error_weights = {},
             std::int64_t first_result = 0);

  /// Throws DataError if there was no sample.
  CaseMetrics result() const;

 private:
  struct FieldSamples {
    std::vector<FieldError> errors;
    std::vector<double> relative_h1, accuracy;  ///< Shorter than `names` where a sample has none.
    std::vector<std::string> accuracy_names;    ///< Of the samples that have one.
    std::vector<ClassFigures> classes;
    std::int64_t unknown_points = 0;
  };

  static void count(const OutputArray& output, const Tensor& predicted, const Tensor& classes,
                    const Tensor& weights, FieldSamples& field);

  const Operator& op_;
  std::string label_;
  std::vector<std::string> names_;
  std::vector<FieldSamples> fields_;
  double seconds_ = 0;
  double points_ = 0;
};

/// All samples of a set at once. Throws as CaseEvaluation.
CaseMetrics evaluate_samples(const Operator& op, const std::vector<Sample>& samples,
                             const std::string& label);

/// Prediction [M,C] of one sample, float64, no gradient recorded.
Tensor predict_sample(const Operator& op, const Sample& sample);

/// Relative L2, or the share of wrong points where they are classes: the mean over the samples.
double error_of_field(const FieldMetrics& field);
/// Its mean over the fields.
double overall_error(const CaseMetrics& metrics);
/// What that is called: "relative L2" or "share of wrong points".
const char* overall_error_name(const CaseMetrics& metrics);

}  // namespace funcattn
