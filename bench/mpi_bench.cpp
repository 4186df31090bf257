// funcattn_mpi_bench POINTS [REPEATS] [samples|domain]: one prediction at so many points per
// process, or training steps on batches of samples of so many points, which the processes share
// out; and what they exchange and wait for. Started by bench/mpi.py, with mpiexec.

#include <algorithm>
#include <iostream>
#include <string>

#include "bench/measurement.h"
#include "bench/trained_scale.h"
#include "core/json.h"
#include "operators/engine/inference_engine.h"
#include "operators/threads.h"
#include "operators/training/trainer.h"
#include "plugin/mpi/mpi_session.h"

namespace funcattn {
namespace {

constexpr int training_batch = 4;

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

Operator published_operator() {
  ModelConfig config = published_network();
  config.value_features = 1;
  Contract contract;
  contract.inputs.push_back({{"field", Association::point, 1, ""}, InputRole::value});
  contract.outputs.push_back({{"result", Association::point, config.out_features, ""}, {}, {}});
  contract.coordinates.axes = {0, 1, 2};
  contract.coordinates.center = {0.0, 0.0, 0.0};
  return {make_model(config, torch::kFloat32, 1), contract};
}

/// Samples of random points, of which `part` of `parts` is here.
std::vector<Sample> random_samples(std::int64_t points, int part, int parts) {
  torch::manual_seed(1);
  const std::int64_t first = points * part / parts;
  const std::int64_t count = points * (part + 1) / parts - first;
  std::vector<Sample> samples;
  for (int i = 0; i < training_batch; ++i) {
    const auto draw = [&](std::int64_t columns) {
      return torch::rand({points, columns}, torch::kFloat64).narrow(0, first, count).clone();
    };
    Sample sample;
    sample.name = "sample " + std::to_string(i);
    sample.source.coordinates = draw(3);
    sample.source.values = draw(1);
    sample.source.weights = torch::ones({count}, torch::kFloat64);
    sample.query = sample.source;
    sample.targets = sample.source.coordinates.sum(1, true).sin();
    samples.push_back(std::move(sample));
  }
  return samples;
}

int measure_training(ProcessGroup* processes, std::int64_t points, int steps, Parallel parallel) {
  const ThreadScope threads(1);
  Operator op = published_operator();
  SingleProcess alone;
  ProcessGroup* pieces = nullptr;
  if (parallel == Parallel::domain) pieces = processes ? processes : &alone;
  const auto batches = make_dataset_source(
      random_samples(points, pieces ? pieces->rank() : 0, pieces ? pieces->size() : 1),
      training_batch, 1, {}, pieces);
  TrainerOptions options;
  options.steps = steps + 1;  // The first one warms up.
  options.schedule.peak = 1e-4;
  options.loss = Loss::relative_l2;
  options.log_every = 1;
  options.processes = pieces ? pieces : processes;
  options.parallel = parallel;
  Json runs = Json::array();
  Traffic before;
  double begin = 0;
  train(op, *batches, {}, options, Json::object(), [&](const TrainerProgress& progress) {
    const Traffic after = processes ? processes->traffic() : Traffic{};
    if (progress.step > 1)
      runs.push_back({{"seconds", progress.seconds - begin},
                      {"bytes", after.bytes - before.bytes},
                      {"exchanges", after.exchanges - before.exchanges},
                      {"waiting", after.waiting - before.waiting},
                      {"moving", after.moving - before.moving}});
    before = after;
    begin = progress.seconds;
  });
  if (!processes || processes->is_first())
    std::cout << Json{{"processes", processes ? processes->size() : 1},
                      {"points", points},
                      {"samples", training_batch},
                      {"runs", runs}}
                     .dump()
              << std::endl;
  return 0;
}

}  // namespace
}  // namespace funcattn

int main(int argc, char** argv) {
  const funcattn::MpiSession session(&argc, &argv);
  const std::string what = argc > 3 ? argv[3] : "";
  if (argc < 2 || (argc > 3 && what != "samples" && what != "domain")) {
    std::cerr << "usage: funcattn_mpi_bench POINTS [REPEATS] [samples|domain]\n";
    return 2;
  }
  const std::int64_t points = std::stoll(argv[1]);
  const int repeats = argc > 2 ? std::stoi(argv[2]) : 5;
  if (argc > 3)
    return funcattn::measure_training(
        session.processes(), points, repeats,
        what == "domain" ? funcattn::Parallel::domain : funcattn::Parallel::samples);
  return funcattn::measure_together(session.processes(), points, repeats);
}
