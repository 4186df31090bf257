#include <vtkFloatArray.h>
#include <vtkNew.h>
#include <vtkPointData.h>
#include <vtkPoints.h>
#include <vtkSOADataArrayTemplate.h>
#include <vtkUnstructuredGrid.h>
#include <vtkXMLUnstructuredGridWriter.h>

#include "meshio/reader.h"
#include "operators/operator_file.h"
#include "plugin/stage.h"
#include "tests/meshio/mesh_samples.h"
#include "tests/plugin/samples.h"
#include "tests/plugin/support.h"

// One mesh in many encodings: the same numbers give the same prediction, bit by bit.

namespace funcattn {
namespace {

class EncodingsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    save_operator(folder_ / "op.safetensors", test::make_surrogate());
    stage_ = std::make_unique<OperatorStage>(folder_ / "op.safetensors");
    expected_ = predict(mesh_);
  }
  RowMatrix predict(const Mesh& mesh) const {
    return stage_->run(mesh).mesh.array("displacement_predicted", Association::point).to_double();
  }
  /// Every array of the mesh, and its coordinates, through `change`, which gets and gives arrays.
  template <class Change>
  Mesh with_arrays(const Change& change) const {
    vtkNew<vtkUnstructuredGrid> grid;
    grid->DeepCopy(mesh_.vtk());
    vtkNew<vtkPoints> points;
    points->SetData(change(grid->GetPoints()->GetData()));
    grid->SetPoints(points);
    vtkPointData* fields = grid->GetPointData();
    for (int i = 0; i < fields->GetNumberOfArrays(); ++i)
      fields->AddArray(change(fields->GetArray(i)));
    return Mesh(grid.GetPointer(), "changed");
  }

  test::TemporaryFolder folder_;
  std::unique_ptr<OperatorStage> stage_;
  Mesh mesh_ = test::make_grid(9, 7);
  RowMatrix expected_;
};

TEST_F(EncodingsTest, EveryStorageOfXml) {
  int storages = 0;
  for (const Storage& storage : all_storages()) {
    const auto path = folder_ / ("mesh" + std::to_string(storages++) + ".vtu");
    store_xml(mesh_.vtk(), path, storage);
    // ASCII holds the shortest digits of each number, which VTK reads back to the same bits.
    EXPECT_EQ(predict(read_mesh(path)), expected_) << storage.name();
  }
  EXPECT_GE(storages, 25);
}

TEST_F(EncodingsTest, IdsOfEitherWidth) {
  for (const int bits : {32, 64}) {
    vtkNew<vtkXMLUnstructuredGridWriter> writer;
    const auto path = folder_ / ("ids" + std::to_string(bits) + ".vtu");
    writer->SetFileName(path.c_str());
    writer->SetInputData(mesh_.vtk());
    if (bits == 32)
      writer->SetIdTypeToInt32();
    else
      writer->SetIdTypeToInt64();
    ASSERT_EQ(writer->Write(), 1);
    EXPECT_EQ(predict(read_mesh(path)), expected_) << bits;
  }
}

TEST_F(EncodingsTest, LegacyVersions) {
  for (const int version : {42, 51}) {
    const auto path = folder_ / ("legacy" + std::to_string(version) + ".vtk");
    store_legacy(mesh_.vtk(), path, /*binary=*/true, version);
    EXPECT_EQ(predict(read_mesh(path)), expected_) << version;
  }
}

TEST_F(EncodingsTest, StructuresOfArrays) {
  const Mesh changed = with_arrays([](vtkDataArray* array) {
    vtkSmartPointer<vtkDataArray> copy = vtkSmartPointer<vtkSOADataArrayTemplate<double>>::New();
    copy->DeepCopy(array);
    copy->SetName(array->GetName());
    return copy;
  });
  EXPECT_EQ(predict(changed), expected_);
}

TEST_F(EncodingsTest, Float32WhereTheNumbersAreEqual) {
  const auto rounded = [](vtkDataArray* array) {
    vtkSmartPointer<vtkDataArray> copy = vtkSmartPointer<vtkFloatArray>::New();
    copy->DeepCopy(array);
    return copy;
  };
  const auto widened = [&](vtkDataArray* array) {
    const auto single = rounded(array);
    const auto copy =
        vtkSmartPointer<vtkDataArray>::Take(vtkDataArray::CreateDataArray(VTK_DOUBLE));
    copy->DeepCopy(single);
    return copy;
  };
  EXPECT_EQ(predict(with_arrays(rounded)), predict(with_arrays(widened)));
}

}  // namespace
}  // namespace funcattn
