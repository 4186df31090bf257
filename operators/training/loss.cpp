#include "operators/training/loss.h"

#include <sstream>

#include "core/error.h"
#include "core/text.h"

namespace funcattn {

const char* to_string(Loss loss) {
  switch (loss) {
    case Loss::mse:
      return "mse";
    case Loss::relative_l2:
      return "relative_l2";
    case Loss::log_relative_l2:
      return "log_relative_l2";
    case Loss::cross_entropy:
      return "cross_entropy";
  }
  return "";
}

Loss loss_from_string(const std::string& text) {
  std::vector<std::string> names;
  for (const Loss loss :
       {Loss::mse, Loss::relative_l2, Loss::log_relative_l2, Loss::cross_entropy}) {
    if (text == to_string(loss)) return loss;
    names.emplace_back(to_string(loss));
  }
  const auto meant = closest_match(text, names);
  throw UsageError("unknown loss '" + text + "': expected one of " + join(names, ", ") +
                   (meant ? "; did you mean " + *meant + "?" : ""));
}

namespace {

// Errors far below its root, 1e-6, no longer count.
constexpr double log_relative_l2_offset = 1e-12;

void require_class_shapes(const Tensor& logits, const Tensor& classes, const Tensor& weights) {
  const bool fit = logits.dim() == 3 && classes.sizes() == weights.sizes() &&
                   weights.sizes() == logits.sizes().slice(0, 2);
  if (fit) return;
  std::ostringstream text;
  text << "cross-entropy: expected logits [B,M,C], classes [B,M] and weights [B,M], found "
       << logits.sizes() << ", " << classes.sizes() << " and " << weights.sizes();
  throw UsageError(text.str());
}

void require_shapes(const Tensor& prediction, const Tensor& target, const Tensor& weights) {
  const bool fit = prediction.dim() == 3 && prediction.sizes() == target.sizes() &&
                   weights.sizes() == prediction.sizes().slice(0, 2);
  if (fit) return;
  std::ostringstream text;
  text << "loss: expected prediction and target [B,M,C] and weights [B,M], found "
       << prediction.sizes() << ", " << target.sizes() << " and " << weights.sizes();
  throw UsageError(text.str());
}

/// Sums over the points of each sample that are here, [B].
struct PointSums {
  Tensor error;  ///< Squares of what the prediction lacks, weighed; differentiable.
  Tensor size;   ///< Squares of the target, weighed.
  Tensor weight;
};

Tensor of_sums(Loss loss, const PointSums& here, std::int64_t channels, double floor,
               ProcessGroup& processes) {
  const Tensor sums = at::stack({here.error.detach(), here.size, here.weight}).cpu().contiguous();
  processes.sum(sums.data_ptr<double>(), static_cast<std::size_t>(sums.numel()));
  // The sum of all, in which each process differentiates its own part.
  const Tensor error = here.error + (sums[0] - here.error.detach());
  const Tensor weight = sums[2];
  if (loss == Loss::mse) return error / (weight * channels);
  const Tensor size = at::maximum(sums[1], weight * (floor * floor));
  if (loss == Loss::log_relative_l2) return (error / size + log_relative_l2_offset).log();
  // The gradient at an exact fit is 0, not that of a root.
  const Tensor misses = error.gt(0);
  return at::where(misses, error, at::ones_like(error)).sqrt() * misses / size.sqrt();
}

}  // namespace

Tensor sample_losses(Loss loss, const Tensor& prediction, const Tensor& target,
                     const Tensor& weights, double floor, ProcessGroup* processes) {
  if (loss == Loss::cross_entropy)
    throw UsageError("the loss cross_entropy is of classes, not of fields");
  require_shapes(prediction, target, weights);
  const Tensor absent = weights.le(0).unsqueeze(-1);
  const Tensor w = weights.to(torch::kFloat64).clamp_min(0);
  const Tensor total = w.sum(1);
  const Tensor truth = target.to(torch::kFloat64);
  // Filling after the subtraction sends no gradient, hence no NaN, to absent points.
  const Tensor difference = (prediction.to(torch::kFloat64) - truth).masked_fill(absent, 0);
  if (processes) {
    const auto square_sum = [&](const Tensor& values) {
      return (values.square() * w.unsqueeze(-1)).sum({1, 2});
    };
    return of_sums(loss, {square_sum(difference), square_sum(truth.masked_fill(absent, 0)), total},
                   prediction.size(2), floor, *processes);
  }
  if (loss == Loss::mse)
    return (difference.square() * w.unsqueeze(-1)).sum({1, 2}) / (total * prediction.size(2));
  if (loss == Loss::log_relative_l2) {
    const auto square_sum = [&](const Tensor& values) {
      return (values.square() * w.unsqueeze(-1)).sum({1, 2});
    };
    const Tensor size = square_sum(truth.masked_fill(absent, 0));
    const Tensor relative = square_sum(difference) / at::maximum(size, total * (floor * floor));
    return (relative + log_relative_l2_offset).log();
  }
  // The gradient of a vector norm at 0 is defined as 0; that of sqrt(sum of squares) is NaN.
  const Tensor root = w.sqrt().unsqueeze(-1);
  const Tensor error = at::linalg_vector_norm(difference * root, 2, at::IntArrayRef{1, 2});
  const Tensor size =
      at::linalg_vector_norm(truth.masked_fill(absent, 0) * root, 2, at::IntArrayRef{1, 2});
  return error / at::maximum(size, total.sqrt() * floor);
}

Tensor cross_entropies(const Tensor& logits, const Tensor& classes, const Tensor& weights,
                       double smoothing) {
  require_class_shapes(logits, classes, weights);
  const Tensor counts = weights.gt(0).logical_and(classes.ge(0));
  // Nothing that is not finite may reach the points that count by way of a gradient.
  const Tensor log_shares =
      logits.masked_fill(counts.logical_not().unsqueeze(-1), 0).log_softmax(-1);
  const Tensor known = classes.clamp_min(0).unsqueeze(-1);
  Tensor losses = -log_shares.gather(-1, known).squeeze(-1).to(torch::kFloat64);
  if (smoothing > 0)
    losses = (1 - smoothing) * losses - smoothing * log_shares.mean(-1).to(torch::kFloat64);
  const Tensor w = weights.to(torch::kFloat64) * counts;
  const Tensor total = w.sum(1);
  return (losses * w).sum(1) / torch::where(total > 0, total, torch::ones_like(total));
}

Tensor accuracies(const Tensor& logits, const Tensor& classes, const Tensor& weights) {
  require_class_shapes(logits, classes, weights);
  const Tensor counts = weights.gt(0).logical_and(classes.ne(class_ignored));
  const Tensor right = logits.detach().argmax(-1).eq(classes).logical_and(counts);
  return right.sum(1).to(torch::kFloat64) / counts.sum(1).to(torch::kFloat64);
}

}  // namespace funcattn
