#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "meshio/number_word.h"
#include "meshio/text_lines.h"

namespace funcattn {

/// Type of a number in a PLY file.
struct PlyScalar {
  std::size_t size = 0;  ///< Bytes in a binary file.
  bool floating = false;
  bool is_signed = true;
  NumberKind kind = NumberKind::float64;  ///< In text.
  int vtk_type = 0;                       ///< VTK_FLOAT and so on.
};

struct PlyProperty {
  std::string name;
  PlyScalar type;
  std::optional<PlyScalar> count;  ///< Of a list: the type of its length.
};

/// A table of the file: so many rows, each with these properties.
struct PlyElement {
  std::string name;
  std::int64_t rows = 0;
  std::vector<PlyProperty> properties;

  const PlyProperty* find(const std::string& property) const;
};

enum class PlyStorage { text, little_endian, big_endian };

struct PlyHeader {
  PlyStorage storage = PlyStorage::text;
  std::vector<PlyElement> elements;

  const PlyElement* find(const std::string& element) const;
};

/// Whether this property of the element "face" lists the points of each face.
bool lists_points(const PlyElement& element, const PlyProperty& property);

/// Reads the header and leaves `lines` at its last line. Throws DataError unless it is complete,
/// declares points with x, y and z, and lists the points of faces as integers.
PlyHeader read_ply_header(TextLines& lines);

}  // namespace funcattn
