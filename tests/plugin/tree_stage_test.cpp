// The operator is global: how a mesh is cut into blocks or pieces, and the order of its points,
// change no prediction.

#include <vtkCellData.h>
#include <vtkIdList.h>
#include <vtkInformation.h>
#include <vtkInformationStringKey.h>
#include <vtkMultiBlockDataSet.h>
#include <vtkNew.h>
#include <vtkPointData.h>
#include <vtkUnsignedCharArray.h>
#include <vtkUnstructuredGrid.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "core/error.h"
#include "core/random.h"
#include "meshio/quadrature.h"
#include "meshio/subset.h"
#include "operators/operator_file.h"
#include "plugin/stage.h"
#include "tests/plugin/samples.h"
#include "tests/plugin/support.h"

namespace funcattn {
namespace {

using test::error_of;
using test::with_value;
using test::without_array;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

RowMatrix values(const Mesh& mesh, const std::string& name,
                 Association association = Association::point) {
  return mesh.array(name, association).to_double();
}

Mesh with_ids(const Mesh& mesh) {
  RowMatrix ids(mesh.count(Association::point), 1);
  std::iota(ids.data(), ids.data() + ids.size(), 0.0);
  return mesh.with_array({"id", Association::point, 1, ""}, ids);
}

std::set<vtkIdType> points_of(vtkDataSet* data, const std::vector<vtkIdType>& cells) {
  std::set<vtkIdType> points;
  vtkNew<vtkIdList> ids;
  for (const vtkIdType cell : cells) {
    data->GetCellPoints(cell, ids);
    points.insert(ids->begin(), ids->end());
  }
  return points;
}

/// The cells in `cells`, with the points they use.
Mesh extract(const Mesh& mesh, const std::vector<vtkIdType>& cells, const std::string& name) {
  KeepMask kept_cells(static_cast<std::size_t>(mesh.count(Association::cell)), false);
  for (const vtkIdType cell : cells) kept_cells[static_cast<std::size_t>(cell)] = true;
  KeepMask kept_points(static_cast<std::size_t>(mesh.count(Association::point)), false);
  for (const vtkIdType point : points_of(mesh.vtk(), cells))
    kept_points[static_cast<std::size_t>(point)] = true;
  return {keep_points(keep_cells(mesh, kept_cells), kept_points).vtk(), name};
}

MeshTree blocks_of(const std::vector<Mesh>& meshes) {
  vtkNew<vtkMultiBlockDataSet> tree;
  for (std::size_t i = 0; i < meshes.size(); ++i) {
    tree->SetBlock(static_cast<unsigned>(2 * i), meshes[i].vtk());  // Null blocks between them.
    tree->GetMetaData(static_cast<unsigned>(2 * i))
        ->Set(vtkCompositeDataSet::NAME(), meshes[i].origin().c_str());
  }
  return {tree.GetPointer(), "tree.vtm"};
}

void add_ghosts(vtkDataSetAttributes* fields, const std::vector<bool>& duplicate,
                unsigned char flag) {
  vtkNew<vtkUnsignedCharArray> ghosts;
  ghosts->SetName(vtkDataSetAttributes::GhostArrayName());
  for (const bool is_duplicate : duplicate) ghosts->InsertNextValue(is_duplicate ? flag : 0);
  fields->AddArray(ghosts);
}

/// Pieces as parallel writers leave them: each with the cells around its own as ghosts, and every
/// point owned by one piece.
std::vector<Mesh> pieces_with_ghosts(const Mesh& mesh, int count) {
  std::vector<std::vector<vtkIdType>> owned(static_cast<std::size_t>(count));
  const vtkIdType cells = mesh.count(Association::cell);
  for (vtkIdType cell = 0; cell < cells; ++cell)
    owned[static_cast<std::size_t>(cell * count / cells)].push_back(cell);
  std::map<vtkIdType, std::size_t> owner;
  for (std::size_t piece = 0; piece < owned.size(); ++piece)
    for (const vtkIdType point : points_of(mesh.vtk(), owned[piece])) owner.emplace(point, piece);

  std::vector<Mesh> pieces;
  for (std::size_t piece = 0; piece < owned.size(); ++piece) {
    const auto rim = points_of(mesh.vtk(), owned[piece]);
    std::vector<vtkIdType> chosen;
    std::vector<bool> ghost_cells;
    for (vtkIdType cell = 0; cell < cells; ++cell) {
      const auto corners = points_of(mesh.vtk(), {cell});
      if (std::none_of(corners.begin(), corners.end(),
                       [&](vtkIdType point) { return rim.count(point) > 0; }))
        continue;
      chosen.push_back(cell);
      ghost_cells.push_back(std::find(owned[piece].begin(), owned[piece].end(), cell) ==
                            owned[piece].end());
    }
    Mesh part = extract(mesh, chosen, "piece" + std::to_string(piece));
    const RowMatrix ids = values(part, "id");
    std::vector<bool> ghost_points;
    for (Eigen::Index i = 0; i < ids.rows(); ++i)
      ghost_points.push_back(owner.at(static_cast<vtkIdType>(ids(i, 0))) != piece);
    add_ghosts(part.vtk()->GetCellData(), ghost_cells, vtkDataSetAttributes::DUPLICATECELL);
    add_ghosts(part.vtk()->GetPointData(), ghost_points, vtkDataSetAttributes::DUPLICATEPOINT);
    pieces.push_back(part);
  }
  return pieces;
}

class TreeStageTest : public ::testing::Test {
 protected:
  OperatorStage stage_of(const Operator& op) const {
    save_operator(folder_ / "op.safetensors", op);
    return OperatorStage(folder_ / "op.safetensors");
  }

  /// Predictions of the tree's leaves against those of the whole, by the array "id".
  static void expect_same(const MeshTree& tree, const Mesh& whole, double tolerance) {
    const RowMatrix expected = values(whole, "displacement_predicted");
    Eigen::Index compared = 0;
    for (const Mesh& leaf : tree.leaves()) {
      const RowMatrix ids = values(leaf, "id");
      const RowMatrix found = values(leaf, "displacement_predicted");
      for (Eigen::Index i = 0; i < ids.rows(); ++i, ++compared)
        EXPECT_LT((found.row(i) - expected.row(static_cast<Eigen::Index>(ids(i, 0))))
                      .cwiseAbs()
                      .maxCoeff(),
                  tolerance)
            << leaf.origin() << " point " << i;
    }
    EXPECT_GE(compared, expected.rows());
  }

  test::TemporaryFolder folder_;
  Mesh mesh_ = with_ids(test::make_grid(9, 7));
};

TEST_F(TreeStageTest, BlocksAreOneSample) {
  for (const auto dtype : {torch::kFloat32, torch::kFloat64}) {
    const OperatorStage stage = stage_of(test::make_surrogate(Association::point, dtype));
    std::vector<std::vector<vtkIdType>> cells(3);
    for (vtkIdType cell = 0; cell < mesh_.count(Association::cell); ++cell)
      cells[static_cast<std::size_t>((cell / 5) % 3)].push_back(cell);
    const MeshTree tree = blocks_of({extract(mesh_, cells[0], "a"), extract(mesh_, cells[1], "b"),
                                     extract(mesh_, cells[2], "c")});
    const TreeResult result = stage.run(tree);
    expect_same(result.tree, stage.run(mesh_).mesh, dtype == torch::kFloat32 ? 1e-5 : 1e-10);
    EXPECT_EQ(result.tree.block_paths(), tree.block_paths());
    auto* blocks = vtkMultiBlockDataSet::SafeDownCast(result.tree.vtk());
    ASSERT_EQ(blocks->GetNumberOfBlocks(), 5u);
    EXPECT_EQ(blocks->GetBlock(1), nullptr);
    EXPECT_FALSE(tree.leaves()[0].has_array("pressure_predicted", Association::point));
  }
}

TEST_F(TreeStageTest, ErrorsAtQueriesInBlocksAreThoseOfTheWhole) {
  const OperatorStage stage = stage_of(test::make_surrogate());
  const RowMatrix pressure = values(stage.run(mesh_).mesh, "pressure_predicted");
  const RowMatrix truth = pressure + 0.01 * values(mesh_, "id");
  const Mesh query = mesh_.with_array({"p", Association::point, 1, ""}, truth)
                         .with_array({"u", Association::point, 3, ""},
                                     RowMatrix::Ones(mesh_.count(Association::point), 3));
  std::vector<std::vector<vtkIdType>> cells(2);
  for (vtkIdType cell = 0; cell < query.count(Association::cell); ++cell)
    cells[static_cast<std::size_t>((cell / 5) % 2)].push_back(cell);
  StageOptions options;
  options.error_against = {"p", "u"};
  const auto errors = [&](const MeshTree& at) {
    return stage.run(MeshTree(mesh_), at, options).errors;
  };
  const auto whole = errors(MeshTree(query));
  const auto blocks =
      errors(blocks_of({extract(query, cells[0], "a"), extract(query, cells[1], "b")}));
  ASSERT_EQ(blocks.size(), 2u);
  EXPECT_NEAR(whole[0].max_error, 0.01 * static_cast<double>(mesh_.count(Association::point) - 1),
              1e-4);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_NEAR(blocks[i].relative_l2, whole[i].relative_l2, 1e-5);
    EXPECT_NEAR(blocks[i].rmse, whole[i].rmse, 1e-5);
    EXPECT_NEAR(blocks[i].max_error, whole[i].max_error, 1e-4);
  }
}

TEST_F(TreeStageTest, PiecesWithGhostLayersAreOneSample) {
  const OperatorStage stage = stage_of(test::make_surrogate());
  const std::vector<Mesh> pieces = pieces_with_ghosts(mesh_, 3);
  const Eigen::VectorXd weights = quadrature_weights(pieces, Association::point, {});
  EXPECT_NEAR(weights.sum(), quadrature_weights(mesh_, Association::point, {}).sum(), 1e-14);
  EXPECT_GT((weights.array() == 0).count(), 10);
  expect_same(stage.run(blocks_of(pieces)).tree, stage.run(mesh_).mesh, 1e-10);
}

TEST_F(TreeStageTest, TheOrderOfThePointsDoesNotMatter) {
  const OperatorStage stage = stage_of(test::make_surrogate());
  const auto count = mesh_.count(Association::point);
  std::vector<vtkIdType> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  RandomGenerator random(5);
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  vtkNew<vtkUnstructuredGrid> shuffled;
  vtkNew<vtkPoints> points;
  points->SetDataTypeToDouble();
  std::vector<vtkIdType> place(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    points->InsertNextPoint(mesh_.vtk()->GetPoint(order[i]));
    place[static_cast<std::size_t>(order[i])] = static_cast<vtkIdType>(i);
  }
  shuffled->SetPoints(points);
  vtkNew<vtkIdList> corners;
  for (vtkIdType cell = 0; cell < mesh_.count(Association::cell); ++cell) {
    mesh_.vtk()->GetCellPoints(cell, corners);
    for (vtkIdType i = 0; i < corners->GetNumberOfIds(); ++i)
      corners->SetId(i, place[static_cast<std::size_t>(corners->GetId(i))]);
    shuffled->InsertNextCell(VTK_TRIANGLE, corners);
  }
  Mesh other(shuffled.GetPointer(), "shuffled");
  for (const char* name : {"load", "force", "id"}) {
    const RowMatrix given = values(mesh_, name);
    RowMatrix moved(given.rows(), given.cols());
    for (Eigen::Index i = 0; i < given.rows(); ++i)
      moved.row(i) = given.row(order[static_cast<std::size_t>(i)]);
    other = other.with_array({name, Association::point, static_cast<int>(given.cols()), ""}, moved);
  }
  expect_same(MeshTree(stage.run(other).mesh), stage.run(mesh_).mesh, 1e-10);
}

TEST_F(TreeStageTest, CellsOfBlocksAreOneSample) {
  const OperatorStage stage = stage_of(test::make_surrogate(Association::cell));
  std::vector<vtkIdType> first, second;
  for (vtkIdType cell = 0; cell < mesh_.count(Association::cell); ++cell)
    (cell < 40 ? first : second).push_back(cell);
  const TreeResult result =
      stage.run(blocks_of({extract(mesh_, first, "a"), extract(mesh_, second, "b")}));
  const RowMatrix expected = values(stage.run(mesh_).mesh, "pressure_predicted", Association::cell);
  EXPECT_LT((values(result.tree.leaves()[0], "pressure_predicted", Association::cell) -
             expected.topRows(40))
                .cwiseAbs()
                .maxCoeff(),
            1e-10);
}

TEST_F(TreeStageTest, SurfacesBesideSolidsOnlyGetValues) {
  // The highest dimension in the whole tree is what weighs.
  const Mesh line = make_polyline((RowMatrix(3, 3) << 0, 0, 0, 1, 0, 0, 1, 1, 0).finished(), "rim")
                        .with_array({"load", Association::point, 1, ""}, RowMatrix::Ones(3, 1))
                        .with_array({"force", Association::point, 3, ""}, RowMatrix::Ones(3, 3));
  const OperatorStage stage = stage_of(test::make_surrogate());
  const TreeResult result = stage.run(blocks_of({line, mesh_}));
  EXPECT_LT((values(result.tree.leaves()[1], "pressure_predicted") -
             values(stage.run(mesh_).mesh, "pressure_predicted"))
                .cwiseAbs()
                .maxCoeff(),
            1e-10);
  EXPECT_TRUE(values(result.tree.leaves()[0], "pressure_predicted").allFinite());
}

TEST_F(TreeStageTest, PerBlockIsEachBlockAlone) {
  const OperatorStage stage = stage_of(test::make_surrogate());
  const Mesh small = test::make_grid(4, 4);
  StageOptions options;
  options.per_block = true;
  const TreeResult result = stage.run(blocks_of({mesh_, small}), options);
  EXPECT_EQ(values(result.tree.leaves()[1], "pressure_predicted"),
            values(stage.run(small).mesh, "pressure_predicted"));
  const TreeResult together = stage.run(blocks_of({mesh_, small}));
  EXPECT_GT((values(together.tree.leaves()[1], "pressure_predicted") -
             values(result.tree.leaves()[1], "pressure_predicted"))
                .cwiseAbs()
                .maxCoeff(),
            1e-6);
}

TEST_F(TreeStageTest, ErrorsNameTheBlock) {
  const OperatorStage stage = stage_of(test::make_surrogate());
  const Mesh lacking = without_array(mesh_, "load", Association::point);
  std::string message = error_of<DataError>([&] {
    (void)stage.run(blocks_of({mesh_, Mesh(lacking.vtk(), "b")}));
  });
  EXPECT_EQ(message.rfind("tree.vtm: block 'b': there is no point array 'load'", 0), 0u) << message;
  const Mesh damaged = with_value(mesh_, "load", Association::point, 4, nan);
  message = error_of<DataError>([&] {
    (void)stage.run(blocks_of({mesh_, Mesh(damaged.vtk(), "c")}));
  });
  EXPECT_EQ(message.rfind("tree.vtm: block 'c': point array 'load' holds NaN or Inf at 1 of 63", 0),
            0u)
      << message;
}

TEST_F(TreeStageTest, EmptyBlocksGetEmptyArrays) {
  const OperatorStage stage = stage_of(test::make_surrogate());
  const Mesh nothing = make_point_cloud(RowMatrix(0, 3), "nothing");
  const TreeResult result = stage.run(blocks_of({nothing, mesh_}));
  EXPECT_EQ(values(result.tree.leaves()[0], "displacement_predicted").rows(), 0);
  EXPECT_EQ(values(result.tree.leaves()[1], "pressure_predicted"),
            values(stage.run(mesh_).mesh, "pressure_predicted"));
  const TreeResult all_empty = stage.run(blocks_of({nothing}));
  EXPECT_EQ(all_empty.warnings,
            (std::vector<std::string>{"tree.vtm has no points: the predicted arrays are empty"}));
}

}  // namespace
}  // namespace funcattn
