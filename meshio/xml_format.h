#pragma once

#include <vtkDataObject.h>
#include <vtkDataSet.h>
#include <vtkSmartPointer.h>
#include <vtkXMLWriterBase.h>

#include <filesystem>

#include "meshio/reader.h"
#include "meshio/writer.h"

namespace funcattn {

/// Serial VTK XML files of any data set: see FormatSupport::read and write.
vtkSmartPointer<vtkDataObject> read_serial_xml(const std::filesystem::path& path,
                                               const ReadOptions& options = {});
void write_xml(vtkDataObject* data, const std::filesystem::path& path, const WriteOptions& options);

/// Extension of the serial XML format of this class of data sets.
const char* xml_extension(vtkDataSet* data);

/// Hands encoding, compression and header width to one of VTK's XML writers.
void configure_xml_writer(vtkXMLWriterBase* writer, const WriteOptions& options);

}  // namespace funcattn
