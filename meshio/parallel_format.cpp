#include "meshio/parallel_format.h"

#include <vtkCellData.h>
#include <vtkDataArray.h>
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
#include "meshio/field_data.h"
#include "meshio/file_bytes.h"
#include "meshio/formats.h"
#include "meshio/joined_pieces.h"
#include "meshio/memory_file.h"
#include "meshio/parallel_index.h"
#include "meshio/piece_folder.h"
#include "meshio/vtk_messages.h"
#include "meshio/xml_format.h"
#include "meshio/xml_pieces.h"
#include "meshio/xml_tree.h"

namespace funcattn {

namespace fs = std::filesystem;

namespace {

vtkSmartPointer<vtkXMLPDataReader> make_reader(const std::string& type) {
  if (type == "PPolyData") return vtkSmartPointer<vtkXMLPPolyDataReader>::New();
  if (type == "PUnstructuredGrid") return vtkSmartPointer<vtkXMLPUnstructuredGridReader>::New();
  if (type == "PImageData") return vtkSmartPointer<vtkXMLPImageDataReader>::New();
  if (type == "PStructuredGrid") return vtkSmartPointer<vtkXMLPStructuredGridReader>::New();
  return vtkSmartPointer<vtkXMLPRectilinearGridReader>::New();
}

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

std::vector<double> numbers_of(vtkDataArray& array) {
  std::vector<double> numbers;
  for (vtkIdType i = 0; i < array.GetNumberOfTuples(); ++i)
    for (int component = 0; component < array.GetNumberOfComponents(); ++component)
      numbers.push_back(array.GetComponent(i, component));
  return numbers;
}

/// Of what the pieces say differently the whole has what one of them says.
void note_differences(const ParallelIndex& index, vtkDataSet& data) {
  struct First {
    std::vector<double> values;
    std::size_t piece;
  };
  std::map<std::string, First> known;
  for (std::size_t i = 0; i < index.files.size(); ++i) {
    // VTK reads no field data without all else.
    const auto piece = read_serial_xml(index.files[i]);
    vtkFieldData* fields = piece->GetFieldData();
    for (int array = 0; array < fields->GetNumberOfArrays(); ++array) {
      vtkDataArray* found = fields->GetArray(array);
      if (!found || !found->GetName()) continue;
      const std::string name = found->GetName();
      const First here{numbers_of(*found), i};
      const First& first = known.try_emplace(name, here).first->second;
      if (here.values == first.values || !noted_difference(data, name).empty()) continue;
      note_difference(data, name,
                      field_text(first.values) + " in piece " + std::to_string(first.piece) +
                          " and " + field_text(here.values) + " in piece " + std::to_string(i));
    }
  }
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
  if (!index.uncopied.empty())
    index.uncopied.add_to(data, index.extents, index.whole, [&](std::size_t i) {
      return vtkSmartPointer<vtkDataSet>(vtkDataSet::SafeDownCast(read_serial_xml(index.files[i])));
    });
  if (!is_structured(index.type)) note_pieces(*data, index.points);
  const auto first = read_serial_xml(index.files[index.described]);
  auto* piece = vtkDataSet::SafeDownCast(first);
  restore_descriptions(piece->GetPointData(), data->GetPointData());
  restore_descriptions(piece->GetCellData(), data->GetCellData());
  // Newer files hold field data in the index, older ones in the pieces.
  add_missing_fields(piece->GetFieldData(), *data);
  add_missing_fields(index.fields, *data);
  if (index.pieces_have_fields) note_differences(index, *data);
  return data;
}

void write_parallel(vtkDataObject* data, const fs::path& path, const WriteOptions& options) {
  PieceFolder folder(path);
  const std::string extension = xml_extension(vtkDataSet::SafeDownCast(data));
  const fs::path piece = folder.piece(0, extension);
  write_xml(data, piece, options);
  const PieceHeader header = piece_header(parse_vtk_xml(FileBytes(piece)).root);
  folder.commit(parallel_index_text(header, header.extent,
                                    {{folder.reference(0, extension), header.extent}}));
}

}  // namespace funcattn
