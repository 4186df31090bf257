// Writes what every front end is to reproduce into a folder: for each case a line "name operator
// mesh" in cases.txt, the operator, the mesh, its arrays as text for those who take arrays, and the
// answer of OperatorStage.

#include <vtkDoubleArray.h>
#include <vtkFieldData.h>
#include <vtkImageData.h>
#include <vtkMultiBlockDataSet.h>
#include <vtkNew.h>

#include <cmath>
#include <filesystem>
#include <iostream>
#include <sstream>

#include "core/atomic_file.h"
#include "core/text.h"
#include "meshio/field_data.h"
#include "meshio/quadrature.h"
#include "meshio/reader.h"
#include "meshio/writer.h"
#include "operators/operator_file.h"
#include "plugin/stage.h"
#include "tests/plugin/samples.h"
#include "tests/same_answer/prediction_text.h"

namespace funcattn::test {
namespace {

namespace fs = std::filesystem;

/// The inputs of the surrogate at any mesh's points.
Mesh with_inputs(const Mesh& mesh) {
  const RowMatrix at = mesh.coordinates(Association::point);
  RowMatrix load(at.rows(), 1);
  RowMatrix force(at.rows(), 3);
  for (Eigen::Index i = 0; i < at.rows(); ++i) {
    load(i, 0) = std::cos(4 * at(i, 0)) + at(i, 1);
    force.row(i) << at(i, 1), at(i, 0) * at(i, 0), 1 + at(i, 0);
  }
  return mesh.with_array({"load", Association::point, 1, ""}, load)
      .with_array({"force", Association::point, 3, ""}, force);
}

Mesh make_cloud() {
  RowMatrix places(57, 3);
  for (Eigen::Index i = 0; i < places.rows(); ++i)
    places.row(i) << std::fmod(0.618034 * static_cast<double>(i), 1),
        (static_cast<double>(i) + 0.5) / 57, 0;
  return with_inputs(make_point_cloud(places, "cloud"));
}

Mesh make_image() {
  vtkNew<vtkImageData> image;
  image->SetDimensions(9, 8, 1);
  image->SetSpacing(0.125, 0.13, 1);
  image->SetOrigin(0.01, 0.02, 0);
  return with_inputs({image.GetPointer(), "image"});
}

/// A force for the whole mesh.
Mesh make_grid_with_parameter() {
  const Mesh grid = without_array(make_grid(8, 7), "force", Association::point);
  vtkNew<vtkDoubleArray> force;
  force->SetName("force");
  force->SetNumberOfComponents(3);
  force->InsertNextTuple3(0.25, -0.5, 2);
  grid.vtk()->GetFieldData()->AddArray(force);
  return grid;
}

/// Two blocks beside a null one, in a tree of two levels.
MeshTree make_blocks() {
  vtkNew<vtkMultiBlockDataSet> inner;
  inner->SetBlock(0, make_grid(5, 4).vtk());
  vtkNew<vtkMultiBlockDataSet> blocks;
  blocks->SetBlock(0, make_grid(7, 6).vtk());
  blocks->SetBlock(1, nullptr);
  blocks->SetBlock(2, inner);
  return {blocks.GetPointer(), "blocks"};
}

/// An input at all entries.
RowMatrix input_values(const Mesh& leaf, const Json& input, Association association) {
  const auto name = input["name"].get<std::string>();
  if (input["role"] != "parameter") return leaf.array(name, association).to_double();
  const std::vector<double> value = field_values(leaf.vtk(), name, leaf.origin()).value();
  return Eigen::Map<const Eigen::RowVectorXd>(value.data(), static_cast<Eigen::Index>(value.size()))
      .replicate(leaf.count(association), 1);
}

/// x y z weight and the inputs, one line per entry of all leaves, after a line that counts both.
std::string arrays_text(const MeshTree& tree, const Json& contract) {
  const std::vector<Mesh>& leaves = tree.leaves();
  const bool points = contract["outputs"][0]["association"] == "point";
  const Association association = points ? Association::point : Association::cell;
  const Eigen::VectorXd weights = quadrature_weights(
      leaves, association, weight_choice_from_string(contract["weights"].get<std::string>()));
  std::ostringstream text;
  Eigen::Index entry = 0;
  for (const Mesh& leaf : leaves) {
    const RowMatrix at = leaf.coordinates(association);
    std::vector<RowMatrix> inputs;
    for (const Json& input : contract["inputs"])
      inputs.push_back(input_values(leaf, input, association));
    for (Eigen::Index row = 0; row < at.rows(); ++row) {
      for (const double value : {at(row, 0), at(row, 1), at(row, 2), weights[entry]})
        text << format_number(value) << ' ';
      for (const RowMatrix& input : inputs)
        for (Eigen::Index column = 0; column < input.cols(); ++column)
          text << format_number(input(row, column)) << ' ';
      text << '\n';
      ++entry;
    }
  }
  return std::to_string(entry) + '\n' + text.str();
}

class CaseWriter {
 public:
  explicit CaseWriter(fs::path folder) : folder_(std::move(folder)) {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }

  void add(const std::string& name, const fs::path& operator_file, const fs::path& mesh_file) {
    const OperatorStage stage(operator_file);
    const MeshTree tree = read_mesh_tree(mesh_file);
    write_file_atomically(folder_ / (name + ".arrays"), arrays_text(tree, stage.contract()));
    write_file_atomically(folder_ / (name + ".expected"), prediction_text(stage.run(tree).tree));
    cases_ += name + '\t' + operator_file.string() + '\t' + mesh_file.string() + '\n';
  }

  void finish() const { write_file_atomically(folder_ / "cases.txt", cases_); }

  fs::path operator_file(const std::string& name, const Operator& op) const {
    save_operator(folder_ / (name + ".safetensors"), op);
    return folder_ / (name + ".safetensors");
  }

  fs::path mesh_file(const std::string& name, const MeshTree& tree) const {
    write_mesh_tree(tree, folder_ / name);
    return folder_ / name;
  }

 private:
  fs::path folder_;
  std::string cases_;
};

/// The surrogate with weights that every kind of mesh has.
Operator surrogate(Association association, torch::Dtype dtype) {
  const Operator op = make_surrogate(association, dtype);
  Contract contract = op.contract();
  contract.weights = "auto";
  return {op.shared_model(), contract};
}

void write_cases(const fs::path& folder, const fs::path& data) {
  CaseWriter cases(folder);
  const fs::path double_points =
      cases.operator_file("double", surrogate(Association::point, torch::kFloat64));
  const fs::path float_points =
      cases.operator_file("float", surrogate(Association::point, torch::kFloat32));
  const fs::path double_cells =
      cases.operator_file("cells", surrogate(Association::cell, torch::kFloat64));
  const fs::path grid = cases.mesh_file("grid.vtu", MeshTree(make_grid(8, 7)));
  cases.add("point_cloud", float_points, cases.mesh_file("cloud.vtp", MeshTree(make_cloud())));
  cases.add("unstructured", double_points, grid);
  cases.add("unstructured_float", float_points, grid);
  cases.add("unstructured_cells", double_cells, grid);
  cases.add("image", float_points, cases.mesh_file("image.vti", MeshTree(make_image())));
  cases.add("multiblock", float_points, cases.mesh_file("blocks.vtm", make_blocks()));
  cases.add("parameter", cases.operator_file("parametric", make_parametric()),
            cases.mesh_file("parameter.vtu", MeshTree(make_grid_with_parameter())));
  cases.add("sine", data / "sine.safetensors", data / "meshes" / "line.vtp");
  cases.finish();
}

}  // namespace
}  // namespace funcattn::test

int main(int argc, char** argv) {
  try {
    if (argc != 3) throw std::runtime_error("usage: write_cases FOLDER DATA");
    funcattn::test::write_cases(std::filesystem::absolute(argv[1]), argv[2]);
    return 0;
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
