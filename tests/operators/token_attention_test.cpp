#include "operators/forms/token_attention.h"

#include <torch/csrc/autograd/autograd.h>
#include <torch/nn/modules/activation.h>

#include <limits>

#include "core/error.h"
#include "operators/engine/inference_engine.h"
#include "operators/operator.h"
#include "tests/operators/form_samples.h"

// The attentions for comparison, alone: against LibTorch's own, and against their formulas.

namespace funcattn {
namespace {

using testing::Draw;
using testing::relative_difference;

ModelConfig attention_config(Attention attention) {
  ModelConfig config = testing::base_config(Form::shared_basis);
  config.attention = attention;
  return config;
}

/// Points of both sides of an attention, 2 samples each.
struct Tokens {
  Tokens(std::int64_t count, torch::Dtype dtype, std::uint64_t seed)
      : x(Draw(dtype, seed).normal({2, count, 12})),
        coordinates(Draw(dtype, seed + 1).uniform({2, count, 2}, -1, 1)),
        weights(at::ones({2, count}, dtype)) {}
  Tensor x, coordinates, weights;
};

Tensor attend(TokenAttention& attention, const Tokens& query, const Tokens& source,
              AttentionObserver* observer = nullptr) {
  const PointMeasure query_measure(query.weights, query.x.scalar_type());
  const PointMeasure source_measure(source.weights, source.x.scalar_type());
  return attention.attend({query.x, query.coordinates, query_measure},
                          {source.x, source.coordinates, source_measure}, observer);
}

/// LibTorch's attention with the same parameters. Its axes are [N,B,width].
struct Reference {
  explicit Reference(const SoftmaxAttention& attention, torch::Dtype dtype)
      : module(torch::nn::MultiheadAttentionOptions(12, 3)) {
    const torch::NoGradGuard no_grad;
    module->to(dtype);
    const auto parameters = attention.named_parameters();
    const auto joined = [&](const char* kind) {
      return at::cat({parameters[std::string("q.") + kind], parameters[std::string("k.") + kind],
                      parameters[std::string("v.") + kind]},
                     0);
    };
    module->in_proj_weight.copy_(joined("weight"));
    module->in_proj_bias.copy_(joined("bias"));
    module->out_proj->weight.copy_(parameters["out.weight"]);
    module->out_proj->bias.copy_(parameters["out.bias"]);
  }
  Tensor operator()(const Tokens& query, const Tokens& source, const Tensor& absent = {},
                    const Tensor& mask = {}) {
    const auto by_point = [](const Tensor& x) { return x.transpose(0, 1); };
    return std::get<0>(module->forward(by_point(query.x), by_point(source.x), by_point(source.x),
                                       absent, true, mask))
        .transpose(0, 1);
  }
  torch::nn::MultiheadAttention module;
};

class SoftmaxAgainstLibTorch : public ::testing::TestWithParam<torch::Dtype> {
 protected:
  torch::Dtype dtype() const { return GetParam(); }
  double tolerance() const { return dtype() == torch::kFloat64 ? 1e-13 : 1e-5; }
  std::shared_ptr<SoftmaxAttention> make(bool causal = false) const {
    ModelConfig config = attention_config(Attention::softmax);
    config.causal = causal;
    Initialiser initialiser(dtype(), 5);
    return std::make_shared<SoftmaxAttention>(initialiser, config);
  }
};

INSTANTIATE_TEST_SUITE_P(Dtypes, SoftmaxAgainstLibTorch,
                         ::testing::Values(torch::kFloat32, torch::kFloat64),
                         [](const auto& instance) { return c10::toString(instance.param); });

TEST_P(SoftmaxAgainstLibTorch, SelfAndCross) {
  const auto attention = make();
  Reference reference(*attention, dtype());
  const Tokens source(23, dtype(), 1), query(9, dtype(), 2);
  EXPECT_LE(relative_difference(attend(*attention, source, source), reference(source, source)),
            tolerance());
  EXPECT_LE(relative_difference(attend(*attention, query, source), reference(query, source)),
            tolerance());
}

TEST_P(SoftmaxAgainstLibTorch, Padding) {
  const auto attention = make();
  Reference reference(*attention, dtype());
  Tokens source(23, dtype(), 1);
  const Tokens query(9, dtype(), 2);
  source.weights[0].narrow(0, 20, 3).zero_();
  source.weights[1].narrow(0, 4, 7).zero_();
  EXPECT_LE(relative_difference(attend(*attention, query, source),
                                reference(query, source, source.weights.eq(0))),
            tolerance());
}

TEST_P(SoftmaxAgainstLibTorch, CausalMask) {
  const auto attention = make(true);
  Reference reference(*attention, dtype());
  const Tokens source(23, dtype(), 1);
  // Added to the logits there.
  const Tensor later =
      at::full({23, 23}, -std::numeric_limits<double>::infinity(), dtype()).triu(1);
  EXPECT_LE(
      relative_difference(attend(*attention, source, source), reference(source, source, {}, later)),
      tolerance());
}

TEST(SoftmaxAttention, TakesQueriesInGroups) {
  const torch::NoGradGuard no_grad;
  // 2 samples x 3 heads x 3000 x 3000 logits are several groups; each query stands alone.
  Initialiser initialiser(torch::kFloat32, 5);
  ModelConfig config = attention_config(Attention::softmax);
  config.causal = true;
  config.memory_tokens = 2;
  config.position_bias = PositionBias::distance;
  SoftmaxAttention attention(initialiser, config);
  const Tokens tokens(3000, torch::kFloat32, 1);
  const Tensor all = attend(attention, tokens, tokens);
  Tokens first(0, torch::kFloat32, 1);
  first.x = tokens.x.narrow(1, 0, 1500);
  first.coordinates = tokens.coordinates.narrow(1, 0, 1500);
  first.weights = tokens.weights.narrow(1, 0, 1500);
  // What comes later is not seen; weights are relative, so that those of the tokens halve with n.
  EXPECT_EQ(all.size(1), 3000);
  config.memory_tokens = 0;
  Initialiser again(torch::kFloat32, 5);
  SoftmaxAttention without_memory(again, config);
  EXPECT_LE(relative_difference(attend(without_memory, tokens, tokens).narrow(1, 0, 1500),
                                attend(without_memory, first, first)),
            1e-5);
}

TEST(SoftmaxAttention, GradientsOfManyPointsAreThoseOfFewQueriesAtATime) {
  constexpr std::int64_t points = 1700, part = 850;
  static_assert(2 * 3 * points * points > softmax_weights_kept &&
                2 * 3 * part * points <= softmax_weights_kept);
  ModelConfig config = attention_config(Attention::softmax);
  config.memory_tokens = 2;
  config.causal = true;
  Initialiser initialiser(torch::kFloat64, 5);
  SoftmaxAttention attention(initialiser, config);
  Tokens tokens(points, torch::kFloat64, 1);
  tokens.x.requires_grad_();
  std::vector<Tensor> wanted = attention.parameters();
  wanted.push_back(tokens.x);
  const auto gradients = [&](const Tensor& result) {
    return torch::autograd::grad({result.square().sum()}, wanted);
  };
  const auto found = gradients(attend(attention, tokens, tokens).narrow(1, 0, part));
  Tokens query(0, torch::kFloat64, 1);
  query.x = tokens.x.narrow(1, 0, part);
  query.coordinates = tokens.coordinates.narrow(1, 0, part);
  query.weights = tokens.weights.narrow(1, 0, part);
  const auto expected = gradients(attend(attention, query, tokens));
  for (std::size_t i = 0; i < wanted.size(); ++i)
    EXPECT_LE(relative_difference(found[i], expected[i]), 1e-12) << i;
}

TEST(SoftmaxAttention, ADistanceBiasFollowsItsFormula) {
  ModelConfig config = attention_config(Attention::softmax);
  config.position_bias = PositionBias::distance;
  config.heads = 1;
  config.memory_tokens = 1;
  Initialiser initialiser(torch::kFloat64, 5);
  SoftmaxAttention attention(initialiser, config);
  const auto p = attention.named_parameters();
  Tokens tokens(4, torch::kFloat64, 1);
  tokens.weights = at::tensor({1.0, 2.0, 0.5, 0.5}, torch::kFloat64).expand({2, 4}).clone();
  const Tensor found = attend(attention, tokens, tokens);
  for (std::int64_t b = 0; b < 2; ++b)
    for (std::int64_t i = 0; i < 4; ++i) {
      const auto map = [&](const char* name, const Tensor& x) {
        return at::linear(x, p[std::string(name) + ".weight"], p[std::string(name) + ".bias"]);
      };
      const Tensor q = map("q", tokens.x[b][i]);
      Tensor sum = at::zeros({12}, torch::kFloat64);
      double total = 0;
      const auto add = [&](const Tensor& key, const Tensor& value, double weight, double bias) {
        const double e = weight * std::exp((q * key).sum().item<double>() / std::sqrt(12.0) + bias);
        sum = sum + e * value;
        total += e;
      };
      const double slope = std::log1p(std::exp(p["position_slope"][0].item<double>()));
      for (std::int64_t j = 0; j < 4; ++j)
        add(map("k", tokens.x[b][j]), map("v", tokens.x[b][j]), tokens.weights[b][j].item<double>(),
            -slope * (tokens.coordinates[b][i] - tokens.coordinates[b][j]).norm().item<double>());
      // The weights sum to 4; a token counts as one of 1000 points.
      add(p["memory_keys"][0][0], p["memory_values"][0][0], 4.0 / 1000, 0);
      EXPECT_LE(relative_difference(found[b][i], map("out", sum / total)), 1e-12);
    }
}

TEST(LinearAttention, IsTheWeightedMeanOfProducts) {
  Initialiser initialiser(torch::kFloat64, 5);
  ModelConfig config = attention_config(Attention::linear);
  config.heads = 1;
  LinearAttention attention(initialiser, config);
  const auto p = attention.named_parameters();
  Tokens query(3, torch::kFloat64, 1), source(7, torch::kFloat64, 2);
  source.weights = Draw(torch::kFloat64, 3).uniform({2, 7}, 0.1, 1);
  const auto map = [&](const char* name, const Tensor& x) {
    return at::linear(x, p[std::string(name) + ".weight"], p[std::string(name) + ".bias"]);
  };
  const auto normal = [](const Tensor& x) { return at::layer_norm(x, {12}); };
  const Tensor w = (source.weights / source.weights.sum(1, true)).unsqueeze(-1);
  const Tensor product =
      at::matmul((normal(map("k", source.x)) * w).transpose(1, 2), normal(map("v", source.x)));
  EXPECT_LE(relative_difference(attend(attention, query, source),
                                map("out", at::matmul(map("q", query.x), product))),
            1e-12);
}

TEST(RidgeAttention, IsRegressionInFeatureSpace) {
  for (const bool relative : {false, true}) {
    Initialiser initialiser(torch::kFloat64, 5);
    ModelConfig config = attention_config(Attention::ridge);
    config.heads = 1;
    config.ridge = 0.03;
    config.relative_ridge = relative;
    RidgeAttention attention(initialiser, config);
    const auto p = attention.named_parameters();
    Tokens query(3, torch::kFloat64, 1), source(7, torch::kFloat64, 2);
    source.weights = Draw(torch::kFloat64, 3).uniform({2, 7}, 0.1, 1);
    const auto map = [&](const char* name, const Tensor& x) {
      return at::linear(x, p[std::string(name) + ".weight"], p[std::string(name) + ".bias"]);
    };
    const Tensor found = attend(attention, query, source);
    for (std::int64_t b = 0; b < 2; ++b) {
      const Tensor w = at::diag(source.weights[b] / source.weights[b].sum());
      const Tensor k = map("k", source.x[b]);
      Tensor gram = at::matmul(k.t(), at::matmul(w, k));
      const double scale = relative ? gram.trace().item<double>() / 12 : 1;
      gram = gram + 0.03 * scale * at::eye(12, torch::kFloat64);
      const Tensor solved =
          at::matmul(at::linalg_inv(gram), at::matmul(k.t(), at::matmul(w, map("v", source.x[b]))));
      EXPECT_LE(relative_difference(found[b], map("out", at::matmul(map("q", query.x[b]), solved))),
                1e-10);
    }
  }
}

TEST(FourierAttention, ItsFunctionsAreOrthonormalOnTheCube) {
  // The middles of 20 x 20 cells, on which cosines are orthogonal as on the square.
  const Tensor x = (at::arange(20, torch::kFloat64) + 0.5) / 10 - 1;
  const auto axes = at::meshgrid({x, x}, "ij");
  const Tensor points = at::stack({axes[0].flatten(), axes[1].flatten()}, -1).unsqueeze(0);
  const Tensor basis = cosine_basis(points, 30)[0];
  const Tensor gram = at::matmul(basis.t(), basis) / 400;
  EXPECT_LE((gram - at::eye(30, torch::kFloat64)).abs().max().item<double>(), 1e-12);
  // 1, cosines of either axis, their product: (0,0), (0,1), (1,0), (1,1), (0,2).
  const double pi = std::acos(-1.0);
  const Tensor u = axes[0].flatten(), v = axes[1].flatten();
  const auto wave = [&](const Tensor& at, int m) {
    return (at + 1).mul(0.5 * pi * m).cos() * std::sqrt(2.0);
  };
  EXPECT_LE(relative_difference(basis.select(1, 0), at::ones_like(u)), 1e-14);
  EXPECT_LE(relative_difference(basis.select(1, 1), wave(v, 1)), 1e-13);
  EXPECT_LE(relative_difference(basis.select(1, 2), wave(u, 1)), 1e-13);
  EXPECT_LE(relative_difference(basis.select(1, 3), wave(u, 1) * wave(v, 1)), 1e-13);
  EXPECT_LE(relative_difference(basis.select(1, 4), wave(v, 2)), 1e-13);
}

TEST(WithoutEngine, PredictionsAreThoseOfTheOperations) {
  const torch::NoGradGuard no_grad;
  for (const auto& [name, config] : testing::configs_without_engine()) {
    const auto model = make_model(config, torch::kFloat32, 3);
    EXPECT_FALSE(model->has_engine()) << name;
    EXPECT_THROW(InferenceEngine{*model}, UsageError) << name;
    const PointSamples points = testing::random_points(config, 2, 30, torch::kFloat32, 4);
    Contract contract;
    InputArray input;
    input.name = "u";
    contract.inputs = {input};
    OutputArray output;
    output.name = "v";
    output.components = 2;
    contract.outputs = {output};
    contract.coordinates.axes = {0, 1};
    contract.coordinates.center = {0, 0};
    const Operator op(model, contract);
    EXPECT_TRUE(at::equal(op.predict(points, points), model->predict(points, points))) << name;
  }
}

TEST(WithoutEngine, OptionsThatDoNotGoTogetherAreRefused) {
  const auto message = [](const std::function<void(ModelConfig&)>& change) {
    ModelConfig config = testing::base_config(Form::shared_basis);
    change(config);
    try {
      config.validate();
    } catch (const UsageError& error) {
      return std::string(error.what());
    }
    return std::string("nothing was thrown");
  };
  EXPECT_EQ(message([](auto& c) { c.form = Form::paper, c.attention = Attention::linear; }),
            "model configuration: attention is linear, which is for the form shared_basis, found "
            "paper");
  EXPECT_EQ(
      message([](auto& c) { c.attention = Attention::ridge, c.bases = Bases::separate; }),
      "model configuration: attention ridge has no learned basis, but mixing is functional and "
      "bases separate; leave these away");
  EXPECT_EQ(message([](auto& c) { c.causal = true; }),
            "model configuration: causal is for softmax attention, but attention is functional");
  EXPECT_EQ(message([](auto& c) { c.attention = Attention::linear, c.memory_tokens = 1; }),
            "model configuration: memory_tokens is for softmax attention, but attention is linear");
  EXPECT_EQ(message([](auto& c) { c.form = Form::paper, c.bases = Bases::separate; }),
            "model configuration: bases is separate, which is for forms with a shared basis; paper "
            "has none");
  EXPECT_EQ(
      message([](auto& c) { c.form = Form::few_shot, c.value_features = 2, c.sinusoids = 1; }),
      "model configuration: sinusoids are not for few_shot, which has learned frequencies; "
      "set fourier_features");
}

}  // namespace
}  // namespace funcattn
