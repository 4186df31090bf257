// Writes the operators, weights and meshes that the command-line tests use into a folder.

#include <vtkCompositeDataSet.h>
#include <vtkDoubleArray.h>
#include <vtkFieldData.h>
#include <vtkImageData.h>
#include <vtkInformation.h>
#include <vtkInformationStringKey.h>
#include <vtkMultiBlockDataSet.h>
#include <vtkNew.h>
#include <vtkPointData.h>
#include <vtkPointSet.h>
#include <vtkStringArray.h>
#include <vtkUnsignedCharArray.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <limits>

#include "core/atomic_file.h"
#include "meshio/series.h"
#include "meshio/writer.h"
#include "operators/operator_file.h"
#include "operators/safetensors.h"
#include "tests/plugin/samples.h"

namespace funcattn::test {
namespace {

namespace fs = std::filesystem;

void write_published_weights(const fs::path& path) {
  const Operator op = make_surrogate();
  Safetensors content;
  for (const auto& parameter : op.model().named_parameters())
    content.tensors.emplace_back("weights." + parameter.key(), parameter.value().detach());
  content.tensors.emplace_back("weights.mlp_new.weight", torch::zeros({2, 2}, torch::kFloat64));
  content.metadata = {{"form", "shared_basis"}, {"heads", "2"}};
  write_safetensors(path, content);
}

/// A copy of `mesh` that marks every point as the duplicate of one elsewhere.
Mesh all_ghosts(const Mesh& mesh) {
  const auto copy = vtkSmartPointer<vtkDataSet>::Take(mesh.vtk()->NewInstance());
  copy->ShallowCopy(mesh.vtk());
  vtkNew<vtkUnsignedCharArray> ghosts;
  ghosts->SetName(vtkDataSetAttributes::GhostArrayName());
  ghosts->SetNumberOfTuples(copy->GetNumberOfPoints());
  ghosts->Fill(vtkDataSetAttributes::DUPLICATEPOINT);
  copy->GetPointData()->AddArray(ghosts);
  return {copy, mesh.origin()};
}

/// A copy of `mesh` whose array "load" holds words.
Mesh with_words(const Mesh& mesh) {
  Mesh copy = without_array(mesh, "load", Association::point);
  vtkNew<vtkStringArray> words;
  words->SetName("load");
  for (vtkIdType i = 0; i < copy.vtk()->GetNumberOfPoints(); ++i) words->InsertNextValue("heavy");
  copy.vtk()->GetPointData()->AddArray(words);
  return copy;
}

/// Two grids, an empty place between them.
MeshTree two_blocks(const Mesh& second) {
  vtkNew<vtkMultiBlockDataSet> blocks;
  blocks->SetBlock(0, make_grid(6, 5).vtk());
  blocks->SetBlock(2, second.vtk());
  blocks->GetMetaData(0u)->Set(vtkCompositeDataSet::NAME(), "left");
  blocks->GetMetaData(2u)->Set(vtkCompositeDataSet::NAME(), "right");
  return {blocks.GetPointer(), "blocks"};
}

/// The true fields beside the inputs.
Mesh with_truth(const Mesh& mesh) {
  const auto points = mesh.count(Association::point);
  return mesh.with_array({"p", Association::point, 1, ""}, RowMatrix::Constant(points, 1, 10))
      .with_array({"u", Association::point, 3, ""}, RowMatrix::Zero(points, 3));
}

/// One tetrahedron in EnSight Gold, whose "load" has two steps, at 0.25 and 1.5.
void write_steps(const fs::path& folder) {
  const auto put = [&](const std::string& name, const std::string& text) {
    write_file_atomically(folder / name, text);
  };
  put("steps.case",
      "FORMAT\ntype: ensight gold\n\nGEOMETRY\nmodel: steps.geo\n\nVARIABLE\n"
      "scalar per node: 1 load steps_**.load\nvector per node: force steps.force\n\nTIME\n"
      "time set: 1\nnumber of steps: 2\nfilename start number: 0\nfilename increment: 1\n"
      "time values: 0.25 1.5\n");
  put("steps.geo",
      "title\nsecond line\nnode id assign\nelement id assign\npart\n         1\nwing\n"
      "coordinates\n         4\n 0.00000e+00\n 1.00000e+00\n 0.00000e+00\n 0.00000e+00\n"
      " 0.00000e+00\n 0.00000e+00\n 1.00000e+00\n 0.00000e+00\n 0.00000e+00\n 0.00000e+00\n"
      " 0.00000e+00\n 1.00000e+00\ntetra4\n         1\n         1         2         3         "
      "4\n");
  std::string twelve;
  for (int i = 0; i < 12; ++i) twelve += " 1.00000e+00\n";
  put("steps.force", "force\npart\n         1\ncoordinates\n" + twelve);
  for (const char* step : {"00", "01"})
    put(std::string("steps_") + step + ".load",
        std::string("load\npart\n         1\ncoordinates\n 1.00000e+00\n 2.00000e+00\n "
                    "3.00000e+00\n ") +
            (step[1] == '1' ? "9" : "4") + ".00000e+00\n");
}

void write_awkward_meshes(const fs::path& folder) {
  write_steps(folder);
  const Mesh grid = make_grid(6, 5);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  write_mesh(with_value(grid, "load", Association::point, 8, nan), folder / "nan.vtu");
  const Mesh elsewhere = make_grid(6, 5);
  vtkPointSet::SafeDownCast(elsewhere.vtk())->GetPoints()->SetPoint(8, nan, 0, 0);
  write_mesh(elsewhere, folder / "nan_place.vtu");
  write_mesh(grid, folder / "legacy.vtk");
  write_mesh(all_ghosts(grid), folder / "ghosts.vtu");
  write_mesh(with_words(grid), folder / "words.vtu");
  RowMatrix weights = RowMatrix::Ones(30, 1);
  weights(7, 0) = -1;
  write_mesh(grid.with_array({"w", Association::point, 1, ""}, weights), folder / "negative.vtu");
  vtkNew<vtkImageData> image;
  image->SetDimensions(6, 4, 1);
  image->SetSpacing(0.2, 0.2, 1);
  write_mesh(Mesh(image.GetPointer(), "image")
                 .with_array({"load", Association::point, 1, ""}, RowMatrix::Ones(24, 1))
                 .with_array({"force", Association::point, 3, ""}, RowMatrix::Ones(24, 3)),
             folder / "image.vti");
  RowMatrix load = RowMatrix::Ones(24, 1);
  load(7, 0) = nan;
  write_mesh(Mesh(image.GetPointer(), "image")
                 .with_array({"load", Association::point, 1, ""}, load)
                 .with_array({"force", Association::point, 3, ""}, RowMatrix::Ones(24, 3)),
             folder / "nan.vti");
  write_mesh(with_truth(grid), folder / "truth.vtu");
  write_mesh(without_array(without_array(make_grid(9, 7), "load", Association::point), "force",
                           Association::point),
             folder / "query.vtu");
  write_mesh(make_point_cloud((RowMatrix(2, 3) << 0.5, 0.5, 0, 2, 2, 0).finished(), "outside"),
             folder / "outside.vtp");
  write_mesh_tree(two_blocks(make_grid(4, 3)), folder / "blocks.vtm");
  write_mesh_tree(two_blocks(without_array(make_grid(4, 3), "load", Association::point)),
                  folder / "blocks_lacking.vtm");
  write_pvd(folder / "series.pvd",
            {{folder / "meshes" / "step_9.vtu", 0.5}, {folder / "meshes" / "step_10.vtu", 2.25}});
  write_pvd(folder / "series_lacking.pvd",
            {{folder / "grid.vtu", 0.5}, {folder / "no_load.vtu", 1.5}});
  write_file_atomically(folder / "list.txt", "grid.vtu\ncoarse.vtu\n");
  write_file_atomically(folder / "gaps.txt", "\xEF\xBB\xBFgrid.vtu\nnone.vtu\ncoarse.vtu\n");
  write_pvd(folder / "gaps.pvd", {{folder / "none.vtu", 0.5}, {folder / "grid.vtu", 1.5}});
}

/// The regression for a format in which "y" is a coordinate.
Operator renamed_input() {
  const Operator op = make_regression();
  Contract contract = op.contract();
  contract.inputs[0].name = "v";
  return {op.shared_model(), contract};
}

/// An operator whose outputs have the names of the true fields.
Operator renamed_outputs() {
  const Operator op = make_surrogate();
  Contract contract = op.contract();
  contract.outputs[0].name = "p";
  contract.outputs[1].name = "u";
  return {op.shared_model(), contract};
}

/// A grid with its force in the field data alone.
Mesh in_force(double x) {
  const Mesh mesh = without_array(make_grid(6, 5), "force", Association::point);
  vtkNew<vtkDoubleArray> force;
  force->SetName("force");
  force->SetNumberOfComponents(3);
  force->InsertNextTuple3(x, -0.5, 2);
  mesh.vtk()->GetFieldData()->AddArray(force);
  return mesh;
}

void write_parametric(const fs::path& folder) {
  save_operator(folder / "parametric.safetensors", make_parametric());
  write_mesh(in_force(0.5), folder / "flow.vtu");
  vtkNew<vtkMultiBlockDataSet> blocks;
  blocks->SetBlock(0, in_force(0.5).vtk());
  blocks->SetBlock(1, in_force(0.75).vtk());
  write_mesh_tree({blocks.GetPointer(), "flows"}, folder / "flows.vtm");
}

void write_fixtures(const fs::path& folder) {
  fs::remove_all(folder);
  fs::create_directories(folder / "meshes");
  save_operator(folder / "surrogate.safetensors", make_surrogate());
  save_operator(folder / "renamed.safetensors", renamed_outputs());
  save_operator(folder / "regression.safetensors", make_regression());
  save_operator(folder / "line_of_v.safetensors", renamed_input());
  std::string damaged = read_file(folder / "surrogate.safetensors");
  damaged[damaged.size() - 5] ^= 1;
  write_file_atomically(folder / "damaged.safetensors", damaged);
  write_published_weights(folder / "published.safetensors");

  write_mesh(make_grid(6, 5), folder / "grid.vtu");
  write_mesh(make_grid(3, 3), folder / "coarse.vtu");
  write_mesh(make_grid(6, 5), folder / "meshes" / "step_9.vtu");
  write_mesh(make_grid(7, 5), folder / "meshes" / "step_10.vtu");
  write_mesh(make_scattered_line(20, 5), folder / "line.vtp");
  write_mesh(without_array(make_grid(6, 5), "load", Association::point), folder / "no_load.vtu");
  write_mesh(make_point_cloud(RowMatrix(0, 3), "empty"), folder / "empty.vtp");
  write_awkward_meshes(folder);
  write_parametric(folder);
  std::string cut = read_file(folder / "grid.vtu");
  write_file_atomically(folder / "cut.vtu", cut.substr(0, cut.size() * 3 / 4));
  write_file_atomically(folder / "options.ini", "suffix = _from_config\njson = true\n");
  write_file_atomically(folder / "misspelt.ini", "sufix = _b\n");
}

}  // namespace
}  // namespace funcattn::test

int main(int argc, char** argv) {
  try {
    if (argc != 2) throw std::runtime_error("usage: write_fixtures FOLDER");
    funcattn::test::write_fixtures(argv[1]);
    return 0;
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
