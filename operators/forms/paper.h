#pragma once

#include <memory>

#include "operators/forms/residual_network.h"

namespace funcattn {

/// The attention of the paper's equations: queries, keys and values are projected at the points
/// (`q`, `k`, `v`); the queries' coefficients are taken in one basis (`basis_q`), those of keys and
/// values in another (`basis_k`); fixed ridge.
class PaperAttention : public PointAttention {
 public:
  PaperAttention(Initialiser& initialiser, const ModelConfig& config);
  /// @param query [B,M,width], source [B,N,width]
  /// @param observer may be null
  Tensor forward(const Tensor& query, const PointMeasure& query_measure, const Tensor& source,
                 const PointMeasure& source_measure, AttentionObserver* observer);
  Tensor forward(const Tensor& x, const PointContext& points) override {
    return forward(x, points.measure, x, points.measure, points.observer);
  }

 private:
  Tensor basis(const Linear& map, const Tensor& x) const;

  std::shared_ptr<Linear> q_, k_, v_, basis_q_, basis_k_, out_;
  Regularisation regularisation_;
  Coefficients coefficients_;
  double reference_points_;
  int heads_;
  double temperature_;
};

/// One bare attention layer on given features (blocks = 0), self or cross.
class PaperLayerModel : public Model {
 public:
  PaperLayerModel(const ModelConfig& config, Initialiser& initialiser);
  bool separates_query() const override { return config().cross; }
  bool has_engine() const override { return true; }
  Tensor predict(const PointSamples& source, const PointSamples& query) override;
  Tensor predict_observed(const PointSamples& source, const PointSamples& query,
                          AttentionObserver& observer) override;

 private:
  Tensor forward(const PointSamples& source, const PointSamples& query,
                 AttentionObserver* observer) const;

  std::shared_ptr<PaperAttention> attention_;
};

/// The residual network of `shared_basis` around the paper's attention (blocks > 0).
class PaperModel : public ResidualModel {
 public:
  PaperModel(const ModelConfig& config, Initialiser& initialiser);
};

}  // namespace funcattn
