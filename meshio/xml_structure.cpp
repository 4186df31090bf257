#include "meshio/xml_structure.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/text.h"

namespace funcattn {

namespace {

/// What may stand inside an element: names of elements, each once or, with a '*', any number of
/// times.
using Children = std::vector<std::string>;

/// By the element's name; what an element may hold hardly depends on where it stands.
const std::map<std::string, Children>& grammar() {
  static const Children arrays = {"DataArray*", "Array*"};
  // Some programs call the arrays of an index what those of pieces are called, and VTK takes them.
  static const Children declared = {"PDataArray*", "PArray*", "DataArray*", "Array*"};
  static const Children blocks = {"Block*", "Piece*", "DataSet*"};
  static const Children whole = {"Piece*", "FieldData"};
  static const std::map<std::string, Children> table = {
      {"PolyData", whole},
      {"UnstructuredGrid", whole},
      {"ImageData", whole},
      {"StructuredGrid", whole},
      {"RectilinearGrid", whole},
      {"PPolyData",
       {"Piece*", "FieldData", "PPointData", "PCellData", "PPoints", "PVerts", "PLines", "PStrips",
        "PPolys"}},
      {"PUnstructuredGrid",
       {"Piece*", "FieldData", "PPointData", "PCellData", "PPoints", "PCells"}},
      {"PImageData", {"Piece*", "FieldData", "PPointData", "PCellData"}},
      {"PStructuredGrid", {"Piece*", "FieldData", "PPointData", "PCellData", "PPoints"}},
      {"PRectilinearGrid", {"Piece*", "FieldData", "PPointData", "PCellData", "PCoordinates"}},
      {"vtkMultiBlockDataSet", blocks},
      {"vtkPartitionedDataSet", {"DataSet*"}},
      {"vtkPartitionedDataSetCollection", {"Partitions*", "DataAssembly"}},
      {"Collection", {"DataSet*"}},
      {"Block", blocks},
      {"Partitions", {"DataSet*"}},
      {"FieldData", arrays},
      {"PointData", arrays},
      {"CellData", arrays},
      {"Points", arrays},
      {"Coordinates", arrays},
      {"Verts", arrays},
      {"Lines", arrays},
      {"Strips", arrays},
      {"Polys", arrays},
      {"Cells", arrays},
      {"PPointData", declared},
      {"PCellData", declared},
      {"PPoints", declared},
      {"PCoordinates", declared},
      {"PVerts", declared},
      {"PLines", declared},
      {"PStrips", declared},
      {"PPolys", declared},
      {"PCells", declared},
      {"DataArray", {"InformationKey*"}},
      {"Array", {"InformationKey*"}},
      {"PDataArray", {"InformationKey*"}},
      {"PArray", {"InformationKey*"}},
      {"InformationKey", {"Value*"}},
  };
  return table;
}

/// Attributes of the elements that lead to files and blocks, where a misspelt one loses a block or
/// its name. Others may stand there: ParaView takes any of a collection's entries.
const std::map<std::string, std::set<std::string>>& known_attributes() {
  static const std::map<std::string, std::set<std::string>> table = {
      {"DataSet", {"index", "name", "file", "group", "part", "timestep", "dataset"}},
      {"Block", {"index", "name", "group"}},
      {"Partitions", {"index", "name"}},
  };
  return table;
}

Children pieces_of(const std::string& type) {
  Children sections = {"PointData", "CellData"};
  if (type == "PolyData")
    sections.insert(sections.end(), {"Points", "Verts", "Lines", "Strips", "Polys"});
  if (type == "UnstructuredGrid") sections.insert(sections.end(), {"Points", "Cells"});
  if (type == "StructuredGrid") sections.push_back("Points");
  if (type == "RectilinearGrid") sections.push_back("Coordinates");
  if (type.rfind("vtk", 0) == 0) return {"DataSet*"};
  return sections;
}

class StructureCheck {
 public:
  StructureCheck(const XmlElement& root, const FileBytes& file)
      : root_(root), file_(file), type_(root.attribute("type")) {}

  void run() const {
    // Field data of composite files stand beside the tree.
    check(root_, {type_, "FieldData"});
  }

 private:
  std::string where(const XmlElement& element) const {
    const std::string before = file_.read(0, element.position);
    return "line " + std::to_string(1 + std::count(before.begin(), before.end(), '\n'));
  }

  /// Null for elements whose content VTK hands on as it is.
  std::optional<Children> children_of(const std::string& name) const {
    if (name == "DataAssembly") return std::nullopt;
    if (name == "Piece")
      return type_[0] == 'P' && grammar().count(type_.substr(1)) > 0 ? Children()
                                                                     : pieces_of(type_);
    const auto found = grammar().find(name);
    return found == grammar().end() ? Children() : found->second;
  }

  void check(const XmlElement& element, const Children& allowed) const {
    std::set<std::string> seen;
    for (const XmlElement& child : element.children) {
      const bool repeated =
          std::find(allowed.begin(), allowed.end(), child.name + "*") != allowed.end();
      if (!repeated && std::find(allowed.begin(), allowed.end(), child.name) == allowed.end())
        throw DataError(where(child) + " has an element <" + child.name + "> inside <" +
                        element.name + ">, where VTK would pass over it" + expected(allowed) +
                        "; correct its name or its place, or remove it");
      if (!seen.insert(child.name).second && !repeated)
        throw DataError(where(child) + " has a second element <" + child.name + "> inside <" +
                        element.name + ">, which VTK would pass over; join the two");
      check_attributes(child);
      if (const auto next = children_of(child.name)) check(child, *next);
    }
  }

  void check_attributes(const XmlElement& element) const {
    const auto known = known_attributes().find(element.name);
    if (known == known_attributes().end()) return;
    for (const auto& [key, value] : element.attributes) {
      std::vector<std::string> absent;
      for (const std::string& other : known->second)
        if (element.attributes.count(other) == 0) absent.push_back(other);
      if (known->second.count(key) > 0) continue;
      if (const auto meant = closest_match(key, absent))
        throw DataError(where(element) + " has an element <" + element.name +
                        "> with the unknown attribute '" + key + "'; did you mean '" + *meant +
                        "'?");
    }
  }

  static std::string expected(const Children& allowed) {
    if (allowed.empty()) return ", since nothing may stand there";
    std::vector<std::string> names;
    for (std::string name : allowed) {
      if (name.back() == '*') name.pop_back();
      names.push_back("<" + name + ">");
    }
    return "; expected " + join(names, ", ");
  }

  const XmlElement& root_;
  const FileBytes& file_;
  std::string type_;
};

}  // namespace

void check_xml_structure(const XmlDocument& document, const FileBytes& file) {
  StructureCheck(document.root, file).run();
}

}  // namespace funcattn
