#include "operators/engine/paper_panels.h"

namespace funcattn {

Tensor interleave_heads(const Tensor& a, const Tensor& b, int heads) {
  std::vector<std::int64_t> sizes = a.sizes().vec();
  sizes.insert(sizes.begin(), heads);
  sizes[1] /= heads;
  return at::cat({a.reshape(sizes), b.reshape(sizes)}, 1).flatten(0, 1);
}

std::pair<Tensor, Tensor> separate_heads(const Tensor& joined, int heads) {
  std::vector<std::int64_t> sizes = joined.sizes().vec();
  sizes.insert(sizes.begin(), heads);
  sizes[1] /= heads;
  const auto parts = joined.reshape(sizes).chunk(2, 1);
  return {parts[0].flatten(0, 1), parts[1].flatten(0, 1)};
}

namespace {

template <class T>
std::vector<PackedLinear<T>> pack_by_head(const Tensor& weight, const Tensor& bias, int heads) {
  std::vector<PackedLinear<T>> maps;
  const auto weights = weight.chunk(heads, 0);
  const auto biases = bias.chunk(heads, 0);
  for (int h = 0; h < heads; ++h)
    maps.emplace_back(weights[static_cast<std::size_t>(h)], biases[static_cast<std::size_t>(h)]);
  return maps;
}

}  // namespace

template <class T>
PaperPanels<T>::PaperPanels(const PanelKernels<T>& kernels, const PaperDescription& description)
    : query_sums_(description.heads, description.functions(), description.channels(),
                  kernels.lanes),
      source_sums_(description.heads, description.functions(), 2 * description.channels(),
                   kernels.lanes),
      width_(static_cast<int>(description.q_weight.size(0))),
      kind_(description.coefficients),
      regularisation_(Regularisation::fixed(description.ridge, description.relative_ridge)),
      reference_points_(description.reference_points),
      queries_(description.q_weight, description.q_bias),
      keys_and_values_(
          interleave_heads(description.k_weight, description.v_weight, description.heads),
          interleave_heads(description.k_bias, description.v_bias, description.heads)),
      query_basis_(pack_by_head<T>(description.query_basis_weight, description.query_basis_bias,
                                   description.heads)),
      source_basis_(pack_by_head<T>(description.source_basis_weight, description.source_basis_bias,
                                    description.heads)),
      out_(description.out_weight, description.out_bias) {}

template <class T>
void PaperPanels<T>::accumulate(PanelArena<T>& arena, Sides sides, const T* x,
                                const PanelMeasure<T>& measure, T* sums) const {
  const PanelKernels<T>& kernels = arena.kernels();
  const auto side = [&](const BasisSums& layout, const PackedLinear<T>& fields,
                        const std::vector<PackedLinear<T>>& basis, T* into) {
    const typename PanelArena<T>::Frame frame(arena);
    T* field = arena.rows(fields.outs());
    T* e = arena.rows(layout.functions());
    T* inverse_sum = arena.rows(1);
    T* scratch = arena.rows(layout.transpose_rows() + panel_row_group);
    fields.apply(kernels, x, field);
    for (int head = 0; head < layout.heads(); ++head) {
      basis[static_cast<std::size_t>(head)].apply(kernels, x, e);
      kernels.exponentials(e, layout.functions(), inverse_sum);
      T* channels = field + static_cast<std::ptrdiff_t>(head) * layout.channels() * kernels.points;
      layout.accumulate(kernels, head, e, inverse_sum, channels, measure, scratch, into);
    }
  };
  if (sides.query) side(query_sums_, queries_, query_basis_, sums);
  if (sides.source) side(source_sums_, keys_and_values_, source_basis_, sums + query_sums_.size());
}

template <class T>
Transported<T> PaperPanels<T>::solve(const double* sums, const SampleSize& source,
                                     const SampleSize& query) const {
  // The published equations scale weights to sum to the number of points, also those of weight 0.
  const auto reference = [&](const SampleSize& size) {
    return reference_points_ > 0 ? reference_points_ : size.points;
  };
  const Tensor queries = query_sums_.coefficients(sums, kind_, reference(query));
  const Tensor joined =
      source_sums_.coefficients(sums + query_sums_.size(), kind_, reference(source));
  const auto parts = joined.chunk(2, 3);
  return pack_transported<T>(transport(queries, parts[0], parts[1], regularisation_));
}

template <class T>
void PaperPanels<T>::apply(PanelArena<T>& arena, const Transported<T>& transported, const T* x,
                           T* y) const {
  const PanelKernels<T>& kernels = arena.kernels();
  const typename PanelArena<T>::Frame frame(arena);
  T* joined = arena.rows(width_ + panel_row_group);
  T* e = arena.rows(query_sums_.functions());
  T* inverse_sum = arena.rows(1);
  for (int head = 0; head < query_sums_.heads(); ++head) {
    query_basis_[static_cast<std::size_t>(head)].apply(kernels, x, e);
    kernels.exponentials(e, query_sums_.functions(), inverse_sum);
    transported[static_cast<std::size_t>(head)].apply(
        kernels, e,
        joined + static_cast<std::ptrdiff_t>(head) * query_sums_.channels() * kernels.points,
        inverse_sum);
  }
  out_.apply_add(kernels, joined, y);
}

template class PaperPanels<float>;
template class PaperPanels<double>;

}  // namespace funcattn
