#include "meshio/formats.h"

#include <vtkDataCompressor.h>
#include <vtkDataSetReader.h>
#include <vtkDataSetWriter.h>
#include <vtkErrorCode.h>
#include <vtkImageData.h>
#include <vtkNew.h>
#include <vtkPolyDataReader.h>
#include <vtkRectilinearGridReader.h>
#include <vtkStructuredGridReader.h>
#include <vtkStructuredPointsReader.h>
#include <vtkUnstructuredGridReader.h>
#include <vtkXMLDataParser.h>
#include <vtkXMLImageDataReader.h>
#include <vtkXMLImageDataWriter.h>
#include <vtkXMLPolyDataReader.h>
#include <vtkXMLPolyDataWriter.h>
#include <vtkXMLRectilinearGridReader.h>
#include <vtkXMLRectilinearGridWriter.h>
#include <vtkXMLStructuredGridReader.h>
#include <vtkXMLStructuredGridWriter.h>
#include <vtkXMLUnstructuredGridReader.h>
#include <vtkXMLUnstructuredGridWriter.h>

#include <algorithm>
#include <cctype>

#include "core/error.h"
#include "core/text.h"

namespace funcattn {

namespace {

template <class Reader>
vtkSmartPointer<vtkAlgorithm> make_xml_reader(const std::string& path,
                                              const VtkMessages& messages) {
  const auto reader = vtkSmartPointer<Reader>::New();
  messages.observe(reader);
  reader->SetReaderErrorObserver(messages.observer());
  reader->SetParserErrorObserver(messages.observer());
  reader->SetFileName(path.c_str());
  // The header names the compressor, which exists only after this.
  reader->UpdateInformation();
  if (vtkXMLDataParser* parser = reader->GetXMLParser())
    if (parser->GetCompressor()) messages.observe(parser->GetCompressor());
  return reader;
}

void check_written(int written, unsigned long code) {
  if (code != 0)
    throw FileError(std::string("VTK reports: ") + vtkErrorCode::GetStringFromErrorCode(code));
  if (!written) throw FileError("VTK could not write it");
}

template <class Writer>
std::string write_xml(vtkDataSet* data, const WriteOptions& options, const VtkMessages& messages) {
  vtkNew<Writer> writer;
  messages.observe(writer);
  writer->WriteToOutputStringOn();
  writer->SetInputDataObject(data);
  writer->SetHeaderTypeToUInt64();
  switch (options.encoding) {
    case Encoding::appended:
      writer->SetDataModeToAppended();
      writer->EncodeAppendedDataOff();
      break;
    case Encoding::binary:
      writer->SetDataModeToBinary();
      break;
    case Encoding::ascii:
      writer->SetDataModeToAscii();
      break;
  }
  if (options.compress)
    writer->SetCompressorTypeToZLib();
  else
    writer->SetCompressorTypeToNone();
  const int written = writer->Write();
  check_written(written, writer->GetErrorCode());
  return writer->GetOutputString();
}

// vtkDataSetReader would do it all, but makes a reader inside that nobody can observe.
vtkSmartPointer<vtkAlgorithm> make_legacy_reader(const std::string& path,
                                                 const VtkMessages& messages) {
  vtkNew<vtkDataSetReader> kind;
  messages.observe(kind);
  kind->SetFileName(path.c_str());
  vtkSmartPointer<vtkDataReader> reader;
  switch (kind->ReadOutputType()) {
    case VTK_POLY_DATA:
      reader = vtkSmartPointer<vtkPolyDataReader>::New();
      break;
    case VTK_UNSTRUCTURED_GRID:
      reader = vtkSmartPointer<vtkUnstructuredGridReader>::New();
      break;
    case VTK_STRUCTURED_GRID:
      reader = vtkSmartPointer<vtkStructuredGridReader>::New();
      break;
    case VTK_RECTILINEAR_GRID:
      reader = vtkSmartPointer<vtkRectilinearGridReader>::New();
      break;
    case VTK_STRUCTURED_POINTS:
      reader = vtkSmartPointer<vtkStructuredPointsReader>::New();
      break;
    default:
      throw DataError("VTK does not know the data set type of this file");
  }
  messages.observe(reader);
  reader->SetFileName(path.c_str());
  // Without these only the first array of each kind would be read.
  reader->ReadAllScalarsOn();
  reader->ReadAllVectorsOn();
  reader->ReadAllNormalsOn();
  reader->ReadAllTensorsOn();
  reader->ReadAllColorScalarsOn();
  reader->ReadAllTCoordsOn();
  reader->ReadAllFieldsOn();
  return reader;
}

/// VTK writes spacing and origin with six digits only; this puts them in full.
void restore_image_digits(vtkDataSet* data, std::string& bytes) {
  auto* image = vtkImageData::SafeDownCast(data);
  if (!image) return;
  const auto spacing_at = bytes.find("\nSPACING ", bytes.find("\nDATASET STRUCTURED_POINTS\n"));
  const auto origin_at = bytes.find("\nORIGIN ", spacing_at);
  if (origin_at == std::string::npos) throw FileError("VTK wrote no origin and spacing");
  std::string lines = "\nSPACING";
  for (int axis = 0; axis < 3; ++axis) lines += " " + format_number(image->GetSpacing()[axis]);
  lines += "\nORIGIN";
  // The legacy format counts from 0: its origin is the first point.
  for (int axis = 0; axis < 3; ++axis)
    lines += " " + format_number(image->GetOrigin()[axis] +
                                 image->GetExtent()[2 * axis] * image->GetSpacing()[axis]);
  bytes.replace(spacing_at, bytes.find('\n', origin_at + 1) - spacing_at, lines);
}

std::string write_legacy(vtkDataSet* data, const WriteOptions& options,
                         const VtkMessages& messages) {
  vtkNew<vtkDataSetWriter> writer;
  messages.observe(writer);
  writer->WriteToOutputStringOn();
  writer->SetInputData(data);
  if (options.encoding == Encoding::ascii)
    writer->SetFileTypeToASCII();
  else
    writer->SetFileTypeToBinary();
  const int written = writer->Write();
  check_written(written, writer->GetErrorCode());
  std::string bytes(writer->GetOutputString(),
                    static_cast<std::size_t>(writer->GetOutputStringLength()));
  restore_image_digits(data, bytes);
  return bytes;
}

}  // namespace

const std::vector<FormatSupport>& format_table() {
  static const std::vector<FormatSupport> table = {
      {{".vtp", "VTK XML surface, line or point data"},
       "vtkPolyData",
       [](const FileBytes& file) { return inspect_xml(file, "PolyData"); },
       make_xml_reader<vtkXMLPolyDataReader>,
       write_xml<vtkXMLPolyDataWriter>},
      {{".vtu", "VTK XML unstructured grid"},
       "vtkUnstructuredGrid",
       [](const FileBytes& file) { return inspect_xml(file, "UnstructuredGrid"); },
       make_xml_reader<vtkXMLUnstructuredGridReader>,
       write_xml<vtkXMLUnstructuredGridWriter>},
      {{".vti", "VTK XML image data"},
       "vtkImageData",
       [](const FileBytes& file) { return inspect_xml(file, "ImageData"); },
       make_xml_reader<vtkXMLImageDataReader>,
       write_xml<vtkXMLImageDataWriter>},
      {{".vts", "VTK XML structured grid"},
       "vtkStructuredGrid",
       [](const FileBytes& file) { return inspect_xml(file, "StructuredGrid"); },
       make_xml_reader<vtkXMLStructuredGridReader>,
       write_xml<vtkXMLStructuredGridWriter>},
      {{".vtr", "VTK XML rectilinear grid"},
       "vtkRectilinearGrid",
       [](const FileBytes& file) { return inspect_xml(file, "RectilinearGrid"); },
       make_xml_reader<vtkXMLRectilinearGridReader>,
       write_xml<vtkXMLRectilinearGridWriter>},
      {{".vtk", "VTK legacy file of any data set"},
       "vtkDataSet",
       inspect_legacy,
       make_legacy_reader,
       write_legacy},
  };
  return table;
}

const FormatSupport* find_format(const std::filesystem::path& path) {
  std::string extension = path.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const FormatSupport& support : format_table())
    if (support.format.extension == extension) return &support;
  return nullptr;
}

std::string known_extensions() {
  std::vector<std::string> extensions;
  for (const FormatSupport& support : format_table())
    extensions.push_back(support.format.extension);
  return join(extensions, ", ");
}

}  // namespace funcattn
