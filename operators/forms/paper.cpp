#include "operators/forms/paper.h"

#include "operators/forms/mixing.h"

namespace funcattn {

PaperAttention::PaperAttention(Initialiser& initialiser, const ModelConfig& config)
    : regularisation_(Regularisation::fixed(config.ridge, config.relative_ridge)),
      coefficients_(config.coefficients),
      reference_points_(config.reference_points),
      heads_(config.heads),
      temperature_(config.temperature) {
  const int width = config.width;
  const int functions = config.heads * config.basis;
  q_ = register_module("q", std::make_shared<Linear>(initialiser, width, width));
  k_ = register_module("k", std::make_shared<Linear>(initialiser, width, width));
  v_ = register_module("v", std::make_shared<Linear>(initialiser, width, width));
  basis_q_ = register_module("basis_q", std::make_shared<Linear>(initialiser, width, functions));
  basis_k_ = register_module("basis_k", std::make_shared<Linear>(initialiser, width, functions));
  out_ = register_module("out", std::make_shared<Linear>(initialiser, width, width));
}

Tensor PaperAttention::basis(const Linear& map, const Tensor& x) const {
  const Tensor logits = map.forward(x).view({x.size(0), x.size(1), heads_, -1});
  return partition_of_unity(logits, at::full({}, temperature_, logits.options())).transpose(1, 2);
}

Tensor PaperAttention::forward(const Tensor& query, const PointMeasure& query_measure,
                               const Tensor& source, const PointMeasure& source_measure,
                               AttentionObserver* observer) {
  const Tensor query_basis = basis(*basis_q_, query);
  const Tensor source_basis = basis(*basis_k_, source);
  // The published equations scale weights to sum to the number of points, also those of weight 0.
  const auto reference = [&](const Tensor& x) {
    return reference_points_ > 0 ? reference_points_ : static_cast<double>(x.size(1));
  };
  const Tensor queries = project(query_basis, split_heads(q_->forward(query), heads_),
                                 query_measure, coefficients_, reference(query));
  const Tensor keys = project(source_basis, split_heads(k_->forward(source), heads_),
                              source_measure, coefficients_, reference(source));
  const Tensor values = project(source_basis, split_heads(v_->forward(source), heads_),
                                source_measure, coefficients_, reference(source));
  const Tensor moved = transport(queries, keys, values, regularisation_);
  if (observer) {
    AttentionRecord record = transport_record(queries, keys, values, regularisation_);
    record.query_basis = query_basis;
    record.source_basis = source_basis;
    record.query_weights = query_measure.relative;
    record.source_weights = source_measure.relative;
    observer->observe(record);
  }
  return out_->forward(join_heads(reconstruct(query_basis, moved)));
}

PaperLayerModel::PaperLayerModel(const ModelConfig& config, Initialiser& initialiser)
    : Model(config), attention_(std::make_shared<PaperAttention>(initialiser, config)) {
  // The names of a bare layer have no prefix: its parts are registered, not the layer itself.
  for (const auto& part : attention_->named_children()) register_module(part.key(), part.value());
}

Tensor PaperLayerModel::predict(const PointSamples& source, const PointSamples& query) {
  return forward(source, query, nullptr);
}

Tensor PaperLayerModel::predict_observed(const PointSamples& source, const PointSamples& query,
                                         AttentionObserver& observer) {
  return forward(source, query, &observer);
}

Tensor PaperLayerModel::forward(const PointSamples& source, const PointSamples& query,
                                AttentionObserver* observer) const {
  const Tensor features = point_features(source, config(), dtype(), "source");
  const PointMeasure measure(source.weights, dtype());
  if (!separates_query())
    return attention_->forward(features, measure, features, measure, observer);
  const Tensor query_features = point_features(query, config(), dtype(), "query");
  return attention_->forward(query_features, PointMeasure(query.weights, dtype()), features,
                             measure, observer);
}

PaperModel::PaperModel(const ModelConfig& config, Initialiser& initialiser)
    : ResidualModel(config, initialiser) {
  ResidualNetworkOptions options;
  options.lift_width = 2 * config.width;
  network_ = std::make_unique<ResidualNetwork>(*this, initialiser, config, options, [&] {
    return std::make_shared<PaperAttention>(initialiser, config);
  });
}

}  // namespace funcattn
