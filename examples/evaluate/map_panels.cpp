#include "examples/evaluate/map_panels.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>

#include "core/text.h"

namespace funcattn {

namespace {

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

std::string begin_panel(const std::string& title, std::size_t letters) {
  return "reset\n" + palette_script() + "set title " + gnuplot_text(shortened(title, letters)) +
         "\nunset key\n";
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
  /// @param small maps of many: without axes, and only the last of a row has room for its colours
  Maps(const SampleView& view, std::string name, bool small) : view_(view), small_(small) {
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
    return [=, this_box = box(), margins = this->margins(), labels = axis_labels(),
            letters = std::size_t{small_ ? 38U : 60U}](const Canvas& canvas, const Area& area) {
      const Area inner = fitted(this_box, margins, area);
      std::string script = begin_panel(title, letters) + "set lmargin at screen " +
                           canvas.x(inner.left) + "\nset rmargin at screen " +
                           canvas.x(inner.left + inner.width) + "\nset bmargin at screen " +
                           canvas.y(inner.bottom) + "\nset tmargin at screen " +
                           canvas.y(inner.bottom + inner.height) + "\n" + labels;
      if (has_bar)
        script += "set colorbox user origin " + canvas.x(inner.left + inner.width + 10) + "," +
                  canvas.y(inner.bottom) + " size " + canvas.x(12) + "," + canvas.y(inner.height) +
                  "\n";
      return script + plot;
    };
  }

  /// Of a row of such panels.
  double height() const {
    const Area inner = fitted(box(), margins(), {0, 0, width(), panel_height});
    return std::max(least_panel_height, inner.height + margins().both_high);
  }

  double width() const { return small_ ? small_panel_width : panel_width; }

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

  /// Around a map in its panel, in pixels.
  struct Margins {
    double left, bottom, both_wide, both_high;
  };

  Margins margins() const {
    if (small_) return {15, 15, 30, 55};
    if (view_.shape->kind == ViewShape::Kind::plane) return {70, 55, 175, 95};
    return {20, 20, 125, 60};
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
    if (small_ || view_.shape->kind == ViewShape::Kind::body)
      return script + "unset tics\nset cbtics\nunset border\n";
    return script + "set xlabel '" + view_.shape->horizontal + "'\nset ylabel '" +
           view_.shape->vertical + "'\nset xtics autofreq\n";
  }

  /// The largest area with the proportions of the box between title, axes and colours.
  static Area fitted(const Box& box, const Margins& margins, const Area& area) {
    Area inner = {area.left + margins.left, area.bottom + margins.bottom, 0, 0};
    inner.width = area.width - margins.both_wide;
    inner.height = area.height - margins.both_high;
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
  bool small_;
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

/// Of the errors of classes: the two ends of the palette.
std::string right_and_wrong() {
  const auto& right = palette[0];
  const auto& wrong = palette[std::size(palette) - 1];
  return "set palette defined (" + palette_stop(0, right) + ", " + palette_stop(1, right) + ", " +
         palette_stop(1, wrong) + ", " + palette_stop(2, wrong) +
         ")\nset cbtics ('right' 0.25, 'wrong' 0.75) scale 0\n";
}

/// More predictions have small maps, and more of those stand below, under the truth once more.
constexpr std::size_t large_per_row = 4;
constexpr std::size_t small_per_row = 8;

}  // namespace

std::vector<PanelRow> map_rows(const SampleView& view, const std::string& name,
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
  const bool small = view.predictions.size() > large_per_row;
  const std::size_t per_row = small ? small_per_row : large_per_row;
  Maps maps(view, name, small);
  const std::string numbers = "set format cb '%.3g'\n";
  const std::string value_bar = view.are_classes ? class_ticks(values) : numbers;
  const std::string error_bar = view.are_classes ? right_and_wrong() : numbers;
  const std::string error_title = view.are_classes ? "wrong points of " : "absolute error of ";
  const std::size_t count = view.predictions.size();
  const Panel truth = maps.add(view.title + ": true", view.truth, values, "");
  std::vector<PanelRow> rows;
  for (std::size_t first = 0; first < count; first += per_row) {
    const std::size_t end = std::min(count, first + per_row);
    PanelRow shown, wrong;
    shown.height = wrong.height = maps.height();
    shown.width = wrong.width = maps.width();
    shown.beside = wrong.beside = small ? bar_width : 0;
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

}  // namespace funcattn
