// Runs a stage many times, each time from a new thread and at another number of points, as a host
// with a thread pool of its own does; fails if resident memory goes on growing.
//   flat_memory [RUNS [FEWEST_POINTS [MOST_POINTS [THREADS]]]]

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <random>
#include <thread>

#include "operators/operator_file.h"
#include "plugin/stage.h"
#include "tests/plugin/samples.h"
#include "tests/plugin/support.h"

namespace funcattn {
namespace {

constexpr int settled_after = 100;  // Runs by which everything has been asked for once.
constexpr double most_growth = 1.1;

double resident_mebibytes() {
  long pages = 0;
  std::ifstream statm("/proc/self/statm");
  statm >> pages >> pages;
  return static_cast<double>(pages) * static_cast<double>(::sysconf(_SC_PAGESIZE)) / (1 << 20);
}

Mesh cloud(Eigen::Index points, std::mt19937& draw) {
  std::uniform_real_distribution<double> uniform(0, 1);
  RowMatrix coordinates = RowMatrix::Zero(points, 3);
  RowMatrix load(points, 1);
  for (Eigen::Index i = 0; i < points; ++i) {
    coordinates(i, 0) = uniform(draw);
    coordinates(i, 1) = uniform(draw);
    load(i, 0) = uniform(draw);
  }
  return make_point_cloud(coordinates, "cloud.vtp")
      .with_array({"load", Association::point, 1, ""}, load)
      .with_array({"force", Association::point, 3, ""}, coordinates);
}

int run_often(int runs, int fewest, int most, int threads) {
  const test::TemporaryFolder folder;
  save_operator(folder / "op.safetensors",
                test::make_surrogate(Association::point, torch::kFloat32));
  const OperatorStage stage(folder / "op.safetensors");
  std::mt19937 draw(1);
  std::uniform_int_distribution<int> sizes(fewest, most);
  StageOptions options;
  options.weights = "uniform";
  options.threads = threads;
  double settled = 0;
  double last = 0;
  for (int i = 1; i <= runs; ++i) {
    // The same size where it is compared.
    const int points = i % settled_after == 0 ? most : sizes(draw);
    std::thread([&] { (void)stage.run(cloud(points, draw), options); }).join();
    last = resident_mebibytes();
    if (i == settled_after) settled = last;
    if (i % settled_after == 0) std::cout << i << " runs: " << last << " MiB\n";
  }
  if (settled > 0 && last <= most_growth * settled) return 0;
  std::cout << "memory has grown from " << settled << " to " << last << " MiB\n";
  return 1;
}

int main_with(int argc, char** argv) {
  const auto number = [&](int index, int otherwise) {
    return argc > index ? std::atoi(argv[index]) : otherwise;
  };
  return run_often(number(1, 500), number(2, 1000), number(3, 50000), number(4, 2));
}

}  // namespace
}  // namespace funcattn

int main(int argc, char** argv) {
  return funcattn::main_with(argc, argv);
}
