#include <algorithm>
#include <array>
#include <optional>

#include "core/error.h"
#include "core/text.h"
#include "meshio/cells.h"
#include "meshio/inspection.h"
#include "meshio/legacy_cursor.h"

namespace funcattn {

namespace {

int hexadecimal_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/// Names are stored with blanks and the like as %20.
std::string decoded_name(const std::string& name) {
  std::string decoded;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '%' && i + 2 < name.size() && hexadecimal_digit(name[i + 1]) >= 0 &&
        hexadecimal_digit(name[i + 2]) >= 0) {
      decoded.push_back(
          static_cast<char>(16 * hexadecimal_digit(name[i + 1]) + hexadecimal_digit(name[i + 2])));
      i += 2;
    } else {
      decoded.push_back(name[i]);
    }
  }
  return decoded;
}

bool is_attribute(const std::string& keyword) {
  constexpr std::array<const char*, 11> known = {"LOOKUP_TABLE",
                                                 "COLOR_SCALARS",
                                                 "SCALARS",
                                                 "VECTORS",
                                                 "NORMALS",
                                                 "TENSORS",
                                                 "TENSORS6",
                                                 "GLOBAL_IDS",
                                                 "EDGE_FLAGS",
                                                 "PEDIGREE_IDS",
                                                 "TEXTURE_COORDINATES"};
  return std::find(known.begin(), known.end(), keyword) != known.end();
}

class LegacyInspector {
 public:
  explicit LegacyInspector(std::string content) : cursor_(std::move(content)) {}

  DeclaredContents run() {
    read_header();
    while (inspect_geometry_section()) {
    }
    finish_geometry();
    inspect_attributes();
    return contents_;
  }

 private:
  void read_header() {
    const std::string first = cursor_.line();
    const std::string prefix = "# vtk DataFile Version ";
    if (first.rfind("<?xml", 0) == 0 || first.rfind("<VTKFile", 0) == 0)
      throw DataError("it is a VTK XML file; give it the extension of its data set");
    if (first.rfind(prefix, 0) != 0)
      throw DataError("it is not a legacy VTK file: its first line is not '" + prefix + "...'");
    const auto version = parse_double(
        first.substr(prefix.size(), first.find_last_not_of(" \t") + 1 - prefix.size()));
    if (!version) throw DataError("its first line has no version number; the file is damaged");
    // VTK overflows on absurd numbers and then takes the cells for those of another version.
    if (!(*version >= 1 && *version < 6))
      throw DataError("it is of version " + format_number(*version) +
                      " of the format; VTK 9.1 reads 1 to 5.1");
    version_ = *version;
    cursor_.line();
    const std::string encoding = cursor_.keyword();
    if (encoding != "ASCII" && encoding != "BINARY")
      throw DataError("its third line is '" + encoding.substr(0, 40) +
                      "', expected ASCII or BINARY");
    cursor_.set_binary(encoding == "BINARY");
    std::string word = cursor_.keyword();
    if (word == "FIELD") {
      inspect_field(contents_.field_arrays, "field array", std::nullopt);
      word = cursor_.keyword();
    }
    if (word != "DATASET")
      throw DataError("it has '" + word.substr(0, 40) +
                      "' where DATASET should stand; it holds no data set or is damaged");
    type_ = cursor_.keyword();
    for (const char* known : {"POLYDATA", "UNSTRUCTURED_GRID", "STRUCTURED_POINTS",
                              "STRUCTURED_GRID", "RECTILINEAR_GRID"})
      if (type_ == known) return;
    throw DataError("its data set type '" + type_.substr(0, 40) + "' is not known");
  }

  /// Reads one section of the geometry; false at the first that is none.
  bool inspect_geometry_section() {
    const std::string next = cursor_.peek_keyword();
    if (next.empty() || next == "POINT_DATA" || next == "CELL_DATA") return false;
    cursor_.keyword();
    if (next == "DIMENSIONS") {
      for (auto& length : dimensions_) length = cursor_.count();
      has_dimensions_ = true;
    } else if (next == "EXTENT") {
      for (auto& length : dimensions_) {
        const std::int64_t low = cursor_.integer();
        length = std::max<std::int64_t>(cursor_.integer() - low + 1, 0);
      }
      has_dimensions_ = true;
    } else if (next == "SPACING" || next == "ASPECT_RATIO" || next == "ORIGIN") {
      for (int i = 0; i < 3; ++i)
        if (const std::string word = cursor_.word(); !parse_double(word))
          throw DataError(next + " has '" + word.substr(0, 40) + "', expected a number");
      (next == "ORIGIN" ? has_origin_ : has_spacing_) = true;
    } else if (next == "POINTS") {
      contents_.points = cursor_.count();
      cursor_.skip_values(checked_product(contents_.points, 3), cursor_.word(), "POINTS");
      last_components_ = 3;
      has_points_ = true;
    } else if (next.size() == 13 && next.find("_COORDINATES") == 1) {
      inspect_coordinates(next);
    } else if (next == "VERTICES" || next == "LINES" || next == "POLYGONS" ||
               next == "TRIANGLE_STRIPS" || next == "CELLS") {
      inspect_cells(next);
    } else if (next == "CELL_TYPES") {
      types_ = cursor_.read_integers(cursor_.count(), "int", next);
    } else if (next == "FIELD") {
      inspect_field(contents_.field_arrays, "field array", std::nullopt);
    } else if (next == "METADATA") {
      cursor_.skip_metadata(last_components_);
    } else {
      throw DataError("its geometry has the unknown keyword '" + next.substr(0, 40) +
                      "'; the file is damaged");
    }
    return true;
  }

  void inspect_coordinates(const std::string& name) {
    const auto axis = static_cast<std::size_t>(name[0] - 'X');
    if (axis > 2) throw DataError("its geometry has the unknown keyword '" + name + "'");
    const std::int64_t length = cursor_.count();
    cursor_.skip_values(length, cursor_.word(), name);
    last_components_ = 1;
    coordinate_counts_[axis] = length;
  }

  void inspect_cells(const std::string& name) {
    const std::int64_t first = cursor_.count();
    const std::int64_t size = cursor_.count();
    std::vector<std::int64_t> ends;
    std::vector<std::int64_t> connectivity;
    if (version_ >= 5) {
      // `first` counts the offsets, one more than there are cells.
      if (cursor_.keyword() != "OFFSETS") throw DataError(name + " has no OFFSETS");
      ends = cursor_.read_integers(first, cursor_.word(), name + " OFFSETS");
      if (cursor_.keyword() != "CONNECTIVITY") throw DataError(name + " has no CONNECTIVITY");
      connectivity = cursor_.read_integers(size, cursor_.word(), name + " CONNECTIVITY");
      if (!ends.empty()) {
        if (ends.front() != 0)
          throw DataError(name + " OFFSETS begin with " + std::to_string(ends.front()) +
                          ", expected 0");
        ends.erase(ends.begin());
      }
    } else {
      const auto stream = cursor_.read_integers(size, "int", name);
      std::size_t at = 0;
      for (std::int64_t cell = 0; cell < first; ++cell) {
        const std::int64_t length = at < stream.size() ? stream[at++] : -1;
        if (length < 0 || length > static_cast<std::int64_t>(stream.size() - at))
          throw DataError("cell " + std::to_string(cell) + " of " + name +
                          " runs beyond the declared size; the file is damaged");
        for (std::int64_t i = 0; i < length; ++i) connectivity.push_back(stream[at++]);
        ends.push_back(static_cast<std::int64_t>(connectivity.size()));
      }
      if (at != stream.size())
        throw DataError(name + " declares " + std::to_string(size) +
                        " integers, but its cells use " + std::to_string(at));
    }
    check_stored_ends(ends, static_cast<std::int64_t>(connectivity.size()), name);
    contents_.cells += static_cast<std::int64_t>(ends.size());
    if (name == "CELLS") {  // What they hold depends on their types, which follow.
      ends_ = std::move(ends);
      connectivity_ = std::move(connectivity);
      return;
    }
    std::int64_t begin = 0;
    for (std::size_t cell = 0; cell < ends.size(); ++cell) {
      check_stored_ids(static_cast<std::int64_t>(cell), connectivity, begin, ends[cell],
                       contents_.points, name);
      begin = ends[cell];
    }
  }

  /// Polyhedra store their faces in place of their points.
  void check_typed_cells() const {
    if (types_.size() != ends_.size())
      throw DataError("it has " + std::to_string(ends_.size()) + " CELLS but " +
                      std::to_string(types_.size()) + " CELL_TYPES");
    std::int64_t begin = 0;
    for (std::size_t i = 0; i < ends_.size(); ++i) {
      const auto cell = static_cast<std::int64_t>(i);
      check_stored_type(cell, types_[i], ends_[i] - begin);
      if (types_[i] == VTK_POLYHEDRON)
        check_stored_faces(cell, connectivity_, begin, ends_[i], contents_.points);
      else
        check_stored_ids(cell, connectivity_, begin, ends_[i], contents_.points, "CELLS");
      begin = ends_[i];
    }
  }

  void finish_geometry() {
    if (type_ != "STRUCTURED_POINTS" && type_ != "RECTILINEAR_GRID" && !has_points_)
      throw DataError("it has no POINTS");
    if (type_ == "POLYDATA") return;
    if (type_ == "UNSTRUCTURED_GRID") return check_typed_cells();
    if (!has_dimensions_) throw DataError("it has no DIMENSIONS");
    if (type_ == "STRUCTURED_POINTS" && (!has_spacing_ || !has_origin_))
      throw DataError(std::string("it has no ") + (has_spacing_ ? "ORIGIN" : "SPACING"));
    const std::int64_t product =
        checked_product(checked_product(dimensions_[0], dimensions_[1]), dimensions_[2]);
    if (type_ == "STRUCTURED_GRID" && contents_.points != product)
      throw DataError("it has " + std::to_string(contents_.points) + " POINTS, expected " +
                      std::to_string(product) + " by its DIMENSIONS");
    // VTK writes one coordinate per axis for a grid without points.
    if (type_ == "RECTILINEAR_GRID" && product > 0 && coordinate_counts_ != dimensions_)
      throw DataError("its coordinates do not match its DIMENSIONS");
    contents_.points = product;
    contents_.cells = product == 0 ? 0 : 1;
    for (const std::int64_t length : dimensions_)
      if (length > 1) contents_.cells = checked_product(contents_.cells, length - 1);
  }

  void inspect_attributes() {
    std::vector<std::string>* names = nullptr;
    std::string kind;
    std::int64_t rows = 0;
    for (std::string word = cursor_.keyword(); !word.empty(); word = cursor_.keyword()) {
      if (word == "POINT_DATA" || word == "CELL_DATA") {
        const bool point = word == "POINT_DATA";
        names = point ? &contents_.point_arrays : &contents_.cell_arrays;
        kind = point ? "point array" : "cell array";
        rows = cursor_.count();
        const std::int64_t expected = point ? contents_.points : contents_.cells;
        if (rows != expected)
          throw DataError(word + " declares " + std::to_string(rows) + " rows, expected " +
                          std::to_string(expected));
      } else if (word == "METADATA") {
        cursor_.skip_metadata(last_components_);
      } else if (!names) {
        throw DataError("it has '" + word.substr(0, 40) + "' where POINT_DATA should stand");
      } else if (word == "FIELD") {
        inspect_field(*names, kind, rows);
      } else {
        inspect_attribute(word, *names, kind, rows);
      }
    }
  }

  void inspect_attribute(const std::string& keyword, std::vector<std::string>& names,
                         const std::string& kind, std::int64_t rows) {
    if (!is_attribute(keyword))
      throw DataError("it has the unknown keyword '" + keyword.substr(0, 40) +
                      "'; the file is damaged");
    const std::string name = decoded_name(cursor_.word());
    const std::string what = kind + " '" + name + "'";
    if (keyword == "LOOKUP_TABLE") {
      cursor_.skip_values(checked_product(cursor_.count(), 4),
                          cursor_.binary() ? "unsigned_char" : "float", "lookup table");
      return;
    }
    add_unique(names, name, kind);
    if (keyword == "COLOR_SCALARS") {
      last_components_ = cursor_.count();
      cursor_.skip_values(checked_product(rows, last_components_),
                          cursor_.binary() ? "unsigned_char" : "float", what);
      return;
    }
    std::int64_t components = 0;
    if (keyword == "TEXTURE_COORDINATES") components = cursor_.count();
    const std::string type = cursor_.word();
    if (keyword == "SCALARS") {
      const std::string given = cursor_.rest_of_line();
      components = given.empty() ? 1 : parse_integer(given).value_or(0);
      if (components < 1) throw DataError(what + " has '" + given + "' components");
      if (cursor_.keyword() != "LOOKUP_TABLE")
        throw DataError(what + " is not followed by LOOKUP_TABLE");
      cursor_.word();
    } else if (keyword == "VECTORS" || keyword == "NORMALS") {
      components = 3;
    } else if (keyword == "TENSORS") {
      components = 9;
    } else if (keyword == "TENSORS6") {
      components = 6;
    } else if (keyword == "GLOBAL_IDS" || keyword == "PEDIGREE_IDS" || keyword == "EDGE_FLAGS") {
      components = 1;
    }
    last_components_ = components;
    cursor_.skip_values(checked_product(rows, components), type, what);
  }

  void inspect_field(std::vector<std::string>& names, const std::string& kind,
                     std::optional<std::int64_t> rows) {
    cursor_.word();
    const std::int64_t arrays = cursor_.count();
    for (std::int64_t i = 0; i < arrays; ++i) {
      std::string word = cursor_.word();
      if (word == "METADATA") {
        cursor_.skip_metadata(last_components_);
        word = cursor_.word();
      }
      if (word == "NULL_ARRAY") continue;
      const std::string name = decoded_name(word);
      add_unique(names, name, kind);
      const std::int64_t components = cursor_.count();
      last_components_ = components;
      const std::int64_t tuples = cursor_.count();
      if (rows && tuples != *rows)
        throw DataError(kind + " '" + name + "' declares " + std::to_string(tuples) +
                        " rows, expected " + std::to_string(*rows));
      cursor_.skip_values(checked_product(tuples, components), cursor_.word(),
                          kind + " '" + name + "'");
    }
  }

  LegacyCursor cursor_;
  DeclaredContents contents_;
  std::int64_t last_components_ = 1;  ///< Of the array that METADATA would describe.
  double version_ = 0;
  std::string type_;
  bool has_points_ = false;
  bool has_dimensions_ = false;
  bool has_spacing_ = false;
  bool has_origin_ = false;
  std::array<std::int64_t, 3> dimensions_{};
  std::array<std::int64_t, 3> coordinate_counts_{};
  std::vector<std::int64_t> ends_;
  std::vector<std::int64_t> connectivity_;
  std::vector<std::int64_t> types_;
};

}  // namespace

DeclaredContents inspect_legacy(const FileBytes& file) {
  return LegacyInspector(file.read(0, file.size())).run();
}

}  // namespace funcattn
