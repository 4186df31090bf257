#pragma once

#include <vtkDataObject.h>
#include <vtkSmartPointer.h>

#include <filesystem>

#include "meshio/reader.h"
#include "meshio/writer.h"

namespace funcattn {

/// Parallel VTK XML files (.pvtp, .pvtu, .pvti, .pvts, .pvtr): one data set in pieces that lie in
/// files of their own. Every piece is inspected as if it were alone before VTK joins them; a
/// message about one names it. Points on the seams of unstructured pieces are there once per piece,
/// as VTK reads them, which piece_sizes() tells, and ghost arrays are kept. See FormatSupport::read
/// and write.
vtkSmartPointer<vtkDataObject> read_parallel(const std::filesystem::path& path,
                                             const ReadOptions& options);

/// Writes one piece, in a folder beside the file: the points and cells keep their order.
void write_parallel(vtkDataObject* data, const std::filesystem::path& path,
                    const WriteOptions& options);

}  // namespace funcattn
