#include "meshio/legacy_cursor.h"

#include <algorithm>
#include <cctype>
#include <cmath>

#include "core/error.h"
#include "core/text.h"
#include "meshio/inspection.h"
#include "meshio/number_word.h"

namespace funcattn {

namespace {

constexpr const char* kWhitespace = " \t\r\n\f\v";

bool is_space(char c) {
  return std::string_view(kWhitespace).find(c) != std::string_view::npos;
}

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

/// Bytes of a value in a binary file; 0 for bits. vtkIdType is stored as a 32-bit integer.
std::int64_t binary_size(const std::string& type, const std::string& what) {
  const std::string name = lower(type);
  if (name == "bit") return 0;
  if (name == "char" || name == "signed_char" || name == "unsigned_char") return 1;
  if (name == "short" || name == "unsigned_short") return 2;
  if (name == "int" || name == "unsigned_int" || name == "float" || name == "vtkidtype") return 4;
  if (name == "long" || name == "unsigned_long" || name == "double" || name == "vtktypeint64" ||
      name == "vtktypeuint64")
    return 8;
  throw DataError(what + " is of the type '" + type + "', which is not known");
}

/// VTK reads vtkIdType from text as int.
NumberKind text_kind(const std::string& type) {
  if (type == "float") return NumberKind::float32;
  if (type == "double") return NumberKind::float64;
  if (type == "bit") return NumberKind::bit;
  if (type == "char" || type == "signed_char") return NumberKind::int8;
  if (type == "unsigned_char") return NumberKind::uint8;
  if (type == "short") return NumberKind::int16;
  if (type == "unsigned_short") return NumberKind::uint16;
  if (type == "unsigned_int") return NumberKind::uint32;
  if (type == "long" || type == "vtktypeint64") return NumberKind::int64;
  if (type == "unsigned_long" || type == "vtktypeuint64") return NumberKind::uint64;
  return NumberKind::int32;
}

}  // namespace

namespace {

/// Beyond its buffers VTK crashes.
void require_short(const std::string& text) {
  if (text.size() > kLongestLegacyWord)
    throw DataError("it holds '" + text.substr(0, 40) + "...', a name of " +
                    std::to_string(text.size()) + " bytes; VTK reads " +
                    std::to_string(kLongestLegacyWord) + " at most");
}

}  // namespace

std::string LegacyCursor::line() {
  const auto end = content_.find('\n', at_);
  if (end == std::string::npos) throw DataError("it ends early; the file is cut short");
  std::string text = content_.substr(at_, end - at_);
  if (!text.empty() && text.back() == '\r') text.pop_back();
  at_ = end + 1;
  return text;
}

std::string_view LegacyCursor::next_word() {
  const auto begin = content_.find_first_not_of(kWhitespace, at_);
  const auto end = begin == std::string::npos ? begin : content_.find_first_of(kWhitespace, begin);
  if (end == std::string::npos)
    throw DataError(
        "it ends early: the last word must be followed by a line end; the file is cut short");
  at_ = end;
  return std::string_view(content_).substr(begin, end - begin);
}

std::string LegacyCursor::word() {
  std::string text(next_word());
  require_short(text);
  return text;
}

std::string LegacyCursor::keyword() {
  if (content_.find_first_not_of(kWhitespace, at_) == std::string::npos) return {};
  return upper(word());
}

std::string LegacyCursor::peek_keyword() {
  const std::size_t here = at_;
  const std::string found = keyword();
  at_ = here;
  return found;
}

std::int64_t LegacyCursor::integer() {
  const std::string text = word();
  const auto value = parse_integer(text);
  if (!value)
    throw DataError("it holds '" + text.substr(0, 40) +
                    "' where an integer should stand; the file is damaged");
  return *value;
}

std::int64_t LegacyCursor::count() {
  const std::int64_t value = integer();
  if (value < 0)
    throw DataError("it declares the negative size " + std::to_string(value) +
                    "; the file is damaged");
  return value;
}

std::string LegacyCursor::rest_of_line() {
  const auto end = content_.find('\n', at_);
  if (end == std::string::npos) throw DataError("it ends early; the file is cut short");
  std::string text = content_.substr(at_, end - at_);
  at_ = end;
  const auto first = text.find_first_not_of(kWhitespace);
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(kWhitespace) + 1 - first);
}

std::string_view LegacyCursor::take_binary(std::int64_t count, std::int64_t size,
                                           const std::string& what) {
  line();  // Values begin behind the line of the header.
  const std::int64_t bytes = size == 0 ? (count + 7) / 8 : checked_product(count, size);
  if (static_cast<std::uint64_t>(bytes) > content_.size() - at_)
    throw DataError(what + " needs " + std::to_string(bytes) + " bytes, but only " +
                    std::to_string(content_.size() - at_) + " follow; the file is cut short");
  const std::string_view taken =
      std::string_view(content_).substr(at_, static_cast<std::size_t>(bytes));
  at_ += static_cast<std::size_t>(bytes);
  require_line_end(taken, what);
  return taken;
}

/// VTK ends every array with a line end, some writers end it with nothing. Where a byte is lost,
/// the line end stands inside; where one is added, a byte of the array stands before it.
void LegacyCursor::require_line_end(std::string_view taken, const std::string& what) const {
  if (taken.empty()) return;
  const bool ended = at_ < content_.size() && is_space(content_[at_]);
  const bool other = ended && content_[at_] != '\n' && content_[at_] != '\r';
  if (other || (!ended && taken.back() == '\n'))
    throw DataError(what + " of " + std::to_string(taken.size()) +
                    " bytes has no line end behind it, but " +
                    (other ? "one byte later" : "inside") + "; the file is damaged");
}

void LegacyCursor::skip_strings(std::int64_t count, const std::string& what) {
  line();
  for (std::int64_t i = 0; i < count; ++i) {
    if (!binary_) {
      line();
      continue;
    }
    // The two highest bits of the first byte tell how many bytes hold the length.
    const DataError cut(what + " ends early; the file is cut short");
    if (at_ >= content_.size()) throw cut;
    constexpr std::size_t widths[] = {8, 4, 2, 1};
    const std::size_t width = widths[static_cast<unsigned char>(content_[at_]) >> 6];
    if (width > content_.size() - at_) throw cut;
    std::uint64_t length = static_cast<unsigned char>(content_[at_]) & 0x3f;
    for (std::size_t byte = 1; byte < width; ++byte)
      length = (length << 8) | static_cast<unsigned char>(content_[at_ + byte]);
    at_ += width;
    if (length > content_.size() - at_) throw cut;
    at_ += static_cast<std::size_t>(length);
  }
}

void LegacyCursor::skip_values(std::int64_t count, const std::string& type,
                               const std::string& what) {
  const std::string name = lower(type);
  if (name == "string" || name == "utf8_string") return skip_strings(count, what);
  const std::int64_t size = binary_size(type, what);
  if (binary_) {
    take_binary(count, size, what);
    return;
  }
  const NumberKind kind = text_kind(name);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::string_view text = next_word();
    const auto value = parse_double(text);
    if (value && !std::isfinite(*value))
      throw DataError(what + " holds '" + std::string(text) +
                      "' as text, which VTK reads as wrong numbers; store it in binary or as XML");
    if (!is_number(text, kind))
      throw DataError(what + " holds '" + std::string(text.substr(0, 40)) + "' where value " +
                      std::to_string(i) + " of " + std::to_string(count) +
                      " should stand; the file is damaged");
  }
}

std::vector<std::int64_t> LegacyCursor::read_integers(std::int64_t count, const std::string& type,
                                                      const std::string& what) {
  std::vector<std::int64_t> values;
  const std::int64_t size = binary_size(type, what);
  if (!binary_) {
    for (std::int64_t i = 0; i < count; ++i) values.push_back(integer());
    return values;
  }
  if (size == 0) throw DataError(what + " holds bits, expected integers");
  const std::string_view bytes = take_binary(count, size, what);
  const auto width = static_cast<std::size_t>(size);
  for (std::size_t at = 0; at < bytes.size(); at += width) {
    std::uint64_t bits = 0;  // Legacy files are big endian.
    for (std::size_t i = 0; i < width; ++i)
      bits = (bits << 8) | static_cast<unsigned char>(bytes[at + i]);
    const std::size_t unused = 64 - 8 * width;
    values.push_back(static_cast<std::int64_t>(bits << unused) >> unused);
  }
  return values;
}

void LegacyCursor::skip_metadata(std::int64_t components) {
  const auto blank = [](const std::string& text) {
    return text.find_first_not_of(kWhitespace) == std::string::npos;
  };
  line();
  for (std::string text = line(); !blank(text); text = line()) {
    if (text.rfind("COMPONENT_NAMES", 0) == 0) {
      // VTK reads one line per component, whatever it holds.
      for (std::int64_t i = 0; i < components; ++i) require_short(line());
    } else if (text.rfind("INFORMATION", 0) == 0) {
      while (!blank(line())) {
      }
      return;
    } else {
      throw DataError("METADATA holds '" + text.substr(0, 40) +
                      "', expected COMPONENT_NAMES or INFORMATION; the file is damaged");
    }
  }
}

}  // namespace funcattn
