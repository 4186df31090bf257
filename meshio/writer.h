#pragma once

#include <filesystem>
#include <string>

#include "meshio/mesh.h"
#include "meshio/mesh_tree.h"

namespace funcattn {

/// Where and how the arrays of a VTK XML file are stored; .vtk knows binary and ascii only and
/// takes all others as binary.
enum class Encoding { appended, appended_base64, binary, ascii };

enum class Compression { none, zlib, lz4, lzma };

/// Width of the integers that give the lengths of binary arrays in VTK XML; 32 bits end at 4 GiB.
enum class HeaderWidth { bits32, bits64 };

struct WriteOptions {
  Encoding encoding = Encoding::appended;
  Compression compression = Compression::zlib;  ///< VTK XML only.
  int compression_level = 5;                    ///< 1 (fast) to 9 (small).
  HeaderWidth header = HeaderWidth::bits64;

  /// Throws UsageError.
  void validate() const;
};

/// Writes all that the tree holds in the format of the extension, atomically: an older file of that
/// name survives any failure, together with its pieces. Formats of several files (.vtm and the
/// like) put the pieces into a folder named after the file beside it. Non-finite numbers are
/// refused in ASCII, which VTK cannot read back; text of the legacy format keeps 11 digits of a
/// number, all others keep every bit. Throws FileError; UsageError if the format cannot hold these
/// data, with the extension to choose instead.
void write_mesh_tree(const MeshTree& tree, const std::filesystem::path& path,
                     const WriteOptions& options = {});

void write_mesh(const Mesh& mesh, const std::filesystem::path& path,
                const WriteOptions& options = {});

/// Throws UsageError, as write_mesh_tree() does, if the format of the extension cannot hold these
/// data or cannot be written.
void check_format(const MeshTree& tree, const std::filesystem::path& path);

/// Throws what write_mesh_tree() would find before it writes the first byte: a format that cannot
/// hold these data, a target that cannot be written, arrays that cannot be stored, NaN in text.
void check_write(const MeshTree& tree, const std::filesystem::path& path,
                 const WriteOptions& options = {});

/// Extension of the VTK XML format that holds everything of these data: ".vtu", ".vtm", ...
std::string suggested_extension(const MeshTree& tree);

}  // namespace funcattn
