#include "operators/training/batch_source.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <string>
#include <utility>

#include "core/error.h"
#include "core/random.h"

namespace funcattn {

namespace {

/// Keeps the generator of the augmentations apart from that of the order.
constexpr std::uint64_t augmentation_stream = 0x6175676d656e7473u;

/// Points of each sample, of the source and of the query, wherever they are.
std::vector<double> sizes_of(const std::vector<Sample>& samples, ProcessGroup* pieces) {
  std::vector<double> sizes;
  for (const Sample& sample : samples)
    for (const PointSamples* points : {&sample.source, &sample.query})
      sizes.push_back(points->shares.defined() ? points->shares.sum().item<double>()
                                               : static_cast<double>(points->weights.size(0)));
  if (pieces) pieces->sum(sizes.data(), sizes.size());
  return sizes;
}

/// Tells data sets apart by the sizes of their samples and, where each is in one place, by what
/// comes from files: places, values and targets (FNV-1a of words). Weights are computed.
std::uint64_t fingerprint(const std::vector<Sample>& samples, ProcessGroup* pieces) {
  const std::vector<double> sizes = sizes_of(samples, pieces);
  std::uint64_t hash = 0xcbf29ce484222325u;
  const auto mix = [&hash](std::uint64_t word) { hash = (hash ^ word) * 0x100000001b3u; };
  const auto mix_all = [&](const Tensor& tensor) {
    if (!tensor.defined()) return;
    const Tensor numbers = tensor.to(torch::kFloat64).contiguous();
    const auto* begin = numbers.data_ptr<double>();
    for (std::int64_t i = 0; i < numbers.numel(); ++i) {
      std::uint64_t word = 0;
      std::memcpy(&word, begin + i, sizeof word);
      mix(word);
      hash ^= hash >> 32;  // A product hands nothing down from the upper half, where a sign is.
    }
  };
  for (std::size_t i = 0; i < samples.size(); ++i) {
    mix(static_cast<std::uint64_t>(std::llround(sizes[2 * i])));
    mix(static_cast<std::uint64_t>(std::llround(sizes[2 * i + 1])));
    if (pieces) continue;
    for (const PointSamples* points : {&samples[i].source, &samples[i].query}) {
      if (points == &samples[i].query && samples[i].query_is_source) continue;
      mix_all(points->coordinates);
      mix_all(points->values);
    }
    mix_all(samples[i].targets);
  }
  return hash;
}

class DatasetSource final : public BatchSource {
 public:
  DatasetSource(std::vector<Sample> samples, int batch_size, std::uint64_t seed,
                Augmentations augmentations, ProcessGroup* pieces)
      : samples_(std::move(samples)),
        augmentations_(std::move(augmentations)),
        batch_size_(batch_size),
        random_(seed),
        epoch_random_(random_),
        augmentation_random_(seed ^ augmentation_stream),
        order_(samples_.size()) {
    fingerprint_ = fingerprint(samples_, pieces);
    if (samples_.empty()) throw DataError("the training set has no samples");
    if (batch_size < 1)
      throw UsageError("the batch size is " + std::to_string(batch_size) + ", expected 1 or more");
    shuffle();
  }

  Batch next() override {
    if (position_ == order_.size()) shuffle();
    const std::size_t size =
        std::min(order_.size() - position_, static_cast<std::size_t>(batch_size_));
    const auto [first, last] = share_.of(size);
    std::vector<Sample> chosen;
    for (std::size_t i = 0; i < size; ++i, ++position_) {
      const Sample& drawn = samples_[order_[position_]];
      const bool is_mine = i >= first && i < last;
      if (is_mine) chosen.push_back(drawn);
      for (const auto& augmentation : augmentations_) {
        if (is_mine)
          chosen.back() = augmentation->apply(chosen.back(), augmentation_random_);
        else
          augmentation->skip(drawn, augmentation_random_);
      }
    }
    return chosen.empty() ? Batch() : collate(chosen);
  }

  void take_share(const Share& share) override { share_ = share; }

  std::int64_t batches_per_epoch() const override {
    const auto count = static_cast<std::int64_t>(samples_.size());
    return (count + batch_size_ - 1) / batch_size_;
  }

  // An epoch's order follows from the random state at its begin, so the order is not stored.
  Json state() const override {
    Json augmentations = Json::array();
    for (const auto& augmentation : augmentations_)
      augmentations.push_back(augmentation->description());
    return Json{{"kind", "dataset"},
                {"samples", samples_.size()},
                {"fingerprint", fingerprint_},
                {"batch_size", batch_size_},
                {"augmentations", augmentations},
                {"augmentation_random", augmentation_random_.state()},
                {"epoch_random", epoch_random_.state()},
                {"position", position_}};
  }

  void restore(const Json& state) override {
    const Json present = this->state();
    const auto refuse = [](const std::string& difference) {
      throw UsageError("the training set differs from that of the run to resume: " + difference +
                       "; give the same files and options, or start a new run");
    };
    for (const char* key : {"kind", "samples", "batch_size", "augmentations"})
      if (state.at(key) != present.at(key))
        refuse(std::string(key) + " was " + state.at(key).dump() + ", now " +
               present.at(key).dump());
    if (state.at("fingerprint") != present.at("fingerprint"))
      refuse("its samples have other points, values or targets, or another order");
    const auto position = state.at("position").get<std::size_t>();
    if (position > samples_.size())
      throw OperatorFileError("the stored position in the training set is " +
                              std::to_string(position) + ", expected at most " +
                              std::to_string(samples_.size()));
    augmentation_random_.restore(state.at("augmentation_random"));
    random_.restore(state.at("epoch_random"));
    shuffle();
    position_ = position;
  }

 private:
  // Fisher-Yates from the identity; std::shuffle differs between standard libraries.
  void shuffle() {
    epoch_random_ = random_;
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    for (std::size_t remaining = order_.size(); remaining > 1; --remaining)
      std::swap(order_[remaining - 1], order_[random_.below(remaining)]);
    position_ = 0;
  }

  std::vector<Sample> samples_;
  Augmentations augmentations_;
  std::uint64_t fingerprint_ = 0;
  int batch_size_;
  Share share_;
  RandomGenerator random_;
  RandomGenerator epoch_random_;  ///< As it was before the present epoch was shuffled.
  RandomGenerator augmentation_random_;
  std::vector<std::size_t> order_;
  std::size_t position_ = 0;
};

}  // namespace

std::pair<std::size_t, std::size_t> Share::of(std::size_t count) const {
  const auto begin = [&](int part) {
    return count * static_cast<std::size_t>(part) / static_cast<std::size_t>(processes);
  };
  return {begin(process), begin(process + 1)};
}

std::unique_ptr<BatchSource> make_dataset_source(std::vector<Sample> samples, int batch_size,
                                                 std::uint64_t seed, Augmentations augmentations,
                                                 ProcessGroup* pieces) {
  return std::make_unique<DatasetSource>(std::move(samples), batch_size, seed,
                                         std::move(augmentations), pieces);
}

}  // namespace funcattn
