#pragma once

#include <vtkDataObject.h>
#include <vtkDataSet.h>
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

/// Throws UsageError for what the legacy format would lose without a word.
void refuse_legacy_losses(vtkDataSet* data);

}  // namespace funcattn
