#pragma once

#include <vtkDataObject.h>
#include <vtkSmartPointer.h>

#include <filesystem>

#include "meshio/reader.h"

namespace funcattn {

/// Surfaces of graphics programs (.stl, .ply, .obj): see FormatSupport::read. None of them can hold
/// arbitrary arrays, so they are only read. Points that an STL file repeats for each triangle are
/// joined where their coordinates are equal, and triangles that collapse are left out.
/// Where it holds several solids, the cell array "STLSolidLabeling" numbers them.
///
/// PLY is read without VTK, whose reader cuts coordinates to float, drops most properties and wraps
/// lists of more than 255 points. Arrays have the names and types that VTK's reader gives them
/// ("Normals", "RGB", "RGBA", "TCoords"), all other properties their own: those of points and faces
/// become point and cell arrays (lists, where all are of one length, with so many components), all
/// else the field arrays "ELEMENT.PROPERTY" and, for lists, "ELEMENT.PROPERTY.count".
vtkSmartPointer<vtkDataObject> read_stl(const std::filesystem::path& path,
                                        const ReadOptions& options);
vtkSmartPointer<vtkDataObject> read_ply(const std::filesystem::path& path,
                                        const ReadOptions& options);
vtkSmartPointer<vtkDataObject> read_obj(const std::filesystem::path& path,
                                        const ReadOptions& options);

}  // namespace funcattn
