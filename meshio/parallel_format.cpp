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

#include "core/error.h"
#include "meshio/checked_read.h"
#include "meshio/file_bytes.h"
#include "meshio/formats.h"
#include "meshio/inspection.h"
#include "meshio/piece_arrays.h"
#include "meshio/piece_folder.h"
#include "meshio/vtk_messages.h"
#include "meshio/xml_extent.h"
#include "meshio/xml_format.h"
#include "meshio/xml_names.h"
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
  std::vector<StoredPiece> pieces;
  Extent whole{{0, -1, 0, -1, 0, -1}};  ///< Of structured data.
  DeclaredContents declared;
  UncopiedArrays uncopied;
};

class IndexInspector {
 public:
  IndexInspector(const fs::path& path, const std::string& type, const XmlElement& data_set)
      : path_(path), data_set_(data_set) {
    index_.type = type;
    index_.uncopied = UncopiedArrays(data_set);
  }

  ParallelIndex run() {
    index_.declared.point_arrays = declared_names(data_set_, "PPointData", "point array");
    index_.declared.cell_arrays = declared_names(data_set_, "PCellData", "cell array");
    for (const XmlElement& section : data_set_.children) collect_layouts(section, layouts_);
    for (const XmlElement& piece : data_set_.children)
      if (piece.name == "Piece") inspect_piece(piece);
    if (is_structured(index_.type)) {
      const Extent whole = index_.whole = extent_of(data_set_, "WholeExtent");
      index_.declared.points = whole.points();
      index_.declared.cells = whole.cells();
      if (index_.pieces.empty() && whole.points() > 0)
        throw DataError("it has no <Piece>; the file is damaged");
      std::vector<Extent> extents;
      for (const StoredPiece& piece : index_.pieces) extents.push_back(piece.extent);
      check_covered(whole, extents);
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
      require_arrays(contents.point_arrays, index_.declared.point_arrays, "point");
      require_arrays(contents.cell_arrays, index_.declared.cell_arrays, "cell");
      if (is_structured(index_.type)) {
        // VTK copies the block that the index says, without looking at the piece's own extent.
        extent = extent_of(element, "Extent");
        if (extent.bounds != contents.extent)
          throw DataError("it has another extent than Extent=\"" + element.attribute("Extent") +
                          "\" in the index");
      } else {
        if (contents.points > 0 &&
            std::any_of(index_.pieces.begin(), index_.pieces.end(),
                        [&](const StoredPiece& other) { return other.file == file; }))
          throw DataError("the index names it twice");
        index_.declared.points += contents.points;
        index_.declared.cells += contents.cells;
      }
    } catch (const Error& error) {
      const std::string failed = "cannot read '" + file.string() + "': ";
      const std::string message = error.what();
      throw DataError("piece " + std::to_string(index_.pieces.size()) + ": " +
                      (message.rfind(failed, 0) == 0 ? message : failed + message));
    }
    index_.pieces.push_back({file, extent});
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

  static void require_arrays(const std::vector<std::string>& found,
                             const std::vector<std::string>& declared, const std::string& kind) {
    for (const std::string& name : declared)
      if (std::find(found.begin(), found.end(), name) == found.end())
        throw DataError("it has no " + kind + " array '" + name + "', which the index declares");
  }

  const fs::path& path_;
  const XmlElement& data_set_;
  ParallelIndex index_;
  std::map<std::string, std::string> layouts_;
};

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
    std::string text;
    for (const auto& [key, value] : element.attributes)
      if (std::find(skipped.begin(), skipped.end(), key) == skipped.end())
        text += " " + key + "=\"" + xml_escaped(value) + "\"";
    return text;
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
  reader->SetFileName(path.c_str());
  index.uncopied.leave_out(reader, index.declared);
  const std::string data_class = "vtk" + piece_type(index.type);
  auto data = read_and_compare(reader, data_class.c_str(), index.declared, messages);
  if (index.pieces.empty()) return data;

  if (!index.uncopied.empty())
    index.uncopied.add_to(vtkDataSet::SafeDownCast(data), index.pieces, index.whole);
  const auto first = read_serial_xml(index.pieces.front().file);
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
  std::string root = "<?xml version=\"1.0\"?>\n<VTKFile";
  for (const auto& [key, value] : serial.attributes)
    root += " " + key + "=\"" + (key == "type" ? "P" : "") + xml_escaped(value) + "\"";
  folder.commit(root + ">\n" + index_of(serial, folder.reference(0, extension)) + "</VTKFile>\n");
}

}  // namespace funcattn
