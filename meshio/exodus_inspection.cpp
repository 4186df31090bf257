#include "core/error.h"
#include "meshio/inspection.h"
#include "meshio/netcdf_header.h"
#include "meshio/signature.h"

namespace funcattn {

namespace {

std::int64_t dimension(const NetcdfHeader& header, const std::string& name) {
  const auto found = header.dimensions.find(name);
  return found == header.dimensions.end() ? 0 : found->second;
}

void require_shape(const NetcdfHeader& header, const std::string& name,
                   const std::vector<std::int64_t>& expected) {
  const auto found = header.variables.find(name);
  if (found == header.variables.end()) return;
  if (found->second.shape == expected) return;
  throw DataError("its variable '" + name +
                  "' has another shape than its dimensions say; the "
                  "file is damaged");
}

/// VTK follows the numbers of nodes without looking whether they exist.
void check_block(const FileBytes& file, const NetcdfHeader& header, const std::string& block,
                 std::int64_t nodes) {
  const std::string name = "connect" + block;
  if (!header.variables.count(name)) return;
  const std::int64_t elements = dimension(header, "num_el_in_blk" + block);
  const std::int64_t corners = dimension(header, "num_nod_per_el" + block);
  if (corners > 0) require_shape(header, name, {elements, corners});
  const auto ids = header.integers(file, name);
  for (std::size_t i = 0; i < ids.size(); ++i)
    if (ids[i] < 1 || ids[i] > nodes)
      throw DataError("entry " + std::to_string(i) + " of '" + name + "' uses node " +
                      std::to_string(ids[i]) + ", but the mesh has " + std::to_string(nodes) +
                      " nodes");
}

}  // namespace

void inspect_exodus(const FileBytes& file) {
  if (signature_of(file) != "netcdf")
    throw DataError(
        "it is no classic netCDF file; of Exodus files those that store netCDF-4 "
        "cannot be checked for damage and are not read: convert with 'nccopy -k 2'");
  const NetcdfHeader header(file);
  const std::int64_t nodes = dimension(header, "num_nodes");
  const std::int64_t blocks = dimension(header, "num_el_blk");
  if (!header.dimensions.count("num_dim") || !header.dimensions.count("num_nodes"))
    throw DataError("it has no dimensions num_dim and num_nodes; it is no Exodus file");
  const std::int64_t dimensions = dimension(header, "num_dim");
  if (dimensions < 1 || dimensions > 3)
    throw DataError("it has " + std::to_string(dimensions) + " dimensions, expected 1 to 3");
  for (const char* axis : {"coordx", "coordy", "coordz"}) require_shape(header, axis, {nodes});
  require_shape(header, "coord", {dimensions, nodes});
  if (blocks > static_cast<std::int64_t>(header.variables.size()))
    throw DataError("it declares " + std::to_string(blocks) +
                    " blocks of elements, more than it holds; the file is damaged");
  for (std::int64_t block = 1; block <= blocks; ++block)
    check_block(file, header, std::to_string(block), nodes);
}

}  // namespace funcattn
