#include "meshio/writer.h"

#include <unistd.h>
#include <vtkDataObject.h>

#include <new>

#include "core/atomic_file.h"
#include "core/error.h"
#include "meshio/formats.h"
#include "meshio/legacy_format.h"
#include "meshio/write_checks.h"
#include "meshio/write_preparation.h"
#include "meshio/xml_format.h"
#include "meshio/xml_names.h"

namespace funcattn {

namespace {

std::string unwritable(const MeshTree& tree, const FormatSupport& support) {
  return "the data are a " + std::string(tree.vtk()->GetClassName()) + ", which " +
         support.format.extension + " cannot hold; use " + suggested_extension(tree) +
         (tree.is_single() ? " or .vtk" : "");
}

/// Calls `write(format, leaves ready to be written)`; what that throws gets the name of the file.
template <class Write>
void with_target(const MeshTree& tree, const std::filesystem::path& path,
                 const WriteOptions& options, const Write& write) {
  options.validate();
  check_format(tree, path);
  const FormatSupport* support = find_format(path);
  const std::string failed = "cannot write '" + path.string() + "': ";
  // Renaming would replace a file that its owner has write-protected.
  if (::access(path.c_str(), F_OK) == 0 && ::access(path.c_str(), W_OK) != 0)
    throw FileError(failed + "the file is write-protected");
  try {
    write(*support, prepared_leaves(tree, options));
  } catch (const UsageError& error) {
    throw UsageError(failed + error.what());
  } catch (const Error& error) {
    const std::string message = error.what();
    throw FileError(message.rfind(failed, 0) == 0 ? message : failed + message);
  } catch (const std::bad_alloc&) {
    throw FileError(failed + "there is not enough memory");
  } catch (const std::exception& error) {
    throw FileError(failed + error.what());
  }
}

}  // namespace

void WriteOptions::validate() const {
  if (compression_level < 1 || compression_level > 9)
    throw UsageError("the compression level is " + std::to_string(compression_level) +
                     ", expected 1 (fast) to 9 (small)");
}

void check_format(const MeshTree& tree, const std::filesystem::path& path) {
  const std::string failed = "cannot write '" + path.string() + "': ";
  const FormatSupport* support = find_format(path);
  if (!support)
    throw UsageError(failed + "the extension '" + path.extension().string() +
                     "' is not known; known: " + writable_extensions());
  if (!support->write)
    throw UsageError(failed + support->format.extension +
                     " can be read, but VTK has no writer that keeps every array; use " +
                     suggested_extension(tree));
  if (!tree.vtk()->IsA(support->data_class)) throw UsageError(failed + unwritable(tree, *support));
}

void write_mesh_tree(const MeshTree& tree, const std::filesystem::path& path,
                     const WriteOptions& options) {
  with_target(tree, path, options, [&](const FormatSupport& support, std::vector<Mesh> leaves) {
    support.write(tree.with_leaves(std::move(leaves)).vtk(), path, options);
  });
}

void check_write(const MeshTree& tree, const std::filesystem::path& path,
                 const WriteOptions& options) {
  check_target(path);
  with_target(tree, path, options,
              [](const FormatSupport& support, const std::vector<Mesh>& leaves) {
                for (const Mesh& leaf : leaves)
                  if (support.write == write_legacy)
                    refuse_legacy_losses(leaf.vtk());
                  else
                    escape_names(leaf.vtk());
              });
}

void write_mesh(const Mesh& mesh, const std::filesystem::path& path, const WriteOptions& options) {
  write_mesh_tree(MeshTree(mesh), path, options);
}

std::string suggested_extension(const MeshTree& tree) {
  if (tree.is_single()) return xml_extension(vtkDataSet::SafeDownCast(tree.vtk()));
  if (tree.vtk()->IsA("vtkPartitionedDataSetCollection")) return ".vtpc";
  return tree.vtk()->IsA("vtkPartitionedDataSet") ? ".vtpd" : ".vtm";
}

}  // namespace funcattn
