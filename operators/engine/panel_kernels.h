#pragma once

// Arithmetic of the inference and training engine on panels: a few dozen points whose features are
// stored feature by feature, `x[feature][point]`, so that the points fill the SIMD lanes. Layer
// normalisation and softmax then need no sums across lanes, and a row of a panel is contiguous
// whatever the width of the network.
//
// Compiled several times for different instruction sets; panel_kernels() chooses at run time.

namespace funcattn {

enum class Activation;

/// Rows of a panel are processed in groups of this many: every panel buffer has room for its number
/// of rows rounded up to a multiple. What the rows beyond hold is unspecified.
constexpr int panel_row_group = 8;

constexpr int round_up_rows(int rows) {
  return (rows + panel_row_group - 1) / panel_row_group * panel_row_group;
}

/// P is `points`. Sizes are in rows, features or points, never bytes. All buffers are aligned to 64
/// bytes except where row-major data of the caller is read or written.
/// @tparam T float or double
template <class T>
struct PanelKernels {
  const char* name;  ///< Of the instruction set.
  int points;        ///< P: points of a panel.
  int lanes;         ///< Points of a SIMD register.

  /// y = W x + b, times `scale` where given, and added to y where `add`.
  /// @param weights as packed by PackedLinear: groups of 8 rows, [group][ins][8]
  /// @param bias padded to groups, or null
  /// @param scale [P] or null
  /// @param y [outs rounded up][P]; must not overlap x
  void (*linear)(const T* weights, const T* bias, int outs, int ins, const T* x, const T* scale,
                 bool add, T* y);

  /// y = (x - mean) / sqrt(variance + 1e-5) over the rows; `deviation` [P], where given, receives
  /// the reciprocal of the root. y may be x.
  void (*normalise)(const T* x, int rows, T* y, T* deviation);

  /// y = y * gain + shift, row by row.
  void (*affine)(T* y, int rows, const T* gain, const T* shift);

  /// y += x.
  void (*add)(const T* x, int rows, T* y);

  /// x = 0 at the points whose share is not positive, whatever x holds there.
  /// @param share [P]
  void (*clear_absent)(const T* share, int rows, T* x);

  void (*activate)(Activation kind, T* x, int rows);

  /// dx = dy * activation'(x); dx may be dy or x.
  void (*activate_backward)(Activation kind, const T* x, const T* dy, int rows, T* dx);

  /// x = 2^(x - max over the rows); `inverse_sum` [P] receives 1 / (sum over the rows). The rows of
  /// the partition of unity are x * inverse_sum.
  void (*exponentials)(T* x, int rows, T* inverse_sum);

  /// Softmax along the points, in parts: largest[r] becomes the maximum of itself and x[r] over the
  /// points of positive share, factor[r] = 2^(its old value - its new one), and
  /// x = 2^(x - largest), 0 at the other points. Where no point has been present yet, largest stays
  /// -infinity and the factor is 1.
  /// @param largest, factor [rows]
  void (*exponentials_along)(T* x, int rows, const T* share, T* largest, T* factor);

  /// The point-major transpose [P][columns rounded up to lanes] of x [columns][P], times `scale`
  /// where given; the columns beyond are 0.
  void (*transpose)(const T* x, int columns, const T* scale, T* y);

  /// sums[row][column] += sum over the points of rows[row][point] * points[point][column].
  /// @param points as transpose() gives it
  /// @param sums [rows rounded up][columns rounded up to lanes]
  void (*accumulate)(const T* rows, int row_count, const T* points, int columns, T* sums);

  /// sums[row][lane] += rows[row][point] * scale[point], the points of one lane together.
  /// @param scale [P] or null for 1
  /// @param sums [rows][lanes]
  void (*accumulate_rows)(const T* rows, int row_count, const T* scale, T* sums);

  /// Gradient of normalise(): dx += deviation * (dy - mean(dy) - y mean(dy y)).
  void (*normalise_backward)(const T* y, const T* deviation, const T* dy, int rows, T* dx);

  /// Gradient of a partition of unity with respect to the logits in base 2 (those given to
  /// exponentials()): with B = e * inverse_sum, dx = ln 2 * B (dB - sum over the rows of B dB);
  /// overwrites dB.
  void (*softmax_backward)(const T* e, const T* inverse_sum, int rows, T* gradient);

  /// y[row][point] = x[row][point] * scale[point]; y may be x.
  void (*scale_points)(const T* x, const T* scale, int rows, T* y);

  /// Row-major [count][features] (stride `stride`) to a panel; points from `count` on become 0.
  void (*load_points)(const T* data, long stride, int count, int features, T* x);

  /// A panel's first `count` points to row-major [count][features].
  void (*store_points)(const T* x, int count, int features, T* data, long stride);
};

/// The kernels for the processor that runs this; FUNCATTN_KERNELS=avx512|avx2|baseline in the
/// environment chooses lesser ones.
template <class T>
const PanelKernels<T>& panel_kernels();

}  // namespace funcattn
