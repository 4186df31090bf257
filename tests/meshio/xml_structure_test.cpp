// Elements of VTK XML files that VTK would pass over without a word.
#include <gtest/gtest.h>
#include <vtkDataArray.h>
#include <vtkImageData.h>
#include <vtkInformation.h>
#include <vtkInformationStringKey.h>
#include <vtkMultiBlockDataSet.h>
#include <vtkNew.h>
#include <vtkPointData.h>

#include "core/atomic_file.h"
#include "core/error.h"
#include "meshio/reader.h"
#include "meshio/series.h"
#include "meshio/writer.h"
#include "tests/meshio/mesh_samples.h"

namespace funcattn {
namespace {

namespace fs = std::filesystem;

class XmlStructureTest : public FolderTest {
 protected:
  /// The file's text with the first `from` replaced.
  static std::string with(const fs::path& file, const std::string& from, const std::string& to) {
    std::string text = read_file(file);
    const auto at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from << " in " << file;
    return at == std::string::npos ? text : text.replace(at, from.size(), to);
  }
  static std::string replaced(std::string text, const std::string& from, const std::string& to) {
    for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
      text.replace(at, from.size(), to);
    return text;
  }
  std::string message(const std::string& name, const std::string& text) const {
    write_file_atomically(folder_ / name, text);
    return message_of<FileError>([&] { read_mesh_tree(folder_ / name); });
  }
  fs::path stored(vtkDataSet* data, const std::string& name) const {
    store_xml(data, folder_ / name, {Storage::Mode::ascii, {}, false, false});
    return folder_ / name;
  }
};

TEST_F(XmlStructureTest, SerialFiles) {
  const fs::path file = stored(sample_surface(), "a.vtp");
  expect_says(message("b.vtp", replaced(read_file(file), "PointData", "PontData")),
              "has an element <PontData> inside <Piece>, where VTK would pass over it; expected "
              "<PointData>, <CellData>, <Points>, <Verts>, <Lines>, <Strips>, <Polys>");
  expect_says(
      message("b.vtp", "<VTKFile type=\"PolyData\">\n<PolyData>\n<Riece/></PolyData></VTKFile>"),
      "line 3 has an element <Riece> inside <PolyData>");
  expect_says(message("b.vtp", with(file, "</VTKFile>", "<PolyData></PolyData></VTKFile>")),
              "has a second element <PolyData> inside <VTKFile>");
  expect_says(message("b.vtp", with(file, "<CellData", "<PointData/><CellData")),
              "has a second element <PointData> inside <Piece>");
  expect_says(message("b.vtp", with(file, "</DataArray>", "<DataArray/></DataArray>")),
              "has an element <DataArray> inside <DataArray>, where VTK would pass over it");
  expect_says(message("b.vtp", with(file, "</Piece>", "</Piece><Verts/>")),
              "has an element <Verts> inside <PolyData>");
  const fs::path grid = stored(sample_grid(), "a.vtu");
  expect_says(message("b.vtu", with(grid, "<Cells>", "<Polys/><Cells>")),
              "has an element <Polys> inside <Piece>");
}

TEST_F(XmlStructureTest, CellsThatTheCountsDoNotMention) {
  const fs::path surface = stored(sample_surface(), "a.vtp");
  for (const char* count : {"NumberOfPolys", "NumberOfLines"}) {
    const std::string text = read_file(surface);
    const auto at = text.find(count);
    ASSERT_NE(at, std::string::npos);
    const auto end = text.find('"', text.find('"', at) + 1) + 1;
    const std::string attribute = text.substr(at, end - at);
    if (attribute == std::string(count) + "=\"0\"") continue;
    for (const std::string& other : {std::string(count) + "=\"0\"", std::string()})
      expect_says(message("b.vtp", with(surface, attribute, other)),
                  "holds numbers, but the <Piece> declares no cells there");
  }
}

// VTK reads as many texts as there are rows, wherever the array ends.
TEST_F(XmlStructureTest, TextsAreAsManyAsThereAreRows) {
  const auto file = [](const std::string& text) {
    return "<VTKFile type=\"PolyData\"><PolyData><Piece NumberOfPoints=\"2\"><Points><DataArray "
           "type=\"Float64\" NumberOfComponents=\"3\" format=\"ascii\">0 0 0 1 0 0</DataArray>"
           "</Points><PointData><Array type=\"String\" Name=\"s\" format=\"ascii\">" +
           text + "</Array></PointData></Piece></PolyData></VTKFile>";
  };
  expect_says(message("few.vtp", file("97 0")), "point array 's' holds 1 values, expected 2");
  expect_says(message("many.vtp", file("97 0 98 0 99 0")), "holds 3 values, expected 2");
  expect_says(message("open.vtp", file("97 0 98 0 99")), "holds a text without an end");
  write_file_atomically(folder_ / "good.vtp", file("97 0 0"));
  const Mesh mesh = read_mesh(folder_ / "good.vtp");
  EXPECT_EQ(mesh.vtk()->GetPointData()->GetAbstractArray("s")->GetVariantValue(0).ToString(), "a");
}

TEST_F(XmlStructureTest, PiecesOfOneFileHoldTheSameTypes) {
  const auto piece = [](const std::string& array) {
    return "<Piece NumberOfPoints=\"1\"><Points><DataArray type=\"Float64\" "
           "NumberOfComponents=\"3\" format=\"ascii\">0 0 0</DataArray></Points><PointData>"
           "<DataArray Name=\"b\" format=\"ascii\" type=" +
           array + "</DataArray></PointData></Piece>";
  };
  expect_says(message("mixed.vtp", "<VTKFile type=\"PolyData\"><PolyData>" + piece("\"Bit\">1") +
                                       piece("\"UInt8\">5") + "</PolyData></VTKFile>"),
              "its pieces hold different arrays");
}

TEST_F(XmlStructureTest, AnIndexWithoutPieces) {
  expect_says(message("none.pvtu",
                      "<VTKFile type=\"PUnstructuredGrid\"><PUnstructuredGrid><PPoints>"
                      "<PDataArray type=\"Float64\" NumberOfComponents=\"3\"/></PPoints>"
                      "</PUnstructuredGrid></VTKFile>"),
              "it has no <Piece>");
}

TEST_F(XmlStructureTest, IntegersOutsideTheirType) {
  const auto file = [](const std::string& type, const std::string& values) {
    return "<VTKFile type=\"PolyData\"><PolyData><Piece NumberOfPoints=\"2\"><PointData>"
           "<DataArray type=\"" +
           type + "\" Name=\"p\" format=\"ascii\">" + values +
           "</DataArray></PointData><Points><DataArray type=\"Float32\" NumberOfComponents=\"3\" "
           "format=\"ascii\">0 0 0 1 0 0</DataArray></Points></Piece></PolyData></VTKFile>";
  };
  struct Case {
    const char* type;
    const char* inside;
    const char* outside;
  };
  for (const Case& c : {Case{"UInt8", "255", "300"}, Case{"UInt8", "0", "-1"},
                        Case{"Int8", "-128", "128"}, Case{"Int16", "-32768", "32768"},
                        Case{"UInt16", "65535", "65536"}, Case{"Int32", "-5", "2147483648"},
                        Case{"UInt32", "4294967295", "4294967296"}, Case{"UInt64", "7", "-1"}}) {
    write_file_atomically(folder_ / "good.vtp", file(c.type, std::string("1 ") + c.inside));
    const RowMatrix values =
        read_mesh(folder_ / "good.vtp").array("p", Association::point).to_double();
    EXPECT_EQ(values(1, 0), std::stod(c.inside)) << c.type;
    expect_says(message("a.vtp", file(c.type, std::string("1 ") + c.outside)),
                std::string("point array 'p' holds '") + c.outside +
                    "', expected a number of type " + c.type);
  }
  const std::string legacy =
      "# vtk DataFile Version 3.0\nt\nASCII\nDATASET POLYDATA\nPOINTS 2 "
      "float\n0 0 0 1 0 0\nPOINT_DATA 2\nSCALARS p ";
  expect_says(message("a.vtk", legacy + "unsigned_char 1\nLOOKUP_TABLE default\n1 300\n"),
              "holds '300' where value 1 of 2 should stand");
  expect_says(message("a.vtk", legacy + "short 1\nLOOKUP_TABLE default\n1 40000\n"),
              "holds '40000' where value 1 of 2 should stand");
}

TEST_F(XmlStructureTest, ExtentsThatPiecesDoNotFill) {
  vtkNew<vtkImageData> image;
  image->SetDimensions(4, 3, 1);
  const fs::path file = stored(image, "a.vti");
  const auto whole = [&](const std::string& extent) {
    return message("b.vti",
                   with(file, "WholeExtent=\"0 3 0 2 0 0\"", "WholeExtent=\"" + extent + "\""));
  };
  expect_says(whole("0 3 0 2 0 1"), "do not cover the WholeExtent=\"0 3 0 2 0 1\"");
  expect_says(whole("0 4 0 2 0 0"), "do not cover the WholeExtent");
  expect_says(whole("0 3 0 1 0 0"), "lies outside the WholeExtent=\"0 3 0 1 0 0\"");
  expect_says(whole("0 3 0 2 1 1"), "lies outside the WholeExtent");
  expect_says(whole("0 -1 0 -1 0 -1"), "lies outside the WholeExtent");

  write_mesh(Mesh(image.GetPointer(), "image"), folder_ / "p.pvti");
  const fs::path index = folder_ / "p.pvti";
  expect_says(
      message("q.pvti", with(index, "WholeExtent=\"0 3 0 2 0 0\"", "WholeExtent=\"0 3 0 2 0 1\"")),
      "its pieces do not cover the WholeExtent=\"0 3 0 2 0 1\"; a piece is missing");
  expect_says(
      message("q.pvti", with(index, "WholeExtent=\"0 3 0 2 0 0\"", "WholeExtent=\"0 2 0 2 0 0\"")),
      "lies outside the WholeExtent=\"0 2 0 2 0 0\"");
}

TEST_F(XmlStructureTest, IndexFiles) {
  write_mesh(Mesh(sample_grid(), "grid"), folder_ / "a.pvtu");
  const fs::path index = folder_ / "a.pvtu";
  expect_says(message("b.pvtu", with(index, "<Piece", "<Riece")),
              "has an element <Riece> inside <PUnstructuredGrid>");
  const std::string piece = read_file(index);
  const auto at = piece.find("<Piece");
  const std::string element = piece.substr(at, piece.find("/>", at) + 2 - at);
  expect_says(message("b.pvtu", with(index, element, element + element)),
              "the index names it twice");

  write_mesh_tree(MeshTree(sample_blocks(), "blocks"), folder_ / "a.vtm");
  const fs::path blocks = folder_ / "a.vtm";
  expect_says(message("b.vtm", with(blocks, "<DataSet", "<DataZet")),
              "has an element <DataZet> inside <Block>");
  expect_says(message("b.vtm", with(blocks, " file=", " fiel=")),
              "has an element <DataSet> with the unknown attribute 'fiel'");
  expect_says(message("b.vtm", with(blocks, "<Block index", "<Block indx")), "attribute 'indx'");
  expect_says(message("b.vtm", with(blocks, "</vtkMultiBlockDataSet>",
                                    "</vtkMultiBlockDataSet><DataSet index=\"9\"/>")),
              "has an element <DataSet> inside <VTKFile>");
  expect_says(message("b.vtm", with(blocks, "</vtkMultiBlockDataSet>",
                                    "</vtkMultiBlockDataSet><vtkMultiBlockDataSet/>")),
              "has a second element <vtkMultiBlockDataSet> inside <VTKFile>");
}

TEST_F(XmlStructureTest, WhatOtherProgramsWriteIntoIndexFilesIsRead) {
  write_mesh(Mesh(sample_grid(), "grid"), folder_ / "a.pvtu");
  std::string index = read_file(folder_ / "a.pvtu");
  for (const std::string name : {"PDataArray", "PArray"})
    for (auto at = index.find("<" + name); at != std::string::npos; at = index.find("<" + name))
      index.erase(at + 1, 1);
  write_file_atomically(folder_ / "b.pvtu", index);
  EXPECT_EQ(difference(sample_grid(), read_mesh(folder_ / "b.pvtu").vtk()), "");

  write_mesh_tree(MeshTree(sample_blocks(), "blocks"), folder_ / "a.vtm");
  write_file_atomically(folder_ / "b.vtm",
                        with(folder_ / "a.vtm", " file=", " material=\"steel\" file="));
  EXPECT_EQ(tree_difference(sample_blocks(), read_mesh_tree(folder_ / "b.vtm").vtk()), "");
  // Blocks without an index follow those before.
  stored(sample_grid(), "a.vtu");
  write_file_atomically(
      folder_ / "c.vtm",
      "<VTKFile type=\"vtkMultiBlockDataSet\" version=\"1.0\"><vtkMultiBlockDataSet>"
      "<DataSet name=\"a\" file=\"a.vtu\"/><DataSet index=\"3\"/><Block name=\"b\">"
      "<DataSet file=\"a.vtu\"/></Block></vtkMultiBlockDataSet></VTKFile>");
  const MeshTree tree = read_mesh_tree(folder_ / "c.vtm");
  EXPECT_EQ(tree.block_paths(), (std::vector<std::string>{"a", "b/0"}));
  EXPECT_EQ(vtkMultiBlockDataSet::SafeDownCast(tree.vtk())->GetNumberOfBlocks(), 5u);
}

TEST_F(XmlStructureTest, GhostLevelsOfOldFilesBecomeFlags) {
  const std::string text =
      "<VTKFile type=\"PolyData\" version=\"0.1\" byte_order=\"LittleEndian\"><PolyData>"
      "<Piece NumberOfPoints=\"2\"><PointData><DataArray type=\"UInt8\" Name=\"vtkGhostLevels\" "
      "format=\"ascii\">0 1</DataArray></PointData><Points><DataArray type=\"Float32\" "
      "NumberOfComponents=\"3\" format=\"ascii\">0 0 0 1 0 0</DataArray></Points></Piece>"
      "</PolyData></VTKFile>";
  write_file_atomically(folder_ / "old.vtp", text);
  EXPECT_EQ(read_mesh(folder_ / "old.vtp").presence(Association::point), Eigen::Vector2d(1, 0));
  const std::string legacy =
      "# vtk DataFile Version 3.0\nt\nASCII\nDATASET POLYDATA\nPOINTS 2 float\n0 0 0 1 0 0\n"
      "POINT_DATA 2\nSCALARS vtkGhostLevels unsigned_char 1\nLOOKUP_TABLE default\n0 1\n";
  write_file_atomically(folder_ / "old.vtk", legacy);
  EXPECT_EQ(read_mesh(folder_ / "old.vtk").presence(Association::point), Eigen::Vector2d(1, 0));
}

TEST_F(XmlStructureTest, AnEmptyPieceNeedsNoArrays) {
  const auto piece = [](const std::string& points, const std::string& values) {
    return "<Piece NumberOfPoints=\"" + points + "\">" + values +
           "<Points><DataArray type=\"Float32\" NumberOfComponents=\"3\" format=\"ascii\">" +
           (points == "0" ? "" : "0 0 0 1 0 0") + "</DataArray></Points></Piece>";
  };
  const std::string values =
      "<PointData><DataArray type=\"UInt8\" Name=\"a\" format=\"ascii\">4 "
      "5</DataArray></PointData>";
  const auto text = [](const std::string& pieces) {
    return "<VTKFile type=\"PolyData\" version=\"0.1\" byte_order=\"LittleEndian\"><PolyData>" +
           pieces + "</PolyData></VTKFile>";
  };
  write_file_atomically(folder_ / "a.vtp",
                        text(piece("2", values) + piece("0", "") + piece("2", values)));
  EXPECT_EQ(read_mesh(folder_ / "a.vtp").array("a", Association::point).to_double(),
            Eigen::Vector4d(4, 5, 4, 5));
  // VTK takes the arrays of the first piece for those of all.
  expect_says(message("b.vtp", text(piece("0", "") + piece("2", values))),
              "its pieces hold different arrays");
  expect_says(message("b.vtp", text(piece("2", values) + piece("2", ""))),
              "its pieces hold different arrays");
}

TEST_F(XmlStructureTest, WhatVtkWritesBesidesIsRead) {
  const auto grid = sample_grid();
  grid->GetPointData()
      ->GetArray("pressure")
      ->GetInformation()
      ->Set(vtkDataArray::UNITS_LABEL(), "Pa");
  const fs::path file = stored(grid, "a.vtu");
  EXPECT_NE(read_file(file).find("<InformationKey"), std::string::npos);
  EXPECT_EQ(read_mesh(file).arrays().at(0).unit, "Pa");
}

}  // namespace
}  // namespace funcattn
