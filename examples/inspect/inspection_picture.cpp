#include "examples/inspect/inspection_picture.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>

#include "core/text.h"
#include "examples/evaluate/gnuplot.h"

namespace funcattn {

namespace {

using Heads = std::vector<const HeadInspection*>;

constexpr int map_width = 280;
constexpr int map_height = 240;
constexpr int map_side = 160;
constexpr int panel_width = 420;
constexpr int panel_height = 330;

// Colours that differ in lightness too, for those who do not see them apart.
const char* const colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                               "#e69f00", "#56b4e9", "#000000", "#999999"};

std::map<int, Heads> by_block(const SampleInspection& inspection) {
  std::map<int, Heads> blocks;
  for (const HeadInspection& head : inspection.heads) blocks[head.block].push_back(&head);
  return blocks;
}

std::string data_name(const char* what, const HeadInspection& head) {
  return what + std::to_string(head.block) + "_" + std::to_string(head.head);
}

std::string title_of(const HeadInspection& head) {
  return "block " + std::to_string(head.block) + ", head " + std::to_string(head.head);
}

/// Where a panel stands on a page of `columns` x `rows`.
std::string place(std::size_t column, std::size_t columns, std::size_t row, std::size_t rows) {
  const double w = 1.0 / static_cast<double>(columns);
  const double h = 1.0 / static_cast<double>(rows);
  return "set size " + format_number(w) + "," + format_number(h) + "\nset origin " +
         format_number(w * static_cast<double>(column)) + "," +
         format_number(1.0 - h * static_cast<double>(row + 1)) + "\n";
}

/// The square of a map, and the range of its colours beside it, on a page of maps.
std::string map_place(std::size_t column, std::size_t columns, std::size_t row, std::size_t rows) {
  const auto x = [&](double pixels) {
    return format_number((map_width * static_cast<double>(column) + pixels) /
                         (map_width * static_cast<double>(columns)));
  };
  const auto y = [&](double pixels) {
    return format_number((map_height * static_cast<double>(rows - 1 - row) + pixels) /
                         (map_height * static_cast<double>(rows)));
  };
  constexpr double left = 50, bottom = 46, gap = 8, bar = 10;
  const double right = left + map_side;
  const auto share = [](double pixels, double side, std::size_t count) {
    return format_number(pixels / (side * static_cast<double>(count)));
  };
  return "set lmargin at screen " + x(left) + "\nset rmargin at screen " + x(right) +
         "\nset bmargin at screen " + y(bottom) + "\nset tmargin at screen " +
         y(bottom + map_side) + "\nset colorbox user origin " + x(right + gap) + "," + y(bottom) +
         " size " + share(bar, map_width, columns) + "," + share(map_side, map_height, rows) + "\n";
}

std::string map_panel(const HeadInspection& head, std::vector<PlotData>& data) {
  PlotData block{data_name("map", head), {}};
  double largest = 0;
  const auto columns = static_cast<std::size_t>(head.columns);
  for (std::size_t first = 0; first < head.transport.size(); first += columns) {
    block.rows.emplace_back(head.transport.begin() + static_cast<std::ptrdiff_t>(first),
                            head.transport.begin() + static_cast<std::ptrdiff_t>(first + columns));
    for (const double value : block.rows.back())
      if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
  }
  if (largest == 0) largest = 1;
  const std::string range = format_number(largest);
  const std::string bound = format_significant(largest, 3);
  // Functions are counted from 1; four are named.
  const auto ticks = [](const char* axis, int count) {
    const int step = (count + 3) / 4;
    return std::string("set ") + axis + "tics " + std::to_string(step) + "," +
           std::to_string(step) + " scale 0.3 font ',8'\n";
  };
  const std::string plot = "set title " + gnuplot_text(title_of(head)) + "\nset cbrange [-" +
                           range + ":" + range + "]\nset cbtics ('-" + bound + "' -" + range +
                           ", '0' 0, '" + bound + "' " + range + ") font ',8' scale 0.3\n" +
                           ticks("x", head.columns) + ticks("y", head.rows) +
                           "set xrange [0.5:" + format_number(head.columns + 0.5) +
                           "]\nset yrange [" + format_number(head.rows + 0.5) + ":0.5]\nplot $" +
                           block.name + " matrix using ($1 + 1):($2 + 1):3 with image\n";
  data.push_back(std::move(block));
  return plot;
}

/// One curve per head over `first`, `first` + 1, ...
std::string curves(const Heads& heads, const char* what, std::vector<PlotData>& data,
                   const std::function<std::vector<double>(const HeadInspection&)>& values,
                   double first = 1) {
  std::string plot;
  for (std::size_t i = 0; i < heads.size(); ++i) {
    PlotData block{data_name(what, *heads[i]), {}};
    double index = first;
    bool has_values = false;
    for (const double value : values(*heads[i])) {
      block.rows.push_back({index++, value});
      has_values = has_values || std::isfinite(value);
    }
    if (!has_values) continue;  // gnuplot takes that for an error.
    plot += (plot.empty() ? "plot $" : ", $") + block.name +
            " using 1:2 with linespoints pt 7 ps 0.5 lw 1.6 lc rgb '" +
            colours[i % std::size(colours)] + "' dt " + std::to_string(1 + i / std::size(colours)) +
            " title 'head " + std::to_string(heads[i]->head) + "'";
    data.push_back(std::move(block));
  }
  if (plot.empty()) return "plot [0:1][0.1:1] 10 notitle\n";  // An empty panel.
  return plot + "\n";
}

std::vector<double> scaled_singular_values(const HeadInspection& head) {
  std::vector<double> values = head.singular_values;
  const double largest = values.empty() ? 0 : values.front();
  // Rounding errors of zeros would stretch the axis.
  for (double& value : values)
    value = value > 1e-14 * largest ? value / largest : std::numeric_limits<double>::quiet_NaN();
  return values;
}

std::vector<double> sorted_coverage(const HeadInspection& head) {
  std::vector<double> values = head.basis.coverage;
  std::sort(values.begin(), values.end(), std::greater<double>());
  return values;
}

std::vector<double> received(const HeadInspection& head) {
  std::vector<double> values = head.points->received;
  // The axis is logarithmic.
  for (double& value : values)
    if (!(value > 1e-6)) value = std::numeric_limits<double>::quiet_NaN();
  return values;
}

/// A bar per head.
std::string domain_panel(const Heads& heads, std::vector<PlotData>& data) {
  PlotData block{data_name("domain", *heads.front()), {}};
  for (const HeadInspection* head : heads)
    block.rows.push_back({static_cast<double>(head->head), head->points->domain});
  const std::string plot = "plot [0.5:" + format_number(heads.back()->head + 0.5) + "][0:1] $" +
                           block.name + " using 1:2 with boxes fs solid lc rgb '" + colours[0] +
                           "' notitle\n";
  data.push_back(std::move(block));
  return plot;
}

}  // namespace

void draw_transports(const std::filesystem::path& path, const SampleInspection& inspection) {
  const auto blocks = by_block(inspection);
  std::size_t columns = 1;
  for (const auto& block : blocks) columns = std::max(columns, block.second.size());
  std::vector<PlotData> data;
  std::string script =
      "set multiplot\nunset key\nset xlabel 'function of the source' font ',9' offset 0,0.7\n"
      "set ylabel 'function of the query' font ',9' offset 1.2,0\n"
      "set palette defined (-1 '#2166ac', -0.5 '#92c5de', 0 '#f7f7f7', 0.5 '#f4a582', 1 "
      "'#b2182b')\n";
  std::size_t row = 0;
  for (const auto& block : blocks) {
    for (std::size_t column = 0; column < block.second.size(); ++column)
      script +=
          map_place(column, columns, row, blocks.size()) + map_panel(*block.second[column], data);
    ++row;
  }
  draw_png(path, map_width * static_cast<int>(columns),
           map_height * static_cast<int>(blocks.size()), data, script + "unset multiplot\n");
}

void draw_spectra(const std::filesystem::path& path, const SampleInspection& inspection) {
  const auto blocks = by_block(inspection);
  std::vector<PlotData> data;
  std::string script = "set multiplot\nset grid back lc rgb '#dddddd'\n";
  std::size_t row = 0;
  for (const auto& [number, heads] : blocks) {
    const std::string of_block = " of block " + std::to_string(number);
    // Functions are counted: no ticks between them, and eight at most.
    const std::size_t functions = heads.front()->basis.coverage.size();
    script += "set xtics " + std::to_string((functions + 7) / 8) + "\n";
    script += place(0, 2, row, blocks.size()) + "set title 'Singular values" + of_block +
              "'\nset xlabel 'index'\nset ylabel 'of the largest'\nset logscale y\n"
              "set format y '10^{%T}'\nset key bottom left\n" +  // They fall from the top left.
              curves(heads, "values", data, scaled_singular_values) +
              "unset logscale y\nset format y\n";
    script += place(1, 2, row, blocks.size()) + "set title 'Coverage" + of_block +
              "'\nset xlabel 'function, by coverage'\nset ylabel 'coverage'\n"
              "set yrange [0:*]\nset offsets 0, 0, graph 0.3, 0\nset key top right\n" +
              curves(heads, "coverage", data, sorted_coverage) +
              "unset offsets\nunset yrange\nset autoscale y\n";
    ++row;
  }
  draw_png(path, 2 * panel_width, panel_height * static_cast<int>(blocks.size()), data,
           script + "unset multiplot\n");
}

void draw_attention(const std::filesystem::path& path, const SampleInspection& inspection) {
  const auto blocks = by_block(inspection);
  std::vector<PlotData> data;
  std::string script =
      "set multiplot\nset key top right\nset grid back lc rgb '#dddddd'\nset boxwidth 0.6\n";
  std::size_t row = 0;
  for (const auto& [number, heads] : blocks) {
    const std::string of_block = " of block " + std::to_string(number);
    script += place(0, 2, row, blocks.size()) + "set title 'Attention received" + of_block +
              "'\nset xlabel 'per cent of the domain, by attention'\nset ylabel 'of its share'\n"
              "set xtics 20\nset logscale y\nset format y '10^{%T}'\n" +
              curves(heads, "received", data, received, 0) + "unset logscale y\nset format y\n";
    script += place(1, 2, row, blocks.size()) + "set title 'Attention of a query" + of_block +
              "'\nset xlabel 'head'\nset ylabel 'share of the domain'\nset xtics 1\n" +
              domain_panel(heads, data);
    ++row;
  }
  draw_png(path, 2 * panel_width, panel_height * static_cast<int>(blocks.size()), data,
           script + "unset multiplot\n");
}

}  // namespace funcattn
