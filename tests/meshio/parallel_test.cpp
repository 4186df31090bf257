// Parallel files: one data set in pieces.
#include <gtest/gtest.h>
#include <vtkCellData.h>
#include <vtkDoubleArray.h>
#include <vtkImageData.h>
#include <vtkInformation.h>
#include <vtkInformationStringKey.h>
#include <vtkNew.h>
#include <vtkPointData.h>
#include <vtkXMLPImageDataReader.h>
#include <vtkXMLPUnstructuredGridReader.h>

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
