#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "examples/evaluate/test_sample.h"
#include "operators/operator.h"

namespace funcattn {

/// Whole numbers [n] of any type.
Eigen::VectorXi to_integers(const Tensor& numbers);

/// The mesh of a sample with prediction and error of every output beside the truth, as
/// ARRAY_predicted and ARRAY_error; of classes the error is 1 where the class is wrong, 0 where it
/// is right, -1 where the truth is not known.
/// @param sample its places and truth, which are those of `mesh`
/// @param result as CaseEvaluation::add() gives it
Mesh with_fields(Mesh mesh, const Operator& op, const Sample& sample, const Tensor& result);

/// Samples with their fields in a folder, as OPERATOR/SET/FILE.
class SampleFields {
 public:
  explicit SampleFields(std::filesystem::path folder) : folder_(std::move(folder)) {}

  /// Before anything is computed: throws UsageError where a result would take the place of a sample
  /// or of another result.
  void check(const std::vector<TestSet>& sets, const std::vector<std::string>& operators) const;

  /// Where the format of `file` holds no arrays, as STL, in one that does. Throws FileError.
  void write(const Mesh& mesh, const std::string& op, const std::string& set,
             const std::filesystem::path& file) const;

 private:
  std::filesystem::path folder_;
};

}  // namespace funcattn
