#pragma once

#include <vtkDataObject.h>
#include <vtkSmartPointer.h>

#include <filesystem>

#include "meshio/reader.h"

namespace funcattn {

/// Surfaces of graphics programs (.stl, .ply, .obj): see FormatSupport::read. None of them can hold
/// arbitrary arrays, so they are only read. Points that an STL file repeats for each triangle are
/// joined where their coordinates are equal, and triangles that collapse are left out.
vtkSmartPointer<vtkDataObject> read_stl(const std::filesystem::path& path,
                                        const ReadOptions& options);
vtkSmartPointer<vtkDataObject> read_ply(const std::filesystem::path& path,
                                        const ReadOptions& options);
vtkSmartPointer<vtkDataObject> read_obj(const std::filesystem::path& path,
                                        const ReadOptions& options);

}  // namespace funcattn
