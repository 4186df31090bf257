#pragma once

#include <memory>
#include <string>

#include "operators/contract.h"
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

  torch::Dtype dtype() const;
  torch::Device device() const;

  /// Physical (float64) to normalised samples in the model's dtype and on its device; coordinates
  /// are centred and scaled in float64 before the cast. Points of weight 0 are set to 0 first, so
  /// that NaN there cannot spread.
  PointSamples normalise(const PointSamples& physical) const;

  /// Normalised prediction [B,M,C_out] to physical units; differentiable, keeps the dtype.
  Tensor denormalise(const Tensor& prediction) const;

  /// Physical in, physical out. @return [B,M,C_out] in the model's dtype; records no gradient
  /// unless grad mode is on.
  Tensor apply(const PointSamples& source, const PointSamples& query) const;

 private:
  std::shared_ptr<Model> model_;
  Contract contract_;
  Json training_;
};

}  // namespace funcattn
