#pragma once

#include <vtkDataObject.h>
#include <vtkSmartPointer.h>

#include <filesystem>

#include "meshio/reader.h"
#include "meshio/writer.h"

namespace funcattn {

/// VTK XML files of trees (.vtm, .vtpd, .vtpc), whose data sets lie in files of their own: see
/// FormatSupport::read and write. Every data set is read and checked as if it were alone; a message
/// about one names its block and its file.
vtkSmartPointer<vtkDataObject> read_multiblock(const std::filesystem::path& path,
                                               const ReadOptions& options);

/// Null blocks keep their names. Throws FileError for what these files have no place for: field
/// data of inner blocks and leaves that are no data sets.
void write_multiblock(vtkDataObject* data, const std::filesystem::path& path,
                      const WriteOptions& options);

}  // namespace funcattn
