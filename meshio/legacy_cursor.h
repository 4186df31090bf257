#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace funcattn {

/// VTK reads words and lines of legacy files into buffers of this length and a zero byte.
inline constexpr std::size_t kLongestLegacyWord = 255;

/// Walks through the content of a legacy VTK file. Everything throws DataError where the content
/// ends early or is not what it must be.
class LegacyCursor {
 public:
  explicit LegacyCursor(std::string content) : content_(std::move(content)) {}

  void set_binary(bool binary) { binary_ = binary; }
  bool binary() const { return binary_; }

  std::string line();
  /// Next word; it must be followed by white space, else it may have been cut short.
  std::string word();
  std::string keyword();       ///< Next word in upper case; empty at the end of the file.
  std::string peek_keyword();  ///< The same without moving on.
  std::int64_t count();        ///< Next word as an integer >= 0.
  std::int64_t integer();      ///< Next word as an integer.
  std::string rest_of_line();  ///< Words left on this line, without moving to the next one.

  /// Skips `count` values of a legacy type ("float", "vtkIdType", ...), checking that they are all
  /// there and, in text, that they are finite numbers.
  void skip_values(std::int64_t count, const std::string& type, const std::string& what);
  /// Reads `count` integers.
  std::vector<std::int64_t> read_integers(std::int64_t count, const std::string& type,
                                          const std::string& what);
  /// Skips a METADATA block, which a blank line ends, of an array with so many components.
  void skip_metadata(std::int64_t components);

 private:
  std::string_view take_binary(std::int64_t count, std::int64_t size, const std::string& what);
  void require_line_end(std::string_view taken, const std::string& what) const;
  void skip_strings(std::int64_t count, const std::string& what);
  std::string_view next_word();

  std::string content_;
  std::size_t at_ = 0;
  bool binary_ = false;
};

}  // namespace funcattn
