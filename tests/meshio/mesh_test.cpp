#include "meshio/mesh.h"

#include <gtest/gtest.h>
#include <vtkBitArray.h>
#include <vtkCellData.h>
#include <vtkDoubleArray.h>
#include <vtkFieldData.h>
#include <vtkFloatArray.h>
#include <vtkIntArray.h>
#include <vtkNew.h>
#include <vtkPointData.h>
#include <vtkPoints.h>
#include <vtkPolyData.h>
#include <vtkSOADataArrayTemplate.h>
#include <vtkStringArray.h>
#include <vtkUnsignedCharArray.h>

#include "core/error.h"
#include "meshio/field_data.h"
#include "tests/meshio/mesh_samples.h"

namespace funcattn {
namespace {

TEST(ArrayViews, BorrowsAndKeepsAlive) {
  auto array = vtkSmartPointer<vtkDoubleArray>::New();
  array->SetNumberOfComponents(2);
  array->InsertNextTuple2(1, 2);
  array->InsertNextTuple2(3, NAN);
  const void* values = array->GetPointer(0);
  const ArrayView view(array);
  array = nullptr;
  EXPECT_EQ(view.data(), values);
  EXPECT_FALSE(view.copied());
  EXPECT_EQ(view.rows(), 2);
  EXPECT_EQ(view.components(), 2);
  EXPECT_EQ(view.to_double()(0, 1), 2);
  EXPECT_EQ(view.to_double()(1, 0), 3);
  EXPECT_EQ(view.first_non_finite(), 1);
}

TEST(ArrayViews, CopiesOtherLayouts) {
  vtkNew<vtkSOADataArrayTemplate<float>> array;
  array->SetNumberOfComponents(2);
  array->SetNumberOfTuples(2);
  array->SetTypedComponent(0, 0, 1);
  array->SetTypedComponent(0, 1, 2);
  array->SetTypedComponent(1, 0, 3);
  array->SetTypedComponent(1, 1, 4);
  const ArrayView original(array.GetPointer());
  const ArrayView view = original;
  EXPECT_TRUE(view.copied());
  EXPECT_EQ(view.type(), ScalarType::float64);
  EXPECT_EQ(view.to_double(), (RowMatrix(2, 2) << 1, 2, 3, 4).finished());
}

template <class T>
class ArrayTypes : public ::testing::Test {};
using NumericTypes =
    ::testing::Types<char, signed char, unsigned char, short, unsigned short, int, unsigned int,
                     long, unsigned long, long long, unsigned long long, float, double>;
TYPED_TEST_SUITE(ArrayTypes, NumericTypes);

TYPED_TEST(ArrayTypes, IsConverted) {
  vtkNew<vtkAOSDataArrayTemplate<TypeParam>> array;
  array->InsertNextValue(std::numeric_limits<TypeParam>::max());
  array->InsertNextValue(std::numeric_limits<TypeParam>::lowest());
  const RowMatrix values = ArrayView(array.GetPointer()).to_double();
  EXPECT_EQ(values(0, 0), static_cast<double>(std::numeric_limits<TypeParam>::max()));
  EXPECT_EQ(values(1, 0), static_cast<double>(std::numeric_limits<TypeParam>::lowest()));
}

TEST(ArrayViews, RefusesBits) {
  vtkNew<vtkBitArray> bits;
  bits->SetName("flags");
  expect_says(message_of<DataError>([&] { ArrayView(bits.GetPointer()); }),
              "array 'flags' holds values of type 'bit', which is not numeric");
}

Mesh sample() {
  return Mesh(sample_grid(), "grid.vtu");
}

TEST(Meshes, ListsArraysInOrder) {
  vtkNew<vtkStringArray> labels;
  labels->SetName("labels");
  labels->SetNumberOfValues(12);
  const Mesh mesh = sample();
  mesh.vtk()->GetPointData()->AddArray(labels);
  std::vector<std::string> found;
  for (const ArraySpec& spec : mesh.arrays())
    found.push_back(std::string(to_string(spec.association)) + " " + spec.name + " " +
                    std::to_string(spec.components));
  EXPECT_EQ(found, (std::vector<std::string>{"point pressure 1", "point velocity 3", "point id 1",
                                             "cell material 1"}));
  EXPECT_TRUE(mesh.has_array("material", Association::cell));
  EXPECT_FALSE(mesh.has_array("material", Association::point));
  expect_says(message_of<DataError>([&] { mesh.array("labels", Association::point); }),
              "grid.vtu: point array 'labels' holds values of type 'string', expected numbers");
}

TEST(Meshes, SaysWhichArraysThereAre) {
  const auto message = [](const std::string& name, Association association) {
    return message_of<DataError>([&] { sample().array(name, association); });
  };
  EXPECT_EQ(message("presure", Association::point),
            "grid.vtu: there is no point array 'presure'; the mesh has point arrays pressure, "
            "velocity, id; cell array material; did you mean 'pressure'?");
  EXPECT_EQ(message("material", Association::point),
            "grid.vtu: there is no point array 'material'; the mesh has point arrays pressure, "
            "velocity, id; cell array material; 'material' exists only as a cell array: convert it "
            "or ask for the cell array");
  EXPECT_EQ(message_of<DataError>([] {
              make_point_cloud(RowMatrix::Zero(1, 3), "cloud").array("p", Association::point);
            }),
            "cloud: there is no point array 'p'; the mesh has no point arrays; no cell arrays");
}

TEST(Meshes, RefusesAmbiguousAndShortArrays) {
  const Mesh mesh = sample();
  vtkNew<vtkDoubleArray> twin;
  twin->SetName("twin");
  twin->SetNumberOfTuples(12);
  mesh.vtk()->GetPointData()->AddArray(twin);
  twin->SetName("pressure");
  expect_says(message_of<DataError>([&] { mesh.array("pressure", Association::point); }),
              "grid.vtu: there are 2 arrays with the name of point array 'pressure', expected one");
  twin->SetName("short");
  twin->SetNumberOfTuples(9);
  expect_says(message_of<DataError>([&] { mesh.array("short", Association::point); }),
              "grid.vtu: point array 'short' has 9 rows, expected one per point: 12");
}

TEST(Meshes, WithArrayLeavesTheOriginalAlone) {
  const Mesh mesh = sample();
  const auto modified = mesh.vtk()->GetMTime();
  const RowMatrix values = RowMatrix::Random(12, 2);
  const Mesh more = mesh.with_array({"new", Association::point, 2, "m/s"}, values);
  EXPECT_EQ(mesh.vtk()->GetMTime(), modified);
  EXPECT_FALSE(mesh.has_array("new", Association::point));
  EXPECT_EQ(more.array("new", Association::point).to_double(), values);
  EXPECT_EQ(more.arrays()[3].unit, "m/s");
  EXPECT_EQ(difference(mesh.vtk(), mesh.vtk()), "");
  EXPECT_STREQ(more.vtk()->GetPointData()->GetScalars()->GetName(), "pressure");

  const ArraySpec pressure{"pressure", Association::point, 1, ""};
  expect_says(message_of<DataError>([&] { mesh.with_array(pressure, RowMatrix::Zero(12, 1)); }),
              "grid.vtu: point array 'pressure' exists already; choose another name or allow");
  const Mesh replaced = mesh.with_array(pressure, RowMatrix::Ones(12, 1), true);
  EXPECT_EQ(replaced.array("pressure", Association::point).to_double().sum(), 12);
  EXPECT_NE(mesh.array("pressure", Association::point).to_double().sum(), 12);
  EXPECT_EQ(replaced.arrays().size(), 4u);
  expect_says(message_of<DataError>([&] {
                mesh.with_array({"new", Association::cell, 1, ""}, RowMatrix::Zero(12, 1));
              }),
              "grid.vtu: cell array 'new' would be 12 x 1 values, expected 4 x 1");
}

TEST(Meshes, CoordinatesOfPointsAndCells) {
  const Mesh mesh = sample();
  const RowMatrix points = mesh.coordinates(Association::point);
  for (vtkIdType i = 0; i < 12; ++i)
    for (int axis = 0; axis < 3; ++axis) EXPECT_EQ(points(i, axis), mesh.vtk()->GetPoint(i)[axis]);
  const RowMatrix centres = mesh.coordinates(Association::cell);
  ASSERT_EQ(centres.rows(), 4);
  EXPECT_TRUE(centres.row(3).isApprox((points.row(0) + points.row(1) + points.row(4)) / 3, 1e-14));

  const RowMatrix image = Mesh(sample_image(), "").coordinates(Association::cell);
  EXPECT_TRUE(image.row(0).isApprox(Eigen::RowVector3d(1.05, 2.125, 1e6 + 1), 1e-14));
}

TEST(Meshes, ComponentNamesAndFields) {
  const Mesh mesh = sample();
  EXPECT_EQ(mesh.component_names("velocity", Association::point),
            (std::vector<std::string>{"u", "v", "w"}));
  EXPECT_EQ(mesh.component_names("pressure", Association::point), std::vector<std::string>{""});
  expect_says(message_of<DataError>([&] { mesh.component_names("velocity", Association::cell); }),
              "'velocity' exists only as a point array");
  EXPECT_EQ(field_names(mesh.vtk()), std::vector<std::string>{"TimeValue"});
  EXPECT_EQ(field_values(mesh.vtk(), "TimeValue", "mesh"), std::vector<double>{0.1});
  EXPECT_EQ(field_values(mesh.vtk(), "Mach", "mesh"), std::nullopt);
  EXPECT_EQ(field_values(nullptr, "Mach", "mesh"), std::nullopt);
  vtkNew<vtkFloatArray> tuples;
  tuples->SetName("inflow");
  tuples->SetNumberOfComponents(2);
  tuples->InsertNextTuple2(1, 2);
  tuples->InsertNextTuple2(3, 4);
  vtkNew<vtkStringArray> words;
  words->SetName("solver");
  mesh.vtk()->GetFieldData()->AddArray(tuples);
  mesh.vtk()->GetFieldData()->AddArray(words);
  EXPECT_EQ(field_values(mesh.vtk(), "inflow", "mesh"), (std::vector<double>{1, 2, 3, 4}));
  EXPECT_EQ(message_of<DataError>([&] { (void)field_values(mesh.vtk(), "solver", "a.vtu"); }),
            "a.vtu: the field array 'solver' is a vtkStringArray, expected numbers");
}

TEST(Meshes, BorrowsWhatIsFloat64AndCountsCopies) {
  vtkNew<vtkPolyData> data;
  vtkNew<vtkPoints> points;
  points->SetDataTypeToDouble();
  points->InsertNextPoint(1, 2, 3);
  points->InsertNextPoint(4, 5, 6);
  data->SetPoints(points);
  const Mesh mesh(data.GetPointer(), "mesh");
  const CopyCount before = copies_made();
  const DoubleView view = mesh.coordinate_view(Association::point);
  EXPECT_FALSE(view.copied());
  EXPECT_EQ(static_cast<const void*>(view.matrix().data()), points->GetVoidPointer(0));
  EXPECT_EQ(view.matrix()(1, 2), 6);
  EXPECT_EQ(copies_made().arrays, before.arrays);

  points->SetDataTypeToFloat();
  points->InsertNextPoint(1, 2, 3);
  const DoubleView converted = mesh.coordinate_view(Association::point);
  EXPECT_TRUE(converted.copied());
  EXPECT_EQ(converted.matrix()(0, 1), 2);
  EXPECT_EQ(copies_made().arrays, before.arrays + 1);
  EXPECT_EQ(copies_made().bytes, before.bytes + 24);
}

TEST(Meshes, PresenceFollowsTheGhostArray) {
  const Mesh mesh = sample();
  EXPECT_EQ(mesh.presence(Association::cell), Eigen::VectorXd::Ones(4));
  vtkNew<vtkUnsignedCharArray> ghosts;
  ghosts->SetName("vtkGhostType");
  // Duplicate or refined cells are not there; 4 says something else of a cell that is.
  for (const unsigned char flag : {1, 8, 4, 33}) ghosts->InsertNextValue(flag);
  mesh.vtk()->GetCellData()->AddArray(ghosts);
  EXPECT_EQ(mesh.presence(Association::cell), Eigen::Vector4d(0, 0, 1, 0));
  EXPECT_EQ(mesh.presence(Association::point), Eigen::VectorXd::Ones(12));
}

TEST(Meshes, GhostMarksOfOldFilesAreAnErrorWhereVtkDoesNotTurnThemIntoFlags) {
  const Mesh mesh(sample_grid(), "grid");
  vtkNew<vtkIntArray> ghosts;
  ghosts->SetName("vtkGhostLevels");
  for (vtkIdType i = 0; i < mesh.vtk()->GetNumberOfPoints(); ++i) ghosts->InsertNextValue(i % 2);
  mesh.vtk()->GetPointData()->AddArray(ghosts);
  EXPECT_EQ(mesh.presence(Association::cell).minCoeff(), 1);
  expect_says(message_of<DataError>([&] { mesh.presence(Association::point); }),
              "point array 'vtkGhostLevels' marks ghosts as old files do");
}

TEST(Meshes, GhostFlagsOfAnotherTypeAreAnError) {
  const Mesh mesh = sample();
  vtkNew<vtkIntArray> ghosts;
  ghosts->SetName("vtkGhostType");
  for (int flag = 0; flag < 4; ++flag) ghosts->InsertNextValue(flag);
  mesh.vtk()->GetCellData()->AddArray(ghosts);
  expect_says(
      message_of<DataError>([&] { (void)mesh.presence(Association::cell); }),
      "cell array 'vtkGhostType' is of type int with 1 component(s), expected unsigned char");
}

TEST(Meshes, PolylinesAndPointClouds) {
  const RowMatrix points = RowMatrix::Random(4, 3);
  const Mesh line = make_polyline(points, "line");
  EXPECT_EQ(line.count(Association::cell), 1);
  EXPECT_EQ(line.vtk()->GetCellType(0), VTK_POLY_LINE);
  EXPECT_EQ(line.coordinates(Association::point), points);
  const Mesh dot = make_polyline(points.topRows(1), "dot");
  EXPECT_EQ(dot.vtk()->GetCellType(0), VTK_VERTEX);
  EXPECT_EQ(make_polyline(points.topRows(0), "none").count(Association::cell), 0);
  const Mesh cloud = make_point_cloud(points, "cloud");
  EXPECT_EQ(cloud.count(Association::cell), 4);
  EXPECT_EQ(cloud.coordinates(Association::cell), points);
  expect_says(message_of<DataError>([] { make_polyline(RowMatrix::Zero(2, 2), "flat"); }),
              "coordinates have 2 columns, expected 3");
}

TEST(Meshes, CopiesCoordinatesByAxis) {
  for (const auto& data : {sample_surface(), sample_image(), sample_rectilinear()})
    for (const auto association : {Association::point, Association::cell}) {
      const Mesh mesh(data, "mesh");
      const RowMatrix all = mesh.coordinates(association);
      RowMatrix found = RowMatrix::Zero(all.rows(), 2);
      mesh.copy_coordinates(association, {2, 0}, found.data());
      EXPECT_EQ(found.col(0), all.col(2));
      EXPECT_EQ(found.col(1), all.col(0));
    }
}

TEST(ArrayViews, CopyColumnsOfAnyType) {
  const Mesh mesh(sample_surface(), "mesh");
  for (const char* name : {"pressure", "velocity", "id"}) {
    const ArrayView view = mesh.array(name, Association::point);
    const int last = view.components() - 1;
    RowMatrix found = RowMatrix::Constant(view.rows(), 3, -7);
    view.copy_columns({last}, found.data() + 1, 3);
    EXPECT_EQ(found.col(1), view.to_double().col(last)) << name;
    EXPECT_TRUE((found.col(0).array() == -7).all() && (found.col(2).array() == -7).all());
  }
}

}  // namespace
}  // namespace funcattn
