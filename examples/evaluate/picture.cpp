#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>

#include "core/text.h"
#include "examples/evaluate/gnuplot.h"
#include "examples/evaluate/map_panels.h"
#include "examples/evaluate/panel.h"
#include "examples/evaluate/report.h"

namespace funcattn {

namespace {

// Curves of one 1D sample: truth, predictions, context points.
Panel curve_panel(const SampleView& view, const std::string& name, std::vector<PlotData>& data) {
  PlotData curves{name, {}};
  for (std::size_t i = 0; i < view.truth.size(); ++i) {
    std::vector<double> row = {view.shape->x[i], view.truth[i]};
    for (const SampleView::Prediction& prediction : view.predictions)
      row.push_back(prediction.values[i]);
    curves.rows.push_back(std::move(row));
  }
  std::sort(curves.rows.begin(), curves.rows.end());
  data.push_back(std::move(curves));
  PlotData context{name + "_context", {}};
  for (const auto& [x, value] : view.context) context.rows.push_back({x, value});

  std::string plot = "set title " + gnuplot_text(shortened(view.title, 60)) +
                     "\nset xlabel 'x'\nset ylabel 'value'\nset key below\nplot $" + name +
                     " using 1:2 with lines lw 5 lc rgb '#bbbbbb' title 'true'";
  // Few points are shown as such, so that the sampling can be seen.
  const bool sparse = view.truth.size() <= 300;
  for (std::size_t p = 0; p < view.predictions.size(); ++p)
    plot += ", $" + name + " using 1:" + std::to_string(p + 3) + " with " +
            (sparse ? "linespoints pt 7 ps 0.35 lw 1" : "lines lw 1.5") + " lc rgb " + colour(p) +
            dashes(p) + " title " + gnuplot_text(shortened(view.predictions[p].name, 60));
  if (!context.rows.empty()) {
    plot += ", $" + context.name +
            " using 1:2 with points pt 6 ps 1.8 lw 2.5 lc rgb 'black' title 'context'";
    data.push_back(std::move(context));
  }
  return plain_panel(plot + "\n");
}

/// Whether they differ enough to be shown as a curve.
bool are_resolutions(const OperatorEvaluation& evaluation) {
  const std::vector<CaseMetrics>& cases = evaluation.resolutions;
  return !cases.empty() && evaluation.other_problems.empty() &&
         cases.back().points >= least_density * cases.front().points;
}

/// @param field empty: the mean over all
Panel error_panel(const std::vector<OperatorEvaluation>& evaluations, const std::string& field,
                  std::vector<PlotData>& data) {
  const auto error_of = [&](const CaseMetrics& metrics) {
    for (const FieldMetrics& candidate : metrics.fields)
      if (candidate.field == field) return error_of_field(candidate);
    return field.empty() ? overall_error(metrics) : std::numeric_limits<double>::quiet_NaN();
  };
  std::string plot;
  std::vector<double> points, errors;
  for (std::size_t e = 0; e < evaluations.size(); ++e) {
    // One line joins sets that differ in their density alone.
    std::map<std::string, PlotData> lines;
    for (const CaseMetrics& metrics : evaluations[e].resolutions) {
      const std::string kind = sampling_of(metrics.label);
      PlotData& line = lines[kind];
      line.name = "errors" + std::to_string(e) + kind;
      line.rows.push_back({metrics.points, error_of(metrics)});
      points.push_back(line.rows.back()[0]);
      errors.push_back(line.rows.back()[1]);
    }
    for (auto& [kind, line] : lines) {
      const std::string title =
          shortened(evaluations[e].name, 60) + (kind.empty() ? "" : ", " + kind);
      plot += (plot.empty() ? "plot $" : ", $") + line.name + " using 1:2 with linespoints pt " +
              (kind.empty()       ? "7"
               : kind == "graded" ? "8"
                                  : "6") +
              " lw 2 lc rgb " + colour(e) + dashes(e) + " title " + gnuplot_text(title);
      data.push_back(std::move(line));
    }
  }
  return plain_panel(
      "set title 'Error against density'\nset xlabel \"points per sample\\n \"\nset ylabel " +
      gnuplot_text(overall_error_name(evaluations.front().resolutions.front())) +
      "\nset key below\nset rmargin 5\n" + logarithmic_axis('x', points) +
      logarithmic_axis('y', errors) + "set grid\n" + plot + "\n");
}

}  // namespace

void draw_report(const std::filesystem::path& path,
                 const std::vector<OperatorEvaluation>& evaluations,
                 const std::vector<SampleView>& views) {
  constexpr std::size_t curves_per_row = 4;
  std::vector<PlotData> data;
  std::vector<PanelRow> rows;
  std::vector<Panel> curves;
  for (std::size_t v = 0; v < views.size(); ++v) {
    const std::string name = "view" + std::to_string(v);
    if (views[v].shape->kind == ViewShape::Kind::curve)
      curves.push_back(curve_panel(views[v], name, data));
    else
      for (PanelRow& row : map_rows(views[v], name, data)) rows.push_back(std::move(row));
  }
  const std::string field = views.empty() ? "" : views.front().field;
  if (!evaluations.empty() && are_resolutions(evaluations.front()))
    curves.push_back(error_panel(evaluations, field, data));
  const std::size_t maps = rows.size();
  for (std::size_t first = 0; first < curves.size(); first += curves_per_row)
    rows.push_back({{curves.begin() + static_cast<std::ptrdiff_t>(first),
                     curves.begin() + static_cast<std::ptrdiff_t>(
                                          std::min(curves.size(), first + curves_per_row))}});

  Canvas canvas;
  for (const PanelRow& row : rows) {
    canvas.width =
        std::max(canvas.width, row.width * static_cast<double>(row.panels.size()) + row.beside);
    canvas.height += row.height;
  }
  canvas.height = std::round(canvas.height);
  std::string script = "set multiplot\n";
  double bottom = canvas.height;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    bottom -= rows[r].height;
    const std::vector<Panel>& panels = rows[r].panels;
    for (std::size_t c = 0; c < panels.size(); ++c) {
      // Maps stand below each other; curves take the room that there is.
      const double width =
          r < maps ? rows[r].width : canvas.width / static_cast<double>(panels.size());
      const Area area = {width * static_cast<double>(c), bottom, width, rows[r].height};
      if (panels[c]) script += panels[c](canvas, area);
    }
  }
  script += "unset multiplot\n";
  draw_png(path, static_cast<int>(canvas.width), static_cast<int>(canvas.height), data, script);
}

std::vector<std::string> draw_reports(const std::filesystem::path& folder,
                                      const std::vector<OperatorEvaluation>& evaluations,
                                      const std::vector<SampleView>& views) {
  std::vector<std::string> fields;
  for (const SampleView& view : views)
    if (std::find(fields.begin(), fields.end(), view.field) == fields.end())
      fields.push_back(view.field);
  if (fields.size() < 2) {
    draw_report(folder / "report.png", evaluations, views);
    return {"report.png"};
  }
  std::vector<std::string> names;
  for (const std::string& field : fields) {
    std::string stem = "report_";
    for (const char c : field) {
      const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '.' ||
                         static_cast<unsigned char>(c) >= 0x80;
      stem += plain ? c : '_';
    }
    std::string name = stem + ".png";
    for (int number = 2; std::find(names.begin(), names.end(), name) != names.end(); ++number)
      name = stem + "_" + std::to_string(number) + ".png";
    std::vector<SampleView> shown;
    std::copy_if(views.begin(), views.end(), std::back_inserter(shown),
                 [&](const SampleView& view) { return view.field == field; });
    draw_report(folder / name, evaluations, shown);
    names.push_back(name);
  }
  return names;
}

}  // namespace funcattn
