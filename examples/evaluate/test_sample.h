#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "examples/pairs.h"
#include "operators/contract.h"
#include "operators/model.h"
#include "operators/point_samples.h"
#include "plugin/pair_binding.h"

namespace funcattn {

struct SampleWarning {
  std::string mesh;     ///< That it is of.
  std::string text;     ///< Begins with the mesh.
  std::string other{};  ///< Another mesh that it names, if any.
};

/// What one sample is to the operator, and what it is to its errors.
struct TestSample {
  Mesh mesh;  ///< With the truth.
  Sample bound;
  Sample results;                 ///< Places, weights and truth of the results: those of the mesh.
  std::int64_t first_result = 0;  ///< As in PairSample.
  double source_points = 0;
  Tensor error_weights{};  ///< Undefined where the errors have the weights of the operator.
  /// What a run would say of meshes unlike those of training, but for their numbers of points,
  /// which are what is measured.
  std::vector<SampleWarning> warnings{};
  bool has_interpolated_inputs = false;  ///< As in PairSample.
};

/// Warnings of the samples of a set: of those that differ in the mesh and its numbers alone the
/// first, and how many there are.
class SampleWarnings {
 public:
  void add(const std::vector<SampleWarning>& warnings);
  std::vector<std::string> texts() const;

 private:
  struct Kind {
    std::string alike;  ///< The text without mesh and numbers.
    std::string first;
    int count = 0;
  };
  std::vector<Kind> kinds_;
};

/// Throws FileError, DataError.
/// @param model whose kind alone counts @param errors its weights are those of the errors, empty:
/// those of the operator, of pairs those of a run
TestSample read_test_sample(const SampleFiles& files, std::size_t index, const Model& model,
                            const Contract& contract, const QuerySettings& errors);

/// Of operators whose points count alike, the parts of the domain all the same where cells tell.
Tensor domain_weights(const TestSample& test, const Contract& contract);

}  // namespace funcattn
