#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>

#include "core/error.h"
#include "core/text.h"
#include "meshio/inspection.h"
#include "meshio/signature.h"
#include "meshio/text_lines.h"

namespace funcattn {

namespace {

using Corner = std::array<float, 3>;

/// VTK joins equal corners and then leaves out triangles that collapse.
bool collapses(const std::array<Corner, 3>& corners) {
  return corners[0] == corners[1] || corners[1] == corners[2] || corners[2] == corners[0];
}

DeclaredContents inspect_binary(const std::string& bytes) {
  constexpr std::size_t header = 84;
  constexpr std::size_t triangle = 50;
  DeclaredContents contents;
  contents.points = DeclaredContents::unknown;
  for (std::size_t at = header; at + triangle <= bytes.size(); at += triangle) {
    std::array<Corner, 3> corners;
    std::memcpy(corners.data(), bytes.data() + at + 12, sizeof corners);
    if (!collapses(corners)) ++contents.cells;
  }
  return contents;
}

float coordinate(std::string_view word, const TextLines& lines) {
  const auto value = parse_double(word);
  if (!value)
    throw DataError(lines.where() + " holds '" + std::string(word.substr(0, 40)) +
                    "', expected a number; the file is damaged");
  return static_cast<float>(*value);
}

/// Walks through "facet normal, outer loop, three vertex, endloop, endfacet".
class TextInspector {
 public:
  explicit TextInspector(const std::string& text) : lines_(text) {}

  DeclaredContents run() {
    contents_.points = DeclaredContents::unknown;
    for (contents_.parts = 0; next_line(); ++contents_.parts) {
      expect("solid");
      for (advance(); !is("endsolid"); advance()) facet();
    }
    return contents_;
  }

 private:
  /// To the next line that is not blank; false at the end.
  bool next_line() {
    words_.clear();
    while (words_.empty() && lines_.next()) words_ = lines_.words();
    return !words_.empty();
  }
  void advance() {
    if (!next_line()) throw DataError("it ends before 'endsolid'; the file is cut short");
  }
  /// Whether the line begins with this keyword, in any case.
  bool is(std::string_view keyword) const {
    return std::equal(words_[0].begin(), words_[0].end(), keyword.begin(), keyword.end(),
                      [](unsigned char a, char b) { return std::tolower(a) == b; });
  }
  void expect(std::string_view keyword) const {
    if (!is(keyword))
      throw DataError(lines_.where() + " holds '" + std::string(words_[0].substr(0, 40)) +
                      "', expected '" + std::string(keyword) + "'; the file is damaged");
  }
  void facet() {
    expect("facet");
    if (words_.size() != 5)
      throw DataError(lines_.where() + " is no 'facet normal x y z'; the file is damaged");
    for (std::size_t i = 2; i < 5; ++i) coordinate(words_[i], lines_);
    advance();
    expect("outer");
    std::array<Corner, 3> corners;
    for (Corner& corner : corners) {
      advance();
      expect("vertex");
      if (words_.size() != 4)
        throw DataError(lines_.where() + " is no 'vertex x y z'; the file is damaged");
      for (std::size_t i = 0; i < 3; ++i) corner[i] = coordinate(words_[i + 1], lines_);
    }
    advance();
    expect("endloop");
    advance();
    expect("endfacet");
    if (!collapses(corners)) ++contents_.cells;
  }

  TextLines lines_;
  std::vector<std::string_view> words_;
  DeclaredContents contents_;
};

}  // namespace

DeclaredContents inspect_stl(const FileBytes& file) {
  const std::string bytes = file.read(0, file.size());
  if (binary_stl_size(file)) return inspect_binary(bytes);
  if (!is_text_stl(bytes))
    throw DataError(
        "it is no STL file, or it is cut short: it does not begin with 'solid', and "
        "its size does not fit the number of triangles of a binary file");
  return TextInspector(bytes).run();
}

}  // namespace funcattn
