#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "meshio/ply_header.h"
#include "meshio/text_lines.h"

namespace funcattn {

/// Walks through the numbers of a PLY file behind its header. In text each row begins on a line of
/// its own, and may go on over several.
/// Everything throws DataError where the file ends early or a number is not of its type.
class PlyValues {
 public:
  /// @param lines at the last line of the header
  PlyValues(const std::string& bytes, TextLines lines, PlyStorage storage);

  /// Throws DataError if so many rows cannot be in a file of this size.
  void require_room(const PlyElement& element) const;

  void begin_row(const PlyElement& element, std::int64_t row);
  double number(const PlyScalar& type);  ///< Every type of PLY fits into a double.
  /// Number of entries of a list. They are in the file, unless it is cut inside a line.
  std::int64_t list_length(const PlyProperty& list);
  void end_row() const;

  /// Throws DataError if anything but blank lines is left.
  void finish();

 private:
  bool next_words();  ///< Of the next line that is not empty; false at the end.
  double text_number(std::string_view word, const PlyScalar& type) const;
  double binary_number(const PlyScalar& type);

  const std::string& bytes_;
  TextLines lines_;
  PlyStorage storage_;
  std::size_t at_;                       ///< In a binary file.
  std::vector<std::string_view> words_;  ///< Of the line in text.
  std::size_t word_ = 0;
  std::int64_t row_line_ = 0;  ///< Number of the line on which the row begins.
};

}  // namespace funcattn
