#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "core/text.h"

namespace funcattn {

// In pixels; rows of maps are lower where their shapes are.
inline constexpr double panel_width = 460;
inline constexpr double panel_height = 430;
inline constexpr double least_panel_height = 160;
inline constexpr double small_panel_width = 300;  ///< Of maps of many operators, without axes.
inline constexpr double bar_width = 80;           ///< Of the range of colours beside such a row.

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

/// The panels that stand side by side; an empty one leaves its place free.
struct PanelRow {
  std::vector<Panel> panels;
  double height = panel_height;
  double width = panel_width;  ///< Of each panel.
  double beside = 0;           ///< That they need at the end of the row.
};

/// Fits gnuplot's script of a plot into its part.
Panel plain_panel(const std::string& script);

/// Of the curve of operator number `index`.
std::string colour(std::size_t index);
/// Of operators that share a colour.
std::string dashes(std::size_t index);

/// Text that a panel has room for, without its middle where it is too long.
std::string shortened(const std::string& text, std::size_t most);

}  // namespace funcattn
