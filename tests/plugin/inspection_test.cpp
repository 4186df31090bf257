#include <vtkDataSet.h>
#include <vtkFieldData.h>
#include <vtkFloatArray.h>
#include <vtkMultiBlockDataSet.h>
#include <vtkNew.h>
#include <vtkPointData.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/memory_error.h"
#include "operators/inspection.h"
#include "operators/operator_file.h"
#include "plugin/binding.h"
#include "plugin/stage.h"
#include "tests/plugin/samples.h"
#include "tests/plugin/support.h"

namespace funcattn {
namespace {

using test::error_of;
using test::with_value;

class StageInspectionTest : public ::testing::Test {
 protected:
  std::filesystem::path save(const Operator& op) const {
    save_operator(folder_ / "op.safetensors", op);
    return folder_ / "op.safetensors";
  }
  static StageOptions everything() {
    StageOptions options;
    options.add_basis = options.add_transport = options.report_heads = true;
    return options;
  }

  test::TemporaryFolder folder_;
};

RowMatrix values(const Mesh& mesh, const std::string& name,
                 Association association = Association::point) {
  return mesh.array(name, association).to_double();
}

/// What the operator shows of the mesh, without the stage.
std::vector<BlockInspection> inspect_directly(const Operator& op, const Mesh& mesh) {
  const Sample sample =
      bind_sample(mesh, op.contract(), weight_choice_from_string(op.contract().weights), false);
  const auto normalised = [&](const PointSamples& samples) {
    return op.normalise({samples.coordinates.unsqueeze(0),
                         samples.values.defined() ? samples.values.unsqueeze(0) : Tensor(),
                         samples.weights.unsqueeze(0)});
  };
  const PointSamples source = normalised(sample.source);
  InspectionOptions options;
  options.keep_basis = true;
  std::vector<BlockInspection> blocks;
  (void)inspect(op.model(), source, sample.query_is_source ? source : normalised(sample.query),
                options, [&](const BlockInspection& block) { blocks.push_back(block); });
  return blocks;
}

TEST_F(StageInspectionTest, AddsTheBasisOfEveryBlockAndHead) {
  for (const auto dtype : {torch::kFloat32, torch::kFloat64})
    for (const auto association : {Association::point, Association::cell}) {
      const Operator op = test::make_surrogate(association, dtype);
      const Mesh mesh = test::make_grid(6, 5);
      const StageResult result = OperatorStage(save(op)).run(mesh, everything());
      const auto blocks = inspect_directly(op, mesh);
      ASSERT_EQ(blocks.size(), 2u);
      for (const BlockInspection& block : blocks)
        for (int head = 0; head < 2; ++head) {
          const std::string name =
              "basis_block" + std::to_string(block.block) + "_head" + std::to_string(head + 1);
          EXPECT_EQ(values(result.mesh, name, association), to_matrix(block.source_basis[head]))
              << name;
          EXPECT_EQ(result.mesh.component_names(name, association)[4], "function 5");
          const bool single =
              vtkFloatArray::SafeDownCast(result.mesh.vtk()
                                              ->GetAttributes(static_cast<int>(association))
                                              ->GetArray(name.c_str()));
          EXPECT_EQ(single, dtype == torch::kFloat32) << "the type of the operator";
        }
    }
}

TEST_F(StageInspectionTest, SeparateBasesAreBothAdded) {
  const Operator shared = test::make_surrogate();
  ModelConfig config = shared.model().config();
  config.bases = Bases::separate_slices;
  const Operator op(make_model(config, torch::kFloat64, 7), shared.contract());
  const Mesh mesh = test::make_grid(6, 5);
  const StageResult result = OperatorStage(save(op)).run(mesh, everything());
  const auto blocks = inspect_directly(op, mesh);
  EXPECT_EQ(values(result.mesh, "basis_source_block1_head2"), to_matrix(blocks[0].source_basis[1]));
  EXPECT_EQ(values(result.mesh, "basis_query_block1_head2"), to_matrix(blocks[0].query_basis[1]));
  EXPECT_NE(to_matrix(blocks[0].source_basis[1]), to_matrix(blocks[0].query_basis[1]));
}

TEST_F(StageInspectionTest, AddsMatricesAndFiguresAsFieldData) {
  const Operator op = test::make_surrogate();
  const Mesh mesh = test::make_grid(6, 5);
  const StageResult result = OperatorStage(save(op)).run(mesh, everything());
  const auto blocks = inspect_directly(op, mesh);
  for (const BlockInspection& block : blocks) {
    const std::string suffix = "_block" + std::to_string(block.block);
    for (std::size_t h = 0; h < 2; ++h) {
      const HeadInspection& head = block.heads[h];
      const RowMatrix transport =
          result.mesh.field("transport" + suffix + "_head" + std::to_string(h + 1)).to_double();
      EXPECT_EQ(transport, to_matrix(block.transport[static_cast<std::int64_t>(h)]));
      const auto column = static_cast<Eigen::Index>(h);
      const auto field = [&](const std::string& name) -> Eigen::VectorXd {
        return result.mesh.field(name + suffix).to_double().col(column);
      };
      EXPECT_EQ(field("singular_values"),
                Eigen::Map<const Eigen::VectorXd>(head.singular_values.data(), 5));
      EXPECT_EQ(field("coverage"),
                Eigen::Map<const Eigen::VectorXd>(head.basis.coverage.data(), 5));
      EXPECT_EQ(field("condition_number")[0], head.condition_number);
      EXPECT_EQ(field("entropy")[0], head.basis.entropy);
    }
  }
  ASSERT_EQ(result.inspections.size(), 1u);
  EXPECT_EQ(result.inspections[0].sample, "grid.vtu");
  ASSERT_EQ(result.inspections[0].heads.size(), 4u);
  EXPECT_EQ(result.inspections[0].heads[3].transport, blocks[1].heads[1].transport);
  EXPECT_TRUE(mesh.field_names().empty()) << "the input is left alone";
}

TEST_F(StageInspectionTest, ChangesNoBitOfThePrediction) {
  const OperatorStage stage(save(test::make_surrogate()));
  const Mesh mesh = test::make_grid(6, 5);
  const Mesh plain = stage.run(mesh).mesh;
  const Mesh inspected = stage.run(mesh, everything()).mesh;
  for (const char* name : {"pressure_predicted", "displacement_predicted"})
    EXPECT_EQ(values(plain, name), values(inspected, name));
  EXPECT_EQ(inspected.arrays().size(), plain.arrays().size() + 4);
  EXPECT_TRUE(plain.field_names().empty());
}

/// The surrogate with softmax over the points in its blocks.
Operator make_attending() {
  const Operator op = test::make_surrogate();
  ModelConfig config = op.model().config();
  config.attention = Attention::softmax;
  return {make_model(config, torch::kFloat64, 7), op.contract()};
}

TEST_F(StageInspectionTest, AttentionBetweenPointsIsAnArrayOfWhatTheyReceive) {
  const Operator op = make_attending();
  const OperatorStage stage(save(op));
  const Mesh mesh = test::make_grid(6, 5);
  const StageResult result = stage.run(mesh, everything());
  const auto blocks = inspect_directly(op, mesh);
  ASSERT_EQ(blocks.size(), 2u);
  EXPECT_EQ(values(result.mesh, "attention_block2"),
            to_matrix(blocks[1].received.t().contiguous()));
  EXPECT_EQ(result.mesh.component_names("attention_block2", Association::point),
            (std::vector<std::string>{"head 1", "head 2"}));
  EXPECT_EQ(result.mesh.field("entropy_block1").to_double()(0, 1),
            blocks[0].heads[1].points->entropy);
  EXPECT_EQ(result.mesh.field_names(),
            (std::vector<std::string>{"entropy_block1", "entropy_block2"}));
  ASSERT_EQ(result.inspections.size(), 1u);
  EXPECT_EQ(result.inspections[0].heads[3].points->domain, blocks[1].heads[1].points->domain);
  EXPECT_EQ(values(result.mesh, "pressure_predicted"),
            values(stage.run(mesh).mesh, "pressure_predicted"));
  StageOptions renamed = everything();
  renamed.suffix = "_again";
  EXPECT_EQ(error_of<DataError>([&] { (void)stage.run(result.mesh, renamed); }),
            "grid.vtu: the point array 'attention_block1', which would receive what is seen inside "
            "the operator, exists already; remove it or allow overwriting");
}

TEST_F(StageInspectionTest, OnlyWhatIsAskedForIsAdded) {
  const OperatorStage stage(save(test::make_surrogate()));
  const Mesh mesh = test::make_grid(6, 5);
  StageOptions options;
  options.add_transport = true;
  options.inspection.blocks = {2};
  const StageResult result = stage.run(mesh, options);
  EXPECT_EQ(result.mesh.arrays().size(), mesh.arrays().size() + 2);
  EXPECT_EQ(result.mesh.field_names(),
            (std::vector<std::string>{"transport_block2_head1", "transport_block2_head2",
                                      "singular_values_block2", "condition_number_block2"}));
  EXPECT_TRUE(result.inspections.empty());
  options.inspection.blocks = {3};
  EXPECT_EQ(error_of<UsageError>([&] { (void)stage.run(mesh, options); }),
            "there is no block 3 to look into; the operator has 1 to 2");
}

TEST_F(StageInspectionTest, MaskedPointsGetNaNAndDroppedOnesGo) {
  const OperatorStage stage(save(test::make_surrogate()));
  const Mesh mesh = with_value(test::make_grid(6, 5), "load", Association::point, 8, NAN);
  StageOptions options = everything();
  options.nan = NanPolicy::mask;
  const Mesh masked = stage.run(mesh, options).mesh;
  const RowMatrix basis = values(masked, "basis_block1_head1");
  for (Eigen::Index row = 0; row < 30; ++row)
    if (row == 8) {
      EXPECT_TRUE(basis.row(row).array().isNaN().all());
    } else {
      EXPECT_NEAR(basis.row(row).sum(), 1, 1e-12);
    }
  options.nan = NanPolicy::drop;
  const Mesh dropped = stage.run(mesh, options).mesh;
  EXPECT_EQ(values(dropped, "basis_block1_head1").rows(), 29);
  EXPECT_TRUE(values(dropped, "basis_block1_head1").allFinite());
}

TEST_F(StageInspectionTest, LeavesOfATreeShareOneSample) {
  const Operator op = test::make_surrogate();
  const OperatorStage stage(save(op));
  vtkNew<vtkMultiBlockDataSet> blocks;
  blocks->SetBlock(0, test::make_grid(6, 5).vtk());
  blocks->SetBlock(2, test::make_grid(4, 3).vtk());
  const MeshTree tree(blocks.GetPointer(), "two");
  const TreeResult joined = stage.run(tree, everything());
  ASSERT_EQ(joined.inspections.size(), 1u);
  EXPECT_EQ(joined.inspections[0].sample, "two");
  const auto& leaves = joined.tree.leaves();
  EXPECT_EQ(values(leaves[0], "basis_block2_head2").rows(), 30);
  EXPECT_EQ(values(leaves[1], "basis_block2_head2").rows(), 12);
  EXPECT_EQ(leaves[0].field_names().size(), 12u) << "the first leaf holds the matrices";
  EXPECT_TRUE(leaves[1].field_names().empty());

  StageOptions apart = everything();
  apart.per_block = true;
  const TreeResult alone = stage.run(tree, apart);
  ASSERT_EQ(alone.inspections.size(), 2u);
  EXPECT_EQ(alone.tree.leaves()[1].field_names().size(), 12u);
  const auto direct = inspect_directly(op, test::make_grid(4, 3));
  EXPECT_EQ(alone.inspections[1].heads[0].transport, direct[0].heads[0].transport);
}

TEST_F(StageInspectionTest, GroupsOfFewShotStandAtTheSourcePoints) {
  const Operator op = test::make_regression();
  const Mesh mesh = test::make_scattered_line(9, 4);
  const Mesh result = OperatorStage(save(op)).run(mesh, everything()).mesh;
  const RowMatrix groups = values(result, "basis_source_block1_head1");
  const BlockInspection direct = inspect_directly(op, mesh).at(0);
  const RowMatrix expected = to_matrix(direct.source_basis[0]);
  ASSERT_EQ(expected.rows(), 3);
  for (Eigen::Index row = 0; row < 9; ++row)
    if (row % 4 == 0) {
      EXPECT_EQ(groups.row(row), expected.row(row / 4));
    } else {
      EXPECT_TRUE(groups.row(row).array().isNaN().all()) << "row " << row << " is no source";
    }
  // The prediction is the sum of the responses times the values of the groups.
  const RowMatrix response = values(result, "response_block1_head1");
  const RowMatrix group_values = to_matrix(direct.coefficients[0]);
  const RowMatrix prediction = values(result, "y_predicted");
  EXPECT_LE((response * group_values - prediction).cwiseAbs().maxCoeff(),
            1e-12 * prediction.cwiseAbs().maxCoeff());
}

TEST_F(StageInspectionTest, QueriesShowTheSameFunctionsAsTheirSource) {
  const OperatorStage stage(save(test::make_surrogate()));
  const Mesh mesh = test::make_grid(6, 5);
  const TreeResult at_itself = stage.run(MeshTree(mesh), MeshTree(mesh), everything());
  const Mesh plain = stage.run(mesh, everything()).mesh;
  const Mesh queried = at_itself.tree.leaves().front();
  const RowMatrix difference =
      values(queried, "basis_block2_head1") - values(plain, "basis_block2_head1");
  EXPECT_LE(difference.cwiseAbs().maxCoeff(), 1e-12);
}

TEST_F(StageInspectionTest, TellsItsProgressAndCanBeCancelled) {
  const OperatorStage stage(save(test::make_surrogate()));
  std::vector<double> told;
  StageOptions options = everything();
  options.progress = [&](double fraction) {
    told.push_back(fraction);
    return true;
  };
  (void)stage.run(test::make_grid(6, 5), options);
  EXPECT_TRUE(std::is_sorted(told.begin(), told.end()));
  EXPECT_EQ(told.back(), 1);
  EXPECT_EQ(std::count_if(told.begin(), told.end(),
                          [](double fraction) { return fraction > 0.5 && fraction < 1; }),
            2)
      << "one for each block";
  options.progress = [](double fraction) { return fraction < 0.6; };
  (void)error_of<Cancelled>([&] { (void)stage.run(test::make_grid(6, 5), options); });
}

TEST_F(StageInspectionTest, RefusesNamesThatAreTaken) {
  const OperatorStage stage(save(test::make_surrogate()));
  StageOptions options = everything();
  const Mesh once = stage.run(test::make_grid(4, 3), options).mesh;
  options.suffix = "_again";
  EXPECT_EQ(error_of<DataError>([&] { (void)stage.run(once, options); }),
            "grid.vtu: the point array 'basis_block1_head1', which would receive what is seen "
            "inside the operator, exists already; remove it or allow overwriting");
  options.add_basis = false;
  EXPECT_EQ(error_of<DataError>([&] { (void)stage.run(once, options); }),
            "grid.vtu: the field array 'transport_block1_head1', which would receive what is seen "
            "inside the operator, exists already; remove it or allow overwriting");
  options.overwrite = options.add_basis = true;
  const Mesh again = stage.run(once, options).mesh;
  EXPECT_EQ(again.field_names().size(), once.field_names().size());
  EXPECT_EQ(values(again, "basis_block1_head1"), values(once, "basis_block1_head1"));
}

TEST_F(StageInspectionTest, RefusesWhatWouldNotFit) {
  const OperatorStage stage(save(test::make_surrogate()));
  StageOptions options = everything();
  options.inspection.memory_limit = 4096;
  const std::string text =
      error_of<MemoryError>([&] { (void)stage.run(test::make_grid(6, 5), options); });
  EXPECT_EQ(text.find("grid.vtu: looking into the operator at 30 points takes about"), 0u) << text;
}

}  // namespace
}  // namespace funcattn
