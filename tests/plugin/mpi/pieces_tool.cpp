// For the tests of several processes.
//   pieces_tool write FOLDER                      operators, a whole mesh and training sets, and
//   the
//                                                 same in pieces
//   pieces_tool compare WHOLE PIECES TOLERANCE    predictions at the same points, by their ids
//   pieces_tool trained A B TOLERANCE             training runs by their files, A.safetensors etc.
//   pieces_tool logged A B TOLERANCE              training runs by their logs alone

#include <vtkFieldData.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <limits>
#include <string>

#include "core/json.h"
#include "meshio/piece_set.h"
#include "meshio/reader.h"
#include "meshio/writer.h"
#include "operators/operator_file.h"
#include "operators/safetensors.h"
#include "tests/plugin/partitions.h"
#include "tests/plugin/samples.h"

namespace funcattn::test {
namespace {

namespace fs = std::filesystem;

void write_pieces(const std::vector<Mesh>& pieces, const fs::path& path) {
  SingleProcess alone;
  PieceSet set{tree_of(pieces, 0, pieces.size(), path.string()), "PUnstructuredGrid", "", 0,
               pieces.size()};
  write_piece_set(set, path, {}, alone);
}

/// Small training sets of meshes of several sizes: whole, and the same in pieces.
void write_training_sets(const fs::path& folder) {
  int number = 0;
  for (const auto& [part, count] : {std::pair{"train", 5}, std::pair{"valid", 2}}) {
    fs::create_directories(folder / "wholes" / part);
    fs::create_directories(folder / "pieces" / part);
    for (int i = 0; i < count; ++i, ++number) {
      const Mesh whole = make_grid(7 + number, 6 + number % 3);
      const std::string name = "sample" + std::to_string(i);
      write_mesh(whole, folder / "wholes" / part / (name + ".vtu"));
      const auto pieces = static_cast<std::size_t>(2 + number % 2);
      write_pieces(pieces_of(whole, cut_at_random(whole, pieces), number % 3),
                   folder / "pieces" / part / (name + ".pvtu"));
    }
  }
}

int write(const fs::path& folder) {
  fs::remove_all(folder);  // Else names of folders would change.
  fs::create_directories(folder);
  save_operator(folder / "single.safetensors", make_deep(torch::kFloat32));
  save_operator(folder / "double.safetensors", make_deep(torch::kFloat64));
  save_operator(folder / "other.safetensors", make_surrogate());
  const Mesh whole = with_ids(make_grid(40, 31));
  write_mesh(whole, folder / "whole.vtu");
  for (const int layers : {0, 1, 2}) {
    const std::string name = std::to_string(layers) + ".pvtu";
    write_pieces(pieces_of(whole, cut_in_turn(whole, 4), layers), folder / ("turn" + name));
    write_pieces(pieces_of(whole, cut_at_random(whole, 5), layers), folder / ("random" + name));
  }
  write_training_sets(folder);
  return 0;
}

int compare(const fs::path& whole, const fs::path& pieces, double tolerance) {
  const Mesh expected = read_mesh(whole);
  const MeshTree found = read_mesh_tree(pieces);
  Eigen::Index points = 0;
  double largest = 0;
  for (const char* array : {"pressure_predicted", "displacement_predicted"}) {
    const RowMatrix truth = expected.array(array, Association::point).to_double();
    for (const Mesh& leaf : found.leaves()) {
      const RowMatrix values = leaf.array(array, Association::point).to_double();
      const RowMatrix ids = leaf.array("id", Association::point).to_double();
      points += ids.rows();
      for (Eigen::Index i = 0; i < ids.rows(); ++i) {
        const auto row = static_cast<Eigen::Index>(ids(i, 0));
        largest = std::max(largest, (values.row(i) - truth.row(row)).cwiseAbs().maxCoeff() /
                                        truth.cwiseAbs().maxCoeff());
      }
    }
  }
  std::cout << points / 2 << " points differ by " << largest << " at most\n";
  return points / 2 >= expected.count(Association::point) && largest <= tolerance ? 0 : 1;
}

/// The largest difference of numbers over the largest number of `a`.
double difference(const Tensor& a, const Tensor& b) {
  if (a.sizes() != b.sizes()) return std::numeric_limits<double>::infinity();
  const Tensor expected = a.to(torch::kFloat64);
  const double size = expected.abs().max().item<double>();
  const double found = (b.to(torch::kFloat64) - expected).abs().max().item<double>();
  return found == 0 ? 0 : found / size;
}

int compare_logs(const std::string& a, const std::string& b, double tolerance) {
  double largest = 0;
  std::ifstream lines(a + ".log.jsonl"), others(b + ".log.jsonl");
  std::size_t steps = 0;
  for (std::string line, other; std::getline(lines, line); ++steps) {
    if (!std::getline(others, other)) return 1;
    Json expected = Json::parse(line);
    const Json found = Json::parse(other);
    expected.erase("seconds");
    for (const auto& [name, value] : expected.items()) {
      const double off = std::abs(found.at(name).get<double>() - value.get<double>());
      if (off > 0) largest = std::max(largest, off / std::abs(value.get<double>()));
    }
  }
  std::cout << steps << " log lines differ by " << largest << " at most\n";
  return steps > 0 && others.peek() == EOF && largest <= tolerance ? 0 : 1;
}

int compare_trained(const std::string& a, const std::string& b, double tolerance) {
  double largest = 0;
  for (const char* kind : {"", ".last", ".state"}) {
    const Safetensors expected = read_safetensors(a + kind + ".safetensors");
    const Safetensors found = read_safetensors(b + kind + ".safetensors");
    if (found.tensors.size() != expected.tensors.size()) return 1;
    for (const auto& [name, tensor] : expected.tensors) {
      const Tensor* other = found.find(name);
      largest = std::max(
          largest, other ? difference(tensor, *other) : std::numeric_limits<double>::infinity());
    }
  }
  std::cout << "tensors differ by " << largest << " at most\n";
  return largest <= tolerance ? compare_logs(a, b, tolerance) : 1;
}

}  // namespace
}  // namespace funcattn::test

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "write" && argc == 3) return funcattn::test::write(argv[2]);
  if (what == "compare" && argc == 5)
    return funcattn::test::compare(argv[2], argv[3], std::stod(argv[4]));
  if (what == "trained" && argc == 5)
    return funcattn::test::compare_trained(argv[2], argv[3], std::stod(argv[4]));
  if (what == "logged" && argc == 5)
    return funcattn::test::compare_logs(argv[2], argv[3], std::stod(argv[4]));
  std::cerr << "usage: pieces_tool write FOLDER | compare WHOLE PIECES TOLERANCE | trained A B "
               "TOLERANCE | logged A B TOLERANCE\n";
  return 2;
}
