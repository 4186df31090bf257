#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "core/json.h"
#include "examples/evaluate/metrics.h"

namespace funcattn {

/// What `evaluate` found for one operator.
struct OperatorEvaluation {
  std::string name;  ///< Stem of the operator file.
  std::string file;
  std::int64_t parameters = 0;
  /// What it was trained by, but for the seed; operators that have it in common are one recipe with
  /// several seeds. Empty: unknown.
  std::string recipe;
  std::vector<CaseMetrics> resolutions;  ///< Ascending in points.
  std::size_t base = 0;                  ///< Index of the training resolution in `resolutions`.
  std::vector<std::pair<std::string, std::vector<CaseMetrics>>> studies;  ///< Title and cases.

  /// Error at the densest sampling divided by the error at the training resolution
  /// (overall_error()); NaN where there is only one resolution.
  double drift() const;
};

/// One sample as a picture shows it: truth and predictions over the points.
struct SampleView {
  std::string title;
  std::vector<std::vector<double>> coordinates;  ///< Per point, 1 to 3 numbers.
  std::vector<double> truth;
  std::vector<std::pair<std::string, std::vector<double>>> predictions;  ///< Per operator.
  std::vector<std::pair<double, double>> context;  ///< x and value of the context points, in 1D.
  /// Of a mesh in the plane: corners of its faces and, for each, the entries whose mean colours it
  /// (its points, or itself where the values are those of cells). Empty: points are drawn.
  struct Face {
    std::vector<std::pair<double, double>> corners;
    std::vector<std::size_t> entries;
  };
  std::vector<Face> faces;
};

/// One case over operators of one recipe.
struct SeedSpread {
  std::vector<std::string> names;  ///< Of the operators.
  std::string label;               ///< Of the case.
  std::string field;
  std::string quantity;  ///< "relative L2", "relative H1" or "accuracy".
  double mean = 0;
  double deviation = 0;  ///< Standard deviation over the operators, n - 1 in the denominator.
  double least = 0;
  double greatest = 0;
};

/// For every recipe with several operators and every case that they all went through, resolutions
/// first.
std::vector<SeedSpread> seed_spreads(const std::vector<OperatorEvaluation>& evaluations);

/// Machine-readable report. `drift` at top level is that of the first operator; it is null where
/// there is only one resolution.
Json report_json(const std::vector<OperatorEvaluation>& evaluations);

/// The same for people: one table per study, operators side by side.
std::string report_text(const std::vector<OperatorEvaluation>& evaluations);

/// Draws the views (curves in 1D, maps of truth, prediction and error in 2D and 3D, seen along z,
/// with faces filled in the plane) and, where there are several resolutions, error against points.
/// Throws FileError.
void draw_report(const std::filesystem::path& path,
                 const std::vector<OperatorEvaluation>& evaluations,
                 const std::vector<SampleView>& views);

}  // namespace funcattn
