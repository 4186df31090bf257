// STL, PLY and OBJ: read through VTK, with damage found first.
#include <gtest/gtest.h>
#include <vtkCubeSource.h>
#include <vtkNew.h>
#include <vtkOBJWriter.h>
#include <vtkPLYWriter.h>
#include <vtkPolyData.h>
#include <vtkSTLWriter.h>
#include <vtkSphereSource.h>
#include <vtkTriangleFilter.h>

#include "core/atomic_file.h"
#include "core/error.h"
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
  expect_says(message("a.ply", "ply\nformat ascii 1.0\nelement vertex 999999999999\n"),
              "line 3 of its header holds no number of elements");
  const std::string obj = "v 0 0 0\nv 1 0 0\nv 0 1 0\n";
  write_file_atomically(folder_ / "good.obj", obj + "f 1 2 3\nf -1 -2 -3\nl 1 2\n");
  EXPECT_EQ(read_mesh(folder_ / "good.obj").count(Association::cell), 3);
  expect_says(message("a.obj", obj + "f 1 2 4\n"), "line 4 uses point '4', but there are 3");
  expect_says(message("a.obj", obj + "f 1 2 0\n"), "line 4 uses point '0'");
  expect_says(message("a.obj", obj + "f 1 2 3/1\n"),
              "uses texture coordinate '1', but there are 0");
  expect_says(message("a.obj", obj + "f 1 2\n"), "line 4 is a cell of 2 points");
  expect_says(message("a.obj", "hello\n"), "it is no OBJ file");
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
  // No end of the last line; faces of no point, of one and of two.
  expect_says(message("a.ply", header + "3 0 1 2\n3 0 2 3"), "VTK's reader crashes on it");
  expect_says(message("b.ply", header + "0\n3 0 2 3\n"), "is a polygon of 0 points");
  expect_says(message("c.ply", header + "1 0\n3 0 2 3\n"), "is a polygon of 1 point, expected");
  expect_says(message("d.ply", header + "2 0 1\n3 0 2 3\n"), "is a polygon of 2 points");
  expect_says(message("e.obj", "v 0 0 0\nv 1 0 0\nv 1 1 0\nf 1/ 2 3\n"),
              "VTK's reader crashes on it");
}

}  // namespace
}  // namespace funcattn
