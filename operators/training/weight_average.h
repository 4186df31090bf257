#pragma once

#include <cstdint>

#include "operators/training/flat_parameters.h"

namespace funcattn {

/// Exponential moving average of the trained weights: after step t, counted from 1,
/// average = d average + (1 - d) weights with d = min(decay, (1 + t) / (10 + t)), so that the
/// weights at the begin of a run are forgotten within it however large the decay is.
class WeightAverage {
 public:
  /// @param parameters must outlive the average
  /// @param decay 0: nothing is averaged, all functions do nothing
  WeightAverage(const FlatParameters& parameters, double decay);

  bool averages() const { return values_.defined(); }
  /// Takes the weights after `steps` steps into the average.
  void update(std::int64_t steps);
  /// In the places of FlatParameters::values(); undefined where nothing is averaged.
  const Tensor& values() const { return values_; }
  /// Gives the average to the parameters for good.
  void hand_over();

 private:
  friend class AveragedWeights;
  void swap();

  const FlatParameters& parameters_;
  double decay_;
  Tensor values_;
};

/// For its lifetime, the parameters have the averaged weights.
class AveragedWeights {
 public:
  explicit AveragedWeights(WeightAverage& average) : average_(average) { average_.swap(); }
  ~AveragedWeights() { average_.swap(); }
  AveragedWeights(const AveragedWeights&) = delete;
  AveragedWeights& operator=(const AveragedWeights&) = delete;

 private:
  WeightAverage& average_;
};

}  // namespace funcattn
