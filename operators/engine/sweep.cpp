#include "operators/engine/sweep.h"

namespace funcattn {

namespace {

/// A tile's panels stay in the second level of the cache, and so few float32 terms lose nothing.
constexpr std::size_t default_tile_points = 480;

/// The float32 sums of a tile lose digits with its points.
constexpr std::size_t most_tile_points = 65536;

/// More than the threads of any machine that one process uses.
constexpr std::size_t most_parts = 64;

}  // namespace

SweepPlan::SweepPlan(const std::vector<std::size_t>& counts, int panel_points, int tile_points)
    : counts_(counts), panel_points_(static_cast<std::size_t>(panel_points)) {
  const auto panels_of = [&](std::size_t points) {
    return (points + panel_points_ - 1) / panel_points_;
  };
  const std::size_t wanted =
      tile_points > 0 ? static_cast<std::size_t>(tile_points) : default_tile_points;
  const std::size_t most_points =
      counts.empty() ? 0 : *std::max_element(counts.begin(), counts.end());
  // Workers have memory for a whole tile, which those points need that there are.
  tile_panels_ =
      std::min(std::min(wanted, most_tile_points) / panel_points_, panels_of(most_points));
  tile_panels_ = std::max<std::size_t>(tile_panels_, 1);
  for (std::size_t sample = 0; sample < counts.size(); ++sample) {
    const std::size_t panels = panels_of(counts[sample]);
    const std::size_t tiles = (panels + tile_panels_ - 1) / tile_panels_;
    const std::size_t part_tiles = std::max<std::size_t>(1, (tiles + most_parts - 1) / most_parts);
    for (std::size_t tile = 0; tile < tiles; ++tile) {
      if (tile % part_tiles == 0) parts_.push_back({sample, {}});
      const std::size_t first = tile * tile_panels_;
      parts_.back().tiles.push_back(
          {sample, first, std::min(tile_panels_, panels - first), slots_ + first});
    }
    slots_ += panels;
  }
}

PanelPlace SweepPlan::place(const Tile& tile, std::size_t panel) const {
  PanelPlace place;
  place.sample = tile.sample;
  place.first = (tile.first_panel + panel) * panel_points_;
  place.count = std::min(panel_points_, counts_[tile.sample] - place.first);
  place.slot = tile.first_slot + panel;
  return place;
}

}  // namespace funcattn
