#include "operators/engine/reduction.h"

#include <cmath>
#include <limits>

namespace funcattn {

namespace {

// A term is cut into limbs of so many bits; in a 64-bit integer, 2^22 of them add up without loss.
constexpr int limb_bits = 40;
constexpr std::size_t limbs = 3;

}  // namespace

void Reduction::maximum(std::vector<double>& values) const {
  if (processes_) processes_->maximum(values.data(), values.size());
}

std::vector<double> Reduction::total(const std::vector<std::vector<double>>& terms,
                                     std::size_t count) const {
  if (fixed_order_) return exact_total(terms, count);
  std::vector<double> sums(count, 0.0);
  for (const std::vector<double>& term : terms)
    for (std::size_t i = 0; i < count; ++i) sums[i] += term[i];
  if (processes_) processes_->sum(sums.data(), count);
  return sums;
}

std::vector<double> Reduction::exact_total(const std::vector<std::vector<double>>& terms,
                                           std::size_t count) const {
  std::vector<double> largest(count, 0.0);
  for (const std::vector<double>& term : terms)
    for (std::size_t i = 0; i < count; ++i) {
      const double size = std::abs(term[i]);
      if (!(size <= largest[i]))
        largest[i] = std::isfinite(size) ? size : std::numeric_limits<double>::infinity();
    }
  maximum(largest);
  std::vector<int> exponents(count, 0);  // |term| < 2^exponent
  for (std::size_t i = 0; i < count; ++i)
    if (std::isfinite(largest[i])) (void)std::frexp(largest[i], &exponents[i]);

  std::vector<std::int64_t> parts(limbs * count, 0);
  for (const std::vector<double>& term : terms)
    for (std::size_t i = 0; i < count; ++i) {
      if (!std::isfinite(largest[i])) continue;
      double rest = std::ldexp(term[i], -exponents[i]);
      for (std::size_t limb = 0; limb < limbs; ++limb) {
        rest = std::ldexp(rest, limb_bits);
        const double whole = std::trunc(rest);
        parts[limb * count + i] += static_cast<std::int64_t>(whole);
        rest -= whole;
      }
    }
  if (processes_) processes_->sum(parts.data(), parts.size());

  std::vector<double> sums(count);
  for (std::size_t i = 0; i < count; ++i) {
    if (!std::isfinite(largest[i])) {
      sums[i] = std::numeric_limits<double>::quiet_NaN();
      continue;
    }
    double sum = 0;  // From the last limb up, so that little is lost.
    for (std::size_t limb = limbs; limb-- > 0;)
      sum = std::ldexp(sum + static_cast<double>(parts[limb * count + i]), -limb_bits);
    sums[i] = std::ldexp(sum, exponents[i]);
  }
  return sums;
}

}  // namespace funcattn
