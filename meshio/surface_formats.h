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
///
/// OBJ is read without VTK, whose reader leaves out lines, points and what no face uses where faces
/// have normals, ignores colours, and crashes on small mistakes. Points keep their order; one used
/// with several pairs of texture coordinate and normal is there once more, behind all others, for
/// each further pair. Arrays are those of VTK's reader ("Normals", "TCoords", "GroupIds",
/// "MaterialIds", the field arrays "MaterialNames" and "MaterialLibraries"), but of all cells and
/// with one "TCoords" instead of one per material; and "RGB" or "RGBA" where points have colours.
/// What a point lacks that others have is NaN.
vtkSmartPointer<vtkDataObject> read_stl(const std::filesystem::path& path,
                                        const ReadOptions& options);
vtkSmartPointer<vtkDataObject> read_ply(const std::filesystem::path& path,
                                        const ReadOptions& options);
vtkSmartPointer<vtkDataObject> read_obj(const std::filesystem::path& path,
                                        const ReadOptions& options);

}  // namespace funcattn
