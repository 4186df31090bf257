#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "operators/operator.h"
#include "operators/safetensors.h"

namespace funcattn {

/// Sizes that weights alone do not tell. Zero or empty: take it from the file's metadata, or infer
/// it from shapes where possible.
struct ImportOptions {
  int heads = 0;
  double ridge = -1;        ///< < 0: from metadata (`ridge`, `reg_lambda`).
  double temperature = -1;  ///< `paper` only.
  std::string coefficients; ///< `paper` only: mean or integral.
  int cross = -1;           ///< `paper` only: 0 or 1.
  torch::Dtype dtype = torch::kFloat64;
  std::vector<ArraySpec> inputs;   ///< Contract; empty: features named input_0, input_1, ...
  std::vector<ArraySpec> outputs;  ///< Contract; empty: `output`.
  int coordinate_dimension = -1;   ///< Leading features that are coordinates; < 0: as the form has.
};

struct ImportResult {
  Operator op;
  std::vector<std::string> skipped;  ///< Parameters of the file that the form never uses.
};

/// Makes an operator of a published implementation's weights (tensors named `weights.<name>`, or
/// the bare published names where no tensor has that prefix). Throws OperatorFileError for a
/// missing, surplus or misshapen tensor, a metadata form that differs from `form`, or an `I_d` that
/// is not the identity; UsageError where a size is neither given, stored nor inferable.
ImportResult import_published(const Safetensors& file, Form form, const ImportOptions& options);

}  // namespace funcattn
