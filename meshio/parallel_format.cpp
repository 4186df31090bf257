#include "meshio/parallel_format.h"

#include <vtkCellData.h>
#include <vtkDataSet.h>
#include <vtkFieldData.h>
#include <vtkNew.h>
#include <vtkPointData.h>
#include <vtkXMLPDataReader.h>
#include <vtkXMLPImageDataReader.h>
#include <vtkXMLPPolyDataReader.h>
#include <vtkXMLPRectilinearGridReader.h>
#include <vtkXMLPStructuredGridReader.h>
#include <vtkXMLPUnstructuredGridReader.h>

#include <algorithm>
#include <map>
#include <optional>

#include "core/error.h"
#include "meshio/checked_read.h"
#include "meshio/file_bytes.h"
#include "meshio/formats.h"
#include "meshio/inspection.h"
#include "meshio/memory_file.h"
#include "meshio/piece_arrays.h"
#include "meshio/piece_folder.h"
#include "meshio/vtk_messages.h"
#include "meshio/xml_extent.h"
#include "meshio/xml_format.h"
#include "meshio/xml_names.h"
#include "meshio/xml_pieces.h"
#include "meshio/xml_structure.h"
#include "meshio/xml_tree.h"

namespace funcattn {

namespace fs = std::filesystem;

namespace {

/// "PImageData" -> "ImageData", the type of the pieces.
std::string piece_type(const std::string& type) {
  return type.substr(1);
}

bool is_structured(const std::string& type) {
  return type != "PPolyData" && type != "PUnstructuredGrid";
}

vtkSmartPointer<vtkXMLPDataReader> make_reader(const std::string& type) {
  if (type == "PPolyData") return vtkSmartPointer<vtkXMLPPolyDataReader>::New();
  if (type == "PUnstructuredGrid") return vtkSmartPointer<vtkXMLPUnstructuredGridReader>::New();
  if (type == "PImageData") return vtkSmartPointer<vtkXMLPImageDataReader>::New();
  if (type == "PStructuredGrid") return vtkSmartPointer<vtkXMLPStructuredGridReader>::New();
  return vtkSmartPointer<vtkXMLPRectilinearGridReader>::New();
}

std::vector<std::string> declared_names(const XmlElement& data_set, const std::string& section,
                                        const std::string& kind) {
  std::vector<std::string> names;
  if (const XmlElement* arrays = data_set.child(section))
    for (const XmlElement& array : arrays->children)
      add_unique(names, array.attribute("Name"), kind);
  return names;
}

struct ParallelIndex {
  std::string type;
  std::vector<fs::path> files;  ///< Of the pieces.
  std::vector<Extent> extents;  ///< Of the pieces; empty ones where data are not structured.
  std::size_t described = 0;    ///< The first piece that holds something.
  std::vector<bool> bare;       ///< Pieces without points that lack declared arrays.
  Extent whole{{0, -1, 0, -1, 0, -1}};  ///< Of structured data.
  DeclaredContents declared;
  UncopiedArrays uncopied;
};

class IndexInspector {
 public:
  IndexInspector(const fs::path& path, const std::string& type, const XmlElement& data_set)
      : path_(path), data_set_(data_set) {
    index_.type = type;
    index_.uncopied = UncopiedArrays(data_set.child("PPointData"), data_set.child("PCellData"));
  }

  ParallelIndex run() {
    index_.declared.point_arrays = declared_names(data_set_, "PPointData", "point array");
    index_.declared.cell_arrays = declared_names(data_set_, "PCellData", "cell array");
    for (const XmlElement& section : data_set_.children) collect_layouts(section, layouts_);
    for (const XmlElement* piece : pieces_of(data_set_)) inspect_piece(*piece);
    if (is_structured(index_.type)) {
      const Extent whole = index_.whole = extent_of(data_set_, "WholeExtent");
      index_.declared.points = whole.points();
      index_.declared.cells = whole.cells();
      if (index_.files.empty() && whole.points() > 0)
        throw DataError("it has no <Piece>; the file is damaged");
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
    try {
      const FileBytes bytes(file);
      const DeclaredContents contents = inspect_xml(bytes);
      if (contents.type != piece_type(index_.type))
        throw DataError("it holds '" + contents.type + "', expected '" + piece_type(index_.type) +
                        "'");
      // VTK goes on with a piece that could not be unpacked, and crashes.
      if (contents.compressed) read_serial_xml(file);
      require_layouts(contents.layouts);
      if (holds_nothing_ && contents.points > 0) index_.described = index_.files.size();
      holds_nothing_ = holds_nothing_ && contents.points == 0;
      // What holds nothing, as programs write for a rank without a part, needs no arrays.
      const auto lacking = lacking_array(contents);
      if (lacking && contents.points > 0)
        throw DataError("it has no " + *lacking + ", which the index declares");
      index_.bare.push_back(lacking.has_value());
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
      throw DataError("piece " + std::to_string(index_.files.size()) + ": " +
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
  ParallelIndex index_;
  std::map<std::string, std::string> layouts_;
  bool holds_nothing_ = true;  ///< All pieces so far.
};

/// The index without pieces that lack arrays, at which VTK stumbles, for any place.
std::string without_bare_pieces(const fs::path& path, const ParallelIndex& index) {
  const FileBytes file(path);
  const XmlDocument document = parse_vtk_xml(file);
  const XmlElement& data_set = *document.root.child(index.type);
  std::vector<std::string> pieces;
  for (const XmlElement* piece : pieces_of(data_set)) {
    auto attributes = piece->attributes;
    attributes["Source"] = fs::absolute(index.files[pieces.size()]).string();
    pieces.push_back(index.bare[pieces.size()] ? ""
                                               : "<Piece" + attributes_text(attributes) + "/>");
  }
  return with_pieces(file, document, data_set.attributes, pieces);
}

ParallelIndex inspect_index(const fs::path& path) {
  const FileBytes file(path);
  const XmlDocument document = parse_vtk_xml(file);
  const std::string type = document.root.attribute("type");
  check_xml_structure(document, file);
  const XmlElement* data_set = document.root.child(type);
  if (!data_set) throw DataError("it has no element <" + type + ">");
  return IndexInspector(path, type, *data_set).run();
}

/// VTK's parallel readers lose names of components and information keys, such as units.
void restore_descriptions(vtkFieldData* from, vtkFieldData* to) {
  for (int i = 0; i < from->GetNumberOfArrays(); ++i) {
    vtkAbstractArray* source = from->GetAbstractArray(i);
    vtkAbstractArray* target = to->GetAbstractArray(source->GetName());
    if (!target) continue;
    target->CopyComponentNames(source);
    if (source->HasInformation()) target->CopyInformation(source->GetInformation());
  }
}

/// What the serial file of the only piece says, as the index of a parallel one.
std::string index_of(const XmlElement& serial_root, const std::string& reference) {
  const std::string type = serial_root.attribute("type");
  const XmlElement* data_set = serial_root.child(type);
  const XmlElement* piece = data_set ? data_set->child("Piece") : nullptr;
  if (!piece) throw FileError("VTK wrote no piece");
  const auto attributes = [](const XmlElement& element, const std::vector<std::string>& skipped) {
    auto kept = element.attributes;
    for (const std::string& key : skipped) kept.erase(key);
    return attributes_text(kept);
  };
  std::string sections;
  for (const XmlElement& section : piece->children) {
    if (section.name != "PointData" && section.name != "CellData" && section.name != "Points" &&
        section.name != "Coordinates")
      continue;
    sections += "    <P" + section.name + attributes(section, {}) + ">\n";
    for (const XmlElement& array : section.children)
      sections += "      <P" + array.name +
                  attributes(array, {"format", "offset", "RangeMin", "RangeMax"}) + "/>\n";
    sections += "    </P" + section.name + ">\n";
  }
  const std::string extent = piece->attribute("Extent");
  return "  <P" + type + attributes(*data_set, {}) + " GhostLevel=\"0\">\n" + sections +
         "    <Piece" + (extent.empty() ? "" : " Extent=\"" + extent + "\"") + " Source=\"" +
         xml_escaped(reference) + "\"/>\n  </P" + type + ">\n";
}

}  // namespace

vtkSmartPointer<vtkDataObject> read_parallel(const fs::path& path, const ReadOptions&) {
  ParallelIndex index = inspect_index(path);
  const VtkMessages messages;
  const auto reader = make_reader(index.type);
  messages.observe(reader);
  std::optional<MemoryFile> rewritten;
  if (index.declared.points > 0 &&
      std::find(index.bare.begin(), index.bare.end(), true) != index.bare.end())
    rewritten.emplace(without_bare_pieces(path, index));
  reader->SetFileName((rewritten ? rewritten->path() : path).c_str());
  index.uncopied.leave_out(reader, index.declared);
  const std::string data_class = "vtk" + piece_type(index.type);
  auto data = read_and_compare(reader, data_class.c_str(), index.declared, messages);
  if (index.files.empty()) return data;

  if (!index.uncopied.empty())
    index.uncopied.add_to(data, index.extents, index.whole, [&](std::size_t i) {
      return vtkSmartPointer<vtkDataSet>(vtkDataSet::SafeDownCast(read_serial_xml(index.files[i])));
    });
  const auto first = read_serial_xml(index.files[index.described]);
  auto* piece = vtkDataSet::SafeDownCast(first);
  restore_descriptions(piece->GetPointData(), data->GetPointData());
  restore_descriptions(piece->GetCellData(), data->GetCellData());
  // Newer files hold field data in the index, older ones in the pieces.
  for (int i = 0; i < piece->GetFieldData()->GetNumberOfArrays(); ++i) {
    vtkAbstractArray* array = piece->GetFieldData()->GetAbstractArray(i);
    if (!data->GetFieldData()->HasArray(array->GetName())) data->GetFieldData()->AddArray(array);
  }
  return data;
}

void write_parallel(vtkDataObject* data, const fs::path& path, const WriteOptions& options) {
  PieceFolder folder(path);
  const std::string extension = xml_extension(vtkDataSet::SafeDownCast(data));
  const fs::path piece = folder.piece(0, extension);
  write_xml(data, piece, options);
  const XmlElement serial = parse_vtk_xml(FileBytes(piece)).root;
  auto root = serial.attributes;
  root["type"] = "P" + root["type"];
  folder.commit("<?xml version=\"1.0\"?>\n<VTKFile" + attributes_text(root) + ">\n" +
                index_of(serial, folder.reference(0, extension)) + "</VTKFile>\n");
}

}  // namespace funcattn
