#pragma once

#include <filesystem>
#include <string>

#include "core/process_group.h"
#include "meshio/mesh_tree.h"
#include "meshio/writer.h"

namespace funcattn {

/// The pieces that a process holds of a mesh in a parallel VTK XML file (.pvtu and so on).
struct PieceSet {
  MeshTree tree;             ///< A vtkPartitionedDataSet of them, in the order of the file.
  std::string type;          ///< As in the file, "PUnstructuredGrid".
  std::string whole_extent;  ///< Of structured data, as in the file.
  std::size_t first = 0;     ///< Number of the first of them in the file.
  std::size_t total = 0;     ///< Pieces in the file.
};

/// A tree without any mesh.
MeshTree empty_tree(const std::string& origin);

/// Whether the file is the index of a mesh in pieces. Throws FileError if it cannot be read.
bool is_in_pieces(const std::filesystem::path& path);

/// Each process reads its own, consecutive pieces; there may be more processes than pieces. What
/// read_mesh_tree() refuses is refused. Throws FileError. The pieces have the arrays that the index
/// declares.
PieceSet read_piece_set(const std::filesystem::path& path, const ProcessGroup& processes);

/// Throws UsageError unless a file of this name can hold the pieces.
void check_piece_format(const PieceSet& set, const std::filesystem::path& path);

/// Each process writes its pieces, one file each, and the first one the index; all appear together
/// or not at all. Called by all processes together. Throws UsageError, FileError.
void write_piece_set(const PieceSet& set, const std::filesystem::path& path,
                     const WriteOptions& options, ProcessGroup& processes);

}  // namespace funcattn
