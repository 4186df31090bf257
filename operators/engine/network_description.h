#pragma once

#include <optional>
#include <variant>
#include <vector>

#include "operators/attention.h"
#include "operators/model.h"

// A model written out as what the engine computes at points and on coefficients. Where a model
// scales or shifts by a parameter next to a linear map (layer normalisation, temperature, the
// natural exponential instead of 2^x), the map here has it folded in. All tensors are made from the
// parameters by differentiable operations.

namespace funcattn {

/// y = activation(W n(x) + b), plus x where `residual`; n normalises over the features, without
/// gain and shift, where `normalise`.
struct DenseDescription {
  Tensor weight;  ///< [outs,ins]
  Tensor bias;    ///< [outs]
  std::optional<Activation> activation;
  bool normalise = false;
  bool residual = false;
};

using DenseStack = std::vector<DenseDescription>;

/// Attention with mean coefficients in one basis, and a reconstruction in the same or another one.
struct SharedBasisDescription {
  int heads = 0;
  Tensor features_weight, features_bias;  ///< [width,width], [width]: what decides on the basis.
  Tensor slice_weight;                    ///< [k,c], for every head.
  Tensor slice_bias;                      ///< [H,k]
  /// The same for the reconstruction, undefined where that has the features or the basis of the
  /// projection.
  Tensor out_features_weight, out_features_bias, out_slice_weight, out_slice_bias;
  Tensor field_weight, field_bias;  ///< [width,width], [width]
  Mixing mixing = Mixing::functional;
  MixingMaps maps;
  bool relative_ridge = false;
  double reference_points = 0;
  Tensor out_weight, out_bias;  ///< [width,width], [width]
};

/// The paper's attention: separate bases for queries and for keys and values.
struct PaperDescription {
  int heads = 0;
  Tensor q_weight, q_bias, k_weight, k_bias, v_weight, v_bias;  ///< [width,width], [width]
  Tensor query_basis_weight, query_basis_bias;                  ///< [H k,width], [H k]
  Tensor source_basis_weight, source_basis_bias;                ///< [H k,width], [H k]
  int functions() const { return static_cast<int>(query_basis_weight.size(0)) / heads; }
  int channels() const { return static_cast<int>(q_weight.size(0)) / heads; }
  Coefficients coefficients = Coefficients::mean;
  double ridge = 0;
  bool relative_ridge = false;
  double reference_points = 0;
  Tensor out_weight, out_bias;
};

/// The notebook's attention: heads of full width, one softmax over the functions of all heads.
struct SumCoefficientsDescription {
  int heads = 0;
  Tensor q_weight, q_bias, k_weight, k_bias, v_weight, v_bias;  ///< [H width,width], [H width]
  Tensor query_basis_weight, query_basis_bias;                  ///< [H k,H width], [H k]
  Tensor value_basis_weight, value_basis_bias;
  double ridge = 0;
  bool relative_ridge = false;
  Tensor out_weight, out_bias;  ///< [width,H width], [width]
};

/// Few-shot regression: a softmax over the source points, and queries that act directly.
struct FewShotDescription {
  Tensor slice_weight, slice_bias;  ///< [k,latent], [k]
  int values = 0;                   ///< Components known at the source.
  double ridge = 0;
  bool relative_ridge = false;
};

using AttentionDescription = std::variant<SharedBasisDescription, PaperDescription,
                                          SumCoefficientsDescription, FewShotDescription>;

/// How an attention stands between its input h and the block's result.
enum class BlockShape {
  pre_norm,   ///< h += attention(n(h)); h += mlp(h), which begins with a normalisation
  post_norm,  ///< a = LN1(h) + attention(h); y = LN2(a); h = y + mlp(y)
  bare,       ///< h = attention(h)
};

struct BlockDescription {
  BlockShape shape = BlockShape::pre_norm;
  AttentionDescription attention;
  DenseStack mlp;
  Tensor norm1_gain, norm1_shift, norm2_gain, norm2_shift;  ///< [width], post_norm only.
};

struct NetworkDescription {
  int width = 0;  ///< Features of a point between the blocks.
  int outputs = 0;
  DenseStack lift;  ///< Empty: the features as they are.
  std::vector<BlockDescription> blocks;
  DenseStack head;  ///< After the last block; empty: its result as it is.
};

/// Every form of the project can be described. Differentiable in the parameters of the model.
NetworkDescription describe_network(const Model& model);

}  // namespace funcattn
