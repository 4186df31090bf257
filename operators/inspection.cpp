#include "operators/inspection.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/byte_size.h"
#include "core/error.h"
#include "core/memory_error.h"
#include "core/text.h"
#include "operators/forms/token_attention.h"

namespace funcattn {

namespace {

// Points whose basis is widened to float64 at a time.
constexpr std::int64_t points_at_a_time = 8192;

std::vector<double> numbers(const Tensor& tensor) {
  const Tensor flat = tensor.to(torch::kCPU, torch::kFloat64).contiguous();
  return {flat.data_ptr<double>(), flat.data_ptr<double>() + flat.numel()};
}

std::vector<std::int64_t> counts(const Tensor& tensor) {
  const Tensor flat = tensor.to(torch::kCPU, torch::kInt64).contiguous();
  return {flat.data_ptr<std::int64_t>(), flat.data_ptr<std::int64_t>() + flat.numel()};
}

/// In nats, over the last axis; 0 log 0 = 0.
Tensor entropy_of(const Tensor& shares) {
  return at::special_entr(shares).sum(-1);
}

double over_log(double entropy, std::int64_t choices) {
  return choices > 1 ? entropy / std::log(static_cast<double>(choices)) : 0.0;
}

/// @param basis [H,N,k], weights [N] float64
std::vector<BasisFigures> basis_figures(const Tensor& basis, const Tensor& weights, BasisSum kind,
                                        double threshold) {
  const std::int64_t heads = basis.size(0);
  const std::int64_t functions = basis.size(2);
  const auto options = weights.options();
  Tensor coverage = at::zeros({heads, functions}, options);
  Tensor served = at::zeros({heads, functions}, options);
  Tensor above = at::zeros({heads, functions}, options);
  Tensor entropy = at::zeros({heads}, options);
  for (std::int64_t first = 0; first < basis.size(1); first += points_at_a_time) {
    const std::int64_t count = std::min(points_at_a_time, basis.size(1) - first);
    const Tensor w = weights.narrow(0, first, count).view({1, count, 1});
    // Selected, not multiplied by 0: points that are not there may hold anything.
    Tensor values = at::where(w.gt(0), basis.narrow(1, first, count).to(torch::kFloat64), 0.0);
    if (kind == BasisSum::none) values = values.square();
    const Tensor sums = values.sum(-1, true);
    const Tensor shares = values / at::where(sums.gt(0), sums, 1.0);
    if (kind == BasisSum::points) values = shares;
    coverage += (values * w).sum(1);
    served += values.sum(1);
    above += values.gt(threshold).sum(1).to(torch::kFloat64);
    entropy += (entropy_of(shares) * w.squeeze(-1)).sum(1);
  }
  const double total = weights.sum().item<double>();
  if (total > 0) {
    coverage /= total;
    entropy /= total;
  }
  std::vector<BasisFigures> figures;
  for (std::int64_t head = 0; head < heads; ++head) {
    BasisFigures one;
    const double nats = entropy[head].item<double>();
    one.entropy = over_log(nats, functions);
    one.effective_functions = std::exp(nats);
    one.coverage = numbers(coverage[head]);
    one.points_served = numbers(served[head]);
    one.above_threshold = counts(above[head]);
    for (const double share : one.coverage) one.row_sum += share;
    figures.push_back(std::move(one));
  }
  return figures;
}

double condition_number(const Tensor& system) {
  if (!system.isfinite().all().item<bool>()) return std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> eigenvalues = numbers(at::linalg_eigvalsh(system));
  const double smallest = eigenvalues.front();
  const double largest = eigenvalues.back();
  const double resolved = largest * std::numeric_limits<double>::epsilon();
  return smallest > resolved ? largest / smallest : std::numeric_limits<double>::infinity();
}

void describe_transport(const AttentionRecord& record, std::int64_t head, HeadInspection& to) {
  const Tensor matrix = record.transport[0][head];
  to.rows = static_cast<int>(matrix.size(0));
  to.columns = static_cast<int>(matrix.size(1));
  to.transport = numbers(matrix);
  if (matrix.isfinite().all().item<bool>())
    to.singular_values = numbers(at::linalg_svdvals(matrix));
  else
    to.singular_values.assign(static_cast<std::size_t>(std::min(to.rows, to.columns)),
                              std::numeric_limits<double>::quiet_NaN());
  if (record.system.defined()) to.condition_number = condition_number(record.system[0][head]);
  if (!record.transport_is_attention) return;
  to.attention_entropy = over_log(entropy_of(matrix).mean().item<double>(), matrix.size(1));
  to.attention_coverage = numbers(matrix.mean(0));
}

/// exp of minus the divergence from `share` over the last axis: how much of the domain is taken up.
double taken_up(double divergence) {
  // Rounding alone makes it negative.
  return std::exp(-std::max(divergence, 0.0));
}

/// received / share that 0, 1, ..., 100 per cent of the domain exceed.
std::vector<double> received_by_domain(const Tensor& ratio, const Tensor& share) {
  constexpr std::size_t per_cent = 100;
  std::vector<double> result(per_cent + 1, std::numeric_limits<double>::quiet_NaN());
  if (ratio.numel() == 0) return result;
  const auto [values, order] = ratio.sort(0, /*descending=*/true);
  const std::vector<double> sorted = numbers(values);
  const std::vector<double> reached = numbers(share.index_select(0, order).cumsum(0));
  std::size_t key = 0;
  for (std::size_t i = 0; i <= per_cent; ++i) {
    const double wanted = static_cast<double>(i) / static_cast<double>(per_cent);
    while (key + 1 < sorted.size() && reached[key] < wanted) ++key;
    result[i] = sorted[key];
  }
  return result;
}

PointAttentionFigures point_attention(const PointAttentionRecord& record, std::int64_t head) {
  const Tensor present = record.share[0].gt(0);
  const Tensor share = record.share[0].masked_select(present);
  const Tensor received = record.received[0][head].masked_select(present);
  PointAttentionFigures figures;
  figures.keys = share.numel();
  figures.tokens = record.tokens;
  figures.domain = taken_up(record.divergence[0][head].item<double>());
  figures.effective_keys = figures.domain * static_cast<double>(figures.keys);
  figures.entropy = 1 + over_log(std::log(figures.domain), figures.keys);
  const Tensor ratio = received / share;
  figures.received_domain = taken_up(at::xlogy(received, ratio).sum().item<double>());
  // Beyond rounding: attention that is alike everywhere favours no key.
  figures.above_share = ratio.gt(1 + 1e-6).sum().item<std::int64_t>();
  figures.received = received_by_domain(ratio, share);
  return figures;
}

class Inspector final : public AttentionObserver {
 public:
  Inspector(const InspectionOptions& options,
            const std::function<void(const BlockInspection&)>& visit)
      : options_(options), visit_(visit) {}

  void observe_points(const PointAttentionRecord& record) override {
    const int block = ++block_;
    if (!is_chosen(block)) return;
    BlockInspection result;
    result.block = block;
    if (options_.keep_basis) {
      const std::int64_t points = record.share.size(1) - record.tokens;
      result.received = (record.received[0] / record.share[0]).narrow(1, 0, points);
    }
    for (std::int64_t head = 0; head < record.received.size(1); ++head) {
      HeadInspection one;
      one.block = block;
      one.head = static_cast<int>(head) + 1;
      one.points = point_attention(record, head);
      result.heads.push_back(std::move(one));
    }
    visit_(result);
  }

  void observe(const AttentionRecord& record) override {
    const int block = ++block_;
    if (!is_chosen(block)) return;
    BlockInspection result;
    result.block = block;
    result.coefficients = record.coefficients[0];
    result.transport = record.transport[0];
    result.queries_act_directly = record.queries_act_directly;
    if (options_.keep_basis) {
      result.query_basis = record.query_basis[0];
      result.source_basis = record.source_basis.is_same(record.query_basis)
                                ? result.query_basis
                                : record.source_basis[0];
    }
    const auto figures = basis_figures(record.source_basis[0], record.source_weights[0],
                                       record.basis_sum, options_.threshold);
    std::vector<BasisFigures> of_query;
    if (!record.queries_act_directly && !record.query_basis.is_same(record.source_basis))
      of_query = basis_figures(record.query_basis[0], record.query_weights[0], record.basis_sum,
                               options_.threshold);
    for (std::size_t head = 0; head < figures.size(); ++head) {
      HeadInspection one;
      one.block = block;
      one.head = static_cast<int>(head) + 1;
      one.basis = figures[head];
      if (!of_query.empty()) one.query_basis = of_query[head];
      describe_transport(record, static_cast<std::int64_t>(head), one);
      result.heads.push_back(std::move(one));
    }
    visit_(result);
  }

 private:
  bool is_chosen(int block) const {
    const std::vector<int>& chosen = options_.blocks;
    return chosen.empty() || std::find(chosen.begin(), chosen.end(), block) != chosen.end();
  }

  const InspectionOptions& options_;
  const std::function<void(const BlockInspection&)>& visit_;
  int block_ = 0;
};

void check_memory(const Model& model, std::int64_t source, std::int64_t query,
                  const InspectionOptions& options) {
  const std::size_t number = model.dtype() == torch::kFloat32 ? sizeof(float) : sizeof(double);
  const double needed = inspection_bytes(model.config(), options, source, query, number);
  const double limit = options.memory_limit > 0 ? static_cast<double>(options.memory_limit)
                                                : 0.5 * memory_of_machine();
  if (needed > limit)
    throw MemoryError("looking into the operator at " + std::to_string(std::max(source, query)) +
                      " points takes about " + format_bytes(needed) + ", more than the limit of " +
                      format_bytes(limit) +
                      "; inspect a coarser mesh: the functions are the same at any resolution");
}

}  // namespace

int attention_blocks(const ModelConfig& config) {
  return config.form == Form::few_shot ? 1 : std::max(config.blocks, 1);
}

void check_blocks(const ModelConfig& config, const InspectionOptions& options) {
  const int blocks = attention_blocks(config);
  for (const int block : options.blocks)
    if (block < 1 || block > blocks)
      throw UsageError("there is no block " + std::to_string(block) +
                       " to look into; the operator has " +
                       (blocks == 1 ? "one" : "1 to " + std::to_string(blocks)));
}

double inspection_bytes(const ModelConfig& config, const InspectionOptions& options,
                        std::int64_t source_points, std::int64_t query_points,
                        std::size_t bytes_per_number) {
  const double points = static_cast<double>(source_points) + static_cast<double>(query_points);
  if (config.attention == Attention::softmax) {
    const double for_each_query = config.heads * points;
    const double logits =
        std::max(for_each_query,
                 std::min(static_cast<double>(softmax_logits_at_a_time), for_each_query * points));
    // Logits, what is added to them, their softmax; features, q, k, v and what heads receive.
    return 4 * logits * static_cast<double>(bytes_per_number) +
           points *
               (config.width * (8.0 + config.mlp_ratio) * static_cast<double>(bytes_per_number) +
                config.heads * sizeof(double) * (options.keep_basis ? 8.0 : 6.0));
  }
  const double functions = static_cast<double>(config.heads) * config.basis;
  const bool wide_heads = config.form == Form::sum_coefficients;
  const bool two_bases = wide_heads || config.form == Form::paper || config.bases != Bases::shared;
  const double joined = static_cast<double>(config.width) * (wide_heads ? config.heads : 1);
  const double hidden =
      config.width * static_cast<double>(std::max(config.mlp_ratio, 2)) + config.ffn_width;
  double at_point = functions * (two_bases ? 4 : 3) + joined * 4 + hidden;
  if (options.keep_basis) {
    const auto blocks = options.blocks.empty() ? static_cast<std::size_t>(attention_blocks(config))
                                               : options.blocks.size();
    const double kept = functions * (two_bases ? 2 : 1) * static_cast<double>(blocks);
    // Whoever keeps them writes them, through a buffer that holds the file.
    at_point = std::max(at_point + kept, 2.2 * kept);
  }
  return points * at_point * static_cast<double>(bytes_per_number) +
         points_at_a_time * functions * sizeof(double) * 6;
}

Tensor inspect(Model& model, const PointSamples& source, const PointSamples& query,
               const InspectionOptions& options,
               const std::function<void(const BlockInspection&)>& visit) {
  check_blocks(model.config(), options);
  if (source.weights.size(0) != 1)
    throw UsageError("one sample can be looked into at a time, found " +
                     std::to_string(source.weights.size(0)));
  check_memory(model, source.weights.size(1), model.separates_query() ? query.weights.size(1) : 0,
               options);
  const torch::NoGradGuard no_gradients;
  Inspector inspector(options, visit);
  return model.predict_observed(source, query, inspector);
}

}  // namespace funcattn
