#pragma once

#include <memory>
#include <vector>

#include "operators/engine/network_description.h"
#include "operators/engine/sweep.h"
#include "operators/engine/trainable_attention.h"

namespace funcattn {

/// True for networks that TrainingNetwork can train: a lifting, pre-norm blocks whose attention has
/// a backward on panels, and an output layer.
bool is_trainable_on_panels(const NetworkDescription& description);

/// The tensors of a network that gradients are for, in a fixed order.
std::vector<Tensor*> network_tensors(NetworkDescription& description);

/// A network with its weights packed for one training step.
template <class T>
class TrainingNetwork {
 public:
  TrainingNetwork(const PanelKernels<T>& kernels, const NetworkDescription& description);

  struct Block {
    std::unique_ptr<TrainableAttention<T>> attention;
    TrainableStack<T> mlp;
    std::size_t gradient_size = 0;
  };

  const PanelKernels<T>& kernels;
  int width;
  int outputs;
  std::size_t lift_gradient_size = 0;  // Before the stacks, whose making counts them.
  std::size_t head_gradient_size = 0;
  TrainableStack<T> lift, head;
  std::vector<Block> blocks;
};

/// The forward of one step and its backward. Between the two it keeps, of every point, the features
/// before each block and those that decide on the bases.
template <class T>
class TrainingPass {
 public:
  using Batch = std::vector<PanelSource<T>>;

  /// @param batch samples of equal size; what it points to must last as long as the pass
  /// @param processes that hold the other points of the samples and do the same together, null:
  /// none Throws MemoryError where memory does not suffice.
  TrainingPass(const NetworkDescription& description, Batch batch,
               ProcessGroup* processes = nullptr);
  ~TrainingPass();

  /// @param y [B,n,outputs]
  void forward(T* y);
  /// Gradients of network_tensors(), float64; those of several processes are to be added up.
  /// @param dy [B,n,outputs]
  std::vector<Tensor> backward(const T* dy);

 private:
  struct Worker;
  struct Slots;
  using Solved = typename TrainableAttention<T>::Solved;
  using Sums = std::vector<double>;

  std::size_t rows(int count) const;
  T* h(std::size_t block, const PanelPlace& place);
  T* kept(std::size_t block, const PanelPlace& place);
  T* gradient_of_h(const PanelPlace& place);
  const T* load_features(Worker& worker, const PanelPlace& place) const;
  PanelMeasure<T> measure(Worker& worker, const PanelPlace& place) const;
  void accumulate(Worker& worker, std::size_t block, const PanelPlace& place);
  std::vector<Solved> solve(std::size_t block, const std::vector<Sums>& sums) const;
  void backward_head(const T* dy, std::vector<Tensor>& gradients);
  void backward_block(std::size_t block, std::vector<Tensor>& attention, std::vector<Tensor>& mlp);
  void backward_lift(std::vector<Tensor>& gradients);

  /// Visits every panel. `body(worker, place)` may add to the tile sums of the worker (per sample,
  /// `sample_size` numbers) and to its gradients (`gradient_size` numbers), which are added up in
  /// float64, the gradients in `gradients` where not null.
  /// @return the sums of every sample, over its points in all processes
  template <class Body>
  std::vector<Sums> visit(std::size_t sample_size, std::size_t gradient_size, Sums* gradients,
                          const Body& body);

  TrainingNetwork<T> network_;
  Batch batch_;
  SweepPlan plan_;
  int workers_;
  ProcessGroup* processes_;
  std::unique_ptr<Slots> slots_;
  std::vector<std::vector<Solved>> solved_;  ///< By block, then by sample.
};

}  // namespace funcattn
