#include "meshio/ply_header.h"

#include <vtkType.h>

#include <algorithm>

#include "core/error.h"
#include "core/text.h"

namespace funcattn {

namespace {

std::optional<PlyScalar> scalar_named(std::string_view name) {
  using Kind = NumberKind;
  if (name == "char" || name == "int8") return PlyScalar{1, false, true, Kind::int8, VTK_TYPE_INT8};
  if (name == "uchar" || name == "uint8")
    return PlyScalar{1, false, false, Kind::uint8, VTK_TYPE_UINT8};
  if (name == "short" || name == "int16")
    return PlyScalar{2, false, true, Kind::int16, VTK_TYPE_INT16};
  if (name == "ushort" || name == "uint16")
    return PlyScalar{2, false, false, Kind::uint16, VTK_TYPE_UINT16};
  if (name == "int" || name == "int32")
    return PlyScalar{4, false, true, Kind::int32, VTK_TYPE_INT32};
  if (name == "uint" || name == "uint32")
    return PlyScalar{4, false, false, Kind::uint32, VTK_TYPE_UINT32};
  if (name == "float" || name == "float32")
    return PlyScalar{4, true, true, Kind::float32, VTK_TYPE_FLOAT32};
  if (name == "double" || name == "float64")
    return PlyScalar{8, true, true, Kind::float64, VTK_TYPE_FLOAT64};
  return std::nullopt;
}

template <class List>
auto find_named(const List& list, const std::string& name) {
  const auto found =
      std::find_if(list.begin(), list.end(), [&](const auto& item) { return item.name == name; });
  return found == list.end() ? nullptr : &*found;
}

class HeaderReader {
 public:
  explicit HeaderReader(TextLines& lines) : lines_(lines) {}

  PlyHeader run() {
    lines_.next();
    const auto first = lines_.words();
    if (first.size() != 1 || first[0] != "ply")
      throw DataError("it is no PLY file: it does not begin with 'ply'");
    for (;;) {
      if (!lines_.next()) throw DataError("it ends inside its header; the file is cut short");
      const auto words = lines_.words();
      if (words.empty()) throw damaged("is empty");
      if (words[0] == "end_header") break;
      if (words[0] == "comment" || words[0] == "obj_info") continue;
      if (words[0] == "format" && words.size() == 3)
        read_format(words[1], words[2]);
      else if (words[0] == "element" && words.size() == 3)
        read_element(words);
      else if (words[0] == "property" && !header_.elements.empty())
        header_.elements.back().properties.push_back(property(words));
      else
        throw damaged("is no statement of a PLY file");
    }
    // What has been read ends at the line end, which a file cut short lacks.
    if (!lines_.ended()) throw DataError("it ends inside its header; the file is cut short");
    check();
    return header_;
  }

 private:
  DataError damaged(const std::string& what) const {
    return DataError(lines_.where() + " of its header " + what + "; the file is damaged");
  }

  void check() const {
    if (!has_format_) throw DataError("its header does not name the format; the file is damaged");
    const PlyElement* vertex = header_.find("vertex");
    for (const char* axis : {"x", "y", "z"}) {
      const PlyProperty* property = vertex ? vertex->find(axis) : nullptr;
      if (!property || property->count)
        throw DataError("its header declares no element 'vertex' with x, y and z");
    }
    for (const PlyElement& element : header_.elements)
      if (element.rows > 0 && element.properties.empty())
        throw DataError("its element '" + element.name + "' has no properties");
    const PlyElement* face = header_.find("face");
    if (face && !face->find("vertex_indices") && !face->find("vertex_index"))
      throw DataError("its faces have no property 'vertex_indices'");
    const PlyElement* strips = header_.find("tristrips");
    if (strips && strips->rows > 0)
      throw DataError("it holds strips of triangles, which are not read; store them as faces");
  }

  void read_format(std::string_view name, std::string_view version) {
    if (version != "1.0")
      throw DataError("it is of version '" + std::string(version.substr(0, 20)) +
                      "', expected 1.0");
    if (name == "ascii")
      header_.storage = PlyStorage::text;
    else if (name == "binary_little_endian")
      header_.storage = PlyStorage::little_endian;
    else if (name == "binary_big_endian")
      header_.storage = PlyStorage::big_endian;
    else
      throw DataError("its format '" + std::string(name.substr(0, 40)) + "' is not known");
    has_format_ = true;
  }

  void read_element(const std::vector<std::string_view>& words) {
    const auto rows = parse_integer(words[2]);
    if (!rows || *rows < 0) throw damaged("holds no number of elements");
    const std::string name(words[1]);
    if (header_.find(name)) throw damaged("declares the element '" + name + "' twice");
    header_.elements.push_back({name, *rows, {}});
  }

  PlyProperty property(const std::vector<std::string_view>& words) const {
    const PlyElement& element = header_.elements.back();
    const bool list = words.size() == 5 && words[1] == "list";
    if (!list && words.size() != 3) throw damaged("is no property");
    const auto type = scalar_named(words[list ? 3 : 1]);
    const auto count = list ? scalar_named(words[2]) : std::nullopt;
    if (!type || (list && (!count || count->floating))) throw damaged("names an unknown type");
    const PlyProperty found{std::string(words.back()), *type, count};
    if (element.find(found.name)) throw damaged("declares the property '" + found.name + "' twice");
    if (lists_points(element, found) && (!list || type->floating))
      throw DataError("its property '" + found.name + "' is no list of integers");
    return found;
  }

  TextLines& lines_;
  PlyHeader header_;
  bool has_format_ = false;
};

}  // namespace

const PlyProperty* PlyElement::find(const std::string& property) const {
  return find_named(properties, property);
}

const PlyElement* PlyHeader::find(const std::string& element) const {
  return find_named(elements, element);
}

bool lists_points(const PlyElement& element, const PlyProperty& property) {
  return element.name == "face" &&
         (property.name == "vertex_indices" || property.name == "vertex_index");
}

PlyHeader read_ply_header(TextLines& lines) {
  return HeaderReader(lines).run();
}

}  // namespace funcattn
