#pragma once

#include <string>
#include <vector>

#include "operators/contract.h"
#include "operators/point_samples.h"

namespace funcattn {

/// What tells whether two sets hold the same problems, on whatever points: the names of their
/// samples and, of each, weighted moments of the truth and of the places, which hardly change with
/// the resolution.
class ProblemSet {
 public:
  /// @param name the same in both sets
  /// @param weights [M] of the targets' points, by measure where that is known: graded points that
  /// count alike change the moments
  void add(const std::string& name, const Sample& sample, const Contract& contract,
           const Tensor& weights);

  /// Why errors on this set say nothing of those on the other; empty where they do. All samples
  /// must agree: problems of one kind are alike, and the errors of some are those of others.
  std::string difference(const ProblemSet& other) const;

 private:
  struct Moment {
    std::string name;  ///< "the mean of 'u'"
    double value = 0;
    double scale = 0;  ///< Of the differences between problems.
  };
  struct Problem {
    std::string name;
    double points = 0;
    std::vector<Moment> moments;
  };

  std::vector<Problem> problems_;
};

}  // namespace funcattn
