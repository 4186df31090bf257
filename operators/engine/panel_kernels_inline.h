// Not a header for others: compiled once per instruction set by panel_kernels_*.cpp, which define
//   FUNCATTN_KERNEL_NAMESPACE  a name of its own for every function here,
//   FUNCATTN_KERNEL_BYTES      bytes of a SIMD register,
//   FUNCATTN_KERNEL_VECTORS    registers of a row of a panel,
//   FUNCATTN_KERNEL_ROWS       rows of a register tile, and
//   FUNCATTN_IN_REGISTER       the constraint letter of a SIMD register in inline assembly.
// Nothing of the standard library is used: the linker keeps one copy of an inline function, and it
// could be the one compiled for instructions that the machine lacks.

#if FUNCATTN_KERNEL_BYTES > 16
#include <immintrin.h>
#endif

#include "operators/engine/panel_kernels.h"

extern "C" {
double erfc(double);
double exp(double);
double sin(double);
double cos(double);
double tanh(double);
}

namespace funcattn {

// Defined here for the kernels, which must not include LibTorch; checked in panel_kernels.cpp.
enum class Activation { relu, gelu, silu, tanh, sine };

namespace FUNCATTN_KERNEL_NAMESPACE {

template <class T>
struct Simd;

template <>
struct Simd<float> {
  typedef float Vector __attribute__((vector_size(FUNCATTN_KERNEL_BYTES)));
  typedef float Unaligned __attribute__((vector_size(FUNCATTN_KERNEL_BYTES), aligned(4)));
  typedef int Integers __attribute__((vector_size(FUNCATTN_KERNEL_BYTES)));
  static constexpr int mantissa_bits = 23;
  static constexpr float round_magic = 12582912.0f;  // 1.5 * 2^23: adding it rounds to an integer.
  static constexpr float lowest_exponent = -126.0f;
  static constexpr int sign_bit = static_cast<int>(1u << 31);
};

template <>
struct Simd<double> {
  typedef double Vector __attribute__((vector_size(FUNCATTN_KERNEL_BYTES)));
  typedef double Unaligned __attribute__((vector_size(FUNCATTN_KERNEL_BYTES), aligned(8)));
  typedef long long Integers __attribute__((vector_size(FUNCATTN_KERNEL_BYTES)));
  static constexpr int mantissa_bits = 52;
  static constexpr double round_magic = 6755399441055744.0;
  static constexpr double lowest_exponent = -1022.0;
  static constexpr long long sign_bit = static_cast<long long>(1ull << 63);
};

template <class T>
using Vector = typename Simd<T>::Vector;

template <class T>
constexpr int lanes = FUNCATTN_KERNEL_BYTES / sizeof(T);

constexpr int vectors = FUNCATTN_KERNEL_VECTORS;  // Of a row of a panel.

template <class T>
constexpr int panel = vectors* lanes<T>;

template <class T>
inline Vector<T> load(const T* p) {
  return *reinterpret_cast<const Vector<T>*>(p);
}

template <class T>
inline void store(T* p, Vector<T> v) {
  *reinterpret_cast<Vector<T>*>(p) = v;
}

template <class T>
inline Vector<T> broadcast(T x) {
  return x - Vector<T>{};
}

/// Keeps a value in a register: GCC otherwise repeats its load in every multiplication.
template <class V>
inline void in_register(V& v) {
  asm("" : "+" FUNCATTN_IN_REGISTER(v));
}

// Minimum, maximum and square root of a register: GCC has no notation of its own for them, and
// makes two instructions of a comparison and a choice. Like the instructions, they give the second
// operand where one is NaN.
#if FUNCATTN_KERNEL_BYTES == 64
inline Vector<float> larger(Vector<float> a, Vector<float> b) {
  return _mm512_max_ps(a, b);
}
inline Vector<double> larger(Vector<double> a, Vector<double> b) {
  return _mm512_max_pd(a, b);
}
inline Vector<float> smaller(Vector<float> a, Vector<float> b) {
  return _mm512_min_ps(a, b);
}
inline Vector<double> smaller(Vector<double> a, Vector<double> b) {
  return _mm512_min_pd(a, b);
}
inline Vector<float> square_root(Vector<float> x) {
  return _mm512_sqrt_ps(x);
}
inline Vector<double> square_root(Vector<double> x) {
  return _mm512_sqrt_pd(x);
}
#elif FUNCATTN_KERNEL_BYTES == 32
inline Vector<float> larger(Vector<float> a, Vector<float> b) {
  return _mm256_max_ps(a, b);
}
inline Vector<double> larger(Vector<double> a, Vector<double> b) {
  return _mm256_max_pd(a, b);
}
inline Vector<float> smaller(Vector<float> a, Vector<float> b) {
  return _mm256_min_ps(a, b);
}
inline Vector<double> smaller(Vector<double> a, Vector<double> b) {
  return _mm256_min_pd(a, b);
}
inline Vector<float> square_root(Vector<float> x) {
  return _mm256_sqrt_ps(x);
}
inline Vector<double> square_root(Vector<double> x) {
  return _mm256_sqrt_pd(x);
}
#else
template <class V>
inline V larger(V a, V b) {
  return a > b ? a : b;
}
template <class V>
inline V smaller(V a, V b) {
  return a < b ? a : b;
}
inline Vector<float> square_root(Vector<float> x) {
  for (int i = 0; i < lanes<float>; ++i) x[i] = __builtin_sqrtf(x[i]);
  return x;
}
inline Vector<double> square_root(Vector<double> x) {
  for (int i = 0; i < lanes<double>; ++i) x[i] = __builtin_sqrt(x[i]);
  return x;
}
#endif

template <class T>
inline Vector<T> power_of_two(Vector<T> x) {
  using Integers = typename Simd<T>::Integers;
  x = larger(broadcast<T>(Simd<T>::lowest_exponent), x);  // In this order NaN stays.
  const Vector<T> magic = broadcast<T>(Simd<T>::round_magic);
  const Vector<T> rounded = x + magic;
  const Vector<T> f = x - (rounded - magic);
  Vector<T> p;
  if constexpr (sizeof(T) == 4) {
    // 2^f on [-1/2, 1/2], Chebyshev fit of the relative error (2e-9).
    p = broadcast<T>(0.00015337577497120947f);
    p = p * f + 0.0013399859890341759f;
    p = p * f + 0.009618519805371761f;
    p = p * f + 0.05550329014658928f;
    p = p * f + 0.24022646248340607f;
    p = p * f + 0.6931471824645996f;
    p = p * f + 1.0f;
  } else {
    // Taylor series of exp(f ln 2), remainder 4e-18.
    const double ln2 = 0.693147180559945309;
    const Vector<T> t = f * ln2;
    p = broadcast<T>(1.0 / 6227020800.0);
    p = p * t + 1.0 / 479001600.0;
    p = p * t + 1.0 / 39916800.0;
    p = p * t + 1.0 / 3628800.0;
    p = p * t + 1.0 / 362880.0;
    p = p * t + 1.0 / 40320.0;
    p = p * t + 1.0 / 5040.0;
    p = p * t + 1.0 / 720.0;
    p = p * t + 1.0 / 120.0;
    p = p * t + 1.0 / 24.0;
    p = p * t + 1.0 / 6.0;
    p = p * t + 0.5;
    p = p * t + 1.0;
    p = p * t + 1.0;
  }
  // The integer stands in the low bits of `rounded`; shifted it is added to the exponent.
  const Integers shifted = reinterpret_cast<Integers>(rounded) << Simd<T>::mantissa_bits;
  return reinterpret_cast<Vector<T>>(reinterpret_cast<Integers>(p) + shifted);
}

template <class T>
inline Vector<T> exponential(Vector<T> x) {
  return power_of_two<T>(x * T(1.44269504088896340736));
}

template <class T, double (*function)(double)>
inline Vector<T> lane_by_lane(Vector<T> x) {
  Vector<T> y;
  for (int i = 0; i < lanes<T>; ++i) y[i] = static_cast<T>(function(static_cast<double>(x[i])));
  return y;
}

template <class T>
inline Vector<T> absolute(Vector<T> x) {
  using Integers = typename Simd<T>::Integers;
  const Integers magnitude = (Integers{} - 1) & ~(Integers{} + Simd<T>::sign_bit);
  return reinterpret_cast<Vector<T>>(reinterpret_cast<Integers>(x) & magnitude);
}

/// erfc(a / sqrt 2) for a >= 0: the normal probability beyond -a and a.
template <class T>
inline Vector<T> normal_tails(Vector<T> a) {
  if constexpr (sizeof(T) == 4) {
    // log2 erfc(a / sqrt 2) is smooth: a polynomial without constant term, fitted on [0, 6] such
    // that a * erfc is right to float32; beyond 6 the product is below 1e-8.
    a = smaller(broadcast<T>(6.0f), a);
    Vector<T> p = broadcast<T>(-4.104595063836314e-08f);
    p = p * a + 1.125230028264923e-06f;
    p = p * a + -1.3316942386154551e-05f;
    p = p * a + 8.726719534024596e-05f;
    p = p * a + -0.0003076240245718509f;
    p = p * a + 4.084159081685357e-05f;
    p = p * a + 0.006914865225553513f;
    p = p * a + -0.05242953076958656f;
    p = p * a + -0.45922213792800903f;
    p = p * a + -1.151104211807251f;
    return power_of_two<T>(p * a);
  } else {
    return lane_by_lane<T, erfc>(a * 0.707106781186547524);
  }
}

/// x Phi(x) = max(x, 0) - |x| Phi(-|x|)
template <class T>
inline Vector<T> gelu(Vector<T> x) {
  const Vector<T> a = absolute<T>(x);
  return larger(Vector<T>{}, x) - T(0.5) * a * normal_tails<T>(a);
}

template <class T>
inline Vector<T> gelu_derivative(Vector<T> x) {
  const Vector<T> half = T(0.5) * normal_tails<T>(absolute<T>(x));
  const Vector<T> below = x < T(0) ? half : T(1) - half;
  const T inverse_root_two_pi = T(0.398942280401432678);
  return below + x * inverse_root_two_pi * exponential<T>(T(-0.5) * x * x);
}

template <class T>
inline Vector<T> logistic(Vector<T> x) {
  // Bounded, so that the exponential stays finite.
  const T bound = sizeof(T) == 4 ? T(87) : T(700);
  return T(1) / (T(1) + exponential<T>(-larger(broadcast<T>(-bound), x)));
}

template <class T, class Function>
inline void each(const T* x, int rows, T* y, const Function& function) {
  for (int i = 0; i < rows * panel<T>; i += lanes<T>) store<T>(y + i, function(load<T>(x + i)));
}

template <class T>
void activate(Activation kind, T* x, int rows) {
  switch (kind) {
    case Activation::relu:
      each(x, rows, x, [](Vector<T> v) { return larger(Vector<T>{}, v); });
      break;
    case Activation::gelu:
      each(x, rows, x, [](Vector<T> v) { return gelu<T>(v); });
      break;
    case Activation::silu:
      each(x, rows, x, [](Vector<T> v) { return v * logistic<T>(v); });
      break;
    case Activation::tanh:
      each(x, rows, x, [](Vector<T> v) { return lane_by_lane<T, tanh>(v); });
      break;
    case Activation::sine:
      each(x, rows, x, [](Vector<T> v) { return lane_by_lane<T, sin>(v); });
      break;
  }
}

template <class T>
inline Vector<T> derivative(Activation kind, Vector<T> v) {
  switch (kind) {
    case Activation::relu:
      return v > T(0) ? broadcast<T>(1) : Vector<T>{};
    case Activation::gelu:
      return gelu_derivative<T>(v);
    case Activation::silu: {
      const Vector<T> s = logistic<T>(v);
      return s + v * s * (T(1) - s);
    }
    case Activation::tanh: {
      const Vector<T> t = lane_by_lane<T, tanh>(v);
      return T(1) - t * t;
    }
    case Activation::sine:
      return lane_by_lane<T, cos>(v);
  }
  return v;
}

template <class T>
void activate_backward(Activation kind, const T* x, const T* dy, int rows, T* dx) {
  for (int i = 0; i < rows * panel<T>; i += lanes<T>)
    store<T>(dx + i, load<T>(dy + i) * derivative<T>(kind, load<T>(x + i)));
}

/// `rows` x `vectors` registers accumulate over the inputs.
template <class T, int rows>
inline void linear_tile(const T* __restrict weights, const T* bias, int ins, const T* __restrict x,
                        const T* scale, bool add, T* __restrict y) {
  Vector<T> sum[rows][vectors];
  for (int r = 0; r < rows; ++r) {
    const Vector<T> start = bias ? broadcast<T>(bias[r]) : Vector<T>{};
    for (int v = 0; v < vectors; ++v) sum[r][v] = start;
  }
  for (int i = 0; i < ins; ++i) {
    Vector<T> in[vectors];
    for (int v = 0; v < vectors; ++v) {
      in[v] = load<T>(x + i * panel<T> + v * lanes<T>);
      in_register(in[v]);
    }
    for (int r = 0; r < rows; ++r) {
      Vector<T> weight = broadcast<T>(weights[i * panel_row_group + r]);
      in_register(weight);
      for (int v = 0; v < vectors; ++v) sum[r][v] += weight * in[v];
    }
  }
  for (int r = 0; r < rows; ++r)
    for (int v = 0; v < vectors; ++v) {
      T* out = y + r * panel<T> + v * lanes<T>;
      Vector<T> value = sum[r][v];
      if (scale) value *= load<T>(scale + v * lanes<T>);
      if (add) value += load<T>(out);
      store<T>(out, value);
    }
}

template <class T>
void linear(const T* weights, const T* bias, int outs, int ins, const T* x, const T* scale,
            bool add, T* y) {
  constexpr int tile = FUNCATTN_KERNEL_ROWS;
  static_assert(panel_row_group % tile == 0, "a group is a whole number of register tiles");
  for (int group = 0; group < outs; group += panel_row_group) {
    const T* packed = weights + static_cast<long>(group) * ins;
    for (int r = 0; r < panel_row_group; r += tile)
      linear_tile<T, tile>(packed + r, bias ? bias + group + r : nullptr, ins, x, scale, add,
                           y + (group + r) * panel<T>);
  }
}

template <class T>
void normalise(const T* x, int rows, T* y, T* deviation) {
  const T share = T(1) / static_cast<T>(rows);
  for (int v = 0; v < panel<T>; v += lanes<T>) {
    // Two independent sums: one would wait for its own last addition.
    Vector<T> even{}, odd{};
    int r = 0;
    for (; r + 1 < rows; r += 2) {
      even += load<T>(x + r * panel<T> + v);
      odd += load<T>(x + (r + 1) * panel<T> + v);
    }
    if (r < rows) even += load<T>(x + r * panel<T> + v);
    const Vector<T> mean = (even + odd) * share;
    even = odd = Vector<T>{};
    for (r = 0; r + 1 < rows; r += 2) {
      const Vector<T> a = load<T>(x + r * panel<T> + v) - mean;
      const Vector<T> b = load<T>(x + (r + 1) * panel<T> + v) - mean;
      even += a * a;
      odd += b * b;
    }
    if (r < rows) {
      const Vector<T> a = load<T>(x + r * panel<T> + v) - mean;
      even += a * a;
    }
    const Vector<T> inverse = T(1) / square_root((even + odd) * share + T(1e-5));
    if (deviation) store<T>(deviation + v, inverse);
    for (r = 0; r < rows; ++r)
      store<T>(y + r * panel<T> + v, (load<T>(x + r * panel<T> + v) - mean) * inverse);
  }
}

template <class T>
void normalise_backward(const T* y, const T* deviation, const T* dy, int rows, T* dx) {
  const T share = T(1) / static_cast<T>(rows);
  for (int v = 0; v < panel<T>; v += lanes<T>) {
    Vector<T> sum{}, product{};
    for (int r = 0; r < rows; ++r) {
      const Vector<T> g = load<T>(dy + r * panel<T> + v);
      sum += g;
      product += g * load<T>(y + r * panel<T> + v);
    }
    sum *= share;
    product *= share;
    const Vector<T> inverse = load<T>(deviation + v);
    for (int r = 0; r < rows; ++r) {
      T* out = dx + r * panel<T> + v;
      const Vector<T> g = load<T>(dy + r * panel<T> + v);
      store<T>(out, load<T>(out) + inverse * (g - sum - load<T>(y + r * panel<T> + v) * product));
    }
  }
}

template <class T>
void affine(T* y, int rows, const T* gain, const T* shift) {
  for (int r = 0; r < rows; ++r)
    for (int v = 0; v < panel<T>; v += lanes<T>) {
      T* p = y + r * panel<T> + v;
      store<T>(p, load<T>(p) * gain[r] + shift[r]);
    }
}

template <class T>
void clear_absent(const T* share, int rows, T* x) {
  for (int v = 0; v < panel<T>; v += lanes<T>) {
    const auto present = load<T>(share + v) > T(0);
    for (int r = 0; r < rows; ++r) {
      T* p = x + r * panel<T> + v;
      store<T>(p, present ? load<T>(p) : Vector<T>{});
    }
  }
}

template <class T>
void add(const T* x, int rows, T* y) {
  for (int i = 0; i < rows * panel<T>; i += lanes<T>)
    store<T>(y + i, load<T>(y + i) + load<T>(x + i));
}

template <class T>
void exponentials(T* x, int rows, T* inverse_sum) {
  Vector<T> largest[vectors];
  for (int v = 0; v < vectors; ++v) largest[v] = load<T>(x + v * lanes<T>);
  for (int r = 1; r < rows; ++r)
    for (int v = 0; v < vectors; ++v)
      largest[v] = larger(load<T>(x + r * panel<T> + v * lanes<T>), largest[v]);
  Vector<T> sum[vectors] = {};
  for (int r = 0; r < rows; ++r)
    for (int v = 0; v < vectors; ++v) {
      T* p = x + r * panel<T> + v * lanes<T>;
      const Vector<T> e = power_of_two<T>(load<T>(p) - largest[v]);
      sum[v] += e;
      store<T>(p, e);
    }
  for (int v = 0; v < vectors; ++v) store<T>(inverse_sum + v * lanes<T>, T(1) / sum[v]);
}

template <class T>
void exponentials_along(T* x, int rows, const T* share, T* largest, T* factor) {
  const T none = -T(__builtin_inf());
  for (int r = 0; r < rows; ++r) {
    T* row = x + r * panel<T>;
    T most = largest[r];
    for (int p = 0; p < panel<T>; ++p)
      if (share[p] > T(0) && row[p] > most) most = row[p];
    if (most == none) {
      for (int p = 0; p < panel<T>; ++p) row[p] = T(0);
      factor[r] = T(1);
      continue;
    }
    factor[r] = largest[r] == none ? T(0) : power_of_two<T>(broadcast<T>(largest[r] - most))[0];
    largest[r] = most;
    for (int v = 0; v < panel<T>; v += lanes<T>) {
      const Vector<T> e = power_of_two<T>(load<T>(row + v) - most);
      store<T>(row + v, load<T>(share + v) > T(0) ? e : Vector<T>{});
    }
  }
}

template <class T>
void softmax_backward(const T* e, const T* inverse_sum, int rows, T* gradient) {
  const T ln2 = T(0.693147180559945309);
  for (int v = 0; v < panel<T>; v += lanes<T>) {
    const Vector<T> inverse = load<T>(inverse_sum + v);
    Vector<T> mean{};
    for (int r = 0; r < rows; ++r)
      mean += load<T>(e + r * panel<T> + v) * load<T>(gradient + r * panel<T> + v);
    mean *= inverse;
    for (int r = 0; r < rows; ++r) {
      T* p = gradient + r * panel<T> + v;
      store<T>(p, ln2 * inverse * load<T>(e + r * panel<T> + v) * (load<T>(p) - mean));
    }
  }
}

template <class T>
void scale_points(const T* x, const T* scale, int rows, T* y) {
  for (int r = 0; r < rows; ++r)
    for (int v = 0; v < panel<T>; v += lanes<T>)
      store<T>(y + r * panel<T> + v, load<T>(x + r * panel<T> + v) * load<T>(scale + v));
}

constexpr int round_up(int count, int multiple) {
  return (count + multiple - 1) / multiple * multiple;
}

template <class T>
void transpose(const T* x, int columns, const T* scale, T* y) {
  constexpr int L = lanes<T>;
  const int padded = round_up(columns, L);
  for (int v = 0; v < panel<T>; v += L) {
    const Vector<T> factor = scale ? load<T>(scale + v) : broadcast<T>(1);
    for (int c = 0; c < padded; c += L) {
      // A square of registers, transposed through the cache's nearest level.
      alignas(64) T square[L * L];
      for (int r = 0; r < L; ++r)
        store<T>(square + r * L,
                 c + r < columns ? load<T>(x + (c + r) * panel<T> + v) * factor : Vector<T>{});
      for (int point = 0; point < L; ++point) {
        T* out = y + (v + point) * padded + c;
        for (int r = 0; r < L; ++r) out[r] = square[r * L + point];
      }
    }
  }
}

template <class T, int rows, int columns>
inline void accumulate_tile(const T* __restrict r, const T* __restrict points, int stride,
                            T* __restrict sums) {
  Vector<T> sum[rows][columns] = {};
  for (int p = 0; p < panel<T>; ++p) {
    Vector<T> in[columns];
    for (int c = 0; c < columns; ++c) {
      in[c] = load<T>(points + p * stride + c * lanes<T>);
      in_register(in[c]);
    }
    for (int i = 0; i < rows; ++i) {
      Vector<T> factor = broadcast<T>(r[i * panel<T> + p]);
      if (columns > 1) in_register(factor);
      for (int c = 0; c < columns; ++c) sum[i][c] += factor * in[c];
    }
  }
  for (int i = 0; i < rows; ++i)
    for (int c = 0; c < columns; ++c) {
      T* out = sums + i * stride + c * lanes<T>;
      store<T>(out, load<T>(out) + sum[i][c]);
    }
}

template <class T>
void accumulate(const T* rows, int row_count, const T* points, int columns, T* sums) {
  constexpr int L = lanes<T>;
  constexpr int tile = FUNCATTN_KERNEL_ROWS;
  const int stride = round_up(columns, L);
  for (int r = 0; r < row_count; r += panel_row_group) {
    int c = 0;
    for (; c + 2 * L <= stride; c += 2 * L)
      for (int i = r; i < r + panel_row_group; i += tile)
        accumulate_tile<T, tile, 2>(rows + i * panel<T>, points + c, stride,
                                    sums + static_cast<long>(i) * stride + c);
    if (c < stride)
      accumulate_tile<T, panel_row_group, 1>(rows + r * panel<T>, points + c, stride,
                                             sums + static_cast<long>(r) * stride + c);
  }
}

template <class T>
void accumulate_rows(const T* rows, int row_count, const T* scale, T* sums) {
  Vector<T> factor[vectors];
  for (int v = 0; v < vectors; ++v)
    factor[v] = scale ? load<T>(scale + v * lanes<T>) : broadcast<T>(1);
  for (int r = 0; r < row_count; ++r) {
    Vector<T> sum = load<T>(sums + r * lanes<T>);
    for (int v = 0; v < vectors; ++v)
      sum += load<T>(rows + r * panel<T> + v * lanes<T>) * factor[v];
    store<T>(sums + r * lanes<T>, sum);
  }
}

template <class T>
void load_points(const T* data, long stride, int count, int features, T* x) {
  for (int f = 0; f < features; ++f) {
    T* row = x + f * panel<T>;
    for (int p = 0; p < count; ++p) row[p] = data[p * stride + f];
    for (int p = count; p < panel<T>; ++p) row[p] = T(0);
  }
}

template <class T>
void store_points(const T* x, int count, int features, T* data, long stride) {
  for (int f = 0; f < features; ++f)
    for (int p = 0; p < count; ++p) data[p * stride + f] = x[f * panel<T> + p];
}

template <class T>
const PanelKernels<T>& table() {
  static constexpr PanelKernels<T> kernels = {FUNCATTN_KERNEL_NAME,
                                              panel<T>,
                                              lanes<T>,
                                              linear<T>,
                                              normalise<T>,
                                              affine<T>,
                                              add<T>,
                                              clear_absent<T>,
                                              activate<T>,
                                              activate_backward<T>,
                                              exponentials<T>,
                                              exponentials_along<T>,
                                              transpose<T>,
                                              accumulate<T>,
                                              accumulate_rows<T>,
                                              normalise_backward<T>,
                                              softmax_backward<T>,
                                              scale_points<T>,
                                              load_points<T>,
                                              store_points<T>};
  return kernels;
}

}  // namespace FUNCATTN_KERNEL_NAMESPACE
}  // namespace funcattn
