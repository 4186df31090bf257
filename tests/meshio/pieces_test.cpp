// However a mesh is cut and ordered, each place weighs the same.
#include <gtest/gtest.h>
#include <vtkCellData.h>
#include <vtkDataSetTriangleFilter.h>
#include <vtkDoubleArray.h>
#include <vtkExtractUnstructuredGridPiece.h>
#include <vtkIdList.h>
#include <vtkImageData.h>
#include <vtkNew.h>
#include <vtkPointData.h>
#include <vtkPoints.h>
#include <vtkUnsignedCharArray.h>
#include <vtkUnstructuredGrid.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <random>

#include "core/random.h"
#include "meshio/quadrature.h"
#include "tests/meshio/mesh_samples.h"

namespace funcattn {
namespace {

using Place = std::array<double, 3>;

/// Tetrahedra over an uneven box: no two points weigh alike by symmetry.
vtkSmartPointer<vtkUnstructuredGrid> whole_mesh() {
  vtkNew<vtkImageData> image;
  image->SetDimensions(7, 6, 5);
  vtkNew<vtkDataSetTriangleFilter> split;
  split->SetInputData(image);
  split->Update();
  auto grid = vtkSmartPointer<vtkUnstructuredGrid>::New();
  grid->ShallowCopy(split->GetOutput());
  vtkNew<vtkPoints> points;
  points->SetDataTypeToDouble();
  for (vtkIdType i = 0; i < grid->GetNumberOfPoints(); ++i) {
    double p[3];
    grid->GetPoint(i, p);
    // Binary fractions, since the filter that cuts the mesh makes single precision of them.
    points->InsertNextPoint(p[0] * p[0], p[1] + p[1] * p[1] / 8, p[2] + p[0] * p[1] / 64);
  }
  grid->SetPoints(points);
  return grid;
}

std::map<Place, double> weights_by_place(const std::vector<vtkSmartPointer<vtkDataSet>>& pieces) {
  std::map<Place, double> sums;
  for (const auto& piece : pieces) {
    const Mesh mesh(piece, "piece");
    const Eigen::VectorXd weights =
        quadrature_weights(mesh, Association::point, {WeightKind::measure, ""});
    for (vtkIdType i = 0; i < piece->GetNumberOfPoints(); ++i) {
      Place place;
      piece->GetPoint(i, place.data());
      sums[place] += weights[i];
    }
  }
  return sums;
}

void expect_same(const std::map<Place, double>& expected, const std::map<Place, double>& found) {
  ASSERT_EQ(expected.size(), found.size());
  for (const auto& [place, weight] : expected) {
    const auto other = found.find(place);
    ASSERT_NE(other, found.end());
    EXPECT_NEAR(other->second / weight, 1, 1e-12) << ::testing::PrintToString(place);
  }
}

std::vector<vtkSmartPointer<vtkDataSet>> pieces_of(vtkUnstructuredGrid* whole, int count,
                                                   int ghost_levels) {
  std::vector<vtkSmartPointer<vtkDataSet>> pieces;
  for (int piece = 0; piece < count; ++piece) {
    vtkNew<vtkExtractUnstructuredGridPiece> extract;
    extract->SetInputData(whole);
    extract->SetCreateGhostCells(ghost_levels > 0);
    extract->UpdatePiece(piece, count, ghost_levels);
    auto grid = vtkSmartPointer<vtkUnstructuredGrid>::New();
    grid->ShallowCopy(extract->GetOutput());
    pieces.emplace_back(grid);
  }
  return pieces;
}

TEST(Pieces, WithoutGhosts) {
  const auto whole = whole_mesh();
  for (const int count : {2, 3, 7})
    expect_same(weights_by_place({whole}), weights_by_place(pieces_of(whole, count, 0)));
}

TEST(Pieces, WithGhostLayersOfPointsAndCells) {
  const auto whole = whole_mesh();
  for (const int count : {2, 5})
    for (const int levels : {1, 2}) {
      const auto pieces = pieces_of(whole, count, levels);
      ASSERT_TRUE(pieces[1]->GetPointGhostArray() != nullptr);
      ASSERT_TRUE(pieces[1]->GetCellGhostArray() != nullptr);
      expect_same(weights_by_place({whole}), weights_by_place(pieces));
      // Points that only cells of the ghost layer use weigh nothing.
      for (const auto& piece : pieces) {
        const Eigen::VectorXd weights =
            quadrature_weights(Mesh(piece, "piece"), Association::point, {});
        std::vector<bool> own(static_cast<std::size_t>(piece->GetNumberOfPoints()));
        vtkNew<vtkIdList> ids;
        for (vtkIdType cell = 0; cell < piece->GetNumberOfCells(); ++cell) {
          if (piece->GetCellGhostArray()->GetValue(cell) != 0) continue;
          piece->GetCellPoints(cell, ids);
          for (const vtkIdType id : *ids) own[static_cast<std::size_t>(id)] = true;
        }
        for (vtkIdType i = 0; i < piece->GetNumberOfPoints(); ++i)
          EXPECT_EQ(weights[i] > 0, own[static_cast<std::size_t>(i)]);
      }
    }
}

TEST(Pieces, WithGhostLayersOfCellsOnly) {
  const auto whole = whole_mesh();
  const auto pieces = pieces_of(whole, 4, 1);
  for (const auto& piece : pieces)
    piece->GetPointData()->RemoveArray(vtkDataSetAttributes::GhostArrayName());
  expect_same(weights_by_place({whole}), weights_by_place(pieces));
}

TEST(Pieces, CellsCountOnce) {
  const auto whole = whole_mesh();
  const auto volume = [](vtkDataSet* data) {
    return quadrature_weights(Mesh(data, "mesh"), Association::cell, {}).sum();
  };
  double sum = 0;
  for (const auto& piece : pieces_of(whole, 5, 2)) sum += volume(piece);
  EXPECT_NEAR(sum / volume(whole), 1, 1e-12);
}

TEST(Pieces, ImagesThatShareAPlane) {
  vtkNew<vtkImageData> whole;
  whole->SetExtent(0, 6, 0, 3, 0, 2);
  std::vector<vtkSmartPointer<vtkDataSet>> halves;
  for (const int half : {0, 1}) {
    vtkNew<vtkImageData> image;
    image->SetExtent(half * 2, 2 + half * 4, 0, 3, 0, 2);
    halves.emplace_back(image.GetPointer());
  }
  expect_same(weights_by_place({whole.GetPointer()}), weights_by_place(halves));

  // The same with a ghost layer of cells: each half knows one plane more, and the second half owns
  // no point of the shared plane.
  std::vector<vtkSmartPointer<vtkDataSet>> layered;
  for (const int half : {0, 1}) {
    vtkNew<vtkImageData> image;
    image->SetExtent(half == 0 ? 0 : 1, half == 0 ? 3 : 6, 0, 3, 0, 2);
    image->AllocatePointGhostArray();
    image->AllocateCellGhostArray();
    for (vtkIdType i = 0; i < image->GetNumberOfPoints(); ++i) {
      const double x = image->GetPoint(i)[0];
      if (half == 0 ? x > 2 : x <= 2)
        image->GetPointGhostArray()->SetValue(i, vtkDataSetAttributes::DUPLICATEPOINT);
    }
    for (vtkIdType i = 0; i < image->GetNumberOfCells(); ++i) {
      double bounds[6];
      image->GetCellBounds(i, bounds);
      if (half == 0 ? bounds[0] >= 2 : bounds[1] <= 2)
        image->GetCellGhostArray()->SetValue(i, vtkDataSetAttributes::DUPLICATECELL);
    }
    layered.emplace_back(image.GetPointer());
  }
  expect_same(weights_by_place({whole.GetPointer()}), weights_by_place(layered));
}

TEST(Pieces, ShuffledPointsAndCells) {
  const auto whole = whole_mesh();
  RandomGenerator random(7);
  const auto shuffled = [&](vtkIdType count) {
    std::vector<vtkIdType> order(static_cast<std::size_t>(count));
    std::iota(order.begin(), order.end(), 0);
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
    return order;
  };
  const auto new_id = shuffled(whole->GetNumberOfPoints());
  vtkNew<vtkUnstructuredGrid> mixed;
  vtkNew<vtkPoints> points;
  points->SetDataTypeToDouble();
  points->SetNumberOfPoints(whole->GetNumberOfPoints());
  for (vtkIdType i = 0; i < whole->GetNumberOfPoints(); ++i)
    points->SetPoint(new_id[static_cast<std::size_t>(i)], whole->GetPoint(i));
  mixed->SetPoints(points);
  vtkNew<vtkIdList> ids;
  for (const vtkIdType cell : shuffled(whole->GetNumberOfCells())) {
    whole->GetCellPoints(cell, ids);
    for (vtkIdType i = 0; i < ids->GetNumberOfIds(); ++i)
      ids->SetId(i, new_id[static_cast<std::size_t>(ids->GetId(i))]);
    mixed->InsertNextCell(whole->GetCellType(cell), ids);
  }
  expect_same(weights_by_place({whole}), weights_by_place({mixed.GetPointer()}));
}

TEST(Pieces, HiddenAndRefinedCellsNeverCount) {
  const auto whole = whole_mesh();
  whole->AllocateCellGhostArray();
  whole->GetCellGhostArray()->SetValue(0, vtkDataSetAttributes::HIDDENCELL);
  whole->GetCellGhostArray()->SetValue(1, vtkDataSetAttributes::REFINEDCELL);
  for (const bool point_flags : {false, true}) {
    if (point_flags) whole->AllocatePointGhostArray();
    const Mesh mesh(whole.GetPointer(), "mesh");
    const Eigen::VectorXd cells = quadrature_weights(mesh, Association::cell, {});
    EXPECT_EQ(cells[0], 0);
    EXPECT_EQ(cells[1], 0);
    EXPECT_NEAR(quadrature_weights(mesh, Association::point, {}).sum() / cells.sum(), 1, 1e-12);
  }
}

}  // namespace
}  // namespace funcattn
