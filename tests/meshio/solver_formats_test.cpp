// Exodus, OpenFOAM, EnSight and VTKHDF.
#include <gtest/gtest.h>
#include <hdf5.h>
#include <vtkFieldData.h>
#include <vtkStringArray.h>

#include "core/atomic_file.h"
#include "core/error.h"
#include "meshio/quadrature.h"
#include "meshio/reader.h"
#include "tests/meshio/mesh_samples.h"
#include "tests/meshio/solver_samples.h"

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
  // VTK takes what is in its memory for names that are not there.
  text = bytes;
  const auto name = bytes.find("name_nod_var");
  ASSERT_NE(name, std::string::npos);
  text[name] = 'g';
  write_file_atomically(path, text);
  expect_says(message(path),
              "it has no text 'name_nod_var' with the 1 names that 'num_nod_var' declares");
}

// ---- OpenFOAM ----

class FoamTest : public SolverFormatsTest {
 protected:
  void SetUp() override {
    SolverFormatsTest::SetUp();
    store_foam(folder_);
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
    store_ensight(folder_);
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

TEST_F(EnSightTest, ComplexVariablesAndQuotationMarks) {
  const std::string head = "FORMAT\ntype: ensight gold\n\nGEOMETRY\nmodel: a.geo\n\nVARIABLE\n";
  put("c.case", head + "complex scalar per node: wave a_00.p a_01.p 50.0\n");
  const MeshTree tree = read_mesh_tree(folder_ / "c.case");
  const RowMatrix wave = tree.leaves()[0].array("wave", Association::point).to_double();
  ASSERT_EQ(wave.cols(), 2);
  EXPECT_EQ(wave(3, 0), 4);
  EXPECT_EQ(wave(3, 1), 9);
  put("d.case", head + "complex scalar per node: wave a_00.p b.p 50.0\n");
  expect_says(message(folder_ / "d.case"), "line 8: cannot read '" + (folder_ / "b.p").string());
  put("e.case", head + "scalar per node: p \"a_00.p\"\n");
  expect_says(message(folder_ / "e.case"),
              "line 8 holds a name between quotation marks, which VTK cannot read; remove");
}

// ---- VTKHDF ----

TEST_F(SolverFormatsTest, Vtkhdf) {
  const fs::path path = folder_ / "a.vtkhdf";
  store_vtkhdf(path);
  const MeshTree tree = read_mesh_tree(path);
  EXPECT_TRUE(tree.is_single());
  EXPECT_NEAR(volume(tree), 0.5, 1e-14);
  EXPECT_EQ(tree.leaves()[0].array("pressure", Association::point).to_double()(4, 0), 4.5);
}

// VTK reads one kind of text. Of the others it would be HDF5 that speaks, on standard error.
TEST_F(SolverFormatsTest, VtkhdfTextInTheFieldData) {
  const fs::path path = folder_ / "a.vtkhdf";
  HdfChanges changes;
  const auto store = [&](HdfChanges::FieldText kind) {
    changes.field_text = kind;
    store_vtkhdf(path, changes);
  };
  store(HdfChanges::FieldText::variable);
  const MeshTree tree = read_mesh_tree(path);
  auto* names = vtkStringArray::SafeDownCast(
      tree.leaves()[0].vtk()->GetFieldData()->GetAbstractArray("names"));
  ASSERT_NE(names, nullptr);
  ASSERT_EQ(names->GetNumberOfValues(), 2);
  EXPECT_EQ(names->GetValue(1), "outlet");
  for (const auto kind : {HdfChanges::FieldText::variable_utf8, HdfChanges::FieldText::fixed}) {
    store(kind);
    ::testing::internal::CaptureStderr();
    expect_says(message(path),
                "its array 'FieldData/names' holds text that is not of variable length in ASCII, "
                "which VTK 9.1 cannot read; store it as such text, or remove it");
    EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
  }
  store(HdfChanges::FieldText::scalar);
  expect_says(message(path),
              "its data set 'names' is a single value, which VTK 9.1 cannot read; store it as a "
              "list of one");
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
  changes = {};
  changes.text = true;
  expect_says(message_with(changes),
              "its array 'PointData/label' holds text, which VTK 9.1 cannot read; store it as");
  changes = {};
  changes.booleans = true;
  expect_says(message_with(changes), "its array 'PointData/inside' holds booleans");
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
