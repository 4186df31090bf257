#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace funcattn {

/// Lines of a text file, with their numbers for messages. Line ends are LF or CR LF, or, where
/// asked for, CR alone.
class TextLines {
 public:
  explicit TextLines(std::string_view text, char line_end = '\n')
      : text_(text), line_end_(line_end) {}

  /// Moves to the next line; false at the end. The last line need not end in LF.
  bool next();

  std::string_view line_end() const { return {&line_end_, 1}; }
  std::string_view line() const { return line_; }
  bool ended() const { return ended_; }         ///< Whether a line end follows behind this line.
  std::vector<std::string_view> words() const;  ///< Of this line, separated by blanks and tabs.
  std::int64_t number() const { return number_; }
  std::size_t position() const { return at_; }  ///< Of the first byte behind this line.

  std::string where() const { return "line " + std::to_string(number_); }

 private:
  std::string_view text_;
  char line_end_;
  std::string_view line_;
  std::size_t at_ = 0;
  std::int64_t number_ = 0;
  bool ended_ = false;
};

}  // namespace funcattn
