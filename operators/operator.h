#pragma once

#include <memory>
#include <string>

#include "operators/contract.h"
#include "operators/engine/inference_engine.h"
#include "operators/model.h"

namespace funcattn {

/// A trained operator: a model with its contract. Takes and gives physical units.
class Operator {
 public:
  /// Throws UsageError if the contract does not fit the model (components, dimension).
  Operator(std::shared_ptr<Model> model, Contract contract, Json training = Json::object());

  Model& model() const { return *model_; }
  std::shared_ptr<Model> shared_model() const { return model_; }
  const Contract& contract() const { return contract_; }
  const Json& training() const { return training_; }  ///< Task, steps, seed, threads, metrics.
  void set_training(Json training) { training_ = std::move(training); }

  /// The same model without the mean over the contract's symmetries, which predicts once where this
  /// one predicts 4 or 8 times. Throws UsageError where the contract has no symmetries.
  Operator without_symmetries() const;

  /// A copy whose model computes on `device`; apply() takes samples from anywhere.
  Operator on_device(torch::Device device) const;

  torch::Dtype dtype() const;
  torch::Device device() const;

  /// Physical (float64) to normalised samples in the model's dtype and on its device; everything
  /// is done in float64 before the cast. At points of weight 0 what is not finite becomes 0, so
  /// that NaN there cannot spread; finite coordinates stay, because such a point may still be given
  /// a value. Weights are divided by their mean over the points of positive weight of a sample, so
  /// that small volumes do not become 0 in float32. Undefined values stay undefined.
  /// Throws UsageError for shapes that do not fit the contract.
  /// With `options` for several processes, mean and range are those of the points of all.
  PointSamples normalise(const PointSamples& physical, const EngineOptions& options = {}) const;

  /// Normalised prediction [B,M,C_out] to physical units, computed in float64; differentiable,
  /// keeps the dtype.
  Tensor denormalise(const Tensor& prediction) const;

  /// The model's prediction in normalised units: by an engine made for the call where no gradient
  /// is recorded, the weights are on the CPU and the model has one (Model::has_engine()); by the
  /// model's tensor operations otherwise.
  Tensor predict(const PointSamples& source, const PointSamples& query) const;

  /// Physical in, physical out: the prediction, or the mean of those for the points under each map
  /// of the contract's symmetries. Where `query` holds the very tensors of `source` they are
  /// normalised once. @return [B,M,C_out] in the model's dtype; records no gradient unless grad
  /// mode is on.
  Tensor apply(const PointSamples& source, const PointSamples& query) const;

  /// As above by an engine of this operator's model, made once and used for many calls.
  Tensor apply(const PointSamples& source, const PointSamples& query, const InferenceEngine& engine,
               const EngineOptions& options = {}) const;

 private:
  /// @param predict (normalised source, normalised query, options) to the normalised prediction
  template <class Predict>
  Tensor mean_over_symmetries(const PointSamples& source, const PointSamples& query,
                              const EngineOptions& options, const Predict& predict) const;

  std::shared_ptr<Model> model_;
  Contract contract_;
  Json training_;
};

}  // namespace funcattn
