#pragma once

#include <string>
#include <vector>

#include "core/random.h"
#include "meshio/mesh.h"
#include "operators/contract.h"
#include "plugin/cli/option_table.h"

namespace funcattn {

/// A part of a data set: samples that are laid out in the same way.
struct SampleSet {
  std::string folder;   ///< "train", "test_x4", ...
  int factor = 1;       ///< Points over those of a training sample.
  std::string variant;  ///< How the points lie; empty: as in training.
};

/// A task that `funcattn generate` knows. One object serves one call: describe() binds its options
/// to its members, whose values are the defaults.
class GeneratedTask {
 public:
  virtual ~GeneratedTask() = default;

  virtual std::string name() const = 0;
  /// What is learned, in one line.
  virtual std::string title() const = 0;
  /// The options that no other task has.
  virtual void describe(OptionTable& table) = 0;
  /// Points of a training sample where the user does not say.
  virtual int default_points() const = 0;
  /// @param points of a training sample. Throws UsageError.
  virtual void validate(int points) const = 0;
  /// The arrays of a sample, for dataset.json.
  virtual Contract contract() const = 0;
  virtual std::string extension() const = 0;
  /// Test sets besides those of the resolutions asked for.
  virtual std::vector<SampleSet> further_test_sets() const { return {}; }
  /// Draws one sample: the same functions for each of `sets`, one mesh per set. What is drawn does
  /// not depend on the sets that differ in `factor` alone.
  virtual std::vector<Mesh> draw(int points, const std::vector<SampleSet>& sets,
                                 RandomGenerator& random) = 0;
};

}  // namespace funcattn
