#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "meshio/text_lines.h"

namespace funcattn {

/// A corner of a cell of an OBJ file. Indices count from 0; -1 where it names none.
struct ObjCorner {
  std::int64_t point = -1;
  std::int64_t texture = -1;
  std::int64_t normal = -1;
};

/// Cells of one kind: cell i has the corners from ends[i - 1] to ends[i].
struct ObjCells {
  std::vector<ObjCorner> corners;
  std::vector<std::size_t> ends;
  std::vector<int> groups;
  std::vector<int> materials;
};

/// Numbers of the statements of one kind, as many for each.
struct ObjNumbers {
  std::size_t width = 0;
  std::vector<double> values;

  std::int64_t count() const {
    return width == 0 ? 0 : static_cast<std::int64_t>(values.size() / width);
  }
};

/// What the statements of an OBJ file say.
struct ObjContents {
  ObjNumbers points;    ///< Three coordinates each.
  ObjNumbers colours;   ///< Three or four, NaN for points without; empty if none has one.
  ObjNumbers textures;  ///< Two or three, 0 where a statement has fewer.
  ObjNumbers normals;   ///< Three each.
  ObjCells verts;
  ObjCells lines;
  ObjCells faces;
  std::vector<std::string> materials;  ///< Names in the order of their use.
  bool has_materials = false;          ///< Whether a statement names one.
  std::vector<std::string> libraries;
};

/// Throws DataError, naming the line, where a statement is no statement, has not the numbers that
/// it must have, or refers to what is nowhere in the file; and where it is a curve or a surface.
ObjContents read_obj_statements(const std::string& text);

}  // namespace funcattn
