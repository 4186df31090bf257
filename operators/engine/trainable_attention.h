#pragma once

#include <memory>
#include <vector>

#include "operators/engine/basis_sums.h"
#include "operators/engine/network_description.h"
#include "operators/engine/trainable_stack.h"

// The backward of an attention layer on panels, which computes bases anew instead of keeping them.
// Like the forward it visits every point twice: once for the gradients of the small maps that the
// transport gave, once, after the backward of the solve, for those of the coefficients.

namespace funcattn {

/// Gradients of one set of coefficient sums, per head, packed for the second visit.
template <class T>
struct SumGradient {
  std::vector<PackedLinear<T>> products;             ///< [k,c], and of the masses as bias [k].
  std::vector<PackedLinear<T>> transposed_products;  ///< [c,k]

  SumGradient() = default;
  /// @param products [1,H,k,c], mass [1,H,k,1]
  SumGradient(const Tensor& products, const Tensor& mass);
};

/// Gradients of the solve of one sample.
template <class T>
struct SolveGradient {
  SumGradient<T> source;
  SumGradient<T> query;  ///< Where queries have sums of their own.
};

/// Self-attention of a pre-norm block; x is the normalised input of a panel, [width][P].
template <class T>
class TrainableAttention {
 public:
  virtual ~TrainableAttention() = default;

  /// Numbers of one sample's coefficient sums; the gradients of its maps take no more.
  virtual std::size_t sum_size() const = 0;
  /// True where every point of positive weight counts alike (coefficients `sum`).
  virtual bool counts_points() const { return false; }
  /// Rows that every panel keeps from the first visit to the last.
  virtual int kept_rows() const = 0;
  /// Rows of the gradient that the first visit backwards hands to the second.
  virtual int joined_rows() const = 0;

  /// First visit. @param kept [kept_rows()][P], receives what the other visits need
  virtual void accumulate(PanelArena<T>& arena, const T* x, const PanelMeasure<T>& measure, T* kept,
                          T* sums) const = 0;

  /// What one sample's forward computed between its visits.
  struct Solved {
    Tensor products, mass;                        ///< [1,H,k,c], [1,H,k,1] float64
    Tensor query_products, query_mass;            ///< Where queries have sums of their own.
    std::vector<PackedLinear<T>> map;             ///< Per head [c,k].
    std::vector<PackedLinear<T>> transposed_map;  ///< Per head [k,c].
  };
  virtual Solved solve(const double* sums, const SampleSize& size) const = 0;

  /// What the second visit leaves for its backward, in the arena.
  struct ApplyTape {
    T* joined = nullptr;        ///< [width][P] before the output map.
    T* bases = nullptr;         ///< [H][k rounded up][P], as exponentials() leaves them.
    T* inverse_sums = nullptr;  ///< [H][8][P]
  };
  /// Second visit: y += attention. The tape stays in the arena until the caller's frame ends.
  virtual ApplyTape apply(PanelArena<T>& arena, const Solved& solved, const T* kept,
                          T* y) const = 0;

  /// First visit backwards: adds to the gradients of the output map and of the sample's maps.
  /// @param dy [width][P] gradient of the result
  /// @param d_joined [joined_rows()][P], receives the gradient before the output map
  virtual void backward_apply(PanelArena<T>& arena, const ApplyTape& tape, const T* dy, T* d_joined,
                              T* sums, T* map_sums) const = 0;

  /// The gradients of the maps, through the solve. Adds those of the parameters of the solve to
  /// `small`.
  virtual SolveGradient<T> backward_solve(const double* map_sums, const Solved& solved,
                                          const SampleSize& size,
                                          std::vector<Tensor>& small) const = 0;

  /// Second visit backwards: adds to the gradients of the parameters at points and to dx.
  /// @param share [P] as the points were weighed
  virtual void backward_points(PanelArena<T>& arena, const Solved& solved,
                               const SolveGradient<T>& gradient, const T* x, const T* kept,
                               const T* share, const T* d_joined, T* dx, T* sums) const = 0;

  /// Gradients of the tensors of the description, in the order of attention_tensors().
  virtual std::vector<Tensor> gradients(const double* sums,
                                        const std::vector<Tensor>& small) const = 0;
};

/// Null for attentions that have none. @param offset as for LinearGradient
template <class T>
std::unique_ptr<TrainableAttention<T>> make_trainable_attention(
    const PanelKernels<T>& kernels, const AttentionDescription& description, std::size_t& offset);

/// The tensors of an attention that gradients are for, in a fixed order.
std::vector<Tensor*> attention_tensors(AttentionDescription& description);

}  // namespace funcattn
