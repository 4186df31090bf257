#include "operators/engine/basis_sums.h"

namespace funcattn {

Tensor BasisSums::product_tensor(const double* sums) const {
  Tensor result = at::empty({1, heads_, functions_, channels_}, torch::kFloat64);
  double* out = result.data_ptr<double>();
  for (int h = 0; h < heads_; ++h)
    for (int j = 0; j < functions_; ++j) {
      const double* row = sums + products(h) + static_cast<std::size_t>(j) * columns_;
      out = std::copy(row, row + channels_, out);
    }
  return result;
}

Tensor BasisSums::mass_tensor(const double* sums) const {
  Tensor result = at::empty({1, heads_, functions_, 1}, torch::kFloat64);
  double* out = result.data_ptr<double>();
  for (int h = 0; h < heads_; ++h)
    for (int j = 0; j < functions_; ++j) *out++ = mass_of(sums, h, j);
  return result;
}

double BasisSums::mass_of(const double* sums, int head, int function) const {
  const double* row =
      sums + mass(head) + static_cast<std::size_t>(function) * static_cast<std::size_t>(lanes_);
  double total = 0;
  for (int lane = 0; lane < lanes_; ++lane) total += row[lane];
  return total;
}

void BasisSums::pack(const double* sums, double* packed) const {
  for (int h = 0; h < heads_; ++h)
    for (int j = 0; j < functions_; ++j) {
      const double* row = sums + products(h) + static_cast<std::size_t>(j) * columns_;
      packed = std::copy(row, row + channels_, packed);
      *packed++ = mass_of(sums, h, j);
    }
}

void BasisSums::unpack(const double* packed, double* sums) const {
  std::fill_n(sums, size(), 0.0);
  for (int h = 0; h < heads_; ++h)
    for (int j = 0; j < functions_; ++j) {
      std::copy_n(packed, channels_, sums + products(h) + static_cast<std::size_t>(j) * columns_);
      packed += channels_;
      sums[mass(h) + static_cast<std::size_t>(j) * static_cast<std::size_t>(lanes_)] = *packed++;
    }
}

Tensor BasisSums::coefficients(const double* sums, Coefficients kind,
                               double reference_points) const {
  const Tensor products = product_tensor(sums);
  if (kind != Coefficients::mean) return products;
  return mean_coefficients(products, mass_tensor(sums), reference_points);
}

template <class T>
Transported<T> pack_transported(const Tensor& moved) {
  Transported<T> maps;
  for (std::int64_t head = 0; head < moved.size(1); ++head)
    maps.emplace_back(moved.select(0, 0).select(0, head).t(), Tensor());
  return maps;
}

template Transported<float> pack_transported<float>(const Tensor&);
template Transported<double> pack_transported<double>(const Tensor&);

}  // namespace funcattn
