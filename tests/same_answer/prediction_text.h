#pragma once

#include <string>
#include <vector>

#include "core/text.h"
#include "meshio/mesh_tree.h"

namespace funcattn::test {

/// The arrays whose names end in "_predicted" side by side, in their order on the mesh: one line
/// per entry of all leaves.
inline std::string prediction_text(const MeshTree& tree) {
  const std::string suffix = "_predicted";
  std::string text;
  for (const Mesh& leaf : tree.leaves()) {
    std::vector<RowMatrix> predictions;
    for (const ArraySpec& spec : leaf.arrays())
      if (spec.name.size() > suffix.size() &&
          spec.name.compare(spec.name.size() - suffix.size(), suffix.size(), suffix) == 0)
        predictions.push_back(leaf.array(spec.name, spec.association).to_double());
    for (Eigen::Index row = 0; !predictions.empty() && row < predictions.front().rows(); ++row) {
      for (const RowMatrix& prediction : predictions)
        for (Eigen::Index column = 0; column < prediction.cols(); ++column)
          text += format_number(prediction(row, column)) + ' ';
      text += '\n';
    }
  }
  return text;
}

}  // namespace funcattn::test
