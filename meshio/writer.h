#pragma once

#include <filesystem>

#include "meshio/mesh.h"

namespace funcattn {

enum class Encoding { appended, binary, ascii };

struct WriteOptions {
  Encoding encoding = Encoding::appended;
  bool compress = true;
};

/// Writes all that the mesh holds in the format of the extension, atomically: an older file of that
/// name survives any failure. Non-finite numbers are refused in ASCII, which VTK cannot read back;
/// text of the legacy format keeps 11 digits of a number, all others keep every bit. Throws
/// FileError; UsageError if the extension cannot hold this type of data set.
void write_mesh(const Mesh& mesh, const std::filesystem::path& path,
                const WriteOptions& options = {});

}  // namespace funcattn
