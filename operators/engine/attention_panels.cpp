#include "operators/engine/attention_panels.h"

#include "operators/engine/few_shot_panels.h"
#include "operators/engine/paper_panels.h"
#include "operators/engine/shared_basis_panels.h"
#include "operators/engine/sum_coefficients_panels.h"

namespace funcattn {

namespace {

template <class T>
struct MakePanels {
  const PanelKernels<T>& kernels;
  using Result = std::unique_ptr<PanelAttention<T>>;
  Result operator()(const SharedBasisDescription& description) const {
    return std::make_unique<SharedBasisPanels<T>>(kernels, description);
  }
  Result operator()(const PaperDescription& description) const {
    return std::make_unique<PaperPanels<T>>(kernels, description);
  }
  Result operator()(const SumCoefficientsDescription& description) const {
    return std::make_unique<SumCoefficientsPanels<T>>(kernels, description);
  }
  Result operator()(const FewShotDescription& description) const {
    return std::make_unique<FewShotPanels<T>>(kernels, description);
  }
};

}  // namespace

template <class T>
std::unique_ptr<PanelAttention<T>> make_panel_attention(const PanelKernels<T>& kernels,
                                                        const AttentionDescription& description) {
  return std::visit(MakePanels<T>{kernels}, description);
}

MixingMaps copy_maps(const MixingMaps& maps) {
  const auto copy = [](const Tensor& tensor) {
    return tensor.detach().to(torch::kFloat64, /*non_blocking=*/false, /*copy=*/true);
  };
  return {copy(maps.to_q), copy(maps.to_k), copy(maps.to_v), copy(maps.alpha)};
}

template std::unique_ptr<PanelAttention<float>> make_panel_attention(const PanelKernels<float>&,
                                                                     const AttentionDescription&);
template std::unique_ptr<PanelAttention<double>> make_panel_attention(const PanelKernels<double>&,
                                                                      const AttentionDescription&);

}  // namespace funcattn
