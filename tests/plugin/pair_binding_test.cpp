// What is trained on a pair of meshes is what a run with a query evaluates.

#include "plugin/pair_binding.h"

#include <vtkDoubleArray.h>
#include <vtkFieldData.h>
#include <vtkNew.h>
#include <vtkPolyData.h>

#include <cmath>
#include <functional>
#include <limits>

#include "core/error.h"
#include "operators/operator_file.h"
#include "operators/training/objective.h"
#include "plugin/binding.h"
#include "plugin/prediction.h"
#include "plugin/stage.h"
#include "tests/plugin/samples.h"
#include "tests/plugin/support.h"

namespace funcattn {
namespace {

using test::error_of;
using test::make_grid;
using test::with_value;
using test::without_array;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// The grid with true arrays of the surrogate's outputs.
Mesh with_targets(const Mesh& mesh) {
  const RowMatrix at = mesh.coordinates(Association::point);
  RowMatrix pressure(at.rows(), 1), displacement(at.rows(), 3);
  for (Eigen::Index i = 0; i < at.rows(); ++i) {
    pressure(i, 0) = 10 + std::sin(3 * at(i, 0)) + at(i, 1);
    displacement.row(i) << at(i, 0), -at(i, 1), at(i, 0) * at(i, 1);
  }
  return mesh.with_array({"pressure", Association::point, 1, ""}, pressure)
      .with_array({"displacement", Association::point, 3, ""}, displacement);
}

struct Kind {
  std::string name;
  std::function<void(ModelConfig&)> change;
};

/// A surrogate of that kind.
Operator make_operator(const Kind& kind) {
  const Operator op = test::make_surrogate();
  ModelConfig config = op.model().config();
  kind.change(config);
  Contract contract = op.contract();
  if (config.cross) {  // As many features as outputs: x, y and the load.
    contract.inputs.resize(1);
    contract.outputs.erase(contract.outputs.begin());
    contract.input_normalisation = {{0.5}, {1}};
    contract.output_normalisation = {{0, 0, 0}, {1, 1, 1}};
    config.value_features = 1;
    config.out_features = config.width = 3;
    config.heads = 1;
    config.blocks = 0;
  }
  if (config.form == Form::few_shot) {
    contract.inputs[1].name = "displacement";
    contract.inputs[0].name = "pressure";
    contract.input_normalisation = contract.output_normalisation;
  }
  return {make_model(config, torch::kFloat64, 7), contract};
}

class PairTest : public testing::TestWithParam<Kind> {
 protected:
  std::filesystem::path save(const Operator& op) const {
    const std::filesystem::path path = folder_.path() / "operator.safetensors";
    save_operator(path, op);
    return path;
  }

  test::TemporaryFolder folder_;
  const Mesh source_ = with_targets(make_grid(5, 4));
  const Mesh query_ = with_targets(make_grid(8, 6));
};

TEST_P(PairTest, TheLossIsTheErrorOfARun) {
  const Operator op = make_operator(GetParam());
  StageOptions options;
  options.outputs = {"displacement"};
  options.error_against = {"displacement"};
  const TreeResult run = OperatorStage(save(op)).run(MeshTree(source_), MeshTree(query_), options);
  const RowMatrix expected =
      run.tree.leaves().front().array("displacement_predicted", Association::point).to_double();

  const PairSample pair = bind_pair(source_, query_, op.model(), op.contract(), {});
  const Batch batch = collate({pair.sample});
  const torch::NoGradGuard no_gradient;
  const RowMatrix all = to_matrix(op.apply(batch.source, batch.query).squeeze(0));
  ASSERT_EQ(all.rows(), pair.first_result + query_.count(Association::point));
  const RowMatrix predicted = all.bottomRows(query_.count(Association::point)).rightCols(3);
  EXPECT_LT((predicted - expected).cwiseAbs().maxCoeff(), 1e-12);
  EXPECT_GT((expected.rowwise() - expected.row(0)).cwiseAbs().maxCoeff(), 1e-3) << "constant";

  // Of the displacement alone, as the error.
  Batch part = batch;
  part.targets = batch.targets.narrow(2, batch.targets.size(2) - 3, 3);
  const Tensor result = op.apply(batch.source, batch.query).narrow(2, all.cols() - 3, 3);
  const double loss =
      sample_losses(Loss::relative_l2, result, part.targets, batch.query.weights).item<double>();
  EXPECT_NEAR(loss, run.errors.front().relative_l2, 1e-12);
}

TEST_P(PairTest, GradientsAreThoseOfTheLoss) {
  const Operator op = make_operator(GetParam());
  // Of different sizes, so that one is padded.
  const Batch batch = collate({bind_pair(source_, query_, op.model(), op.contract(), {}).sample,
                               bind_pair(query_, source_, op.model(), op.contract(), {}).sample});
  const Objective objective(op, Loss::relative_l2);
  const auto loss = [&] { return objective.training_losses(batch).sum(); };
  loss().backward();
  int checked = 0;
  for (const auto& parameter : op.model().named_parameters()) {
    Tensor value = parameter.value();
    if (!value.grad().defined()) continue;
    const Tensor gradient = value.grad().flatten();
    const std::int64_t largest = gradient.abs().argmax().item<std::int64_t>();
    const torch::NoGradGuard no_gradient;
    Tensor entry = value.view(-1)[largest];
    const double at = entry.item<double>();
    const double step = 1e-5 * std::max(1.0, std::abs(at));
    entry.fill_(at + step);
    const double above = loss().item<double>();
    entry.fill_(at - step);
    const double below = loss().item<double>();
    entry.fill_(at);
    const double expected = (above - below) / (2 * step);
    EXPECT_NEAR(gradient[largest].item<double>(), expected, 1e-7 + 1e-5 * std::abs(expected))
        << parameter.key();
    ++checked;
  }
  EXPECT_GT(checked, 3);
}

TEST_P(PairTest, AMeshWithItselfIsASampleOfOneMesh) {
  const Operator op = make_operator(GetParam());
  const Sample single =
      bind_sample(source_, op.contract(), weight_choice_from_string("measure"), true);
  const Sample pair = bind_pair(source_, source_, op.model(), op.contract(), {}).sample;
  const Objective objective(op, Loss::relative_l2);
  const double alone = objective.mean_loss({single});
  EXPECT_NEAR(objective.mean_loss({pair}), alone, 1e-12 * alone);
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, PairTest,
    testing::Values(
        Kind{"shared_basis", [](ModelConfig&) {}},
        Kind{"separate", [](ModelConfig& c) { c.bases = Bases::separate; }},
        Kind{"shared_basis_tied", [](ModelConfig& c) { c.form = Form::shared_basis_tied; }},
        Kind{"segmentation", [](ModelConfig& c) { c.form = Form::segmentation; }},
        Kind{"sum_coefficients", [](ModelConfig& c) { c.form = Form::sum_coefficients; }},
        Kind{"paper", [](ModelConfig& c) { c.form = Form::paper; }},
        Kind{"paper_cross",
             [](ModelConfig& c) {
               c.form = Form::paper;
               c.cross = true;
             }},
        Kind{"few_shot", [](ModelConfig& c) { c.form = Form::few_shot; }},
        Kind{"softmax", [](ModelConfig& c) { c.attention = Attention::softmax; }},
        Kind{"softmax_distance",
             [](ModelConfig& c) {
               c.attention = Attention::softmax;
               c.position_bias = PositionBias::distance;
               c.memory_tokens = 2;
             }},
        Kind{"linear", [](ModelConfig& c) { c.attention = Attention::linear; }},
        Kind{"ridge", [](ModelConfig& c) { c.attention = Attention::ridge; }},
        Kind{"pointwise", [](ModelConfig& c) { c.attention = Attention::pointwise; }},
        Kind{"fourier", [](ModelConfig& c) { c.attention = Attention::fourier; }}),
    [](const auto& kind) { return kind.param.name; });

class PairBinding : public testing::Test {
 protected:
  const Operator op_ = test::make_surrogate();
  const Mesh source_ = make_grid(5, 4);
  const Mesh query_ = with_targets(make_grid(8, 6));

  PairSample bind(const Mesh& source, const Mesh& query, const QuerySettings& settings = {}) const {
    return bind_pair(source, query, op_.model(), op_.contract(), settings);
  }
};

TEST_F(PairBinding, InputsWeighAtTheSourceAndTargetsAtTheQuery) {
  const PairSample pair = bind(source_, query_);
  const Sample& sample = pair.sample;
  EXPECT_EQ(sample.name, "grid.vtu at the points of grid.vtu");
  EXPECT_EQ(pair.first_result, 20);
  ASSERT_EQ(sample.source.weights.size(0), 20 + 48);
  const auto sum = [](const Tensor& weights, std::int64_t first, std::int64_t count) {
    return weights.narrow(0, first, count).sum().item<double>();
  };
  EXPECT_NEAR(sum(sample.source.weights, 0, 20), 1, 1e-12) << "the area";
  EXPECT_EQ(sum(sample.source.weights, 20, 48), 0);
  EXPECT_EQ(sum(sample.query.weights, 0, 20), 0);
  EXPECT_NEAR(sum(sample.query.weights, 20, 48), 1, 1e-12);
  const Sample results = pair.results();
  EXPECT_EQ(to_matrix(results.targets).col(0),
            query_.array("pressure", Association::point).to_double().col(0));
  EXPECT_EQ(to_matrix(results.query.coordinates),
            RowMatrix(query_.coordinates(Association::point).leftCols(2)));
}

TEST_F(PairBinding, AQueryNeedsPoints) {
  const Mesh empty(vtkSmartPointer<vtkPolyData>::New(), "empty.vtp");
  EXPECT_EQ(error_of<DataError>([&] { (void)bind(source_, empty); }),
            "empty.vtp: the mesh has no points; nothing can be learned or measured there");
}

TEST_F(PairBinding, PlacesWithoutATargetAreLeftOutByWeight) {
  RowMatrix known = RowMatrix::Ones(48, 1);
  known(7, 0) = 0;
  const Mesh query = with_value(query_, "pressure", Association::point, 7, nan)
                         .with_array({"known", Association::point, 1, ""}, known);
  EXPECT_EQ(error_of<DataError>([&] { (void)bind(source_, query); }),
            "grid.vtu: point array 'pressure' holds NaN or Inf at 1 of 48 entries, the first at "
            "index 7; repair these values, or give such entries the weight 0 with an array of "
            "weights of the query");
  const PairSample pair = bind(source_, query, {"array:known", false});
  EXPECT_EQ(pair.weights.sum().item<double>(), 47);
  const Objective objective(op_, Loss::relative_l2);
  const double loss = objective.mean_loss({pair.sample});
  EXPECT_TRUE(std::isfinite(loss));
  const Mesh other = with_value(query, "pressure", Association::point, 7, 1e6);
  EXPECT_EQ(objective.mean_loss({bind(source_, other, {"array:known", false}).sample}), loss);
}

TEST_F(PairBinding, InputsThatTheQueryLacksComeFromTheSourceIfAsked) {
  const Mesh query = without_array(query_, "load", Association::point);
  EXPECT_EQ(error_of<DataError>([&] { (void)bind(source_, query); }),
            "grid.vtu: the query mesh has no point array 'load', which this operator needs at "
            "every point that it evaluates; give it the array, or interpolate the inputs from "
            "grid.vtu");
  const Sample sample = bind(query_, query, {"", true}).sample;
  const RowMatrix values = to_matrix(sample.source.values);
  EXPECT_LT((values.topRows(48) - values.bottomRows(48)).cwiseAbs().maxCoeff(), 1e-6)
      << "of the same points";
}

TEST_F(PairBinding, ParametersAreThoseOfTheSource) {
  const Operator op = test::make_parametric();
  const auto with_force = [](const Mesh& mesh, double x) {
    const Mesh copy = with_value(mesh, "load", Association::point, 0, 0);
    vtkNew<vtkDoubleArray> force;
    force->SetName("force");
    force->SetNumberOfComponents(3);
    force->InsertNextTuple3(x, 0, 2);
    copy.vtk()->GetFieldData()->AddArray(force);
    return copy;
  };
  const Sample sample =
      bind_pair(with_force(source_, 0.25), with_force(query_, 0.75), op.model(), op.contract(), {})
          .sample;
  EXPECT_TRUE(sample.source.values.select(1, 1).eq(0.25).all().item<bool>());
}

}  // namespace
}  // namespace funcattn
