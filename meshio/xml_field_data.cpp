#include "meshio/xml_field_data.h"

#include <vtkNew.h>
#include <vtkPolyData.h>
#include <vtkXMLPolyDataReader.h>
#include <vtkXMLPolyDataWriter.h>

#include "core/error.h"
#include "meshio/inspection.h"
#include "meshio/vtk_messages.h"
#include "meshio/write_checks.h"
#include "meshio/xml_arrays.h"
#include "meshio/xml_format.h"
#include "meshio/xml_names.h"

namespace funcattn {

namespace {

constexpr const char* kEmptySurface =
    "<PolyData><Piece NumberOfPoints=\"0\" NumberOfVerts=\"0\" NumberOfLines=\"0\" "
    "NumberOfStrips=\"0\" NumberOfPolys=\"0\"/>";

/// VTK, asked to read a mesh that has nothing but these field data.
vtkSmartPointer<vtkFieldData> decoded(const XmlElement& root, const std::string& element) {
  std::string text = "<?xml version=\"1.0\"?>\n<VTKFile type=\"PolyData\" version=\"1.0\"";
  for (const char* key : {"byte_order", "header_type", "compressor"})
    if (root.attributes.count(key))
      text += std::string(" ") + key + "=\"" + xml_escaped(root.attribute(key)) + "\"";
  text += std::string(">") + kEmptySurface;
  text.insert(text.find("<PolyData>") + std::string("<PolyData>").size(), element);
  text += "</PolyData></VTKFile>\n";

  const VtkMessages messages;
  const vtkNew<vtkXMLPolyDataReader> reader;
  messages.observe(reader);
  reader->ReadFromInputStringOn();
  reader->SetInputString(text);
  reader->Update();
  auto fields = vtkSmartPointer<vtkFieldData>::New();
  fields->ShallowCopy(reader->GetOutput()->GetFieldData());
  return fields;
}

}  // namespace

vtkSmartPointer<vtkFieldData> read_field_data(const FileBytes& file, const XmlDocument& document,
                                              const XmlElement& parent) {
  const XmlElement* section = parent.child("FieldData");
  if (!section) return nullptr;
  const XmlArrays arrays(file, document);
  std::vector<std::string> names;
  for (const XmlElement& array : section->children) {
    if (array.name != "DataArray" && array.name != "Array") continue;
    const std::string name = array.attribute("Name");
    const std::string what = "field array '" + name + "'";
    add_unique(names, name, "field array");
    if (array.attribute("format") == "appended")
      throw DataError(what + " lies in appended data, expected inline");
    arrays.check(array, what, std::nullopt);
    arrays.check_decodes(array, what);
  }
  const std::string text = file.read(0, file.size());
  const auto begin = text.rfind("<FieldData");
  const std::string closing = "</FieldData>";
  const auto end = text.rfind(closing);
  if (names.empty() || begin == std::string::npos || end == std::string::npos || end < begin)
    return nullptr;
  auto fields = decoded(document.root, text.substr(begin, end + closing.size() - begin));
  for (const std::string& name : names)
    if (!fields->HasArray(name.c_str()))
      throw DataError("VTK could not read its field array '" + name + "'");
  return fields;
}

FieldDataText field_data_text(vtkFieldData* fields, const WriteOptions& options) {
  const vtkNew<vtkPolyData> carrier;
  if (fields) carrier->GetFieldData()->ShallowCopy(fields);
  if (options.encoding == Encoding::ascii) refuse_non_finite(carrier);
  escape_names(carrier->GetFieldData());

  WriteOptions inline_options = options;
  if (options.encoding != Encoding::ascii) inline_options.encoding = Encoding::binary;
  const VtkMessages messages;
  const vtkNew<vtkXMLPolyDataWriter> writer;
  messages.observe(writer);
  writer->WriteToOutputStringOn();
  writer->SetInputData(carrier);
  configure_xml_writer(writer, inline_options);
  const int written = writer->Write();
  check_written(written, writer->GetErrorCode());
  if (messages.has_errors()) throw FileError(messages.first_error());

  const std::string text = writer->GetOutputString();
  FieldDataText result;
  const auto attributes = text.find(" byte_order=");
  const auto root_end = text.find('>', attributes);
  if (root_end == std::string::npos) throw FileError("VTK wrote no root element");
  result.root_attributes = text.substr(attributes, root_end - attributes);
  const auto begin = text.find("<FieldData>");
  const std::string closing = "</FieldData>";
  const auto end = text.find(closing);
  if (begin != std::string::npos && end != std::string::npos)
    result.element = "  " + text.substr(begin, end + closing.size() - begin) + "\n";
  return result;
}

}  // namespace funcattn
