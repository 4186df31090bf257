#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace funcattn {

/// Columns of numbers that a gnuplot script refers to as $name.
struct PlotData {
  std::string name;  ///< Letters, digits, underscore.
  std::vector<std::vector<double>> rows;
};

/// Text as a gnuplot string literal, quotes included; enhanced-text marks and ends of lines are
/// escaped.
std::string gnuplot_text(const std::string& text);

/// Where a logarithmic axis from `low` to `high` is labelled, 0 < low <= high: at 1, 2, 5, or more
/// finely where that gives fewer than three places; at decades where it gives more than nine.
std::vector<double> logarithmic_ticks(double low, double high);

/// Makes the axis ('x' or 'y') logarithmic, as long as the values need, with labels on it. Nothing
/// but the scale where no value is positive and finite.
std::string logarithmic_axis(char axis, const std::vector<double>& values);

/// Draws `script` with gnuplot (which needs no display) to a PNG, atomically. The script must not
/// set terminal or output. Throws FileError if gnuplot is missing or fails, with its first line.
void draw_png(const std::filesystem::path& path, int width, int height,
              const std::vector<PlotData>& data, const std::string& script);

}  // namespace funcattn
