#include "meshio/number_word.h"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>

namespace funcattn {

namespace {

template <class T>
bool is_integer(std::string_view word) {
  T value{};
  const auto result = std::from_chars(word.data(), word.data() + word.size(), value);
  return result.ec == std::errc{} && result.ptr == word.data() + word.size();
}

/// Of types that the language takes for characters.
template <class T>
bool is_small_integer(std::string_view word) {
  int value = 0;
  const auto result = std::from_chars(word.data(), word.data() + word.size(), value);
  return result.ec == std::errc{} && result.ptr == word.data() + word.size() &&
         value >= std::numeric_limits<T>::min() && value <= std::numeric_limits<T>::max();
}

bool is_floating(std::string_view word, double largest) {
  double value = 0;
  const auto result = std::from_chars(word.data(), word.data() + word.size(), value);
  if (result.ptr != word.data() + word.size()) return false;
  if (result.ec == std::errc::result_out_of_range)
    return word.find("e-") != word.npos || word.find("E-") != word.npos;
  return result.ec == std::errc{} && std::isfinite(value) && std::abs(value) <= largest;
}

}  // namespace

bool is_number(std::string_view word, NumberKind kind) {
  if (!word.empty() && word.front() == '+') word.remove_prefix(1);
  switch (kind) {
    case NumberKind::bit:
      return word == "0" || word == "1";
    case NumberKind::int8:
      return is_small_integer<std::int8_t>(word);
    case NumberKind::uint8:
      return is_small_integer<std::uint8_t>(word);
    case NumberKind::int16:
      return is_integer<std::int16_t>(word);
    case NumberKind::uint16:
      return is_integer<std::uint16_t>(word);
    case NumberKind::int32:
      return is_integer<std::int32_t>(word);
    case NumberKind::uint32:
      return is_integer<std::uint32_t>(word);
    case NumberKind::int64:
      return is_integer<std::int64_t>(word);
    case NumberKind::uint64:
      return is_integer<std::uint64_t>(word);
    case NumberKind::float32:
      return is_floating(word, static_cast<double>(std::numeric_limits<float>::max()));
    case NumberKind::float64:
      break;
  }
  return is_floating(word, std::numeric_limits<double>::max());
}

}  // namespace funcattn
