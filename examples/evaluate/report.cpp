#include "examples/evaluate/report.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>
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

/// The cases of all operators of a study; columns that no case fills are left out.
class MetricsTable {
 public:
  explicit MetricsTable(const std::string& case_column) : case_column_(case_column) {}

  void add(const OperatorEvaluation& evaluation, const std::vector<CaseMetrics>& cases) {
    for (const CaseMetrics& metrics : cases)
      for (const FieldMetrics& field : metrics.fields) {
        rows_.push_back({&evaluation, &metrics, &field});
        has_fields_ = has_fields_ || !field.is_class;
        has_h1_ = has_h1_ || field.relative_h1;
        has_accuracy_ = has_accuracy_ || field.accuracy;
      }
  }

  void print(std::ostream& text) const {
    std::vector<std::string> header = {"operator", "parameters", case_column_, "points", "field"};
    if (has_fields_) header.insert(header.end(), {"relative L2", "median", "worst"});
    if (has_h1_) header.push_back("relative H1");
    if (has_accuracy_) header.insert(header.end(), {"accuracy", "median", "worst"});
    if (has_fields_) header.insert(header.end(), {"MSE", "RMSE", "max error"});
    header.emplace_back("s per 1e6 points");
    TextTable table(header);
    for (const Row& row : rows_) {
      const FieldMetrics& field = *row.field;
      const auto number = [](double value) {
        return std::isnan(value) ? std::string("-") : format_significant(value, 3);
      };
      const auto mean_of = [&](const std::optional<SampleFigure>& figure) {
        return figure ? number(figure->mean) : std::string("-");
      };
      std::vector<std::string> cells = {
          row.evaluation->name, std::to_string(row.evaluation->parameters), row.metrics->label,
          std::to_string(std::llround(row.metrics->points)), field.field};
      if (has_fields_)
        for (const double value :
             {field.relative_l2, field.relative_l2_median, field.relative_l2_worst})
          cells.push_back(number(value));
      if (has_h1_) cells.push_back(mean_of(field.relative_h1));
      if (has_accuracy_) {
        cells.push_back(mean_of(field.accuracy));
        cells.push_back(field.accuracy ? number(field.accuracy->median) : "-");
        cells.push_back(field.accuracy ? number(field.accuracy->worst) : "-");
      }
      if (has_fields_)
        for (const double value : {field.mse, field.rmse, field.max_error})
          cells.push_back(number(value));
      cells.push_back(number(row.metrics->seconds_per_million_points));
      table.add(std::move(cells));
    }
    table.print(text, 2);
  }

 private:
  struct Row {
    const OperatorEvaluation* evaluation;
    const CaseMetrics* metrics;
    const FieldMetrics* field;
  };

  std::string case_column_;
  std::vector<Row> rows_;
  bool has_fields_ = false;
  bool has_h1_ = false;
  bool has_accuracy_ = false;
};

const char* const resolutions_title = "Error by resolution";

/// Resolutions and studies alike, by title.
std::vector<std::pair<std::string, const std::vector<CaseMetrics>*>> all_studies(
    const OperatorEvaluation& evaluation) {
  std::vector<std::pair<std::string, const std::vector<CaseMetrics>*>> result = {
      {resolutions_title, &evaluation.resolutions}};
  for (const auto& [title, cases] : evaluation.studies) result.emplace_back(title, &cases);
  return result;
}

const CaseMetrics* find_case(const OperatorEvaluation& evaluation, const std::string& study,
                             const std::string& label) {
  for (const auto& [title, cases] : all_studies(evaluation))
    for (const CaseMetrics& metrics : *cases)
      if (title == study && metrics.label == label) return &metrics;
  return nullptr;
}

/// Figures of a field that operators are compared by.
std::vector<std::pair<std::string, double>> figures(const FieldMetrics& field) {
  std::vector<std::pair<std::string, double>> result;
  if (!field.is_class) result.emplace_back("relative L2", field.relative_l2);
  if (field.relative_h1) result.emplace_back("relative H1", field.relative_h1->mean);
  if (field.accuracy) result.emplace_back("accuracy", field.accuracy->mean);
  return result;
}

std::optional<double> figure_of(const CaseMetrics& metrics, const std::string& field,
                                const std::string& quantity) {
  for (const FieldMetrics& candidate : metrics.fields)
    if (candidate.field == field)
      for (const auto& [name, value] : figures(candidate))
        if (name == quantity) return value;
  return std::nullopt;
}

SeedSpread spread_of(const std::vector<double>& values) {
  SeedSpread spread;
  const auto count = static_cast<double>(values.size());
  spread.mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  for (const double value : values) spread.deviation += std::pow(value - spread.mean, 2);
  spread.deviation = std::sqrt(spread.deviation / (count - 1));
  spread.least = *std::min_element(values.begin(), values.end());
  spread.greatest = *std::max_element(values.begin(), values.end());
  return spread;
}

/// Operators of one recipe, by the order of the first.
std::vector<std::vector<const OperatorEvaluation*>> recipes(
    const std::vector<OperatorEvaluation>& evaluations) {
  std::vector<std::vector<const OperatorEvaluation*>> groups;
  for (const OperatorEvaluation& evaluation : evaluations) {
    const auto same = [&](const auto& group) {
      return !evaluation.recipe.empty() && group.front()->recipe == evaluation.recipe &&
             std::none_of(group.begin(), group.end(), [&](const OperatorEvaluation* other) {
               return !evaluation.seed.empty() && other->seed == evaluation.seed;
             });
    };
    const auto found = std::find_if(groups.begin(), groups.end(), same);
    if (found == groups.end())
      groups.push_back({&evaluation});
    else
      found->push_back(&evaluation);
  }
  return groups;
}

/// Of more classes than this the worst few are named; the JSON has them all.
constexpr std::size_t most_tabulated = 12;
constexpr std::size_t worst_named = 5;

std::string number_or_dash(double value) {
  return std::isnan(value) ? "-" : format_significant(value, 3);
}

/// "classes of a at test, label: mean recall 0.8 over the 40 of 50 that occur; least 7 (recall 0.02
/// of 45 points), ..."
void print_worst_classes(std::ostream& text, const std::string& name, const CaseMetrics& metrics,
                         const FieldMetrics& field) {
  std::vector<ClassFigures> occurring;
  std::copy_if(field.classes.begin(), field.classes.end(), std::back_inserter(occurring),
               [](const ClassFigures& figures) { return figures.points > 0; });
  text << "classes of " << name << " at " << metrics.label << ", " << field.field
       << ": mean recall " << number_or_dash(mean_recall(field.classes)) << " over the "
       << occurring.size() << " of " << field.classes.size() << " that occur";
  std::stable_sort(
      occurring.begin(), occurring.end(),
      [](const ClassFigures& a, const ClassFigures& b) { return a.recall() < b.recall(); });
  for (std::size_t i = 0; i < std::min(worst_named, occurring.size()); ++i)
    text << (i == 0 ? "; least " : ", ") << occurring[i].value << " (recall "
         << number_or_dash(occurring[i].recall()) << " of " << occurring[i].points << " points)";
  text << "\n";
}

void print_classes(std::ostream& text, const std::vector<OperatorEvaluation>& evaluations) {
  TextTable table({"operator", "sampling", "field", "class", "points", "recall", "precision"});
  bool any = false;
  std::ostringstream worst;
  for (const OperatorEvaluation& evaluation : evaluations)
    for (const CaseMetrics& metrics : evaluation.resolutions)
      for (const FieldMetrics& field : metrics.fields) {
        if (field.classes.empty()) continue;
        if (field.classes.size() > most_tabulated) {
          print_worst_classes(worst, evaluation.name, metrics, field);
          continue;
        }
        any = true;
        const auto add = [&](const std::string& what, std::int64_t points, double recall,
                             double precision) {
          table.add({evaluation.name, metrics.label, field.field, what, std::to_string(points),
                     number_or_dash(recall), number_or_dash(precision)});
        };
        std::int64_t points = 0;
        for (const ClassFigures& figures : field.classes) {
          add(std::to_string(figures.value), figures.points, figures.recall(), figures.precision());
          points += figures.points;
        }
        if (field.unknown_points > 0)
          add("others", field.unknown_points, 0, std::numeric_limits<double>::quiet_NaN());
        add("mean", points, mean_recall(field.classes), std::numeric_limits<double>::quiet_NaN());
      }
  if (any) {
    text << "\nBy class\n";
    table.print(text, 2);
  }
  text << worst.str();
}

void print_worst_samples(std::ostream& text, const std::vector<OperatorEvaluation>& evaluations) {
  TextTable table({"operator", "sampling", "field", "worst", "file"});
  bool any = false;
  for (const OperatorEvaluation& evaluation : evaluations)
    for (const CaseMetrics& metrics : evaluation.resolutions)
      for (const FieldMetrics& field : metrics.fields) {
        if (field.worst_sample.empty() || metrics.samples < 2) continue;
        any = true;
        const std::string worst = field.is_class && field.accuracy
                                      ? "accuracy " + number_or_dash(field.accuracy->worst)
                                      : "relative L2 " + number_or_dash(field.relative_l2_worst);
        table.add({evaluation.name, metrics.label, field.field, worst, field.worst_sample});
      }
  if (!any) return;
  text << "\nWorst samples\n";
  table.print(text, 2);
}

}  // namespace

std::string sampling_of(const std::string& set) {
  const std::string name = set.substr(set.rfind('/') + 1);
  for (const char* kind : {"graded", "scattered"})
    if (name.find(kind) != std::string::npos) return kind;
  return "";
}

std::vector<std::size_t> OperatorEvaluation::sampled_alike() const {
  std::vector<std::size_t> alike;
  for (std::size_t i = 0; i < resolutions.size(); ++i)
    if (sampling_of(resolutions[i].label) == sampling_of(resolutions[base].label))
      alike.push_back(i);
  return alike;
}

std::string OperatorEvaluation::no_drift() const {
  if (resolutions.size() < 2) return "";
  const CaseMetrics& trained = resolutions[base];
  const CaseMetrics& densest = resolutions[sampled_alike().back()];
  if (&trained == &densest)
    return trained.label + ", which is nearest to the training resolution, is the densest" +
           (sampled_alike().size() < resolutions.size() ? " of its kind" : "");
  if (densest.points < least_density * trained.points)
    return "with " + std::to_string(std::llround(densest.points)) + " points " + densest.label +
           " is hardly denser than " + trained.label + " with " +
           std::to_string(std::llround(trained.points));
  return other_problems;
}

double OperatorEvaluation::drift() const {
  if (resolutions.size() < 2 || !no_drift().empty())
    return std::numeric_limits<double>::quiet_NaN();
  return overall_error(resolutions[sampled_alike().back()]) / overall_error(resolutions[base]);
}

std::vector<SeedSpread> seed_spreads(const std::vector<OperatorEvaluation>& evaluations) {
  std::vector<SeedSpread> spreads;
  for (const auto& group : recipes(evaluations)) {
    if (group.size() < 2) continue;
    std::vector<std::string> names;
    for (const OperatorEvaluation* evaluation : group) names.push_back(evaluation->name);
    for (const auto& [study, cases] : all_studies(*group.front()))
      for (const CaseMetrics& metrics : *cases)
        for (const FieldMetrics& field : metrics.fields)
          for (const auto& [quantity, ignored] : figures(field)) {
            std::vector<double> values;
            for (const OperatorEvaluation* evaluation : group)
              if (const CaseMetrics* same = find_case(*evaluation, study, metrics.label))
                if (const auto value = figure_of(*same, field.field, quantity))
                  values.push_back(*value);
            if (values.size() != group.size()) continue;
            SeedSpread spread = spread_of(values);
            spread.names = names;
            spread.label = metrics.label;
            spread.field = field.field;
            spread.quantity = quantity;
            spreads.push_back(std::move(spread));
          }
  }
  return spreads;
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
    if (evaluation.single_prediction) entry["single_prediction"] = true;
    if (const std::string why = evaluation.no_drift(); !why.empty()) entry["no_drift"] = why;
    for (const auto& [title, cases] : evaluation.studies)
      entry["studies"][title] = cases_json(cases);
    report["operators"].push_back(std::move(entry));
  }
  report["seeds"] = Json::array();
  for (const SeedSpread& spread : seed_spreads(evaluations))
    report["seeds"].push_back({{"operators", spread.names},
                               {"label", spread.label},
                               {"field", spread.field},
                               {"quantity", spread.quantity},
                               {"mean", spread.mean},
                               {"deviation", spread.deviation},
                               {"least", spread.least},
                               {"greatest", spread.greatest}});
  return report;
}

std::string report_text(const std::vector<OperatorEvaluation>& evaluations) {
  std::ostringstream text;
  MetricsTable resolutions("sampling");
  for (const OperatorEvaluation& evaluation : evaluations)
    resolutions.add(evaluation, evaluation.resolutions);
  text << resolutions_title << "\n";
  resolutions.print(text);
  for (const OperatorEvaluation& evaluation : evaluations)
    if (std::isfinite(evaluation.drift()))
      text << "resolution drift of " << evaluation.name << ": "
           << format_significant(evaluation.drift(), 4) << " ("
           << overall_error_name(evaluation.resolutions.back()) << " at "
           << evaluation.resolutions[evaluation.sampled_alike().back()].label << " over that at "
           << evaluation.resolutions[evaluation.base].label << ")\n";

  for (const OperatorEvaluation& evaluation : evaluations)
    if (const std::string why = evaluation.no_drift(); !why.empty())
      text << "no drift of " << evaluation.name << " from set to set: " << why << "\n";

  print_worst_samples(text, evaluations);
  print_classes(text, evaluations);
  if (evaluations.empty()) return text.str();
  // All operators went through the same studies.
  for (std::size_t s = 0; s < evaluations.front().studies.size(); ++s) {
    MetricsTable table("case");
    for (const OperatorEvaluation& evaluation : evaluations)
      table.add(evaluation, evaluation.studies[s].second);
    text << "\n" << evaluations.front().studies[s].first << "\n";
    table.print(text);
  }
  const std::vector<SeedSpread> spreads = seed_spreads(evaluations);
  if (spreads.empty()) return text.str();
  TextTable table({"operators", "case", "field", "", "mean", "deviation", "least", "greatest"});
  for (const SeedSpread& spread : spreads)
    table.add({join(spread.names, ", "), spread.label, spread.field, spread.quantity,
               format_significant(spread.mean, 3), format_significant(spread.deviation, 2),
               format_significant(spread.least, 3), format_significant(spread.greatest, 3)});
  text << "\nOver seeds (operators that were trained alike)\n";
  table.print(text, 2);
  return text.str();
}

}  // namespace funcattn
