#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/json.h"
#include "operators/attention.h"
#include "operators/attention_observer.h"
#include "operators/forms/mixing.h"
#include "operators/point_samples.h"

namespace funcattn {

/// The published forms of Functional Attention; docs/forms.md says where they differ.
enum class Form {
  paper,
  shared_basis,
  shared_basis_tied,
  segmentation,
  few_shot,
  sum_coefficients
};

const char* to_string(Form form);
/// Throws UsageError with the known names, and the likeliest one meant.
Form form_from_string(const std::string& text);
std::vector<std::string> form_names();

/// What mixes the points in the blocks of shared_basis.
enum class Attention {
  functional,  ///< Functional Attention.
  softmax,     ///< Softmax over the points.
  linear,      ///< Without softmax, normalised keys and values (Galerkin attention).
  ridge,       ///< Ridge regression in the space of features.
  pointwise,   ///< Nothing: a network of two layers at every point.
  fourier,     ///< Functional Attention in a fixed basis of cosines of the coordinates.
};

const char* to_string(Attention attention);
/// Throws UsageError with the known names.
Attention attention_from_string(const std::string& text);

/// What softmax attention knows of the places of the points.
enum class PositionBias {
  none,
  distance,  ///< The logits of a head fall linearly with the distance.
  learned,   ///< They are shifted by a small network of the difference of coordinates.
};

const char* to_string(PositionBias bias);
/// Throws UsageError with the known names.
PositionBias position_bias_from_string(const std::string& text);

/// The bases of a form with a shared basis: which of what makes them serves both projection and
/// reconstruction.
enum class Bases {
  shared,           ///< Everything: one basis, as published.
  separate_slices,  ///< The features; the maps to the logits differ.
  separate,         ///< Nothing: features and logits differ.
};

const char* to_string(Bases bases);
/// Throws UsageError with the known names.
Bases bases_from_string(const std::string& text);

enum class Activation { relu, gelu, silu, tanh, sine };

const char* to_string(Activation activation);
Activation activation_from_string(const std::string& text);

/// Sizes and switches from which a model is built; everything that its weights do not say.
/// Stored in the operator file, so that a file alone rebuilds its model.
struct ModelConfig {
  Form form = Form::shared_basis;
  int coordinate_dimension = 0;  ///< D: coordinates that enter the features of a point.
  int value_features = 0;        ///< C: values that enter the features of a point; few_shot: known
                                 ///< values at the source, = out_features.
  int out_features = 1;
  int width = 64;  ///< Divisible by heads (except in sum_coefficients and few_shot).
  int heads = 4;
  int basis = 32;  ///< Basis functions per head; groups in few_shot.
  int blocks = 4;  ///< 0 in `paper`: one bare attention layer on features of size width.
  int mlp_ratio = 1;
  int ffn_width = 0;         ///< Hidden width of sum_coefficients' FFN; 0: mlp_ratio * width.
  int preprocess_depth = 1;  ///< segmentation: number of residual layers in the pre-MLP.
  bool cross = false;        ///< `paper` with blocks = 0: queries differ from the source.
  Coefficients coefficients = Coefficients::mean;  ///< `paper` only; the others fix theirs.
  Mixing mixing = Mixing::functional;              ///< Forms with a shared basis: the k x k step.
  Bases bases = Bases::shared;                     ///< The same forms.
  Attention attention = Attention::functional;     ///< Others than functional: shared_basis only.
  bool causal = false;  ///< Softmax attention: a point sees itself and those before it in order.
  PositionBias position_bias = PositionBias::none;  ///< Softmax attention.
  int memory_tokens = 0;                            ///< Softmax attention: per head.
  /// Features sin(pi m x), cos(pi m x), m = 1 ... sinusoids, of each coordinate x beside itself;
  /// not in few_shot, which has fourier_features.
  int sinusoids = 0;
  /// The pi m of these are where training of their frequencies begins, each coordinate's for itself
  /// (parameter `frequencies`): the residual forms, in tensor operations.
  bool learned_frequencies = false;
  /// Forms with a shared basis: the a of (1 - a) Gram + a I, the same in all blocks. None: learned,
  /// one in each block.
  std::optional<double> blend;
  double ridge = 1e-3;          ///< Fixed lambda (paper, few_shot, sum_coefficients).
  bool relative_ridge = false;  ///< Scale the ridge by the mean diagonal of the Gram matrix.
  double temperature = 0.5;     ///< Initial temperature; constant in `paper`.
  Activation activation = Activation::gelu;  ///< few_shot's encoder; relu as published.
  int encoder_layers = 4;                    ///< few_shot: Linear layers of the encoder.
  int latent = 0;                      ///< few_shot: features that the encoder hands on; 0: width.
  int fourier_features = 0;            ///< few_shot: learned frequencies per coordinate; 0: none.
  double fourier_max_frequency = 2.0;  ///< Largest initial angular frequency.
  /// `mean` coefficients: the n to which weights are scaled before 1e-5 is added to the mass of a
  /// basis function. A constant makes results depend on the weighted points as a set alone, exactly
  /// independent of refinement and padding. 0: as published, the points of the sample (in `paper`
  /// those of weight 0 included); results then shift by about 1e-5 k / n with refinement.
  int reference_points = 1000;

  int in_features() const { return coordinate_dimension * (1 + 2 * sinusoids) + value_features; }
  int latent_features() const { return latent > 0 ? latent : width; }

  /// Throws UsageError for contradictory sizes, naming both numbers and what to change.
  void validate() const;
  Json to_json() const;
  /// Throws OperatorFileError on an unknown form, a missing key or a value out of range.
  static ModelConfig from_json(const Json& json);
};

/// An operator's network: samples of a source function to values at query points, in normalised
/// units. Stateless besides its weights; `predict` may run concurrently.
class Model : public torch::nn::Module {
 public:
  explicit Model(ModelConfig config) : config_(std::move(config)) {}
  const ModelConfig& config() const { return config_; }

  /// True where the model takes a source that differs from the queries (few_shot, paper with
  /// cross); otherwise predict() requires query to be the source.
  virtual bool separates_query() const { return false; }

  /// True where an InferenceEngine computes what predict() does: for all models of make_model()
  /// with functional attention and without learned_frequencies. All others, a user's own class
  /// among them, are computed by predict() in tensor operations, which need memory for each point.
  virtual bool has_engine() const { return false; }

  /// @param source, query dtype and device of the weights; D and C as in config(). Forms that do
  ///   not separate the query evaluate at the source points and ignore `query`.
  /// @return [B,M,out_features]; finite at every point with finite input, also at those of weight
  ///   0 (they take no part, but they get a value)
  virtual Tensor predict(const PointSamples& source, const PointSamples& query) = 0;

  /// predict() in tensor operations, showing `observer` what every attention layer computes: once
  /// per block. Throws UsageError where the class has no such layers (the default).
  virtual Tensor predict_observed(const PointSamples& source, const PointSamples& query,
                                  AttentionObserver& observer);

  std::int64_t parameter_count() const;
  torch::Dtype dtype() const;  ///< Of the weights.

 private:
  ModelConfig config_;
};

/// A new model with seeded initial weights, dtype float32 or float64, on the CPU. Parameters carry
/// the published names. The global random generator is left as found.
std::shared_ptr<Model> make_model(const ModelConfig& config, torch::Dtype dtype = torch::kFloat32,
                                  std::uint64_t seed = 0);

}  // namespace funcattn
