#pragma once

#include <vtkDataObject.h>
#include <vtkSmartPointer.h>

#include <filesystem>

#include "meshio/reader.h"
#include "meshio/writer.h"

namespace funcattn {

/// Legacy .vtk files: see FormatSupport::read and write.
vtkSmartPointer<vtkDataObject> read_legacy(const std::filesystem::path& path,
                                           const ReadOptions& options);
void write_legacy(vtkDataObject* data, const std::filesystem::path& path,
                  const WriteOptions& options);

}  // namespace funcattn
