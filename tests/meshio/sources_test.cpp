// What VTK's own sources and filters make, written, read back and compared.
#include <gtest/gtest.h>
#include <vtkAppendFilter.h>
#include <vtkArrowSource.h>
#include <vtkButterflySubdivisionFilter.h>
#include <vtkCellData.h>
#include <vtkCellTypeSource.h>
#include <vtkClipDataSet.h>
#include <vtkConeSource.h>
#include <vtkContourFilter.h>
#include <vtkCubeSource.h>
#include <vtkCylinderSource.h>
#include <vtkDataSetTriangleFilter.h>
#include <vtkDiskSource.h>
#include <vtkImageData.h>
#include <vtkLineSource.h>
#include <vtkNew.h>
#include <vtkPlane.h>
#include <vtkPlaneSource.h>
#include <vtkPlatonicSolidSource.h>
#include <vtkPointData.h>
#include <vtkPointSource.h>
#include <vtkRegularPolygonSource.h>
#include <vtkShrinkFilter.h>
#include <vtkSphereSource.h>
#include <vtkStripper.h>
#include <vtkSuperquadricSource.h>
#include <vtkTessellatedBoxSource.h>
#include <vtkTessellatorFilter.h>
#include <vtkTriangleFilter.h>

#include "meshio/quadrature.h"
#include "meshio/reader.h"
#include "meshio/writer.h"
#include "tests/meshio/mesh_samples.h"

namespace funcattn {
namespace {

namespace fs = std::filesystem;

struct Made {
  std::string name;
  vtkSmartPointer<vtkDataSet> data;
};

/// Some sources leave arrays without a name, which no file could hold.
void name_arrays(vtkDataSetAttributes* fields) {
  for (int i = 0; i < fields->GetNumberOfArrays(); ++i)
    if (!fields->GetAbstractArray(i)->GetName())
      fields->GetAbstractArray(i)->SetName(("array " + std::to_string(i)).c_str());
}

template <class Source>
void add(std::vector<Made>& made, Source* source) {
  source->Update();
  auto* output = vtkDataSet::SafeDownCast(source->GetOutputDataObject(0));
  ASSERT_NE(output, nullptr) << source->GetClassName();
  auto copy = vtkSmartPointer<vtkDataSet>::Take(output->NewInstance());
  copy->ShallowCopy(output);
  ASSERT_GT(copy->GetNumberOfPoints(), 0) << source->GetClassName();
  name_arrays(copy->GetPointData());
  name_arrays(copy->GetCellData());
  made.push_back({source->GetClassName(), copy});
}

template <class... Sources>
void add_plain(std::vector<Made>& made) {
  (add(made, vtkNew<Sources>().GetPointer()), ...);
}

std::vector<Made> all_made() {
  std::vector<Made> made;
  add_plain<vtkArrowSource, vtkConeSource, vtkCubeSource, vtkCylinderSource, vtkDiskSource,
            vtkLineSource, vtkPlaneSource, vtkPlatonicSolidSource, vtkPointSource,
            vtkRegularPolygonSource, vtkSphereSource, vtkSuperquadricSource,
            vtkTessellatedBoxSource>(made);

  vtkNew<vtkSphereSource> sphere;
  sphere->SetOutputPointsPrecision(vtkAlgorithm::DOUBLE_PRECISION);
  vtkNew<vtkStripper> strips;
  strips->SetInputConnection(sphere->GetOutputPort());
  add(made, strips.GetPointer());
  vtkNew<vtkButterflySubdivisionFilter> finer;
  finer->SetInputConnection(sphere->GetOutputPort());
  add(made, finer.GetPointer());
  vtkNew<vtkShrinkFilter> shrunk;
  shrunk->SetInputConnection(sphere->GetOutputPort());
  add(made, shrunk.GetPointer());

  vtkNew<vtkPlane> plane;
  plane->SetNormal(1, 2, 3);
  for (const int type : {VTK_HEXAHEDRON, VTK_WEDGE, VTK_QUADRATIC_TETRA, VTK_QUADRATIC_HEXAHEDRON,
                         VTK_HEXAGONAL_PRISM, VTK_QUADRATIC_QUAD}) {
    vtkNew<vtkCellTypeSource> cells;
    cells->SetCellType(type);
    cells->SetCellOrder(2);
    cells->SetBlocksDimensions(2, 2, 2);
    add(made, cells.GetPointer());
    vtkNew<vtkClipDataSet> clipped;
    clipped->SetInputConnection(cells->GetOutputPort());
    plane->SetOrigin(1, 0.5, type == VTK_QUADRATIC_QUAD ? 0 : 0.5);
    clipped->SetClipFunction(plane);
    add(made, clipped.GetPointer());
    if (type != VTK_QUADRATIC_TETRA && type != VTK_QUADRATIC_HEXAHEDRON) continue;
    vtkNew<vtkTessellatorFilter> tessellated;
    tessellated->SetInputConnection(cells->GetOutputPort());
    add(made, tessellated.GetPointer());
  }
  vtkNew<vtkDataSetTriangleFilter> split;
  split->SetInputData(sample_image());
  add(made, split.GetPointer());
  vtkNew<vtkContourFilter> contour;
  contour->SetInputData(sample_image());
  contour->SetInputArrayToProcess(0, 0, 0, vtkDataObject::FIELD_ASSOCIATION_POINTS, "pressure");
  contour->SetValue(0, 0.01);
  add(made, contour.GetPointer());
  return made;
}

class SourcesTest : public FolderTest {};

TEST_F(SourcesTest, WrittenAndReadBackWithoutADifference) {
  const auto made = all_made();
  EXPECT_GT(made.size(), 30u);
  for (const Made& mesh : made) {
    const std::string extension = suggested_extension(MeshTree(Mesh(mesh.data, mesh.name)));
    for (const std::string& ending : {extension, ".p" + extension.substr(1)}) {
      const fs::path path = folder_ / ("mesh" + ending);
      write_mesh(Mesh(mesh.data, mesh.name), path);
      EXPECT_EQ(difference(mesh.data, read_mesh(path).vtk()), "") << mesh.name << ending;
    }
  }
}

TEST_F(SourcesTest, EveryMeshWithCellsCanBeWeighed) {
  for (const Made& mesh : all_made()) {
    const Mesh view(mesh.data, mesh.name);
    const Eigen::VectorXd points = quadrature_weights(view, Association::point, {});
    const Eigen::VectorXd cells = quadrature_weights(view, Association::cell, {});
    EXPECT_TRUE(points.allFinite()) << mesh.name;
    if (mesh.name != "vtkPointSource") {
      EXPECT_NEAR(points.sum() / cells.sum(), 1, 1e-12) << mesh.name;
    }
  }
}

}  // namespace
}  // namespace funcattn
