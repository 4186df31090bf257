#include "examples/sine/samples.h"

#include <algorithm>
#include <cstring>

#include "core/error.h"

namespace funcattn {

Contract sine_contract(Form form) {
  const bool separates = form == Form::few_shot;
  Contract contract;
  contract.inputs.push_back({{"y_context", Association::point, 1, ""}, InputRole::value});
  if (separates)
    contract.inputs.push_back({{"context", Association::point, 1, ""}, InputRole::source_flag});
  contract.outputs.push_back({"y", Association::point, 1, ""});
  contract.coordinates.axes = {0};
  contract.coordinates.center = {0.0};
  contract.coordinates.scale = 1.0;
  return contract;
}

Mesh sine_mesh(const SineEpisode& episode) {
  // Context points that are grid points (masked grid) must not appear twice.
  std::vector<double> x = episode.grid;
  x.insert(x.end(), episode.context.begin(), episode.context.end());
  std::sort(x.begin(), x.end());
  x.erase(std::unique(x.begin(), x.end()), x.end());

  const auto count = static_cast<Eigen::Index>(x.size());
  RowMatrix coordinates = RowMatrix::Zero(count, 3);
  RowMatrix y(count, 1);
  RowMatrix context(count, 1);
  RowMatrix shown(count, 1);
  for (Eigen::Index i = 0; i < count; ++i) {
    const double at = x[static_cast<std::size_t>(i)];
    const bool known = std::binary_search(episode.context.begin(), episode.context.end(), at);
    coordinates(i, 0) = at;
    y(i, 0) = episode.function(at);
    context(i, 0) = known ? 1 : 0;
    shown(i, 0) = known ? y(i, 0) : 0;
  }
  return make_polyline(coordinates, "sine sample")
      .with_array({"y", Association::point, 1, ""}, y)
      .with_array({"context", Association::point, 1, ""}, context)
      .with_array({"y_context", Association::point, 1, ""}, shown);
}

namespace {

Tensor column(const std::vector<double>& values) {
  return torch::tensor(values, torch::kFloat64).unsqueeze(1);
}

std::vector<double> evaluate(const SineFunction& function, const std::vector<double>& x) {
  std::vector<double> y(x.size());
  std::transform(x.begin(), x.end(), y.begin(), function);
  return y;
}

}  // namespace

Sample sine_sample(const SineEpisode& episode, const Contract& contract) {
  Sample sample;
  sample.name = "sine sample";
  sample.targets = column(evaluate(episode.function, episode.grid));
  sample.query.coordinates = column(episode.grid);
  sample.query.weights = torch::tensor(trapezoidal_weights(episode.grid), torch::kFloat64);
  if (contract.source_flag()) {
    sample.query_is_source = false;
    sample.source.coordinates = column(episode.context);
    sample.source.values = column(evaluate(episode.function, episode.context));
    sample.source.weights =
        torch::ones({static_cast<std::int64_t>(episode.context.size())}, torch::kFloat64);
    return sample;
  }
  std::vector<double> shown(episode.grid.size(), 0.0);
  for (std::size_t i = 0; i < shown.size(); ++i)
    if (std::binary_search(episode.context.begin(), episode.context.end(), episode.grid[i]))
      shown[i] = episode.function(episode.grid[i]);
  sample.query.values = column(shown);
  sample.source = sample.query;
  sample.query_is_source = true;
  return sample;
}

namespace {

class SineBatches : public BatchSource {
 public:
  explicit SineBatches(const SineBatchOptions& options) : options_(options), random_(options.seed) {
    if (options.batch < 1 || options.queries < 1)
      throw UsageError("batch and queries must be at least 1");
    if (options.context_min < 1 || options.context_max < options.context_min)
      throw UsageError("context range is " + std::to_string(options.context_min) + " to " +
                       std::to_string(options.context_max) +
                       "; give two ascending counts of at least 1");
  }

  Batch next() override {
    const auto span = static_cast<std::uint64_t>(options_.context_max - options_.context_min + 1);
    const auto context = options_.context_min + static_cast<std::int64_t>(random_.below(span));
    const std::int64_t batch = options_.batch;
    const std::int64_t queries = options_.queries;
    std::vector<double> context_x, context_y, query_x, query_y;
    for (std::int64_t b = 0; b < batch; ++b) {
      const SineFunction function{
          random_.uniform(options_.domain.amplitude_min, options_.domain.amplitude_max),
          random_.uniform(options_.domain.phase_min, options_.domain.phase_max)};
      for (std::int64_t i = 0; i < context; ++i)
        add(function, random_.uniform(options_.domain.x_min, options_.domain.x_max), context_x,
            context_y);
      for (std::int64_t i = 0; i < queries; ++i) add(function, draw_query(i), query_x, query_y);
    }
    const auto shaped = [&](const std::vector<double>& values, std::int64_t points) {
      return torch::tensor(values, torch::kFloat64).view({batch, points, 1}).to(options_.dtype);
    };
    // Each process draws the whole batch and keeps its share, so that all draw the same functions.
    const auto [first, last] = share_.of(static_cast<std::size_t>(batch));
    const auto mine = static_cast<std::int64_t>(last - first);
    const auto shared = [&, first = first](const std::vector<double>& values, std::int64_t points) {
      return shaped(values, points).narrow(0, static_cast<std::int64_t>(first), mine);
    };
    Batch result;
    result.query_is_source = false;
    result.names.assign(last - first, "sine drawn on the fly");
    result.source.coordinates = shared(context_x, context);
    result.source.values = shared(context_y, context);
    result.source.weights = torch::ones({mine, context}, options_.dtype);
    result.query.coordinates = shared(query_x, queries);
    result.query.weights = torch::ones({mine, queries}, options_.dtype);
    result.targets = shared(query_y, queries);
    return result;
  }

  void take_share(const Share& share) override { share_ = share; }

  std::int64_t batches_per_epoch() const override { return 0; }
  Json state() const override {
    Json state = distribution();
    state["random"] = random_.state();
    return state;
  }
  void restore(const Json& state) override {
    Json others = state;
    others.erase("random");
    if (others != distribution())
      throw UsageError("the state to resume from drew other samples: " + others.dump() +
                       "; give the same --context, --queries and --batch, or train anew");
    random_.restore(state.at("random"));
  }

 private:
  Json distribution() const {
    const SineDomain& domain = options_.domain;
    return {{"kind", "sine"},
            {"batch", options_.batch},
            {"context", {options_.context_min, options_.context_max}},
            {"queries", options_.queries},
            {"amplitude", {domain.amplitude_min, domain.amplitude_max}},
            {"phase", {domain.phase_min, domain.phase_max}},
            {"x", {domain.x_min, domain.x_max}}};
  }

  // One query in four comes from the arcsine density, which is high at the ends of the domain: a
  // fit has data on one side only there, and its error would peak.
  double draw_query(std::int64_t index) {
    const SineDomain& domain = options_.domain;
    if (index % 4 != 0) return random_.uniform(domain.x_min, domain.x_max);
    const double arc = std::sin(SineDomain().phase_max * (random_.uniform() - 0.5));
    return domain.x_min + 0.5 * (1 + arc) * domain.length();
  }

  static void add(const SineFunction& function, double x, std::vector<double>& xs,
                  std::vector<double>& ys) {
    xs.push_back(x);
    ys.push_back(function(x));
  }

  SineBatchOptions options_;
  Share share_;
  RandomGenerator random_;
};

}  // namespace

std::unique_ptr<BatchSource> make_sine_batches(const SineBatchOptions& options) {
  return std::make_unique<SineBatches>(options);
}

}  // namespace funcattn
