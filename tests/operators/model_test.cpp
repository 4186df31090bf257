#include "operators/model.h"

#include "core/error.h"
#include "tests/operators/attention_test_support.h"

// Configurations, what single forms promise beyond the common, and collating.

namespace funcattn {
namespace {

using testing::Draw;
using testing::relative_difference;

ModelConfig few_shot_config() {
  ModelConfig config;
  config.form = Form::few_shot;
  config.coordinate_dimension = 1;
  config.value_features = 1;
  config.width = 16;
  config.basis = 4;
  config.ridge = 1e-2;
  return config;
}

template <class Exception>
std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Exception& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(ModelConfig, SurvivesJson) {
  ModelConfig config = few_shot_config();
  config.activation = Activation::silu;
  config.latent = 5;
  config.fourier_features = 6;
  config.fourier_max_frequency = 3.25;
  config.relative_ridge = true;
  config.reference_points = 77;
  const Json json = config.to_json();
  EXPECT_EQ(ModelConfig::from_json(json).to_json(), json);
  EXPECT_EQ(json["form"], "few_shot");
  EXPECT_EQ(json["activation"], "silu");
  EXPECT_EQ(json["reference_points"], 77);
}

TEST(ModelConfig, SettingsOfLateStandInJsonOnlyWhereTheyAreUsed) {
  ModelConfig config;
  config.coordinate_dimension = 1;
  EXPECT_FALSE(config.to_json().contains("blend"));
  EXPECT_FALSE(config.to_json().contains("learned_frequencies"));
  config.blend = 0.25;
  config.sinusoids = 2;
  config.learned_frequencies = true;
  const Json json = config.to_json();
  EXPECT_EQ(json["blend"], 0.25);
  const ModelConfig read = ModelConfig::from_json(json);
  EXPECT_EQ(read.to_json(), json);
  EXPECT_EQ(read.blend, 0.25);
  EXPECT_TRUE(read.learned_frequencies);
}

TEST(ModelConfig, RefusesBlendsAndFrequenciesThatNothingUses) {
  const auto message = [](const std::function<void(ModelConfig&)>& change) {
    ModelConfig config;
    config.coordinate_dimension = 1;
    change(config);
    return message_of<UsageError>([&] { config.validate(); });
  };
  EXPECT_EQ(message([](auto& c) { c.blend = 0.0; }),
            "model configuration: blend is 0; it must be above 0 and at most 1");
  EXPECT_EQ(message([](auto& c) { c.form = Form::paper, c.blend = 0.5; }),
            "model configuration: blend is of the functional transport in forms with a shared "
            "basis, found form paper, attention functional, mixing functional; leave it away, or "
            "give --ridge where the form has a fixed lambda");
  EXPECT_EQ(message([](auto& c) { c.mixing = Mixing::none, c.blend = 0.5; }),
            "model configuration: blend is of the functional transport in forms with a shared "
            "basis, found form shared_basis, attention functional, mixing none; leave it away, or "
            "give --ridge where the form has a fixed lambda");
  EXPECT_EQ(message([](auto& c) { c.learned_frequencies = true; }),
            "model configuration: learned_frequencies are those of the sinusoids, but sinusoids is "
            "0; say how many");
  EXPECT_EQ(message([](auto& c) {
              c.form = Form::sum_coefficients, c.sinusoids = 1, c.learned_frequencies = true;
            }),
            "model configuration: learned_frequencies are for forms with a residual network, found "
            "sum_coefficients");
}

/// Where training begins, learned and fixed are one model: alpha is 0, and frequencies are pi m.
TEST(Model, FixedBlendAndLearnedFrequenciesBeginWhereTheOthersDo) {
  const torch::NoGradGuard no_grad;
  ModelConfig config;
  config.coordinate_dimension = 2;
  config.width = 8;
  config.basis = 5;
  config.blocks = 2;
  config.sinusoids = 3;
  Draw draw(torch::kFloat64);
  const PointSamples points{draw.uniform({2, 30, 2}, -1, 1), {}, draw.uniform({2, 30}, 0.1, 1)};
  const auto model = make_model(config, torch::kFloat64, 3);
  const Tensor expected = model->predict(points, points);
  ModelConfig fixed = config;
  fixed.blend = 0.5;
  const auto with_fixed = make_model(fixed, torch::kFloat64, 3);
  EXPECT_TRUE(at::equal(with_fixed->predict(points, points), expected));
  EXPECT_EQ(with_fixed->parameter_count(), model->parameter_count() - config.blocks);
  fixed.blend = 0.9;
  EXPECT_GT(
      relative_difference(make_model(fixed, torch::kFloat64, 3)->predict(points, points), expected),
      1e-4);
  ModelConfig learned = config;
  learned.learned_frequencies = true;
  const auto with_learned = make_model(learned, torch::kFloat64, 3);
  EXPECT_LE(relative_difference(with_learned->predict(points, points), expected), 1e-12);
  EXPECT_EQ(with_learned->named_parameters()["frequencies"].numel(), 6);
  with_learned->named_parameters()["frequencies"].mul_(1.1);
  EXPECT_GT(relative_difference(with_learned->predict(points, points), expected), 1e-3);
}

TEST(ModelConfig, RefusesJsonThatIsNotAConfiguration) {
  const auto read = [](const Json& json) {
    return message_of<OperatorFileError>([&] { ModelConfig::from_json(json); });
  };
  Json json = few_shot_config().to_json();
  EXPECT_EQ(read(Json::array()), "model configuration: expected a JSON object, found array");
  json.erase("width");
  EXPECT_EQ(read(json), "model configuration: 'width' is missing");
  json["width"] = 3.5;
  EXPECT_EQ(read(json),
            "model configuration: 'width' is 3.5; expected an integer from 0 to 1048576");
  json["width"] = -4;
  EXPECT_EQ(read(json),
            "model configuration: 'width' is -4; expected an integer from 0 to 1048576");
  json["width"] = 16;
  json["ridge"] = "much";
  EXPECT_EQ(read(json), "model configuration: 'ridge' is \"much\"; expected a number");
  json["ridge"] = 0.0;
  EXPECT_EQ(read(json), "model configuration: ridge is 0; it must be a finite number above 0");
  json["ridge"] = 0.1;
  json["cross"] = 1;
  EXPECT_EQ(read(json), "model configuration: 'cross' is 1; expected true or false");
  json["cross"] = false;
  json["colour"] = "red";
  EXPECT_EQ(read(json),
            "model configuration: unknown setting 'colour'; the file may come from a newer version "
            "of funcattn");
  json.erase("colour");
  json["form"] = "few_shots";
  EXPECT_EQ(read(json),
            "form: unknown name 'few_shots'; known are paper, shared_basis, shared_basis_tied, "
            "segmentation, few_shot, sum_coefficients; did you mean 'few_shot'?");
}

TEST(ModelConfig, ContradictionsNameBothNumbers) {
  const auto refuse = [](const std::function<void(ModelConfig&)>& change,
                         ModelConfig config = few_shot_config()) {
    change(config);
    return message_of<UsageError>([&] { make_model(config); });
  };
  ModelConfig shared;
  shared.coordinate_dimension = 2;
  EXPECT_EQ(refuse([](ModelConfig& c) { c.width = 30; }, shared),
            "model configuration: width 30 is not divisible by heads 4; each head needs as many "
            "channels");
  EXPECT_EQ(
      refuse([](ModelConfig& c) { c.coordinate_dimension = 0; }, shared),
      "model configuration: coordinate_dimension and value_features are both 0; a point needs "
      "at least one feature");
  EXPECT_EQ(refuse([](ModelConfig& c) { c.blocks = 0; }, shared),
            "model configuration: blocks is 0; it must be from 1 to 1048576");
  EXPECT_EQ(refuse([](ModelConfig& c) { c.cross = true; }, shared),
            "model configuration: cross is for the form paper; shared_basis fixes what its queries "
            "are");
  EXPECT_EQ(refuse([](ModelConfig& c) { c.temperature = NAN; }, shared),
            "model configuration: temperature is nan; it must be a finite number above 0");
  EXPECT_EQ(refuse([](ModelConfig& c) { c.out_features = 3; }),
            "model configuration: few_shot maps context values to values of the same kind, but "
            "value_features is 1 and out_features is 3; make them equal");
  EXPECT_EQ(refuse([](ModelConfig& c) { c.ridge = 2; }),
            "model configuration: few_shot blends (1 - ridge) Gram + ridge I, but ridge is 2; it "
            "must be below 1");
  ModelConfig paper = shared;
  paper.form = Form::paper;
  EXPECT_EQ(refuse([](ModelConfig& c) { c.blocks = 0; }, paper),
            "model configuration: a bare paper layer (blocks 0) has as many inputs and outputs as "
            "its width, but inputs are 2, outputs 1, width 64; make them equal or set blocks");
  EXPECT_EQ(
      refuse([](ModelConfig& c) { c.cross = true; }, paper),
      "model configuration: cross attention is one bare layer, but blocks is 4; set blocks to "
      "0 or cross to false");
  EXPECT_NE(refuse([](ModelConfig& c) { c.coefficients = Coefficients::sum; }, paper)
                .find("mean or integral, found sum"),
            std::string::npos);
  EXPECT_EQ(message_of<UsageError>([&] { make_model(shared, torch::kFloat16); }),
            "model: dtype is Half; choose float32 or float64");
  EXPECT_EQ(message_of<UsageError>([] { activation_from_string("relo"); }),
            "activation: unknown name 'relo'; did you mean 'relu'?");
}

TEST(FewShot, IsLinearInTheContextValues) {
  const torch::NoGradGuard no_grad;
  const auto model = make_model(few_shot_config(), torch::kFloat64, 1);
  Draw draw(torch::kFloat64);
  const Tensor x = draw.normal({2, 8, 1});
  const Tensor a = draw.normal({2, 8, 1});
  const Tensor b = draw.normal({2, 8, 1});
  const PointSamples query{draw.normal({2, 20, 1}), Tensor(), Tensor()};
  const auto predict = [&](const Tensor& y) {
    return model->predict({x, y, at::ones({2, 8}, y.options())}, query);
  };
  EXPECT_LE(relative_difference(predict(2 * a - 3 * b), 2 * predict(a) - 3 * predict(b)), 1e-12);
}

// A weight multiplies the exponential of its point's logit.
TEST(FewShot, WeightCountsAsThatManyCoincidentPoints) {
  const torch::NoGradGuard no_grad;
  const auto model = make_model(few_shot_config(), torch::kFloat64, 1);
  Draw draw(torch::kFloat64);
  const Tensor x = draw.normal({1, 4, 1});
  const Tensor y = draw.normal({1, 4, 1});
  const PointSamples query{draw.normal({1, 20, 1}), Tensor(), Tensor()};
  const Tensor repeats = at::tensor({0, 1, 1, 1, 2, 3, 3}, torch::kInt64);
  const Tensor weighted =
      model->predict({x, y, at::tensor({1.0, 3.0, 1.0, 2.0}, torch::kFloat64).view({1, 4})}, query);
  const Tensor repeated = model->predict(
      {x.index_select(1, repeats), y.index_select(1, repeats), at::ones({1, 7}, x.options())},
      query);
  EXPECT_LE(relative_difference(weighted, repeated), 1e-12);
}

TEST(FewShot, FrequenciesStartEvenlySpaced) {
  ModelConfig config = few_shot_config();
  config.fourier_features = 4;
  config.fourier_max_frequency = 2.0;
  const auto parameters = make_model(config, torch::kFloat64)->named_parameters();
  EXPECT_TRUE(parameters["frequencies"].allclose(
      at::tensor({0.5, 1.0, 1.5, 2.0}, torch::kFloat64).view({1, 4})));
  EXPECT_EQ(parameters["to_q.0.weight"].size(1), 8);
}

// Spectral norms bound the change of the paper's layer. With A = K K^T + lambda I, |A^-1| <=
// 1/lambda and A'^-1 - A^-1 = A'^-1 (A - A') A^-1, the transport C = Q K^T A^-1 of two inputs
// differs by
//   |C' - C| <= |Q'K'^T - QK^T| / lambda + |Q K^T| |K'K'^T - KK^T| / lambda^2,
// and Y = Phi C V by
//   |Y' - Y| <= |Phi' - Phi| |Q'K'^T| |V'| / lambda + |Phi| |C' - C| |V'|
//               + |Phi| |QK^T| |V' - V| / lambda.
TEST(Paper, ChangeOfTheResultIsBoundedInTheRidge) {
  const torch::NoGradGuard no_grad;
  ModelConfig config;
  config.form = Form::paper;
  config.blocks = 0;
  config.heads = 1;
  config.basis = 6;
  config.width = config.value_features = config.out_features = 8;
  Draw draw(torch::kFloat64);
  const Tensor x = draw.normal({1, 50, 8});
  const Tensor moved = x + 1e-3 * draw.normal({1, 50, 8});
  const auto weights = at::ones({1, 50}, x.options());
  const auto parameters = make_model(config, torch::kFloat64, 2)->named_parameters();

  struct Parts {
    Tensor phi, q, k, v;
  };
  const auto parts = [&](const Tensor& input) {
    const auto linear = [&](const std::string& name) {
      return input[0].mm(parameters[name + ".weight"].t()) + parameters[name + ".bias"];
    };
    const auto basis = [&](const std::string& name) {
      return at::softmax(linear(name) / config.temperature, 1);
    };
    const auto mean = [&](const Tensor& functions, const Tensor& field) {
      return functions.t().mm(field) / (functions.sum(0).unsqueeze(1) + 1e-5 * 50 / 1000);
    };
    const Tensor phi = basis("basis_q");
    const Tensor psi = basis("basis_k");
    return Parts{phi, mean(phi, linear("q")), mean(psi, linear("k")), mean(psi, linear("v"))};
  };
  const auto norm = [](const Tensor& matrix) {
    return at::linalg_matrix_norm(matrix, 2).item<double>();
  };
  const Parts a = parts(x);
  const Parts b = parts(moved);
  const Tensor qk = a.q.mm(a.k.t());
  const Tensor qk_moved = b.q.mm(b.k.t());
  const double out = norm(parameters["out.weight"]);
  const double first = out * (norm(b.phi - a.phi) * norm(qk_moved) * norm(b.v) +
                              norm(a.phi) * norm(qk_moved - qk) * norm(b.v) +
                              norm(a.phi) * norm(qk) * norm(b.v - a.v));
  const double second =
      out * norm(a.phi) * norm(qk) * norm(b.k.mm(b.k.t()) - a.k.mm(a.k.t())) * norm(b.v);

  double previous = 0;
  for (const double ridge : {1.0, 1e-1, 1e-2, 1e-3, 1e-4}) {
    config.ridge = ridge;
    const auto model = make_model(config, torch::kFloat64, 2);
    const auto predict = [&](const Tensor& input) {
      const PointSamples samples{at::empty({1, 50, 0}, x.options()), input, weights};
      return model->predict(samples, samples)[0];
    };
    const Tensor result = predict(x);
    const Tensor dense = a.phi.mm(qk)
                             .mm(at::linalg_inv(a.k.mm(a.k.t()) + ridge * at::eye(6, x.options())))
                             .mm(a.v)
                             .mm(parameters["out.weight"].t()) +
                         parameters["out.bias"];
    EXPECT_LE(relative_difference(result, dense), 1e-9);
    const double change = norm(predict(moved) - result);
    EXPECT_LE(change, first / ridge + second / (ridge * ridge)) << "ridge " << ridge;
    EXPECT_GT(change, previous) << "ridge " << ridge;
    previous = change;
  }
}

Sample sample_of(const std::string& name, std::int64_t count) {
  Sample sample;
  sample.name = name;
  const auto options = at::TensorOptions().dtype(torch::kFloat64);
  sample.source = {at::full({count, 2}, 1.0, options), at::full({count, 3}, 2.0, options),
                   at::full({count}, 0.5, options)};
  sample.query = sample.source;
  sample.targets = at::full({count, 1}, 4.0, options);
  return sample;
}

TEST(Collate, PadsWithZeros) {
  const Batch batch = collate({sample_of("a", 2), sample_of("b", 5)});
  EXPECT_EQ(batch.names, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(batch.source.coordinates.sizes(), at::IntArrayRef({2, 5, 2}));
  EXPECT_EQ(batch.source.weights[0].sum().item<double>(), 1.0);
  EXPECT_EQ(batch.source.weights[1].sum().item<double>(), 2.5);
  EXPECT_EQ(batch.source.values[0].sum().item<double>(), 12.0);
  EXPECT_EQ(batch.targets[0].sum().item<double>(), 8.0);
  EXPECT_EQ(batch.targets.sizes(), at::IntArrayRef({2, 5, 1}));
  EXPECT_TRUE(batch.query.coordinates.is_same(batch.source.coordinates));
}

TEST(Collate, NamesTheSampleThatDoesNotFit) {
  const auto refuse = [](const std::function<void(Sample&)>& change) {
    Sample odd = sample_of("odd", 3);
    change(odd);
    return message_of<DataError>([&] { collate({sample_of("first", 2), odd}); });
  };
  EXPECT_EQ(refuse([](Sample& s) {
              s.source.values = at::ones({3, 2}, torch::kFloat64);
            }),
            "sample 'odd': source values with 2 components; sample 'first' has 3");
  EXPECT_EQ(refuse([](Sample& s) {
              s.targets = at::ones({3, 1}, torch::kFloat32);
            }),
            "sample 'odd': targets of type Float; sample 'first' has Double");
  EXPECT_EQ(refuse([](Sample& s) { s.targets = Tensor(); }),
            "sample 'odd': targets missing, unlike in sample 'first'; samples of one batch must "
            "hold the same arrays");
  EXPECT_EQ(
      refuse([](Sample& s) { s.query_is_source = false; }),
      "sample 'odd': its queries differ from its source, unlike in sample 'first'; do not mix "
      "the two");
  EXPECT_EQ(refuse([](Sample& s) {
              s.source.coordinates = at::ones({4, 2}, torch::kFloat64);
            }),
            "sample 'odd': source coordinates of 4 points; its weights have 3");
  EXPECT_EQ(message_of<DataError>([] { collate({}); }),
            "collate: no samples; a batch needs at least one");
}

}  // namespace
}  // namespace funcattn
