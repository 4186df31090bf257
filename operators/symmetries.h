#pragma once

#include <array>
#include <string>

namespace funcattn {

/// Groups of maps of the plane of the first two coordinates onto itself.
enum class Symmetries {
  none,
  rectangle,  ///< The 4 of a rectangle: reflections in both axes and the half turn.
  square,     ///< The 8 of a square: those, the quarter turns and the reflections in its diagonals.
};

const char* to_string(Symmetries symmetries);
/// Throws UsageError with the known names.
Symmetries symmetries_from_string(const std::string& text);

/// Such a group about a fixed point, of the physical coordinates.
struct SymmetryGroup {
  Symmetries kind = Symmetries::none;
  std::array<double, 2> center{};

  /// Number of its maps, the identity included.
  int order() const;
};

}  // namespace funcattn
