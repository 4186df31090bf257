#include "operators/engine/inference_engine.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <optional>

#include "core/error.h"
#include "operators/engine/activation_store.h"
#include "operators/engine/panel_network.h"
#include "operators/forms/layers.h"

namespace funcattn {

namespace {

/// Between two visits to memory a tile's panels stay in the second level of the cache, and so few
/// float32 sums lose nothing.
constexpr std::size_t default_tile_points = 480;

/// Parts of the points whose float64 sums are kept apart until the end of a visit, so that their
/// order does not depend on threads. More than the threads of any machine that one process uses.
constexpr std::size_t most_parts = 64;

/// Row-major data of one sample, and what its points weigh.
template <class T>
struct Points {
  const T* features = nullptr;  ///< [n,in]
  const T* values = nullptr;    ///< [n,C], what is known at the source, or null
  const T* weights = nullptr;   ///< [n]
  std::size_t count = 0;
  int feature_count = 0;
  int value_count = 0;
  double largest = 0;       ///< Of the weights.
  double relative_sum = 1;  ///< Sum of the weights divided by the largest, at least 1.
  SampleSize size;
};

template <class T>
void measure_points(Points<T>& points) {
  std::size_t present = 0;
  for (std::size_t i = 0; i < points.count; ++i) {
    const auto weight = static_cast<double>(points.weights[i]);
    if (!(weight > 0)) continue;
    ++present;
    points.largest = std::max(points.largest, weight);
  }
  double sum = 0;
  for (std::size_t i = 0; i < points.count; ++i)
    if (points.weights[i] > T(0)) sum += static_cast<double>(points.weights[i]) / points.largest;
  points.relative_sum = std::max(sum, 1.0);
  points.size.points = static_cast<double>(points.count);
  points.size.present = static_cast<double>(std::max<std::size_t>(present, 1));
}

class Stopwatch {
 public:
  explicit Stopwatch(EngineProfile* profile) : profile_(profile) {}
  void lap(const std::string& name) {
    if (!profile_) return;
    const auto now = std::chrono::steady_clock::now();
    profile_->emplace_back(name, std::chrono::duration<double>(now - start_).count());
    start_ = now;
  }

 private:
  EngineProfile* profile_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// One prediction of one sample.
template <class T>
class Run {
 public:
  Run(const PanelNetwork<T>& network, const EngineOptions& options)
      : network_(network),
        kernels_(network.kernels()),
        options_(options),
        panel_points_(static_cast<std::size_t>(kernels_.points)),
        workers_(std::max(1, at::get_num_threads())),
        watch_(options.profile) {
    const std::size_t tile = options.tile_points > 0 ? static_cast<std::size_t>(options.tile_points)
                                                     : default_tile_points;
    tile_panels_ = std::max<std::size_t>(1, tile / panel_points_);
    int rows = std::max(network.width(), network.outputs());
    for (std::size_t block = 0; block < network.blocks(); ++block)
      rows = std::max(rows, network.width() + network.attention(block).source_values());
    h_rows_ = round_up_rows(rows);
  }

  /// @param y [n,outputs]
  void self(const Points<T>& points, T* y) {
    open_store(points.count);
    Sums sums = visit(points, &network_.attention(0), [&](Worker& worker, const Panel& panel) {
      lift(worker, points, panel, false);
      network_.accumulate(worker.arena, 0, {}, panel.h, panel.measure, worker.sums.data());
    });
    watch_.lap("lift, coefficients 1");
    for (std::size_t block = 0; block < network_.blocks(); ++block) {
      transported_.push_back(
          network_.attention(block).solve(sums.data(), points.size, points.size));
      watch_.lap("solve " + std::to_string(block + 1));
      const bool is_last = block + 1 == network_.blocks();
      const PanelAttention<T>* next = is_last ? nullptr : &network_.attention(block + 1);
      sums = visit(points, next, [&](Worker& worker, const Panel& panel) {
        if (!store_->keeps()) {
          lift(worker, points, panel, false);
          for (std::size_t before = 0; before < block; ++before)
            network_.finish(worker.arena, before, transported_[before], panel.h);
        }
        network_.finish(worker.arena, block, transported_[block], panel.h);
        if (is_last)
          write(worker, panel, y);
        else
          network_.accumulate(worker.arena, block + 1, {}, panel.h, panel.measure,
                              worker.sums.data());
      });
      watch_.lap("block " + std::to_string(block + 1) +
                 (is_last ? ", output" : ", coefficients " + std::to_string(block + 2)));
    }
  }

  /// The one attention layer of a network whose queries are not the source.
  void cross(const Points<T>& source, const Points<T>& query, T* y) {
    const PanelAttention<T>& attention = network_.attention(0);
    // Points of either side are visited at most twice, so nothing is kept.
    EngineOptions keep_nothing = options_;
    keep_nothing.memory = ActivationMemory::recomputed;
    store_ = make_activation_store<T>(keep_nothing, 0, slot_size(), tile_panels_, workers_);
    Sums sums = visit(source, &attention, [&](Worker& worker, const Panel& panel) {
      lift(worker, source, panel, true);
      network_.accumulate(worker.arena, 0, {true, false}, panel.h, panel.measure,
                          worker.sums.data());
    });
    watch_.lap("source coefficients");
    if (attention.needs_query_sums()) {
      const Sums of_query = visit(query, &attention, [&](Worker& worker, const Panel& panel) {
        lift(worker, query, panel, false);
        network_.accumulate(worker.arena, 0, {false, true}, panel.h, panel.measure,
                            worker.sums.data());
      });
      attention.merge_total(of_query.data(), sums.data());
      watch_.lap("query coefficients");
    }
    const Transported<T> transported = attention.solve(sums.data(), source.size, query.size);
    watch_.lap("solve");
    visit(query, nullptr, [&](Worker& worker, const Panel& panel) {
      lift(worker, query, panel, false);
      network_.finish(worker.arena, 0, transported, panel.h);
      write(worker, panel, y);
    });
    watch_.lap("output");
  }

 private:
  using Sums = std::vector<double>;

  struct Worker {
    Worker(const PanelKernels<T>& kernels, std::size_t scratch, std::size_t sum_size)
        : arena(kernels, scratch), sums(sum_size) {}
    PanelArena<T> arena;
    AlignedBuffer<T> sums;  ///< Of the tile at hand.
  };

  struct Panel {
    std::size_t first = 0;  ///< Point.
    std::size_t count = 0;
    T* h = nullptr;
    PanelMeasure<T> measure;
  };

  std::size_t slot_size() const { return static_cast<std::size_t>(h_rows_) * panel_points_; }

  void open_store(std::size_t points) {
    const std::size_t panels = (points + panel_points_ - 1) / panel_points_;
    store_ = make_activation_store<T>(options_, panels, slot_size(), tile_panels_, workers_);
  }

  void lift(Worker& worker, const Points<T>& points, const Panel& panel, bool with_values) const {
    const typename PanelArena<T>::Frame frame(worker.arena);
    T* features = worker.arena.rows(points.feature_count);
    kernels_.load_points(
        points.features + panel.first * static_cast<std::size_t>(points.feature_count),
        points.feature_count, static_cast<int>(panel.count), points.feature_count, features);
    network_.lift(worker.arena, features, panel.h);
    if (!with_values || points.value_count == 0) return;
    kernels_.load_points(points.values + panel.first * static_cast<std::size_t>(points.value_count),
                         points.value_count, static_cast<int>(panel.count), points.value_count,
                         panel.h + static_cast<std::size_t>(network_.width()) * panel_points_);
  }

  void write(Worker& worker, const Panel& panel, T* y) const {
    const typename PanelArena<T>::Frame frame(worker.arena);
    T* result = worker.arena.rows(network_.outputs());
    network_.head(worker.arena, panel.h, result);
    const auto outputs = static_cast<std::size_t>(network_.outputs());
    kernels_.store_points(result, static_cast<int>(panel.count), network_.outputs(),
                          y + panel.first * outputs, network_.outputs());
  }

  /// [P] shares of a panel's points.
  PanelMeasure<T> weigh(const Points<T>& points, std::size_t first, std::size_t count,
                        bool counts_points, T* share) const {
    PanelMeasure<T> measure;
    measure.share = share;
    measure.all_present = count == panel_points_;
    for (std::size_t p = 0; p < panel_points_; ++p) share[p] = T(0);
    for (std::size_t p = 0; p < count; ++p) {
      const T weight = points.weights[first + p];
      if (!(weight > T(0)))
        measure.all_present = false;
      else if (counts_points)
        share[p] = T(1);
      else
        share[p] =
            static_cast<T>(static_cast<double>(weight) / points.largest / points.relative_sum);
    }
    return measure;
  }

  /// Calls `body` for every panel, and returns the sums that it left in the workers, if any.
  template <class Body>
  Sums visit(const Points<T>& points, const PanelAttention<T>* attention, const Body& body) {
    const std::size_t panels = (points.count + panel_points_ - 1) / panel_points_;
    const std::size_t tiles = (panels + tile_panels_ - 1) / tile_panels_;
    const std::size_t part_tiles = std::max<std::size_t>(1, (tiles + most_parts - 1) / most_parts);
    const std::size_t parts = (tiles + part_tiles - 1) / part_tiles;
    const std::size_t sum_size = attention ? attention->sum_size() : 0;
    const std::size_t scratch = network_.scratch_rows() + input_rows(points);
    const bool load = visits_++ > 0;
    std::vector<Sums> part_sums(attention ? parts : 0);
    std::atomic<std::size_t> next{0};
    const auto work = [&](int id) {
      Worker worker(kernels_, scratch, sum_size);
      for (std::size_t part = next++; part < parts; part = next++) {
        if (attention) {
          part_sums[part].resize(sum_size);
          attention->clear_total(part_sums[part].data());
        }
        const std::size_t end = std::min(tiles, (part + 1) * part_tiles);
        for (std::size_t tile = part * part_tiles; tile < end; ++tile) {
          if (attention) attention->clear_tile(worker.sums.data());
          visit_tile(worker, id, points, attention, tile, panels, load, body);
          if (attention) attention->merge_tile(worker.sums.data(), part_sums[part].data());
        }
      }
    };
    const auto workers = std::min<std::int64_t>(workers_, static_cast<std::int64_t>(parts));
    at::parallel_for(0, workers, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t id = begin; id < end; ++id) work(static_cast<int>(id));
    });
    Sums sums(sum_size);
    if (attention) {
      attention->clear_total(sums.data());
      for (const Sums& part : part_sums) attention->merge_total(part.data(), sums.data());
    }
    return sums;
  }

  template <class Body>
  void visit_tile(Worker& worker, int id, const Points<T>& points,
                  const PanelAttention<T>* attention, std::size_t tile, std::size_t panels,
                  bool load, const Body& body) {
    const std::size_t first = tile * tile_panels_;
    const std::size_t count = std::min(tile_panels_, panels - first);
    T* slots = store_->open(id, first, count, load);
    const typename PanelArena<T>::Frame frame(worker.arena);
    T* share = worker.arena.rows(1);
    for (std::size_t i = 0; i < count; ++i) {
      Panel panel;
      panel.first = (first + i) * panel_points_;
      panel.count = std::min(panel_points_, points.count - panel.first);
      panel.h = slots + i * slot_size();
      if (attention)
        panel.measure = weigh(points, panel.first, panel.count, attention->counts_points(), share);
      body(worker, panel);
    }
    // What the last visit leaves is not needed any more.
    if (attention) store_->close(id, first, count);
  }

  std::size_t input_rows(const Points<T>& points) const {
    return static_cast<std::size_t>(round_up_rows(points.feature_count) +
                                    round_up_rows(network_.outputs()) + 2 * panel_row_group);
  }

  const PanelNetwork<T>& network_;
  const PanelKernels<T>& kernels_;
  const EngineOptions& options_;
  std::size_t panel_points_;
  std::size_t tile_panels_ = 1;
  int h_rows_ = 0;
  int workers_;
  int visits_ = 0;
  std::unique_ptr<ActivationStore<T>> store_;
  std::vector<Transported<T>> transported_;
  Stopwatch watch_;
};

}  // namespace

const char* to_string(ActivationMemory memory) {
  switch (memory) {
    case ActivationMemory::resident:
      return "resident";
    case ActivationMemory::spilled:
      return "spilled";
    case ActivationMemory::recomputed:
      return "recomputed";
  }
  return "";
}

ActivationMemory activation_memory_from_string(const std::string& text) {
  for (const auto memory :
       {ActivationMemory::resident, ActivationMemory::spilled, ActivationMemory::recomputed})
    if (text == to_string(memory)) return memory;
  throw UsageError("memory: unknown kind '" + text + "'; choose resident, spilled or recomputed");
}

struct InferenceEngine::Implementation {
  explicit Implementation(const Model& model)
      : config(model.config()), separates_query(model.separates_query()), dtype(model.dtype()) {
    const at::NoGradGuard no_gradients;
    const NetworkDescription description = describe_network(model);
    if (dtype == torch::kFloat32)
      single = std::make_unique<PanelNetwork<float>>(panel_kernels<float>(), description);
    else
      twice = std::make_unique<PanelNetwork<double>>(panel_kernels<double>(), description);
  }

  template <class T>
  Tensor predict(const PanelNetwork<T>& network, const PointSamples& source,
                 const PointSamples& query, const EngineOptions& options) const;

  ModelConfig config;
  bool separates_query;
  torch::Dtype dtype;
  std::unique_ptr<PanelNetwork<float>> single;
  std::unique_ptr<PanelNetwork<double>> twice;
};

namespace {

/// One sample's rows of a batch.
template <class T>
Points<T> points_of(const Tensor& features, const Tensor& values, const Tensor& weights,
                    std::int64_t sample) {
  Points<T> points;
  points.count = static_cast<std::size_t>(features.size(1));
  points.feature_count = static_cast<int>(features.size(2));
  points.features = features.data_ptr<T>() + sample * features.size(1) * features.size(2);
  if (values.defined()) {
    points.value_count = static_cast<int>(values.size(2));
    points.values = values.data_ptr<T>() + sample * values.size(1) * values.size(2);
  }
  points.weights = weights.data_ptr<T>() + sample * weights.size(1);
  measure_points(points);
  return points;
}

}  // namespace

template <class T>
Tensor InferenceEngine::Implementation::predict(const PanelNetwork<T>& network,
                                                const PointSamples& source,
                                                const PointSamples& query,
                                                const EngineOptions& options) const {
  const bool few_shot = config.form == Form::few_shot;
  // The values of few_shot enter the sums, not the features.
  ModelConfig inputs = config;
  if (few_shot) inputs.value_features = 0;
  const auto features_of = [&](const PointSamples& samples, const char* what) {
    return point_features(samples, inputs, dtype, what).contiguous();
  };
  const auto weights_of = [&](const PointSamples& samples) {
    return samples.weights.to(dtype).contiguous();
  };
  const Tensor source_features = features_of(source, "source");
  const Tensor source_weights = weights_of(source);
  Tensor source_values;
  if (few_shot) {
    check_points(source.values, source.weights, config.value_features, dtype, "source values");
    source_values = clear_absent(source.values, source.weights).contiguous();
  }
  const Tensor query_features = separates_query ? features_of(query, "query") : source_features;
  const Tensor query_weights = separates_query ? weights_of(query) : source_weights;
  const std::int64_t batch = source_features.size(0);
  const std::int64_t queries = query_features.size(1);
  const Tensor result = at::empty({batch, queries, config.out_features}, source_features.options());
  for (std::int64_t b = 0; b < batch; ++b) {
    Run<T> run(network, options);
    T* y = result.data_ptr<T>() + b * queries * config.out_features;
    const Points<T> from = points_of<T>(source_features, source_values, source_weights, b);
    if (separates_query)
      run.cross(from, points_of<T>(query_features, {}, query_weights, b), y);
    else
      run.self(from, y);
  }
  return result;
}

InferenceEngine::InferenceEngine(const Model& model)
    : implementation_(std::make_unique<Implementation>(model)) {}
InferenceEngine::~InferenceEngine() = default;
InferenceEngine::InferenceEngine(InferenceEngine&&) noexcept = default;

Tensor InferenceEngine::predict(const PointSamples& source, const PointSamples& query,
                                const EngineOptions& options) const {
  const at::NoGradGuard no_gradients;
  const Implementation& self = *implementation_;
  try {
    if (self.single) return self.predict(*self.single, source, query, options);
    return self.predict(*self.twice, source, query, options);
  } catch (const std::bad_alloc&) {
    throw DataError(
        "the prediction needs more memory than this machine gives; use --memory "
        "spilled (a temporary file) or --memory recomputed (more time)");
  }
}

const char* InferenceEngine::kernels() {
  return panel_kernels<float>().name;
}

}  // namespace funcattn
