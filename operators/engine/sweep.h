#pragma once

#include <ATen/Parallel.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <vector>

#include "operators/engine/panel_attention.h"
#include "operators/engine/panel_memory.h"
#include "operators/engine/reduction.h"
#include "operators/torch_compat.h"

// Visits to all points of a batch, panel by panel, on several threads, with sums in an order that
// depends on the tiles alone.

namespace funcattn {

/// Row-major data of one sample, and what its points weigh.
template <class T>
struct PanelSource {
  const T* features = nullptr;  ///< [n,feature_count]
  const T* values = nullptr;    ///< [n,value_count], what is known at the source, or null.
  const T* weights = nullptr;   ///< [n]
  const T* shares = nullptr;    ///< [n], how much of a point each entry is, or null for 1.
  std::size_t count = 0;
  int feature_count = 0;
  int value_count = 0;
  double largest = 0;       ///< Of the weights.
  double relative_sum = 1;  ///< Sum of the weights divided by the largest, at least 1.
  SampleSize size;

  double share(std::size_t i) const { return shares ? static_cast<double>(shares[i]) : 1.0; }

  double largest_weight() const {
    double greatest = 0;
    for (std::size_t i = 0; i < count; ++i)
      greatest = std::max(greatest, static_cast<double>(weights[i]));
    return greatest;
  }

  /// Of the points [first, first + number): all, those present, sum of weights over `largest`.
  std::array<double, 3> totals(std::size_t first, std::size_t number) const {
    std::array<double, 3> sums{};
    for (std::size_t i = first; i < first + number; ++i) {
      sums[0] += share(i);
      if (!(weights[i] > T(0))) continue;
      sums[1] += share(i);
      sums[2] += static_cast<double>(weights[i]) / largest;
    }
    return sums;
  }

  /// Takes over the totals of all points of the sample.
  void set_totals(const std::array<double, 3>& sums) {
    size.points = sums[0];
    size.present = std::max(sums[1], 1.0);
    relative_sum = std::max(sums[2], 1.0);
  }
};

/// Fills what depends on the weights of all points, wherever they are.
/// @param pieces points of each piece here, for sums in a fixed order
template <class T>
void measure(std::vector<PanelSource<T>>& batch, const std::vector<std::int64_t>& pieces,
             const Reduction& reduction) {
  std::vector<double> largest;
  for (const PanelSource<T>& points : batch) largest.push_back(points.largest_weight());
  reduction.maximum(largest);
  for (std::size_t b = 0; b < batch.size(); ++b) {
    PanelSource<T>& points = batch[b];
    points.largest = largest[b];
    std::vector<std::vector<double>> terms;
    std::size_t first = 0;
    const auto add = [&](std::size_t number) {
      const auto sums = points.totals(first, number);
      terms.emplace_back(sums.begin(), sums.end());
      first += number;
    };
    if (reduction.fixes_order())
      for (const std::int64_t piece : pieces) add(static_cast<std::size_t>(piece));
    if (first < points.count) add(points.count - first);
    const std::vector<double> sums = reduction.total(terms, 3);
    points.set_totals({sums[0], sums[1], sums[2]});
  }
}

/// The rows of each sample of a batch; the tensors must be contiguous and outlive them.
/// @param features [B,n,F], values [B,n,C] or undefined, weights [B,n], shares [B,n] or undefined
/// @param pieces as in PointSamples @param reduction over the processes that hold the sample
template <class T>
std::vector<PanelSource<T>> panel_sources(const Tensor& features, const Tensor& values,
                                          const Tensor& weights, const Tensor& shares = {},
                                          const std::vector<std::int64_t>& pieces = {},
                                          const Reduction& reduction = {nullptr, false}) {
  std::vector<PanelSource<T>> batch(static_cast<std::size_t>(features.size(0)));
  for (std::size_t b = 0; b < batch.size(); ++b) {
    PanelSource<T>& points = batch[b];
    points.count = static_cast<std::size_t>(features.size(1));
    points.feature_count = static_cast<int>(features.size(2));
    points.features =
        features.data_ptr<T>() + b * points.count * static_cast<std::size_t>(features.size(2));
    if (values.defined()) {
      points.value_count = static_cast<int>(values.size(2));
      points.values =
          values.data_ptr<T>() + b * points.count * static_cast<std::size_t>(values.size(2));
    }
    points.weights = weights.data_ptr<T>() + b * points.count;
    if (shares.defined()) points.shares = shares.data_ptr<T>() + b * points.count;
  }
  measure(batch, pieces, reduction);
  return batch;
}

/// A panel's place in the batch.
struct PanelPlace {
  std::size_t sample = 0;
  std::size_t first = 0;  ///< Point of the sample.
  std::size_t count = 0;  ///< Points, at most P.
  std::size_t slot = 0;   ///< Number of the panel in the batch.
};

/// Consecutive panels of one sample.
struct Tile {
  std::size_t sample = 0;
  std::size_t first = 0;  ///< Point of the sample.
  std::size_t end = 0;    ///< Point of the sample behind the last.
  std::size_t panels = 0;
  std::size_t first_slot = 0;  ///< Of the batch.
};

/// The order of a batch's points: samples, parts whose float64 sums are kept apart until the end of
/// a visit, tiles whose float32 sums are, panels.
class SweepPlan {
 public:
  /// @param counts points of each sample @param tile_points < 1: a good number; at most 4,096
  /// and the points that there are take effect
  SweepPlan(const std::vector<std::size_t>& counts, int panel_points, int tile_points);

  /// As above for one sample in pieces. Neither tile nor part reaches across a seam, and how a
  /// piece is cut depends on itself alone.
  static SweepPlan by_piece(const std::vector<std::size_t>& pieces, int panel_points,
                            int tile_points);

  struct Part {
    std::size_t sample = 0;
    std::vector<Tile> tiles;
  };
  const std::vector<Part>& parts() const { return parts_; }
  std::size_t samples() const { return samples_; }
  std::size_t slots() const { return slots_; }              ///< Panels of the batch.
  std::size_t tile_panels() const { return tile_panels_; }  ///< Most panels of a tile.
  PanelPlace place(const Tile& tile, std::size_t panel) const;

 private:
  /// @param counts points of each sample or piece, whose largest bounds the tiles
  SweepPlan(std::size_t samples, const std::vector<std::size_t>& counts, int panel_points,
            int tile_points);
  /// The next points of a sample. @param most_parts of which they become
  void add(std::size_t sample, std::size_t first, std::size_t count, std::size_t most_parts);

  std::size_t samples_;
  std::size_t panel_points_;
  std::size_t tile_panels_ = 1;
  std::size_t slots_ = 0;
  std::vector<Part> parts_;
};

/// Shares of a panel's points. @param share [P], receives them
template <class T>
PanelMeasure<T> weigh(const PanelSource<T>& points, const PanelPlace& place, int panel_points,
                      bool counts_points, T* share) {
  PanelMeasure<T> measure;
  measure.share = share;
  measure.all_present = place.count == static_cast<std::size_t>(panel_points);
  for (int p = 0; p < panel_points; ++p) share[p] = T(0);
  for (std::size_t p = 0; p < place.count; ++p) {
    const T weight = points.weights[place.first + p];
    if (!(weight > T(0)))
      measure.all_present = false;
    else if (counts_points)
      share[p] = points.shares ? points.shares[place.first + p] : T(1);
    else
      share[p] = static_cast<T>(static_cast<double>(weight) / points.largest / points.relative_sum);
  }
  return measure;
}

/// Calls `work(part, worker)` for every part, on at most `workers` threads, which take parts as
/// they come.
template <class Work>
void for_each_part(const SweepPlan& plan, int workers, const Work& work) {
  std::atomic<std::size_t> next{0};
  const std::size_t parts = plan.parts().size();
  const auto count = std::min<std::int64_t>(workers, static_cast<std::int64_t>(parts));
  at::parallel_for(0, count, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t worker = begin; worker < end; ++worker)
      for (std::size_t part = next++; part < parts; part = next++)
        work(part, static_cast<int>(worker));
  });
}

/// As above, but every worker takes consecutive parts that depend on the number of workers alone,
/// so that what a worker adds up itself is bit-equal from run to run.
template <class Work>
void for_each_part_in_turn(const SweepPlan& plan, int workers, const Work& work) {
  const auto parts = static_cast<std::int64_t>(plan.parts().size());
  const std::int64_t count = std::min<std::int64_t>(workers, parts);
  at::parallel_for(0, count, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t worker = begin; worker < end; ++worker)
      for (std::int64_t part = parts * worker / count; part < parts * (worker + 1) / count; ++part)
        work(static_cast<std::size_t>(part), static_cast<int>(worker));
  });
}

}  // namespace funcattn
