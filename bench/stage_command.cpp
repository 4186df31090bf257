#include "bench/commands.h"
#include "bench/measurement.h"
#include "core/error.h"
#include "meshio/reader.h"
#include "meshio/writer.h"
#include "operators/operator_file.h"
#include "operators/threads.h"
#include "plugin/binding.h"
#include "plugin/stage.h"

namespace funcattn {

namespace {

/// Times and peaks of the steps of one run, in order.
class Phases {
 public:
  void run(const std::string& name, const std::function<void()>& work) {
    const PeakMemory memory;
    const double seconds = seconds_of(work);
    // Relative to the program's start: what earlier phases hold counts too.
    const std::int64_t peak = memory.start_bytes() + memory.bytes() - start_;
    report_[name] = {{"seconds", seconds}, {"peak_bytes", peak}};
  }
  Json& report() { return report_; }

 private:
  std::int64_t start_ = PeakMemory().start_bytes();
  Json report_ = Json::object();
};

class StageCommand : public Command {
 public:
  std::string name() const override { return "stage"; }
  std::string summary() const override { return "phases of a stage from mesh file to mesh file"; }
  std::vector<std::string> examples() const override { return {}; }

  void describe(OptionTable& table) override {
    table.value("operator", operator_, "operator file").required();
    table.value("input,i", input_, "mesh file").required();
    table.value("output,o", output_, "mesh file to write").required();
    declare_threads(table, threads_);
  }

  int run(Console& console) override {
    const OperatorStage stage(operator_);
    const Contract contract = load_operator(operator_).contract();
    std::optional<Mesh> mesh;
    Phases phases;
    phases.run("read", [&] { mesh = read_mesh(input_); });
    // Once more than the stage does it, since the stage does not tell its own parts apart.
    phases.run("bind", [&] {
      const ThreadScope threads(threads_);
      bind_sample(*mesh, contract, weight_choice_from_string(contract.weights), false);
    });
    StageOptions options;
    options.threads = threads_;
    phases.run("stage", [&] { mesh = stage.run(*mesh, options).mesh; });
    phases.run("write", [&] { write_mesh(*mesh, output_); });

    Json& report = phases.report();
    report["compute"]["seconds"] =
        report["stage"]["seconds"].get<double>() - report["bind"]["seconds"].get<double>();
    const std::int64_t points = mesh->count(contract.association());
    console.print_json({{"what", "stage"},
                        {"points", points},
                        {"threads", ThreadScope(threads_).threads()},
                        {"phases", std::move(report)}});
    return 0;
  }

 private:
  std::filesystem::path operator_;
  std::filesystem::path input_;
  std::filesystem::path output_;
  int threads_ = 0;
};

}  // namespace

std::unique_ptr<Command> make_stage_command() {
  return std::make_unique<StageCommand>();
}

}  // namespace funcattn
