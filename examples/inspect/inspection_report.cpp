#include "examples/inspect/inspection_report.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "core/text.h"
#include "plugin/cli/text_table.h"

namespace funcattn {

namespace {

/// Leading singular values that a row of the table shows.
constexpr std::size_t shown_singular_values = 3;

Json number_or_null(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

Json list(const std::vector<double>& values) {
  Json result = Json::array();
  for (const double value : values) result.push_back(number_or_null(value));
  return result;
}

Json basis_json(const BasisFigures& basis) {
  return {{"entropy", number_or_null(basis.entropy)},
          {"effective_functions", number_or_null(basis.effective_functions)},
          {"row_sum", number_or_null(basis.row_sum)},
          {"coverage", list(basis.coverage)},
          {"points_served", list(basis.points_served)},
          {"above_threshold", basis.above_threshold}};
}

Json points_json(const PointAttentionFigures& points) {
  return {{"keys", points.keys},
          {"tokens", points.tokens},
          {"entropy", number_or_null(points.entropy)},
          {"domain", number_or_null(points.domain)},
          {"effective_keys", number_or_null(points.effective_keys)},
          {"received_domain", number_or_null(points.received_domain)},
          {"above_share", points.above_share},
          {"received", list(points.received)}};
}

Json head_json(const HeadInspection& head) {
  if (head.points)
    return {{"block", head.block}, {"head", head.head}, {"points", points_json(*head.points)}};
  Json result = {{"block", head.block}, {"head", head.head}, {"basis", basis_json(head.basis)}};
  if (head.query_basis) result["query_basis"] = basis_json(*head.query_basis);
  Json rows = Json::array();
  const auto columns = static_cast<std::size_t>(head.columns);
  for (std::size_t first = 0; first < head.transport.size(); first += columns)
    rows.push_back(list({head.transport.begin() + static_cast<std::ptrdiff_t>(first),
                         head.transport.begin() + static_cast<std::ptrdiff_t>(first + columns)}));
  result["transport"] = std::move(rows);
  result["singular_values"] = list(head.singular_values);
  result["condition_number"] = number_or_null(head.condition_number);
  if (!head.attention_coverage.empty()) {
    result["attention_entropy"] = number_or_null(head.attention_entropy);
    result["attention_coverage"] = list(head.attention_coverage);
  }
  return result;
}

std::string text(double value) {
  return std::isnan(value) ? "-" : format_significant(value, 3);
}

std::vector<std::string> row_of(const HeadInspection& head, const BasisFigures& basis,
                                const std::string& which, bool first) {
  const auto [least, most] = std::minmax_element(basis.coverage.begin(), basis.coverage.end());
  const auto nowhere_above =
      std::count(basis.above_threshold.begin(), basis.above_threshold.end(), std::int64_t{0});
  std::vector<std::string> row = {
      std::to_string(head.block),
      std::to_string(head.head),
      which,
      text(basis.entropy),
      text(basis.effective_functions) + " of " + std::to_string(basis.coverage.size()),
      text(*least),
      text(*most),
      std::to_string(nowhere_above)};
  if (!first) return row;
  row.push_back(head.attention_coverage.empty() ? text(head.condition_number)
                                                : text(head.attention_entropy));
  std::vector<std::string> leading;
  for (std::size_t i = 0; i < std::min(shown_singular_values, head.singular_values.size()); ++i)
    leading.push_back(text(head.singular_values[i]));
  row.push_back(join(leading, " "));
  return row;
}

/// Of softmax attention between points.
TextTable points_table(const std::vector<HeadInspection>& heads) {
  TextTable table(
      {"block", "head", "entropy", "effective", "domain", "received by", "above share"});
  for (const HeadInspection& head : heads) {
    const PointAttentionFigures& points = *head.points;
    table.add({std::to_string(head.block), std::to_string(head.head), text(points.entropy),
               text(points.effective_keys) + " of " + std::to_string(points.keys),
               text(points.domain), text(points.received_domain),
               std::to_string(points.above_share)});
  }
  return table;
}

}  // namespace

Json inspection_json(const std::vector<SampleInspection>& inspections) {
  Json samples = Json::array();
  for (const SampleInspection& inspection : inspections) {
    Json heads = Json::array();
    for (const HeadInspection& head : inspection.heads) heads.push_back(head_json(head));
    samples.push_back({{"sample", inspection.sample}, {"heads", std::move(heads)}});
  }
  return samples;
}

std::string inspection_text(const std::vector<SampleInspection>& inspections) {
  std::ostringstream stream;
  for (const SampleInspection& inspection : inspections) {
    if (inspection.heads.empty()) continue;
    stream << inspection.sample << "\n";
    if (inspection.heads.front().points) {
      points_table(inspection.heads).print(stream, 2);
      continue;
    }
    const bool attends = !inspection.heads.front().attention_coverage.empty();
    TextTable table({"block", "head", "basis", "entropy", "effective", "least cover", "most cover",
                     "nowhere above", attends ? "attention entropy" : "condition",
                     "singular values"});
    for (const HeadInspection& head : inspection.heads) {
      table.add(row_of(head, head.basis, head.query_basis ? "source" : "-", true));
      if (head.query_basis) table.add(row_of(head, *head.query_basis, "query", false));
    }
    table.print(stream, 2);
  }
  return stream.str();
}

}  // namespace funcattn
