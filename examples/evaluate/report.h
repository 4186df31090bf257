#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "core/json.h"
#include "examples/evaluate/metrics.h"
#include "examples/evaluate/sample_view.h"

namespace funcattn {

/// Of the points of one set over those of another, from where on their errors tell of the density.
inline constexpr double least_density = 1.5;

/// How the points of a test set are spread, as the last part of its name tells: "graded",
/// "scattered" or "".
std::string sampling_of(const std::string& set);

/// What `evaluate` found for one operator.
struct OperatorEvaluation {
  std::string name;  ///< Stem of the operator file.
  std::string file;
  std::int64_t parameters = 0;
  bool single_prediction = false;  ///< In place of its mean over symmetries.
  /// What it was trained by, but for the seed; operators that have it in common are one recipe with
  /// several seeds. Empty: unknown.
  std::string recipe;
  std::string seed;  ///< Empty: unknown. One seed twice, as best and last operator, is no spread.
  std::vector<CaseMetrics> resolutions;  ///< Ascending in points.
  std::size_t base = 0;                  ///< Index of the training resolution in `resolutions`.
  std::string other_problems;  ///< Why the sets are no resolutions of one set; empty: they are.
  std::vector<std::pair<std::string, std::vector<CaseMetrics>>> studies;  ///< Title and cases.

  /// Indices of the sets whose points are spread as those at the training resolution, ascending in
  /// points: a graded or scattered set, which its name tells, is not one resolution more.
  std::vector<std::size_t> sampled_alike() const;
  /// Why the resolutions are not compared; empty where they are, or there is only one.
  std::string no_drift() const;
  /// Error at the densest sampling divided by the error at the training resolution
  /// (overall_error()), of the sets sampled alike; NaN where there is only one resolution, or a
  /// reason not to compare them.
  double drift() const;
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
/// there is none.
Json report_json(const std::vector<OperatorEvaluation>& evaluations);

/// The same for people: one table per study, operators side by side.
std::string report_text(const std::vector<OperatorEvaluation>& evaluations);

/// Draws the views (curves in 1D; maps of truth, predictions and errors of the others, one scale
/// for values and one for errors) and, where there are several resolutions, error against points.
/// Throws FileError.
void draw_report(const std::filesystem::path& path,
                 const std::vector<OperatorEvaluation>& evaluations,
                 const std::vector<SampleView>& views);

/// A picture for each field that there are views of: "report.png" of a single one, else
/// "report_FIELD.png". @return their names
std::vector<std::string> draw_reports(const std::filesystem::path& folder,
                                      const std::vector<OperatorEvaluation>& evaluations,
                                      const std::vector<SampleView>& views);

}  // namespace funcattn
