#pragma once

#include <memory>
#include <optional>
#include <string>

#include "operators/forms/residual_network.h"

namespace funcattn {

/// What turns points into bases and a field: `in_project_x` (the features whose heads decide on
/// the basis), the map to k logits that all heads share, one `temperature` per head, and
/// `in_project_fx` (the field).
struct BasisProjection {
  BasisProjection() = default;
  /// Registers its parts in `owner`; `slice_name` is the published name of the map to the logits.
  BasisProjection(torch::nn::Module& owner, Initialiser& initialiser, const ModelConfig& config,
                  const std::string& slice_name, bool clamp_temperature);
  /// Basis [B,H,N,k] for the projection, at features [B,N,width].
  Tensor basis(const Tensor& x) const;
  /// The basis for the reconstruction; the same tensor where one serves both.
  Tensor reconstruction_basis(const Tensor& x, const Tensor& basis) const;
  /// Field [B,H,N,c] at features [B,N,width].
  Tensor field(const Tensor& x) const;

  int heads = 0;
  bool clamp_temperature = true;  ///< To [0.1, 5].
  std::shared_ptr<Linear> in_project_x, in_project_fx, slice;
  /// Of the reconstruction where it has bases of its own: `in_project_out` (Bases::separate only)
  /// and the slice's name with "_out".
  std::shared_ptr<Linear> in_project_out, slice_out;
  Tensor temperature;  ///< [1,H,1,1]

 private:
  Tensor basis(const Linear& project, const Linear& to_logits, const Tensor& x) const;
};

/// The attention of `shared_basis`, `shared_basis_tied` and `segmentation`: one basis for queries,
/// keys and values; `to_q`, `to_k`, `to_v` are c x c maps on the mean coefficients that the heads
/// share; the system is (1 - a) Gram + a I with a = sigmoid(`alpha`), or a = config.blend.
class SharedBasisAttention : public PointAttention {
 public:
  /// @param tied the projection of the whole model; nullptr: an own one, registered here
  SharedBasisAttention(Initialiser& initialiser, const ModelConfig& config,
                       std::shared_ptr<const BasisProjection> tied);
  Tensor forward(const Tensor& x, const PointContext& points) override;

 private:
  std::shared_ptr<const BasisProjection> projection_;
  std::shared_ptr<Linear> to_q_, to_k_, to_v_;
  std::shared_ptr<LinearStack> to_out_;
  Tensor alpha_;  ///< Undefined where the blend is fixed.
  std::optional<double> blend_;
  Mixing mixing_;
  double reference_points_;
  bool relative_ridge_;
};

/// The authors' point-cloud network, or another attention in its place (ModelConfig::attention).
class SharedBasisModel : public ResidualModel {
 public:
  SharedBasisModel(const ModelConfig& config, Initialiser& initialiser);
};

}  // namespace funcattn
