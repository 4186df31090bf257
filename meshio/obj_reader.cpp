#include <vtkCellArray.h>
#include <vtkCellData.h>
#include <vtkDoubleArray.h>
#include <vtkFieldData.h>
#include <vtkFloatArray.h>
#include <vtkIdTypeArray.h>
#include <vtkIntArray.h>
#include <vtkNew.h>
#include <vtkPointData.h>
#include <vtkPoints.h>
#include <vtkPolyData.h>
#include <vtkStringArray.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <system_error>

#include "meshio/data_set_check.h"
#include "meshio/file_bytes.h"
#include "meshio/obj_statements.h"
#include "meshio/surface_attributes.h"
#include "meshio/surface_formats.h"

namespace funcattn {

namespace {

/// Whether a float has all digits of a number that was text.
bool float_suffices(double value) {
  const auto narrow = static_cast<float>(value);
  if (std::isnan(value) || static_cast<double>(narrow) == value) return true;
  char text[32];
  const auto [end, status] = std::to_chars(text, text + sizeof text, narrow);
  double read = 0;
  return status == std::errc() && std::from_chars(text, end, read).ec == std::errc() &&
         read == value;
}

/// Rows of `numbers`, chosen by index; NaN where the index is -1. Float where that keeps all
/// digits.
vtkSmartPointer<vtkDataArray> make_array(const char* name, const ObjNumbers& numbers,
                                         const std::vector<std::int64_t>& rows) {
  const bool narrow = std::all_of(numbers.values.begin(), numbers.values.end(), float_suffices);
  auto array = vtkSmartPointer<vtkDataArray>::Take(
      vtkDataArray::CreateDataArray(narrow ? VTK_FLOAT : VTK_DOUBLE));
  array->SetName(name);
  array->SetNumberOfComponents(static_cast<int>(numbers.width));
  array->SetNumberOfTuples(static_cast<vtkIdType>(rows.size()));
  const std::vector<double> none(numbers.width, std::numeric_limits<double>::quiet_NaN());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto at = static_cast<std::size_t>(rows[i]) * numbers.width;
    array->SetTuple(static_cast<vtkIdType>(i), rows[i] < 0 ? none.data() : &numbers.values[at]);
  }
  return array;
}

/// Points of the mesh: those of the file in its order, and behind them one more for each further
/// pair of texture coordinate and normal with which a point is used.
class Points {
 public:
  explicit Points(std::int64_t count) : own_(static_cast<std::size_t>(count)) {
    for (std::int64_t i = 0; i < count; ++i) own_[static_cast<std::size_t>(i)].point = i;
  }

  vtkIdType id_of(const ObjCorner& corner) {
    ObjCorner& own = own_[static_cast<std::size_t>(corner.point)];
    if (fits(corner.texture, own.texture) && fits(corner.normal, own.normal)) {
      own.texture = std::max(own.texture, corner.texture);
      own.normal = std::max(own.normal, corner.normal);
      return corner.point;
    }
    const std::array<std::int64_t, 3> key = {corner.point, corner.texture, corner.normal};
    const auto [found, added] =
        further_.emplace(key, static_cast<vtkIdType>(own_.size() + further_.size()));
    if (added) behind_.push_back(corner);
    return found->second;
  }

  std::vector<std::int64_t> column(std::int64_t ObjCorner::*member) const {
    std::vector<std::int64_t> rows;
    for (const auto* corners : {&own_, &behind_})
      for (const ObjCorner& corner : *corners) rows.push_back(corner.*member);
    return rows;
  }

 private:
  /// A corner that names none takes what the point has.
  static bool fits(std::int64_t wanted, std::int64_t own) {
    return wanted < 0 || own < 0 || wanted == own;
  }

  std::vector<ObjCorner> own_;
  std::vector<ObjCorner> behind_;
  std::map<std::array<std::int64_t, 3>, vtkIdType> further_;
};

class SurfaceBuilder {
 public:
  explicit SurfaceBuilder(const ObjContents& contents)
      : contents_(contents), points_(contents.points.count()) {}

  vtkSmartPointer<vtkPolyData> run() {
    data_->SetVerts(cells(contents_.verts));
    data_->SetLines(cells(contents_.lines));
    data_->SetPolys(cells(contents_.faces));
    add_points();
    add_cell_arrays();
    add_names("MaterialLibraries", contents_.libraries);
    activate_surface_attributes(data_->GetPointData());
    check_cells(data_);
    check_arrays(data_);
    return data_.GetPointer();
  }

 private:
  vtkSmartPointer<vtkCellArray> cells(const ObjCells& stored) {
    vtkNew<vtkIdTypeArray> offsets;
    vtkNew<vtkIdTypeArray> ids;
    offsets->InsertNextValue(0);
    for (const std::size_t end : stored.ends) offsets->InsertNextValue(static_cast<vtkIdType>(end));
    for (const ObjCorner& corner : stored.corners) ids->InsertNextValue(points_.id_of(corner));
    auto made = vtkSmartPointer<vtkCellArray>::New();
    made->SetData(offsets, ids);
    return made;
  }

  void add_points() {
    const auto places = points_.column(&ObjCorner::point);
    vtkNew<vtkPoints> points;
    points->SetData(make_array("Points", contents_.points, places));
    data_->SetPoints(points);
    add_point_array("TCoords", contents_.textures, points_.column(&ObjCorner::texture));
    add_point_array("Normals", contents_.normals, points_.column(&ObjCorner::normal));
    if (contents_.colours.count() > 0)
      data_->GetPointData()->AddArray(
          make_array(contents_.colours.width == 3 ? "RGB" : "RGBA", contents_.colours, places));
  }

  void add_point_array(const char* name, const ObjNumbers& numbers,
                       std::vector<std::int64_t> rows) {
    if (std::all_of(rows.begin(), rows.end(), [](std::int64_t row) { return row < 0; })) {
      // Where no cell names any, one for each point belongs to the points in their order.
      if (numbers.count() != static_cast<std::int64_t>(rows.size())) return;
      for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<std::int64_t>(i);
    }
    data_->GetPointData()->AddArray(make_array(name, numbers, rows));
  }

  /// VTK's reader numbers groups in floats.
  void add_cell_arrays() {
    vtkNew<vtkFloatArray> groups;
    groups->SetName("GroupIds");
    vtkNew<vtkIntArray> materials;
    materials->SetName("MaterialIds");
    for (const ObjCells* kind : {&contents_.verts, &contents_.lines, &contents_.faces}) {
      for (const int group : kind->groups) groups->InsertNextValue(static_cast<float>(group));
      for (const int material : kind->materials) materials->InsertNextValue(material);
    }
    if (data_->GetNumberOfCells() == 0) return;
    data_->GetCellData()->AddArray(groups);
    if (!contents_.has_materials) return;
    data_->GetCellData()->AddArray(materials);
    add_names("MaterialNames", contents_.materials);
  }

  void add_names(const char* array, const std::vector<std::string>& names) {
    if (names.empty()) return;
    vtkNew<vtkStringArray> words;
    words->SetName(array);
    for (const std::string& name : names) words->InsertNextValue(name);
    data_->GetFieldData()->AddArray(words);
  }

  const ObjContents& contents_;
  Points points_;
  vtkNew<vtkPolyData> data_;
};

}  // namespace

vtkSmartPointer<vtkDataObject> read_obj(const std::filesystem::path& path, const ReadOptions&) {
  const FileBytes file(path);
  return SurfaceBuilder(read_obj_statements(file.read(0, file.size()))).run();
}

}  // namespace funcattn
