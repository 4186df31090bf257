#include "meshio/writer.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>
#include <vtkCellArray.h>
#include <vtkCellData.h>
#include <vtkDoubleArray.h>
#include <vtkImageData.h>
#include <vtkInformation.h>
#include <vtkInformationStringKey.h>
#include <vtkPointData.h>
#include <vtkPolyData.h>

#include <csignal>

#include "core/atomic_file.h"
#include "core/error.h"
#include "meshio/reader.h"
#include "tests/meshio/mesh_samples.h"

namespace funcattn {
namespace {

namespace fs = std::filesystem;

class WriterTest : public FolderTest {};

TEST_F(WriterTest, EveryFormatAndEncodingKeepsEverything) {
  for (const MeshSample& sample : xml_samples())
    for (const Encoding encoding : {Encoding::appended, Encoding::binary, Encoding::ascii})
      for (const Compression compression : {Compression::none, Compression::zlib})
        for (const std::string& extension : {sample.extension, std::string(".vtk")}) {
          const bool legacy_text = extension == ".vtk" && encoding == Encoding::ascii;
          auto* image = vtkImageData::SafeDownCast(sample.data);
          if (extension == ".vtk" && image && image->GetExtent()[0] != 0)
            continue;  // Rounded differently; LegacyImagesKeepAllDigits has this case.
          const fs::path path = folder_ / ("mesh" + extension);
          write_mesh(Mesh(sample.data, "sample"), path, {encoding, compression});
          const Mesh read = read_mesh(path);
          EXPECT_EQ(entries(), 1u);
          if (!legacy_text) {
            EXPECT_EQ(difference(sample.data, read.vtk()), "")
                << extension << static_cast<int>(encoding);
          }
          vtkDataArray* active = read.vtk()->GetPointData()->GetScalars();
          ASSERT_NE(active, nullptr) << extension;
          EXPECT_STREQ(active->GetName(), "pressure");
          fs::remove(path);
        }
}

TEST_F(WriterTest, LegacyImagesKeepAllDigits) {
  vtkNew<vtkImageData> image;
  image->SetDimensions(3, 4, 2);
  image->SetSpacing(1.0 / 3, 0.1, 1e-7 / 3);
  image->SetOrigin(1e6 + 0.25, M_PI, -1.0 / 7);
  for (const Encoding encoding : {Encoding::binary, Encoding::ascii}) {
    write_mesh(Mesh(image.GetPointer(), "image"), folder_ / "a.vtk", {encoding});
    EXPECT_EQ(difference(image, read_mesh(folder_ / "a.vtk").vtk()), "");
  }
  const auto shifted = sample_shifted_image();
  write_mesh(Mesh(shifted, "image"), folder_ / "b.vtk");
  const Mesh read = read_mesh(folder_ / "b.vtk");
  EXPECT_TRUE(read.coordinates(Association::point)
                  .isApprox(Mesh(shifted, "").coordinates(Association::point), 1e-15));
}

TEST_F(WriterTest, NamesThatXmlMustEscape) {
  const auto data = sample_grid();
  vtkNew<vtkDoubleArray> array;
  array->SetName("a < b & \"c\" > 'd' é");
  array->SetNumberOfComponents(2);
  array->SetComponentName(0, "<&>");
  array->SetNumberOfTuples(12);
  array->Fill(0.5);
  array->GetInformation()->Set(vtkDataArray::UNITS_LABEL(), "kg < m & s");
  data->GetPointData()->AddArray(array);
  data->GetPointData()->SetActiveVectors("velocity");
  data->GetPointData()->SetActiveScalars(array->GetName());
  for (const Encoding encoding : {Encoding::appended, Encoding::ascii})
    for (const char* name : {"a.vtu", "a.pvtu"}) {
      WriteOptions options;
      options.encoding = encoding;
      write_mesh(Mesh(data, "grid"), folder_ / name, options);
      EXPECT_STREQ(data->GetPointData()->GetArrayName(3), array->GetName()) << "input modified";
      const Mesh read = read_mesh(folder_ / name);
      EXPECT_EQ(difference(data, read.vtk()), "") << name;
      EXPECT_STREQ(read.vtk()->GetPointData()->GetScalars()->GetName(), array->GetName());
      EXPECT_STREQ(read.vtk()->GetPointData()->GetVectors()->GetName(), "velocity");
      EXPECT_EQ(read.arrays().at(3).unit, "kg < m & s");
    }
  for (const std::string& bad : {std::string("a\x01z"), std::string("a\xffz")}) {
    array->SetName(bad.c_str());
    expect_says(message_of<FileError>([&] { write_mesh(Mesh(data, "grid"), folder_ / "b.vtu"); }),
                "which XML cannot hold; rename it");
  }
}

TEST_F(WriterTest, StorageIsAsAskedFor) {
  const Mesh mesh(sample_grid(), "grid");
  const auto head = [&](const WriteOptions& options) {
    write_mesh(mesh, folder_ / "a.vtu", options);
    EXPECT_EQ(difference(mesh.vtk(), read_mesh(folder_ / "a.vtu").vtk()), "");
    return read_file(folder_ / "a.vtu");
  };
  const auto holds = [](const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
  };
  for (const Encoding encoding : {Encoding::appended, Encoding::appended_base64, Encoding::binary})
    for (const HeaderWidth header : {HeaderWidth::bits32, HeaderWidth::bits64})
      for (const auto& [compression, name] :
           {std::pair(Compression::none, "compressor="), std::pair(Compression::zlib, "ZLib"),
            std::pair(Compression::lz4, "LZ4"), std::pair(Compression::lzma, "LZMA")}) {
        const std::string text = head({encoding, compression, 9, header});
        EXPECT_EQ(holds(text, name), compression != Compression::none);
        EXPECT_TRUE(holds(text, header == HeaderWidth::bits32 ? "UInt32\"" : "UInt64\""));
        EXPECT_EQ(holds(text, "encoding=\"raw\""), encoding == Encoding::appended);
        EXPECT_EQ(holds(text, "encoding=\"base64\""), encoding == Encoding::appended_base64);
      }
  WriteOptions options;
  options.compression_level = 10;
  expect_says(message_of<UsageError>([&] { write_mesh(mesh, folder_ / "a.vtu", options); }),
              "the compression level is 10, expected 1 (fast) to 9 (small)");
}

TEST_F(WriterTest, TimeOfTheTreeIsWritten) {
  const MeshTree tree(make_polyline(RowMatrix::Random(3, 3), "line").vtk(), "line", 1.0 / 3);
  write_mesh_tree(tree, folder_ / "line.vtp");
  EXPECT_EQ(read_mesh_tree(folder_ / "line.vtp").time(), 1.0 / 3);
}

TEST_F(WriterTest, SuggestsAnExtension) {
  EXPECT_EQ(suggested_extension(MeshTree(sample_grid(), "")), ".vtu");
  EXPECT_EQ(suggested_extension(MeshTree(sample_blocks(), "")), ".vtm");
}

TEST_F(WriterTest, KeepsTheUnitOfAnArray) {
  const Mesh mesh = make_polyline(RowMatrix::Random(3, 3), "line")
                        .with_array({"speed", Association::point, 1, "m/s"}, RowMatrix::Ones(3, 1));
  write_mesh(mesh, folder_ / "line.vtp");
  EXPECT_EQ(read_mesh(folder_ / "line.vtp").arrays().at(0).unit, "m/s");
}

TEST_F(WriterTest, KeepsNonFiniteNumbersExceptInAscii) {
  const Mesh mesh =
      make_polyline(RowMatrix::Random(3, 3), "line")
          .with_array({"p", Association::point, 1, ""}, Eigen::Vector3d(1, NAN, -INFINITY));
  for (const char* name : {"a.vtp", "a.vtk"})
    for (const Encoding encoding : {Encoding::appended, Encoding::binary}) {
      write_mesh(mesh, folder_ / name, {encoding});
      EXPECT_EQ(difference(mesh.vtk(), read_mesh(folder_ / name).vtk()), "");
    }
  for (const char* name : {"b.vtp", "b.vtk"})
    expect_says(message_of<FileError>([&] { write_mesh(mesh, folder_ / name, {Encoding::ascii}); }),
                "row 1 of point array 'p' is not finite, which VTK cannot read back from ASCII");
  EXPECT_EQ(entries(), 2u);
}

TEST_F(WriterTest, MeshWithoutPointsIsWrittenWithItsArrays) {
  const Mesh empty = make_point_cloud(RowMatrix::Zero(0, 3), "empty")
                         .with_array({"p", Association::point, 1, ""}, RowMatrix::Zero(0, 1));
  write_mesh(empty, folder_ / "empty.vtp");
  const Mesh read = read_mesh(folder_ / "empty.vtp");
  EXPECT_EQ(read.count(Association::point), 0);
}

TEST_F(WriterTest, SaysWhatIsWrongWithTheTarget) {
  const Mesh mesh(sample_grid(), "grid");
  const auto message = [&](const fs::path& path) {
    return message_of<FileError>([&] { write_mesh(mesh, path); });
  };
  expect_says(message(folder_ / "absent" / "a.vtu"), "does not exist; create it first");
  fs::create_directory(folder_ / "folder.vtu");
  expect_says(message(folder_ / "folder.vtu"), "it is a folder; give a file name");
  expect_says(message_of<UsageError>([&] { write_mesh(mesh, folder_ / "a.xyz"); }),
              "the extension '.xyz' is not known; known: .vtp, .vtu, .vti, .vts, .vtr, .pvtp");
  expect_says(message_of<UsageError>([&] { write_mesh(mesh, folder_ / "a.vtp"); }),
              "the data are a vtkUnstructuredGrid, which .vtp cannot hold; use .vtu or .vtk");
  EXPECT_EQ(entries(), 1u);
}

TEST_F(WriterTest, RespectsWriteProtection) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
  const Mesh mesh(sample_grid(), "grid");
  write_file_atomically(folder_ / "old.vtu", "old");
  fs::permissions(folder_ / "old.vtu", fs::perms::owner_read);
  expect_says(message_of<FileError>([&] { write_mesh(mesh, folder_ / "old.vtu"); }),
              "the file is write-protected");
  EXPECT_EQ(read_file(folder_ / "old.vtu"), "old");
  fs::permissions(folder_, fs::perms::owner_read | fs::perms::owner_exec);
  expect_says(message_of<FileError>([&] { write_mesh(mesh, folder_ / "new.vtu"); }),
              "cannot write '");
  fs::permissions(folder_, fs::perms::owner_all);
}

/// Files larger than the limit cannot be written while this lives, as on a full disk.
class SmallFiles {
 public:
  explicit SmallFiles(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    handler_ = std::signal(SIGXFSZ, SIG_IGN);
    rlimit limit = before_;
    limit.rlim_cur = bytes;
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~SmallFiles() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  void (*handler_)(int) = SIG_DFL;
};

TEST_F(WriterTest, OldFileSurvivesAFullDisk) {
  const RowMatrix points = RowMatrix::Random(20000, 3);
  const Mesh mesh = make_point_cloud(points, "cloud");
  for (const char* name : {"a.vtp", "a.vtk"})
    for (const Encoding encoding : {Encoding::appended, Encoding::binary, Encoding::ascii}) {
      const fs::path path = folder_ / name;
      write_file_atomically(path, "old");
      testing::internal::CaptureStderr();
      std::string text;
      {
        const SmallFiles limit(64 << 10);
        text = message_of<FileError>([&] { write_mesh(mesh, path, {encoding}); });
      }
      EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
      expect_says(text, "cannot write '" + path.string() + "': ");
      EXPECT_EQ(read_file(path), "old");
      EXPECT_EQ(entries(), 1u) << "nothing half-written may stay";
      fs::remove(path);
    }
}

TEST_F(WriterTest, RefusesWhatCouldNotBeReadBack) {
  const auto message = [&](const Mesh& mesh) {
    return message_of<FileError>([&] { write_mesh(mesh, folder_ / "a.vtu"); });
  };
  vtkNew<vtkDoubleArray> array;
  array->SetNumberOfTuples(12);
  const Mesh unnamed(sample_grid(), "grid");
  unnamed.vtk()->GetPointData()->AddArray(array);
  expect_says(message(unnamed), "point array number 4 has no name; name it");
  array->SetName("pressure");
  expect_says(message(unnamed), "there are two point arrays named 'pressure'");
  array->SetName("short");
  array->SetNumberOfTuples(9);
  expect_says(message(unnamed), "point array 'short' has 9 rows, expected one per point: 12");

  vtkNew<vtkPolyData> beyond;
  beyond->ShallowCopy(sample_surface());
  vtkNew<vtkCellArray> lines;
  const vtkIdType ids[] = {0, 99};
  lines->InsertNextCell(2, ids);
  beyond->SetLines(lines);
  beyond->GetCellData()->Initialize();
  expect_says(message_of<FileError>(
                  [&] { write_mesh(Mesh(beyond.GetPointer(), "surface"), folder_ / "a.vtp"); }),
              "cell 2 uses point 99, but the mesh has 12 points");
  EXPECT_EQ(entries(), 0u);
}

TEST_F(WriterTest, LegacyFilesOfEmptyDataSets) {
  for (const bool binary : {false, true})
    for (const MeshSample& sample : xml_samples()) {
      const auto empty = vtkSmartPointer<vtkDataSet>::Take(sample.data->NewInstance());
      store_legacy(empty, folder_ / "empty.vtk", binary);
      EXPECT_EQ(read_mesh(folder_ / "empty.vtk").count(Association::point), 0)
          << sample.extension << binary;
    }
}

TEST_F(WriterTest, LegacyNamesThatVtkCouldNotRead) {
  const auto written = [&](const std::string& name, const std::string& component) {
    const auto data = sample_surface();
    data->GetPointData()->GetArray("pressure")->SetName(name.c_str());
    data->GetPointData()->GetArray("velocity")->SetComponentName(0, component.c_str());
    write_mesh(Mesh(data, "surface"), folder_ / "long.vtk");
    EXPECT_EQ(difference(data, read_mesh(folder_ / "long.vtk").vtk()), "");
  };
  written(std::string(255, 'p'), std::string(255, 'x'));
  written(std::string(85, ' '), "x");
  const auto message = [&](const std::string& name, const std::string& component) {
    return message_of<UsageError>([&] { written(name, component); });
  };
  expect_says(message(std::string(256, 'p'), "x"),
              "p' takes 256 bytes in .vtk, which can hold 255; write XML");
  expect_says(message("a" + std::string(85, '%'), "x"), "takes 256 bytes in .vtk");
  expect_says(message("p", std::string(256, 'x')),
              "the name of a component of point array 'velocity' takes 256 bytes");
  write_file_atomically(folder_ / "read.vtk",
                        "# vtk DataFile Version 3.0\nt\nASCII\nDATASET POLYDATA\nPOINTS 1 float\n"
                        "0 0 0\nPOINT_DATA 1\nSCALARS " +
                            std::string(256, 'p') + " float 1\nLOOKUP_TABLE default\n1\n");
  expect_says(message_of<FileError>([&] { read_mesh(folder_ / "read.vtk"); }),
              "a name of 256 bytes; VTK reads 255 at most");
}

TEST_F(WriterTest, RefusesWhatTheLegacyFormatLoses) {
  vtkNew<vtkImageData> turned;
  turned->SetDimensions(2, 2, 2);
  const double direction[] = {0, 1, 0, -1, 0, 0, 0, 0, 1};
  turned->SetDirectionMatrix(direction);
  const Mesh mesh(turned.GetPointer(), "turned");
  expect_says(message_of<UsageError>([&] { write_mesh(mesh, folder_ / "a.vtk"); }),
              "the image has a direction matrix, which .vtk cannot hold; write .vti");
  write_mesh(mesh, folder_ / "a.vti");
  EXPECT_EQ(difference(turned, read_mesh(folder_ / "a.vti").vtk()), "");
}

}  // namespace
}  // namespace funcattn
