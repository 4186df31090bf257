// Outputs that are classes, as the stage hands them back.

#include <vtkIntArray.h>
#include <vtkPointData.h>

#include <cmath>
#include <limits>
#include <set>

#include "core/error.h"
#include "meshio/association_conversion.h"
#include "meshio/class_array.h"
#include "meshio/reader.h"
#include "meshio/writer.h"
#include "operators/operator_file.h"
#include "plugin/stage.h"
#include "tests/plugin/partitions.h"
#include "tests/plugin/samples.h"
#include "tests/plugin/support.h"
#include "tests/support/folder_test.h"
#include "tests/support/thread_group.h"

namespace funcattn {
namespace {

using test::error_of;
using test::with_value;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
const std::vector<int> classes = {1, 4, 9};

/// The deep surrogate, the three components of whose displacement are taken for logits.
Operator make_classifier() {
  const Operator op = test::make_deep(torch::kFloat64);
  Contract contract = op.contract();
  contract.outputs[1] = {{"label", Association::point, 1, ""}, classes, 7};
  return {op.shared_model(), contract};
}

class ClassPredictionTest : public test::FolderTest {
 protected:
  OperatorStage stage_of(const Operator& op) const {
    save_operator(folder_ / "op.safetensors", op);
    return OperatorStage(folder_ / "op.safetensors");
  }

  RowMatrix logits() const {
    return stage_of(test::make_deep(torch::kFloat64))
        .run(grid_)
        .mesh.array("displacement_predicted", Association::point)
        .to_double();
  }

  const Mesh grid_ = test::make_grid(5, 6);
};

RowMatrix values(const Mesh& mesh, const std::string& name,
                 Association association = Association::point) {
  return mesh.array(name, association).to_double();
}

int class_of(const RowMatrix& scores, Eigen::Index row) {
  Eigen::Index column = 0;
  scores.row(row).maxCoeff(&column);
  return classes[static_cast<std::size_t>(column)];
}

TEST_F(ClassPredictionTest, IsTheClassOfTheLargestLogitWithItsShares) {
  const RowMatrix scores = logits();
  StageOptions options;
  options.probabilities = true;
  const StageResult result = stage_of(make_classifier()).run(grid_, options);
  EXPECT_EQ(result.arrays, (std::vector<std::string>{"pressure_predicted", "label_predicted",
                                                     "label_predicted_probability"}));
  auto* array = result.mesh.vtk()->GetPointData()->GetArray("label_predicted");
  ASSERT_TRUE(vtkIntArray::SafeDownCast(array)) << array->GetClassName();
  EXPECT_EQ(array->GetNumberOfComponents(), 1);
  const RowMatrix shares = values(result.mesh, "label_predicted_probability");
  ASSERT_EQ(shares.cols(), 3);
  std::set<double> found;
  for (Eigen::Index row = 0; row < scores.rows(); ++row) {
    EXPECT_EQ(array->GetComponent(row, 0), class_of(scores, row)) << row;
    found.insert(array->GetComponent(row, 0));
    const Eigen::Array3d powers = scores.row(row).array().exp().transpose();
    for (int i = 0; i < 3; ++i) EXPECT_NEAR(shares(row, i), powers[i] / powers.sum(), 1e-12);
  }
  EXPECT_GE(found.size(), 2u);
  EXPECT_EQ(result.mesh.component_names("label_predicted_probability", Association::point),
            (std::vector<std::string>{"1", "4", "9"}));
  EXPECT_FALSE(stage_of(make_classifier())
                   .run(grid_)
                   .mesh.has_array("label_predicted_probability", Association::point));
}

TEST_F(ClassPredictionTest, IsReadBackFromAFileAsItIs) {
  const Mesh result = stage_of(make_classifier()).run(grid_).mesh;
  write_mesh(result, folder_ / "result.vtu");
  const Mesh read = read_mesh(folder_ / "result.vtu");
  EXPECT_EQ(read.array("label_predicted", Association::point).type(), ScalarType::int32);
  EXPECT_EQ(values(read, "label_predicted"), values(result, "label_predicted"));
}

TEST_F(ClassPredictionTest, MaskedPointsHaveNoClass) {
  StageOptions options;
  options.nan = NanPolicy::mask;
  options.probabilities = true;
  const StageResult result =
      stage_of(make_classifier())
          .run(with_value(grid_, "load", Association::point, 3, nan), options);
  EXPECT_EQ(result.unusable, 1);
  const RowMatrix labels = values(result.mesh, "label_predicted");
  EXPECT_EQ(labels(3, 0), no_class);
  EXPECT_EQ((labels.array() == no_class).count(), 1);
  EXPECT_TRUE(values(result.mesh, "label_predicted_probability").row(3).array().isNaN().all());
}

TEST_F(ClassPredictionTest, OfCellsIsTheLargestOfTheAveragedShares) {
  StageOptions options;
  options.convert_association = true;
  options.probabilities = true;
  const StageResult result = stage_of(make_classifier()).run(grid_, options);
  const RowMatrix shares =
      values(convert_arrays(result.mesh, {"label_predicted_probability"}, Association::cell),
             "label_predicted_probability", Association::cell);
  EXPECT_EQ(values(result.mesh, "label_predicted_probability", Association::cell), shares);
  const RowMatrix labels = values(result.mesh, "label_predicted", Association::cell);
  for (Eigen::Index row = 0; row < shares.rows(); ++row)
    EXPECT_EQ(labels(row, 0), class_of(shares, row)) << row;

  options.probabilities = false;
  const Mesh plain = stage_of(make_classifier()).run(grid_, options).mesh;
  EXPECT_EQ(values(plain, "label_predicted", Association::cell), labels);
  for (const Association association : {Association::point, Association::cell})
    EXPECT_FALSE(plain.has_array("label_predicted_probability", association));
}

TEST_F(ClassPredictionTest, ErrorIsTheAccuracyOverPointsOfKnownClass) {
  const OperatorStage stage = stage_of(make_classifier());
  const Mesh predicted = stage.run(grid_).mesh;
  Eigen::VectorXi truth = values(predicted, "label_predicted").col(0).cast<int>();
  truth[2] = truth[2] == 1 ? 4 : 1;
  truth[5] = 12;  // A class that the operator does not have.
  truth[7] = 7;   // Ignored.
  const Mesh mesh = with_class_array(grid_, "label", Association::point, truth);
  StageOptions options;
  options.outputs = {"label"};
  options.error_against = {"label"};
  const StageResult result = stage.run(mesh, options);
  ASSERT_EQ(result.errors.size(), 1u);
  EXPECT_EQ(result.errors[0].array, "label_predicted");
  EXPECT_EQ(result.errors[0].accuracy, 27.0 / 29.0);
  EXPECT_TRUE(std::isnan(result.errors[0].relative_l2));
  EXPECT_FALSE(result.mesh.has_array("pressure_predicted", Association::point));

  const Mesh halves =
      grid_.with_array({"label", Association::point, 1, ""}, RowMatrix::Constant(30, 1, 0.5));
  EXPECT_NE(error_of<DataError>([&] {
              (void)stage.run(halves, options);
            }).find("'label' holds 0.5 at index 0, which is no class"),
            std::string::npos);
  truth.setConstant(7);
  const Mesh unknown = with_class_array(grid_, "label", Association::point, truth);
  EXPECT_NE(error_of<DataError>([&] {
              (void)stage.run(unknown, options);
            }).find("'label' has no point of positive weight whose class is known"),
            std::string::npos);
  options.convert_association = true;
  const Mesh of_cells =
      with_class_array(grid_, "label", Association::cell, Eigen::VectorXi::Ones(40));
  EXPECT_NE(error_of<DataError>([&] {
              (void)stage.run(of_cells, options);
            }).find("'label' exists only as a cell array"),
            std::string::npos)
      << "a mean of classes is none";
}

TEST_F(ClassPredictionTest, ProbabilitiesReplaceNothingUnasked) {
  const OperatorStage stage = stage_of(make_classifier());
  StageOptions options;
  options.probabilities = true;
  const Mesh once = stage.run(grid_, options).mesh;
  options.suffix = "_again";
  EXPECT_TRUE(
      stage.run(once, options).mesh.has_array("label_again_probability", Association::point));
  const Mesh taken = grid_.with_array({"label_again_probability", Association::point, 1, ""},
                                      RowMatrix::Zero(30, 1));
  EXPECT_NE(error_of<DataError>([&] {
              (void)stage.run(taken, options);
            }).find("'label_again_probability', which would receive the prediction, exists"),
            std::string::npos);
  options.overwrite = true;
  EXPECT_EQ(values(stage.run(taken, options).mesh, "label_again_probability").cols(), 3);
}

TEST_F(ClassPredictionTest, OfAnEmptyMeshIsDeclared) {
  StageOptions options;
  options.probabilities = true;
  const Mesh empty = make_point_cloud(RowMatrix(0, 3), "empty.vtp");
  const Mesh result = stage_of(make_classifier()).run(empty, options).mesh;
  EXPECT_EQ(result.array("label_predicted", Association::point).type(), ScalarType::int32);
  EXPECT_EQ(result.array("label_predicted_probability", Association::point).components(), 3);
}

TEST_F(ClassPredictionTest, AccuracyInPiecesIsThatOfTheWhole) {
  const OperatorStage stage = stage_of(make_classifier());
  Mesh whole = test::with_ids(test::make_grid(17, 14));
  StageOptions options;
  options.threads = 1;
  RowMatrix truth = values(stage.run(whole, options).mesh, "label_predicted");
  for (Eigen::Index i = 0; i < truth.rows(); ++i)
    if (i % 5 == 0)
      truth(i, 0) = 7;  // Ignored.
    else if (i % 3 == 0)
      truth(i, 0) = truth(i, 0) == 1 ? 4 : 1;
  whole = whole.with_array({"truth", Association::point, 1, ""}, truth);
  options.error_against = {"load", "truth"};
  const double expected = stage.run(whole, options).errors[1].accuracy.value();
  EXPECT_NEAR(expected, 2.0 / 3, 0.02);
  for (const int layers : {0, 1}) {
    const auto pieces = test::pieces_of(whole, test::cut_at_random(whole, 4), layers);
    for (const int size : {1, 3})
      testing::on_good_ranks(size, [&](ProcessGroup& group) {
        StageOptions mine = options;
        mine.engine.processes = &group;
        const auto count = static_cast<std::size_t>(group.size());
        const auto rank = static_cast<std::size_t>(group.rank());
        const MeshTree held = test::tree_of(pieces, pieces.size() * rank / count,
                                            pieces.size() * (rank + 1) / count, "mesh.pvtu");
        EXPECT_NEAR(stage.run(held, mine).errors[1].accuracy.value(), expected, 1e-12);
      });
    const MeshTree all = test::tree_of(pieces, 0, pieces.size(), "mesh.pvtu");
    EXPECT_NEAR(stage.run(all, options).errors[1].accuracy.value(), expected, 1e-12);
  }
}

}  // namespace
}  // namespace funcattn
