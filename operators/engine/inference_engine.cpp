#include "operators/engine/inference_engine.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

#include "core/error.h"
#include "core/memory_error.h"
#include "operators/engine/activation_store.h"
#include "operators/engine/panel_network.h"
#include "operators/engine/progress_meter.h"
#include "operators/engine/sweep.h"
#include "operators/forms/layers.h"

namespace funcattn {

namespace {

constexpr const char* memory_advice = "; keep them in a temporary file, or compute them anew";

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

/// One prediction of one batch.
template <class T>
class Run {
 public:
  using Batch = std::vector<PanelSource<T>>;
  using Sums = std::vector<double>;
  using Pieces = std::vector<std::int64_t>;

  Run(const PanelNetwork<T>& network, const EngineOptions& options)
      : network_(network),
        kernels_(network.kernels()),
        options_(options),
        reduction_(options.processes, options.fixed_order),
        workers_(std::max(1, at::get_num_threads())),
        watch_(options.profile),
        meter_(options.progress) {
    int rows = std::max(network.width(), network.outputs());
    for (std::size_t block = 0; block < network.blocks(); ++block)
      rows = std::max(rows, network.width() + network.attention(block).source_values());
    slot_size_ =
        static_cast<std::size_t>(round_up_rows(rows)) * static_cast<std::size_t>(kernels_.points);
  }

  const Reduction& reduction() const { return reduction_; }

  /// @param pieces points of each piece here, for sums in a fixed order
  /// @param y [B,n,outputs]
  void self(const Batch& batch, const Pieces& pieces, T* y) {
    const SweepPlan plan = plan_for(batch, pieces);
    store_ =
        make_activation_store<T>(options_, plan.slots(), slot_size_, plan.tile_panels(), workers_);
    // What a visit costs, in blocks: without stored features it starts from the inputs.
    const auto cost = [&](std::size_t block) {
      return store_->keeps() ? 1.0 : static_cast<double>(block + 1);
    };
    for (std::size_t block = 0; block <= network_.blocks(); ++block)
      meter_.expect(cost(block) * static_cast<double>(plan.slots()));
    std::vector<std::vector<Transported<T>>> transported;  // By block, then by sample.
    std::vector<Sums> sums = visit(
        plan, batch, &network_.attention(0), cost(0), [&](Worker& worker, const Panel& panel) {
          lift(worker, batch, panel, false);
          network_.accumulate(worker.arena, 0, {}, panel.h, panel.measure, worker.sums.data());
        });
    watch_.lap("lift, coefficients 1");
    share(&network_.attention(0), sums, "1");
    for (std::size_t block = 0; block < network_.blocks(); ++block) {
      transported.emplace_back();
      for (std::size_t b = 0; b < batch.size(); ++b)
        transported.back().push_back(
            network_.attention(block).solve(sums[b].data(), batch[b].size, batch[b].size));
      watch_.lap("solve " + std::to_string(block + 1));
      const bool is_last = block + 1 == network_.blocks();
      const PanelAttention<T>* next = is_last ? nullptr : &network_.attention(block + 1);
      sums = visit(plan, batch, next, cost(block + 1), [&](Worker& worker, const Panel& panel) {
        if (!store_->keeps()) {
          lift(worker, batch, panel, false);
          for (std::size_t before = 0; before < block; ++before)
            network_.finish(worker.arena, before, transported[before][panel.place.sample], panel.h);
        }
        network_.finish(worker.arena, block, transported[block][panel.place.sample], panel.h);
        if (is_last)
          write(worker, batch, panel, y);
        else
          network_.accumulate(worker.arena, block + 1, {}, panel.h, panel.measure,
                              worker.sums.data());
      });
      watch_.lap("block " + std::to_string(block + 1) +
                 (is_last ? ", output" : ", coefficients " + std::to_string(block + 2)));
      share(next, sums, std::to_string(block + 2));
    }
    meter_.finish();
  }

  /// The one attention layer of a network whose queries are not the source.
  void cross(const Batch& source, const Pieces& source_pieces, const Batch& query,
             const Pieces& query_pieces, T* y) {
    const PanelAttention<T>& attention = network_.attention(0);
    const SweepPlan source_plan = plan_for(source, source_pieces);
    const SweepPlan query_plan = plan_for(query, query_pieces);
    // Points of either side are visited at most twice, so nothing is kept.
    EngineOptions keep_nothing = options_;
    keep_nothing.memory = ActivationMemory::recomputed;
    store_ = make_activation_store<T>(keep_nothing, 0, slot_size_,
                                      std::max(source_plan.tile_panels(), query_plan.tile_panels()),
                                      workers_);
    const std::size_t query_visits = attention.needs_query_sums() ? 2 : 1;
    meter_.expect(static_cast<double>(source_plan.slots() + query_visits * query_plan.slots()));
    std::vector<Sums> sums =
        visit(source_plan, source, &attention, 1, [&](Worker& worker, const Panel& panel) {
          lift(worker, source, panel, true);
          network_.accumulate(worker.arena, 0, {true, false}, panel.h, panel.measure,
                              worker.sums.data());
        });
    watch_.lap("source coefficients");
    share(&attention, sums, "of the source");
    if (attention.needs_query_sums()) {
      std::vector<Sums> of_query =
          visit(query_plan, query, &attention, 1, [&](Worker& worker, const Panel& panel) {
            lift(worker, query, panel, false);
            network_.accumulate(worker.arena, 0, {false, true}, panel.h, panel.measure,
                                worker.sums.data());
          });
      watch_.lap("query coefficients");
      share(&attention, of_query, "of the query");
      for (std::size_t b = 0; b < sums.size(); ++b)
        attention.merge_total(of_query[b].data(), sums[b].data());
    }
    std::vector<Transported<T>> transported;
    for (std::size_t b = 0; b < source.size(); ++b)
      transported.push_back(attention.solve(sums[b].data(), source[b].size, query[b].size));
    watch_.lap("solve");
    visit(query_plan, query, nullptr, 1, [&](Worker& worker, const Panel& panel) {
      lift(worker, query, panel, false);
      network_.finish(worker.arena, 0, transported[panel.place.sample], panel.h);
      write(worker, query, panel, y);
    });
    watch_.lap("output");
    meter_.finish();
  }

 private:
  struct Worker {
    Worker(const PanelKernels<T>& kernels, std::size_t sum_size) : arena(kernels), sums(sum_size) {}
    PanelArena<T> arena;
    AlignedBuffer<T> sums;  ///< Of the tile at hand.
  };

  struct Panel {
    PanelPlace place;
    T* h = nullptr;
    PanelMeasure<T> measure;
  };

  SweepPlan plan_for(const Batch& batch, const Pieces& pieces) const {
    std::vector<std::size_t> counts;
    if (reduction_.fixes_order()) {
      for (const std::int64_t piece : pieces) counts.push_back(static_cast<std::size_t>(piece));
      if (counts.empty()) counts.push_back(batch.front().count);
      return SweepPlan::by_piece(counts, kernels_.points, options_.tile_points);
    }
    for (const PanelSource<T>& points : batch) counts.push_back(points.count);
    return SweepPlan(counts, kernels_.points, options_.tile_points);
  }

  void lift(Worker& worker, const Batch& batch, const Panel& panel, bool with_values) const {
    const PanelSource<T>& points = batch[panel.place.sample];
    const auto load = [&](const T* data, int columns, T* to) {
      kernels_.load_points(data + panel.place.first * static_cast<std::size_t>(columns), columns,
                           static_cast<int>(panel.place.count), columns, to);
    };
    const typename PanelArena<T>::Frame frame(worker.arena);
    T* features = worker.arena.rows(points.feature_count);
    load(points.features, points.feature_count, features);
    network_.lift(worker.arena, features, panel.h);
    if (with_values && points.value_count > 0)
      load(points.values, points.value_count,
           panel.h + static_cast<std::ptrdiff_t>(network_.width()) * kernels_.points);
  }

  void write(Worker& worker, const Batch& batch, const Panel& panel, T* y) const {
    const typename PanelArena<T>::Frame frame(worker.arena);
    T* result = worker.arena.rows(network_.outputs());
    network_.head(worker.arena, panel.h, result);
    const std::size_t row = panel.place.sample * batch.front().count + panel.place.first;
    kernels_.store_points(result, static_cast<int>(panel.place.count), network_.outputs(),
                          y + row * static_cast<std::size_t>(network_.outputs()),
                          network_.outputs());
  }

  /// Makes the sums of this process those of all processes.
  void share(const PanelAttention<T>* attention, std::vector<Sums>& sums, const std::string& name) {
    if (!attention || !reduction_.is_needed()) return;
    for (std::size_t b = 0; b < sums.size(); ++b) {
      std::vector<Sums> terms;
      if (reduction_.fixes_order())
        terms.swap(terms_);  // Of the parts; the only sample.
      else
        terms.push_back(packed(*attention, sums[b]));
      Sums largest(attention->maxima(), -std::numeric_limits<double>::infinity());
      for (const Sums& term : terms)
        for (std::size_t i = 0; i < largest.size(); ++i) largest[i] = std::max(largest[i], term[i]);
      if (!largest.empty()) reduction_.maximum(largest);
      for (Sums& term : terms) {
        attention->rescale(largest.data(), term.data());
        term.erase(term.begin(), term.begin() + static_cast<std::ptrdiff_t>(largest.size()));
      }
      Sums total = reduction_.total(terms, attention->packed_size() - largest.size());
      total.insert(total.begin(), largest.begin(), largest.end());
      attention->unpack(total.data(), sums[b].data());
    }
    watch_.lap("sums of all processes " + name);
  }

  static Sums packed(const PanelAttention<T>& attention, const Sums& sums) {
    Sums result(attention.packed_size());
    attention.pack(sums.data(), result.data());
    return result;
  }

  /// Calls `body` for every panel, and returns the sums that it left in the workers, if any, for
  /// each sample. Throws Cancelled. @param cost of a panel
  template <class Body>
  std::vector<Sums> visit(const SweepPlan& plan, const Batch& batch,
                          const PanelAttention<T>* attention, double cost, const Body& body) {
    const std::size_t sum_size = attention ? attention->sum_size() : 0;
    const bool load = visits_++ > 0;
    std::vector<Sums> part_sums(attention ? plan.parts().size() : 0);
    std::vector<std::unique_ptr<Worker>> workers(static_cast<std::size_t>(workers_));
    for_each_part(plan, workers_, [&](std::size_t part, int id) {
      std::unique_ptr<Worker>& worker = workers[static_cast<std::size_t>(id)];
      if (!worker) worker = std::make_unique<Worker>(kernels_, sum_size);
      if (attention) {
        part_sums[part].resize(sum_size);
        attention->clear_total(part_sums[part].data());
      }
      for (const Tile& tile : plan.parts()[part].tiles) {
        if (meter_.is_stopped()) return;
        if (attention) attention->clear_tile(worker->sums.data());
        visit_tile(*worker, id, plan, batch, attention, tile, load, body);
        if (attention) attention->merge_tile(worker->sums.data(), part_sums[part].data());
        meter_.advance(cost * static_cast<double>(tile.panels));
      }
    });
    meter_.advance(0);  // Where the others were so fast that this thread found no tile.
    std::vector<Sums> sums(attention ? batch.size() : 0, Sums(sum_size));
    for (Sums& total : sums) attention->clear_total(total.data());
    if (attention && reduction_.fixes_order()) {
      terms_.clear();
      for (Sums& part : part_sums) terms_.push_back(packed(*attention, std::exchange(part, {})));
      return sums;
    }
    for (std::size_t part = 0; part < part_sums.size(); ++part)
      attention->merge_total(part_sums[part].data(), sums[plan.parts()[part].sample].data());
    return sums;
  }

  template <class Body>
  void visit_tile(Worker& worker, int id, const SweepPlan& plan, const Batch& batch,
                  const PanelAttention<T>* attention, const Tile& tile, bool load,
                  const Body& body) {
    T* slots = store_->open(id, tile.first_slot, tile.panels, load);
    const typename PanelArena<T>::Frame frame(worker.arena);
    T* share = worker.arena.rows(1);
    for (std::size_t i = 0; i < tile.panels; ++i) {
      Panel panel;
      panel.place = plan.place(tile, i);
      panel.h = slots + i * slot_size_;
      if (attention)
        panel.measure = weigh(batch[tile.sample], panel.place, kernels_.points,
                              attention->counts_points(), share);
      body(worker, panel);
    }
    // What the last visit leaves is not needed any more.
    if (attention) store_->close(id, tile.first_slot, tile.panels);
  }

  const PanelNetwork<T>& network_;
  const PanelKernels<T>& kernels_;
  const EngineOptions& options_;
  Reduction reduction_;
  std::vector<Sums> terms_;  ///< Packed sums of the parts of the last visit, in a fixed order.
  std::size_t slot_size_ = 0;
  int workers_;
  int visits_ = 0;
  std::unique_ptr<ActivationStore<T>> store_;
  Stopwatch watch_;
  ProgressMeter meter_;
};

}  // namespace

struct InferenceEngine::Implementation {
  explicit Implementation(const Model& model)
      : config(model.config()), separates_query(model.separates_query()), dtype(model.dtype()) {
    if (!model.has_engine())
      throw UsageError(
          "engine: the model is of a class of its own, has another attention than the functional "
          "one, or learned frequencies; only predict() knows it");
    if (!model.parameters().front().is_cpu())
      throw UsageError("engine: the weights are on another device; move the model to the CPU");
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
  const auto shares_of = [&](const PointSamples& samples) {
    return samples.shares.defined() ? samples.shares.to(dtype).contiguous() : Tensor();
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
  const Tensor source_shares = shares_of(source);
  const Tensor query_shares = separates_query ? shares_of(query) : source_shares;
  const std::int64_t batch = source_features.size(0);
  const std::int64_t queries = query_features.size(1);
  const Tensor result = at::empty({batch, queries, config.out_features}, source_features.options());
  if (batch == 0) return result;
  Run<T> run(network, options);
  if (options.fixed_order && batch > 1)
    throw UsageError("engine: sums in a fixed order are made for one sample at a time, not for " +
                     std::to_string(batch));
  const auto from = panel_sources<T>(source_features, source_values, source_weights, source_shares,
                                     source.pieces, run.reduction());
  if (separates_query)
    run.cross(from, source.pieces,
              panel_sources<T>(query_features, {}, query_weights, query_shares, query.pieces,
                               run.reduction()),
              query.pieces, result.data_ptr<T>());
  else
    run.self(from, source.pieces, result.data_ptr<T>());
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
  } catch (const PanelsTooLarge& error) {
    throw MemoryError(error.what() + std::string(memory_advice));
  } catch (const std::bad_alloc&) {
    throw MemoryError("the features of the points need more memory than this machine gives" +
                      std::string(memory_advice));
  }
}

const char* InferenceEngine::kernels() {
  return panel_kernels<float>().name;
}

}  // namespace funcattn
