#include <algorithm>
#include <array>

#include "core/error.h"
#include "core/text.h"
#include "meshio/inspection.h"
#include "meshio/text_lines.h"

namespace funcattn {

namespace {

/// VTK reads lines into a buffer of this length.
constexpr std::size_t kLongestLine = 100'000;

/// Numbers of points, texture coordinates and normals so far.
struct Counts {
  std::int64_t points = 0;
  std::int64_t textures = 0;
  std::int64_t normals = 0;
};

/// An index counts from 1, or, negative, back from the latest.
void check_index(std::string_view text, std::int64_t count, const std::string& what,
                 const TextLines& lines) {
  const auto value = parse_integer(text);
  if (!value || *value == 0 || *value > count || *value < -count)
    throw DataError(lines.where() + " uses " + what + " '" + std::string(text.substr(0, 40)) +
                    "', but there are " + std::to_string(count) + " up to there");
}

/// "point", "point/texture", "point//normal" or "point/texture/normal".
void check_corner(std::string_view word, const Counts& counts, const TextLines& lines) {
  const auto first = word.find('/');
  check_index(word.substr(0, first), counts.points, "point", lines);
  if (first == std::string_view::npos) return;
  const auto second = word.find('/', first + 1);
  const std::string_view texture =
      word.substr(first + 1, second == std::string_view::npos ? second : second - first - 1);
  if (!texture.empty()) check_index(texture, counts.textures, "texture coordinate", lines);
  if (second == std::string_view::npos) return;
  check_index(word.substr(second + 1), counts.normals, "normal", lines);
}

void check_numbers(const std::vector<std::string_view>& words, std::size_t least,
                   const TextLines& lines) {
  if (words.size() < least + 1)
    throw DataError(lines.where() + " has " + std::to_string(words.size() - 1) +
                    " numbers, expected at least " + std::to_string(least));
  for (std::size_t i = 1; i < words.size(); ++i)
    if (!parse_double(words[i]))
      throw DataError(lines.where() + " holds '" + std::string(words[i].substr(0, 40)) +
                      "', expected a number; the file is damaged");
}

}  // namespace

std::string without_trailing_comments(std::string obj_text) {
  TextLines lines(obj_text);
  std::string text;
  std::size_t taken = 0;
  while (lines.next()) {
    const auto words = lines.words();
    const auto comment = lines.line().find('#');
    if (words.empty() || comment == std::string_view::npos || comment == 0) continue;
    constexpr std::array<std::string_view, 6> numeric = {"v", "vt", "vn", "f", "l", "p"};
    // In names of groups and materials the mark stands for itself.
    if (std::find(numeric.begin(), numeric.end(), words[0]) == numeric.end()) continue;
    const auto begin = static_cast<std::size_t>(lines.line().data() - obj_text.data());
    text.append(obj_text, taken, begin + comment - taken);
    taken = begin + lines.line().size();
  }
  if (taken == 0) return obj_text;
  return text.append(obj_text, taken, std::string::npos);
}

DeclaredContents inspect_obj(const std::string& text) {
  TextLines lines(text);
  DeclaredContents contents;
  contents.points = DeclaredContents::unknown;  // VTK doubles points with several normals.
  Counts counts;
  while (lines.next()) {
    if (lines.line().find('\0') != std::string_view::npos)
      throw DataError(lines.where() + " holds a zero byte; it is no text file or damaged");
    if (lines.line().size() >= kLongestLine)
      throw DataError(lines.where() + " is longer than VTK can read");
    if (!lines.line().empty() && lines.line().back() == '\\')
      throw DataError(lines.where() +
                      " continues on the next line, which is not supported; join "
                      "the two");
    const auto words = lines.words();
    if (words.empty() || words[0].front() == '#') continue;
    if (words[0] == "v") {
      check_numbers(words, 3, lines);
      ++counts.points;
    } else if (words[0] == "vt") {
      check_numbers(words, 2, lines);
      ++counts.textures;
    } else if (words[0] == "vn") {
      check_numbers(words, 3, lines);
      ++counts.normals;
    } else if (words[0] == "f" || words[0] == "l" || words[0] == "p") {
      const std::size_t least = words[0] == "f" ? 3 : words[0] == "l" ? 2 : 1;
      if (words.size() < least + 1)
        throw DataError(lines.where() + " is a cell of " + std::to_string(words.size() - 1) +
                        " points, expected at least " + std::to_string(least));
      for (std::size_t i = 1; i < words.size(); ++i) check_corner(words[i], counts, lines);
      ++contents.cells;
    } else {
      for (const char c : words[0])
        if (static_cast<unsigned char>(c) < ' ' || static_cast<unsigned char>(c) > 126)
          throw DataError(lines.where() + " is no statement of an OBJ file; the file is damaged");
    }
  }
  if (counts.points == 0) throw DataError("it is no OBJ file: it has no line 'v x y z'");
  return contents;
}

}  // namespace funcattn
