#include "operators/forms/few_shot_kernel.h"

// The products here are small: to start threads for one costs more than to compute it, and the
// rounding would depend on their number.
#define EIGEN_DONT_PARALLELIZE

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/error.h"

namespace funcattn {

namespace {

using Eigen::Index;

template <typename Scalar>
using RowMatrix = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <typename Scalar>
using RowVector = Eigen::Matrix<Scalar, 1, Eigen::Dynamic>;
template <typename Scalar>
using MatrixView = Eigen::Map<const RowMatrix<Scalar>>;
template <typename Scalar>
using MatrixTarget = Eigen::Map<RowMatrix<Scalar>>;
using Matrix = Eigen::MatrixXd;

// Multiplications of the encoder for one prediction up to which the saved calls outweigh the
// threads and the wider vectors of LibTorch's products.
constexpr std::int64_t most_products = 3'000'000;

constexpr double lowest_temperature = 0.1;
constexpr double highest_temperature = 5.0;

// Positions in the list of tensors that the operation differentiates.
enum Input : std::size_t { context_input, values_input, query_input, temperature_input };
constexpr std::size_t first_layer_input = temperature_input + 1;

template <typename Scalar>
MatrixView<Scalar> matrix(const Tensor& tensor) {
  const Index columns = tensor.dim() == 1 ? 1 : tensor.size(-1);
  return {tensor.data_ptr<Scalar>(), tensor.numel() / columns, columns};
}

template <typename Scalar>
MatrixTarget<Scalar> target(const Tensor& tensor) {
  const Index columns = tensor.dim() == 1 ? 1 : tensor.size(-1);
  return {tensor.data_ptr<Scalar>(), tensor.numel() / columns, columns};
}

template <typename Scalar>
Eigen::Map<const RowVector<Scalar>> row(const Tensor& tensor) {
  return {tensor.data_ptr<Scalar>(), tensor.numel()};
}

/// One sample from the encoder's features on; everything in float64. Rows of the matrices over the
/// context are its points of positive weight.
struct SampleState {
  std::vector<Index> points;  ///< Which points of the context these are.
  Matrix features;            ///< [K,m]
  Matrix values;              ///< [K,v]
  Matrix logits;              ///< [K,G] before the weights and the temperature.
  Matrix basis;               ///< [K,G], columns sum to 1.
  Matrix keys;                ///< [G,m]
  Matrix group_values;        ///< [G,v]
  Matrix solution;            ///< [n,v], n = min(G,m): S^-1 Y or the map itself.
  Matrix map;                 ///< [m,v]
  Eigen::LLT<Matrix> system;
};

/// What the backward pass needs besides the inputs.
template <typename Scalar>
struct State : torch::CustomClassHolder {
  FewShotSettings settings;
  Index batch = 0;
  Index context = 0;
  Index queries = 0;
  std::vector<RowMatrix<Scalar>> activations;  ///< Input of every layer, then the features.
  std::vector<RowMatrix<Scalar>> slopes;       ///< Derivative of every activation function.
  std::vector<Index> cleared;                  ///< Rows of which coordinates were replaced by 0.
  std::vector<SampleState> samples;
  Tensor prediction;  ///< Until it is handed on.

  Index query_row(Index sample) const { return batch * context + sample * queries; }
};

/// x becomes its activation, slope the derivative.
template <typename Scalar>
void activate(Activation activation, RowMatrix<Scalar>& x, RowMatrix<Scalar>& slope) {
  using Array = Eigen::Array<Scalar, Eigen::Dynamic, 1>;
  slope.resize(x.rows(), x.cols());
  Eigen::Map<Array> h(x.data(), x.size());
  Eigen::Map<Array> d(slope.data(), x.size());
  const auto one = static_cast<Scalar>(1);
  switch (activation) {
    case Activation::relu:
      d = (h > 0).template cast<Scalar>();
      h = h.max(static_cast<Scalar>(0));
      break;
    case Activation::tanh:
      h = h.tanh();
      d = one - h.square();
      break;
    case Activation::sine:
      d = h.cos();
      h = h.sin();
      break;
    case Activation::silu:
      d = one / (one + (-h).exp());
      h *= d;
      d += h * (one - d);
      break;
    case Activation::gelu: {
      const auto root_half = static_cast<Scalar>(0.70710678118654752440);
      const auto density = static_cast<Scalar>(0.39894228040143267794);
      const auto half = static_cast<Scalar>(0.5);
      d = h.unaryExpr([&](Scalar value) { return half * std::erfc(-value * root_half); });
      const Array slope_of_cdf = density * (-half * h.square()).exp();
      const Array before = h;
      h *= d;
      d += before * slope_of_cdf;
      break;
    }
  }
}

/// Copies coordinates below one another; what is not finite at points of weight 0 becomes 0.
/// @return false where another coordinate is not finite
template <typename Scalar, typename Weight>
bool copy_coordinates(const Tensor& coordinates, const Tensor& weights, Index first_row,
                      State<Scalar>& state) {
  const MatrixView<Scalar> source = matrix<Scalar>(coordinates);
  auto rows = state.activations.front().middleRows(first_row, source.rows());
  rows = source;
  // The sum is finite where every term is, up to overflow, which the elements decide.
  if (std::isfinite(source.sum())) return true;
  const Weight* const weight = weights.defined() ? weights.data_ptr<Weight>() : nullptr;
  for (Index i = 0; i < source.rows(); ++i) {
    if (source.row(i).allFinite()) continue;
    if (weight == nullptr || weight[i] > 0) return false;
    for (Index j = 0; j < source.cols(); ++j) {
      if (!std::isfinite(source(i, j))) rows(i, j) = 0;
    }
    state.cleared.push_back(first_row + i);
  }
  return true;
}

/// Forms and solves the system of one sample; false where it is singular to working precision.
bool solve(const FewShotSettings& settings, SampleState& s) {
  const Matrix& T = s.keys;
  const Index groups = T.rows();
  const bool over_groups = groups <= T.cols();
  const double scale = settings.relative_ridge ? 1 : 1 - settings.ridge;
  const double ridge = settings.relative_ridge
                           ? settings.ridge * (T.squaredNorm() / static_cast<double>(groups))
                           : settings.ridge;
  Matrix S =
      over_groups ? Matrix(scale * (T * T.transpose())) : Matrix(scale * (T.transpose() * T));
  S.diagonal().array() += ridge;
  s.system.compute(S);
  const double threshold = static_cast<double>(S.rows()) * std::numeric_limits<double>::epsilon();
  const auto pivots = s.system.matrixLLT().diagonal().array().square();
  if (s.system.info() != Eigen::Success || !S.allFinite() ||
      !(pivots > S.diagonal().array() * threshold).all()) {
    return false;
  }
  const Matrix right = over_groups ? s.group_values : Matrix(T.transpose() * s.group_values);
  s.solution = s.system.solve(right);
  s.solution += s.system.solve(right - S * s.solution);
  s.map = over_groups ? Matrix(T.transpose() * s.solution) : s.solution;
  return s.map.allFinite();
}

/// One sample from its encoded context to the map; false where the generic path must decide.
template <typename Scalar, typename Weight>
bool fit_sample(const FewShotSettings& settings, const std::vector<Tensor>& inputs,
                const Weight* weights, const Eigen::Ref<const RowMatrix<Scalar>>& features,
                const Eigen::Ref<const RowMatrix<Scalar>>& values, SampleState& s) {
  const Index context = features.rows();
  double largest = 0;
  for (Index i = 0; i < context; ++i) {
    const auto weight = static_cast<double>(weights[i]);
    if (weight > largest) largest = weight;
  }
  if (!(largest > 0) || !std::isfinite(largest)) return false;
  s.points.reserve(static_cast<std::size_t>(context));
  std::vector<double> log_weights;
  log_weights.reserve(static_cast<std::size_t>(context));
  for (Index i = 0; i < context; ++i) {
    const double relative = static_cast<double>(weights[i]) / largest;
    if (!(relative > 0)) continue;
    s.points.push_back(i);
    log_weights.push_back(relative == 1 ? 0 : std::log(relative));
  }
  const auto present = static_cast<Index>(s.points.size());
  if (present == context) {
    s.features = features.template cast<double>();
    s.values = values.template cast<double>();
  } else {
    s.features.resize(present, features.cols());
    s.values.resize(present, values.cols());
    for (Index i = 0; i < present; ++i) {
      const Index point = s.points[static_cast<std::size_t>(i)];
      s.features.row(i) = features.row(point).template cast<double>();
      s.values.row(i) = values.row(point).template cast<double>();
    }
  }
  const std::size_t slice = inputs.size() - 2;
  s.logits.noalias() =
      s.features * matrix<Scalar>(inputs[slice]).template cast<double>().transpose();
  s.logits.rowwise() += row<Scalar>(inputs[slice + 1]).template cast<double>();
  const double temperature =
      std::clamp(static_cast<double>(*inputs[temperature_input].data_ptr<Scalar>()),
                 lowest_temperature, highest_temperature);
  s.basis = s.logits / temperature;
  s.basis.colwise() += Eigen::Map<const Eigen::VectorXd>(log_weights.data(), present);
  s.basis.rowwise() -= Eigen::RowVectorXd(s.basis.colwise().maxCoeff());
  s.basis = s.basis.array().exp();
  s.basis.array().rowwise() /= Eigen::ArrayXd(s.basis.colwise().sum()).transpose();
  s.keys.noalias() = s.basis.transpose() * s.features / (1 + group_mass_floor);
  s.group_values.noalias() = s.basis.transpose() * s.values;
  return solve(settings, s);
}

/// The prediction, or undefined.
template <typename Scalar, typename Weight>
Tensor predict(const std::vector<Tensor>& inputs, const Tensor& source_weights,
               const Tensor& query_weights, State<Scalar>& state) {
  const Tensor& values = inputs[values_input];
  const Index dimension = inputs[context_input].size(2);
  const Index rows = state.batch * (state.context + state.queries);
  const std::size_t layers = (inputs.size() - 2 - first_layer_input) / 2;
  state.activations.reserve(layers + 1);
  state.slopes.resize(layers - 1);
  state.activations.emplace_back(rows, dimension);
  if (!copy_coordinates<Scalar, Weight>(inputs[context_input], source_weights, 0, state) ||
      !copy_coordinates<Scalar, Weight>(inputs[query_input], query_weights, state.query_row(0),
                                        state)) {
    return {};
  }
  for (std::size_t i = 0; i < layers; ++i) {
    const MatrixView<Scalar> weight = matrix<Scalar>(inputs[first_layer_input + 2 * i]);
    RowMatrix<Scalar> x(rows, weight.rows());
    x.noalias() = state.activations.back() * weight.transpose();
    x.rowwise() += row<Scalar>(inputs[first_layer_input + 2 * i + 1]);
    if (i + 1 < layers) activate(state.settings.activation, x, state.slopes[i]);
    state.activations.push_back(std::move(x));
  }
  const RowMatrix<Scalar>& features = state.activations.back();
  Tensor prediction = at::empty({state.batch, state.queries, values.size(2)},
                                values.options().requires_grad(false));
  MatrixTarget<Scalar> result = target<Scalar>(prediction);
  const MatrixView<Scalar> all_values = matrix<Scalar>(values);
  state.samples.resize(static_cast<std::size_t>(state.batch));
  for (Index b = 0; b < state.batch; ++b) {
    SampleState& s = state.samples[static_cast<std::size_t>(b)];
    const Weight* const weights = source_weights.data_ptr<Weight>() + b * state.context;
    if (!fit_sample<Scalar, Weight>(state.settings, inputs, weights,
                                    features.middleRows(b * state.context, state.context),
                                    all_values.middleRows(b * state.context, state.context), s)) {
      return {};
    }
    result.middleRows(b * state.queries, state.queries).noalias() =
        features.middleRows(state.query_row(b), state.queries) * s.map.cast<Scalar>();
  }
  return result.allFinite() ? prediction : Tensor();
}

/// Gradients of the solution: of the keys and of the group values, from that of the map.
std::pair<Matrix, Matrix> solve_backward(const FewShotSettings& settings, const SampleState& s,
                                         const Matrix& map_gradient) {
  const Matrix& T = s.keys;
  const bool over_groups = T.rows() <= T.cols();
  const double scale = settings.relative_ridge ? 1 : 1 - settings.ridge;
  // X = S^-1 R: dR = S^-1 dX and dS = -dR X^T.
  const Matrix right = s.system.solve(over_groups ? Matrix(T * map_gradient) : map_gradient);
  const Matrix product = right * s.solution.transpose();
  const Matrix system = -(product + product.transpose());
  Matrix keys;
  Matrix values;
  if (over_groups) {
    keys = s.solution * map_gradient.transpose() + scale * (system * T);
    values = right;
  } else {
    keys = s.group_values * right.transpose() + scale * (T * system);
    values = T * right;
  }
  if (settings.relative_ridge) {
    keys -= (product.trace() * 2 * settings.ridge / static_cast<double>(T.rows())) * T;
  }
  return {std::move(keys), std::move(values)};
}

/// Gradients of all inputs, undefined where `needed` is false and they would cost extra.
template <typename Scalar>
std::vector<Tensor> backward(const std::vector<Tensor>& inputs, const State<Scalar>& state,
                             const Tensor& gradient, const std::vector<bool>& needed) {
  std::vector<Tensor> results(inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (needed[i]) results[i] = at::empty(inputs[i].sizes(), inputs[i].options());
  }
  const MatrixView<Scalar> prediction_gradient = matrix<Scalar>(gradient);
  const RowMatrix<Scalar>& features = state.activations.back();
  const std::size_t slice = inputs.size() - 2;
  const Matrix slice_weight = matrix<Scalar>(inputs[slice]).template cast<double>();
  const auto raw_temperature = static_cast<double>(*inputs[temperature_input].data_ptr<Scalar>());
  const double temperature = std::clamp(raw_temperature, lowest_temperature, highest_temperature);

  RowMatrix<Scalar> chain = RowMatrix<Scalar>::Zero(features.rows(), features.cols());
  Matrix weight_sum = Matrix::Zero(slice_weight.rows(), slice_weight.cols());
  Eigen::RowVectorXd bias_sum = Eigen::RowVectorXd::Zero(slice_weight.rows());
  double temperature_sum = 0;
  if (needed[values_input]) target<Scalar>(results[values_input]).setZero();
  for (Index b = 0; b < state.batch; ++b) {
    const SampleState& s = state.samples[static_cast<std::size_t>(b)];
    const auto dP = prediction_gradient.middleRows(b * state.queries, state.queries);
    const Matrix wide_dP = dP.template cast<double>();
    const Matrix queries =
        features.middleRows(state.query_row(b), state.queries).template cast<double>();
    chain.middleRows(state.query_row(b), state.queries) =
        (wide_dP * s.map.transpose()).template cast<Scalar>();
    const auto [dT, dY] = solve_backward(state.settings, s, Matrix(queries.transpose() * wide_dP));

    const Matrix dT_scaled = dT / (1 + group_mass_floor);
    Matrix d_logits = s.features * dT_scaled.transpose() + s.values * dY.transpose();
    const Eigen::RowVectorXd mean = d_logits.cwiseProduct(s.basis).colwise().sum();
    d_logits.rowwise() -= mean;
    d_logits.array() *= s.basis.array() / temperature;
    temperature_sum -= d_logits.cwiseProduct(s.logits).sum() / temperature;
    weight_sum.noalias() += d_logits.transpose() * s.features;
    bias_sum += d_logits.colwise().sum();
    const Matrix d_features = s.basis * dT_scaled + d_logits * slice_weight;
    for (std::size_t i = 0; i < s.points.size(); ++i) {
      chain.row(b * state.context + s.points[i]) =
          d_features.row(static_cast<Index>(i)).template cast<Scalar>();
    }
    if (needed[values_input]) {
      MatrixTarget<Scalar> d_values = target<Scalar>(results[values_input]);
      const Matrix rows = s.basis * dY;
      for (std::size_t i = 0; i < s.points.size(); ++i) {
        d_values.row(b * state.context + s.points[i]) =
            rows.row(static_cast<Index>(i)).template cast<Scalar>();
      }
    }
  }
  if (needed[slice]) target<Scalar>(results[slice]) = weight_sum.cast<Scalar>();
  if (needed[slice + 1]) target<Scalar>(results[slice + 1]) = bias_sum.transpose().cast<Scalar>();
  if (needed[temperature_input]) {
    // As clamp(): no gradient outside the bounds.
    *results[temperature_input].data_ptr<Scalar>() =
        raw_temperature == temperature ? static_cast<Scalar>(temperature_sum) : Scalar{0};
  }

  const bool coordinates = needed[context_input] || needed[query_input];
  for (std::size_t i = state.slopes.size() + 1; i-- > 0;) {
    const std::size_t position = first_layer_input + 2 * i;
    if (needed[position]) {
      target<Scalar>(results[position]).noalias() = chain.transpose() * state.activations[i];
    }
    if (needed[position + 1]) {
      target<Scalar>(results[position + 1]) = chain.colwise().sum().transpose();
    }
    if (i == 0 && !coordinates) break;
    RowMatrix<Scalar> next(chain.rows(), state.activations[i].cols());
    next.noalias() = chain * matrix<Scalar>(inputs[position]);
    if (i > 0) next.array() *= state.slopes[i - 1].array();
    chain = std::move(next);
  }
  if (coordinates) {
    for (const Index cleared : state.cleared) {
      const bool of_query = cleared >= state.query_row(0);
      const MatrixView<Scalar> given =
          matrix<Scalar>(inputs[of_query ? query_input : context_input]);
      const Index given_row = of_query ? cleared - state.query_row(0) : cleared;
      for (Index j = 0; j < given.cols(); ++j) {
        if (!std::isfinite(given(given_row, j))) chain(cleared, j) = 0;
      }
    }
    if (needed[context_input]) {
      target<Scalar>(results[context_input]) = chain.topRows(state.query_row(0));
    }
    if (needed[query_input]) {
      target<Scalar>(results[query_input]) = chain.bottomRows(state.batch * state.queries);
    }
  }
  return results;
}

template <typename Scalar>
class FewShotFunction : public torch::autograd::Function<FewShotFunction<Scalar>> {
 public:
  using StatePointer = c10::intrusive_ptr<State<Scalar>>;

  static Tensor forward(torch::autograd::AutogradContext* context, const StatePointer& state,
                        at::TensorList inputs) {
    // The inputs are saved as such, so that LibTorch notices if one is overwritten before backward.
    context->save_for_backward(inputs.vec());
    context->saved_data["state"] = c10::IValue::make_capsule(state);
    return std::move(state->prediction);
  }

  static torch::autograd::tensor_list backward(torch::autograd::AutogradContext* context,
                                               torch::autograd::tensor_list gradients) {
    if (at::GradMode::is_enabled()) {
      throw UsageError(
          "few_shot: second derivatives are not available; call backward without create_graph");
    }
    const std::vector<Tensor> inputs = context->get_saved_variables();
    const auto state =
        c10::static_intrusive_pointer_cast<State<Scalar>>(context->saved_data["state"].toCapsule());
    std::vector<bool> needed(inputs.size());
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      needed[i] = context->needs_input_grad(i);
    }
    const Tensor gradient = gradients[0].contiguous();
    std::vector<Tensor> results = funcattn::backward<Scalar>(inputs, *state, gradient, needed);
    results.insert(results.begin(), Tensor());  // of the state
    return results;
  }
};

template <typename Scalar, typename Weight>
Tensor apply(const FewShotSettings& settings, const std::vector<Tensor>& inputs,
             const Tensor& source_weights, const Tensor& query_weights) {
  auto state = c10::make_intrusive<State<Scalar>>();
  state->settings = settings;
  state->batch = inputs[context_input].size(0);
  state->context = inputs[context_input].size(1);
  state->queries = inputs[query_input].size(1);
  state->prediction = predict<Scalar, Weight>(inputs, source_weights, query_weights, *state);
  if (!state->prediction.defined()) return {};
  return FewShotFunction<Scalar>::apply(state, at::TensorList(inputs));
}

bool plain(const Tensor& tensor, torch::Dtype dtype) {
  return tensor.defined() && tensor.is_cpu() && tensor.layout() == torch::kStrided &&
         tensor.scalar_type() == dtype && tensor.is_contiguous() && tensor.numel() > 0;
}

}  // namespace

Tensor few_shot_kernel(const FewShotSettings& settings, const std::vector<Tensor>& parameters,
                       const PointSamples& source, const PointSamples& query) {
  // At least one layer, the slice and the temperature.
  if (parameters.size() < 5 || parameters.size() % 2 == 0 || !source.weights.defined()) return {};
  std::vector<Tensor> inputs{source.coordinates, source.values, query.coordinates};
  inputs.insert(inputs.end(), parameters.begin(), parameters.end());
  if (!inputs[0].defined()) return {};
  const torch::Dtype dtype = inputs[0].scalar_type();
  const torch::Dtype weight_type = source.weights.scalar_type();
  if ((dtype != torch::kFloat32 && dtype != torch::kFloat64) ||
      (weight_type != torch::kFloat32 && weight_type != torch::kFloat64)) {
    return {};
  }
  for (const Tensor& input : inputs) {
    if (!plain(input, dtype)) return {};
  }
  if (!plain(source.weights, weight_type) ||
      (query.weights.defined() && !plain(query.weights, weight_type)) ||
      query.coordinates.size(0) != source.coordinates.size(0)) {
    return {};
  }
  std::int64_t products = 0;
  for (std::size_t i = first_layer_input; i < inputs.size(); i += 2) products += inputs[i].numel();
  const std::int64_t rows =
      source.coordinates.size(0) * (source.coordinates.size(1) + query.coordinates.size(1));
  if (rows > most_products / products) return {};

  if (dtype == torch::kFloat32) {
    return weight_type == torch::kFloat32
               ? apply<float, float>(settings, inputs, source.weights, query.weights)
               : apply<float, double>(settings, inputs, source.weights, query.weights);
  }
  return weight_type == torch::kFloat32
             ? apply<double, float>(settings, inputs, source.weights, query.weights)
             : apply<double, double>(settings, inputs, source.weights, query.weights);
}

}  // namespace funcattn
