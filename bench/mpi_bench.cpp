// funcattn_mpi_bench POINTS [REPEATS]: one prediction at so many points per process, and what the
// processes exchange and wait for. Started by bench/mpi.py, with mpiexec.

#include <algorithm>
#include <iostream>
#include <string>

#include "bench/measurement.h"
#include "bench/trained_scale.h"
#include "core/json.h"
#include "operators/engine/inference_engine.h"
#include "operators/threads.h"
#include "plugin/mpi/mpi_session.h"

namespace funcattn {
namespace {

int measure_together(ProcessGroup* processes, std::int64_t points, int repeats) {
  const ThreadScope threads(1);
  const torch::NoGradGuard no_gradients;
  ModelConfig config = published_network();
  config.value_features = 1;
  const auto model = make_model(config, torch::kFloat32, 1);
  scale_as_trained(*model, 1);
  const InferenceEngine engine(*model);
  torch::manual_seed(processes ? processes->rank() + 1 : 1);
  const PointSamples samples{torch::rand({1, points, 3}), torch::rand({1, points, 1}),
                             torch::ones({1, points})};
  Json runs = Json::array();
  for (int repeat = 0; repeat <= repeats; ++repeat) {  // The first one warms up.
    EngineOptions options;
    options.processes = processes;
    EngineProfile profile;
    options.profile = &profile;
    const Traffic before = processes ? processes->traffic() : Traffic{};
    if (processes) processes->wait();
    const double seconds = seconds_of([&] { (void)engine.predict(samples, samples, options); });
    if (repeat == 0) continue;
    const Traffic after = processes ? processes->traffic() : Traffic{};
    runs.push_back({{"seconds", largest_of_all(processes, seconds)},
                    {"bytes", after.bytes - before.bytes},
                    {"exchanges", after.exchanges - before.exchanges},
                    {"waiting", largest_of_all(processes, after.waiting - before.waiting)},
                    {"moving", largest_of_all(processes, after.moving - before.moving)}});
  }
  if (!processes || processes->is_first())
    std::cout << Json{{"processes", processes ? processes->size() : 1},
                      {"points", points},
                      {"blocks", config.blocks},
                      {"runs", runs}}
                     .dump()
              << std::endl;
  return 0;
}

}  // namespace
}  // namespace funcattn

int main(int argc, char** argv) {
  const funcattn::MpiSession session(&argc, &argv);
  if (argc < 2) {
    std::cerr << "usage: funcattn_mpi_bench POINTS_PER_PROCESS [REPEATS]\n";
    return 2;
  }
  return funcattn::measure_together(session.processes(), std::stoll(argv[1]),
                                    argc > 2 ? std::stoi(argv[2]) : 5);
}
