// STL, PLY and OBJ, with damage found before it does harm.
#include <gtest/gtest.h>
#include <vtkCubeSource.h>
#include <vtkNew.h>
#include <vtkOBJWriter.h>
#include <vtkPLYReader.h>
#include <vtkPLYWriter.h>
#include <vtkPointData.h>
#include <vtkPolyData.h>
#include <vtkSTLWriter.h>
#include <vtkSphereSource.h>
#include <vtkTriangleFilter.h>
#include <vtkUnsignedCharArray.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "core/atomic_file.h"
#include "core/error.h"
#include "core/text.h"
#include "meshio/quadrature.h"
#include "meshio/reader.h"
#include "meshio/writer.h"
#include "tests/meshio/mesh_samples.h"

namespace funcattn {
namespace {

namespace fs = std::filesystem;

vtkSmartPointer<vtkPolyData> sphere() {
  vtkNew<vtkSphereSource> source;
  source->SetThetaResolution(12);
  source->SetPhiResolution(9);
  source->Update();
  return source->GetOutput();
}

class SurfaceFormatsTest : public FolderTest {
 protected:
  /// Every kind of file with the sphere in it.
  std::vector<fs::path> store_all() const {
    std::vector<fs::path> files;
    for (const bool binary : {false, true}) {
      const std::string name = binary ? "binary" : "text";
      vtkNew<vtkSTLWriter> stl;
      store(stl.GetPointer(), name + ".stl", binary, files);
      vtkNew<vtkPLYWriter> ply;
      store(ply.GetPointer(), name + ".ply", binary, files);
    }
    vtkNew<vtkPLYWriter> big;
    big->SetDataByteOrderToBigEndian();
    store(big.GetPointer(), "big.ply", true, files);
    vtkNew<vtkOBJWriter> obj;
    files.push_back(folder_ / "text.obj");
    obj->SetFileName(files.back().c_str());
    obj->SetInputData(sphere());
    obj->Write();
    return files;
  }
  std::string message(const std::string& name, const std::string& content) {
    write_file_atomically(folder_ / name, content);
    return message_of<FileError>([&] { read_mesh(folder_ / name); });
  }

 private:
  template <class Writer>
  void store(Writer* writer, const std::string& name, bool binary,
             std::vector<fs::path>& files) const {
    files.push_back(folder_ / name);
    writer->SetFileName(files.back().c_str());
    writer->SetInputData(sphere());
    if (binary)
      writer->SetFileTypeToBinary();
    else
      writer->SetFileTypeToASCII();
    ASSERT_EQ(writer->Write(), 1);
  }
};

double area(const Mesh& mesh) {
  return quadrature_weights(mesh, Association::point, {WeightKind::measure, ""}).sum();
}

TEST_F(SurfaceFormatsTest, GiveTheSurfaceThatWasStored) {
  const auto expected = sphere();
  const double expected_area = area(Mesh(expected.GetPointer(), "sphere"));
  for (const fs::path& file : store_all()) {
    const Mesh mesh = read_mesh(file);
    EXPECT_EQ(mesh.count(Association::point), expected->GetNumberOfPoints()) << file;
    EXPECT_EQ(mesh.count(Association::cell), expected->GetNumberOfCells()) << file;
    EXPECT_NEAR(area(mesh) / expected_area, 1, 1e-5) << file;
    // The content counts, where it says what it is.
    if (file.extension() == ".obj") continue;
    fs::copy_file(file, folder_ / "renamed.vtu", fs::copy_options::overwrite_existing);
    EXPECT_EQ(difference(mesh.vtk(), read_mesh(folder_ / "renamed.vtu").vtk()), "");
  }
}

TEST_F(SurfaceFormatsTest, CutAnywhereIsAnError) {
  for (const fs::path& file : store_all()) {
    const std::string bytes = read_file(file);
    const fs::path cut = folder_ / ("cut" + file.extension().string());
    const std::size_t points = file.extension() == ".obj" ? bytes.find("\nf ") : 0;
    for (std::size_t length = 1; length + 3 < bytes.size(); length += 1 + length / 40) {
      write_file_atomically(cut, bytes.substr(0, length));
      try {
        const Mesh mesh = read_mesh(cut);
        // An OBJ file does not say how many lines it has; what is there must be right.
        ASSERT_EQ(file.extension(), ".obj") << file << " cut at " << length;
        if (length > points) {
          EXPECT_LE(mesh.count(Association::cell), sphere()->GetNumberOfCells());
        }
      } catch (const FileError& error) {
        ASSERT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
      }
    }
  }
}

TEST_F(SurfaceFormatsTest, SayWhatIsWrong) {
  expect_says(message("a.stl", "solid x\nfacet normal 0 0 1\nouter loop\nvertex 0 0 o\n"),
              "line 4 holds 'o', expected a number");
  expect_says(message("a.stl", "solid x\nfacet normal 0 0 1\nouter loop\nendloop\n"),
              "line 4 holds 'endloop', expected 'vertex'");
  expect_says(message("a.stl", "solid x\nfacet normal 0 0 1\n"),
              "it ends before 'endsolid'; the file is cut short");
  expect_says(message("a.stl", std::string(200, 'x')), "it is no STL file, or it is cut short");
  const std::string ply =
      "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\n"
      "property float y\nproperty float z\nelement face 1\n"
      "property list uchar int vertex_indices\nend_header\n0 0 0\n1 0 0\n0 1 0\n";
  write_file_atomically(folder_ / "good.ply", ply + "3 0 1 2\n");
  EXPECT_EQ(read_mesh(folder_ / "good.ply").count(Association::cell), 1);
  expect_says(message("a.ply", ply + "3 0 1 3\n"), "cell 0 uses point 3, but the mesh has 3");
  expect_says(message("a.ply", ply + "3 0 1 -1\n"), "cell 0 uses point -1");
  expect_says(message("a.ply", ply + "4 0 1 2\n"), "line 13 ends early");
  expect_says(message("a.ply", ply + "3 0 1 2 2\n"), "line 13 has more numbers than declared");
  expect_says(message("a.ply", ply), "it ends at face 0 of 1; the file is cut short");
  expect_says(message("a.ply", "ply\nformat ascii 1.0\nelement vertex -3\n"),
              "line 3 of its header holds no number of elements");
  const std::string obj = "v 0 0 0\nv 1 0 0\nv 0 1 0\n";
  write_file_atomically(folder_ / "good.obj", obj + "f 1 2 3\nf -1 -2 -3\nl 1 2\n");
  EXPECT_EQ(read_mesh(folder_ / "good.obj").count(Association::cell), 3);
  expect_says(message("a.obj", obj + "f 1 2 4\n"), "line 4 uses point '4', but there are 3");
  expect_says(message("a.obj", obj + "f 1 2 0\n"), "line 4 uses point '0'");
  expect_says(message("a.obj", obj + "f 1 2 3/1\n"),
              "uses texture coordinate '1', but there are 0");
  expect_says(message("a.obj", obj + "f 1 2\n"), "line 4 is a cell of 2 points");
  expect_says(message("a.obj", "hello\n"), "line 1 is no statement of an OBJ file");
  for (const char* name : {"b.stl", "b.ply", "b.obj"})
    expect_says(message_of<UsageError>(
                    [&] { write_mesh(Mesh(sphere().GetPointer(), "sphere"), folder_ / name); }),
                "can be read, but VTK has no writer that keeps every array; use .vtp");
}

TEST_F(SurfaceFormatsTest, WhatCrashesTheReadersOfVtkIsAnError) {
  const std::string header =
      "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\n"
      "property float z\nelement face 2\nproperty list uchar int vertex_indices\nend_header\n"
      "0 0 0\n1 0 0\n1 1 0\n0 1 0\n";
  // Faces of no point, of one and of two.
  expect_says(message("b.ply", header + "0\n3 0 2 3\n"), "is a polygon of 0 points");
  expect_says(message("c.ply", header + "1 0\n3 0 2 3\n"), "is a polygon of 1 point, expected");
  expect_says(message("d.ply", header + "2 0 1\n3 0 2 3\n"), "is a polygon of 2 points");
}

TEST_F(SurfaceFormatsTest, StlOfSeveralSolidsInAnyCaseAndOfNone) {
  const auto facet = [](const std::string& z) {
    return "facet normal 0 0 1\nouter loop\nvertex 0 0 " + z + "\nvertex 1 0 " + z +
           "\nvertex 0 1 " + z + "\nendloop\nendfacet\n";
  };
  const std::string two = "solid a\n" + facet("0") + "endsolid a\n\nsolid b\n" + facet("5") +
                          facet("7") + "endsolid b\n";
  std::string upper = two;
  for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  for (const std::string& text : {two, upper}) {
    write_file_atomically(folder_ / "a.stl", text);
    const Mesh mesh = read_mesh(folder_ / "a.stl");
    EXPECT_EQ(area(mesh), 1.5);
    EXPECT_EQ(mesh.array("STLSolidLabeling", Association::cell).to_double(),
              (RowMatrix(3, 1) << 0, 1, 1).finished());
  }
  write_file_atomically(folder_ / "b.stl", "Solid a\n" + facet("0") + "EndSolid");
  EXPECT_TRUE(read_mesh(folder_ / "b.stl").arrays().empty());
  expect_says(message("c.stl", two + "solid c\n" + facet("0")), "it ends before 'endsolid'");
  expect_says(message("c.stl", two + facet("0")), "holds 'facet', expected 'solid'");
  write_file_atomically(folder_ / "none.stl", std::string(84, '\0'));
  EXPECT_EQ(read_mesh(folder_ / "none.stl").count(Association::point), 0);
}

TEST_F(SurfaceFormatsTest, StlWithSomethingBeforeOrBehind) {
  for (const fs::path& file : store_all()) {
    if (file.extension() != ".stl") continue;
    const std::string bytes = read_file(file);
    const Mesh expected = read_mesh(file);
    const bool binary = file.filename() == "binary.stl";
    for (const std::string extra : {"\n", "\r\n", " \n\n"}) {
      write_file_atomically(folder_ / "a.stl", binary ? bytes + extra : extra + bytes);
      EXPECT_EQ(difference(expected.vtk(), read_mesh(folder_ / "a.stl").vtk()), "") << file;
      // The content says what it is, under any name.
      write_file_atomically(folder_ / "a.vtu", binary ? bytes + extra : extra + bytes);
      EXPECT_EQ(difference(expected.vtk(), read_mesh(folder_ / "a.vtu").vtk()), "") << file;
    }
  }
  // Enough for one more triangle: one of the two is wrong.
  const std::string bytes = read_file(folder_ / "binary.stl");
  expect_says(message("b.stl", bytes + std::string(50, '\0')), "its size does not fit the number");
  // A title of blanks belongs to the header.
  write_file_atomically(folder_ / "c.stl", std::string(80, ' ') + bytes.substr(80));
  EXPECT_EQ(read_mesh(folder_ / "c.stl").count(Association::cell),
            read_mesh(folder_ / "binary.stl").count(Association::cell));
}

std::string ply(const std::string& format, const std::string& header, const std::string& body) {
  return "ply\nformat " + format + " 1.0\n" + header + "end_header\n" + body;
}

const std::string kPoints =
    "element vertex 4\nproperty float x\nproperty float y\nproperty float z\n";
const std::string kFaces = "element face 1\nproperty list uchar int vertex_indices\n";
const std::string kSquare = "0 0 0\n1 0 0\n1 1 0\n0 1 0";

TEST_F(SurfaceFormatsTest, PlyGivesTheArraysThatVtkGives) {
  const auto data = sphere();
  vtkNew<vtkUnsignedCharArray> colours;
  colours->SetName("colours");
  colours->SetNumberOfComponents(3);
  for (vtkIdType i = 0; i < data->GetNumberOfPoints(); ++i)
    colours->InsertNextTuple3(i, 2 * i, 255 - i);
  data->GetPointData()->AddArray(colours);
  for (const int type : {VTK_ASCII, VTK_BINARY}) {
    const fs::path file = folder_ / "colours.ply";
    vtkNew<vtkPLYWriter> writer;
    writer->SetFileName(file.c_str());
    writer->SetInputData(data);
    writer->SetFileType(type);
    writer->SetArrayName("colours");
    ASSERT_EQ(writer->Write(), 1);
    vtkNew<vtkPLYReader> reader;
    reader->SetFileName(file.c_str());
    reader->Update();
    const Mesh mesh = read_mesh(file);
    EXPECT_EQ(difference(reader->GetOutput(), mesh.vtk()), "");
    EXPECT_TRUE(mesh.has_array("RGB", Association::point));
    EXPECT_STREQ(mesh.vtk()->GetPointData()->GetScalars()->GetName(), "RGB");
  }
}

TEST_F(SurfaceFormatsTest, PlyGivesTheNormalsAndColoursThatVtkGives) {
  const fs::path file = folder_ / "a.ply";
  write_file_atomically(
      file, ply("ascii",
                "element vertex 3\nproperty float x\nproperty float y\nproperty float z\n"
                "property float nx\nproperty float ny\nproperty float nz\nproperty uchar red\n"
                "property uchar green\nproperty uchar blue\nproperty uchar alpha\n"
                "property float u\nproperty float v\nelement face 1\n"
                "property list uchar int vertex_indices\nproperty uchar intensity\n"
                "property uchar red\nproperty uchar green\nproperty uchar blue\n",
                "0 0 0 0.1 0.2 0.3 1 2 3 4 0.5 0.6\n1 0 0 0.4 0.5 0.6 5 6 7 8 0.7 0.8\n"
                "0 1 0 0.7 0.8 0.9 9 10 11 12 0.9 1\n3 0 1 2 77 13 14 15\n"));
  vtkNew<vtkPLYReader> reader;
  reader->SetFileName(file.c_str());
  reader->Update();
  const Mesh mesh = read_mesh(file);
  EXPECT_EQ(difference(reader->GetOutput(), mesh.vtk()), "");
  EXPECT_EQ(mesh.array("Normals", Association::point).to_double()(2, 0), static_cast<double>(0.7f));
  EXPECT_EQ(mesh.array("RGBA", Association::point).to_double()(1, 3), 8);
  EXPECT_EQ(mesh.array("TCoords", Association::point).to_double()(2, 1), 1);
  EXPECT_EQ(mesh.array("RGB", Association::cell).to_double()(0, 2), 15);
  EXPECT_EQ(mesh.array("intensity", Association::cell).to_double()(0, 0), 77);
}

TEST_F(SurfaceFormatsTest, PlyLosesNothing) {
  const std::string header =
      "element face 2\nproperty list uint8 uint vertex_index\nproperty short part\n"
      "property list uchar float texcoord\n"
      "element vertex 3\nproperty double x\nproperty double y\nproperty double z\n"
      "property float quality\nproperty uchar red\nproperty float32 nan\n"
      "element edge 1\nproperty int vertex1\nproperty list char int more\n";
  write_file_atomically(folder_ / "a.ply",
                        ply("ascii", header,
                            "3 0 1 2 -7 2 0.5 0.25\n3 2 1 0 8 2 1 0\n"
                            "0.1 0 0 1.5 255 nan\n1 0 1e-300 2 3 -inf\n0 1 0 -0 4 1\n1 2 5 6"));
  const Mesh mesh = read_mesh(folder_ / "a.ply");
  EXPECT_EQ(mesh.coordinates(Association::point)(0, 0), 0.1);
  EXPECT_EQ(mesh.coordinates(Association::point)(1, 2), 1e-300);
  EXPECT_EQ(mesh.array("part", Association::cell).to_double()(0, 0), -7);
  EXPECT_EQ(mesh.array("texcoord", Association::cell).to_double(),
            (RowMatrix(2, 2) << 0.5, 0.25, 1, 0).finished());
  EXPECT_EQ(mesh.array("quality", Association::point).to_double()(1, 0), 2);
  EXPECT_EQ(mesh.array("red", Association::point).to_double()(0, 0), 255);
  EXPECT_TRUE(std::isnan(mesh.array("nan", Association::point).to_double()(0, 0)));
  EXPECT_EQ(mesh.array("nan", Association::point).to_double()(1, 0), -INFINITY);
  EXPECT_EQ(mesh.field("edge.vertex1").to_double()(0, 0), 1);
  EXPECT_EQ(mesh.field("edge.more").to_double(), (RowMatrix(2, 1) << 5, 6).finished());
  EXPECT_EQ(mesh.field("edge.more.count").to_double()(0, 0), 2);
}

TEST_F(SurfaceFormatsTest, PlyWithoutALastLineEndAndWithLargePolygons) {
  write_file_atomically(folder_ / "a.ply", ply("ascii", kPoints, kSquare));
  const Mesh points = read_mesh(folder_ / "a.ply");
  EXPECT_EQ(points.coordinates(Association::point).row(3), Eigen::RowVector3d(0, 1, 0));
  write_file_atomically(folder_ / "b.ply", ply("ascii", kPoints + kFaces, kSquare + "\n4 0 1 2 3"));
  EXPECT_EQ(area(read_mesh(folder_ / "b.ply")), 1);
  // A regular polygon of 300 corners, whose number of points needs a ushort.
  std::string body;
  std::string face = "300";
  for (int i = 0; i < 300; ++i) {
    const double angle = 2 * M_PI * i / 300;
    body += format_number(std::cos(angle)) + " " + format_number(std::sin(angle)) + " 0\n";
    face += " " + std::to_string(i);
  }
  write_file_atomically(
      folder_ / "c.ply",
      ply("ascii",
          "element vertex 300\nproperty double x\nproperty double y\nproperty double z\n"
          "element face 1\nproperty list ushort int vertex_indices\n",
          body + face + "\n"));
  const Mesh polygon = read_mesh(folder_ / "c.ply");
  EXPECT_EQ(polygon.count(Association::point), 300);
  EXPECT_NEAR(area(polygon), 150 * std::sin(2 * M_PI / 300), 1e-12);
}

TEST_F(SurfaceFormatsTest, PlyWithBlanksAndEmptyLines) {
  const std::string text = ply("ascii", kPoints + kFaces, kSquare + "\n4 0 1 2 3\n");
  std::string blanks;
  for (const char c : text) blanks += c == '\n' ? std::string(" \t\r\n") : std::string(1, c);
  write_file_atomically(folder_ / "a.ply", blanks);
  EXPECT_EQ(area(read_mesh(folder_ / "a.ply")), 1);
  write_file_atomically(folder_ / "b.ply",
                        ply("ascii", kPoints + kFaces, "\n" + kSquare + "\n\n \n4 0 1 2 3\n\n"));
  EXPECT_EQ(area(read_mesh(folder_ / "b.ply")), 1);
  // A line end behind binary elements.
  for (const std::string end : {"", "\n", "\r\n"}) {
    write_file_atomically(folder_ / "c.ply",
                          ply("binary_little_endian", kPoints, std::string(48, '\0') + end));
    EXPECT_EQ(read_mesh(folder_ / "c.ply").count(Association::point), 4) << end.size();
  }
  for (const std::string& end : {std::string("\n\n"), std::string("\r"), std::string(1, '\0')})
    expect_says(message("c.ply", ply("binary_little_endian", kPoints, std::string(48, '\0') + end)),
                "something follows behind its last element");
}

TEST_F(SurfaceFormatsTest, PlyWithLoneReturnsAndRowsOverSeveralLines) {
  const auto with_returns = [](std::string text) {
    std::replace(text.begin(), text.end(), '\n', '\r');
    return text;
  };
  const std::string text = ply("ascii", kPoints + kFaces, kSquare + "\n4 0 1 2 3\n");
  write_file_atomically(folder_ / "a.ply", with_returns(text));
  EXPECT_EQ(area(read_mesh(folder_ / "a.ply")), 1);
  // Bytes of numbers that are line ends as well stay what they are.
  const std::string header = ply("binary_little_endian", kPoints, "");
  std::string body(48, '\0');
  body[0] = '\n';
  body[5] = '\r';
  for (const std::string end : {"", "\r"}) {
    write_file_atomically(folder_ / "b.ply", with_returns(header) + body + end);
    const Mesh mesh = read_mesh(folder_ / "b.ply");
    EXPECT_EQ(mesh.coordinates(Association::point)(0, 0), std::ldexp(10, -149));
    EXPECT_EQ(mesh.coordinates(Association::point)(0, 1), std::ldexp(13 * 256, -149));
  }
  write_file_atomically(folder_ / "c.ply", ply("ascii", kPoints + kFaces,
                                               "0 0\n0\n1 0 0\n1\n\n1 0\n0 1 0\n4\n0 1\n2 3\n"));
  const Mesh wrapped = read_mesh(folder_ / "c.ply");
  EXPECT_EQ(area(wrapped), 1);
  EXPECT_EQ(wrapped.coordinates(Association::point).row(2), Eigen::RowVector3d(1, 1, 0));
  // A lost number is noticed, since each row begins on a line of its own.
  expect_says(
      message("d.ply", ply("ascii", kPoints + kFaces, "0 0 0\n1 0\n1 1 0\n0 1 0\n4 0 1 2 3\n")),
      "line 12 has more numbers than declared for the row that begins on line 11");
  expect_says(message("d.ply", ply("ascii", kPoints, "0 0 0\n1 0 0\n1 1 0\n0 1\n\n")),
              "line 11 ends early");
}

TEST_F(SurfaceFormatsTest, PlyThatCannotBeReadRight) {
  expect_says(message("a.ply", ply("ascii", kPoints + kFaces, kSquare + "\n256 0 1 2 3\n")),
              "line 14 holds '256', expected a number of the declared type");
  expect_says(message("a.ply", ply("ascii", kPoints, kSquare + "\n7\n")),
              "something follows behind its last element");
  expect_says(message("a.ply", ply("ascii", kPoints + "property uchar red\n",
                                   "0 0 0 1.5\n1 0 0 1\n1 1 0 1\n0 1 0 1\n")),
              "line 9 holds '1.5', expected a number of the declared type");
  expect_says(message("a.ply", ply("ascii", kPoints, "0 0 1e99\n1 0 0\n1 1 0\n0 1 0\n")),
              "holds '1e99'");
  expect_says(message("a.ply", ply("ascii",
                                   kPoints + "element tristrips 1\n"
                                             "property list int int vertex_indices\n",
                                   kSquare + "\n3 0 1 2\n")),
              "it holds strips of triangles, which are not read; store them as faces");
  expect_says(message("a.ply", ply("binary_little_endian",
                                   "element vertex 2000000000\nproperty float x\n"
                                   "property float y\nproperty float z\n",
                                   std::string(24, '\0'))),
              "declares 2000000000 rows of 'vertex', more than the file holds");
  expect_says(message("a.ply", ply("binary_little_endian", kPoints, std::string(47, '\0'))),
              "it ends inside its elements");
}

}  // namespace
}  // namespace funcattn
