#include "operators/forms/token_attention.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/error.h"
#include "operators/forms/mixing.h"
#include "operators/grouped_function.h"
#include "operators/linear_solve.h"

namespace funcattn {

namespace {

/// Numbers of attention weights that are widened to float64 at a time, beyond one query.
constexpr std::int64_t observed_at_a_time = std::int64_t{1} << 20;
constexpr int bias_hidden_width = 16;
/// A logit whose exponential is 0 beside any other; finite, so that a sample without any point has
/// no NaN.
constexpr double no_logit = -1e30;

/// Chosen, not multiplied by 0: what is not there may hold anything. @param x [B,H,N,c]
Tensor clear_absent_rows(const Tensor& x, const PointMeasure& measure) {
  if (measure.all_present) return x;
  return x.masked_fill(measure.present.logical_not().unsqueeze(1).unsqueeze(-1), 0);
}

/// Divided by their sum over the last axis; 0 where that is 0.
Tensor scaled_to_one(const Tensor& weights) {
  const Tensor total = weights.sum(-1, true);
  return weights / at::where(total.gt(0), total, at::ones_like(total));
}

/// What an observer is shown of the attention of one group of queries after the other.
class AttentionSums {
 public:
  /// @param key_weights [B,N] float64, those of persistent tokens last
  /// @param query_weights [B,M] float64
  AttentionSums(const Tensor& key_weights, std::int64_t tokens, const Tensor& query_weights,
                int heads)
      : query_share_(scaled_to_one(query_weights)) {
    record_.share = scaled_to_one(key_weights);
    record_.tokens = tokens;
    record_.received =
        at::zeros({key_weights.size(0), heads, key_weights.size(1)}, key_weights.options());
    record_.divergence = at::zeros({key_weights.size(0), heads}, key_weights.options());
    log_share_ = record_.share.log().clamp_min(no_logit).unsqueeze(1).unsqueeze(-1);
  }

  /// @param attention [B,H,m,N] of m queries from `first` on
  void add(const Tensor& attention, std::int64_t first) {
    const std::int64_t queries = attention.size(2);
    const std::int64_t together = std::max<std::int64_t>(
        1, observed_at_a_time * queries / std::max<std::int64_t>(1, attention.numel()));
    for (std::int64_t begin = 0; begin < queries; begin += together) {
      const std::int64_t count = std::min(together, queries - begin);
      const Tensor p = attention.narrow(2, begin, count).to(torch::kFloat64);
      const Tensor share = query_share_.narrow(1, first + begin, count).unsqueeze(1);
      record_.received += at::matmul(share.unsqueeze(2), p).squeeze(2);
      const Tensor divergence =
          -at::special_entr(p).sum(-1) - at::matmul(p, log_share_).squeeze(-1);
      record_.divergence += (divergence * share).sum(-1);
    }
  }

  const PointAttentionRecord& record() const { return record_; }

 private:
  PointAttentionRecord record_;
  Tensor query_share_;  ///< [B,M]
  Tensor log_share_;    ///< [B,1,N,1]
};

/// [B,H,M,N] of the places [B,M,D] and [B,N,D]. @param slope [H] or undefined, with a `network`
Tensor position_bias(const Tensor& query, const Tensor& source, const Tensor& slope,
                     const std::shared_ptr<LinearStack>& network) {
  if (network)
    return network->forward(query.unsqueeze(2) - source.unsqueeze(1)).permute({0, 3, 1, 2});
  // Differences, not products: these lose the small distances.
  const Tensor distance = at::cdist(query.contiguous(), source.contiguous(), 2.0, 2);
  return -at::softplus(slope).view({-1, 1, 1}) * distance.unsqueeze(1);
}

/// [B,1,N,1]
Tensor share_of_rows(const PointMeasure& measure) {
  return measure.share.unsqueeze(1).unsqueeze(-1);
}

}  // namespace

ProjectedAttention::ProjectedAttention(Initialiser& initialiser, const ModelConfig& config)
    : heads_(config.heads) {
  const auto square = [&](const char* name) {
    return register_module(name, std::make_shared<Linear>(initialiser, config.width, config.width));
  };
  q_ = square("q");
  k_ = square("k");
  v_ = square("v");
  out_ = square("out");
}

Tensor ProjectedAttention::heads_of(const Linear& map, const Tensor& x) const {
  return split_heads(map.forward(x), heads_);
}

Tensor ProjectedAttention::joined(const Tensor& heads) const {
  return out_->forward(join_heads(heads));
}

SoftmaxAttention::SoftmaxAttention(Initialiser& initialiser, const ModelConfig& config)
    : ProjectedAttention(initialiser, config),
      causal_(config.causal),
      reference_points_(config.reference_points) {
  const int channels = config.width / config.heads;
  if (config.memory_tokens > 0) {
    memory_keys_ = register_parameter(
        "memory_keys", initialiser.uniform({heads_, config.memory_tokens, channels}, -1, 1));
    memory_values_ = register_parameter(
        "memory_values", initialiser.uniform({heads_, config.memory_tokens, channels}, -1, 1));
  }
  if (config.position_bias == PositionBias::distance)
    slope_ = register_parameter("position_slope", initialiser.even(-1, 1, heads_));
  if (config.position_bias == PositionBias::learned)
    learned_bias_ = register_module(
        "position_bias",
        std::make_shared<LinearStack>(
            initialiser, std::vector<int>{config.coordinate_dimension, bias_hidden_width, heads_},
            Activation::gelu, false));
}

Tensor SoftmaxAttention::attend(const TokenSet& query, const TokenSet& source,
                                AttentionObserver* observer) {
  const Tensor q = heads_of(*q_, query.x);
  Tensor k = clear_absent_rows(heads_of(*k_, source.x), source.measure);
  Tensor v = clear_absent_rows(heads_of(*v_, source.x), source.measure);
  const double scale = 1 / std::sqrt(static_cast<double>(q.size(3)));
  const Tensor& relative = source.measure.relative;
  Tensor key_weights = relative;
  const std::int64_t tokens = memory_keys_.defined() ? memory_keys_.size(1) : 0;
  if (tokens > 0) {
    const auto of_each_sample = [&](const Tensor& memory) {
      return memory.unsqueeze(0).expand({k.size(0), -1, -1, -1});
    };
    k = at::cat({k, of_each_sample(memory_keys_)}, 2);
    v = at::cat({v, of_each_sample(memory_values_)}, 2);
    const Tensor total = relative.sum(1, true);
    const Tensor of_token = reference_points_ > 0 ? total / reference_points_
                                                  : total / source.measure.count.view({-1, 1});
    key_weights = at::cat({relative, of_token.expand({-1, tokens})}, 1);
  }
  const Tensor log_weights =
      key_weights.log().clamp_min(no_logit).to(q.scalar_type()).unsqueeze(1).unsqueeze(1);
  std::optional<AttentionSums> sums;
  if (observer) sums.emplace(key_weights, tokens, query.measure.relative, heads_);

  const bool has_bias = slope_.defined() || learned_bias_ != nullptr;
  const std::int64_t for_each_query =
      k.size(0) * k.size(2) * (learned_bias_ ? std::max(heads_, bias_hidden_width) : heads_);
  const std::int64_t together = std::max<std::int64_t>(
      1, softmax_logits_at_a_time / std::max<std::int64_t>(1, for_each_query));
  GroupedFunction heads;
  heads.result_axis = 2;
  heads.rows = q.size(2);
  heads.at_a_time = together;
  heads.group = [=, shown = sums ? &*sums : nullptr, causal = causal_, slope = slope_,
                 network = learned_bias_](const std::vector<Tensor>& tensors, std::int64_t first) {
    Tensor logits = at::matmul(tensors[0] * scale, tensors[1].transpose(2, 3)).add_(log_weights);
    if (has_bias)
      logits.add_(
          at::constant_pad_nd(position_bias(tensors[3], tensors[4], slope, network), {0, tokens}));
    if (causal) {
      const auto index = at::TensorOptions().dtype(torch::kInt64).device(logits.device());
      const std::int64_t keys = logits.size(3);
      const Tensor later =
          at::arange(keys, index) > at::arange(first, first + logits.size(2), index).unsqueeze(1);
      logits.masked_fill_(later.logical_and(at::arange(keys, index) < keys - tokens), no_logit);
    }
    const Tensor attention = at::softmax(logits, -1);
    if (shown) shown->add(attention, first);
    return at::matmul(attention, tensors[2]);
  };
  std::vector<Tensor> tensors = {q, k, v};
  heads.axes = {2, GroupedFunction::whole_tensor, GroupedFunction::whole_tensor};
  if (has_bias) {
    tensors.insert(tensors.end(), {query.coordinates, source.coordinates});
    heads.axes.push_back(1);
    if (slope_.defined()) tensors.push_back(slope_);
    if (learned_bias_)
      for (const Tensor& parameter : learned_bias_->parameters()) tensors.push_back(parameter);
    heads.axes.resize(tensors.size(), GroupedFunction::whole_tensor);
  }
  const std::int64_t weights = k.size(0) * heads_ * q.size(2) * k.size(2);
  const Tensor result = evaluate(heads, tensors, weights <= softmax_weights_kept);
  if (sums) observer->observe_points(sums->record());
  return joined(result);
}

LinearAttention::LinearAttention(Initialiser& initialiser, const ModelConfig& config)
    : ProjectedAttention(initialiser, config) {
  const int channels = config.width / config.heads;
  k_norm_ = register_module("k_norm", std::make_shared<LayerNorm>(initialiser, channels));
  v_norm_ = register_module("v_norm", std::make_shared<LayerNorm>(initialiser, channels));
}

Tensor LinearAttention::attend(const TokenSet& query, const TokenSet& source, AttentionObserver*) {
  const Tensor q = heads_of(*q_, query.x);
  const auto normalised = [&](const Linear& map, const LayerNorm& norm) {
    const Tensor heads = heads_of(map, source.x);
    return clear_absent_rows(norm.forward(heads), source.measure);
  };
  const Tensor k = normalised(*k_, *k_norm_) * share_of_rows(source.measure);
  const Tensor map = accumulate(k, normalised(*v_, *v_norm_)).to(q.scalar_type());
  return joined(at::matmul(q, map));
}

RidgeAttention::RidgeAttention(Initialiser& initialiser, const ModelConfig& config)
    : ProjectedAttention(initialiser, config),
      ridge_(config.ridge),
      relative_ridge_(config.relative_ridge) {}

Tensor RidgeAttention::attend(const TokenSet& query, const TokenSet& source, AttentionObserver*) {
  const Tensor q = heads_of(*q_, query.x);
  // The system multiplies rounding errors by its condition: all of it is float64.
  const auto rows = [&](const Linear& map) {
    return clear_absent_rows(heads_of(map, source.x), source.measure).to(torch::kFloat64);
  };
  const Tensor k = rows(*k_);
  const Tensor v = rows(*v_);
  const Tensor& relative = source.measure.relative;
  const Tensor total = relative.sum(1, true);
  const Tensor share = relative / at::where(total.gt(0), total, 1.0);
  const Tensor weighted = k * share.unsqueeze(1).unsqueeze(-1);
  const Tensor gram = accumulate(weighted, k);
  Tensor ridge = at::full({}, ridge_, gram.options());
  if (relative_ridge_)
    ridge = ridge_ * gram.diagonal(0, -2, -1).mean(-1).unsqueeze(-1).unsqueeze(-1);
  const Tensor system = gram + ridge * at::eye(gram.size(-1), gram.options());
  const Tensor map = solve_positive_definite(system, accumulate(weighted, v));
  return joined(at::matmul(q, map.to(q.scalar_type())));
}

PointwiseAttention::PointwiseAttention(Initialiser& initialiser, const ModelConfig& config) {
  mlp_ = register_module(
      "mlp", std::make_shared<LinearStack>(
                 initialiser, std::vector<int>{config.width, config.width, config.width},
                 Activation::gelu, false));
}

Tensor PointwiseAttention::attend(const TokenSet& query, const TokenSet&, AttentionObserver*) {
  return mlp_->forward(query.x);
}

namespace {

/// The first vectors of numbers 0, 1, ... by their length; those of equal length in their order.
std::vector<std::vector<double>> wave_numbers(int axes, int count) {
  // A ball with so many vectors in its positive part reaches less far along an axis.
  const int largest = 2 * static_cast<int>(std::ceil(std::pow(count, 1.0 / axes))) + 1;
  std::vector<std::vector<double>> all(1);
  for (int axis = 0; axis < axes; ++axis) {
    std::vector<std::vector<double>> longer;
    for (const auto& begin : all)
      for (int m = 0; m <= largest; ++m) {
        longer.push_back(begin);
        longer.back().push_back(m);
      }
    all = std::move(longer);
  }
  const auto square = [](const std::vector<double>& m) {
    double sum = 0;
    for (const double one : m) sum += one * one;
    return sum;
  };
  std::stable_sort(all.begin(), all.end(),
                   [&](const auto& a, const auto& b) { return square(a) < square(b); });
  all.resize(static_cast<std::size_t>(count));
  return all;
}

}  // namespace

Tensor cosine_basis(const Tensor& coordinates, int functions) {
  const auto axes = static_cast<int>(coordinates.size(2));
  const auto waves = wave_numbers(axes, functions);
  Tensor basis;
  for (int axis = 0; axis < axes; ++axis) {
    std::vector<double> numbers, norms;
    for (const auto& wave : waves) {
      const double m = wave[static_cast<std::size_t>(axis)];
      numbers.push_back(m * 0.5 * std::acos(-1.0));
      norms.push_back(m > 0 ? std::sqrt(2.0) : 1.0);
    }
    const auto row = [&](const std::vector<double>& values) {
      return torch::tensor(values, torch::kFloat64)
          .to(coordinates.device(), coordinates.scalar_type());
    };
    const Tensor factor =
        ((coordinates.select(2, axis) + 1).unsqueeze(-1) * row(numbers)).cos() * row(norms);
    basis = basis.defined() ? basis * factor : factor;
  }
  return basis;
}

FourierAttention::FourierAttention(Initialiser& initialiser, const ModelConfig& config)
    : ProjectedAttention(initialiser, config),
      regularisation_(Regularisation::fixed(config.ridge, config.relative_ridge)),
      functions_(config.basis) {}

Tensor FourierAttention::attend(const TokenSet& query, const TokenSet& source,
                                AttentionObserver* observer) {
  const auto basis_of = [&](const TokenSet& tokens) {
    return cosine_basis(tokens.coordinates, functions_).unsqueeze(1).expand({-1, heads_, -1, -1});
  };
  const Tensor source_basis = basis_of(source);
  const Tensor query_basis = &query == &source ? source_basis : basis_of(query);
  const auto coefficients = [&](const Linear& map, const Tensor& basis, const TokenSet& tokens) {
    return project(basis, heads_of(map, tokens.x), tokens.measure, Coefficients::integral);
  };
  // Gradients of x add up in the reverse of this order, which the last digits of trainings depend
  // on.
  const Tensor values = coefficients(*v_, source_basis, source);
  const Tensor keys = coefficients(*k_, source_basis, source);
  const Tensor queries = coefficients(*q_, query_basis, query);
  const Tensor moved = transport(queries, keys, values, regularisation_);
  if (observer) {
    AttentionRecord record = transport_record(queries, keys, values, regularisation_);
    record.query_basis = query_basis;
    record.source_basis = source_basis;
    record.query_weights = query.measure.relative;
    record.source_weights = source.measure.relative;
    record.basis_sum = BasisSum::none;
    observer->observe(record);
  }
  return joined(reconstruct(query_basis, moved));
}

std::shared_ptr<TokenAttention> make_token_attention(Initialiser& initialiser,
                                                     const ModelConfig& config) {
  switch (config.attention) {
    case Attention::softmax:
      return std::make_shared<SoftmaxAttention>(initialiser, config);
    case Attention::linear:
      return std::make_shared<LinearAttention>(initialiser, config);
    case Attention::ridge:
      return std::make_shared<RidgeAttention>(initialiser, config);
    case Attention::pointwise:
      return std::make_shared<PointwiseAttention>(initialiser, config);
    case Attention::fourier:
      return std::make_shared<FourierAttention>(initialiser, config);
    case Attention::functional:
      break;
  }
  throw UsageError("attention functional is that of the form");
}

}  // namespace funcattn
