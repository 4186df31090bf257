#pragma once

#include <string>
#include <string_view>

#include "meshio/file_bytes.h"

namespace funcattn {

/// What the first bytes of a file say that it is: "VTKFile:PolyData" (and so on for each type of a
/// VTK XML file), "legacy", "hdf5", "netcdf", "ply", "stl", "ensight". Empty where they say
/// nothing, as in formats without a mark and in files damaged there.
std::string signature_of(const FileBytes& file);

/// Whether the text begins with "solid", in any case.
bool is_text_stl(std::string_view text);

/// Whether the size is that of a binary STL file with the number of triangles that stands in it.
bool is_binary_stl(const FileBytes& file);

}  // namespace funcattn
