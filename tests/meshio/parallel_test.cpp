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
#include <vtkStringArray.h>
#include <vtkXMLPImageDataReader.h>
#include <vtkXMLPUnstructuredGridReader.h>

#include <array>
#include <cmath>

#include "core/atomic_file.h"
#include "core/error.h"
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
