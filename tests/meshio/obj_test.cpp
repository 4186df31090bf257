// OBJ files: what statements mean, and what the mesh has of them.
#include <gtest/gtest.h>
#include <vtkDataArray.h>
#include <vtkNew.h>
#include <vtkOBJReader.h>
#include <vtkPointData.h>
#include <vtkPolyData.h>

#include <cmath>

#include "core/atomic_file.h"
#include "core/error.h"
#include "meshio/quadrature.h"
#include "meshio/reader.h"
#include "tests/meshio/mesh_samples.h"

namespace funcattn {
namespace {

namespace fs = std::filesystem;

const std::string kTriangle = "v 0 0 0\nv 1 0 0\nv 0 2 0\n";

class ObjTest : public FolderTest {
 protected:
  Mesh read(const std::string& content) {
    write_file_atomically(folder_ / "a.obj", content);
    return read_mesh(folder_ / "a.obj");
  }
  std::string message(const std::string& content) {
    return message_of<FileError>([&] { read(content); });
  }
};

double area(const Mesh& mesh) {
  return quadrature_weights(mesh, Association::point, {WeightKind::measure, ""}).sum();
}

RowMatrix point_array(const Mesh& mesh, const std::string& name) {
  return mesh.array(name, Association::point).to_double();
}

RowMatrix cell_array(const Mesh& mesh, const std::string& name) {
  return mesh.array(name, Association::cell).to_double();
}

TEST_F(ObjTest, GivesWhatVtkGives) {
  for (const std::string& text :
       {kTriangle + "vn 0 0 1\nvn 0 1 0\nvn 1 0 0\nf 1 2 3\n",
        kTriangle + "v 1 2 0\nvt 0 0\nvt 1 0\nvt 0 .5\nvt .25 1\nf 1/1 2/2 3/3\nf 4/4 3/3 2/2\n",
        "mtllib some.mtl\no thing\ns off\n" + kTriangle +
            "f 1 2 3\nusemtl red\ng one\nf 1 2 3\ng two\ng three\nf 1 3 2\nusemtl blue\n"
            "f 3 2 1\nusemtl red\nf -1 -2 -3\n"}) {
    const Mesh mesh = read(text);
    vtkNew<vtkOBJReader> reader;
    reader->SetFileName((folder_ / "a.obj").c_str());
    reader->Update();
    EXPECT_EQ(difference(reader->GetOutput(), mesh.vtk()), "") << text;
  }
}

// VTK leaves out the line and the point, and with them the fourth point of the file.
TEST_F(ObjTest, LinesAndPointsBesideFacesWithNormals) {
  const Mesh mesh = read(
      "v 0 0 0\nv 1 0 0\nv 0 2 0\nv 5 5 5\nvn 0 0 1\nf 1//1 2//1 3//1\n"
      "usemtl thin\nl 1 4\nl 1 2 3\np 3 4\n");
  auto* data = vtkPolyData::SafeDownCast(mesh.vtk());
  EXPECT_EQ(data->GetNumberOfVerts(), 2);
  EXPECT_EQ(data->GetNumberOfLines(), 2);
  EXPECT_EQ(data->GetNumberOfPolys(), 1);
  EXPECT_EQ(mesh.coordinates(Association::point).row(3), Eigen::RowVector3d(5, 5, 5));
  const RowMatrix normals = point_array(mesh, "Normals");
  EXPECT_EQ(normals.row(2), Eigen::RowVector3d(0, 0, 1));
  EXPECT_TRUE(normals.row(3).array().isNaN().all());
  EXPECT_EQ(cell_array(mesh, "MaterialIds"), (RowMatrix(5, 1) << 1, 1, 1, 1, 0).finished());
  EXPECT_EQ(cell_array(mesh, "GroupIds").rows(), 5);
}

TEST_F(ObjTest, PointsWithSeveralNormalsAreThereOncePerNormal) {
  const Mesh mesh = read(
      "v 0 0 0\nv 1 0 0\nv 0 2 0\nv 0 0 3\nvn 0 0 1\nvn 1 0 0\n"
      "f 1//1 2//1 3//1\nf 1//2 3//2 4//2\nf 1//2 4//2 3//1\n");
  EXPECT_EQ(mesh.count(Association::point), 6);
  EXPECT_EQ(mesh.coordinates(Association::point).row(4), Eigen::RowVector3d(0, 0, 0));
  EXPECT_EQ(mesh.coordinates(Association::point).row(5), Eigen::RowVector3d(0, 2, 0));
  const RowMatrix normals = point_array(mesh, "Normals");
  EXPECT_EQ(normals.row(0), Eigen::RowVector3d(0, 0, 1));
  EXPECT_EQ(normals.row(3), Eigen::RowVector3d(1, 0, 0));
  EXPECT_EQ(normals.row(5), Eigen::RowVector3d(1, 0, 0));
  EXPECT_EQ(area(mesh), 1 + 3 + 3);
}

TEST_F(ObjTest, ColoursOfPoints) {
  const Mesh mesh = read("v 0 0 0\nv 1 0 0 0.1 0.2 0.3\nv 0 2 0 1 0 255\nv 5 5 5\nf 1 2 3\n");
  const RowMatrix colours = point_array(mesh, "RGB");
  ASSERT_EQ(colours.cols(), 3);
  EXPECT_EQ(colours(1, 1), static_cast<double>(0.2f));
  EXPECT_EQ(colours.row(2), Eigen::RowVector3d(1, 0, 255));
  EXPECT_TRUE(colours.row(0).array().isNaN().all());
  EXPECT_TRUE(colours.row(3).array().isNaN().all());
  EXPECT_STREQ(mesh.vtk()->GetPointData()->GetScalars()->GetName(), "RGB");
  EXPECT_EQ(point_array(read("v 0 0 0 1 2 3 4\n"), "RGBA")(0, 3), 4);
  EXPECT_TRUE(read("v 0 0 0 1\nv 1 0 0 0.5\n").arrays().empty());
  expect_says(message("v 0 0 0 1 2 3 4\nv 0 0 0 1 2 3\n"),
              "line 2 has a colour of 3 numbers, those before have 4");
  expect_says(message("v 0 0 0 1 2\n"),
              "line 1 has 5 numbers, expected 3, or 6 or 7 with a colour");
}

TEST_F(ObjTest, KeepsEveryDigit) {
  const Mesh narrow = read("v 0.1 2e10 -3.25e-7\n");
  EXPECT_EQ(vtkPolyData::SafeDownCast(narrow.vtk())->GetPoints()->GetDataType(), VTK_FLOAT);
  EXPECT_EQ(narrow.coordinates(Association::point)(0, 0), static_cast<double>(0.1f));
  const Mesh wide = read("v 1234567.891 0 0\nv 1e-60 0 1e-999\n");
  EXPECT_EQ(wide.coordinates(Association::point)(0, 0), 1234567.891);
  EXPECT_EQ(wide.coordinates(Association::point)(1, 0), 1e-60);
  EXPECT_EQ(wide.coordinates(Association::point)(1, 2), 0);
}

TEST_F(ObjTest, TextureCoordinatesOfOneTwoAndThreeNumbers) {
  const std::string faces = "f 1/1 2/2 3/3\n";
  const Mesh two = read(kTriangle + "vt 0.5\nvt 1 0.25\nvt 0 1\n" + faces);
  EXPECT_EQ(point_array(two, "TCoords"), (RowMatrix(3, 2) << 0.5, 0, 1, 0.25, 0, 1).finished());
  const Mesh three = read(kTriangle + "vt 0.5\nvt 1 0.25 0.125\nvt 0 1\n" + faces);
  EXPECT_EQ(point_array(three, "TCoords").row(1), Eigen::RowVector3d(1, 0.25, 0.125));
  // A slash with nothing behind names none.
  EXPECT_EQ(area(read(kTriangle + "vt 1 1\nf 1/ 2 3//\n")), 1);
}

TEST_F(ObjTest, LinesThatGoOnAndReferencesAhead) {
  const Mesh mesh = read("f 1 \\\n2 \\\r\n3\nv 0 0 \\\n0\nv 1 0 0\nv 0 2 0\\\n\n");
  EXPECT_EQ(area(mesh), 1);
  expect_says(message(kTriangle + "f 1 2 9\nf 1 2 5\nv 0 0 0\n"),
              "line 4 uses point '9', but there are 4");
  expect_says(message("f -1 1 2\n" + kTriangle), "line 1 uses point '-1', but there are 0");
}

TEST_F(ObjTest, LoneReturnsAndTheMarkOfUtf8Text) {
  EXPECT_EQ(area(read("v 0 0 0\rv 1 0 0 # first\rv 0 2 0\rf 1 2 \\\r3\r")), 1);
  EXPECT_EQ(area(read("\xEF\xBB\xBF" + kTriangle + "f 1 2 3\n")), 1);
  EXPECT_EQ(area(read("\xEF\xBB\xBF# by hand\rv 0 0 0\rv 1 0 0\rv 0 2 0\rf 1 2 3")), 1);
  expect_says(message("v 0 0 0\rf 1 2 3\r"), "line 2 uses point '3', but there are 1");
}

TEST_F(ObjTest, WhatIsNotReadIsAnError) {
  expect_says(message(kTriangle + "curv 0 1 1 2 3\n"),
              "line 4 is a curve or a surface, which is not read; make polygons of it");
  expect_says(message(kTriangle + "f 1/2/3/4 2 3\n"), "line 4 uses normal '3/4'");
  expect_says(message(kTriangle + "f /1 2 3\n"), "line 4 uses point ''");
  expect_says(message(kTriangle + "vn 0 0\n"), "line 4 has 2 numbers, expected 3");
  expect_says(message(kTriangle + "vt\n"), "line 4 has 0 numbers, expected 1 to 3");
  expect_says(message(kTriangle + "p\n"), "line 4 is a cell of 0 points");
  expect_says(message(kTriangle + "f 1 2 3x\n"), "line 4 uses point '3x'");
  expect_says(message(kTriangle + "F 1 2 3\n"), "line 4 is no statement of an OBJ file");
  expect_says(message("v 0 0 o\n"), "line 1 holds 'o', expected a number");
  expect_says(message(std::string("v 0 0 0\n\0", 9)), "line 2 holds a zero byte");
}

TEST_F(ObjTest, CommentsBehindStatements) {
  const Mesh mesh = read(
      "# a triangle\nv 0 0 0 # first\nv 1 0 0#second\r\nv 0 2 0\n"
      "g part#1\nf 1 2 3 # 4\n# end\n");
  EXPECT_EQ(mesh.coordinates(Association::point).row(1), Eigen::RowVector3d(1, 0, 0));
  EXPECT_EQ(area(mesh), 1);
  expect_says(message("v 0 0 0 # first\nf 1 2 3 # 4\n"), "line 2 uses point '3', but there are 1");
}

}  // namespace
}  // namespace funcattn
