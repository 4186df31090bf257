#include <algorithm>
#include <cmath>
#include <optional>

#include "core/error.h"
#include "core/text.h"
#include "meshio/inspection.h"
#include "meshio/text_lines.h"

namespace funcattn {

namespace {

/// VTK reads lines into a buffer of 4096 bytes.
constexpr std::size_t kLongestLine = 4000;

struct ScalarKind {
  std::size_t size = 0;
  bool floating = false;
  bool is_signed = true;
};

std::optional<ScalarKind> scalar_kind(std::string_view name) {
  if (name == "char" || name == "int8") return ScalarKind{1, false, true};
  if (name == "uchar" || name == "uint8") return ScalarKind{1, false, false};
  if (name == "short" || name == "int16") return ScalarKind{2, false, true};
  if (name == "ushort" || name == "uint16") return ScalarKind{2, false, false};
  if (name == "int" || name == "int32") return ScalarKind{4, false, true};
  if (name == "uint" || name == "uint32") return ScalarKind{4, false, false};
  if (name == "float" || name == "float32") return ScalarKind{4, true, true};
  if (name == "double" || name == "float64") return ScalarKind{8, true, true};
  return std::nullopt;
}

struct Property {
  std::string name;
  ScalarKind kind;
  std::optional<ScalarKind> count;  ///< Of a list.
};

struct Element {
  std::string name;
  std::int64_t count = 0;
  std::vector<Property> properties;

  bool has(const std::string& property) const {
    return std::any_of(properties.begin(), properties.end(),
                       [&](const Property& candidate) { return candidate.name == property; });
  }
};

enum class Storage { text, little_endian, big_endian };

class PlyInspector {
 public:
  explicit PlyInspector(const std::string& bytes) : bytes_(bytes), lines_(bytes) {}

  DeclaredContents run() {
    read_header();
    for (const Element& element : elements_) {
      if (element.name == "vertex") contents_.points = element.count;
      if (element.name == "face") contents_.cells = element.count;
    }
    for (const Element& element : elements_)
      if (storage_ == Storage::text)
        check_text(element);
      else
        check_binary(element);
    if (storage_ != Storage::text && at_ != bytes_.size())
      throw DataError("something follows behind its last element; the file is damaged");
    return contents_;
  }

 private:
  static DataError damaged(const std::string& where, const std::string& what) {
    return DataError(where + " " + what + "; the file is damaged");
  }

  void read_header() {
    lines_.next();
    if (lines_.line() != "ply") throw DataError("it is no PLY file: it does not begin with 'ply'");
    bool has_format = false;
    for (;;) {
      if (!lines_.next()) throw DataError("it ends inside its header; the file is cut short");
      const auto words = lines_.words();
      if (words.empty()) throw damaged(lines_.where(), "of its header is empty");
      if (words[0] == "end_header") break;
      if (words[0] == "comment" || words[0] == "obj_info") continue;
      if (words[0] == "format" && words.size() == 3)
        has_format = read_format(words[1], words[2]);
      else if (words[0] == "element" && words.size() == 3)
        read_element(words);
      else if (words[0] == "property" && !elements_.empty())
        elements_.back().properties.push_back(property(words));
      else
        throw damaged(lines_.where(), "of its header is no statement of a PLY file");
    }
    at_ = lines_.position();
    if (!has_format) throw DataError("its header does not name the format; the file is damaged");
    const auto vertex = std::find_if(elements_.begin(), elements_.end(),
                                     [](const Element& e) { return e.name == "vertex"; });
    if (vertex == elements_.end() || !vertex->has("x") || !vertex->has("y") || !vertex->has("z"))
      throw DataError("its header declares no element 'vertex' with x, y and z");
    for (const Element& element : elements_)
      if (element.name == "face" && !element.has("vertex_indices") && !element.has("vertex_index"))
        throw DataError("its faces have no property 'vertex_indices'");
  }

  bool read_format(std::string_view name, std::string_view version) {
    if (version != "1.0")
      throw DataError("it is of version '" + std::string(version.substr(0, 20)) +
                      "', expected 1.0");
    if (name == "ascii")
      storage_ = Storage::text;
    else if (name == "binary_little_endian")
      storage_ = Storage::little_endian;
    else if (name == "binary_big_endian")
      storage_ = Storage::big_endian;
    else
      throw DataError("its format '" + std::string(name.substr(0, 40)) + "' is not known");
    return true;
  }

  void read_element(const std::vector<std::string_view>& words) {
    const auto count = parse_integer(words[2]);
    if (!count || *count < 0 || *count > INT32_MAX)
      throw damaged(lines_.where(), "of its header holds no number of elements");
    for (const Element& element : elements_)
      if (element.name == words[1])
        throw damaged(lines_.where(), "declares the element '" + element.name + "' twice");
    elements_.push_back({std::string(words[1]), *count, {}});
  }

  Property property(const std::vector<std::string_view>& words) const {
    const bool list = words.size() == 5 && words[1] == "list";
    if (!list && words.size() != 3) throw damaged(lines_.where(), "of its header is no property");
    const auto kind = scalar_kind(words[list ? 3 : 1]);
    const auto count = list ? scalar_kind(words[2]) : std::nullopt;
    if (!kind || (list && (!count || count->floating)))
      throw damaged(lines_.where(), "of its header names an unknown type");
    const std::string name(words.back());
    if (elements_.back().has(name))
      throw damaged(lines_.where(), "declares the property '" + name + "' twice");
    const bool listed = name == "vertex_indices" || name == "vertex_index";
    if (listed && elements_.back().name == "face" && (!list || kind->floating))
      throw DataError("its property '" + name + "' is no list of integers");
    return {name, *kind, count};
  }

  void check_id(double id, std::int64_t row) const {
    if (id < 0 || id >= static_cast<double>(contents_.points))
      throw DataError("cell " + std::to_string(row) + " uses point " + format_number(id) +
                      ", but the mesh has " + std::to_string(contents_.points) + " points");
  }

  static bool holds_ids(const Element& element, const Property& list) {
    return element.name == "face" && (list.name == "vertex_indices" || list.name == "vertex_index");
  }

  // ---- text: one line each ----

  double number(std::string_view word) const {
    const auto value = parse_double(word);
    if (!value)
      throw damaged(lines_.where(),
                    "holds '" + std::string(word.substr(0, 40)) + "', expected a number");
    if (!std::isfinite(*value))
      throw DataError(lines_.where() + " holds '" + std::string(word) +
                      "' as text, which VTK reads as wrong numbers; store it in binary form");
    return *value;
  }

  void check_text(const Element& element) {
    for (std::int64_t row = 0; row < element.count; ++row) {
      if (!lines_.next())
        throw DataError("it ends at " + element.name + " " + std::to_string(row) + " of " +
                        std::to_string(element.count) + "; the file is cut short");
      if (lines_.line().size() > kLongestLine)
        throw DataError(lines_.where() + " is longer than VTK can read; store it in binary form");
      const auto words = lines_.words();
      std::size_t at = 0;
      const auto next = [&] {
        if (at >= words.size()) throw damaged(lines_.where(), "ends early");
        return number(words[at++]);
      };
      for (const Property& property : element.properties) {
        if (!property.count) {
          next();
          continue;
        }
        const double count = next();
        if (count < 0 || count > static_cast<double>(words.size()))
          throw damaged(lines_.where(), "has an impossible number of list entries");
        for (int i = 0; i < static_cast<int>(count); ++i) {
          const double id = next();
          if (holds_ids(element, property)) check_id(id, row);
        }
      }
      if (at != words.size()) throw damaged(lines_.where(), "has more numbers than declared");
    }
  }

  // ---- binary ----

  double scalar(const ScalarKind& kind) {
    if (kind.size > bytes_.size() - at_)
      throw DataError("it ends inside its elements; the file is cut short");
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < kind.size; ++i) {
      const std::size_t byte = storage_ == Storage::big_endian ? i : kind.size - 1 - i;
      bits = (bits << 8) | static_cast<unsigned char>(bytes_[at_ + byte]);
    }
    at_ += kind.size;
    const std::size_t unused = 64 - 8 * kind.size;
    return kind.is_signed ? static_cast<double>(static_cast<std::int64_t>(bits << unused) >> unused)
                          : static_cast<double>(bits);
  }

  void skip(std::size_t size) {
    if (size > bytes_.size() - at_)
      throw DataError("it ends inside its elements; the file is cut short");
    at_ += size;
  }

  void check_binary(const Element& element) {
    for (std::int64_t row = 0; row < element.count; ++row)
      for (const Property& property : element.properties) {
        if (!property.count) {
          skip(property.kind.size);
          continue;
        }
        const double count = scalar(*property.count);
        if (count < 0) throw DataError("a list has a negative length; the file is damaged");
        if (!holds_ids(element, property)) {
          skip(static_cast<std::size_t>(count) * property.kind.size);
          continue;
        }
        for (double i = 0; i < count; ++i) check_id(scalar(property.kind), row);
      }
  }

  const std::string& bytes_;
  TextLines lines_;
  std::size_t at_ = 0;
  Storage storage_ = Storage::text;
  std::vector<Element> elements_;
  DeclaredContents contents_;
};

}  // namespace

DeclaredContents inspect_ply(const FileBytes& file) {
  const std::string bytes = file.read(0, file.size());
  return PlyInspector(bytes).run();
}

}  // namespace funcattn
