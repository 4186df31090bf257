#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "meshio/file_bytes.h"

namespace funcattn {

/// What the first bytes of a file say that it is: "VTKFile:PolyData" (and so on for each type of a
/// VTK XML file), "legacy", "hdf5", "netcdf", "ply", "stl", "ensight". Empty where they say
/// nothing, as in formats without a mark and in files damaged there.
std::string signature_of(const FileBytes& file);

/// Whether the text begins with "solid", in any case, behind blanks or empty lines at most.
bool is_text_stl(std::string_view text);

/// Bytes of a binary STL file with the number of triangles that stands in it, if the file has them
/// and not enough more for another triangle (some programs add a line end).
std::optional<std::uint64_t> binary_stl_size(const FileBytes& file);

}  // namespace funcattn
