#include "meshio/reader.h"

#include <gtest/gtest.h>
#include <vtkCellData.h>
#include <vtkDataArray.h>
#include <vtkPointData.h>

#include <fstream>

#include "core/atomic_file.h"
#include "core/error.h"
#include "meshio/quadrature.h"
#include "tests/meshio/mesh_samples.h"

namespace funcattn {
namespace {

namespace fs = std::filesystem;

class ReaderTest : public FolderTest {};

TEST_F(ReaderTest, EveryXmlStorageGivesTheSameBits) {
  for (const MeshSample& sample : xml_samples())
    for (const Storage& storage : all_storages()) {
      const fs::path path = folder_ / (storage.name() + sample.extension);
      store_xml(sample.data, path, storage);
      const Mesh mesh = read_mesh(path);
      EXPECT_EQ(difference(sample.data, mesh.vtk()), "") << path;
      EXPECT_EQ(mesh.origin(), path.string());
    }
}

TEST_F(ReaderTest, LegacyFilesGiveTheSameBits) {
  for (const MeshSample& sample : legacy_samples())
    for (const int version : {42, 51})
      for (const bool binary : {false, true}) {
        const fs::path path = folder_ / "sample.vtk";
        store_legacy(sample.data, path, binary, version);
        const Mesh mesh = read_mesh(path);
        // Text of the legacy format has fewer digits than the numbers.
        if (binary) {
          EXPECT_EQ(difference(sample.data, mesh.vtk()), "") << sample.extension << version;
        } else {
          EXPECT_EQ(mesh.count(Association::point), sample.data->GetNumberOfPoints());
          EXPECT_EQ(mesh.count(Association::cell), sample.data->GetNumberOfCells());
          EXPECT_TRUE(
              mesh.array("velocity", Association::point)
                  .to_double()
                  .isApprox(Mesh(sample.data, "").array("velocity", Association::point).to_double(),
                            1e-9));
        }
      }
}

TEST_F(ReaderTest, KeepsActiveScalars) {
  store_xml(sample_grid(), folder_ / "a.vtu", {});
  const Mesh mesh = read_mesh(folder_ / "a.vtu");
  vtkDataArray* active = mesh.vtk()->GetPointData()->GetScalars();
  ASSERT_NE(active, nullptr);
  EXPECT_STREQ(active->GetName(), "pressure");
}

TEST_F(ReaderTest, ExtensionIsReadInAnyCase) {
  store_xml(sample_surface(), folder_ / "surface.VTP", {});
  EXPECT_EQ(read_mesh(folder_ / "surface.VTP").count(Association::cell), 8);
}

TEST_F(ReaderTest, MeshWithoutPointsIsRead) {
  vtkSmartPointer<vtkDataSet> empty;
  for (const MeshSample& sample : xml_samples()) {
    if (sample.extension == ".vti" || sample.extension == ".vtr") continue;
    empty.TakeReference(sample.data->NewInstance());
    const fs::path path = folder_ / ("empty" + sample.extension);
    store_xml(empty, path, {});
    EXPECT_EQ(read_mesh(path).count(Association::point), 0) << path;
  }
}

TEST_F(ReaderTest, SaysWhatIsWrongWithTheFile) {
  const auto message = [](const fs::path& path) {
    return message_of<FileError>([&] { read_mesh(path); });
  };
  expect_says(message(folder_ / "absent.vtu"), "absent.vtu': no such file");
  expect_says(message(folder_), "it is a folder; give a file");
  std::ofstream(folder_ / "empty.vtp").flush();
  expect_says(message(folder_ / "empty.vtp"), "the file is empty");
  write_file_atomically(folder_ / "mesh.xyz", "v 0 0 0\n");
  expect_says(message(folder_ / "mesh.xyz"),
              "the extension '.xyz' is not known; known: .vtp, .vtu, .vti, .vts, .vtr, .pvtp");
  expect_says(message("/dev/null"), "it is not a regular file");

  write_file_atomically(folder_ / "table.vtp",
                        "<VTKFile type=\"Table\" version=\"1.0\"><Table/></VTKFile>");
  expect_says(message(folder_ / "table.vtp"),
              "it is a VTK XML file of type 'Table', which is no mesh that can be read");
  write_file_atomically(folder_ / "text.vtp", "hello, world\n");
  expect_says(message(folder_ / "text.vtp"), "it is not a VTK XML file");
  write_file_atomically(folder_ / "other.vtp", "<html></html>\n");
  expect_says(message(folder_ / "other.vtp"), "its root element is <html>, expected <VTKFile>");
  write_file_atomically(folder_ / "text.vtk", "hello, world\n");
  expect_says(message(folder_ / "text.vtk"), "it is not a legacy VTK file");
}

TEST_F(ReaderTest, ContentWinsOverTheExtension) {
  for (const MeshSample& sample : xml_samples())
    for (const char* extension : {".vtp", ".vtu", ".vtk", ".unknown", ""}) {
      const fs::path path = folder_ / (std::string("mesh") + extension);
      store_xml(sample.data, path, {});
      EXPECT_EQ(difference(sample.data, read_mesh(path).vtk()), "") << path;
    }
  for (const MeshSample& sample : legacy_samples()) {
    store_legacy(sample.data, folder_ / "legacy.vtp", true);
    EXPECT_EQ(difference(sample.data, read_mesh(folder_ / "legacy.vtp").vtk()), "");
  }
}

TEST_F(ReaderTest, ListsFormats) {
  std::vector<std::string> read_only;
  std::vector<std::string> writable;
  std::vector<std::string> timed;
  for (const FileFormat& format : file_formats()) {
    (format.writable ? writable : read_only).push_back(format.extension);
    if (format.has_time) timed.push_back(format.extension);
    EXPECT_FALSE(format.description.empty());
    EXPECT_TRUE(format.readable);
  }
  EXPECT_EQ(writable, (std::vector<std::string>{".vtp", ".vtu", ".vti", ".vts", ".vtr", ".pvtp",
                                                ".pvtu", ".pvti", ".pvts", ".pvtr", ".vtm", ".vtmb",
                                                ".vtpd", ".vtpc", ".vtk"}));
  EXPECT_EQ(read_only, (std::vector<std::string>{".vtkhdf", ".hdf", ".stl", ".ply", ".obj", ".e",
                                                 ".exo", ".ex2", ".case", ".foam"}));
  EXPECT_EQ(timed, (std::vector<std::string>{".e", ".exo", ".ex2", ".case", ".foam"}));
}

TEST_F(ReaderTest, RealFiles) {
  const auto shared = shared_data();
  if (!shared) GTEST_SKIP() << "the folder of shared data is not here";
  for (const char* name : {"001.vtp", "002.vtp", "004.vtp"}) {
    const Mesh car = read_mesh(*shared / "cars" / name);
    EXPECT_EQ(car.count(Association::point), 3586);
    EXPECT_EQ(car.count(Association::cell), 7168);
    ASSERT_EQ(car.arrays().size(), 1u);
    EXPECT_EQ(car.arrays()[0].name, "pressure");
    EXPECT_EQ(car.array("pressure", Association::point).first_non_finite(), -1);
    const Eigen::VectorXd points = quadrature_weights(car, Association::point, {});
    const Eigen::VectorXd cells = quadrature_weights(car, Association::cell, {});
    EXPECT_NEAR(points.sum() / cells.sum(), 1, 1e-12);
    EXPECT_GT(cells.minCoeff(), 0);
  }
  const Mesh darcy = read_mesh(*shared / "darcy" / "test16" / "0000.vti");
  EXPECT_EQ(darcy.count(Association::point), 256);
  EXPECT_EQ(darcy.array("permeability_high", Association::point).type(), ScalarType::uint8);
  const Eigen::VectorXd weights = quadrature_weights(darcy, Association::point, {});
  EXPECT_DOUBLE_EQ(weights[0], 1.0 / 256 / 4);
  EXPECT_DOUBLE_EQ(weights[1], 1.0 / 256 / 2);
  EXPECT_DOUBLE_EQ(weights[17], 1.0 / 256);
}

}  // namespace
}  // namespace funcattn
