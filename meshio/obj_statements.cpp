#include "meshio/obj_statements.h"

#include <algorithm>
#include <array>
#include <limits>

#include "core/error.h"
#include "core/text.h"
#include "meshio/number_word.h"

namespace funcattn {

namespace {

/// Name that VTK's reader gives to the material of cells before the first one.
constexpr const char* kNoMaterial = "NO_MATERIAL";

template <std::size_t n>
bool is_one_of(std::string_view word, const std::array<std::string_view, n>& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// Old Macintosh programs end lines with CR alone.
char line_end_of(std::string_view text) {
  return text.find('\n') == std::string_view::npos ? '\r' : '\n';
}

class ObjReader {
 public:
  explicit ObjReader(std::string_view text) : lines_(text, line_end_of(text)) {}

  ObjContents run() {
    contents_.points.width = contents_.normals.width = 3;
    contents_.textures.width = 3;
    while (next_statement())
      if (!words_.empty()) read_statement();
    if (contents_.points.count() == 0)
      throw DataError("it is no OBJ file: it has no line 'v x y z'");
    require(points_ahead_, contents_.points, "point");
    require(textures_ahead_, contents_.textures, "texture coordinate");
    require(normals_ahead_, contents_.normals, "normal");
    drop_third_texture_coordinate();
    pad_colours(contents_.points.count());
    return contents_;
  }

 private:
  DataError wrong(const std::string& what) const { return DataError(lines_.where() + " " + what); }

  /// Joins lines that end in a backslash.
  bool next_statement() {
    words_.clear();
    for (bool more = true; more;) {
      if (!lines_.next()) return !words_.empty();
      if (lines_.line().find('\0') != std::string_view::npos)
        throw wrong("holds a zero byte; it is no text file or damaged");
      const auto words = lines_.words();
      more = !words.empty() && words.back().back() == '\\' && words.front().front() != '#';
      words_.insert(words_.end(), words.begin(), words.end());
      if (!more) continue;
      words_.back().remove_suffix(1);
      if (words_.back().empty()) words_.pop_back();
    }
    return true;
  }

  void read_statement() {
    const std::string_view keyword = words_[0];
    if (keyword.front() == '#') return;
    constexpr std::array<std::string_view, 6> numeric = {"v", "vt", "vn", "f", "l", "p"};
    // In names of groups and materials the mark stands for itself.
    if (is_one_of(keyword, numeric)) remove_comment();
    // Names, smoothing, looks, and what belongs to curves and surfaces, which have none without.
    constexpr std::array<std::string_view, 24> without_geometry = {
        "o",          "s",         "mg",     "vp",   "lod",  "bevel", "c_interp", "d_interp",
        "usemap",     "maplib",    "cstype", "deg",  "bmat", "step",  "parm",     "trim",
        "shadow_obj", "trace_obj", "hole",   "scrv", "sp",   "end",   "con",      "ctech"};
    constexpr std::array<std::string_view, 3> shapes = {"curv", "curv2", "surf"};
    if (keyword == "v") {
      read_point();
    } else if (keyword == "vt") {
      read_numbers(1, 3, contents_.textures);
      has_third_ = has_third_ || words_.size() > 3;
    } else if (keyword == "vn") {
      read_numbers(3, 3, contents_.normals);
    } else if (keyword == "f") {
      read_cell(3, contents_.faces);
    } else if (keyword == "l") {
      read_cell(2, contents_.lines);
    } else if (keyword == "p") {
      read_points();
    } else if (keyword == "g") {
      ++group_;
    } else if (keyword == "usemtl") {
      contents_.has_materials = true;
      material_ = number_of_material(words_.size() > 1 ? rest() : kNoMaterial);
    } else if (keyword == "mtllib") {
      contents_.libraries.push_back(rest());
    } else if (is_one_of(keyword, shapes)) {
      throw wrong("is a curve or a surface, which is not read; make polygons of it");
    } else if (!is_one_of(keyword, without_geometry)) {
      throw wrong("is no statement of an OBJ file; the file is damaged");
    }
  }

  std::string rest() const {
    std::vector<std::string> words(words_.begin() + 1, words_.end());
    return join(words, " ");
  }

  void remove_comment() {
    for (std::size_t i = 0; i < words_.size(); ++i) {
      const auto mark = words_[i].find('#');
      if (mark == std::string_view::npos) continue;
      words_[i] = words_[i].substr(0, mark);
      words_.resize(words_[i].empty() ? i : i + 1);
      return;
    }
  }

  double number(std::string_view word) const {
    if (const auto value = parse_double(word)) return *value;
    if (is_number(word, NumberKind::float64)) return 0;  // Too near to zero for a double.
    throw wrong("holds '" + std::string(word.substr(0, 40)) +
                "', expected a number; the file is damaged");
  }

  void read_numbers(std::size_t least, std::size_t most, ObjNumbers& numbers) {
    const std::size_t given = words_.size() - 1;
    if (given < least || given > most)
      throw wrong("has " + std::to_string(given) + " numbers, expected " + std::to_string(least) +
                  (most > least ? " to " + std::to_string(most) : ""));
    for (std::size_t i = 0; i < numbers.width; ++i)
      numbers.values.push_back(i < given ? number(words_[i + 1]) : 0);
  }

  /// "v x y z", with a weight for curves and surfaces, or with a colour of three or four numbers.
  void read_point() {
    const std::size_t given = words_.size() - 1;
    if (given < 3 || given == 5 || given > 7)
      throw wrong("has " + std::to_string(given) +
                  " numbers, expected 3, or 6 or 7 with a colour, or 4 with a weight");
    for (std::size_t i = 0; i < 3; ++i) contents_.points.values.push_back(number(words_[i + 1]));
    if (given == 4) number(words_[4]);
    if (given < 6) return;
    ObjNumbers& colours = contents_.colours;
    if (colours.width == 0) colours.width = given - 3;
    if (colours.width != given - 3)
      throw wrong("has a colour of " + std::to_string(given - 3) + " numbers, those before have " +
                  std::to_string(colours.width));
    pad_colours(contents_.points.count() - 1);
    for (std::size_t i = 3; i < given; ++i) colours.values.push_back(number(words_[i + 1]));
  }

  void pad_colours(std::int64_t count) {
    ObjNumbers& colours = contents_.colours;
    colours.values.resize(static_cast<std::size_t>(count) * colours.width,
                          std::numeric_limits<double>::quiet_NaN());
  }

  void drop_third_texture_coordinate() {
    if (has_third_) return;
    ObjNumbers two{2, {}};
    for (std::size_t i = 0; i < contents_.textures.values.size(); ++i)
      if (i % 3 < 2) two.values.push_back(contents_.textures.values[i]);
    contents_.textures = two;
  }

  int number_of_material(const std::string& name) {
    auto& names = contents_.materials;
    const auto found = std::find(names.begin(), names.end(), name);
    const auto number = static_cast<int>(found - names.begin());
    if (found == names.end()) names.push_back(name);
    return number;
  }

  /// Every point of the statement is a cell.
  void read_points() {
    const auto words = words_;
    if (words.size() < 2) read_cell(1, contents_.verts);
    for (std::size_t i = 1; i < words.size(); ++i) {
      words_ = {words[0], words[i]};
      read_cell(1, contents_.verts);
    }
  }

  void read_cell(std::size_t least, ObjCells& cells) {
    if (words_.size() < least + 1)
      throw wrong("is a cell of " + std::to_string(words_.size() - 1) +
                  " points, expected at least " + std::to_string(least));
    for (std::size_t i = 1; i < words_.size(); ++i) cells.corners.push_back(corner(words_[i]));
    cells.ends.push_back(cells.corners.size());
    if (group_ < 0) group_ = 0;
    if (material_ < 0) material_ = number_of_material(kNoMaterial);
    cells.groups.push_back(group_);
    cells.materials.push_back(material_);
  }

  /// "point", "point/texture", "point//normal" or "point/texture/normal".
  ObjCorner corner(std::string_view word) {
    std::array<std::string_view, 3> parts;
    for (std::size_t part = 0; part < 3; ++part) {
      const auto slash = part < 2 ? word.find('/') : std::string_view::npos;
      parts[part] = word.substr(0, slash);
      word = slash == std::string_view::npos ? std::string_view() : word.substr(slash + 1);
    }
    ObjCorner corner;
    corner.point = index(parts[0], contents_.points, "point", points_ahead_);
    if (!parts[1].empty())
      corner.texture = index(parts[1], contents_.textures, "texture coordinate", textures_ahead_);
    if (!parts[2].empty())
      corner.normal = index(parts[2], contents_.normals, "normal", normals_ahead_);
    return corner;
  }

  /// The largest index of one kind that was not there yet when it was named.
  struct Ahead {
    std::int64_t index = 0;
    std::string where;
  };

  static DataError missing(const std::string& where, std::string_view index,
                           const ObjNumbers& numbers, const char* what) {
    return DataError(where + " uses " + what + " '" + std::string(index.substr(0, 40)) +
                     "', but there are " + std::to_string(numbers.count()));
  }

  /// An index counts from 1, or, negative, back from the latest.
  std::int64_t index(std::string_view text, const ObjNumbers& numbers, const char* what,
                     Ahead& ahead) const {
    const auto value = parse_integer(text);
    if (!value || *value == 0 || *value < -numbers.count())
      throw missing(lines_.where(), text, numbers, what);
    if (*value > numbers.count() && *value > ahead.index) ahead = {*value, lines_.where()};
    return *value > 0 ? *value - 1 : numbers.count() + *value;
  }

  static void require(const Ahead& ahead, const ObjNumbers& numbers, const char* what) {
    if (ahead.index > numbers.count())
      throw missing(ahead.where, std::to_string(ahead.index), numbers, what);
  }

  TextLines lines_;
  std::vector<std::string_view> words_;
  ObjContents contents_;
  Ahead points_ahead_;
  Ahead textures_ahead_;
  Ahead normals_ahead_;
  int group_ = -1;
  int material_ = -1;
  bool has_third_ = false;
};

}  // namespace

ObjContents read_obj_statements(const std::string& text) {
  constexpr std::string_view mark = "\xEF\xBB\xBF";  // Of UTF-8 text, by editors of Windows.
  std::string_view statements = text;
  if (statements.substr(0, mark.size()) == mark) statements.remove_prefix(mark.size());
  return ObjReader(statements).run();
}

}  // namespace funcattn
