#include "meshio/parallel_index.h"

#include <algorithm>
#include <map>
#include <optional>

#include "core/error.h"
#include "meshio/file_bytes.h"
#include "meshio/xml_field_data.h"
#include "meshio/xml_format.h"
#include "meshio/xml_names.h"
#include "meshio/xml_pieces.h"
#include "meshio/xml_structure.h"

namespace funcattn {

namespace fs = std::filesystem;

namespace {

std::vector<std::string> declared_names(const XmlElement& data_set, const std::string& section,
                                        const std::string& kind) {
  std::vector<std::string> names;
  if (const XmlElement* arrays = data_set.child(section))
    for (const XmlElement& array : arrays->children)
      add_unique(names, array.attribute("Name"), kind);
  return names;
}

class IndexInspector {
 public:
  IndexInspector(const fs::path& path, const std::string& type, const XmlElement& data_set,
                 PieceRange held)
      : path_(path), data_set_(data_set), held_(held) {
    index_.type = type;
    index_.uncopied = UncopiedArrays(data_set.child("PPointData"), data_set.child("PCellData"),
                                     is_structured(type));
  }

  ParallelIndex run() {
    index_.declared.point_arrays = declared_names(data_set_, "PPointData", "point array");
    index_.declared.cell_arrays = declared_names(data_set_, "PCellData", "cell array");
    for (const XmlElement& section : data_set_.children) collect_layouts(section, layouts_);
    for (const XmlElement* piece : pieces_of(data_set_)) inspect_piece(*piece);
    // VTK makes a grid of none that its own writer crashes on.
    if (index_.files.empty()) throw DataError("it has no <Piece>; the file is damaged");
    if (is_structured(index_.type)) {
      const Extent whole = index_.whole = extent_of(data_set_, "WholeExtent");
      index_.declared.points = whole.points();
      index_.declared.cells = whole.cells();
      check_covered(whole, index_.extents);
    }
    return index_;
  }

 private:
  void inspect_piece(const XmlElement& element) {
    const std::string source = element.attribute("Source");
    if (source.empty()) throw DataError("a <Piece> has no attribute Source");
    const fs::path file = path_.parent_path() / source;
    Extent extent;
    const std::size_t number = index_.files.size();
    if (number < held_.begin || number >= held_.end) {
      if (is_structured(index_.type)) extent = extent_of(element, "Extent");
      index_.files.push_back(file);
      index_.extents.push_back(extent);
      index_.bare.push_back(false);
      index_.points.push_back(0);
      return;
    }
    try {
      const FileBytes bytes(file);
      const DeclaredContents contents = inspect_xml(bytes);
      if (contents.type != piece_type(index_.type))
        throw DataError("it holds '" + contents.type + "', expected '" + piece_type(index_.type) +
                        "'");
      // VTK goes on with a piece that could not be unpacked, and crashes.
      if (contents.compressed) read_serial_xml(file);
      require_layouts(contents.layouts);
      if (holds_nothing_ && contents.points > 0) index_.described = number;
      holds_nothing_ = holds_nothing_ && contents.points == 0;
      // What holds nothing, as programs write for a rank without a part, needs no arrays.
      const auto lacking = lacking_array(contents);
      if (lacking && contents.points > 0)
        throw DataError("it has no " + *lacking + ", which the index declares");
      index_.bare.push_back(lacking.has_value());
      index_.points.push_back(contents.points);
      for (const std::string& name : contents.field_arrays)
        index_.pieces_have_fields = index_.pieces_have_fields || name != "TimeValue";
      if (is_structured(index_.type)) {
        // VTK copies the block that the index says, without looking at the piece's own extent.
        extent = extent_of(element, "Extent");
        if (extent.bounds != contents.extent)
          throw DataError("it has another extent than Extent=\"" + element.attribute("Extent") +
                          "\" in the index");
      } else {
        if (contents.points > 0 &&
            std::find(index_.files.begin(), index_.files.end(), file) != index_.files.end())
          throw DataError("the index names it twice");
        index_.declared.points += contents.points;
        index_.declared.cells += contents.cells;
      }
    } catch (const Error& error) {
      const std::string failed = "cannot read '" + file.string() + "': ";
      const std::string message = error.what();
      throw DataError("piece " + std::to_string(number) + ": " +
                      (message.rfind(failed, 0) == 0 ? message : failed + message));
    }
    index_.files.push_back(file);
    index_.extents.push_back(extent);
  }

  /// VTK copies bytes as the index lays them out.
  void require_layouts(const std::map<std::string, std::string>& found) const {
    for (const auto& [array, layout] : layouts_) {
      const auto other = found.find(array);
      if (other != found.end() && other->second != layout)
        throw DataError("its array '" + array + "' is " + other->second + ", but " + layout +
                        " in the index");
    }
    for (const auto& [array, layout] : found)
      if ((array.rfind("Points/", 0) == 0 || array.rfind("Coordinates/", 0) == 0) &&
          !layouts_.count(array))
        throw DataError("the index does not declare its array '" + array + "'");
  }

  /// The first declared array that a piece does not have.
  std::optional<std::string> lacking_array(const DeclaredContents& piece) const {
    for (const std::string& name : index_.declared.point_arrays)
      if (!contains(piece.point_arrays, name)) return "point array '" + name + "'";
    for (const std::string& name : index_.declared.cell_arrays)
      if (!contains(piece.cell_arrays, name)) return "cell array '" + name + "'";
    return std::nullopt;
  }

  static bool contains(const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  }

  const fs::path& path_;
  const XmlElement& data_set_;
  PieceRange held_;
  ParallelIndex index_;
  std::map<std::string, std::string> layouts_;
  bool holds_nothing_ = true;  ///< All pieces so far.
};

std::string attributes_without(const XmlElement& element, const std::vector<std::string>& skipped) {
  auto kept = element.attributes;
  for (const std::string& key : skipped) kept.erase(key);
  return attributes_text(kept);
}

}  // namespace

std::string piece_type(const std::string& type) {
  return type.substr(1);
}

bool is_structured(const std::string& type) {
  return type != "PPolyData" && type != "PUnstructuredGrid";
}

ParallelIndex inspect_index(const fs::path& path, PieceRange held) {
  const FileBytes file(path);
  const XmlDocument document = parse_vtk_xml(file);
  const std::string type = document.root.attribute("type");
  check_xml_structure(document, file);
  const XmlElement* data_set = document.root.child(type);
  if (!data_set) throw DataError("it has no element <" + type + ">");
  ParallelIndex index = IndexInspector(path, type, *data_set, held).run();
  index.fields = read_field_data(file, document, *data_set);
  return index;
}

void add_missing_fields(vtkFieldData* fields, vtkDataSet& data) {
  for (int i = 0; fields && i < fields->GetNumberOfArrays(); ++i) {
    vtkAbstractArray* array = fields->GetAbstractArray(i);
    if (!data.GetFieldData()->HasArray(array->GetName())) data.GetFieldData()->AddArray(array);
  }
}

PieceHeader piece_header(const XmlElement& serial_root) {
  PieceHeader header;
  header.type = serial_root.attribute("type");
  header.file_attributes = attributes_without(serial_root, {"type"});
  const XmlElement* data_set = serial_root.child(header.type);
  const XmlElement* piece = data_set ? data_set->child("Piece") : nullptr;
  if (!piece) throw FileError("VTK wrote no piece");
  header.data_set_attributes = attributes_without(*data_set, {"WholeExtent"});
  header.extent = piece->attribute("Extent");
  for (const XmlElement& section : piece->children) {
    if (section.name != "PointData" && section.name != "CellData" && section.name != "Points" &&
        section.name != "Coordinates")
      continue;
    header.sections += "    <P" + section.name + attributes_without(section, {}) + ">\n";
    std::vector<std::string> left_out = {"format", "offset", "RangeMin", "RangeMax"};
    // What names the coordinates has no meaning; VTK makes one of an address in memory.
    if (section.name == "Points" || section.name == "Coordinates") left_out.push_back("Name");
    for (const XmlElement& array : section.children)
      header.sections += "      <P" + array.name + attributes_without(array, left_out) + "/>\n";
    header.sections += "    </P" + section.name + ">\n";
  }
  return header;
}

std::string parallel_index_text(const PieceHeader& header, const std::string& whole_extent,
                                const std::vector<ListedPiece>& pieces) {
  const auto extent = [](const char* name, const std::string& text) {
    return text.empty() ? "" : " " + std::string(name) + "=\"" + text + "\"";
  };
  std::string text = "<?xml version=\"1.0\"?>\n<VTKFile type=\"P" + header.type + "\"" +
                     header.file_attributes + ">\n  <P" + header.type +
                     extent("WholeExtent", whole_extent) + header.data_set_attributes +
                     " GhostLevel=\"0\">\n" + header.sections;
  for (const ListedPiece& piece : pieces)
    text += "    <Piece" + extent("Extent", piece.extent) + " Source=\"" +
            xml_escaped(piece.reference) + "\"/>\n";
  return text + "  </P" + header.type + ">\n</VTKFile>\n";
}

}  // namespace funcattn
