#include "examples/evaluate/report.h"

#include <cmath>
#include <limits>
#include <sstream>

#include "core/text.h"
#include "plugin/cli/text_table.h"

namespace funcattn {

namespace {

Json number_or_null(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

Json cases_json(const std::vector<CaseMetrics>& cases) {
  Json list = Json::array();
  for (const CaseMetrics& metrics : cases) list.push_back(metrics.to_json());
  return list;
}

void add_rows(TextTable& table, const OperatorEvaluation& evaluation,
              const std::vector<CaseMetrics>& cases) {
  for (const CaseMetrics& metrics : cases)
    for (const FieldMetrics& field : metrics.fields)
      table.add({evaluation.name, metrics.label, std::to_string(std::llround(metrics.points)),
                 field.field, format_significant(field.relative_l2, 3),
                 format_significant(field.mse, 3), format_significant(field.rmse, 3),
                 format_significant(field.max_error, 3),
                 format_significant(metrics.seconds_per_million_points, 3)});
}

TextTable metrics_table(const std::string& first_column) {
  return TextTable({"operator", first_column, "points", "field", "relative L2", "MSE", "RMSE",
                    "max error", "s per 1e6 points"});
}

}  // namespace

double OperatorEvaluation::drift() const {
  if (resolutions.size() < 2) return std::numeric_limits<double>::quiet_NaN();
  return overall_relative_l2(resolutions.back()) / overall_relative_l2(resolutions[base]);
}

Json report_json(const std::vector<OperatorEvaluation>& evaluations) {
  Json report = {
      {"drift", evaluations.empty() ? Json(nullptr) : number_or_null(evaluations.front().drift())}};
  report["operators"] = Json::array();
  for (const OperatorEvaluation& evaluation : evaluations) {
    Json entry = {{"name", evaluation.name},
                  {"file", evaluation.file},
                  {"parameters", evaluation.parameters},
                  {"drift", number_or_null(evaluation.drift())},
                  {"resolutions", cases_json(evaluation.resolutions)}};
    for (const auto& [title, cases] : evaluation.studies)
      entry["studies"][title] = cases_json(cases);
    report["operators"].push_back(std::move(entry));
  }
  return report;
}

std::string report_text(const std::vector<OperatorEvaluation>& evaluations) {
  std::ostringstream text;
  TextTable resolutions = metrics_table("sampling");
  for (const OperatorEvaluation& evaluation : evaluations)
    add_rows(resolutions, evaluation, evaluation.resolutions);
  text << "Error by resolution\n";
  resolutions.print(text, 2);
  for (const OperatorEvaluation& evaluation : evaluations)
    if (std::isfinite(evaluation.drift()))
      text << "resolution drift of " << evaluation.name << ": "
           << format_significant(evaluation.drift(), 4) << " (relative L2 at "
           << evaluation.resolutions.back().label << " over that at "
           << evaluation.resolutions[evaluation.base].label << ")\n";

  if (evaluations.empty()) return text.str();
  // All operators went through the same studies.
  for (std::size_t s = 0; s < evaluations.front().studies.size(); ++s) {
    TextTable table = metrics_table("case");
    for (const OperatorEvaluation& evaluation : evaluations)
      add_rows(table, evaluation, evaluation.studies[s].second);
    text << "\n" << evaluations.front().studies[s].first << "\n";
    table.print(text, 2);
  }
  return text.str();
}

}  // namespace funcattn
