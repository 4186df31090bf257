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
#include "meshio/joined_pieces.h"
#include "meshio/memory_file.h"
#include "meshio/piece_arrays.h"
#include "meshio/vtk_messages.h"
#include "meshio/write_checks.h"
#include "meshio/xml_extent.h"
#include "meshio/xml_names.h"
#include "meshio/xml_pieces.h"
#include "meshio/xml_tree.h"

namespace funcattn {

namespace {

template <class Reader>
class SerialReader {
 public:
  SerialReader(const std::filesystem::path& path, const DeclaredContents& declared)
      : path_(path), declared_(declared) {}

  vtkSmartPointer<vtkDataObject> run() {
    if (declared_.parts > 1) return read_pieces();
    prepare(path_);
    return read();
  }

 private:
  void prepare(const std::filesystem::path& path) {
    messages_.observe(reader_);
    reader_->SetReaderErrorObserver(messages_.observer());
    reader_->SetParserErrorObserver(messages_.observer());
    reader_->SetFileName(path.c_str());
    // The header names the compressor, which exists only after this.
    reader_->UpdateInformation();
    if (vtkXMLDataParser* parser = reader_->GetXMLParser())
      if (parser->GetCompressor()) messages_.observe(parser->GetCompressor());
  }

  vtkSmartPointer<vtkDataSet> read() {
    return read_and_compare(reader_, ("vtk" + declared_.type).c_str(), declared_, messages_);
  }

  vtkSmartPointer<vtkDataObject> read_pieces() {
    const FileBytes file(path_);
    const XmlDocument document = parse_vtk_xml(file);
    const std::vector<const XmlElement*> pieces = pieces_of(*document.root.child(declared_.type));
    const UncopiedArrays uncopied(pieces.front()->child("PointData"),
                                  pieces.front()->child("CellData"), false);
    prepare(path_);
    uncopied.leave_out(reader_, declared_);
    auto data = read();
    const bool structured = pieces.front()->attributes.count("Extent") > 0;
    if (!structured) {
      std::vector<std::int64_t> points;
      for (const XmlElement* piece : pieces) points.push_back(piece->count("NumberOfPoints", 0));
      note_pieces(*data, points);
    }
    if (uncopied.empty()) return data;
    Extent whole{{0, -1, 0, -1, 0, -1}};
    if (structured) whole.bounds = declared_.extent;
    std::vector<Extent> extents;
    for (const XmlElement* piece : pieces)
      extents.push_back(structured ? extent_of(*piece, "Extent") : Extent());
    uncopied.add_to(data, extents, whole, [&](std::size_t i) {
      // Where VTK reads text of a part of a structured piece it leaves its memory.
      if (structured) return read_alone(MemoryFile(file_of_piece(file, document, i)).path(), 0, 1);
      return read_alone(path_, static_cast<int>(i), static_cast<int>(pieces.size()));
    });
    return data;
  }

  static vtkSmartPointer<vtkDataSet> read_alone(const std::filesystem::path& path, int piece,
                                                int pieces) {
    const VtkMessages messages;
    const vtkNew<Reader> reader;
    messages.observe(reader);
    reader->SetFileName(path.c_str());
    reader->UpdatePiece(piece, pieces, 0);
    if (messages.has_errors()) throw DataError(messages.first_error());
    return vtkSmartPointer<vtkDataSet>(reader->GetOutput());
  }

  const std::filesystem::path& path_;
  DeclaredContents declared_;
  const VtkMessages messages_;
  const vtkNew<Reader> reader_;
};

template <class Reader>
vtkSmartPointer<vtkDataObject> read_as(const std::filesystem::path& path,
                                       const DeclaredContents& declared) {
  return SerialReader<Reader>(path, declared).run();
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

vtkSmartPointer<vtkDataObject> read_serial_xml(const std::filesystem::path& path,
                                               const ReadOptions&) {
  const DeclaredContents declared = inspect_xml(FileBytes(path));
  if (declared.type == "PolyData") return read_as<vtkXMLPolyDataReader>(path, declared);
  if (declared.type == "ImageData") return read_as<vtkXMLImageDataReader>(path, declared);
  if (declared.type == "StructuredGrid") return read_as<vtkXMLStructuredGridReader>(path, declared);
  if (declared.type == "RectilinearGrid")
    return read_as<vtkXMLRectilinearGridReader>(path, declared);
  return read_as<vtkXMLUnstructuredGridReader>(path, declared);
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
  const auto copy = vtkSmartPointer<vtkDataObject>::Take(data->NewInstance());
  copy->ShallowCopy(data);
  escape_names(vtkDataSet::SafeDownCast(copy));
  const VtkMessages messages;
  const std::string bytes = serialised_by_class(copy, options, messages);
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
