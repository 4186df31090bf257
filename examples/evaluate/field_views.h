#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "examples/evaluate/sample_view.h"
#include "operators/operator.h"

namespace funcattn {

/// The outputs of one sample, as pictures show them; of operators that predict the same array one
/// after the other.
class FieldViews {
 public:
  /// @param views which receives them, and must outlive this
  explicit FieldViews(std::vector<SampleView>& views) : views_(views) {}

  /// @param name of the operator @param sample its places and truth, which are those of `mesh`
  /// @param prediction as CaseEvaluation::add() gives it
  void add(const std::string& set, const std::filesystem::path& file, const Operator& op,
           const std::string& name, const Mesh& mesh, const Sample& sample,
           const Tensor& prediction);

 private:
  using Key = std::tuple<std::string, std::string, Association>;

  std::shared_ptr<const ViewShape> shape_of(const std::string& set, Association association,
                                            const Mesh& mesh);

  std::vector<SampleView>& views_;
  std::map<Key, std::size_t> places_;
  std::map<std::pair<std::string, Association>, std::shared_ptr<const ViewShape>> shapes_;
};

}  // namespace funcattn
