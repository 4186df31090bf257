#pragma once

#include <vtkDataObject.h>
#include <vtkDataSet.h>
#include <vtkSmartPointer.h>
#include <vtkXMLWriterBase.h>

#include <filesystem>

#include "meshio/reader.h"
#include "meshio/writer.h"

namespace funcattn {

/// Serial VTK XML files: see FormatSupport::read and write.
vtkSmartPointer<vtkDataObject> read_xml_poly_data(const std::filesystem::path& path,
                                                  const ReadOptions& options);
vtkSmartPointer<vtkDataObject> read_xml_unstructured_grid(const std::filesystem::path& path,
                                                          const ReadOptions& options);
vtkSmartPointer<vtkDataObject> read_xml_image_data(const std::filesystem::path& path,
                                                   const ReadOptions& options);
vtkSmartPointer<vtkDataObject> read_xml_structured_grid(const std::filesystem::path& path,
                                                        const ReadOptions& options);
vtkSmartPointer<vtkDataObject> read_xml_rectilinear_grid(const std::filesystem::path& path,
                                                         const ReadOptions& options);

void write_xml(vtkDataObject* data, const std::filesystem::path& path, const WriteOptions& options);

/// Extension of the serial XML format of this class of data sets.
const char* xml_extension(vtkDataSet* data);

/// Hands encoding, compression and header width to one of VTK's XML writers.
void configure_xml_writer(vtkXMLWriterBase* writer, const WriteOptions& options);

}  // namespace funcattn
