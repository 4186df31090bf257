#include <vtkCellArray.h>
#include <vtkCellData.h>
#include <vtkDataArray.h>
#include <vtkIdTypeArray.h>
#include <vtkNew.h>
#include <vtkPointData.h>
#include <vtkPoints.h>
#include <vtkPolyData.h>

#include <algorithm>
#include <map>

#include "core/error.h"
#include "meshio/data_set_check.h"
#include "meshio/file_bytes.h"
#include "meshio/ply_values.h"
#include "meshio/surface_attributes.h"
#include "meshio/surface_formats.h"

namespace funcattn {

namespace {

using ArrayPointer = vtkSmartPointer<vtkDataArray>;

ArrayPointer make_array(const std::string& name, int type, int components, std::int64_t rows) {
  auto array = ArrayPointer::Take(vtkDataArray::CreateDataArray(type));
  array->SetName(name.c_str());
  array->SetNumberOfComponents(components);
  array->SetNumberOfTuples(rows);
  return array;
}

/// Properties that make up one array.
struct Group {
  const char* name;
  std::vector<const char*> members;
  bool colour;  ///< Of bytes; all other groups are of floating numbers.
};

const std::vector<Group>& groups() {
  static const std::vector<Group> table = {
      {"Normals", {"nx", "ny", "nz"}, false},
      {"RGBA", {"red", "green", "blue", "alpha"}, true},
      {"RGB", {"red", "green", "blue"}, true},
      {"TCoords", {"u", "v"}, false},
      {"TCoords", {"texture_u", "texture_v"}, false},
  };
  return table;
}

/// Whether the element has all members, of one type that VTK expects in such an array.
bool has_group(const PlyElement& element, const Group& group) {
  const PlyProperty* first = element.find(group.members.front());
  return std::all_of(group.members.begin(), group.members.end(), [&](const char* member) {
    const PlyProperty* property = element.find(member);
    return property && !property->count && property->type.kind == first->type.kind &&
           (group.colour ? property->type.kind == NumberKind::uint8 : property->type.floating);
  });
}

/// Where the values of one property go.
struct Column {
  ArrayPointer array;  ///< Of a list: all entries of all rows.
  int component = 0;
  vtkSmartPointer<vtkIdTypeArray> counts;  ///< Of a list.
};

/// One element of the file with its values, in the order of the file.
struct Table {
  std::vector<Column> columns;       ///< Parallel to the properties.
  std::vector<ArrayPointer> arrays;  ///< Each once; without the lists.
};

class TableReader {
 public:
  TableReader(const PlyElement& element, PlyValues& values) : element_(element), values_(values) {}

  Table run() {
    values_.require_room(element_);
    if (element_.name == "vertex") add_points();
    if (element_.name == "vertex" || element_.name == "face")
      for (const Group& group : groups())
        if (has_group(element_, group)) add_members(group.name, group.members);
    for (const PlyProperty& property : element_.properties) add_single(property);
    for (const PlyProperty& property : element_.properties)
      table_.columns.push_back(columns_[property.name]);
    for (std::int64_t row = 0; row < element_.rows; ++row) read_row(row);
    return table_;
  }

 private:
  void add_points() {
    // Double only where float would cut digits.
    const std::vector<const char*> axes = {"x", "y", "z"};
    const bool wide = std::any_of(axes.begin(), axes.end(), [&](const char* axis) {
      const PlyScalar& type = element_.find(axis)->type;
      return type.size > (type.floating ? 4 : 2);
    });
    add_members("Points", axes, wide ? VTK_DOUBLE : VTK_FLOAT);
  }

  void add_members(const char* name, const std::vector<const char*>& members, int type = -1) {
    if (columns_.count(members.front()) > 0) return;
    if (type < 0) type = element_.find(members.front())->type.vtk_type;
    const auto array = make_array(name, type, static_cast<int>(members.size()), element_.rows);
    table_.arrays.push_back(array);
    int component = 0;
    for (const char* member : members) columns_[member] = {array, component++, nullptr};
  }

  void add_single(const PlyProperty& property) {
    if (columns_.count(property.name) > 0) return;
    Column column;
    if (property.count) {
      column.array = make_array(property.name, property.type.vtk_type, 1, 0);
      column.counts = vtkSmartPointer<vtkIdTypeArray>::New();
    } else {
      column.array = make_array(property.name, property.type.vtk_type, 1, element_.rows);
      table_.arrays.push_back(column.array);
    }
    columns_[property.name] = column;
  }

  void read_row(std::int64_t row) {
    values_.begin_row(element_, row);
    for (std::size_t i = 0; i < element_.properties.size(); ++i) {
      const PlyProperty& property = element_.properties[i];
      Column& column = table_.columns[i];
      if (!property.count) {
        column.array->SetComponent(row, column.component, values_.number(property.type));
        continue;
      }
      const std::int64_t length = values_.list_length(property);
      column.counts->InsertNextValue(length);
      for (std::int64_t entry = 0; entry < length; ++entry) {
        const double value = values_.number(property.type);
        column.array->InsertNextTuple(&value);
      }
    }
    values_.end_row();
  }

  const PlyElement& element_;
  PlyValues& values_;
  std::map<std::string, Column> columns_;
  Table table_;
};

/// The length of all lists, or nothing if they differ or are empty.
std::optional<vtkIdType> common_length(vtkIdTypeArray* counts) {
  if (counts->GetNumberOfValues() == 0 || counts->GetValue(0) == 0) return std::nullopt;
  for (vtkIdType row = 1; row < counts->GetNumberOfValues(); ++row)
    if (counts->GetValue(row) != counts->GetValue(0)) return std::nullopt;
  return counts->GetValue(0);
}

class SurfaceBuilder {
 public:
  SurfaceBuilder() { data_->SetPoints(vtkNew<vtkPoints>()); }

  void add(const PlyElement& element, const Table& table) {
    vtkDataSetAttributes* attributes = nullptr;
    if (element.name == "vertex") attributes = data_->GetPointData();
    if (element.name == "face") attributes = data_->GetCellData();
    for (const ArrayPointer& array : table.arrays) {
      if (attributes == data_->GetPointData() && array == table.arrays.front())
        data_->GetPoints()->SetData(array);
      else
        add_array(attributes, element, array);
    }
    for (std::size_t i = 0; i < element.properties.size(); ++i) {
      const Column& column = table.columns[i];
      if (!column.counts) continue;
      if (lists_points(element, element.properties[i]))
        add_faces(column);
      else
        add_list(attributes, element, column);
    }
  }

  vtkSmartPointer<vtkPolyData> result() {
    activate_surface_attributes(data_->GetPointData());
    activate_surface_attributes(data_->GetCellData());
    check_cells(data_);  // The order of the elements is free: only now all points are known.
    check_arrays(data_);
    return data_.GetPointer();
  }

 private:
  void add_array(vtkDataSetAttributes* attributes, const PlyElement& element,
                 const ArrayPointer& array) {
    const std::string name = array->GetName();
    vtkFieldData* fields = attributes;
    if (!attributes) {
      fields = data_->GetFieldData();
      array->SetName((element.name + "." + name).c_str());
    }
    if (fields->HasArray(array->GetName()))
      throw DataError("two of its properties would be arrays of the name '" +
                      std::string(array->GetName()) + "'; rename one");
    fields->AddArray(array);
  }

  void add_list(vtkDataSetAttributes* attributes, const PlyElement& element, const Column& column) {
    const auto length = common_length(column.counts);
    if (attributes && length) {
      column.array->SetNumberOfComponents(static_cast<int>(*length));
      column.array->SetNumberOfTuples(column.counts->GetNumberOfValues());
      return add_array(attributes, element, column.array);
    }
    const std::string name = column.array->GetName();
    column.counts->SetName((name + ".count").c_str());
    add_array(nullptr, element, column.array);
    add_array(nullptr, element, column.counts.GetPointer());
  }

  void add_faces(const Column& column) {
    const auto offsets = vtkSmartPointer<vtkIdTypeArray>::New();
    const auto points = vtkSmartPointer<vtkIdTypeArray>::New();
    offsets->SetNumberOfValues(column.counts->GetNumberOfValues() + 1);
    offsets->SetValue(0, 0);
    for (vtkIdType face = 0; face < column.counts->GetNumberOfValues(); ++face)
      offsets->SetValue(face + 1, offsets->GetValue(face) + column.counts->GetValue(face));
    points->DeepCopy(column.array);
    vtkNew<vtkCellArray> faces;
    faces->SetData(offsets, points);
    data_->SetPolys(faces);
  }

  vtkNew<vtkPolyData> data_;
};

}  // namespace

vtkSmartPointer<vtkDataObject> read_ply(const std::filesystem::path& path, const ReadOptions&) {
  const FileBytes file(path);
  const std::string bytes = file.read(0, file.size());
  // Old Macintosh programs end lines with CR alone.
  const bool lone_returns = bytes.size() > 4 && bytes[3] == '\r' && bytes[4] != '\n';
  TextLines lines(bytes, lone_returns ? '\r' : '\n');
  const PlyHeader header = read_ply_header(lines);
  PlyValues values(bytes, lines, header.storage);
  SurfaceBuilder surface;
  for (const PlyElement& element : header.elements)
    surface.add(element, TableReader(element, values).run());
  values.finish();
  return surface.result();
}

}  // namespace funcattn
