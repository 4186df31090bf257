#include "meshio/inspection.h"

#include <algorithm>

#include "core/error.h"
#include "meshio/cells.h"

namespace funcattn {

void check_stored_ends(const std::vector<std::int64_t>& ends, std::int64_t length,
                       const std::string& what) {
  std::int64_t previous = 0;
  for (std::size_t cell = 0; cell < ends.size(); ++cell) {
    if (ends[cell] < previous || ends[cell] > length)
      throw DataError("cell " + std::to_string(cell) + " of " + what + " ends at position " +
                      std::to_string(ends[cell]) + " of the connectivity, outside " +
                      std::to_string(previous) + " to " + std::to_string(length) +
                      "; the cell offsets are damaged");
    previous = ends[cell];
  }
  if (previous != length)
    throw DataError(what + " have " + std::to_string(length) +
                    " entries of connectivity, but the cells use " + std::to_string(previous));
}

void check_stored_ids(std::int64_t cell, const std::vector<std::int64_t>& connectivity,
                      std::int64_t begin, std::int64_t end, std::int64_t point_count,
                      const std::string& what) {
  for (std::int64_t i = begin; i < end; ++i) {
    const std::int64_t id = connectivity[static_cast<std::size_t>(i)];
    if (id < 0 || id >= point_count)
      throw DataError("cell " + std::to_string(cell) + " of " + what + " uses point " +
                      std::to_string(id) + ", but the mesh has " + std::to_string(point_count) +
                      " points");
  }
}

void check_stored_type(std::int64_t cell, std::int64_t type, std::int64_t size) {
  if (type < 0 || type > 255 || !known_cell_type(static_cast<int>(type)))
    throw DataError("cell " + std::to_string(cell) + " has the unknown type " +
                    std::to_string(type));
  const int expected = fixed_cell_size(static_cast<int>(type));
  if (expected >= 0 && size != expected)
    throw DataError("cell " + std::to_string(cell) + " of type " + std::to_string(type) + " has " +
                    std::to_string(size) + " points, expected " + std::to_string(expected));
}

void check_stored_faces(std::int64_t cell, const std::vector<std::int64_t>& faces,
                        std::int64_t begin, std::int64_t end, std::int64_t point_count) {
  const DataError damaged("the list of faces of cell " + std::to_string(cell) + " is damaged");
  if (begin < 0 || end < begin || end > static_cast<std::int64_t>(faces.size())) throw damaged;
  std::int64_t at = begin;
  const auto next = [&] {
    if (at >= end) throw damaged;
    return faces[static_cast<std::size_t>(at++)];
  };
  const std::int64_t face_count = next();
  if (face_count < 0) throw damaged;
  for (std::int64_t face = 0; face < face_count; ++face) {
    const std::int64_t size = next();
    if (size < 0) throw damaged;
    for (std::int64_t i = 0; i < size; ++i) {
      const std::int64_t id = next();
      if (id < 0 || id >= point_count) throw damaged;
    }
  }
  if (at != end) throw damaged;
}

std::int64_t checked_product(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  if (a < 0 || b < 0 || __builtin_mul_overflow(a, b, &product))
    throw DataError("the header declares impossible sizes (" + std::to_string(a) + " x " +
                    std::to_string(b) + "); it is damaged");
  return product;
}

void add_unique(std::vector<std::string>& names, const std::string& name, const std::string& kind) {
  if (name.empty())
    throw DataError("a " + kind + " has no name, and VTK would lose all of them; name it");
  if (std::find(names.begin(), names.end(), name) != names.end())
    throw DataError("there are two " + kind + "s named '" + name + "'; rename or remove one");
  names.push_back(name);
}

}  // namespace funcattn
