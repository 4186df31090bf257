#include "tests/plugin/partitions.h"

#include <vtkCellData.h>
#include <vtkIdList.h>
#include <vtkNew.h>
#include <vtkPartitionedDataSet.h>
#include <vtkPointData.h>
#include <vtkUnsignedCharArray.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "meshio/subset.h"

namespace funcattn::test {

namespace {

std::vector<std::vector<std::size_t>> corners_of(vtkDataSet* data) {
  std::vector<std::vector<std::size_t>> corners;
  vtkNew<vtkIdList> ids;
  for (vtkIdType cell = 0; cell < data->GetNumberOfCells(); ++cell) {
    data->GetCellPoints(cell, ids);
    corners.emplace_back(ids->begin(), ids->end());
  }
  return corners;
}

void add_flags(vtkDataSetAttributes* fields, const std::vector<unsigned char>& flags) {
  vtkNew<vtkUnsignedCharArray> ghosts;
  ghosts->SetName(vtkDataSetAttributes::GhostArrayName());
  for (const unsigned char flag : flags) ghosts->InsertNextValue(flag);
  fields->AddArray(ghosts);
}

}  // namespace

Cut cut_in_turn(const Mesh& mesh, std::size_t pieces) {
  const auto cells = static_cast<std::size_t>(mesh.count(Association::cell));
  Cut cut{pieces, {}};
  for (std::size_t cell = 0; cell < cells; ++cell) cut.owners.push_back(cell * pieces / cells);
  return cut;
}

Cut cut_at_random(const Mesh& mesh, std::size_t pieces) {
  std::mt19937 random(5);
  Cut cut{pieces,
          std::vector<std::size_t>(static_cast<std::size_t>(mesh.count(Association::cell)))};
  for (std::size_t& owner : cut.owners) owner = random() % pieces;
  return cut;
}

Mesh with_ids(const Mesh& mesh) {
  RowMatrix ids(mesh.count(Association::point), 1);
  std::iota(ids.data(), ids.data() + ids.size(), 0.0);
  return mesh.with_array({"id", Association::point, 1, ""}, ids);
}

std::vector<Mesh> pieces_of(const Mesh& mesh, const Cut& cut, int ghost_layers) {
  const auto corners = corners_of(mesh.vtk());
  const auto points = static_cast<std::size_t>(mesh.count(Association::point));
  std::vector<std::size_t> point_owner(points, cut.pieces);
  for (std::size_t cell = 0; cell < corners.size(); ++cell)
    for (const std::size_t point : corners[cell])
      point_owner[point] = std::min(point_owner[point], cut.owners[cell]);

  std::vector<Mesh> pieces;
  for (std::size_t piece = 0; piece < cut.pieces; ++piece) {
    KeepMask kept_cells(corners.size(), false);
    KeepMask kept_points(points, false);
    for (int layer = 0; layer <= ghost_layers; ++layer) {
      const KeepMask rim = kept_points;
      for (std::size_t cell = 0; cell < corners.size(); ++cell) {
        if (layer == 0 ? cut.owners[cell] != piece
                       : std::none_of(corners[cell].begin(), corners[cell].end(),
                                      [&](std::size_t point) { return rim[point]; }))
          continue;
        kept_cells[cell] = true;
        for (const std::size_t point : corners[cell]) kept_points[point] = true;
      }
    }
    const Mesh part = keep_points(keep_cells(mesh, kept_cells), kept_points);
    if (ghost_layers > 0) {
      std::vector<unsigned char> cell_flags;
      for (std::size_t cell = 0; cell < corners.size(); ++cell)
        if (kept_cells[cell])
          cell_flags.push_back(cut.owners[cell] == piece ? 0 : vtkDataSetAttributes::DUPLICATECELL);
      std::vector<unsigned char> point_flags;
      for (std::size_t point = 0; point < points; ++point)
        if (kept_points[point])
          point_flags.push_back(point_owner[point] == piece ? 0
                                                            : vtkDataSetAttributes::DUPLICATEPOINT);
      add_flags(part.vtk()->GetCellData(), cell_flags);
      add_flags(part.vtk()->GetPointData(), point_flags);
    }
    pieces.emplace_back(part.vtk(), "piece " + std::to_string(piece));
  }
  return pieces;
}

MeshTree tree_of(const std::vector<Mesh>& pieces, std::size_t begin, std::size_t end,
                 const std::string& origin) {
  vtkNew<vtkPartitionedDataSet> tree;
  for (std::size_t i = begin; i < end; ++i)
    tree->SetPartition(static_cast<unsigned>(i - begin), pieces[i].vtk());
  return {tree.GetPointer(), origin};
}

}  // namespace funcattn::test
