#include "core/random.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"

namespace funcattn {

namespace {

constexpr double pi = 3.14159265358979323846;

std::uint64_t rotate_left(std::uint64_t word, int bits) {
  return (word << bits) | (word >> (64 - bits));
}

}  // namespace

RandomGenerator::RandomGenerator(std::uint64_t seed) {
  for (auto& word : words_) {
    seed += 0x9e3779b97f4a7c15u;
    std::uint64_t mixed = seed;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9u;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
    word = mixed ^ (mixed >> 31);
  }
}

std::uint64_t RandomGenerator::next() {
  const std::uint64_t result = rotate_left(words_[1] * 5, 7) * 9;
  const std::uint64_t shifted = words_[1] << 17;
  words_[2] ^= words_[0];
  words_[3] ^= words_[1];
  words_[1] ^= words_[2];
  words_[0] ^= words_[3];
  words_[2] ^= shifted;
  words_[3] = rotate_left(words_[3], 45);
  return result;
}

double RandomGenerator::uniform() {
  return static_cast<double>(next() >> 11) * 0x1.0p-53;
}

double RandomGenerator::normal() {
  const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
  return radius * std::cos(2.0 * pi * uniform());
}

std::uint64_t RandomGenerator::below(std::uint64_t bound) {
  // The lowest 2^64 mod bound numbers are refused, so that every remainder is equally likely.
  const std::uint64_t refused = (0 - bound) % bound;
  std::uint64_t word = next();
  while (word < refused) word = next();
  return word % bound;
}

Json RandomGenerator::state() const {
  return words_;
}

void RandomGenerator::restore(const Json& state) {
  const bool fits =
      state.is_array() && state.size() == words_.size() &&
      std::all_of(state.begin(), state.end(),
                  [](const Json& word) { return word.is_number_integer(); }) &&
      std::any_of(state.begin(), state.end(), [](const Json& word) { return word != 0; });
  if (!fits)
    throw OperatorFileError("the stored random state is damaged: expected four integers, found " +
                            state.dump());
  words_ = state.get<std::array<std::uint64_t, 4>>();
}

}  // namespace funcattn
