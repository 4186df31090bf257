#include <algorithm>
#include <array>

#include "core/error.h"
#include "core/text.h"
#include "meshio/cells.h"
#include "meshio/inspection.h"
#include "meshio/xml_arrays.h"
#include "meshio/xml_extent.h"
#include "meshio/xml_pieces.h"
#include "meshio/xml_structure.h"

namespace funcattn {

namespace {

constexpr std::array<const char*, 5> kSerialTypes = {"PolyData", "UnstructuredGrid", "ImageData",
                                                     "StructuredGrid", "RectilinearGrid"};

class XmlInspector {
 public:
  XmlInspector(const FileBytes& file, const XmlDocument& document, const XmlElement& data_set)
      : arrays_(file, document), data_set_(data_set) {}

  DeclaredContents run() {
    if (const XmlElement* fields = data_set_.child("FieldData")) inspect_field_data(*fields);
    const std::string& type = data_set_.name;
    const bool structured = type != "PolyData" && type != "UnstructuredGrid";
    bool first = true;
    const std::vector<const XmlElement*> pieces = pieces_of(data_set_);
    contents_.parts = static_cast<std::int64_t>(pieces.size());
    for (const XmlElement* element : pieces) {
      const XmlElement& piece = *element;
      const std::int64_t points_before = contents_.points;
      if (structured)
        inspect_structured(piece);
      else
        inspect_unstructured(piece);
      check_fields(piece, contents_.points - points_before, first);
      if (first)
        for (const XmlElement& section : piece.children)
          collect_layouts(section, contents_.layouts);
      first = false;
    }
    if (structured) compare_with_whole(first);
    return contents_;
  }

 private:
  // VTK reads field data before anybody can observe its decompressor.
  void inspect_field_data(const XmlElement& fields) {
    contents_.field_arrays = names_checked(fields, "field array", std::nullopt);
    for (const XmlElement& array : fields.children)
      if (array.name == "DataArray" || array.name == "Array")
        arrays_.check_decodes(array, "field array '" + array.attribute("Name") + "'");
  }

  /// Checks the arrays of a section and returns their names; arrays of several time steps may share
  /// a name.
  std::vector<std::string> names_checked(const XmlElement& section, const std::string& kind,
                                         std::optional<std::int64_t> rows) const {
    std::vector<std::string> names;
    std::vector<std::string> keys;
    for (const XmlElement& array : section.children) {
      if (array.name != "DataArray" && array.name != "Array") continue;
      const std::string name = array.attribute("Name");
      const std::string step = array.attribute("TimeStep");
      add_unique(keys, name.empty() || step.empty() ? name : name + "' at time step '" + step,
                 kind);
      arrays_.check(array, kind + " '" + name + "'", rows);
      if (names.empty() || names.back() != name) names.push_back(name);
    }
    return names;
  }

  void check_fields(const XmlElement& piece, std::int64_t points, bool first) {
    const XmlElement none;
    const XmlElement* point_data = piece.child("PointData");
    const XmlElement* cell_data = piece.child("CellData");
    const auto point_names = names_checked(point_data ? *point_data : none, "point array", points);
    const auto cell_names =
        names_checked(cell_data ? *cell_data : none, "cell array", piece_cells_);
    const auto kinds = std::pair(kinds_of(point_data), kinds_of(cell_data));
    if (first) {
      contents_.point_arrays = point_names;
      contents_.cell_arrays = cell_names;
      kinds_ = kinds;
    } else if ((points > 0 || piece_cells_ > 0) && kinds != kinds_) {
      // VTK takes the arrays of later pieces by their place, into those of the first.
      throw DataError(
          "its pieces hold different arrays; every piece must hold the same ones, of the same "
          "types "
          "and in the same order");
    }
  }

  /// Name, type and components of each array, in order.
  static std::vector<std::string> kinds_of(const XmlElement* section) {
    std::vector<std::string> kinds;
    if (!section) return kinds;
    for (const XmlElement& array : section->children)
      if (array.name == "DataArray" || array.name == "Array")
        kinds.push_back(array.attribute("type") + " " + array.attribute("NumberOfComponents", "1") +
                        " " + array.attribute("Name"));
    return kinds;
  }

  const XmlElement& required(const XmlElement& piece, const std::string& name) const {
    const XmlElement* section = piece.child(name);
    if (!section) throw DataError("its <Piece> has no <" + name + ">");
    return *section;
  }

  void check_points(const XmlElement& piece, std::int64_t count) const {
    if (count == 0 && !piece.child("Points")) return;
    std::int64_t found = 0;
    for (const XmlElement& array : required(piece, "Points").children) {
      if (array.name != "DataArray") continue;
      if (found++ > 0 && array.attribute("TimeStep").empty())
        throw DataError("its <Points> hold several arrays, expected one");
      if (array.count("NumberOfComponents", 1) != 3)
        throw DataError("the coordinates have " + array.attribute("NumberOfComponents", "1") +
                        " components, expected 3");
      arrays_.check(array, "the array of coordinates", count);
    }
    if (found == 0 && count > 0) throw DataError("its <Points> hold no array of coordinates");
  }

  struct StoredCells {
    std::vector<std::int64_t> ends;
    std::vector<std::int64_t> connectivity;
  };

  const XmlElement* named(const XmlElement& section, const std::string& name) const {
    for (const XmlElement& array : section.children)
      if (array.attribute("Name") == name) return &array;
    return nullptr;
  }

  std::vector<std::int64_t> checked_integers(const XmlElement& section, const std::string& name,
                                             std::optional<std::int64_t> rows) const {
    const XmlElement& array = required_array(section, name);
    const std::string what = "array '" + name + "' of <" + section.name + ">";
    arrays_.check(array, what, rows);
    return arrays_.integers(array, what);
  }

  StoredCells check_cells_of(const XmlElement& piece, const std::string& section_name,
                             std::int64_t cells, std::int64_t points) const {
    StoredCells stored;
    const XmlElement* section = piece.child(section_name);
    if (cells == 0) {
      // VTK skips the arrays, but what is there must still be in the file.
      for (const XmlElement& array : section ? section->children : std::vector<XmlElement>()) {
        const std::string what =
            "array '" + array.attribute("Name") + "' of <" + section_name + ">";
        arrays_.check(array, what, std::nullopt);
        if (arrays_.value_count(array, what) > 0)
          throw DataError(what + " holds numbers, but the <Piece> declares no cells there");
      }
      return stored;
    }
    required(piece, section_name);
    if (contents_.parts == 1 && !named(*section, "faces")) {
      check_ends_meet(*section, cells);
      return stored;
    }
    stored.ends = checked_integers(*section, "offsets", cells);
    stored.connectivity = checked_integers(*section, "connectivity", std::nullopt);
    const std::string what = "<" + section_name + ">";
    check_stored_ends(stored.ends, static_cast<std::int64_t>(stored.connectivity.size()), what);
    std::int64_t begin = 0;
    for (std::size_t cell = 0; cell < stored.ends.size(); ++cell) {
      check_stored_ids(static_cast<std::int64_t>(cell), stored.connectivity, begin,
                       stored.ends[cell], points, what);
      begin = stored.ends[cell];
    }
    return stored;
  }

  /// All that VTK relies on while it reads: it allocates the connectivity by the last offset. Ids,
  /// types and the other offsets are checked in memory afterwards, which costs no second reading.
  void check_ends_meet(const XmlElement& section, std::int64_t cells) const {
    const XmlElement& offsets = required_array(section, "offsets");
    const XmlElement& connectivity = required_array(section, "connectivity");
    const std::string in_section = " of <" + section.name + ">";
    arrays_.check(offsets, "array 'offsets'" + in_section, cells);
    arrays_.check(connectivity, "array 'connectivity'" + in_section, std::nullopt);
    const std::int64_t length = arrays_.value_count(connectivity, "array 'connectivity'");
    const std::int64_t last = arrays_.last_integer(offsets, "array 'offsets'");
    if (last != length)
      throw DataError("<" + section.name + "> have " + std::to_string(length) +
                      " entries of connectivity, but the cells use " + std::to_string(last));
    if (const XmlElement* types = named(section, "types"))
      arrays_.check(*types, "array 'types'" + in_section, cells);
    else if (section.name == "Cells")
      throw DataError("<Cells> has no array 'types'");
  }

  const XmlElement& required_array(const XmlElement& section, const std::string& name) const {
    const XmlElement* array = named(section, name);
    if (!array) throw DataError("<" + section.name + "> has no array '" + name + "'");
    return *array;
  }

  void inspect_unstructured(const XmlElement& piece) {
    const std::int64_t points = piece.count("NumberOfPoints");
    check_points(piece, points);
    piece_cells_ = 0;
    if (data_set_.name == "PolyData") {
      constexpr std::array<const char*, 4> sections = {"Verts", "Lines", "Polys", "Strips"};
      for (const char* section : sections) {
        const std::int64_t cells = piece.count(std::string("NumberOf") + section, 0);
        check_cells_of(piece, section, cells, points);
        piece_cells_ += cells;
      }
    } else {
      piece_cells_ = piece.count("NumberOfCells");
      const StoredCells stored = check_cells_of(piece, "Cells", piece_cells_, points);
      if (!stored.ends.empty()) check_types(*piece.child("Cells"), stored, points);
    }
    contents_.points += points;
    contents_.cells += piece_cells_;
  }

  void check_types(const XmlElement& section, const StoredCells& stored,
                   std::int64_t points) const {
    const auto types = checked_integers(section, "types", piece_cells_);
    bool polyhedra = false;
    for (std::size_t i = 0; i < types.size(); ++i) {
      check_stored_type(static_cast<std::int64_t>(i), types[i],
                        stored.ends[i] - (i > 0 ? stored.ends[i - 1] : 0));
      polyhedra = polyhedra || types[i] == VTK_POLYHEDRON;
    }
    if (polyhedra || named(section, "faces")) check_faces(section, types, points);
  }

  void check_faces(const XmlElement& section, const std::vector<std::int64_t>& types,
                   std::int64_t points) const {
    const auto faces = checked_integers(section, "faces", std::nullopt);
    const auto ends = checked_integers(section, "faceoffsets", piece_cells_);
    std::int64_t begin = 0;
    for (std::size_t cell = 0; cell < types.size(); ++cell) {
      if (types[cell] == VTK_POLYHEDRON) {
        check_stored_faces(static_cast<std::int64_t>(cell), faces, begin, ends[cell], points);
        begin = ends[cell];
      } else if (ends[cell] != -1) {
        throw DataError("cell " + std::to_string(cell) + " of type " + std::to_string(types[cell]) +
                        " has faces, expected -1 in 'faceoffsets'");
      }
    }
  }

  void inspect_structured(const XmlElement& piece) {
    const Extent extent = extent_of(piece, "Extent");
    extents_.push_back(extent);
    piece_cells_ = extent.cells();
    if (data_set_.name == "StructuredGrid") check_points(piece, extent.points());
    if (data_set_.name == "RectilinearGrid" && extent.points() > 0) {
      const XmlElement& coordinates = required(piece, "Coordinates");
      std::size_t axis = 0;
      for (const XmlElement& array : coordinates.children) {
        if (array.name != "DataArray") continue;
        if (axis >= 3) break;
        arrays_.check(array, "coordinate array number " + std::to_string(axis + 1),
                      extent.points(axis));
        ++axis;
      }
      if (axis < 3)
        throw DataError("its <Coordinates> hold " + std::to_string(axis) +
                        " arrays, expected three");
    }
    contents_.points += extent.points();
    contents_.cells += piece_cells_;
  }

  /// Pieces of structured data overlap in their boundary points, not in their cells.
  void compare_with_whole(bool no_pieces) {
    const Extent whole = extent_of(data_set_, "WholeExtent");
    if (no_pieces && whole.points() > 0) throw DataError("it has no <Piece>; the file is damaged");
    check_covered(whole, extents_);
    if (!no_pieces && contents_.cells != whole.cells())
      throw DataError("its pieces hold " + std::to_string(contents_.cells) + " cells, but the " +
                      "whole extent has " + std::to_string(whole.cells()));
    contents_.points = whole.points();
    contents_.cells = whole.cells();
    contents_.extent = whole.bounds;
  }

  XmlArrays arrays_;
  const XmlElement& data_set_;
  DeclaredContents contents_;
  std::int64_t piece_cells_ = 0;
  std::pair<std::vector<std::string>, std::vector<std::string>> kinds_;  ///< Of the first piece.
  std::vector<Extent> extents_;
};

}  // namespace

DeclaredContents inspect_xml(const FileBytes& file) {
  const std::string start = file.read(0, 256);
  if (start.rfind("# vtk DataFile", 0) == 0)
    throw DataError("it is a legacy VTK file; give it the extension .vtk");
  const auto first = start.find_first_not_of(" \t\r\n");
  if (start.rfind("\xEF\xBB\xBF", 0) != 0 && (first == std::string::npos || start[first] != '<'))
    throw DataError("it is not a VTK XML file");
  const XmlDocument document = parse_vtk_xml(file);
  if (document.root.name != "VTKFile")
    throw DataError("its root element is <" + document.root.name + ">, expected <VTKFile>");
  const std::string type = document.root.attribute("type");
  if (std::find(kSerialTypes.begin(), kSerialTypes.end(), type) == kSerialTypes.end())
    throw DataError("it holds '" + type.substr(0, 40) + "', expected a mesh: " +
                    join({kSerialTypes.begin(), kSerialTypes.end()}, ", "));
  check_xml_structure(document, file);
  const XmlElement* data_set = document.root.child(type);
  if (!data_set) throw DataError("it has no element <" + type + ">");
  DeclaredContents contents = XmlInspector(file, document, *data_set).run();
  contents.type = type;
  contents.compressed = document.root.attributes.count("compressor") > 0;
  return contents;
}

}  // namespace funcattn
