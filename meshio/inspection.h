#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "meshio/file_bytes.h"

namespace funcattn {

/// What a file says that it holds. VTK's readers are silent about most damage (a missing block
/// leaves memory uninitialised, one unnamed array makes all of them vanish), so a file is first
/// inspected against its own words, and what VTK then made of it is compared with them.
struct DeclaredContents {
  std::string type;  ///< Of a VTK XML file ("PolyData", ...) or a VTKHDF file ("vtkImageData").
  static constexpr std::int64_t unknown = -1;  ///< Number of points that depends on VTK.
  std::int64_t points = 0;
  std::int64_t cells = 0;
  std::int64_t parts = 1;  ///< Solids of an STL file, pieces of a VTK XML file.
  std::vector<std::string> point_arrays;
  std::vector<std::string> cell_arrays;
  std::vector<std::string> field_arrays;
  /// Of a VTK XML file: type and components of each array, by section and name or, for coordinates,
  /// number: "PointData/p" -> "Float32 x 3".
  std::map<std::string, std::string> layouts;
  bool compressed = false;  ///< Of a VTK XML file: damage may show only when VTK unpacks it.
  std::array<std::int64_t, 6> extent{};  ///< Of a structured VTK XML file.
};

/// Inspects a serial VTK XML file: well-formed up to the appended data, of a type that is a mesh,
/// arrays named, unique and of the right size in any encoding, blocks inside the file, cells that
/// use existing points. Throws DataError without the file's name.
DeclaredContents inspect_xml(const FileBytes& file);

/// Inspects a legacy .vtk file that holds a data set, text or binary, versions 1 to 5: every
/// number that the header promises is there, text is finite, cells use existing points. Throws
/// DataError without the file's name.
DeclaredContents inspect_legacy(const FileBytes& file);

/// Inspects an STL file, text or binary: complete, numbers where numbers must be. Throws DataError
/// without the file's name.
DeclaredContents inspect_stl(const FileBytes& file);
/// Inspect files of solvers as far as VTK's readers need it to stay inside their memory. Throw
/// DataError without the file's name.
void inspect_exodus(const FileBytes& file);
/// All files that the case names without wildcards are there.
void inspect_ensight(const std::filesystem::path& path);
/// `type` is the class of the data, "vtkImageData" or "vtkUnstructuredGrid".
DeclaredContents inspect_vtkhdf(const std::filesystem::path& path);

/// Cells as they stand in a file: cell i uses connectivity[ends[i-1]] to connectivity[ends[i] - 1].
/// Throws DataError unless the ends never run backwards and the last one is `length`, that of the
/// connectivity.
void check_stored_ends(const std::vector<std::int64_t>& ends, std::int64_t length,
                       const std::string& what);

/// Throws DataError unless all ids of a cell are in [0, point_count).
void check_stored_ids(std::int64_t cell, const std::vector<std::int64_t>& connectivity,
                      std::int64_t begin, std::int64_t end, std::int64_t point_count,
                      const std::string& what);

/// Throws DataError unless the type is known and fits the number of points.
void check_stored_type(std::int64_t cell, std::int64_t type, std::int64_t size);

/// The faces of one polyhedron as they stand in a file: their number, then for each its size and
/// points, in faces[begin] to faces[end - 1]. VTK follows them without looking where they end.
/// Throws DataError unless they fill that range exactly with points in [0, point_count).
void check_stored_faces(std::int64_t cell, const std::vector<std::int64_t>& faces,
                        std::int64_t begin, std::int64_t end, std::int64_t point_count);

/// Product of non-negative counts. Throws DataError on overflow, as damaged headers cause.
std::int64_t checked_product(std::int64_t a, std::int64_t b);

/// Adds `name` to `names`. Throws DataError if it is empty or there already. `kind` is "point
/// array" or the like.
void add_unique(std::vector<std::string>& names, const std::string& name, const std::string& kind);

}  // namespace funcattn
