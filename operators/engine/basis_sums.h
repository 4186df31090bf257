#pragma once

#include <algorithm>

#include "operators/attention.h"
#include "operators/engine/panel_attention.h"

namespace funcattn {

/// Where the sums of several heads stand in one block of numbers: per head the products of basis
/// and field [functions rounded up][channels rounded up to lanes], then the mass of each function
/// [functions rounded up][lanes], the points of each lane apart.
class BasisSums {
 public:
  BasisSums(int heads, int functions, int channels, int lanes)
      : heads_(heads),
        functions_(functions),
        channels_(channels),
        lanes_(lanes),
        rows_(static_cast<std::size_t>(round_up_rows(functions))),
        columns_(static_cast<std::size_t>((channels + lanes - 1) / lanes * lanes)) {}

  int heads() const { return heads_; }
  int functions() const { return functions_; }
  int channels() const { return channels_; }
  int lanes() const { return lanes_; }
  std::size_t size() const { return static_cast<std::size_t>(heads_) * head_size(); }
  std::size_t products(int head) const { return static_cast<std::size_t>(head) * head_size(); }
  std::size_t mass(int head) const { return products(head) + rows_ * columns_; }
  /// Rows of a panel that hold the transpose of a head's field.
  int transpose_rows() const { return static_cast<int>(columns_); }

  /// Adds a panel's share of one head.
  /// @param e, inverse_sum basis as exponentials() gives it; e is changed at absent points
  /// @param field [channels][P], changed at absent points
  /// @param scratch [transpose_rows() + 8][P]
  template <class T>
  void accumulate(const PanelKernels<T>& kernels, int head, T* e, T* inverse_sum, T* field,
                  const PanelMeasure<T>& measure, T* scratch, T* sums) const {
    if (!measure.all_present) {
      // Chosen, not multiplied by 0: what is not finite there must not reach a sum.
      kernels.clear_absent(measure.share, functions_, e);
      kernels.clear_absent(measure.share, channels_, field);
      kernels.clear_absent(measure.share, 1, inverse_sum);
    }
    T* weight = scratch;
    T* by_point = scratch + panel_row_group * kernels.points;
    kernels.scale_points(inverse_sum, measure.share, 1, weight);
    kernels.transpose(field, channels_, weight, by_point);
    kernels.accumulate(e, functions_, by_point, channels_, sums + products(head));
    kernels.accumulate_rows(e, functions_, weight, sums + mass(head));
  }

  /// The products and masses alone, without what fills rows and lanes.
  std::size_t packed_size() const {
    return static_cast<std::size_t>(heads_ * functions_) * static_cast<std::size_t>(channels_ + 1);
  }
  void pack(const double* sums, double* packed) const;
  void unpack(const double* packed, double* sums) const;

  /// sum_i share_i B_ij F_i, [1,H,k,c] float64.
  Tensor product_tensor(const double* sums) const;
  /// sum_i share_i B_ij, [1,H,k,1] float64.
  Tensor mass_tensor(const double* sums) const;

  /// Coefficients of a kind from the sums, [1,H,k,c] float64.
  /// @param reference_points as for project()
  Tensor coefficients(const double* sums, Coefficients kind, double reference_points) const;

 private:
  double mass_of(const double* sums, int head, int function) const;
  std::size_t head_size() const { return rows_ * (columns_ + static_cast<std::size_t>(lanes_)); }

  int heads_;
  int functions_;
  int channels_;
  int lanes_;
  std::size_t rows_;
  std::size_t columns_;
};

/// The maps [v,k] from the basis functions of each head to its channels, of values [1,H,k,v].
template <class T>
Transported<T> pack_transported(const Tensor& moved);

}  // namespace funcattn
