#include "operators/point_samples.h"

#include <algorithm>

#include "core/error.h"

namespace funcattn {

namespace {

// Copies [N_i,...] tensors into one [B,max N,...] tensor of zeros.
Tensor stack_padded(const std::vector<Tensor>& parts) {
  std::vector<std::int64_t> sizes = parts.front().sizes().vec();
  for (const auto& part : parts) sizes[0] = std::max(sizes[0], part.size(0));
  sizes.insert(sizes.begin(), static_cast<std::int64_t>(parts.size()));
  Tensor stacked = at::zeros(sizes, parts.front().options());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto index = static_cast<std::int64_t>(i);
    stacked[index].narrow(0, 0, parts[i].size(0)).copy_(parts[i]);
  }
  return stacked;
}

// One tensor per sample by `member`; undefined where no sample has it.
template <class Member>
Tensor collate_tensor(const std::vector<Sample>& samples, const char* what, std::int64_t axes,
                      const Member& member) {
  const Tensor& first = member(samples.front());
  std::vector<Tensor> parts;
  for (const Sample& sample : samples) {
    const Tensor& tensor = member(sample);
    const std::string where = "sample '" + sample.name + "': " + what;
    if (tensor.defined() != first.defined()) {
      throw DataError(where + (tensor.defined() ? " given" : " missing") + ", unlike in sample '" +
                      samples.front().name + "'; samples of one batch must hold the same arrays");
    }
    if (!tensor.defined()) continue;
    if (tensor.dim() != axes) {
      throw DataError(where + " of shape " + c10::str(tensor.sizes()) + "; expected " +
                      (axes == 1 ? "[N]" : "[N,components]"));
    }
    if (tensor.scalar_type() != first.scalar_type()) {
      throw DataError(where + " of type " + c10::str(tensor.scalar_type()) + "; sample '" +
                      samples.front().name + "' has " + c10::str(first.scalar_type()));
    }
    if (axes == 2 && tensor.size(1) != first.size(1)) {
      throw DataError(where + " with " + std::to_string(tensor.size(1)) + " components; sample '" +
                      samples.front().name + "' has " + std::to_string(first.size(1)));
    }
    parts.push_back(tensor);
  }
  return parts.empty() ? Tensor() : stack_padded(parts);
}

void check_lengths(const Sample& sample, const PointSamples& points, const char* what) {
  const auto complain = [&](const char* array, const Tensor& tensor) {
    throw DataError("sample '" + sample.name + "': " + what + " " + array + " of " +
                    std::to_string(tensor.size(0)) + " points; its weights have " +
                    std::to_string(points.weights.size(0)));
  };
  if (!points.weights.defined()) {
    throw DataError("sample '" + sample.name + "': " + what + " weights missing; expected [N]");
  }
  const std::int64_t count = points.weights.size(0);
  if (points.coordinates.defined() && points.coordinates.size(0) != count) {
    complain("coordinates", points.coordinates);
  }
  if (points.values.defined() && points.values.size(0) != count) complain("values", points.values);
}

template <class Member>
PointSamples collate_points(const std::vector<Sample>& samples, const std::string& what,
                            const Member& member) {
  for (const Sample& sample : samples) check_lengths(sample, member(sample), what.c_str());
  const auto tensor = [&](const char* array, std::int64_t axes, Tensor PointSamples::*field) {
    return collate_tensor(samples, (what + " " + array).c_str(), axes,
                          [&](const Sample& s) -> const Tensor& { return member(s).*field; });
  };
  return {tensor("coordinates", 2, &PointSamples::coordinates),
          tensor("values", 2, &PointSamples::values), tensor("weights", 1, &PointSamples::weights),
          tensor("shares", 1, &PointSamples::shares)};
}

}  // namespace

Batch collate(const std::vector<Sample>& samples) {
  if (samples.empty()) throw DataError("collate: no samples; a batch needs at least one");
  Batch batch;
  batch.query_is_source = samples.front().query_is_source;
  for (const Sample& sample : samples) {
    if (sample.query_is_source != batch.query_is_source) {
      throw DataError(
          "sample '" + sample.name + "': its queries " +
          (sample.query_is_source ? "are its source points" : "differ from its source") +
          ", unlike in sample '" + samples.front().name + "'; do not mix the two");
    }
    batch.names.push_back(sample.name);
  }
  batch.source = collate_points(samples, "source",
                                [](const Sample& s) -> const PointSamples& { return s.source; });
  batch.query = batch.query_is_source
                    ? batch.source
                    : collate_points(samples, "query", [](const Sample& s) -> const PointSamples& {
                        return s.query;
                      });
  batch.targets = collate_tensor(samples, "targets", 2,
                                 [](const Sample& s) -> const Tensor& { return s.targets; });
  return batch;
}

}  // namespace funcattn
