#pragma once

#include <string>

#include "operators/attention.h"
#include "operators/attention_observer.h"

namespace funcattn {

/// What happens to the coefficients of a shared basis between projection and reconstruction.
enum class Mixing {
  functional,  ///< Transport by regularised least squares (the published form).
  softmax,     ///< Softmax attention over the k basis functions as tokens (slice attention).
  none,        ///< Each function keeps its own: only `to_v` acts.
};

const char* to_string(Mixing mixing);
/// Throws UsageError naming the possible values.
Mixing mixing_from_string(const std::string& text);

/// The bias-free maps [c,c] on the coefficients, and the blend [1] of the transport.
struct MixingMaps {
  Tensor to_q, to_k, to_v, alpha;
};

/// `alpha` of a blend that is not learned: [1], sigmoid(alpha) = blend. @param like gives the
/// device
Tensor fixed_alpha(double blend, const Tensor& like);

/// Coefficients [B,H,k,c] to coefficients; differentiable in them and in the maps. The transport is
/// computed in float64 inside.
Tensor mix_coefficients(Mixing mixing, const Tensor& coefficients, const MixingMaps& maps,
                        bool relative_ridge);

/// The matrices of mix_coefficients(), which are `transport` times `coefficients` of the record;
/// its bases and weights are left undefined. `none` has the identity as transport.
AttentionRecord mixing_record(Mixing mixing, const Tensor& coefficients, const MixingMaps& maps,
                              bool relative_ridge);

/// The matrices of transport(queries, keys, coefficients, regularisation), in float64; bases and
/// weights are left undefined.
AttentionRecord transport_record(const Tensor& queries, const Tensor& keys,
                                 const Tensor& coefficients, const Regularisation& regularisation);

}  // namespace funcattn
