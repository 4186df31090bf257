// Reading and binding of a large .vtu file beside VTK's own Update(). Prints one line of figures
// per repetition and the best of each.
//
//   funcattn_read_bench [--points N] [--cells hexahedra|tetrahedra|vertices] [--float32]
//                       [--repeat N] [--folder DIR] [--cpu-time]
//
// --cpu-time counts the processor time of this process instead of the time that passes, for busy
// machines.

#include <time.h>
#include <vtkCellArray.h>
#include <vtkDoubleArray.h>
#include <vtkFloatArray.h>
#include <vtkNew.h>
#include <vtkPointData.h>
#include <vtkPoints.h>
#include <vtkUnsignedCharArray.h>
#include <vtkUnstructuredGrid.h>
#include <vtkXMLUnstructuredGridReader.h>
#include <vtkXMLUnstructuredGridWriter.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <string>

#include "core/error.h"
#include "core/text.h"
#include "meshio/quadrature.h"
#include "meshio/reader.h"

namespace {

namespace fs = std::filesystem;
using namespace funcattn;

struct Options {
  std::int64_t points = 10'000'000;
  std::string cells = "hexahedra";
  bool float32 = false;
  int repeat = 3;
  fs::path folder = fs::temp_directory_path();
  bool cpu_time = false;
};

Options parse(int count, char** words) {
  Options options;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    if (word == "--float32") {
      options.float32 = true;
      continue;
    }
    if (word == "--cpu-time") {
      options.cpu_time = true;
      continue;
    }
    if (i + 1 >= count) throw UsageError("'" + word + "' needs a value or is not known");
    const std::string value = words[++i];
    const auto number = parse_integer(value);
    if (word == "--cells" && (value == "hexahedra" || value == "tetrahedra" || value == "vertices"))
      options.cells = value;
    else if (word == "--folder")
      options.folder = value;
    else if (word == "--points" && number && *number >= 8)
      options.points = *number;
    else if (word == "--repeat" && number && *number >= 1)
      options.repeat = static_cast<int>(*number);
    else
      throw UsageError("'" + word + " " + value + "' is not known");
  }
  return options;
}

/// Cells of a box of side^3 points; hexahedra, or five tetrahedra in each.
void insert_cells(vtkUnstructuredGrid* grid, vtkIdType side, const Options& options) {
  vtkNew<vtkCellArray> cells;
  const bool hexahedra = options.cells == "hexahedra";
  int type = hexahedra ? VTK_HEXAHEDRON : VTK_TETRA;
  if (options.cells == "vertices") {
    type = VTK_VERTEX;
    for (vtkIdType i = 0; i < side * side * side; ++i) cells->InsertNextCell(1, &i);
  } else {
    constexpr int tetrahedra[5][4] = {
        {0, 1, 2, 5}, {0, 2, 3, 7}, {0, 5, 7, 4}, {2, 5, 6, 7}, {0, 2, 7, 5}};
    for (vtkIdType k = 0; k + 1 < side; ++k)
      for (vtkIdType j = 0; j + 1 < side; ++j)
        for (vtkIdType i = 0; i + 1 < side; ++i) {
          const vtkIdType p = (k * side + j) * side + i;
          const vtkIdType layer = side * side;
          const vtkIdType corners[8] = {
              p,         p + 1,         p + side + 1,         p + side,
              p + layer, p + layer + 1, p + layer + side + 1, p + layer + side};
          if (hexahedra) {
            cells->InsertNextCell(8, corners);
            continue;
          }
          for (const auto& tetrahedron : tetrahedra) {
            vtkIdType ids[4];
            for (int n = 0; n < 4; ++n) ids[n] = corners[tetrahedron[n]];
            cells->InsertNextCell(4, ids);
          }
        }
  }
  grid->SetCells(type, cells);
}

void write_file(const fs::path& path, const Options& options) {
  const auto side = static_cast<vtkIdType>(std::cbrt(static_cast<double>(options.points)) + 0.5);
  vtkNew<vtkUnstructuredGrid> grid;
  vtkNew<vtkPoints> points;
  points->SetDataType(options.float32 ? VTK_FLOAT : VTK_DOUBLE);
  points->SetNumberOfPoints(side * side * side);
  vtkNew<vtkDoubleArray> pressure;
  pressure->SetName("pressure");
  pressure->SetNumberOfTuples(points->GetNumberOfPoints());
  vtkIdType next = 0;
  for (vtkIdType k = 0; k < side; ++k)
    for (vtkIdType j = 0; j < side; ++j)
      for (vtkIdType i = 0; i < side; ++i, ++next) {
        const double x = static_cast<double>(i) / static_cast<double>(side);
        points->SetPoint(next, x + 0.1 * x * x, static_cast<double>(j), static_cast<double>(k));
        pressure->SetValue(next, std::sin(x));
      }
  grid->SetPoints(points);
  grid->GetPointData()->AddArray(pressure);
  insert_cells(grid, side, options);
  vtkNew<vtkXMLUnstructuredGridWriter> writer;
  writer->SetFileName(path.c_str());
  writer->SetInputData(grid);
  writer->SetDataModeToAppended();
  writer->EncodeAppendedDataOff();
  writer->SetCompressorTypeToNone();
  writer->SetHeaderTypeToUInt64();
  if (writer->Write() != 1) throw FileError("cannot write '" + path.string() + "'");
}

class Clock {
 public:
  explicit Clock(bool cpu_time) : id_(cpu_time ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC) {}

  template <class Function>
  double seconds(const Function& function) const {
    const double start = now();
    function();
    return now() - start;
  }

 private:
  double now() const {
    timespec time{};
    clock_gettime(id_, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  }
  clockid_t id_;
};

struct Figures {
  double update = 1e30, read = 1e30, views = 1e30, uniform = 1e30, measure = 1e30;

  void keep_best(const Figures& other) {
    update = std::min(update, other.update);
    read = std::min(read, other.read);
    views = std::min(views, other.views);
    uniform = std::min(uniform, other.uniform);
    measure = std::min(measure, other.measure);
  }
  void print(const char* label) const {
    const auto ratio = [&](double weights) { return (read + views + weights) / update; };
    std::printf(
        "%s: VTK Update %.3f s, read_mesh %.3f s, coordinates and field %.3f s, uniform weights "
        "%.3f s (all %.2f x), measure weights %.3f s (all %.2f x)\n",
        label, update, read, views, uniform, ratio(uniform), measure, ratio(measure));
    std::fflush(stdout);
  }
};

Figures measure_once(const fs::path& path, const Clock& clock) {
  Figures figures;
  figures.update = clock.seconds([&] {
    vtkNew<vtkXMLUnstructuredGridReader> reader;
    reader->SetFileName(path.c_str());
    reader->Update();
  });
  std::optional<Mesh> mesh;
  figures.read = clock.seconds([&] { mesh = read_mesh(path); });
  const CopyCount before = copies_made();
  double check = 0;
  figures.views = clock.seconds([&] {
    const DoubleView coordinates = mesh->coordinate_view(Association::point);
    const ArrayView pressure = mesh->array("pressure", Association::point);
    const DoubleView values = pressure.doubles();
    check = coordinates.matrix()(0, 0) + values.matrix()(0, 0);
  });
  const CopyCount after = copies_made();
  std::printf("copies while binding: %llu arrays, %.1f bytes per point\n",
              static_cast<unsigned long long>(after.arrays - before.arrays),
              static_cast<double>(after.bytes - before.bytes) /
                  static_cast<double>(mesh->count(Association::point)));
  const auto first_weight = [&](WeightKind kind) {
    return quadrature_weights(*mesh, Association::point, {kind, ""})[0];
  };
  figures.uniform = clock.seconds([&] { check += first_weight(WeightKind::uniform); });
  figures.measure = clock.seconds([&] {
    if (mesh->count(Association::cell) != mesh->count(Association::point))
      check += first_weight(WeightKind::measure);
  });
  if (!(check > 0)) throw NumericError("the file holds something else");
  return figures;
}

}  // namespace

int main(int count, char** words) {
  try {
    const Options options = parse(count, words);
    const fs::path path = options.folder / "funcattn_read_bench.vtu";
    write_file(path, options);
    std::printf("%lld points, %s, %s coordinates, %.0f MB\n",
                static_cast<long long>(options.points), options.cells.c_str(),
                options.float32 ? "float32" : "float64",
                static_cast<double>(fs::file_size(path)) / 1e6);
    Figures best;
    for (int i = 0; i < options.repeat; ++i) {
      const Figures figures = measure_once(path, Clock(options.cpu_time));
      figures.print("run");
      best.keep_best(figures);
    }
    best.print("best");
    fs::remove(path);
    return 0;
  } catch (const UsageError& error) {
    std::cerr << error.what() << '\n';
    return 2;
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
