#include <algorithm>
#include <cmath>
#include <limits>

#include "core/text.h"
#include "examples/evaluate/gnuplot.h"
#include "examples/evaluate/report.h"

namespace funcattn {

namespace {

// Colours that differ in lightness too, for those who do not see them apart.
const char* const colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00"};

std::string colour(std::size_t index) {
  return std::string("'") + colours[index % std::size(colours)] + "'";
}

std::string origin_and_size(std::size_t column, std::size_t columns, std::size_t row,
                            std::size_t rows) {
  const double w = 1.0 / static_cast<double>(columns);
  const double h = 1.0 / static_cast<double>(rows);
  return "set origin " + format_number(w * static_cast<double>(column)) + "," +
         format_number(1.0 - h * static_cast<double>(row + 1)) + "\nset size " + format_number(w) +
         "," + format_number(h) + "\n";
}

// Curves of one 1D sample: truth, predictions, context points.
std::string curve_panel(const SampleView& view, const std::string& name,
                        std::vector<PlotData>& data) {
  PlotData curves{name, {}};
  for (std::size_t i = 0; i < view.truth.size(); ++i) {
    std::vector<double> row = {view.coordinates[i][0], view.truth[i]};
    for (const auto& prediction : view.predictions) row.push_back(prediction.second[i]);
    curves.rows.push_back(std::move(row));
  }
  std::sort(curves.rows.begin(), curves.rows.end());
  data.push_back(std::move(curves));
  PlotData context{name + "_context", {}};
  for (const auto& [x, value] : view.context) context.rows.push_back({x, value});

  std::string plot = "set title " + gnuplot_text(view.title) +
                     "\nset xlabel 'x'\nset ylabel 'value'\nset key below\nplot $" + name +
                     " using 1:2 with lines lw 5 lc rgb '#bbbbbb' title 'true'";
  // Few points are shown as such, so that the sampling can be seen.
  const bool sparse = view.truth.size() <= 300;
  for (std::size_t p = 0; p < view.predictions.size(); ++p)
    plot += ", $" + name + " using 1:" + std::to_string(p + 3) + " with " +
            (sparse ? "linespoints pt 7 ps 0.35 lw 1" : "lines lw 1.5") + " lc rgb " + colour(p) +
            " title " + gnuplot_text(view.predictions[p].first);
  if (!context.rows.empty()) {
    plot += ", $" + context.name +
            " using 1:2 with points pt 6 ps 1.8 lw 2.5 lc rgb 'black' title 'context'";
    data.push_back(std::move(context));
  }
  return plot + "\n";
}

// Map of values over the plane, one coloured mark per point.
std::string map_panel(const std::string& title, const std::string& name, int column,
                      const std::string& range) {
  return "set title " + gnuplot_text(title) + "\nset xlabel 'x'\nset ylabel 'y'\nunset key\n" +
         "set size ratio -1\n" + range + "\nplot $" + name +
         " using 1:2:" + std::to_string(column) +
         " with points pt 5 ps mark palette\nset size noratio\n";
}

// The same with the faces of a plane mesh filled.
std::string face_panel(const std::string& title, const std::string& name, int column,
                       const std::string& range) {
  return "set title " + gnuplot_text(title) + "\nset xlabel 'x'\nset ylabel 'y'\nunset key\n" +
         "set size ratio -1\nset view map\nset style fill solid noborder\n" + range + "\nsplot $" +
         name + " using 1:2:" + std::to_string(column) +
         " with polygons fillcolor palette\nset size noratio\n";
}

double mean_of(const std::vector<double>& values, const std::vector<std::size_t>& entries) {
  double sum = 0;
  for (const std::size_t entry : entries) sum += values[entry];
  return sum / static_cast<double>(entries.size());
}

// Corners with the values of their face; an empty row ends a face.
PlotData face_rows(const SampleView& view, const std::string& name) {
  PlotData block{name, {}};
  const std::vector<double>& predicted = view.predictions.front().second;
  std::vector<double> error(predicted.size());
  for (std::size_t i = 0; i < error.size(); ++i) error[i] = std::abs(predicted[i] - view.truth[i]);
  for (const SampleView::Face& face : view.faces) {
    const double values[] = {mean_of(view.truth, face.entries), mean_of(predicted, face.entries),
                             mean_of(error, face.entries)};
    if (!std::isfinite(values[0] + values[1])) continue;
    for (const auto& [x, y] : face.corners)
      block.rows.push_back({x, y, values[0], values[1], values[2]});
    block.rows.emplace_back();
  }
  return block;
}

std::string error_panel(const std::vector<OperatorEvaluation>& evaluations,
                        std::vector<PlotData>& data) {
  std::string plot;
  for (std::size_t e = 0; e < evaluations.size(); ++e) {
    const std::string name = "errors" + std::to_string(e);
    PlotData block{name, {}};
    for (const CaseMetrics& metrics : evaluations[e].resolutions)
      block.rows.push_back({metrics.points, overall_error(metrics)});
    data.push_back(std::move(block));
    plot += (e == 0 ? "plot $" : ", $") + name + " using 1:2 with linespoints pt 7 lw 2 lc rgb " +
            colour(e) + " title " + gnuplot_text(evaluations[e].name);
  }
  return "set title 'Error against density'\nset xlabel 'points per sample'\n"
         "set ylabel " +
         gnuplot_text(overall_error_name(evaluations.front().resolutions.front())) +
         "\nset key below\nset bmargin 5\nset logscale xy\nset "
         "format y '10^{%T}'\n"
         "set grid\n" +
         plot + "\nunset logscale\nset format y\nunset grid\n";
}

}  // namespace

void draw_report(const std::filesystem::path& path,
                 const std::vector<OperatorEvaluation>& evaluations,
                 const std::vector<SampleView>& views) {
  std::vector<PlotData> data;
  std::vector<std::vector<std::string>> rows;
  std::vector<std::string> curves;
  for (std::size_t v = 0; v < views.size(); ++v) {
    const SampleView& view = views[v];
    const std::string name = "view" + std::to_string(v);
    if (view.coordinates.front().size() == 1) {
      curves.push_back(curve_panel(view, name, data));
      continue;
    }
    PlotData block{name, {}};
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (std::size_t i = 0; i < view.truth.size(); ++i) {
      const double predicted = view.predictions.front().second[i];
      block.rows.push_back({view.coordinates[i][0], view.coordinates[i][1], view.truth[i],
                            predicted, std::abs(predicted - view.truth[i])});
      for (const double value : {view.truth[i], predicted}) {
        if (!std::isfinite(value)) continue;  // Masked points may have no truth.
        low = std::min(low, value);
        high = std::max(high, value);
      }
    }
    PlotData faces = face_rows(view, name);
    const auto panel = faces.rows.empty() ? map_panel : face_panel;
    data.push_back(std::move(faces.rows.empty() ? block : faces));
    if (high < low) low = high = 0;
    if (high <= low) high = low + 1;
    const std::string mark =
        "mark = " +
        format_number(
            std::clamp(70.0 / std::sqrt(static_cast<double>(view.truth.size())), 0.15, 4.0)) +
        "\n";
    const std::string range =
        mark + "set cbrange [" + format_number(low) + ":" + format_number(high) + "]";
    rows.push_back({panel(view.title + ": true", name, 3, range),
                    panel(view.predictions.front().first, name, 4, range),
                    panel("absolute error", name, 5, mark + "set cbrange [0:*]")});
  }
  const bool several = !evaluations.empty() && evaluations.front().resolutions.size() > 1;
  if (several) curves.push_back(error_panel(evaluations, data));
  constexpr std::size_t curves_per_row = 4;
  for (std::size_t first = 0; first < curves.size(); first += curves_per_row)
    rows.emplace_back(curves.begin() + static_cast<std::ptrdiff_t>(first),
                      curves.begin() + static_cast<std::ptrdiff_t>(
                                           std::min(curves.size(), first + curves_per_row)));

  std::string script =
      "set multiplot\nset palette defined (0 '#440154', 1 '#3b528b', 2 '#21918c', 3 '#5ec962', 4 "
      "'#fde725')\n";
  std::size_t columns = 1;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    columns = std::max(columns, rows[r].size());
    for (std::size_t c = 0; c < rows[r].size(); ++c)
      script += origin_and_size(c, rows[r].size(), r, rows.size()) + rows[r][c];
  }
  script += "unset multiplot\n";
  draw_png(path, static_cast<int>(520 * columns), static_cast<int>(460 * rows.size()), data,
           script);
}

}  // namespace funcattn
