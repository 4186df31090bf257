#include "examples/sine/functions.h"

#include <algorithm>
#include <numeric>

#include "core/error.h"
#include "core/text.h"

namespace funcattn {

const char* to_string(SineProtocol protocol) {
  return protocol == SineProtocol::few_shot ? "few-shot" : "masked-grid";
}

SineProtocol sine_protocol_from_string(const std::string& text) {
  if (text == "few-shot") return SineProtocol::few_shot;
  if (text == "masked-grid") return SineProtocol::masked_grid;
  throw UsageError("unknown protocol '" + text + "'; give few-shot or masked-grid");
}

int SineSampling::base_points() const {
  if (points > 0) return points;
  return protocol == SineProtocol::few_shot ? 200 : 120;
}

void SineSampling::validate() const {
  if (points < 0 || points == 1)
    throw UsageError("a grid of " + std::to_string(points) +
                     " points has no spacing; give 2 or more");
  if (context < 1)
    throw UsageError("context is " + std::to_string(context) + "; give at least 1 context point");
  if (protocol == SineProtocol::masked_grid && context > base_points())
    throw UsageError("context is " + std::to_string(context) + " but the grid has only " +
                     std::to_string(base_points()) + " points to show");
  const auto ordered = [](double low, double high, const char* what) {
    if (!(low < high))
      throw UsageError(std::string(what) + " range is empty: " + format_number(low) + " to " +
                       format_number(high));
  };
  ordered(domain.amplitude_min, domain.amplitude_max, "amplitude");
  ordered(domain.phase_min, domain.phase_max, "phase");
  ordered(domain.x_min, domain.x_max, "x");
}

std::vector<double> sine_grid(const SineSampling& sampling, int factor) {
  const SineDomain standard;
  const int n = sampling.base_points();
  // few_shot includes both ends; the masked grid leaves the right end out, as published.
  const bool closed = sampling.protocol == SineProtocol::few_shot;
  const double spacing = standard.length() / (closed ? n - 1 : n);
  const auto intervals =
      static_cast<int>(std::lround(sampling.domain.length() / spacing)) - (closed ? 0 : 1);
  const int count = std::max(1, intervals) * factor + 1;
  std::vector<double> grid(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i)
    // In this order the points of factor 1 come out bit for bit the same at every factor.
    grid[static_cast<std::size_t>(i)] =
        sampling.domain.x_min + (i / factor) * spacing + (i % factor) * (spacing / factor);
  return grid;
}

SineEpisode draw_sine_episode(const SineSampling& sampling, int factor, RandomGenerator& random) {
  const SineDomain& domain = sampling.domain;
  SineEpisode episode;
  episode.function.amplitude = random.uniform(domain.amplitude_min, domain.amplitude_max);
  episode.function.phase = random.uniform(domain.phase_min, domain.phase_max);
  if (sampling.protocol == SineProtocol::few_shot) {
    for (int i = 0; i < sampling.context; ++i)
      episode.context.push_back(random.uniform(domain.x_min, domain.x_max));
  } else {
    // A partial shuffle of the coarse grid: K different points.
    std::vector<double> coarse = sine_grid(sampling, 1);
    for (int i = 0; i < sampling.context; ++i) {
      const auto at = static_cast<std::size_t>(i);
      std::swap(coarse[at], coarse[at + random.below(coarse.size() - at)]);
      episode.context.push_back(coarse[at]);
    }
  }
  std::sort(episode.context.begin(), episode.context.end());
  episode.grid = sine_grid(sampling, factor);
  return episode;
}

std::vector<double> trapezoidal_weights(const std::vector<double>& x) {
  std::vector<double> weights(x.size(), x.size() == 1 ? 1.0 : 0.0);
  for (std::size_t i = 1; i < x.size(); ++i) {
    const double half = 0.5 * (x[i] - x[i - 1]);
    weights[i - 1] += half;
    weights[i] += half;
  }
  return weights;
}

}  // namespace funcattn
