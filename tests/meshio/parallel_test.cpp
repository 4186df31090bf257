// Parallel files: one data set in pieces.
#include <gtest/gtest.h>
#include <vtkBitArray.h>
#include <vtkCellArray.h>
#include <vtkCellData.h>
#include <vtkDoubleArray.h>
#include <vtkImageData.h>
#include <vtkInformation.h>
#include <vtkInformationStringKey.h>
#include <vtkNew.h>
#include <vtkPointData.h>
#include <vtkPolyData.h>
#include <vtkRectilinearGrid.h>
#include <vtkStringArray.h>
#include <vtkUnsignedCharArray.h>
#include <vtkUnstructuredGrid.h>
#include <vtkXMLPImageDataReader.h>
#include <vtkXMLPUnstructuredGridReader.h>
#include <vtkXMLPolyDataWriter.h>

#include <array>
#include <cmath>

#include "core/atomic_file.h"
#include "core/error.h"
#include "meshio/joined_pieces.h"
#include "meshio/piece_set.h"
#include "meshio/quadrature.h"
#include "meshio/reader.h"
#include "meshio/writer.h"
#include "tests/meshio/mesh_samples.h"

namespace funcattn {
namespace {

namespace fs = std::filesystem;

class ParallelTest : public FolderTest {
 protected:
  std::string message(const fs::path& path) {
    return message_of<FileError>([&] { read_mesh(path); });
  }
};

TEST_F(ParallelTest, WritesWhatItReadsBack) {
  for (const MeshSample& sample : xml_samples())
    for (const Encoding encoding : {Encoding::appended, Encoding::ascii}) {
      const fs::path path = folder_ / (".p" + sample.extension.substr(1));
      const fs::path named = folder_ / ("mésh" + path.filename().string());
      sample.data->GetPointData()
          ->GetArray("pressure")
          ->GetInformation()
          ->Set(vtkDataArray::UNITS_LABEL(), "Pa");
      WriteOptions options;
      options.encoding = encoding;
      write_mesh(Mesh(sample.data, "sample"), named, options);
      const Mesh read = read_mesh(named);
      EXPECT_EQ(difference(sample.data, read.vtk()), "") << named;
      EXPECT_EQ(read.arrays().at(0).unit, "Pa");
      EXPECT_STREQ(read.vtk()->GetPointData()->GetScalars()->GetName(), "pressure");
      EXPECT_EQ(MeshTree(read).time(), 0.1);
    }
}

/// Two pieces of an image along x, sharing the plane in the middle.
void store_image_pieces(const fs::path& folder, const std::string& first_extent = "0 2 0 2 0 1",
                        const std::string& second_extent = "2 4 0 2 0 1") {
  for (const int piece : {0, 1}) {
    vtkNew<vtkImageData> image;
    image->SetExtent(2 * piece, 2 * piece + 2, 0, 2, 0, 1);
    vtkNew<vtkDoubleArray> x;
    x->SetName("x");
    for (vtkIdType i = 0; i < image->GetNumberOfPoints(); ++i)
      x->InsertNextValue(image->GetPoint(i)[0]);
    image->GetPointData()->AddArray(x);
    store_xml(image, folder / ("piece_" + std::to_string(piece) + ".vti"), {});
  }
  write_file_atomically(
      folder / "image.pvti",
      "<VTKFile type=\"PImageData\" version=\"0.1\" byte_order=\"LittleEndian\">"
      "<PImageData WholeExtent=\"0 4 0 2 0 1\" GhostLevel=\"0\" Origin=\"0 0 0\" Spacing=\"1 1 1\">"
      "<PPointData><PDataArray type=\"Float64\" Name=\"x\"/></PPointData><Piece Extent=\"" +
          first_extent + "\" Source=\"piece_0.vti\"/><Piece Extent=\"" + second_extent +
          "\" Source=\"piece_1.vti\"/></PImageData></VTKFile>");
}

TEST_F(ParallelTest, JoinsPiecesOfAnImage) {
  store_image_pieces(folder_);
  const Mesh mesh = read_mesh(folder_ / "image.pvti");
  EXPECT_EQ(mesh.count(Association::point), 30);
  EXPECT_EQ(mesh.array("x", Association::point).to_double(),
            mesh.coordinates(Association::point).col(0));
}

/// A number that tells places apart.
int label_of(vtkDataSet* data, vtkIdType id, bool of_cell) {
  std::array<double, 6> bounds{};
  if (of_cell)
    data->GetCellBounds(id, bounds.data());
  else
    for (const std::size_t axis : {0, 1, 2})
      bounds[2 * axis] = bounds[2 * axis + 1] = data->GetPoint(id)[axis];
  return static_cast<int>(std::lround(bounds[0] + bounds[1] + 7 * (bounds[2] + bounds[3]) +
                                      50 * (bounds[4] + bounds[5])));
}

std::string word_of(int label) {
  return "a word that is too long to stand inside its string: " + std::to_string(label);
}

void add_bits_and_words(vtkDataSet* data) {
  for (const bool of_cells : {false, true}) {
    vtkNew<vtkBitArray> bits;
    bits->SetName("bits");
    vtkNew<vtkStringArray> words;
    words->SetName("words");
    const vtkIdType count = of_cells ? data->GetNumberOfCells() : data->GetNumberOfPoints();
    for (vtkIdType i = 0; i < count; ++i) {
      bits->InsertNextValue(label_of(data, i, of_cells) % 3 == 0 ? 1 : 0);
      words->InsertNextValue(word_of(label_of(data, i, of_cells)));
    }
    vtkFieldData* fields = data->GetAttributesAsFieldData(of_cells ? 1 : 0);
    fields->AddArray(bits);
    fields->AddArray(words);
  }
}

void expect_bits_and_words(vtkDataSet* data) {
  for (const bool of_cells : {false, true}) {
    vtkFieldData* fields = data->GetAttributesAsFieldData(of_cells ? 1 : 0);
    auto* bits = vtkBitArray::SafeDownCast(fields->GetAbstractArray("bits"));
    auto* words = vtkStringArray::SafeDownCast(fields->GetAbstractArray("words"));
    ASSERT_TRUE(bits && words);
    const vtkIdType count = of_cells ? data->GetNumberOfCells() : data->GetNumberOfPoints();
    ASSERT_EQ(bits->GetNumberOfTuples(), count);
    ASSERT_EQ(words->GetNumberOfTuples(), count);
    for (vtkIdType i = 0; i < count; ++i) {
      const int label = label_of(data, i, of_cells);
      EXPECT_EQ(bits->GetValue(i), label % 3 == 0 ? 1 : 0) << of_cells << " " << i;
      EXPECT_EQ(words->GetValue(i), word_of(label)) << of_cells << " " << i;
    }
  }
}

/// Two triangles and what else a surface can hold, with cells of every kind in one order only.
vtkSmartPointer<vtkPolyData> surface_of_all_kinds(int piece) {
  auto surface = vtkSmartPointer<vtkPolyData>::New();
  vtkNew<vtkPoints> points;
  for (const auto& [x, y] : {std::pair(0, 0), {1, 0}, {0, 1}, {1, 1}})
    points->InsertNextPoint(2 * piece + x, y, 0);
  surface->SetPoints(points);
  vtkNew<vtkCellArray> verts;
  for (vtkIdType corner = 3; corner >= piece; --corner) verts->InsertNextCell(1, &corner);
  vtkNew<vtkCellArray> lines;
  lines->InsertNextCell({0, 1});
  lines->InsertNextCell({1, 3});
  vtkNew<vtkCellArray> polys;
  polys->InsertNextCell({0, 1, 2});
  polys->InsertNextCell({1, 3, 2});
  surface->SetVerts(verts);
  surface->SetLines(lines);
  surface->SetPolys(polys);
  add_bits_and_words(surface);
  return surface;
}

/// A serial file with the pieces of two files.
void join_serial(const fs::path& first, const fs::path& second, const std::string& open_tag,
                 const fs::path& joined) {
  const std::string a = read_file(first);
  const std::string b = read_file(second);
  const std::string end = "</Piece>";
  const auto piece = [&](const std::string& text) {
    const auto begin = text.find("<Piece");
    return text.substr(begin, text.find(end) + end.size() - begin);
  };
  const std::string type = open_tag.substr(1, open_tag.find_first_of(" >") - 1);
  write_file_atomically(joined, a.substr(0, a.find("<" + type)) + open_tag + piece(a) + piece(b) +
                                    "</" + type + "></VTKFile>");
}

// VTK mixes the words and bits of cells of several kinds, and crashes on words of parts of images.
TEST_F(ParallelTest, BitsAndTextOfPiecesInOneFileStayWhatTheyAre) {
  for (const Encoding encoding : {Encoding::ascii, Encoding::binary}) {
    for (const int piece : {0, 1}) {
      vtkNew<vtkImageData> image;
      image->SetExtent(2 * piece, 2 * piece + 2, 0, 2, 0, 1);
      add_bits_and_words(image);
      WriteOptions options;
      options.encoding = encoding;
      write_mesh(Mesh(image, "image"), folder_ / ("image_" + std::to_string(piece) + ".vti"),
                 options);
      write_mesh(Mesh(surface_of_all_kinds(piece), "surface"),
                 folder_ / ("surface_" + std::to_string(piece) + ".vtp"), options);
    }
    join_serial(folder_ / "surface_0.vtp", folder_ / "surface_1.vtp", "<PolyData>",
                folder_ / "joined.vtp");
    join_serial(folder_ / "image_0.vti", folder_ / "image_1.vti",
                "<ImageData WholeExtent=\"0 4 0 2 0 1\" Origin=\"0 0 0\" Spacing=\"1 1 1\">",
                folder_ / "joined.vti");
    const Mesh surface = read_mesh(folder_ / "joined.vtp");
    EXPECT_EQ(surface.count(Association::cell), 15);
    expect_bits_and_words(surface.vtk());
    const Mesh image = read_mesh(folder_ / "joined.vti");
    EXPECT_EQ(image.count(Association::point), 30);
    expect_bits_and_words(image.vtk());
  }
  // Appended data stand behind all pieces.
  vtkNew<vtkXMLPolyDataWriter> surfaces;
  surfaces->SetInputData(surface_of_all_kinds(0));
  surfaces->SetFileName((folder_ / "appended.vtp").c_str());
  surfaces->SetNumberOfPieces(3);
  surfaces->Write();
  const Mesh surface = read_mesh(folder_ / "appended.vtp");
  EXPECT_EQ(surface.count(Association::cell), 24);
  expect_bits_and_words(surface.vtk());
  vtkNew<vtkImageData> image;
  image->SetExtent(2, 4, 0, 2, 0, 1);
  add_bits_and_words(image);
  WriteOptions options;
  write_mesh(Mesh(image, "image"), folder_ / "appended_1.vti", options);
  std::string text = read_file(folder_ / "appended_1.vti");
  const std::string inline_piece = read_file(folder_ / "image_0.vti");
  const auto begin = inline_piece.find("<Piece");
  const auto end = inline_piece.find("</Piece>");
  text.insert(text.find("<Piece"), inline_piece.substr(begin, end - begin) + "</Piece>\n");
  text.replace(text.find("2 4 0 2 0 1"), 1, "0");
  write_file_atomically(folder_ / "appended.vti", text);
  const Mesh whole = read_mesh(folder_ / "appended.vti");
  EXPECT_EQ(whole.count(Association::cell), 8);
  expect_bits_and_words(whole.vtk());
}

// VTK's reader keeps the flags of the last piece of a place, for which it may be a ghost.
TEST_F(ParallelTest, NoPlaceOfOverlappingPiecesIsAGhostInTheWhole) {
  const std::string ghosts = vtkDataSetAttributes::GhostArrayName();
  const auto store = [&](int piece, const std::array<int, 2>& held, const std::array<int, 2>& own) {
    vtkNew<vtkImageData> image;
    image->SetExtent(held[0], held[1], 0, 2, 0, 1);
    for (const bool of_cells : {false, true}) {
      vtkNew<vtkUnsignedCharArray> flags;
      flags->SetName(ghosts.c_str());
      const int last = of_cells ? 1 : 0;
      for (int k = 0; k <= 1 - last; ++k)
        for (int j = 0; j <= 2 - last; ++j)
          for (int i = held[0]; i <= held[1] - last; ++i) {
            const bool hidden = !of_cells && i == 1 && j == 1 && k == 0;
            const bool is_own = i >= own[0] && i <= own[1] - last;
            flags->InsertNextValue(static_cast<unsigned char>((is_own ? 0 : 1) | (hidden ? 2 : 0)));
          }
      (of_cells ? static_cast<vtkDataSetAttributes*>(image->GetCellData()) : image->GetPointData())
          ->AddArray(flags);
    }
    store_xml(image, folder_ / ("piece_" + std::to_string(piece) + ".vti"), {});
  };
  store(0, {0, 3}, {0, 2});
  store(1, {1, 4}, {2, 4});
  write_file_atomically(
      folder_ / "image.pvti",
      "<VTKFile type=\"PImageData\" version=\"0.1\" byte_order=\"LittleEndian\">"
      "<PImageData WholeExtent=\"0 4 0 2 0 1\" GhostLevel=\"1\" Origin=\"0 0 0\" Spacing=\"1 1 1\">"
      "<PPointData><PDataArray type=\"UInt8\" Name=\"" +
          ghosts +
          "\"/></PPointData><PCellData>"
          "<PDataArray type=\"UInt8\" Name=\"" +
          ghosts +
          "\"/></PCellData>"
          "<Piece Extent=\"0 3 0 2 0 1\" Source=\"piece_0.vti\"/>"
          "<Piece Extent=\"1 4 0 2 0 1\" Source=\"piece_1.vti\"/></PImageData></VTKFile>");
  const Mesh mesh = read_mesh(folder_ / "image.pvti");
  EXPECT_EQ(mesh.presence(Association::point).sum(), 29) << "the hidden one is in both pieces";
  EXPECT_EQ(mesh.presence(Association::cell).sum(), 8);
  EXPECT_NEAR(quadrature_weights(mesh, Association::cell, {}).sum(), 8, 1e-12);
}

// Newer programs write field data to the index only.
TEST_F(ParallelTest, FieldDataOfTheIndexAreThoseOfTheMesh) {
  const fs::path path = folder_ / "grid.pvtu";
  write_mesh(Mesh(sample_grid(), "grid"), path);
  std::string text = read_file(path);
  const std::string fields =
      "<FieldData><DataArray type=\"Float64\" Name=\"nu\" NumberOfTuples=\"1\" format=\"ascii\">"
      "0.25</DataArray></FieldData>";
  const auto begin = text.find('>', text.find("<PUnstructuredGrid")) + 1;
  write_file_atomically(path, text.insert(begin, fields));
  EXPECT_EQ(read_mesh(path).field("nu").to_double()(0, 0), 0.25);
  const PieceSet pieces = read_piece_set(path, SingleProcess());
  EXPECT_EQ(pieces.tree.leaves().front().field("nu").to_double()(0, 0), 0.25);
  const auto broken = text.find("0.25");
  write_file_atomically(path, text.replace(broken, 4, "0,25"));
  expect_says(message(path), "field array 'nu'");
}

// The whole has one value; what the pieces say differently is known.
TEST_F(ParallelTest, FieldsOnWhichPiecesDifferAreNoted) {
  const auto read_with = [&](const std::vector<double>& values) {
    std::string pieces;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto grid = sample_grid();
      for (const auto& [name, value] :
           {std::pair<const char*, double>{"nu", values[i]}, {"mu", 2}}) {
        vtkNew<vtkDoubleArray> field;
        field->SetName(name);
        field->InsertNextValue(value);
        grid->GetFieldData()->AddArray(field);
      }
      const std::string name = "piece_" + std::to_string(i) + ".vtu";
      store_xml(grid, folder_ / name, {});
      pieces += "<Piece Source=\"" + name + "\"/>";
    }
    write_mesh(Mesh(sample_grid(), "whole"), folder_ / "whole.pvtu");
    const std::string written = read_file(folder_ / "whole.pvtu");
    write_file_atomically(folder_ / "fields.pvtu", written.substr(0, written.find("<Piece")) +
                                                       pieces + "</PUnstructuredGrid></VTKFile>");
    return read_mesh(folder_ / "fields.pvtu");
  };
  const Mesh differs = read_with({1.5, 1.5, 0.25});
  EXPECT_EQ(noted_difference(*differs.vtk(), "nu"), "1.5 in piece 0 and 0.25 in piece 2");
  EXPECT_EQ(noted_difference(*differs.vtk(), "mu"), "");
  EXPECT_EQ(noted_difference(*shallow_copy(*differs.vtk()), "nu"),
            "1.5 in piece 0 and 0.25 in piece 2");
  EXPECT_EQ(noted_difference(*read_with({1.5, 1.5}).vtk(), "nu"), "");
}

// What names the coordinates of a rectilinear grid is an address in memory, another in each piece.
TEST_F(ParallelTest, NamesOfCoordinatesAreNothingThatPiecesMustShare) {
  for (const int piece : {0, 1}) {
    vtkNew<vtkRectilinearGrid> grid;
    grid->SetExtent(2 * piece, 2 * piece + 2, 0, 1, 0, 0);
    for (int axis = 0; axis < 3; ++axis) {
      vtkNew<vtkDoubleArray> line;
      line->SetName(("address " + std::to_string(piece) + std::to_string(axis)).c_str());
      const int* extent = grid->GetExtent();
      for (int i = extent[2 * axis]; i <= extent[2 * axis + 1]; ++i) line->InsertNextValue(i);
      axis == 0   ? grid->SetXCoordinates(line)
      : axis == 1 ? grid->SetYCoordinates(line)
                  : grid->SetZCoordinates(line);
    }
    store_xml(grid, folder_ / ("piece_" + std::to_string(piece) + ".vtr"), {});
  }
  write_file_atomically(
      folder_ / "grid.pvtr",
      "<VTKFile type=\"PRectilinearGrid\" version=\"0.1\" byte_order=\"LittleEndian\">"
      "<PRectilinearGrid WholeExtent=\"0 4 0 1 0 0\" GhostLevel=\"0\"><PCoordinates>"
      "<PDataArray type=\"Float64\"/><PDataArray type=\"Float64\"/><PDataArray type=\"Float64\"/>"
      "</PCoordinates><Piece Extent=\"0 2 0 1 0 0\" Source=\"piece_0.vtr\"/>"
      "<Piece Extent=\"2 4 0 1 0 0\" Source=\"piece_1.vtr\"/></PRectilinearGrid></VTKFile>");
  SingleProcess alone;
  const PieceSet pieces = read_piece_set(folder_ / "grid.pvtr", alone);
  write_piece_set(pieces, folder_ / "again.pvtr", {}, alone);
  EXPECT_EQ(
      difference(read_mesh(folder_ / "grid.pvtr").vtk(), read_mesh(folder_ / "again.pvtr").vtk()),
      "");
}

// VTK's readers join pieces and leave the points of the seams there once per piece; the places
// weigh what they do in the whole.
TEST_F(ParallelTest, PointsOfSeamsCountOnce) {
  RowMatrix line = RowMatrix::Zero(5, 3);
  line.col(0) << 0, 1, 2, 4, 8;
  const Mesh left = make_polyline(line.topRows(3), "left");
  const Mesh right = make_polyline(line.bottomRows(3), "right");
  write_mesh(left, folder_ / "left.vtp");
  write_mesh(right, folder_ / "right.vtp");
  const fs::path parallel = folder_ / "line.pvtp";
  write_mesh(left, parallel);
  const std::string written = read_file(parallel);
  write_file_atomically(parallel, written.substr(0, written.find("<Piece")) +
                                      "<Piece Source=\"left.vtp\"/><Piece Source=\"right.vtp\"/>"
                                      "</PPolyData></VTKFile>");
  const fs::path serial = folder_ / "line.vtp";
  WriteOptions options;
  options.encoding = Encoding::ascii;
  write_mesh(left, folder_ / "left.vtp", options);
  write_mesh(right, folder_ / "right.vtp", options);
  join_serial(folder_ / "left.vtp", folder_ / "right.vtp", "<PolyData>", serial);
  for (const fs::path& file : {parallel, serial}) {
    const Mesh read = read_mesh(file);
    ASSERT_EQ(read.count(Association::point), 6) << file;
    ArraySpec spec;
    spec.name = "w";
    const Mesh changed = read.with_array(spec, RowMatrix::Constant(6, 1, 2));
    Eigen::VectorXd expected(6);
    expected << 1, 1, 0.5, 0.5, 1, 1;
    for (const Mesh& mesh : {read, changed})
      EXPECT_EQ(quadrature_weights(mesh, Association::point, {WeightKind::uniform, ""}), expected)
          << file;
    EXPECT_EQ(quadrature_weights(changed, Association::point, {WeightKind::array, "w"}),
              2 * expected);
    expected << 0.5, 1, 0.5, 1, 3, 2;
    EXPECT_EQ(quadrature_weights(read, Association::point, {}), expected) << file;
  }
}

// A rank without a part of the mesh writes a piece without points and, often, without arrays.
TEST_F(ParallelTest, EmptyPiecesNeedNoArrays) {
  vtkNew<vtkUnstructuredGrid> nothing;
  nothing->SetPoints(vtkNew<vtkPoints>());
  store_xml(nothing, folder_ / "piece_0.vtu", {});
  store_xml(nothing, folder_ / "piece_2.vtu", {});
  const auto full = sample_grid();
  store_xml(full, folder_ / "piece_1.vtu", {});
  const fs::path whole = folder_ / "whole.pvtu";
  write_mesh(Mesh(full, "whole"), whole);
  const std::string written = read_file(whole);
  const auto piece = written.find("<Piece");
  write_file_atomically(whole, written.substr(0, piece) +
                                   "<Piece Source=\"piece_0.vtu\"/><Piece Source=\"piece_1.vtu\"/>"
                                   "<Piece Source=\"piece_2.vtu\"/></PUnstructuredGrid></VTKFile>");
  EXPECT_EQ(difference(full, read_mesh(whole).vtk()), "");
  // An array that only a piece with points lacks is lost.
  const auto lacking = vtkSmartPointer<vtkDataSet>::Take(full->NewInstance());
  lacking->DeepCopy(full);
  const std::string name = full->GetPointData()->GetArrayName(0);
  lacking->GetPointData()->RemoveArray(name.c_str());
  store_xml(lacking, folder_ / "piece_2.vtu", {});
  expect_says(message(whole), "it has no point array '" + name + "', which the index declares");
}

// VTK's readers make other bits of them, and free the text of images and of cells of surfaces
// twice.
TEST_F(ParallelTest, BitsAndTextOfPiecesStayWhatTheyAre) {
  const std::string arrays =
      "<PPointData><PDataArray type=\"Bit\" Name=\"bits\"/><PArray type=\"String\" "
      "Name=\"words\"/></PPointData><PCellData><PDataArray type=\"Bit\" Name=\"bits\"/>"
      "<PArray type=\"String\" Name=\"words\"/></PCellData>";
  for (const int piece : {0, 1}) {
    vtkNew<vtkImageData> image;
    image->SetExtent(2 * piece, 2 * piece + 2, 0, 2, 0, 1);
    add_bits_and_words(image);
    store_xml(image, folder_ / ("image_" + std::to_string(piece) + ".vti"), {});
    vtkNew<vtkPolyData> surface;
    vtkNew<vtkPoints> points;
    for (const auto& [x, y] : {std::pair(0, 0), {1, 0}, {0, 1}, {1, 1}})
      points->InsertNextPoint(2 * piece + x, y, 0);
    surface->SetPoints(points);
    vtkNew<vtkCellArray> verts;
    const vtkIdType corner = 3;
    verts->InsertNextCell(1, &corner);
    vtkNew<vtkCellArray> polys;
    polys->InsertNextCell({0, 1, 2});
    polys->InsertNextCell({1, 3, 2, 0});
    surface->SetVerts(verts);
    surface->SetPolys(polys);
    add_bits_and_words(surface);
    store_xml(surface, folder_ / ("surface_" + std::to_string(piece) + ".vtp"), {});
  }
  write_file_atomically(
      folder_ / "image.pvti",
      "<VTKFile type=\"PImageData\" version=\"0.1\" byte_order=\"LittleEndian\">"
      "<PImageData WholeExtent=\"0 4 0 2 0 1\" GhostLevel=\"0\" Origin=\"0 0 0\" "
      "Spacing=\"1 1 1\">" +
          arrays +
          "<Piece Extent=\"2 4 0 2 0 1\" Source=\"image_1.vti\"/>"
          "<Piece Extent=\"0 2 0 2 0 1\" Source=\"image_0.vti\"/></PImageData></VTKFile>");
  write_file_atomically(folder_ / "surface.pvtp",
                        "<VTKFile type=\"PPolyData\" version=\"0.1\" byte_order=\"LittleEndian\">"
                        "<PPolyData GhostLevel=\"0\">" +
                            arrays +
                            "<PPoints><PDataArray type=\"Float32\" "
                            "NumberOfComponents=\"3\"/></PPoints><Piece Source=\"surface_0.vtp\"/>"
                            "<Piece Source=\"surface_1.vtp\"/></PPolyData></VTKFile>");
  for (const char* name : {"image.pvti", "surface.pvtp"}) {
    SCOPED_TRACE(name);
    const Mesh mesh = read_mesh(folder_ / name);
    EXPECT_EQ(mesh.count(Association::cell), name[0] == 'i' ? 8 : 6);
    expect_bits_and_words(mesh.vtk());
    // What is written of it comes back as well.
    const fs::path copy = folder_ / (std::string("copy_of_") + name);
    write_mesh(mesh, copy);
    expect_bits_and_words(read_mesh(copy).vtk());
  }
}

TEST_F(ParallelTest, DamageNamesThePiece) {
  store_image_pieces(folder_);
  const fs::path index = folder_ / "image.pvti";
  const fs::path piece = folder_ / "piece_1.vti";
  const std::string bytes = read_file(piece);
  fs::remove(piece);
  expect_says(message(index), "piece 1: cannot read '" + piece.string() + "': no such file");
  write_file_atomically(piece, bytes.substr(0, bytes.size() - 40));
  expect_says(message(index), "piece 1: cannot read '" + piece.string() + "': ");
  store_xml(sample_grid(), piece, {});
  expect_says(message(index), "it holds 'UnstructuredGrid', expected 'ImageData'");
  vtkNew<vtkImageData> bare;
  bare->SetExtent(2, 4, 0, 2, 0, 1);
  store_xml(bare, piece, {});
  expect_says(message(index), "it has no point array 'x', which the index declares");
  store_image_pieces(folder_, "0 2 0 2 0 1", "3 4 0 2 0 1");
  expect_says(message(index), "it has another extent than Extent=\"3 4 0 2 0 1\" in the index");
  store_image_pieces(folder_, "0 2 0 2 0 1", "0 2 0 2 0 1");
  message(index);
}

}  // namespace
}  // namespace funcattn
