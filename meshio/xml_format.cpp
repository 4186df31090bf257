#include "meshio/xml_format.h"

#include <vtkDataCompressor.h>
#include <vtkImageData.h>
#include <vtkNew.h>
#include <vtkPolyData.h>
#include <vtkRectilinearGrid.h>
#include <vtkStructuredGrid.h>
#include <vtkUnstructuredGrid.h>
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

#include "core/atomic_file.h"
#include "core/error.h"
#include "meshio/checked_read.h"
#include "meshio/file_bytes.h"
#include "meshio/inspection.h"
#include "meshio/vtk_messages.h"
#include "meshio/write_checks.h"

namespace funcattn {

namespace {

template <class Reader>
vtkSmartPointer<vtkDataObject> read_xml(const std::filesystem::path& path, const char* type) {
  const FileBytes file(path);
  const DeclaredContents declared = inspect_xml(file, type);
  VtkMessages messages;
  const vtkNew<Reader> reader;
  messages.observe(reader);
  reader->SetReaderErrorObserver(messages.observer());
  reader->SetParserErrorObserver(messages.observer());
  reader->SetFileName(path.c_str());
  // The header names the compressor, which exists only after this.
  reader->UpdateInformation();
  if (vtkXMLDataParser* parser = reader->GetXMLParser())
    if (parser->GetCompressor()) messages.observe(parser->GetCompressor());
  return read_and_compare(reader, (std::string("vtk") + type).c_str(), declared, messages);
}

template <class Writer>
std::string serialised(vtkDataObject* data, const WriteOptions& options,
                       const VtkMessages& messages) {
  vtkNew<Writer> writer;
  messages.observe(writer);
  writer->WriteToOutputStringOn();
  writer->SetInputDataObject(data);
  configure_xml_writer(writer, options);
  const int written = writer->Write();
  check_written(written, writer->GetErrorCode());
  return writer->GetOutputString();
}

/// In memory, because VTK 9.1's XML writers crash on a full disk.
std::string serialised_by_class(vtkDataObject* data, const WriteOptions& options,
                                const VtkMessages& messages) {
  if (vtkPolyData::SafeDownCast(data))
    return serialised<vtkXMLPolyDataWriter>(data, options, messages);
  if (vtkImageData::SafeDownCast(data))
    return serialised<vtkXMLImageDataWriter>(data, options, messages);
  if (vtkStructuredGrid::SafeDownCast(data))
    return serialised<vtkXMLStructuredGridWriter>(data, options, messages);
  if (vtkRectilinearGrid::SafeDownCast(data))
    return serialised<vtkXMLRectilinearGridWriter>(data, options, messages);
  return serialised<vtkXMLUnstructuredGridWriter>(data, options, messages);
}

}  // namespace

vtkSmartPointer<vtkDataObject> read_xml_poly_data(const std::filesystem::path& path,
                                                  const ReadOptions&) {
  return read_xml<vtkXMLPolyDataReader>(path, "PolyData");
}

vtkSmartPointer<vtkDataObject> read_xml_unstructured_grid(const std::filesystem::path& path,
                                                          const ReadOptions&) {
  return read_xml<vtkXMLUnstructuredGridReader>(path, "UnstructuredGrid");
}

vtkSmartPointer<vtkDataObject> read_xml_image_data(const std::filesystem::path& path,
                                                   const ReadOptions&) {
  return read_xml<vtkXMLImageDataReader>(path, "ImageData");
}

vtkSmartPointer<vtkDataObject> read_xml_structured_grid(const std::filesystem::path& path,
                                                        const ReadOptions&) {
  return read_xml<vtkXMLStructuredGridReader>(path, "StructuredGrid");
}

vtkSmartPointer<vtkDataObject> read_xml_rectilinear_grid(const std::filesystem::path& path,
                                                         const ReadOptions&) {
  return read_xml<vtkXMLRectilinearGridReader>(path, "RectilinearGrid");
}

void configure_xml_writer(vtkXMLWriterBase* writer, const WriteOptions& options) {
  switch (options.encoding) {
    case Encoding::appended:
    case Encoding::appended_base64:
      writer->SetDataModeToAppended();
      writer->SetEncodeAppendedData(options.encoding == Encoding::appended_base64);
      break;
    case Encoding::binary:
      writer->SetDataModeToBinary();
      break;
    case Encoding::ascii:
      writer->SetDataModeToAscii();
      break;
  }
  switch (options.compression) {
    case Compression::none:
      writer->SetCompressorTypeToNone();
      break;
    case Compression::zlib:
      writer->SetCompressorTypeToZLib();
      break;
    case Compression::lz4:
      writer->SetCompressorTypeToLZ4();
      break;
    case Compression::lzma:
      writer->SetCompressorTypeToLZMA();
      break;
  }
  if (writer->GetCompressor())
    writer->GetCompressor()->SetCompressionLevel(options.compression_level);
  if (options.header == HeaderWidth::bits64)
    writer->SetHeaderTypeToUInt64();
  else
    writer->SetHeaderTypeToUInt32();
}

void write_xml(vtkDataObject* data, const std::filesystem::path& path,
               const WriteOptions& options) {
  AtomicFile file(path);  // First, so that a bad target is found before the work.
  refuse_xml_names(vtkDataSet::SafeDownCast(data));
  const VtkMessages messages;
  const std::string bytes = serialised_by_class(data, options, messages);
  if (messages.has_errors()) throw FileError(messages.first_error());
  file.write(bytes);
  file.commit();
}

const char* xml_extension(vtkDataSet* data) {
  if (vtkPolyData::SafeDownCast(data)) return ".vtp";
  if (vtkImageData::SafeDownCast(data)) return ".vti";
  if (vtkStructuredGrid::SafeDownCast(data)) return ".vts";
  if (vtkRectilinearGrid::SafeDownCast(data)) return ".vtr";
  return ".vtu";
}

}  // namespace funcattn
