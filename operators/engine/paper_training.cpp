#include "operators/engine/paper_training.h"

#include <algorithm>

#include "operators/engine/paper_panels.h"

namespace funcattn {

namespace {

template <class T>
std::vector<TrainableLinear<T>> by_head(const Tensor& weight, const Tensor& bias, int heads,
                                        int lanes, std::size_t& offset) {
  std::vector<TrainableLinear<T>> maps;
  const auto weights = weight.detach().chunk(heads, 0);
  const auto biases = bias.detach().chunk(heads, 0);
  for (std::size_t h = 0; h < weights.size(); ++h)
    maps.emplace_back(weights[h], biases[h], lanes, offset);
  return maps;
}

template <class T>
Tensor joined_weight(const std::vector<TrainableLinear<T>>& maps, const double* sums) {
  std::vector<Tensor> parts;
  for (const auto& map : maps) parts.push_back(map.gradient.weight(sums));
  return at::cat(parts, 0);
}

template <class T>
Tensor joined_bias(const std::vector<TrainableLinear<T>>& maps, const double* sums) {
  std::vector<Tensor> parts;
  for (const auto& map : maps) parts.push_back(map.gradient.bias(sums));
  return at::cat(parts, 0);
}

std::ptrdiff_t panel_rows(int rows, int points) {
  return static_cast<std::ptrdiff_t>(rows) * points;
}

}  // namespace

template <class T>
PaperTraining<T>::PaperTraining(const PanelKernels<T>& kernels, const PaperDescription& description,
                                std::size_t& offset)
    : query_sums_(description.heads, description.functions(), description.channels(),
                  kernels.lanes),
      source_sums_(description.heads, description.functions(), 2 * description.channels(),
                   kernels.lanes),
      width_(static_cast<int>(description.q_weight.size(0))),
      kind_(description.coefficients),
      regularisation_(Regularisation::fixed(description.ridge, description.relative_ridge)),
      reference_points_(description.reference_points) {
  const int heads = description.heads;
  const int lanes = kernels.lanes;
  query_.field =
      TrainableLinear<T>(description.q_weight.detach(), description.q_bias, lanes, offset);
  query_.basis = by_head<T>(description.query_basis_weight, description.query_basis_bias, heads,
                            lanes, offset);
  source_.field = TrainableLinear<T>(
      interleave_heads(description.k_weight, description.v_weight, heads),
      interleave_heads(description.k_bias, description.v_bias, heads), lanes, offset);
  source_.basis = by_head<T>(description.source_basis_weight, description.source_basis_bias, heads,
                             lanes, offset);
  out_ = TrainableLinear<T>(description.out_weight, description.out_bias, lanes, offset);
}

template <class T>
void PaperTraining<T>::accumulate_side(PanelArena<T>& arena, const Side& side,
                                       const BasisSums& layout, const T* x,
                                       const PanelMeasure<T>& measure, T* sums) const {
  const PanelKernels<T>& kernels = arena.kernels();
  const typename PanelArena<T>::Frame frame(arena);
  T* field = arena.rows(side.field.forward.outs());
  T* e = arena.rows(layout.functions());
  T* inverse_sum = arena.rows(1);
  T* scratch = arena.rows(layout.transpose_rows() + panel_row_group);
  side.field.forward.apply(kernels, x, field);
  for (int head = 0; head < layout.heads(); ++head) {
    side.basis[static_cast<std::size_t>(head)].forward.apply(kernels, x, e);
    kernels.exponentials(e, layout.functions(), inverse_sum);
    layout.accumulate(kernels, head, e, inverse_sum,
                      field + panel_rows(head * layout.channels(), kernels.points), measure,
                      scratch, sums);
  }
}

template <class T>
void PaperTraining<T>::accumulate(PanelArena<T>& arena, const T* x, const PanelMeasure<T>& measure,
                                  T* kept, T* sums) const {
  accumulate_side(arena, query_, query_sums_, x, measure, sums);
  accumulate_side(arena, source_, source_sums_, x, measure, sums + query_sums_.size());
  std::copy(x, x + panel_rows(width_, arena.kernels().points), kept);
}

template <class T>
Tensor PaperTraining<T>::moved(const Solved& solved, const SampleSize& size) const {
  // The published equations scale weights to sum to the number of points, also those of weight 0.
  const double reference = reference_points_ > 0 ? reference_points_ : size.points;
  const auto coefficients = [&](const Tensor& products, const Tensor& mass) {
    return kind_ == Coefficients::mean ? mean_coefficients(products, mass, reference) : products;
  };
  const auto parts = coefficients(solved.products, solved.mass).chunk(2, 3);
  return transport(coefficients(solved.query_products, solved.query_mass), parts[0], parts[1],
                   regularisation_);
}

template <class T>
typename PaperTraining<T>::Solved PaperTraining<T>::solve(const double* sums,
                                                          const SampleSize& size) const {
  Solved solved;
  solved.query_products = query_sums_.product_tensor(sums);
  solved.query_mass = query_sums_.mass_tensor(sums);
  solved.products = source_sums_.product_tensor(sums + query_sums_.size());
  solved.mass = source_sums_.mass_tensor(sums + query_sums_.size());
  const Tensor map = moved(solved, size);
  solved.map = pack_transported<T>(map);
  solved.transposed_map = pack_transported<T>(map.transpose(-2, -1));
  return solved;
}

template <class T>
typename PaperTraining<T>::ApplyTape PaperTraining<T>::apply(PanelArena<T>& arena,
                                                             const Solved& solved, const T* kept,
                                                             T* y) const {
  const PanelKernels<T>& kernels = arena.kernels();
  const int functions = round_up_rows(query_sums_.functions());
  ApplyTape tape;
  tape.joined = arena.rows(width_ + panel_row_group);
  tape.bases = arena.rows(query_sums_.heads() * functions);
  tape.inverse_sums = arena.rows(query_sums_.heads() * panel_row_group);
  for (int head = 0; head < query_sums_.heads(); ++head) {
    const auto index = static_cast<std::size_t>(head);
    T* e = tape.bases + panel_rows(head * functions, kernels.points);
    T* inverse_sum = tape.inverse_sums + panel_rows(head * panel_row_group, kernels.points);
    query_.basis[index].forward.apply(kernels, kept, e);
    kernels.exponentials(e, query_sums_.functions(), inverse_sum);
    solved.map[index].apply(kernels, e,
                            tape.joined + panel_rows(head * query_sums_.channels(), kernels.points),
                            inverse_sum);
  }
  out_.forward.apply_add(kernels, tape.joined, y);
  return tape;
}

template <class T>
void PaperTraining<T>::backward_apply(PanelArena<T>& arena, const ApplyTape& tape, const T* dy,
                                      T* d_joined, T* sums, T* map_sums) const {
  const PanelKernels<T>& kernels = arena.kernels();
  const typename PanelArena<T>::Frame frame(arena);
  const int functions = round_up_rows(query_sums_.functions());
  T* by_point = arena.rows(out_.gradient.transpose_rows());
  T* head_by_point = arena.rows(query_sums_.transpose_rows());
  kernels.transpose(tape.joined, width_, nullptr, by_point);
  out_.gradient.add(kernels, dy, by_point, sums);
  out_.transposed.apply(kernels, dy, d_joined);
  for (int head = 0; head < query_sums_.heads(); ++head) {
    kernels.transpose(d_joined + panel_rows(head * query_sums_.channels(), kernels.points),
                      query_sums_.channels(),
                      tape.inverse_sums + panel_rows(head * panel_row_group, kernels.points),
                      head_by_point);
    kernels.accumulate(tape.bases + panel_rows(head * functions, kernels.points),
                       query_sums_.functions(), head_by_point, query_sums_.channels(),
                       map_sums + query_sums_.products(head));
  }
}

template <class T>
SolveGradient<T> PaperTraining<T>::backward_solve(const double* map_sums, const Solved& solved,
                                                  const SampleSize& size,
                                                  std::vector<Tensor>&) const {
  const at::AutoGradMode record(true);
  const auto leaf = [](const Tensor& tensor) { return tensor.detach().requires_grad_(); };
  Solved leaves;
  leaves.products = leaf(solved.products);
  leaves.mass = leaf(solved.mass);
  leaves.query_products = leaf(solved.query_products);
  leaves.query_mass = leaf(solved.query_mass);
  moved(leaves, size).backward(query_sums_.product_tensor(map_sums));
  const auto gradient = [](const Tensor& tensor) {
    return tensor.grad().defined() ? tensor.grad() : at::zeros_like(tensor);
  };
  SolveGradient<T> result;
  result.source = SumGradient<T>(gradient(leaves.products), gradient(leaves.mass));
  result.query = SumGradient<T>(gradient(leaves.query_products), gradient(leaves.query_mass));
  return result;
}

template <class T>
void PaperTraining<T>::backward_side(PanelArena<T>& arena, const Side& side,
                                     const BasisSums& layout, const SumGradient<T>& gradient,
                                     const Solved* solved, const T* x, const T* x_by_point,
                                     const T* share, const T* d_joined, T* dx, T* sums) const {
  const PanelKernels<T>& kernels = arena.kernels();
  const typename PanelArena<T>::Frame frame(arena);
  T* field = arena.rows(side.field.forward.outs());
  T* d_field = arena.rows(side.field.forward.outs() + panel_row_group);
  T* e = arena.rows(layout.functions());
  T* d_basis = arena.rows(layout.functions());
  T* inverse_sum = arena.rows(1);
  T* share_of_basis = arena.rows(1);
  side.field.forward.apply(kernels, x, field);
  for (int head = 0; head < layout.heads(); ++head) {
    const auto index = static_cast<std::size_t>(head);
    const std::ptrdiff_t rows = panel_rows(head * layout.channels(), kernels.points);
    side.basis[index].forward.apply(kernels, x, e);
    kernels.exponentials(e, layout.functions(), inverse_sum);
    // dB = M dZ (queries) + share (dP F + dm)
    if (solved)
      solved->transposed_map[index].apply(
          kernels, d_joined + panel_rows(head * query_sums_.channels(), kernels.points), d_basis);
    else
      std::fill_n(d_basis, panel_rows(round_up_rows(layout.functions()), kernels.points), T(0));
    gradient.products[index].apply_add(kernels, field + rows, d_basis, share);
    // dF = share dP^T B
    kernels.scale_points(inverse_sum, share, 1, share_of_basis);
    gradient.transposed_products[index].apply(kernels, e, d_field + rows, share_of_basis);
    kernels.softmax_backward(e, inverse_sum, layout.functions(), d_basis);
    side.basis[index].gradient.add(kernels, d_basis, x_by_point, sums);
    side.basis[index].transposed.apply_add(kernels, d_basis, dx);
  }
  side.field.gradient.add(kernels, d_field, x_by_point, sums);
  side.field.transposed.apply_add(kernels, d_field, dx);
}

template <class T>
void PaperTraining<T>::backward_points(PanelArena<T>& arena, const Solved& solved,
                                       const SolveGradient<T>& gradient, const T* x, const T*,
                                       const T* share, const T* d_joined, T* dx, T* sums) const {
  const PanelKernels<T>& kernels = arena.kernels();
  const typename PanelArena<T>::Frame frame(arena);
  T* by_point = arena.rows(out_.gradient.transpose_rows());
  kernels.transpose(x, width_, nullptr, by_point);
  backward_side(arena, query_, query_sums_, gradient.query, &solved, x, by_point, share, d_joined,
                dx, sums);
  backward_side(arena, source_, source_sums_, gradient.source, nullptr, x, by_point, share, nullptr,
                dx, sums);
}

template <class T>
std::vector<Tensor> PaperTraining<T>::gradients(const double* sums,
                                                const std::vector<Tensor>&) const {
  const int heads = query_sums_.heads();
  const auto [k_weight, v_weight] = separate_heads(source_.field.gradient.weight(sums), heads);
  const auto [k_bias, v_bias] = separate_heads(source_.field.gradient.bias(sums), heads);
  return {query_.field.gradient.weight(sums),
          query_.field.gradient.bias(sums),
          k_weight,
          k_bias,
          v_weight,
          v_bias,
          joined_weight(query_.basis, sums),
          joined_bias(query_.basis, sums),
          joined_weight(source_.basis, sums),
          joined_bias(source_.basis, sums),
          out_.gradient.weight(sums),
          out_.gradient.bias(sums)};
}

template class PaperTraining<float>;
template class PaperTraining<double>;

}  // namespace funcattn
