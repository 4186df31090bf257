#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/array_spec.h"
#include "core/json.h"
#include "operators/symmetries.h"

namespace funcattn {

/// What an input array means to the operator.
enum class InputRole {
  value,        ///< Enters the features of every point (or the values of the source points).
  source_flag,  ///< Non-zero where a point is a source sample; the others are queries only.
  parameter,    ///< One tuple for the whole mesh (VTK's field data): a feature of every point.
};

/// The association of a parameter means nothing; in the file it is "field".
struct InputArray : ArraySpec {
  InputRole role = InputRole::value;
  /// Of a parameter: range in training, one number per component; both empty: unknown.
  std::vector<double> min{};
  std::vector<double> max{};
};

/// The value of a predicted class array where nothing can be predicted; no class has it.
inline constexpr int no_class = -1;

/// What an operator predicts: a field, or a class at every point. Of a class output the array has
/// one component, an integer; the operator itself gives one number (a logit) per class.
struct OutputArray : ArraySpec {
  std::vector<int> classes{};    ///< The value of each class, ascending; empty: a field.
  std::optional<int> ignored{};  ///< A value in true arrays that says that the class is unknown.

  bool is_class() const { return !classes.empty(); }
  int channels() const {  ///< Numbers that the operator gives.
    return is_class() ? static_cast<int>(classes.size()) : components;
  }
};

const char* to_string(InputRole role);  ///< "value", "source_flag" or "parameter".

/// Affine map per component: normalised = (physical - mean) / scale. Constant channels have
/// scale 1, so they map to 0. Both empty: the identity.
struct Normalisation {
  std::vector<double> mean;
  std::vector<double> scale;  ///< > 0
};

/// Which coordinates are used and how they are brought to order one, in float64.
struct CoordinateHandling {
  std::vector<int> axes;       ///< 0 = x, 1 = y, 2 = z, in the order of use; may be empty.
  std::vector<double> center;  ///< One per axis.
  double scale = 1.0;          ///< Common to all axes: shapes are not distorted.
  int dimension() const { return static_cast<int>(axes.size()); }
};

/// Everything that a caller must know to feed an operator and to understand its result. Stored in
/// the operator file.
struct Contract {
  std::vector<InputArray> inputs;
  std::vector<OutputArray> outputs;
  CoordinateHandling coordinates;
  Normalisation input_normalisation;   ///< Over the features: the concatenated components of the
                                       ///< values and parameters.
  Normalisation output_normalisation;  ///< Over the concatenated channels of the outputs; 0 and 1
                                       ///< for those of classes.
  std::string weights = "auto";  ///< Quadrature weights used in training: measure, uniform, auto or
                                 ///< array:NAME.
  std::int64_t min_points = 0;   ///< Range of points per sample in training; 0: unknown.
  std::int64_t max_points = 0;
  std::vector<double> bounds_min;  ///< Bounding box of the training coordinates, per axis.
  std::vector<double> bounds_max;
  /// The operator's result is the mean over these maps of the points, inputs staying with their
  /// points, so that it has these symmetries exactly; none: no mean.
  SymmetryGroup symmetries;

  int value_components() const;   ///< Of the features: sum over the values and parameters.
  int output_components() const;  ///< Of the operator's result: sum over the outputs' channels.
  int target_components() const;  ///< Of the arrays that hold the outputs: one per class output.
  std::vector<InputArray> parameters() const;
  int parameter_components() const;
  /// The one association of all arrays but the parameters; point where there is none. Throws
  /// UsageError if they differ.
  Association association() const;
  std::optional<InputArray> source_flag() const;

  /// Throws UsageError on names that are empty, stand twice among the inputs or the outputs, or are
  /// not UTF-8; component counts outside 1 to 1048576; no output; associations that differ; more
  /// than one source flag or one of several components, or parameters beside one (what has a source
  /// flag is linear in the values of its sources); ranges of other inputs than parameters; classes
  /// that are fewer than two, do not ascend or have the value no_class, that stand with more than
  /// one component or have statistics, an ignored value that is a class or stands without; axes
  /// other than 0, 1, 2 or repeated; symmetries of fewer than two coordinates or with arrays of
  /// several components; and numbers that are not finite, out of range, or not as many
  /// as what they describe.
  void validate() const;

  /// Schema in docs/operator_file.md. Numbers are written independently of the locale, and read
  /// back bit-equal.
  Json to_json() const;

  /// `inputs`, `outputs` and `coordinates` must be there. Where absent, `role` is value (parameter,
  /// if the association is "field"), `classes` and `ignored` are none, `unit`, `min`, `max`, the
  /// normalisations and bounds are empty, `weights` is auto, there are no symmetries, `points` is
  /// unknown (0 to 0). Throws OperatorFileError on missing or unknown keys, wrong types, and
  /// whatever validate() refuses, naming the key.
  static Contract from_json(const Json& json);
};

}  // namespace funcattn
