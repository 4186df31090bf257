#include "operators/training/weight_average.h"

#include <algorithm>

namespace funcattn {

WeightAverage::WeightAverage(const FlatParameters& parameters, double decay)
    : parameters_(parameters), decay_(decay) {
  if (decay > 0) values_ = parameters.values().detach().clone();
}

void WeightAverage::update(std::int64_t steps) {
  if (!averages()) return;
  const torch::NoGradGuard no_grad;
  const auto t = static_cast<double>(steps);
  values_.lerp_(parameters_.values(), 1 - std::min(decay_, (1 + t) / (10 + t)));
}

void WeightAverage::hand_over() {
  if (!averages()) return;
  const torch::NoGradGuard no_grad;
  parameters_.values().copy_(values_);
}

void WeightAverage::swap() {
  if (!averages()) return;
  const torch::NoGradGuard no_grad;
  const Tensor weights = parameters_.values().clone();
  parameters_.values().copy_(values_);
  values_.copy_(weights);
}

}  // namespace funcattn
