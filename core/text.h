#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace funcattn {

/// Shortest decimal text that reads back as the same double; independent of the locale.
std::string format_number(double value);

/// `value` with `digits` significant digits, for people; independent of the locale.
std::string format_significant(double value, int digits);

/// Whole text as a double, or nothing. Accepts "nan" and "inf"; independent of the locale.
std::optional<double> parse_double(std::string_view text);

/// Whole text as an integer, or nothing.
std::optional<std::int64_t> parse_integer(std::string_view text);

/// `text` with control characters (line breaks, tabs, escapes that a terminal obeys) written as
/// \\n,
/// \\t, \\x1b, so that it is one harmless line. UTF-8 stays as it is.
std::string printable(std::string_view text);

/// Items joined by `separator`.
std::string join(const std::vector<std::string>& items, std::string_view separator);

/// The candidate nearest to `word` by edit distance, or nothing if none is near enough to be a
/// likely slip of the keyboard.
std::optional<std::string> closest_match(std::string_view word,
                                         const std::vector<std::string>& candidates);

}  // namespace funcattn
