#pragma once

#include <memory>

#include "operators/engine/network_description.h"
#include "operators/engine/panel_attention.h"

namespace funcattn {

/// The panel version of an attention layer, with its weights packed.
template <class T>
std::unique_ptr<PanelAttention<T>> make_panel_attention(const PanelKernels<T>& kernels,
                                                        const AttentionDescription& description);

/// Copies in float64, without gradients: the model may be trained on.
MixingMaps copy_maps(const MixingMaps& maps);

}  // namespace funcattn
