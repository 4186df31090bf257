// Writes the operators, weights and meshes that the command-line tests use into a folder.

#include <filesystem>
#include <fstream>
#include <iostream>

#include "core/atomic_file.h"
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

void write_fixtures(const fs::path& folder) {
  fs::remove_all(folder);
  fs::create_directories(folder / "meshes");
  save_operator(folder / "surrogate.safetensors", make_surrogate());
  save_operator(folder / "regression.safetensors", make_regression());
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
