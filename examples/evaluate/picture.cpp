#include <algorithm>
#include <cctype>
#include <cmath>
#include <functional>
#include <limits>
#include <map>

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

/// Of operators that share a colour.
std::string dashes(std::size_t index) {
  return " dt " + std::to_string(1 + index / std::size(colours));
}

/// Stops of the palette of maps, red, green and blue of 255, and the colour of what has no value.
constexpr double palette[][3] = {
    {68, 1, 84}, {59, 82, 139}, {33, 145, 140}, {94, 201, 98}, {253, 231, 37}};
constexpr double no_value[3] = {200, 200, 200};

std::string palette_stop(std::size_t place, const double (&stop)[3]) {
  std::string script = std::to_string(place);
  for (const double part : stop) script += " " + format_number(part / 255);
  return script;
}

std::string palette_script() {
  std::string script = "set palette defined (";
  for (std::size_t i = 0; i < std::size(palette); ++i)
    script += (i == 0 ? "" : ", ") + palette_stop(i, palette[i]);
  return script + ")\n";
}

/// Of a value as a share of its range, as gnuplot's `rgb variable` takes it.
double colour_number(double share, double light) {
  double mixed[3];
  std::copy_n(no_value, 3, mixed);
  if (std::isfinite(share)) {
    constexpr std::size_t last = std::size(palette) - 1;
    const double place = std::clamp(share, 0.0, 1.0) * static_cast<double>(last);
    const std::size_t stop = std::min(static_cast<std::size_t>(place), last - 1);
    const double between = place - static_cast<double>(stop);
    for (int i = 0; i < 3; ++i)
      mixed[i] = (1 - between) * palette[stop][i] + between * palette[stop + 1][i];
  }
  double number = 0;
  for (const double part : mixed) number = 256 * number + std::round(part * light);
  return number;
}

/// Text that a panel has room for, without its middle where it is too long.
std::string shortened(const std::string& text, std::size_t most) {
  if (text.size() <= most) return text;
  std::size_t head = most / 2, tail = text.size() - most / 2;
  const auto continues = [&](std::size_t at) {  // A character of UTF-8.
    return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80;
  };
  while (head > 0 && continues(head)) --head;
  while (continues(tail)) ++tail;
  return text.substr(0, head) + "…" + text.substr(tail);
}

// In pixels; rows of maps are lower where their shapes are.
constexpr double panel_width = 460;
constexpr double panel_height = 430;
constexpr double least_panel_height = 160;

/// A part of the picture, in pixels from its lower left corner.
struct Area {
  double left = 0, bottom = 0, width = 0, height = 0;
};

/// The size of the picture, which turns pixels to gnuplot's shares.
struct Canvas {
  double width = 0, height = 0;
  std::string x(double pixels) const { return format_number(pixels / width); }
  std::string y(double pixels) const { return format_number(pixels / height); }
};

/// Draws itself to its part of the picture.
using Panel = std::function<std::string(const Canvas&, const Area&)>;

std::string begin_panel(const std::string& title) {
  return "reset\n" + palette_script() + "set title " + gnuplot_text(shortened(title, 60)) +
         "\nunset key\n";
}

Panel plain_panel(const std::string& script) {
  return [script](const Canvas& canvas, const Area& area) {
    return "reset\nset origin " + canvas.x(area.left) + "," + canvas.y(area.bottom) +
           "\nset size " + canvas.x(area.width) + "," + canvas.y(area.height) + "\n" + script;
  };
}

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

/// Around a shape, of its longer side.
constexpr double margin_share = 0.02;

/// The range of colours of some columns of numbers.
struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  void add(const std::vector<double>& values) {
    for (const double value : values) {
      if (!std::isfinite(value)) continue;  // Masked points may have no truth.
      low = std::min(low, value);
      high = std::max(high, value);
    }
  }
  void close() {
    if (high < low) low = high = 0;
    if (high <= low) high = low + 1;
  }
  double share(double value) const { return (value - low) / (high - low); }
};

/// What colours a part: the mean of its entries, or the class in their middle, which is that of the
/// most where two of three agree. NaN where an entry has no value.
double colour_value(const std::vector<double>& values, const std::vector<std::size_t>& entries,
                    bool are_classes) {
  double sum = 0;
  std::vector<double> own;
  for (const std::size_t entry : entries) {
    sum += values[entry];
    if (are_classes) own.push_back(values[entry]);
  }
  if (!are_classes || std::isnan(sum)) return sum / static_cast<double>(entries.size());
  std::nth_element(own.begin(), own.begin() + static_cast<std::ptrdiff_t>(own.size() / 2),
                   own.end());
  return own[own.size() / 2];
}

/// Maps of one sample: the shape once, coloured by several columns of numbers.
class Maps {
 public:
  Maps(const SampleView& view, std::string name) : view_(view) {
    data_.name = std::move(name);
    for (const ViewShape::Part& part : view.shape->parts)
      for (const auto& [x, y] : part.corners) {
        low_x_ = std::min(low_x_, x);
        high_x_ = std::max(high_x_, x);
        low_y_ = std::min(low_y_, y);
        high_y_ = std::max(high_y_, y);
      }
    for (const ViewShape::Part& part : view.shape->parts) {
      for (const auto& [x, y] : part.corners) data_.rows.push_back({rounded(x), rounded(y)});
      if (part.corners.size() > 1) data_.rows.emplace_back();
    }
  }

  /// @param bar the script of the range of colours beside it; empty: there is none
  Panel add(const std::string& title, const std::vector<double>& values, const Range& range,
            const std::string& bar) {
    std::size_t row = 0;
    for (const ViewShape::Part& part : view_.shape->parts) {
      const double share = range.share(colour_value(values, part.entries, view_.are_classes));
      const double number = colour_number(share, part.light);
      for (std::size_t i = 0; i < part.corners.size(); ++i) data_.rows[row++].push_back(number);
      if (part.corners.size() > 1) ++row;
    }
    const int column = 3 + columns_++;
    const std::string plot = plot_of(column, range, bar);
    const bool has_bar = !bar.empty();
    const bool has_axes = view_.shape->kind == ViewShape::Kind::plane;
    return [=, this_box = box(), labels = axis_labels()](const Canvas& canvas, const Area& area) {
      const Area inner = fitted(this_box, has_axes, area);
      std::string script = begin_panel(title) + "set lmargin at screen " + canvas.x(inner.left) +
                           "\nset rmargin at screen " + canvas.x(inner.left + inner.width) +
                           "\nset bmargin at screen " + canvas.y(inner.bottom) +
                           "\nset tmargin at screen " + canvas.y(inner.bottom + inner.height) +
                           "\n" + labels;
      if (has_bar)
        script += "set colorbox user origin " + canvas.x(inner.left + inner.width + 10) + "," +
                  canvas.y(inner.bottom) + " size " + canvas.x(12) + "," + canvas.y(inner.height) +
                  "\n";
      return script + plot;
    };
  }

  /// Of a row of such panels.
  double height() const {
    const bool has_axes = view_.shape->kind == ViewShape::Kind::plane;
    const Area inner = fitted(box(), has_axes, {0, 0, panel_width, panel_height});
    return std::max(least_panel_height, inner.height + (has_axes ? 95 : 60));
  }

  PlotData take() { return std::move(data_); }

 private:
  struct Box {
    double width, height;
  };

  Box box() const {
    const double longest = std::max(high_x_ - low_x_, high_y_ - low_y_);
    // A line is no area; some height shows it.
    return {std::max(high_x_ - low_x_, 0.02 * longest), std::max(high_y_ - low_y_, 0.02 * longest)};
  }

  /// As many digits as a pixel needs.
  double rounded(double value) const {
    const double grain =
        std::pow(10, std::floor(std::log10(std::max(box().width, box().height))) - 5);
    return grain > 0 ? std::round(value / grain) * grain : value;
  }

  std::string axis_labels() const {
    const Box size = box();
    const double margin = margin_share * std::max(size.width, size.height);
    const auto limits = [&](double low, double high, double length) {
      const double middle = 0.5 * (low + high);
      return "[" + format_number(middle - 0.5 * length - margin) + ":" +
             format_number(middle + 0.5 * length + margin) + "]\n";
    };
    std::string script = "set xrange " + limits(low_x_, high_x_, size.width) + "set yrange " +
                         limits(low_y_, high_y_, size.height);
    if (view_.shape->kind == ViewShape::Kind::body)
      return script + "unset tics\nset cbtics\nunset border\n";
    return script + "set xlabel '" + view_.shape->horizontal + "'\nset ylabel '" +
           view_.shape->vertical + "'\nset xtics autofreq\n";
  }

  /// The largest area with the proportions of the box between title, axes and colours.
  static Area fitted(const Box& box, bool has_axes, const Area& area) {
    Area inner = {area.left + (has_axes ? 70 : 20), area.bottom + (has_axes ? 55 : 20), 0, 0};
    inner.width = area.width - (has_axes ? 175 : 125);
    inner.height = area.height - (has_axes ? 95 : 60);
    const double pad = 2 * margin_share * std::max(box.width, box.height);
    const double wide = box.width + pad, high = box.height + pad;
    const double scale = std::min(inner.width / wide, inner.height / high);
    const double left_over = inner.height - high * scale;
    inner.width = wide * scale;
    inner.height = high * scale;
    inner.bottom += 0.5 * left_over;
    return inner;
  }

  std::string plot_of(int column, const Range& range, const std::string& bar) const {
    const auto& parts = view_.shape->parts;
    const bool are_points = parts.empty() || parts.front().corners.size() == 1;
    const double mark = std::clamp(
        70.0 / std::sqrt(static_cast<double>(std::max<std::size_t>(1, parts.size()))), 0.15, 4.0);
    const std::string using_columns = " using 1:2:" + std::to_string(column);
    std::string plot =
        "set style fill solid noborder\n" + bar + "set cbrange [" + format_number(range.low) + ":" +
        format_number(range.high) + "]\nplot $" + data_.name + using_columns +
        (are_points ? " with points pt 7 ps " + format_number(mark) + " lc rgb variable"
                    : " with polygons fillcolor rgb variable");
    // The range of colours stands beside plots that use the palette: this one draws nothing.
    if (!bar.empty())
      plot += ", $" + data_.name + " every ::::0 using (NaN):(NaN):1 with points palette";
    return plot + "\n";
  }

  const SampleView& view_;
  PlotData data_;
  int columns_ = 0;
  double low_x_ = std::numeric_limits<double>::infinity(), high_x_ = -low_x_;
  double low_y_ = low_x_, high_y_ = high_x_;
};

/// Whole numbers alone, about ten of them.
std::string class_ticks(const Range& range) {
  double step = 1;
  for (double decade = 1; range.high - range.low > 10 * step; decade *= 10)
    for (const double multiple : {1, 2, 5}) {
      step = multiple * decade;
      if (range.high - range.low <= 10 * step) break;
    }
  return "set format cb '%.0f'\nset cbtics " + format_number(step) + "\n";
}

struct Row {
  std::vector<Panel> panels;
  double height = panel_height;
};

/// Of the errors of classes: the two ends of the palette.
std::string right_and_wrong() {
  const auto& right = palette[0];
  const auto& wrong = palette[std::size(palette) - 1];
  return "set palette defined (" + palette_stop(0, right) + ", " + palette_stop(1, right) + ", " +
         palette_stop(1, wrong) + ", " + palette_stop(2, wrong) +
         ")\nset cbtics ('right' 0.25, 'wrong' 0.75) scale 0\n";
}

/// More of them stand below, under the truth once more.
constexpr std::size_t predictions_per_row = 4;

/// One row for one operator: truth, prediction, error. For several: truth and predictions, with the
/// errors below these. One range of colours serves all values, one all errors.
std::vector<Row> map_rows(const SampleView& view, const std::string& name,
                          std::vector<PlotData>& data) {
  if (view.shape->parts.empty()) return {};  // No point has a place.
  Range values, errors;
  values.add(view.truth);
  for (const SampleView::Prediction& prediction : view.predictions) {
    values.add(prediction.values);
    errors.add(prediction.error);
  }
  values.close();
  if (errors.high >= errors.low) errors.low = 0;
  errors.close();
  Maps maps(view, name);
  const std::string numbers = "set format cb '%.3g'\n";
  const std::string value_bar = view.are_classes ? class_ticks(values) : numbers;
  const std::string error_bar = view.are_classes ? right_and_wrong() : numbers;
  const std::string error_title = view.are_classes ? "wrong points of " : "absolute error of ";
  const std::size_t count = view.predictions.size();
  const Panel truth = maps.add(view.title + ": true", view.truth, values, "");
  std::vector<Row> rows;
  for (std::size_t first = 0; first < count; first += predictions_per_row) {
    const std::size_t end = std::min(count, first + predictions_per_row);
    Row shown, wrong;
    shown.height = wrong.height = maps.height();
    shown.panels.push_back(truth);
    wrong.panels.emplace_back();
    for (std::size_t p = first; p < end; ++p) {
      const SampleView::Prediction& prediction = view.predictions[p];
      const bool last = p + 1 == end;
      shown.panels.push_back(maps.add("predicted by " + prediction.name, prediction.values, values,
                                      last ? value_bar : ""));
      wrong.panels.push_back(
          maps.add(error_title + prediction.name, prediction.error, errors, last ? error_bar : ""));
    }
    rows.push_back(std::move(shown));
    rows.push_back(std::move(wrong));
  }
  data.push_back(maps.take());
  if (count > 1) return rows;
  rows.front().panels.push_back(std::move(rows.back().panels.back()));
  return {rows.front()};
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
  std::vector<Row> rows;
  std::vector<Panel> curves;
  for (std::size_t v = 0; v < views.size(); ++v) {
    const std::string name = "view" + std::to_string(v);
    if (views[v].shape->kind == ViewShape::Kind::curve)
      curves.push_back(curve_panel(views[v], name, data));
    else
      for (Row& row : map_rows(views[v], name, data)) rows.push_back(std::move(row));
  }
  const std::string field = views.empty() ? "" : views.front().field;
  if (!evaluations.empty() && are_resolutions(evaluations.front()))
    curves.push_back(error_panel(evaluations, field, data));
  std::size_t columns = std::min(curves.size(), curves_per_row);
  for (const Row& row : rows) columns = std::max(columns, row.panels.size());
  const std::size_t maps = rows.size();
  for (std::size_t first = 0; first < curves.size(); first += curves_per_row)
    rows.push_back({{curves.begin() + static_cast<std::ptrdiff_t>(first),
                     curves.begin() + static_cast<std::ptrdiff_t>(
                                          std::min(curves.size(), first + curves_per_row))},
                    panel_height});

  Canvas canvas = {panel_width * static_cast<double>(columns), 0};
  for (const Row& row : rows) canvas.height += row.height;
  canvas.height = std::round(canvas.height);
  std::string script = "set multiplot\n";
  double bottom = canvas.height;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    bottom -= rows[r].height;
    const std::vector<Panel>& panels = rows[r].panels;
    for (std::size_t c = 0; c < panels.size(); ++c) {
      // Maps stand below each other; curves take the room that there is.
      const double width =
          r < maps ? panel_width : canvas.width / static_cast<double>(panels.size());
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
