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

/// Where names of results are not to be found, VTK takes what its memory happens to hold.
void check_result_names(const NetcdfHeader& header) {
  constexpr int text = 2;
  const std::string begin = "num_";
  const std::string end = "_var";
  for (const auto& [name, count] : header.dimensions) {
    if (count == 0 || name.size() <= begin.size() + end.size() || name.rfind(begin, 0) != 0 ||
        name.compare(name.size() - end.size(), end.size(), end) != 0)
      continue;
    const std::string names = "name_" + name.substr(begin.size());
    const auto found = header.variables.find(names);
    if (found == header.variables.end() || found->second.type != text ||
        found->second.shape.size() != 2 || found->second.shape[0] != count)
      throw DataError("it has no text '" + names + "' with the " + std::to_string(count) +
                      " names that '" + name + "' declares; the file is damaged");
  }
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
  check_result_names(header);
  for (const char* axis : {"coordx", "coordy", "coordz"}) require_shape(header, axis, {nodes});
  require_shape(header, "coord", {dimensions, nodes});
  if (blocks > static_cast<std::int64_t>(header.variables.size()))
    throw DataError("it declares " + std::to_string(blocks) +
                    " blocks of elements, more than it holds; the file is damaged");
  for (std::int64_t block = 1; block <= blocks; ++block)
    check_block(file, header, std::to_string(block), nodes);
}

}  // namespace funcattn
