// Values of the whole mesh: where they are found, and what they do.

#include <vtkDataSet.h>
#include <vtkFieldData.h>
#include <vtkFloatArray.h>
#include <vtkMultiBlockDataSet.h>
#include <vtkNew.h>

#include <limits>

#include "core/error.h"
#include "meshio/joined_pieces.h"
#include "meshio/sampling.h"
#include "operators/operator_file.h"
#include "plugin/stage.h"
#include "tests/plugin/samples.h"
#include "tests/plugin/support.h"

namespace funcattn {
namespace {

using test::error_of;
using test::make_parametric;
using test::without_array;

using Vector = std::vector<double>;
using Texts = std::vector<std::string>;

const Vector force = {0.25, -0.5, 2};

void set_field(vtkDataObject* data, const std::string& name, const Vector& values, int components) {
  vtkNew<vtkFloatArray> array;
  array->SetName(name.c_str());
  array->SetNumberOfComponents(components);
  array->SetNumberOfTuples(static_cast<vtkIdType>(values.size()) / components);
  for (std::size_t i = 0; i < values.size(); ++i)
    array->SetValue(static_cast<vtkIdType>(i), static_cast<float>(values[i]));
  data->GetFieldData()->AddArray(array);
}

Mesh grid_without_force(int columns = 6, int rows = 5) {
  return without_array(without_array(test::make_grid(columns, rows), "force", Association::point),
                       "force", Association::cell);
}

Mesh grid_with_field(const Vector& values, int columns = 6, int rows = 5) {
  const Mesh mesh = grid_without_force(columns, rows);
  set_field(mesh.vtk(), "force", values, 3);
  return mesh;
}

/// As the operator with point arrays wants it: the same force everywhere.
Mesh grid_with_array(const Vector& values, Association association = Association::point,
                     int columns = 6, int rows = 5) {
  RowMatrix array(grid_without_force(columns, rows).count(association), 3);
  for (int i = 0; i < 3; ++i) array.col(i).setConstant(values[static_cast<std::size_t>(i)]);
  return grid_without_force(columns, rows).with_array({"force", association, 3, ""}, array);
}

MeshTree tree_of(const std::vector<Mesh>& meshes) {
  vtkNew<vtkMultiBlockDataSet> tree;
  for (unsigned i = 0; i < meshes.size(); ++i) tree->SetBlock(i, meshes[i].vtk());
  return {tree.GetPointer(), "tree.vtm"};
}

RowMatrix displacement(const Mesh& mesh, Association association = Association::point) {
  return mesh.array("displacement_predicted", association).to_double();
}

class ParametersTest : public ::testing::Test {
 protected:
  OperatorStage load(const Operator& op) const {
    save_operator(folder_ / "op.safetensors", op);
    return OperatorStage(folder_ / "op.safetensors");
  }
  RowMatrix expected(const Vector& values, Association association = Association::point) const {
    return displacement(
        load(test::make_surrogate(association)).run(grid_with_array(values, association)).mesh,
        association);
  }

  test::TemporaryFolder folder_;
};

TEST_F(ParametersTest, ActAsAnArrayThatIsTheSameEverywhere) {
  for (const auto association : {Association::point, Association::cell}) {
    const OperatorStage stage = load(make_parametric(association));
    const RowMatrix found = displacement(stage.run(grid_with_field(force)).mesh, association);
    EXPECT_EQ(found, expected(force, association)) << to_string(association);
    EXPECT_GT((found - expected({0.5, -0.5, 2}, association)).cwiseAbs().maxCoeff(), 1e-3)
        << "the parameter does not matter in this operator";
  }
}

TEST_F(ParametersTest, MayBeSeveralTuplesOfOneNumber) {
  const Mesh mesh = grid_without_force();
  set_field(mesh.vtk(), "force", force, 1);
  EXPECT_EQ(displacement(load(make_parametric()).run(mesh).mesh), expected(force));
}

TEST_F(ParametersTest, OfTheRunCountMoreThanThoseOfTheMesh) {
  const OperatorStage stage = load(make_parametric());
  StageOptions options;
  options.parameters["force"] = force;
  const StageResult result = stage.run(grid_with_field({9, 9, 9}), options);
  EXPECT_EQ(displacement(result.mesh), expected(force));
  EXPECT_TRUE(result.warnings.empty());
  EXPECT_EQ(displacement(stage.run(grid_without_force(), options).mesh), expected(force));
}

TEST_F(ParametersTest, OfATreeStandInItOrInItsLeaves) {
  const OperatorStage stage = load(make_parametric());
  const MeshTree in_leaves = tree_of({grid_with_field(force), grid_with_field(force)});
  const MeshTree in_root = tree_of({grid_without_force(), grid_without_force()});
  set_field(in_root.vtk(), "force", force, 3);
  const MeshTree in_one = tree_of({grid_without_force(), grid_with_field(force)});
  const MeshTree arrays = tree_of({grid_with_array(force), grid_with_array(force)});
  const TreeResult wanted = load(test::make_surrogate()).run(arrays);
  for (const MeshTree* tree : {&in_leaves, &in_root, &in_one}) {
    const TreeResult result = stage.run(*tree);
    for (std::size_t i = 0; i < 2; ++i)
      EXPECT_EQ(displacement(result.tree.leaves()[i]), displacement(wanted.tree.leaves()[i]));
  }
}

TEST_F(ParametersTest, OfBlocksThatAreOneSampleMustAgree) {
  const OperatorStage stage = load(make_parametric());
  const Vector other = {0.5, -0.25, 2};
  const MeshTree tree = tree_of({grid_with_field(force), grid_with_field(other)});
  EXPECT_EQ(error_of<DataError>([&] { (void)stage.run(tree); }),
            "tree.vtm: the parameter 'force' is (0.25, -0.5, 2) in tree.vtm: block '0' and (0.5, "
            "-0.25, 2) in tree.vtm: block '1', but together they are one sample; give the run one "
            "value for it, or make every block a sample of its own");

  StageOptions options;
  options.per_block = true;
  set_field(tree.vtk(), "force", {9, 9, 9}, 3);  // Those of the blocks are nearer.
  const TreeResult result = stage.run(tree, options);
  EXPECT_EQ(displacement(result.tree.leaves()[0]), expected(force));
  EXPECT_EQ(displacement(result.tree.leaves()[1]), expected(other));
  EXPECT_TRUE(result.warnings.empty());
}

TEST_F(ParametersTest, OnWhichPiecesOfAFileDifferAreRefused) {
  const Mesh mesh = grid_with_field(force);
  note_difference(*mesh.vtk(), "force", "1 in piece 0 and 2 in piece 3");
  const OperatorStage stage = load(make_parametric());
  const std::string message = error_of<DataError>([&] { (void)stage.run(mesh); });
  EXPECT_NE(
      message.find("the parameter 'force' is 1 in piece 0 and 2 in piece 3, but together they "
                   "are one sample; give the run one value for it"),
      std::string::npos)
      << message;
}

TEST_F(ParametersTest, TimeIsThatOfTheTree) {
  Operator op = test::make_surrogate();
  Contract contract = op.contract();
  contract.inputs[0].name = "TimeValue";
  contract.inputs[0].role = InputRole::parameter;
  const OperatorStage stage = load(Operator(op.shared_model(), contract));
  const Mesh mesh = grid_with_array(force);
  const auto at_time = [&](double time) {
    return displacement(stage.run(MeshTree(mesh.vtk(), "step.vtu", time)).tree.leaves().front());
  };
  StageOptions options;
  options.parameters["TimeValue"] = {0.75};
  EXPECT_EQ(at_time(0.75), displacement(stage.run(mesh, options).mesh));
  EXPECT_NE(at_time(0.75), at_time(0.5));
}

TEST_F(ParametersTest, OfAQueryAreThoseOfItsSource) {
  const OperatorStage stage = load(make_parametric());
  const OperatorStage plain = load(test::make_surrogate());
  const MeshTree source(grid_with_field(force));
  const MeshTree wanted_source(grid_with_array(force));
  const MeshTree wanted_query(grid_with_array(force, Association::point, 4, 3));
  const RowMatrix wanted =
      displacement(plain.run(wanted_source, wanted_query).tree.leaves().front());
  const auto found = [&](const MeshTree& of, const Mesh& query) {
    return displacement(stage.run(of, MeshTree(query)).tree.leaves().front());
  };
  EXPECT_EQ(found(source, grid_without_force(4, 3)), wanted);
  EXPECT_EQ(found(source, grid_with_field({9, 9, 9}, 4, 3)), wanted);
  EXPECT_EQ(found(MeshTree(grid_without_force()), grid_with_field(force, 4, 3)), wanted);
}

TEST_F(ParametersTest, StayWithAMeshOfAnotherResolution) {
  const OperatorStage stage = load(make_parametric());
  for (const char* how : {"x4", "0.5"}) {
    const MeshTree tree = resample(MeshTree(grid_with_field(force)), Association::point,
                                   resampling_from_string(how), {WeightKind::automatic, ""})
                              .tree;
    StageOptions options;
    options.weights = "uniform";
    EXPECT_NO_THROW((void)stage.run(tree, options)) << how;
  }
}

TEST_F(ParametersTest, OutsideTheTrainingRangeAreWarnedOf) {
  const OperatorStage stage = load(make_parametric());
  EXPECT_TRUE(stage.run(grid_with_field({0, -1, 2})).warnings.empty()) << "on the rim";
  EXPECT_EQ(stage.run(grid_with_field({0.5, 0.5, 2})).warnings,
            Texts{"grid.vtu: the parameter 'force' is (0.5, 0.5, 2) N, training had (0, -1, 2) to "
                  "(1, 0, 2) N: the prediction extrapolates"});
  EXPECT_EQ(stage.check(MeshTree(grid_with_field({0.5, 0.5, 2})), nullptr).warnings.size(), 1u);
}

TEST_F(ParametersTest, ThatAreMissingAreNamedWithUnitAndRange) {
  const OperatorStage stage = load(make_parametric());
  const std::string missing =
      "grid.vtu: there is no value for the parameter 'force' (3 numbers, (0, -1, 2) to (1, 0, 2) N "
      "in training); put it into the field data of the mesh, or give the run a value for it";
  EXPECT_EQ(error_of<DataError>([&] { (void)stage.run(grid_without_force()); }), missing);
  EXPECT_EQ(
      error_of<DataError>([&] { (void)stage.check(MeshTree(grid_without_force()), nullptr); }),
      missing);
  EXPECT_EQ(error_of<DataError>([&] { (void)stage.run(grid_with_array(force)); }),
            missing +
                "; the point array 'force' has many values, where one for the whole mesh is "
                "needed");
}

TEST_F(ParametersTest, ThatAreMalformedAreRefused) {
  const OperatorStage stage = load(make_parametric());
  const std::string who =
      "grid.vtu: the parameter 'force' (3 numbers, (0, -1, 2) to (1, 0, 2) N "
      "in training)";
  const Mesh short_one = grid_without_force();
  set_field(short_one.vtk(), "force", {1, 2}, 2);
  EXPECT_EQ(error_of<DataError>([&] { (void)stage.run(short_one); }),
            who + " has 2 numbers in the field data; give it as many as the operator expects");
  StageOptions masking;
  masking.nan = NanPolicy::mask;
  const Mesh undefined = grid_with_field({1, std::numeric_limits<double>::quiet_NaN(), 2});
  EXPECT_EQ(error_of<DataError>([&] { (void)stage.run(undefined, masking); }),
            who + " is (1, nan, 2), expected finite numbers");

  const Mesh mesh = grid_with_field(force);
  const auto refusal = [&](const std::string& name, const Vector& values) {
    StageOptions options;
    options.parameters[name] = values;
    return error_of<UsageError>([&] { (void)stage.run(mesh, options); });
  };
  EXPECT_EQ(refusal("farce", {1}), "the operator has no parameter 'farce'; it has force");
  EXPECT_EQ(refusal("load", {1}), "the operator has no parameter 'load'; it has force");
  EXPECT_NE(refusal("force", {1}).find("was given 1 numbers"), std::string::npos);
  EXPECT_NE(refusal("force", {1, INFINITY, 2}).find("(1, inf, 2), expected finite"),
            std::string::npos);
}

TEST_F(ParametersTest, OutputsAreChosenByName) {
  const OperatorStage stage = load(test::make_surrogate());
  const Mesh mesh = test::make_grid(6, 5);
  const StageResult all = stage.run(mesh);
  EXPECT_EQ(all.arrays, (Texts{"pressure_predicted", "displacement_predicted"}));
  StageOptions options;
  options.outputs = {"displacement"};
  // An array of the other output's name is not in the way, and it stays as it is.
  const StageResult one =
      stage.run(test::with_value(all.mesh, "pressure_predicted", Association::point, 0, 77), [&] {
        StageOptions again = options;
        again.overwrite = true;
        return again;
      }());
  EXPECT_EQ(one.arrays, Texts{"displacement_predicted"});
  EXPECT_EQ(displacement(one.mesh), displacement(all.mesh));
  EXPECT_EQ(one.mesh.array("pressure_predicted", Association::point).to_double()(0, 0), 77);
  EXPECT_FALSE(stage.run(mesh, options).mesh.has_array("pressure_predicted", Association::point));
  EXPECT_EQ(stage.check(MeshTree(mesh), nullptr, options).arrays, Texts{"displacement_predicted"});

  options.error_against = {"force"};
  const StageResult measured = stage.run(mesh, options);
  ASSERT_EQ(measured.errors.size(), 1u);
  EXPECT_EQ(measured.errors[0].array, "displacement_predicted");
  StageOptions both;
  both.error_against = {"load", "force"};
  EXPECT_EQ(measured.errors[0].rmse, stage.run(mesh, both).errors.at(1).rmse);
  options.error_against = {"load", "force"};
  EXPECT_EQ(error_of<UsageError>([&] { (void)stage.run(mesh, options); }),
            "errors are wanted against load, force, but what is predicted is displacement; name "
            "one array for each, in this order, which is that of the outputs");

  // The order is that of the outputs, not that of the contract.
  options.outputs = {"displacement", "pressure"};
  options.error_against = {"force", "load"};
  const StageResult turned = stage.run(mesh, options);
  EXPECT_EQ(turned.arrays, (Texts{"displacement_predicted", "pressure_predicted"}));
  ASSERT_EQ(turned.errors.size(), 2u);
  EXPECT_EQ(turned.errors[0].array, "displacement_predicted");
  EXPECT_EQ(turned.errors[0].truth, "force");
  EXPECT_EQ(turned.errors[0].rmse, measured.errors[0].rmse);
  EXPECT_EQ(turned.errors[1].array, "pressure_predicted");
  EXPECT_EQ(turned.errors[1].rmse, stage.run(mesh, both).errors.at(0).rmse);

  options.outputs = {"displacement", "pressure", "displacement"};
  EXPECT_EQ(error_of<UsageError>([&] { (void)stage.run(mesh, options); }),
            "the output 'displacement' is asked for twice; name it once");
  options.outputs = {"displacement", "presure"};
  EXPECT_EQ(error_of<UsageError>([&] { (void)stage.run(mesh, options); }),
            "the operator has no output 'presure'; it predicts pressure, displacement");
  EXPECT_THROW((void)stage.run(make_point_cloud(RowMatrix(0, 3), "empty"), options), UsageError);
  options = {};
  options.outputs = {"pressure"};
  const Mesh empty = stage.run(make_point_cloud(RowMatrix(0, 3), "empty"), options).mesh;
  EXPECT_TRUE(empty.has_array("pressure_predicted", Association::point));
  EXPECT_FALSE(empty.has_array("displacement_predicted", Association::point));
}

}  // namespace
}  // namespace funcattn
