#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "operators/operator.h"
#include "operators/safetensors.h"

namespace funcattn {

/// What the weights of a published implementation do not tell.
///
/// Most sizes are inferred from shapes; what a file's metadata says must then agree. `heads` of
/// `paper`, `ridge` of `paper`, `few_shot` and `sum_coefficients`, and `temperature`,
/// `coefficients` and `cross` of `paper` are in no shape: they come from here, else from the
/// metadata; there is no default.
struct ImportOptions {
  int heads = 0;                         ///< 0: inferred, or from metadata (`paper`).
  double ridge = -1;                     ///< < 0: from metadata (`ridge`, `reg_lambda`).
  double temperature = -1;               ///< `paper`; < 0: from metadata.
  std::string coefficients;              ///< `paper`: mean or integral; empty: from metadata.
  int cross = -1;                        ///< `paper`: 0 or 1; < 0: from metadata.
  torch::Dtype dtype = torch::kFloat64;  ///< Of the operator; float64 or float32.

  // The contract. Where arrays are left to the form they are named as listed at import_published.
  std::vector<ArraySpec> inputs;
  std::vector<ArraySpec> outputs;
  /// Leading features that are coordinates x, y, z; < 0: as listed at import_published.
  int coordinate_dimension = -1;
};

struct ImportResult {
  Operator op;
  std::vector<std::string> skipped;  ///< Parameters of the file that the form never uses.
};

/// Makes an operator of a published implementation's weights: tensors named `weights.<name>`
/// (others, such as recorded inputs and outputs, are then ignored), or, where no tensor has that
/// prefix, every tensor under its bare name. Any floating dtype is converted to options.dtype.
///
/// Skipped, and reported by name: `mlp_new.*` and `I_d` (which must be the identity) in
/// `shared_basis`, `shared_basis_tied` and `segmentation`. The three copies of the encoder in
/// `few_shot` (`to_q`, `to_k`, `to_v`) must be equal and become one.
///
/// The contract has no normalisation, centre 0 and scale 1, weights `auto`, and, unless the options
/// say otherwise (D leading features are coordinates, C follow, O outputs):
///
/// - `few_shot`: D all features (at most 3), inputs `y_context` (O components) and the flag
///   `context`, output `y` (O);
/// - `sum_coefficients`: D is 1, input `y_context` where C is 1, else as below, output `y` (O);
/// - `segmentation`: D all features (at most 3), no inputs, output `label`, a class;
/// - `paper`, `shared_basis`, `shared_basis_tied`: D is 0, inputs `input_0`, `input_1`, ... of one
///   component each, output `output` (O).
///
/// The O results of `segmentation` are the logits of the classes 0 to O - 1 of one array of one
/// component. Where O is 1, or the outputs given have O components together, they are fields.
///
/// All are point arrays, or of the association of the arrays in the options. O of `few_shot` is
/// that of the given outputs, else metadata `out_features`, else 1.
///
/// Throws OperatorFileError for a missing, surplus, misshapen or non-finite tensor, metadata that
/// differ from `form` or from the shapes, or an `I_d` that is not the identity; UsageError where a
/// size is neither given, stored nor inferable (naming the option), or an option does not fit.
ImportResult import_published(const Safetensors& file, Form form, const ImportOptions& options);

}  // namespace funcattn
