// Exodus, OpenFOAM, EnSight and VTKHDF.
#include <gtest/gtest.h>
#include <hdf5.h>
#include <vtkCellData.h>
#include <vtkDoubleArray.h>
#include <vtkExodusIIWriter.h>
#include <vtkIdTypeArray.h>
#include <vtkNew.h>
#include <vtkPointData.h>
#include <vtkUnsignedCharArray.h>
#include <vtkUnstructuredGrid.h>

#include <fstream>

#include "core/atomic_file.h"
#include "core/error.h"
#include "meshio/quadrature.h"
#include "meshio/reader.h"
#include "tests/meshio/mesh_samples.h"

namespace funcattn {
namespace {

namespace fs = std::filesystem;

class SolverFormatsTest : public FolderTest {
 protected:
  void put(const std::string& name, const std::string& content) const {
    fs::create_directories((folder_ / name).parent_path());
    write_file_atomically(folder_ / name, content);
  }
  std::string message(const fs::path& path) {
    return message_of<FileError>([&] { read_mesh_tree(path); });
  }
};

double volume(const MeshTree& tree) {
  double sum = 0;
  for (const Mesh& leaf : tree.leaves())
    sum += quadrature_weights(leaf, Association::cell, {WeightKind::measure, ""}).sum();
  return sum;
}

// ---- Exodus ----

vtkSmartPointer<vtkUnstructuredGrid> tetrahedra() {
  vtkNew<vtkPoints> points;
  points->SetDataTypeToDouble();
  points->InsertNextPoint(0, 0, 0);
  points->InsertNextPoint(1, 0, 0);
  points->InsertNextPoint(0, 1, 0);
  points->InsertNextPoint(0, 0, 1);
  points->InsertNextPoint(1, 1, 1);
  auto grid = vtkSmartPointer<vtkUnstructuredGrid>::New();
  grid->SetPoints(points);
  const vtkIdType first[] = {0, 1, 2, 3};
  const vtkIdType second[] = {1, 2, 3, 4};
  grid->InsertNextCell(VTK_TETRA, 4, first);
  grid->InsertNextCell(VTK_TETRA, 4, second);
  vtkNew<vtkDoubleArray> pressure;
  pressure->SetName("pressure");
  for (int i = 0; i < 5; ++i) pressure->InsertNextValue(i / 3.0);
  grid->GetPointData()->AddArray(pressure);
  return grid;
}

void store_exodus(const fs::path& path) {
  vtkNew<vtkExodusIIWriter> writer;
  writer->SetFileName(path.c_str());
  writer->SetInputData(tetrahedra());
  writer->SetStoreDoubles(1);
  writer->Write();
}

TEST_F(SolverFormatsTest, Exodus) {
  const fs::path path = folder_ / "a.e";
  store_exodus(path);
  const MeshTree tree = read_mesh_tree(path);
  ASSERT_EQ(tree.leaves().size(), 1u);
  EXPECT_EQ(tree.block_paths()[0].rfind("Element Blocks/", 0), 0u) << tree.block_paths()[0];
  const Mesh& leaf = tree.leaves()[0];
  EXPECT_EQ(leaf.count(Association::cell), 2);
  EXPECT_DOUBLE_EQ(leaf.array("pressure", Association::point).to_double()(4, 0), 4 / 3.0);
  EXPECT_NEAR(volume(tree), 1.0 / 6 + 1.0 / 3, 1e-14);
  fs::copy_file(path, folder_ / "renamed.vtk");
  EXPECT_EQ(read_mesh_tree(folder_ / "renamed.vtk").leaves().size(), 1u);
}

TEST_F(SolverFormatsTest, DamagedExodus) {
  const fs::path path = folder_ / "a.e";
  store_exodus(path);
  const std::string bytes = read_file(path);
  for (std::size_t length = 4; length + 4 < bytes.size(); length += 37) {
    write_file_atomically(path, bytes.substr(0, length));
    message(path);
  }
  // The nodes of the second tetrahedron, as big-endian 32-bit integers from 1 on.
  const std::string nodes{0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0, 5};
  const auto at = bytes.find(nodes);
  ASSERT_NE(at, std::string::npos);
  std::string text = bytes;
  text[at + 15] = 6;
  write_file_atomically(path, text);
  expect_says(message(path), "entry 7 of 'connect1' uses node 6, but the mesh has 5 nodes");
}

// ---- OpenFOAM ----

std::string foam_header(const std::string& kind, const std::string& object) {
  return "FoamFile\n{\n version 2.0;\n format ascii;\n class " + kind + ";\n object " + object +
         ";\n}\n";
}

/// Two unit cubes side by side, with the cell field p at two times.
class FoamTest : public SolverFormatsTest {
 protected:
  void SetUp() override {
    SolverFormatsTest::SetUp();
    std::string points;
    for (int z = 0; z < 2; ++z)
      for (int y = 0; y < 2; ++y)
        for (int x = 0; x < 3; ++x)
          points +=
              "(" + std::to_string(x) + " " + std::to_string(y) + " " + std::to_string(z) + ")\n";
    put("constant/polyMesh/points",
        foam_header("vectorField", "points") + "12\n(\n" + points + ")\n");
    put("constant/polyMesh/faces",
        foam_header("faceList", "faces") +
            "11\n(\n4(1 4 10 7)\n4(0 6 9 3)\n4(0 1 7 6)\n4(3 9 10 4)\n4(0 3 4 1)\n4(6 7 10 9)\n"
            "4(2 5 11 8)\n4(1 2 8 7)\n4(4 10 11 5)\n4(1 4 5 2)\n4(7 8 11 10)\n)\n");
    put("constant/polyMesh/owner",
        foam_header("labelList", "owner") + "11\n(\n0\n0\n0\n0\n0\n0\n1\n1\n1\n1\n1\n)\n");
    put("constant/polyMesh/neighbour", foam_header("labelList", "neighbour") + "1\n(\n1\n)\n");
    put("constant/polyMesh/boundary", foam_header("polyBoundaryMesh", "boundary") +
                                          "1\n(\nwall\n{\n type wall;\n nFaces 10;\n startFace "
                                          "1;\n}\n)\n");
    put("system/controlDict", foam_header("dictionary", "controlDict") +
                                  "startTime 0;\nendTime 1;\ndeltaT 0.5;\nwriteInterval 1;\n");
    for (const char* time : {"0", "0.5"})
      put(std::string(time) + "/p",
          foam_header("volScalarField", "p") +
              "dimensions [0 2 -2 0 0 0 0];\ninternalField nonuniform List<scalar> 2\n(\n" +
              (*time == '0' && time[1] ? "7 8" : "1 2") +
              "\n);\nboundaryField\n{\n wall { type zeroGradient; }\n}\n");
    std::ofstream(folder_ / "case.foam").flush();
  }
};

TEST_F(FoamTest, EveryStep) {
  const fs::path path = folder_ / "case.foam";
  EXPECT_EQ(time_steps(path), (std::vector<double>{0, 0.5}));
  for (const double time : {0.0, 0.5}) {
    const MeshTree tree = read_mesh_tree(path, {time});
    EXPECT_EQ(tree.time(), time);
    EXPECT_NEAR(volume(tree), 2, 1e-12);
    ASSERT_EQ(tree.leaves().size(), 1u);
    EXPECT_EQ(tree.block_paths()[0], "internalMesh");
    const RowMatrix p = tree.leaves()[0].array("p", Association::cell).to_double();
    EXPECT_EQ(p(1, 0), time == 0 ? 2 : 8);
    EXPECT_FALSE(tree.leaves()[0].has_array("p", Association::point)) << "as it is in the case";
  }
  expect_says(message_of<FileError>([&] { read_mesh_tree(path, {0.25}); }),
              "it has no time step 0.25; its times are 0, 0.5");
}

TEST_F(FoamTest, DamagedCases) {
  const fs::path path = folder_ / "case.foam";
  put("elsewhere/case.foam", " ");
  expect_says(message(folder_ / "elsewhere/case.foam"), "there is no folder constant/polyMesh");
  for (const char* name : {"points", "faces", "owner", "boundary"}) {
    const fs::path file = folder_ / "constant/polyMesh" / name;
    const std::string bytes = read_file(file);
    for (const double part : {0.3, 0.6, 0.9}) {
      write_file_atomically(
          file,
          bytes.substr(0, static_cast<std::size_t>(part * static_cast<double>(bytes.size()))));
      message(path);
    }
    fs::remove(file);
    message(path);
    write_file_atomically(file, bytes);
  }
  read_mesh_tree(path);
}

// ---- EnSight ----

class EnSightTest : public SolverFormatsTest {
 protected:
  void SetUp() override {
    SolverFormatsTest::SetUp();
    put("a.case",
        "FORMAT\ntype: ensight gold\n\nGEOMETRY\nmodel: a.geo\n\nVARIABLE\n"
        "scalar per node: 1 pressure a_**.p\nscalar per element: material a.m\n\nTIME\n"
        "time set: 1\nnumber of steps: 2\nfilename start number: 0\nfilename increment: 1\n"
        "time values: 0.25 1.5\n");
    put("a.geo",
        "title\nsecond line\nnode id assign\nelement id assign\npart\n         1\nwing\n"
        "coordinates\n         4\n 0.00000e+00\n 1.00000e+00\n 0.00000e+00\n 0.00000e+00\n"
        " 0.00000e+00\n 0.00000e+00\n 1.00000e+00\n 0.00000e+00\n 0.00000e+00\n 0.00000e+00\n"
        " 0.00000e+00\n 1.00000e+00\ntetra4\n         1\n         1         2         3         "
        "4\n");
    for (const char* step : {"00", "01"})
      put(std::string("a_") + step + ".p",
          std::string("pressure\npart\n         1\ncoordinates\n 1.00000e+00\n 2.00000e+00\n "
                      "3.00000e+00\n ") +
              (step[1] == '1' ? "9" : "4") + ".00000e+00\n");
    put("a.m", "material\npart\n         1\ntetra4\n 5.00000e+00\n");
  }
};

TEST_F(EnSightTest, EveryStep) {
  EXPECT_EQ(time_steps(folder_ / "a.case"), (std::vector<double>{0.25, 1.5}));
  for (const double time : {0.25, 1.5}) {
    const MeshTree tree = read_mesh_tree(folder_ / "a.case", {time});
    EXPECT_EQ(tree.time(), time);
    EXPECT_NEAR(volume(tree), 1.0 / 6, 1e-7);
    ASSERT_EQ(tree.block_paths(), std::vector<std::string>{"wing"});
    EXPECT_EQ(tree.leaves()[0].array("pressure", Association::point).to_double()(3, 0),
              time == 0.25 ? 4 : 9);
    EXPECT_EQ(tree.leaves()[0].array("material", Association::cell).to_double()(0, 0), 5);
  }
}

TEST_F(EnSightTest, MissingFiles) {
  fs::remove(folder_ / "a.m");
  expect_says(message(folder_ / "a.case"), "a.m': no such file");
  put("a.m", "material\npart\n         1\ntetra4\n 5.00000e+00\n");
  fs::remove(folder_ / "a_00.p");
  message(folder_ / "a.case");
  put("b.case", "FORMAT\ntype: ensight gold\n");
  expect_says(message(folder_ / "b.case"), "its GEOMETRY names no model");
}

// ---- VTKHDF ----

class Group {
 public:
  explicit Group(hid_t id) : id_(id) {}
  ~Group() { H5Gclose(id_); }
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;
  operator hid_t() const { return id_; }

 private:
  hid_t id_;
};

template <class T>
void put_values(hid_t group, const char* name, hid_t type, const std::vector<hsize_t>& shape,
                const std::vector<T>& values) {
  const hid_t space = H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr);
  const hid_t set = H5Dcreate2(group, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  ASSERT_GE(H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0);
  H5Dclose(set);
  H5Sclose(space);
}

struct HdfChanges {
  std::string type = "UnstructuredGrid";
  std::int64_t version = 1;
  std::int64_t last_id = 4;
  bool steps = false;
};

void store_vtkhdf(const fs::path& path, const HdfChanges& changes = {}) {
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  ASSERT_GE(file, 0);
  {
    const Group group(H5Gcreate2(file, "VTKHDF", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    const hsize_t two = 2;
    const std::int64_t version[] = {changes.version, 0};
    hid_t space = H5Screate_simple(1, &two, nullptr);
    hid_t attribute =
        H5Acreate2(group, "Version", H5T_NATIVE_INT64, space, H5P_DEFAULT, H5P_DEFAULT);
    H5Awrite(attribute, H5T_NATIVE_INT64, version);
    H5Aclose(attribute);
    H5Sclose(space);
    if (!changes.type.empty()) {
      const hid_t text = H5Tcopy(H5T_C_S1);
      H5Tset_size(text, changes.type.size());
      space = H5Screate(H5S_SCALAR);
      attribute = H5Acreate2(group, "Type", text, space, H5P_DEFAULT, H5P_DEFAULT);
      H5Awrite(attribute, text, changes.type.c_str());
      H5Aclose(attribute);
      H5Sclose(space);
      H5Tclose(text);
    }
    const auto list = [&](const char* name, const std::vector<std::int64_t>& values) {
      put_values(group, name, H5T_NATIVE_INT64, {values.size()}, values);
    };
    list("NumberOfPoints", {5});
    list("NumberOfCells", {2});
    list("NumberOfConnectivityIds", {8});
    list("Offsets", {0, 4, 8});
    list("Connectivity", {0, 1, 2, 3, 1, 2, 3, changes.last_id});
    put_values<std::uint8_t>(group, "Types", H5T_NATIVE_UINT8, {2}, {VTK_TETRA, VTK_TETRA});
    put_values<double>(group, "Points", H5T_NATIVE_DOUBLE, {5, 3},
                       {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1});
    const Group fields(H5Gcreate2(group, "PointData", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    put_values<double>(fields, "pressure", H5T_NATIVE_DOUBLE, {5}, {0, 1, 2, 3, 4.5});
    if (changes.steps)
      const Group steps(H5Gcreate2(group, "Steps", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  }
  H5Fclose(file);
}

TEST_F(SolverFormatsTest, Vtkhdf) {
  const fs::path path = folder_ / "a.vtkhdf";
  store_vtkhdf(path);
  const MeshTree tree = read_mesh_tree(path);
  EXPECT_TRUE(tree.is_single());
  EXPECT_NEAR(volume(tree), 0.5, 1e-14);
  EXPECT_EQ(tree.leaves()[0].array("pressure", Association::point).to_double()(4, 0), 4.5);
}

TEST_F(SolverFormatsTest, VtkhdfVariantsAndDamage) {
  const fs::path path = folder_ / "a.vtkhdf";
  const auto message_with = [&](const HdfChanges& changes) {
    store_vtkhdf(path, changes);
    return message(path);
  };
  HdfChanges changes;
  changes.type = "";
  expect_says(message_with(changes), "its group VTKHDF has no attribute 'Type'");
  changes = {};
  changes.type = "PolyData";
  expect_says(message_with(changes),
              "its Type is 'PolyData'; VTK 9.1 reads ImageData and UnstructuredGrid");
  changes = {};
  changes.version = 2;
  expect_says(message_with(changes), "it is of version 2.0 of VTKHDF; VTK 9.1 reads version 1.0");
  changes = {};
  changes.last_id = 5;
  expect_says(message_with(changes),
              "cell 1 of Connectivity uses point 5, but the mesh has 5 points");
  changes = {};
  changes.steps = true;
  expect_says(message_with(changes), "it holds time steps, which VTK 9.1 cannot read from VTKHDF");
  store_vtkhdf(path);
  const std::string bytes = read_file(path);
  for (std::size_t length = 8; length < bytes.size(); length += 211) {
    write_file_atomically(path, bytes.substr(0, length));
    expect_says(message(path), "HDF5 cannot open it");
  }
  const hid_t other = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  H5Fclose(other);
  expect_says(message(path), "it has no group VTKHDF");
}

}  // namespace
}  // namespace funcattn
