#include <vtkCellArray.h>
#include <vtkCellType.h>
#include <vtkFloatArray.h>
#include <vtkNew.h>
#include <vtkPoints.h>
#include <vtkTypeInt64Array.h>
#include <vtkUnstructuredGrid.h>

#include <algorithm>
#include <cmath>

#include "bench/commands.h"
#include "meshio/writer.h"

namespace funcattn {

namespace {

/// side x side points of the height field z = (1 + sin 5x cos 7y) / 2, two triangles a square.
vtkSmartPointer<vtkDataSet> triangulated_surface(vtkIdType side) {
  vtkNew<vtkFloatArray> coordinates;
  coordinates->SetNumberOfComponents(3);
  coordinates->SetNumberOfTuples(side * side);
  float* position = coordinates->GetPointer(0);
  const double step = 1.0 / static_cast<double>(side - 1);
  for (vtkIdType row = 0; row < side; ++row) {
    for (vtkIdType column = 0; column < side; ++column) {
      const double x = static_cast<double>(column) * step;
      const double y = static_cast<double>(row) * step;
      *position++ = static_cast<float>(x);
      *position++ = static_cast<float>(y);
      *position++ = static_cast<float>(0.5 * (1 + std::sin(5 * x) * std::cos(7 * y)));
    }
  }

  const vtkIdType triangles = 2 * (side - 1) * (side - 1);
  vtkNew<vtkTypeInt64Array> corners;
  corners->SetNumberOfValues(3 * triangles);
  vtkTypeInt64* corner = corners->GetPointer(0);
  for (vtkIdType row = 0; row + 1 < side; ++row) {
    for (vtkIdType column = 0; column + 1 < side; ++column) {
      const vtkIdType here = row * side + column;
      for (const vtkIdType id :
           {here, here + 1, here + side, here + side, here + 1, here + side + 1})
        *corner++ = id;
    }
  }
  vtkNew<vtkTypeInt64Array> offsets;
  offsets->SetNumberOfValues(triangles + 1);
  for (vtkIdType i = 0; i <= triangles; ++i) offsets->SetValue(i, 3 * i);

  vtkNew<vtkPoints> points;
  points->SetData(coordinates);
  vtkNew<vtkCellArray> cells;
  cells->SetData(offsets, corners);
  vtkNew<vtkUnstructuredGrid> grid;
  grid->SetPoints(points);
  grid->SetCells(VTK_TRIANGLE, cells);
  return grid.Get();
}

class MakeMeshCommand : public Command {
 public:
  std::string name() const override { return "make-mesh"; }
  std::string summary() const override { return "write a triangulated surface as .vtu file"; }
  std::vector<std::string> examples() const override { return {}; }

  void describe(OptionTable& table) override {
    table.value("output,o", output_, "mesh file (.vtu)").required();
    table.value("points", points_, "points, rounded to a square").at_least(4);
  }

  int run(Console& console) override {
    const auto side = static_cast<vtkIdType>(std::lround(std::sqrt(points_)));
    const Mesh mesh(triangulated_surface(std::max<vtkIdType>(side, 2)), output_.string());
    write_mesh(mesh, output_);
    console.print_json({{"mesh", output_.string()},
                        {"points", mesh.count(Association::point)},
                        {"cells", mesh.count(Association::cell)},
                        {"bytes", std::filesystem::file_size(output_)}});
    return 0;
  }

 private:
  std::filesystem::path output_;
  std::int64_t points_ = 65536;
};

}  // namespace

std::unique_ptr<Command> make_mesh_command() {
  return std::make_unique<MakeMeshCommand>();
}

}  // namespace funcattn
