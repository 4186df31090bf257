#pragma once

#include <string_view>

namespace funcattn {

/// Kinds of numbers as VTK reads them from text with the stream operators: a word out of the range
/// of its type makes it stop, or crash, or, for types smaller than int, gives another number.
enum class NumberKind {
  bit,
  int8,
  uint8,
  int16,
  uint16,
  int32,
  uint32,
  int64,
  uint64,
  float32,
  float64
};

/// Whether the word is a number, finite and in the range of its kind. Numbers too close to zero for
/// a float are in range: they are read as zero.
bool is_number(std::string_view word, NumberKind kind);

}  // namespace funcattn
