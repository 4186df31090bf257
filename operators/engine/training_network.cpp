#include "operators/engine/training_network.h"

#include <algorithm>

#include "core/error.h"
#include "core/memory_error.h"
#include "operators/engine/activation_store.h"

namespace funcattn {

namespace {

std::vector<std::size_t> counts_of_any(std::size_t samples, std::size_t count) {
  return std::vector<std::size_t>(samples, count);
}

void stack_tensors(DenseStack& layers, std::vector<Tensor*>& result) {
  for (DenseDescription& layer : layers) {
    result.push_back(&layer.weight);
    result.push_back(&layer.bias);
  }
}

}  // namespace

bool is_trainable_on_panels(const NetworkDescription& description) {
  return !description.lift.empty() && !description.head.empty() &&
         std::all_of(description.blocks.begin(), description.blocks.end(), [](const auto& block) {
           return block.shape == BlockShape::pre_norm &&
                  (std::holds_alternative<SharedBasisDescription>(block.attention) ||
                   std::holds_alternative<PaperDescription>(block.attention));
         });
}

std::vector<Tensor*> network_tensors(NetworkDescription& description) {
  std::vector<Tensor*> result;
  stack_tensors(description.lift, result);
  for (BlockDescription& block : description.blocks) {
    const std::vector<Tensor*> attention = attention_tensors(block.attention);
    result.insert(result.end(), attention.begin(), attention.end());
    stack_tensors(block.mlp, result);
  }
  stack_tensors(description.head, result);
  return result;
}

template <class T>
TrainingNetwork<T>::TrainingNetwork(const PanelKernels<T>& panel_kernels,
                                    const NetworkDescription& description)
    : kernels(panel_kernels),
      width(description.width),
      outputs(description.outputs),
      lift(description.lift, kernels.lanes, lift_gradient_size),
      head(description.head, kernels.lanes, head_gradient_size) {
  for (const BlockDescription& part : description.blocks) {
    Block block;
    block.attention = make_trainable_attention(kernels, part.attention, block.gradient_size);
    block.mlp = TrainableStack<T>(part.mlp, kernels.lanes, block.gradient_size);
    blocks.push_back(std::move(block));
  }
}

/// Numbers of all points that last from visit to visit.
template <class T>
struct TrainingPass<T>::Slots {
  std::unique_ptr<ActivationStore<T>> store;
  std::size_t panels = 0;
  std::size_t size = 0;  ///< Numbers of a slot.
  std::size_t blocks = 0;

  T* at(std::size_t layer, std::size_t slot) {
    return store->open(0, layer * panels + slot, 1, true);
  }
};

template <class T>
struct TrainingPass<T>::Worker {
  Worker(const PanelKernels<T>& kernels, std::size_t sample_size, std::size_t gradient_size)
      : arena(kernels),
        sums(sample_size),
        gradients(gradient_size),
        gradient_total(gradient_size) {}
  PanelArena<T> arena;
  AlignedBuffer<T> sums;       ///< Of the tile at hand.
  AlignedBuffer<T> gradients;  ///< Of the tile at hand.
  Sums gradient_total;
};

template <class T>
TrainingPass<T>::TrainingPass(const NetworkDescription& description, Batch batch,
                              ProcessGroup* processes)
    : network_(panel_kernels<T>(), description),
      batch_(std::move(batch)),
      plan_(counts_of_any(batch_.size(), batch_.empty() ? 0 : batch_.front().count),
            network_.kernels.points, 0),
      workers_(std::max(1, at::get_num_threads())),
      processes_(processes),
      slots_(std::make_unique<Slots>()) {
  int kept = 0;
  for (const auto& block : network_.blocks)
    kept = std::max({kept, block.attention->kept_rows(), block.attention->joined_rows()});
  slots_->panels = plan_.slots();
  slots_->blocks = network_.blocks.size();
  slots_->size = rows(std::max(network_.width, kept));
  // Before every block and after the last, what the blocks keep, and a gradient.
  const std::size_t layers = 2 * slots_->blocks + 2;
  try {
    slots_->store = make_activation_store<T>({}, layers * slots_->panels, slots_->size, 1, 1);
  } catch (const PanelsTooLarge& error) {
    throw MemoryError("a training step does not fit: " + std::string(error.what()) +
                      "; take fewer samples per batch, or samples of fewer points");
  }
}

template <class T>
TrainingPass<T>::~TrainingPass() = default;

template <class T>
std::size_t TrainingPass<T>::rows(int count) const {
  return static_cast<std::size_t>(round_up_rows(count)) *
         static_cast<std::size_t>(network_.kernels.points);
}

template <class T>
T* TrainingPass<T>::h(std::size_t block, const PanelPlace& place) {
  return slots_->at(block, place.slot);
}

template <class T>
T* TrainingPass<T>::kept(std::size_t block, const PanelPlace& place) {
  return slots_->at(slots_->blocks + 1 + block, place.slot);
}

template <class T>
T* TrainingPass<T>::gradient_of_h(const PanelPlace& place) {
  return slots_->at(2 * slots_->blocks + 1, place.slot);
}

template <class T>
template <class Body>
std::vector<typename TrainingPass<T>::Sums> TrainingPass<T>::visit(std::size_t sample_size,
                                                                   std::size_t gradient_size,
                                                                   Sums* gradients,
                                                                   const Body& body) {
  std::vector<Sums> part_sums(plan_.parts().size());
  std::vector<std::unique_ptr<Worker>> workers(static_cast<std::size_t>(workers_));
  const auto add = [](const AlignedBuffer<T>& from, Sums& to) {
    for (std::size_t i = 0; i < to.size(); ++i) to[i] += static_cast<double>(from[i]);
  };
  for_each_part_in_turn(plan_, workers_, [&](std::size_t part, int id) {
    std::unique_ptr<Worker>& worker = workers[static_cast<std::size_t>(id)];
    if (!worker) worker = std::make_unique<Worker>(network_.kernels, sample_size, gradient_size);
    part_sums[part].assign(sample_size, 0.0);
    for (const Tile& tile : plan_.parts()[part].tiles) {
      worker->sums.fill(T(0));
      worker->gradients.fill(T(0));
      for (std::size_t i = 0; i < tile.panels; ++i) {
        const typename PanelArena<T>::Frame frame(worker->arena);
        body(*worker, plan_.place(tile, i));
      }
      add(worker->sums, part_sums[part]);
      add(worker->gradients, worker->gradient_total);
    }
  });
  std::vector<Sums> sums(batch_.size(), Sums(sample_size));
  for (std::size_t part = 0; part < part_sums.size(); ++part) {
    Sums& total = sums[plan_.parts()[part].sample];
    for (std::size_t i = 0; i < sample_size; ++i) total[i] += part_sums[part][i];
  }
  if (processes_ && sample_size > 0) {
    Sums all;
    for (const Sums& one : sums) all.insert(all.end(), one.begin(), one.end());
    processes_->sum(all.data(), all.size());
    for (std::size_t b = 0; b < sums.size(); ++b)
      std::copy_n(all.data() + b * sample_size, sample_size, sums[b].data());
  }
  if (gradients) {
    gradients->assign(gradient_size, 0.0);
    for (const auto& worker : workers)
      if (worker)
        for (std::size_t i = 0; i < gradient_size; ++i)
          (*gradients)[i] += worker->gradient_total[i];
  }
  return sums;
}

template <class T>
const T* TrainingPass<T>::load_features(Worker& worker, const PanelPlace& place) const {
  const PanelSource<T>& points = batch_[place.sample];
  T* features = worker.arena.rows(points.feature_count);
  network_.kernels.load_points(
      points.features + place.first * static_cast<std::size_t>(points.feature_count),
      points.feature_count, static_cast<int>(place.count), points.feature_count, features);
  return features;
}

template <class T>
PanelMeasure<T> TrainingPass<T>::measure(Worker& worker, const PanelPlace& place) const {
  // All blocks of a network have the same kind of attention.
  return weigh(batch_[place.sample], place, network_.kernels.points,
               network_.blocks.front().attention->counts_points(), worker.arena.rows(1));
}

template <class T>
void TrainingPass<T>::accumulate(Worker& worker, std::size_t block, const PanelPlace& place) {
  T* x = worker.arena.rows(network_.width);
  network_.kernels.normalise(h(block, place), network_.width, x, nullptr);
  network_.blocks[block].attention->accumulate(worker.arena, x, measure(worker, place),
                                               kept(block, place), worker.sums.data());
}

template <class T>
std::vector<typename TrainingPass<T>::Solved> TrainingPass<T>::solve(
    std::size_t block, const std::vector<Sums>& sums) const {
  std::vector<Solved> solved;
  for (std::size_t b = 0; b < batch_.size(); ++b)
    solved.push_back(network_.blocks[block].attention->solve(sums[b].data(), batch_[b].size));
  return solved;
}

template <class T>
void TrainingPass<T>::forward(T* y) {
  const auto width_numbers = rows(network_.width);
  std::vector<Sums> sums = visit(network_.blocks.front().attention->sum_size(), 0, nullptr,
                                 [&](Worker& worker, const PanelPlace& place) {
                                   typename TrainableStack<T>::Tape tape;
                                   const T* lifted = network_.lift.forward(
                                       worker.arena, load_features(worker, place), tape);
                                   std::copy(lifted, lifted + width_numbers, h(0, place));
                                   accumulate(worker, 0, place);
                                 });
  for (std::size_t block = 0; block < network_.blocks.size(); ++block) {
    solved_.push_back(solve(block, sums));
    const auto& parts = network_.blocks[block];
    const bool is_last = block + 1 == network_.blocks.size();
    const std::size_t sum_size = is_last ? 0 : network_.blocks[block + 1].attention->sum_size();
    sums = visit(sum_size, 0, nullptr, [&](Worker& worker, const PanelPlace& place) {
      T* next = h(block + 1, place);
      const T* before = h(block, place);
      std::copy(before, before + width_numbers, next);
      (void)parts.attention->apply(worker.arena, solved_[block][place.sample], kept(block, place),
                                   next);
      typename TrainableStack<T>::Tape tape;
      network_.kernels.add(parts.mlp.forward(worker.arena, next, tape), network_.width, next);
      if (!is_last) {
        accumulate(worker, block + 1, place);
        return;
      }
      const T* result = network_.head.forward(worker.arena, next, tape);
      const std::size_t row = place.sample * batch_.front().count + place.first;
      network_.kernels.store_points(result, static_cast<int>(place.count), network_.outputs,
                                    y + row * static_cast<std::size_t>(network_.outputs),
                                    network_.outputs);
    });
  }
}

template <class T>
void TrainingPass<T>::backward_head(const T* dy, std::vector<Tensor>& gradients) {
  Sums sums;
  visit(0, network_.head_gradient_size, &sums, [&](Worker& worker, const PanelPlace& place) {
    T* gradient = worker.arena.rows(network_.outputs);
    std::fill(gradient, gradient + rows(network_.outputs), T(0));
    const std::size_t row = place.sample * batch_.front().count + place.first;
    network_.kernels.load_points(dy + row * static_cast<std::size_t>(network_.outputs),
                                 network_.outputs, static_cast<int>(place.count), network_.outputs,
                                 gradient);
    typename TrainableStack<T>::Tape tape;
    (void)network_.head.forward(worker.arena, h(slots_->blocks, place), tape);
    T* dh = gradient_of_h(place);
    std::fill(dh, dh + rows(network_.width), T(0));
    network_.head.backward(worker.arena, tape, gradient, dh, worker.gradients.data());
  });
  network_.head.gradients(sums.data(), gradients);
}

template <class T>
void TrainingPass<T>::backward_block(std::size_t block, std::vector<Tensor>& attention,
                                     std::vector<Tensor>& mlp) {
  const auto& parts = network_.blocks[block];
  const auto width_numbers = rows(network_.width);
  const std::vector<Solved>& solved = solved_[block];
  Sums first;
  const std::vector<Sums> map_sums =
      visit(parts.attention->sum_size(), parts.gradient_size, &first,
            [&](Worker& worker, const PanelPlace& place) {
              T* a = worker.arena.rows(network_.width);
              const T* before = h(block, place);
              std::copy(before, before + width_numbers, a);
              const auto apply_tape =
                  parts.attention->apply(worker.arena, solved[place.sample], kept(block, place), a);
              typename TrainableStack<T>::Tape tape;
              (void)parts.mlp.forward(worker.arena, a, tape);
              // h' = a + mlp(a)
              T* dh = gradient_of_h(place);
              T* da = worker.arena.rows(network_.width);
              std::copy(dh, dh + width_numbers, da);
              parts.mlp.backward(worker.arena, tape, dh, da, worker.gradients.data());
              std::copy(da, da + width_numbers, dh);
              parts.attention->backward_apply(worker.arena, apply_tape, da, h(block + 1, place),
                                              worker.gradients.data(), worker.sums.data());
            });
  std::vector<Tensor> small;
  std::vector<SolveGradient<T>> solve_gradients;
  for (std::size_t b = 0; b < batch_.size(); ++b)
    solve_gradients.push_back(
        parts.attention->backward_solve(map_sums[b].data(), solved[b], batch_[b].size, small));
  // All processes solve the same systems, whose gradients count once.
  if (processes_ && !processes_->is_first())
    for (Tensor& gradient : small) gradient = at::zeros_like(gradient);
  Sums second;
  visit(0, parts.gradient_size, &second, [&](Worker& worker, const PanelPlace& place) {
    T* x = worker.arena.rows(network_.width);
    T* deviation = worker.arena.rows(1);
    T* dx = worker.arena.rows(network_.width);
    network_.kernels.normalise(h(block, place), network_.width, x, deviation);
    std::fill(dx, dx + width_numbers, T(0));
    parts.attention->backward_points(
        worker.arena, solved[place.sample], solve_gradients[place.sample], x, kept(block, place),
        measure(worker, place).share, h(block + 1, place), dx, worker.gradients.data());
    network_.kernels.normalise_backward(x, deviation, dx, network_.width, gradient_of_h(place));
  });
  for (std::size_t i = 0; i < first.size(); ++i) first[i] += second[i];
  attention = parts.attention->gradients(first.data(), small);
  parts.mlp.gradients(first.data(), mlp);
}

template <class T>
void TrainingPass<T>::backward_lift(std::vector<Tensor>& gradients) {
  Sums sums;
  visit(0, network_.lift_gradient_size, &sums, [&](Worker& worker, const PanelPlace& place) {
    typename TrainableStack<T>::Tape tape;
    (void)network_.lift.forward(worker.arena, load_features(worker, place), tape);
    network_.lift.backward(worker.arena, tape, gradient_of_h(place), nullptr,
                           worker.gradients.data());
  });
  network_.lift.gradients(sums.data(), gradients);
}

template <class T>
std::vector<Tensor> TrainingPass<T>::backward(const T* dy) {
  std::vector<Tensor> head, result;
  backward_head(dy, head);
  std::vector<std::vector<Tensor>> attention(network_.blocks.size()), mlp(network_.blocks.size());
  for (std::size_t block = network_.blocks.size(); block-- > 0;)
    backward_block(block, attention[block], mlp[block]);
  backward_lift(result);
  for (std::size_t block = 0; block < network_.blocks.size(); ++block) {
    result.insert(result.end(), attention[block].begin(), attention[block].end());
    result.insert(result.end(), mlp[block].begin(), mlp[block].end());
  }
  result.insert(result.end(), head.begin(), head.end());
  return result;
}

template class TrainingNetwork<float>;
template class TrainingNetwork<double>;
template class TrainingPass<float>;
template class TrainingPass<double>;

}  // namespace funcattn
