// Damaged files: an error every time, never a crash and never other data.
#include <gtest/gtest.h>
#include <vtkCellData.h>
#include <vtkObject.h>
#include <vtkPointData.h>

#include <algorithm>
#include <fstream>
#include <random>

#include "core/atomic_file.h"
#include "core/error.h"
#include "meshio/quadrature.h"
#include "meshio/reader.h"
#include "tests/meshio/mesh_samples.h"

namespace funcattn {
namespace {

namespace fs = std::filesystem;

class DamageTest : public FolderTest {
 protected:
  static void write(const fs::path& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary)
        .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
  std::string message(const fs::path& path) {
    return message_of<FileError>([&] { read_mesh(path); });
  }
  /// Error of an XML file made from this text.
  std::string message_of_text(const std::string& extension, const std::string& text) {
    write(folder_ / ("text" + extension), text);
    return message(folder_ / ("text" + extension));
  }
};

/// A few storages whose files differ in structure; byte order and width of the header do not
/// matter for where a file may be cut.
std::vector<Storage> distinct_storages() {
  using Mode = Storage::Mode;
  using Compressor = Storage::Compressor;
  return {{Mode::ascii, Compressor::none, false, false},
          {Mode::binary, Compressor::none, false, false},
          {Mode::binary, Compressor::zlib, true, false},
          {Mode::appended_raw, Compressor::none, true, true},
          {Mode::appended_raw, Compressor::lz4, false, false},
          {Mode::appended_base64, Compressor::zlib, false, false},
          {Mode::appended_base64, Compressor::none, true, false}};
}

/// Lengths at which to cut: all of the head and of the tail, every 17th between.
std::vector<std::size_t> cuts(std::size_t size, std::size_t head) {
  std::vector<std::size_t> lengths;
  for (std::size_t length = 0; length < size; ++length)
    if (length < head || length + 120 > size || length % 17 == 0) lengths.push_back(length);
  std::reverse(lengths.begin(), lengths.end());  // One file can be cut again and again.
  return lengths;
}

TEST_F(DamageTest, XmlCutAnywhere) {
  for (const MeshSample& sample : xml_samples())
    for (const Storage& storage : distinct_storages()) {
      const fs::path path = folder_ / ("whole" + sample.extension);
      store_xml(sample.data, path, storage);
      const std::string bytes = read_file(path);
      const std::size_t end = bytes.find_last_not_of(" \n") + 1;
      const fs::path cut = folder_ / ("cut" + sample.extension);
      write(cut, bytes);
      // The head hardly depends on the storage.
      const std::size_t head = storage.mode == Storage::Mode::appended_base64 ? 2500 : 0;
      for (const std::size_t length : cuts(bytes.size(), head)) {
        fs::resize_file(cut, length);
        try {
          const Mesh mesh = read_mesh(cut);
          EXPECT_GE(length, end) << storage.name() << sample.extension << " cut at " << length;
          EXPECT_EQ(difference(sample.data, mesh.vtk()), "");
        } catch (const FileError& error) {
          EXPECT_LT(length, end) << error.what();
          ASSERT_NE(std::string(error.what()).find(cut.string()), std::string::npos);
          ASSERT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
        }
      }
    }
}

// A legacy file that ends between two of its sections cannot be told from a shorter one; all that
// is read from it must still be right.
TEST_F(DamageTest, LegacyCutAnywhere) {
  for (const MeshSample& sample : legacy_samples())
    for (const bool binary : {false, true}) {
      const fs::path path = folder_ / "whole.vtk";
      store_legacy(sample.data, path, binary);
      const Mesh whole = read_mesh(path);
      const std::string bytes = read_file(path);
      const fs::path cut = folder_ / "cut.vtk";
      write(cut, bytes);
      std::size_t accepted = 0;
      for (const std::size_t length : cuts(bytes.size(), 700)) {
        fs::resize_file(cut, length);
        try {
          const Mesh mesh = read_mesh(cut);
          ++accepted;
          EXPECT_EQ(difference(whole.vtk(), mesh.vtk(), true), "") << length;
        } catch (const FileError& error) {
          ASSERT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
        }
      }
      EXPECT_LT(accepted, 40u) << sample.extension;
    }
}

TEST_F(DamageTest, FlippedBitsNeverCrash) {
  std::mt19937 random(20240229);
  std::size_t refused = 0;
  std::size_t read = 0;
  const auto attempt = [&](const fs::path& path, const std::string& bytes, int mutants) {
    for (int i = 0; i < mutants; ++i) {
      std::string mutant = bytes;
      std::string changes;
      const std::size_t flips = 1 + random() % 3;
      for (std::size_t flip = 0; flip < flips; ++flip) {
        const std::size_t at = random() % mutant.size();
        mutant[at] =
            static_cast<char>(static_cast<unsigned char>(mutant[at]) ^ (1u << random() % 8));
        changes += ::testing::PrintToString(mutant.substr(at < 30 ? 0 : at - 30, 60)) + "; ";
      }
      write(path, mutant);
      testing::internal::CaptureStderr();
      try {
        const Mesh mesh = read_mesh(path);
        ++read;
        EXPECT_EQ(mesh.coordinates(Association::cell).rows(), mesh.count(Association::cell));
        quadrature_weights(mesh, Association::point, {});
      } catch (const FileError& error) {
        ++refused;
        EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
      } catch (const DataError&) {
        // Flipped coordinates may be infinite, or a mesh may have lost its points.
      }
      EXPECT_EQ(testing::internal::GetCapturedStderr(), "") << changes;
    }
  };
  for (const MeshSample& sample : xml_samples())
    for (const Storage& storage : distinct_storages()) {
      const fs::path path = folder_ / ("mutant" + sample.extension);
      store_xml(sample.data, path, storage);
      attempt(path, read_file(path), 60);
    }
  for (const MeshSample& sample : legacy_samples())
    for (const bool binary : {false, true})
      for (const int version : {42, 51}) {
        const fs::path path = folder_ / "mutant.vtk";
        store_legacy(sample.data, path, binary, version);
        attempt(path, read_file(path), 60);
      }
  EXPECT_GT(refused, 1000u);
  EXPECT_GT(read, 100u);
}

TEST_F(DamageTest, NothingReachesTheTerminalAndHostSettingsStay) {
  for (const MeshSample& sample : xml_samples())
    // LZ4 has no checksum: other bytes there may well be other values.
    for (const auto compressor : {Storage::Compressor::zlib, Storage::Compressor::lzma}) {
      const fs::path path = folder_ / ("broken" + sample.extension);
      store_xml(sample.data, path, {Storage::Mode::appended_raw, compressor, false, false});
      std::string bytes = read_file(path);
      // The last compressed piece: only a decompressor notices.
      const auto end = bytes.rfind("\n  </AppendedData>");
      ASSERT_NE(end, std::string::npos);
      bytes.replace(end - 12, 12, 12, '\xff');
      write(path, bytes);
      for (const int display : {0, 1}) {
        vtkObject::SetGlobalWarningDisplay(display);
        testing::internal::CaptureStderr();
        testing::internal::CaptureStdout();
        const std::string text = message(path);
        EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
        EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
        EXPECT_EQ(vtkObject::GetGlobalWarningDisplay(), display);
        expect_says(text, path.string());
      }
      vtkObject::GlobalWarningDisplayOn();
    }
}

std::string surface(const std::string& arrays, const std::string& connectivity = "0 1 2",
                    const std::string& offsets = "3", const std::string& points = "3") {
  return "<?xml version=\"1.0\"?>\n<VTKFile type=\"PolyData\" version=\"0.1\" "
         "byte_order=\"LittleEndian\"><PolyData><Piece NumberOfPoints=\"" +
         points +
         "\" NumberOfVerts=\"0\" NumberOfLines=\"0\" NumberOfStrips=\"0\" NumberOfPolys=\"1\">"
         "<PointData>" +
         arrays +
         "</PointData><Points><DataArray type=\"Float32\" NumberOfComponents=\"3\" "
         "format=\"ascii\">0 0 0 1 0 0 0 1 0</DataArray></Points><Polys>"
         "<DataArray type=\"Int64\" Name=\"connectivity\" format=\"ascii\">" +
         connectivity + "</DataArray><DataArray type=\"Int64\" Name=\"offsets\" format=\"ascii\">" +
         offsets + "</DataArray></Polys></Piece></PolyData></VTKFile>\n";
}

std::string array(const std::string& attributes, const std::string& values) {
  return "<DataArray type=\"Float32\" " + attributes + " format=\"ascii\">" + values +
         "</DataArray>";
}

TEST_F(DamageTest, ArraysThatVtkWouldLoseInSilence) {
  const std::string good = array("Name=\"p\"", "1 2 3");
  write(folder_ / "good.vtp", surface(good));
  EXPECT_EQ(read_mesh(folder_ / "good.vtp").array("p", Association::point).to_double()(2, 0), 3);

  expect_says(message_of_text(".vtp", surface(good + array("", "1 2 3"))),
              "a point array has no name");
  expect_says(message_of_text(".vtp", surface(good + array("Name=\"\"", "1 2 3"))),
              "a point array has no name");
  expect_says(message_of_text(".vtp", surface(good + good)),
              "there are two point arrays named 'p'; rename or remove one");
  expect_says(message_of_text(".vtp", surface(array("Name=\"p\"", "1 2 3 4"))),
              "point array 'p' holds 4 values, expected 3");
  expect_says(
      message_of_text(".vtp", surface(array("Name=\"p\" NumberOfComponents=\"2\"", "1 2 3"))),
      "point array 'p' holds 3 values, expected 6");
  expect_says(message_of_text(".vtp", surface(array("Name=\"p\"", "1 nan 3"))),
              "point array 'p' holds 'nan' as text, which VTK cannot read; store it in binary");
  expect_says(message_of_text(".vtp", surface(array("Name=\"p\"", "1 -inf 3"))), "'-inf' as text");
  expect_says(message_of_text(".vtp", surface(array("Name=\"p\"", "1 2,5 3"))),
              "point array 'p' holds '2,5', expected a number");
  expect_says(message_of_text(".vtp", surface("<DataArray type=\"Float16\" Name=\"p\"/>")),
              "point array 'p' is of the unknown type 'Float16'");
}

TEST_F(DamageTest, CellsThatWouldCrashLater) {
  expect_says(message_of_text(".vtp", surface("", "0 1 99")),
              "cell 0 uses point 99, but the mesh has 3 points");
  expect_says(message_of_text(".vtp", surface("", "0 1 -1")), "uses point -1");
  expect_says(message_of_text(".vtp", surface("", "0 1 2", "4")),
              "<Polys> have 3 entries of connectivity, but the cells use 4");
  expect_says(message_of_text(".vtp", surface("", "0 1 2", "2")),
              "<Polys> have 3 entries of connectivity, but the cells use 2");
  expect_says(message_of_text(".vtp", surface("", "0 1 2", "3", "5")),
              "the array of coordinates holds 9 values, expected 15");
  expect_says(message_of_text(".vtp", surface("", "0 1 2", "3", "4611686018427387904")),
              "the header declares impossible sizes");
  expect_says(message_of_text(".vtp", surface("", "0 1 2", "3", "-3")),
              "NumberOfPoints=\"-3\", expected an integer >= 0");

  store_xml(sample_grid(), folder_ / "grid.vtu", {Storage::Mode::ascii, {}, false, false});
  std::string text = read_file(folder_ / "grid.vtu");
  const auto types = text.find("12 10 13 5");
  ASSERT_NE(types, std::string::npos);
  expect_says(message_of_text(".vtu", std::string(text).replace(types, 10, "12 10 13 0")),
              "cell 3 of type 0 has 3 points, expected 0");
  expect_says(message_of_text(".vtu", std::string(text).replace(types, 10, "12 10 99 5")),
              "cell 2 has the unknown type 99");
  expect_says(message_of_text(".vtu", std::string(text).replace(types, 10, "12 12 13 5")),
              "cell 1 of type 12 has 4 points, expected 8");
}

TEST_F(DamageTest, SizesOfBlocks) {
  store_xml(sample_shifted_image(), folder_ / "image.vti",
            {Storage::Mode::appended_raw, Storage::Compressor::none, true, false});
  const std::string text = read_file(folder_ / "image.vti");
  const auto replaced = [&](const std::string& from, const std::string& to) {
    std::string copy = text;
    for (auto at = copy.find(from); at != std::string::npos; at = copy.find(from, at + to.size()))
      copy.replace(at, from.size(), to);
    return copy;
  };
  expect_says(message_of_text(".vti", replaced("offset=\"0\"", "offset=\"99999\"")),
              "the file is cut short");
  expect_says(message_of_text(".vti", replaced("\"-1 2 0 2 3 4\"", "\"-1 3 0 2 3 4\"")),
              "bytes, expected");
  expect_says(
      message_of_text(".vti", replaced("\"-1 2 0 2 3 4\"", "\"0 2000000000 0 2000000000 0 9\"")),
      "impossible sizes");
  expect_says(message_of_text(".vti", replaced("Piece Extent=\"-1 2 0 2 3 4\"",
                                               "Piece Extent=\"-1 2 0 1 3 4\"")),
              "expected");
  expect_says(message_of_text(".vti", replaced("UInt64\"", "UInt16\"")),
              "its header type is 'UInt16', expected UInt32 or UInt64");
  expect_says(message_of_text(".vti", replaced("byte_order=\"LittleEndian\"",
                                               "byte_order=\"LittleEndian\" "
                                               "compressor=\"vtkBrotliDataCompressor\"")),
              "its compressor 'vtkBrotliDataCompressor' is not known");
}

TEST_F(DamageTest, LegacyBinaryWithALostByte) {
  for (const MeshSample& sample : legacy_samples()) {
    const fs::path path = folder_ / "whole.vtk";
    store_legacy(sample.data, path, true);
    const std::string bytes = read_file(path);
    // "pressure" is an array of the attributes, the others stand in a FIELD.
    for (const std::string head : {"LOOKUP_TABLE default\n", " double\n", " vtktypeint64\n"}) {
      const auto at = bytes.find(head);
      if (at == std::string::npos) continue;
      const std::size_t begin = at + head.size();
      SCOPED_TRACE(sample.extension + " " + head);
      for (const std::size_t position : {begin, begin + 5})
        message_of_text(".vtk", std::string(bytes).erase(position, 1));
      message_of_text(".vtk", std::string(bytes).insert(begin, 1, 'x'));
    }
  }
  // The last array of a file, whose line end then lies inside.
  const std::string head =
      "# vtk DataFile Version 3.0\nt\nBINARY\nDATASET POLYDATA\nPOINTS 1 float\n";
  const std::string zeros(12, '\0');
  write(folder_ / "good.vtk", head + zeros + "\n");
  EXPECT_EQ(read_mesh(folder_ / "good.vtk").count(Association::point), 1);
  write(folder_ / "good.vtk", head + zeros);  // Some writers leave it out.
  EXPECT_EQ(read_mesh(folder_ / "good.vtk").count(Association::point), 1);
  expect_says(message_of_text(".vtk", head + zeros.substr(1) + "\n"),
              "POINTS of 12 bytes has no line end behind it, but inside; the file is damaged");
}

std::string legacy(const std::string& rest) {
  return "# vtk DataFile Version 3.0\ntitle\nASCII\nDATASET POLYDATA\nPOINTS 2 float\n0 0 0 1 0 "
         "0\n" +
         rest;
}

TEST_F(DamageTest, LegacyText) {
  write(folder_ / "good.vtk",
        legacy("LINES 1 3\n2 0 1\nPOINT_DATA 2\nSCALARS my%20array double 1\n"
               "LOOKUP_TABLE default\n1.5 2.5\nVECTORS v float\n0 0 0 1 2 3\n"));
  const Mesh mesh = read_mesh(folder_ / "good.vtk");
  EXPECT_EQ(mesh.array("my array", Association::point).to_double()(1, 0), 2.5);
  EXPECT_EQ(mesh.array("v", Association::point).to_double()(1, 2), 3);

  const std::string head = "POINT_DATA 2\nSCALARS p float 1\nLOOKUP_TABLE default\n";
  expect_says(message_of_text(".vtk", legacy(head + "1 nan\n")),
              "point array 'p' holds 'nan' as text, which VTK reads as wrong numbers");
  expect_says(message_of_text(".vtk", legacy(head + "1 inf\n")), "'inf' as text");
  expect_says(message_of_text(".vtk", legacy(head + "1\n")), "the file is cut short");
  expect_says(message_of_text(".vtk", legacy(head + "1 2")), "must be followed by a line end");
  expect_says(message_of_text(".vtk", legacy(head + "1 2 3\n")), "the unknown keyword");
  expect_says(message_of_text(".vtk", legacy("POINT_DATA 3\n")),
              "POINT_DATA declares 3 rows, expected 2");
  expect_says(message_of_text(".vtk", legacy("LINES 1 3\n2 0 7\n")),
              "cell 0 of LINES uses point 7, but the mesh has 2 points");
  expect_says(message_of_text(".vtk", legacy("LINES 1 3\n5 0 1\n")),
              "runs beyond the declared size");
  expect_says(
      message_of_text(".vtk", legacy(head + "1 2\nSCALARS p float 1\nLOOKUP_TABLE t\n1 2\n")),
      "there are two point arrays named 'p'");
  for (const char* version : {"0.9", "6.0", "18446744073709551615.1", "-3.0"})
    expect_says(message_of_text(".vtk", std::string("# vtk DataFile Version ") + version +
                                            "\nt\nASCII\nDATASET POLYDATA\nPOINTS 0 float\n"),
                "VTK 9.1 reads 1 to 5.1");
  expect_says(message_of_text(".vtk", legacy(head + "1 7e-01e999\n")),
              "holds '7e-01e999' where value 1 of 2 should stand");
  expect_says(message_of_text(".vtk", legacy(head + "1 1e99\n")),
              "holds '1e99' where value 1 of 2 should stand");
  expect_says(message_of_text(".vtk", "# vtk DataFile Version 3.0\nt\nASCII\nDATASET TABLE\n"),
              "its data set type 'TABLE' is not known");
}

}  // namespace
}  // namespace funcattn
