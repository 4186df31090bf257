#include "plugin/stage.h"

#include <vtkCellData.h>
#include <vtkNew.h>
#include <vtkPointData.h>
#include <vtkPointSet.h>
#include <vtkTypeInt64Array.h>
#include <vtkUnsignedCharArray.h>

#include <thread>

#include "core/error.h"
#include "operators/operator_file.h"
#include "plugin/binding.h"
#include "tests/plugin/samples.h"
#include "tests/plugin/support.h"

namespace funcattn {
namespace {

using test::error_of;
using test::with_value;
using test::without_array;

class StageTest : public ::testing::Test {
 protected:
  std::filesystem::path save(const Operator& op) const {
    save_operator(folder_ / "op.safetensors", op);
    return folder_ / "op.safetensors";
  }

  test::TemporaryFolder folder_;
};

RowMatrix values(const Mesh& mesh, const std::string& name,
                 Association association = Association::point) {
  return mesh.array(name, association).to_double();
}

/// What the operator gives for the tensors of the mesh, without the stage.
RowMatrix apply_directly(const Operator& op, const Mesh& mesh) {
  const torch::NoGradGuard no_grad;
  const Sample sample =
      bind_sample(mesh, op.contract(), weight_choice_from_string(op.contract().weights), false);
  const auto batched = [](const PointSamples& samples) {
    PointSamples batch{samples.coordinates.unsqueeze(0), {}, samples.weights.unsqueeze(0)};
    if (samples.values.defined()) batch.values = samples.values.unsqueeze(0);
    return batch;
  };
  const PointSamples source = batched(sample.source);
  return to_matrix(
      op.apply(source, sample.query_is_source ? source : batched(sample.query)).squeeze(0));
}

TEST_F(StageTest, GivesWhatTheOperatorGives) {
  for (const auto dtype : {torch::kFloat32, torch::kFloat64})
    for (const auto association : {Association::point, Association::cell}) {
      const Operator op = test::make_surrogate(association, dtype);
      const Mesh mesh = test::make_grid(6, 5);
      const Mesh result = OperatorStage(save(op)).run(mesh).mesh;
      const RowMatrix expected = apply_directly(op, mesh);
      EXPECT_EQ(values(result, "pressure_predicted", association), expected.leftCols(1));
      EXPECT_EQ(values(result, "displacement_predicted", association), expected.rightCols(3));
      EXPECT_GT((expected.array() - expected(0, 0)).abs().maxCoeff(), 1e-3) << "constant result";
    }
}

TEST_F(StageTest, PredictsOnceInPlaceOfTheMeanOverSymmetries) {
  ModelConfig config = test::make_surrogate().model().config();
  config.value_features = config.out_features = 1;
  Contract contract;
  contract.inputs.resize(1);
  contract.inputs[0].name = "load";
  contract.outputs = {{"pressure", Association::point, 1, "Pa"}};
  contract.coordinates.axes = {0, 1};
  contract.coordinates.center = {0.5, 0.5};
  const Operator plain(make_model(config, torch::kFloat64, 7), contract);
  contract.symmetries = {Symmetries::square, {0.5, 0.5}};
  const Mesh mesh = test::make_grid(6, 5);
  const OperatorStage stage(save(Operator(plain.shared_model(), contract)));
  const RowMatrix mean = values(stage.run(mesh).mesh, "pressure_predicted");
  StageOptions options;
  options.single_prediction = true;
  const RowMatrix single = values(stage.run(mesh, options).mesh, "pressure_predicted");
  EXPECT_EQ(single, apply_directly(plain, mesh));
  EXPECT_GT((single - mean).cwiseAbs().maxCoeff(), 1e-3);
  const std::string refused =
      "the operator predicts no mean over symmetries, so that its prediction is a single one "
      "already; leave the choice of a single prediction away";
  const OperatorStage other(save(plain));
  EXPECT_EQ(error_of<UsageError>([&] { (void)other.run(mesh, options); }), refused);
  EXPECT_EQ(error_of<UsageError>([&] { (void)other.check(MeshTree(mesh), nullptr, options); }),
            refused);
}

TEST_F(StageTest, MemoryOfTheEngineChangesNoBit) {
  const OperatorStage stage(save(test::make_surrogate(Association::point)));
  const Mesh mesh = test::make_grid(40, 30);
  const RowMatrix expected = values(stage.run(mesh).mesh, "displacement_predicted");
  for (const auto memory : {ActivationMemory::spilled, ActivationMemory::recomputed}) {
    StageOptions options;
    options.engine.memory = memory;
    options.engine.spill_folder = folder_.path();
    EXPECT_EQ(values(stage.run(mesh, options).mesh, "displacement_predicted"), expected)
        << to_string(memory);
  }
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_.path()), {}), 1)
      << "only the operator file is left";
}

TEST_F(StageTest, PredictsAtPointsWithoutValues) {
  const Operator op = test::make_regression();
  const Mesh mesh = test::make_scattered_line(9, 4);
  const Mesh result = run(mesh, save(op)).mesh;
  EXPECT_EQ(values(result, "y_predicted"), apply_directly(op, mesh));
}

TEST_F(StageTest, LeavesTheInputAlone) {
  const Mesh mesh = test::make_grid(4, 3);
  mesh.vtk()->GetPointData()->SetActiveScalars("load");
  const vtkMTimeType before = mesh.vtk()->GetMTime();
  const std::size_t arrays = mesh.arrays().size();
  const Mesh result = run(mesh, save(test::make_surrogate())).mesh;
  EXPECT_EQ(mesh.vtk()->GetMTime(), before);
  EXPECT_EQ(mesh.arrays().size(), arrays);
  EXPECT_EQ(result.arrays().size(), arrays + 2);
  EXPECT_STREQ(result.vtk()->GetPointData()->GetScalars()->GetName(), "load");
  EXPECT_EQ(result.vtk()->GetPointData()->GetArray("load"),
            mesh.vtk()->GetPointData()->GetArray("load"));
  EXPECT_EQ(result.origin(), mesh.origin());
}

TEST_F(StageTest, RefusesAnArrayOfThePredictedName) {
  const OperatorStage stage(save(test::make_surrogate()));
  const Mesh once = stage.run(test::make_grid(4, 3)).mesh;
  EXPECT_EQ(error_of<DataError>([&] { (void)stage.run(once); }),
            "grid.vtu: the point array 'pressure_predicted', which would receive the prediction, "
            "exists already; choose another suffix or allow overwriting");
  StageOptions options;
  options.suffix = "_b";
  EXPECT_TRUE(stage.run(once, options).mesh.has_array("pressure_b", Association::point));

  options.suffix = "_predicted";
  options.overwrite = true;
  const Mesh stale = with_value(once, "pressure_predicted", Association::point, 0, -99);
  const Mesh again = stage.run(stale, options).mesh;
  EXPECT_EQ(again.arrays().size(), once.arrays().size());
  EXPECT_EQ(values(again, "pressure_predicted"), values(once, "pressure_predicted"));
  EXPECT_EQ(values(stale, "pressure_predicted")(0, 0), -99);
}

TEST_F(StageTest, PassesOnWhatTheMeshLacks) {
  const OperatorStage stage(save(test::make_surrogate()));
  const Mesh mesh = without_array(test::make_grid(4, 3), "load", Association::point);
  const std::string message = error_of<DataError>([&] { (void)stage.run(mesh); });
  EXPECT_EQ(message.rfind("grid.vtu: there is no point array 'load'", 0), 0u) << message;
}

TEST_F(StageTest, DeclaresItsArraysOnAMeshWithoutPoints) {
  const StageResult result =
      run(make_point_cloud(RowMatrix(0, 3), "empty.vtp"), save(test::make_surrogate()));
  EXPECT_EQ(result.warnings,
            (std::vector<std::string>{"empty.vtp has no points: the predicted arrays are empty"}));
  EXPECT_EQ(result.mesh.array("displacement_predicted", Association::point).components(), 3);
}

TEST_F(StageTest, WarnsOutsideTheTrainingRange) {
  const OperatorStage stage(save(test::make_surrogate()));
  EXPECT_TRUE(stage.run(test::make_grid(4, 3)).warnings.empty());
  EXPECT_EQ(stage.run(test::make_grid(3, 3)).warnings,
            (std::vector<std::string>{"grid.vtu has 9 points, training had 10 to 100: they show "
                                      "less of the input than the operator learned from"}));
}

TEST_F(StageTest, WarnsOfWhatTheOperatorDoesNotSee) {
  const Operator op = test::make_surrogate();
  RowMatrix places = test::make_grid(4, 3).coordinates(Association::point);
  places.col(2).setLinSpaced(0, 0.5);
  const Mesh mesh = make_point_cloud(places, "cloud.vtp")
                        .with_array({"load", Association::point, 1, ""}, RowMatrix::Zero(12, 1))
                        .with_array({"force", Association::point, 3, ""}, RowMatrix::Zero(12, 3));
  StageOptions options;
  options.weights = "uniform";
  const OperatorStage stage(save(op));
  const std::vector<std::string> expected = {
      "cloud.vtp spans z = 0 to 0.5, which the operator does not see: it was trained along x and "
      "y"};
  EXPECT_EQ(stage.run(mesh, options).warnings, expected);
  EXPECT_EQ(stage.run(MeshTree(test::make_grid(4, 3)), MeshTree(mesh), options).warnings, expected)
      << "of a query too";
}

TEST_F(StageTest, WarnsThatAChoiceOfMemoryHasNoEffect) {
  const Operator op = test::make_surrogate();
  ModelConfig config = op.model().config();
  config.attention = Attention::softmax;
  const OperatorStage stage(save({make_model(config, torch::kFloat32, 7), op.contract()}));
  StageOptions options;
  EXPECT_TRUE(stage.run(test::make_grid(4, 3), options).warnings.empty());
  options.engine.memory = ActivationMemory::recomputed;
  EXPECT_EQ(stage.run(test::make_grid(4, 3), options).warnings,
            (std::vector<std::string>{
                "grid.vtu: where the features of the points wait has no effect on attention "
                "softmax, which keeps them in memory; leave the choice of memory away"}));
}

TEST_F(StageTest, WarnsOfIntegersThatFloat32Rounds) {
  const Mesh mesh = without_array(test::make_grid(4, 3), "load", Association::point);
  vtkNew<vtkTypeInt64Array> ids;
  ids->SetName("load");
  ids->SetNumberOfTuples(12);
  ids->Fill(0);
  ids->SetValue(3, (1 << 24) + 1);
  mesh.vtk()->GetPointData()->AddArray(ids);
  EXPECT_EQ(run(mesh, save(test::make_surrogate(Association::point, torch::kFloat32))).warnings,
            (std::vector<std::string>{"grid.vtu: 'load' holds integers above 2^24, which the "
                                      "operator's float32 rounds"}));
  EXPECT_TRUE(run(mesh, save(test::make_surrogate())).warnings.empty());
}

TEST_F(StageTest, ChoosesOtherWeightsOnRequest) {
  const OperatorStage stage(save(test::make_surrogate()));
  const Mesh mesh = test::make_grid(5, 4);
  StageOptions options;
  options.weights = "uniform";
  const RowMatrix uniform = values(stage.run(mesh, options).mesh, "pressure_predicted");
  EXPECT_GT((uniform - values(stage.run(mesh).mesh, "pressure_predicted")).cwiseAbs().maxCoeff(),
            1e-6);
  options.weights = "measured";
  EXPECT_NE(error_of<UsageError>([&] { (void)stage.run(mesh, options); }).find("'measured'"),
            std::string::npos);
}

TEST_F(StageTest, GhostPointsTakeNoPartButGetTheirValue) {
  const Mesh mesh = test::make_grid(5, 4);
  const Mesh expected = run(mesh, save(test::make_surrogate())).mesh;
  // The last point once more, as a partition's neighbour would bring it.
  auto* grid = vtkPointSet::SafeDownCast(mesh.vtk());
  auto copy = vtkSmartPointer<vtkPointSet>::Take(grid->NewInstance());
  copy->DeepCopy(grid);
  const vtkIdType last = grid->GetNumberOfPoints() - 1;
  copy->GetPoints()->InsertNextPoint(grid->GetPoint(last));
  vtkPointData* fields = copy->GetPointData();
  for (const char* name : {"load", "force"}) {
    vtkDataArray* array = fields->GetArray(name);
    array->InsertNextTuple(last, array);
  }
  vtkNew<vtkUnsignedCharArray> ghosts;
  ghosts->SetName(vtkDataSetAttributes::GhostArrayName());
  ghosts->SetNumberOfTuples(last + 2);
  ghosts->Fill(0);
  ghosts->SetValue(last + 1, vtkDataSetAttributes::DUPLICATEPOINT);
  fields->AddArray(ghosts);
  const Mesh result = run(Mesh(copy, "ghosts"), save(test::make_surrogate())).mesh;
  const RowMatrix pressure = values(result, "pressure_predicted");
  EXPECT_LT(
      (pressure.topRows(last + 1) - values(expected, "pressure_predicted")).cwiseAbs().maxCoeff(),
      1e-10);
  EXPECT_NEAR(pressure(last + 1, 0), pressure(last, 0), 1e-10);
}

TEST_F(StageTest, NamesThePredictionThatIsNotFinite) {
  Operator op = test::make_surrogate();
  Contract contract = op.contract();
  contract.output_normalisation.scale[2] = 1e308;
  contract.output_normalisation.mean[2] = 1e308;
  const Operator overflowing(op.shared_model(), contract);
  {
    const torch::NoGradGuard no_grad;
    for (auto& parameter : op.model().parameters()) parameter.mul_(20);
  }
  const std::string message =
      error_of<NumericError>([&] { (void)run(test::make_grid(4, 3), save(overflowing)); });
  EXPECT_EQ(message.rfind("grid.vtu: the prediction of 'displacement' has ", 0), 0u) << message;
  EXPECT_NE(message.find(" non-finite of 36 values"), std::string::npos) << message;
}

TEST_F(StageTest, RunsConcurrently) {
  const OperatorStage stage(save(test::make_surrogate()));
  const Mesh mesh = test::make_grid(8, 8);
  StageOptions options;
  options.threads = 1;
  const RowMatrix expected = values(stage.run(mesh, options).mesh, "displacement_predicted");
  std::vector<RowMatrix> results(4);
  std::vector<std::thread> threads;
  for (RowMatrix& result : results)
    threads.emplace_back([&] {
      for (int repeat = 0; repeat < 5; ++repeat)
        result = values(stage.run(mesh, options).mesh, "displacement_predicted");
    });
  for (std::thread& thread : threads) thread.join();
  for (const RowMatrix& result : results) EXPECT_EQ(result, expected);
}

TEST_F(StageTest, RestoresTheThreadCountOfTheHost) {
  const OperatorStage stage(save(test::make_surrogate()));
  const int before = at::get_num_threads();
  StageOptions options;
  options.threads = before + 1;
  (void)stage.run(test::make_grid(4, 3), options);
  EXPECT_EQ(at::get_num_threads(), before);
  EXPECT_FALSE(c10::InferenceMode::is_enabled());
}

TEST_F(StageTest, RefusesWhatIsNoOperator) {
  const auto text = folder_.write("text.safetensors", "not an operator at all");
  error_of<OperatorFileError>([&] { OperatorStage stage(text); });
}

TEST_F(StageTest, ShowsItsContract) {
  const Operator op = test::make_surrogate();
  EXPECT_EQ(OperatorStage(save(op)).contract(), op.contract().to_json());
}

}  // namespace
}  // namespace funcattn
