#include "operators/classes.h"

#include <cmath>
#include <limits>
#include <set>

#include "core/error.h"
#include "core/text.h"

namespace funcattn {

namespace {

constexpr std::size_t most_listed = 8;

Tensor values_of(const OutputArray& output, const torch::Device& device) {
  return torch::tensor(std::vector<std::int64_t>(output.classes.begin(), output.classes.end()),
                       torch::kInt64)
      .to(device);
}

}  // namespace

Tensor class_indices(const OutputArray& output, const Tensor& values) {
  const Tensor whole = values.to(torch::kInt64);
  const Tensor classes = values_of(output, values.device());
  const Tensor place = at::searchsorted(classes, whole).clamp_max(classes.size(0) - 1);
  const Tensor found = classes.take(place).eq(whole);
  Tensor indices = place.masked_fill(found.logical_not(), class_unknown);
  if (output.ignored) indices = indices.masked_fill(whole.eq(*output.ignored), class_ignored);
  return indices;
}

Tensor largest_class(const OutputArray& output, const Tensor& logits) {
  return values_of(output, logits.device()).take(logits.argmax(-1));
}

Tensor predicted_arrays(const Contract& contract, const Tensor& result) {
  std::vector<Tensor> columns;
  std::int64_t channel = 0;
  for (const OutputArray& output : contract.outputs) {
    const Tensor channels = result.narrow(1, channel, output.channels());
    channel += output.channels();
    columns.push_back(output.is_class()
                          ? largest_class(output, channels).unsqueeze(1).to(result.scalar_type())
                          : channels);
  }
  return columns.size() == 1 ? columns.front() : at::cat(columns, 1);
}

void require_class(double value, const std::string& what, std::int64_t row) {
  constexpr double most = std::numeric_limits<int>::max();
  if (std::abs(value) <= most && value == std::trunc(value)) return;
  throw DataError(what + " holds " + format_number(value) + " at index " + std::to_string(row) +
                  ", which is no class; expected whole numbers of 32 bits");
}

std::vector<int> distinct_classes(const Tensor& values, const Tensor& weights,
                                  const std::string& what) {
  const Tensor held_values = values.contiguous();
  const Tensor held_weights = weights.contiguous();
  const double* value = held_values.data_ptr<double>();
  const double* weight = held_weights.data_ptr<double>();
  std::set<int> classes;
  for (std::int64_t i = 0; i < held_values.numel(); ++i) {
    if (!(weight[i] > 0)) continue;
    require_class(value[i], what, i);
    classes.insert(static_cast<int>(value[i]));
  }
  return {classes.begin(), classes.end()};
}

std::string describe_classes(const OutputArray& output) {
  const std::vector<int>& classes = output.classes;
  const std::string count = std::to_string(classes.size()) + " classes";
  std::vector<std::string> texts;
  for (const int value : classes) texts.push_back(std::to_string(value));
  return count + " (" +
         (texts.size() <= most_listed ? join(texts, ", ") : texts.front() + " to " + texts.back()) +
         ")";
}

}  // namespace funcattn
