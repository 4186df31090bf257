#pragma once

#include <string>

#include "meshio/file_bytes.h"

namespace funcattn {

/// What the first bytes of a file say that it is: "VTKFile:PolyData" (and so on for each type of a
/// VTK XML file), "legacy", "hdf5", "netcdf", "ply", "stl", "ensight". Empty where they say
/// nothing, as in formats without a mark and in files damaged there.
std::string signature_of(const FileBytes& file);

/// Whether the size is that of a binary STL file with the number of triangles that stands in it.
bool is_binary_stl(const FileBytes& file);

}  // namespace funcattn
