#include "operators/engine/sweep.h"

#include <algorithm>

namespace funcattn {

namespace {

/// A tile's panels stay in the second level of the cache, and so few float32 terms lose nothing.
constexpr std::size_t default_tile_points = 480;

/// The float32 sums of a tile lose digits with its points.
constexpr std::size_t most_tile_points = 4096;

/// More than the threads of any machine that one process uses.
constexpr std::size_t most_parts_of_sample = 64;

/// Of a piece, whose parts keep their sums until the end of a visit; there may be many pieces.
constexpr std::size_t least_points_of_part = 32768;

}  // namespace

SweepPlan::SweepPlan(std::size_t samples, const std::vector<std::size_t>& counts, int panel_points,
                     int tile_points)
    : samples_(samples), panel_points_(static_cast<std::size_t>(panel_points)) {
  const std::size_t wanted =
      tile_points > 0 ? static_cast<std::size_t>(tile_points) : default_tile_points;
  const std::size_t most_points =
      counts.empty() ? 0 : *std::max_element(counts.begin(), counts.end());
  // Workers have memory for a whole tile, which those points need that there are. A tile that holds
  // more than the largest count cuts nothing, so that this changes no sum.
  tile_panels_ = std::min(std::min(wanted, most_tile_points) / panel_points_,
                          (most_points + panel_points_ - 1) / panel_points_);
  tile_panels_ = std::max<std::size_t>(tile_panels_, 1);
}

SweepPlan::SweepPlan(const std::vector<std::size_t>& counts, int panel_points, int tile_points)
    : SweepPlan(counts.size(), counts, panel_points, tile_points) {
  for (std::size_t sample = 0; sample < counts.size(); ++sample)
    add(sample, 0, counts[sample], most_parts_of_sample);
}

SweepPlan SweepPlan::by_piece(const std::vector<std::size_t>& pieces, int panel_points,
                              int tile_points) {
  SweepPlan plan(std::size_t{1}, pieces, panel_points, tile_points);
  std::size_t first = 0;
  for (const std::size_t piece : pieces) {
    plan.add(0, first, piece, piece / least_points_of_part + 1);
    first += piece;
  }
  return plan;
}

void SweepPlan::add(std::size_t sample, std::size_t first, std::size_t count,
                    std::size_t most_parts) {
  const std::size_t panels = (count + panel_points_ - 1) / panel_points_;
  const std::size_t tiles = (panels + tile_panels_ - 1) / tile_panels_;
  const std::size_t part_tiles = std::max<std::size_t>(1, (tiles + most_parts - 1) / most_parts);
  for (std::size_t tile = 0; tile < tiles; ++tile) {
    if (tile % part_tiles == 0) parts_.push_back({sample, {}});
    const std::size_t first_panel = tile * tile_panels_;
    const std::size_t tile_panels = std::min(tile_panels_, panels - first_panel);
    const std::size_t begin = first_panel * panel_points_;
    parts_.back().tiles.push_back({sample, first + begin,
                                   first + std::min(count, begin + tile_panels * panel_points_),
                                   tile_panels, slots_ + first_panel});
  }
  slots_ += panels;
}

PanelPlace SweepPlan::place(const Tile& tile, std::size_t panel) const {
  PanelPlace place;
  place.sample = tile.sample;
  place.first = tile.first + panel * panel_points_;
  place.count = std::min(panel_points_, tile.end - place.first);
  place.slot = tile.first_slot + panel;
  return place;
}

}  // namespace funcattn
