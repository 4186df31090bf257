#include "examples/generate/generate_command.h"

#include <set>

#include "core/error.h"
#include "examples/sine/samples.h"
#include "examples/vtk_samples.h"
#include "meshio/writer.h"

namespace funcattn {

namespace {

namespace fs = std::filesystem;

struct GenerateOptions {
  std::string task;
  fs::path out;
  int train = 100;
  int valid = 20;
  int test = 20;
  std::vector<int> resolutions = {1};
  std::string protocol = "few-shot";
  int context = 10;
  int points = 0;
  std::uint64_t seed = 0;
  bool overwrite = false;
};

class GenerateCommand : public Command {
 public:
  std::string name() const override { return "generate"; }
  std::string summary() const override { return "write the data set of a task as VTK files"; }
  std::vector<std::string> examples() const override {
    return {"funcattn generate sine --out sine_data --train 100 --test 20 --resolutions 1 4 32"};
  }

  void describe(OptionTable& table) override {
    table.positional("TASK", options_.task, "what to generate: sine").choices({"sine"});
    table.group("Data set");
    table.value("out,o", options_.out, "folder for train/, valid/, test/ and dataset.json")
        .placeholder("FOLDER")
        .required();
    table.value("train", options_.train, "training samples").at_least(0);
    table.value("valid", options_.valid, "validation samples").at_least(0);
    table.value("test", options_.test, "test samples").at_least(0);
    table
        .list("resolutions", options_.resolutions,
              "densities of the test samples; 4 goes to test_x4/, with the same functions")
        .at_least(1);
    table.value("seed", options_.seed, "of all that is drawn");
    table.flag("overwrite", options_.overwrite, "write into a folder that is not empty");
    table.group("Task sine");
    table.value("protocol", options_.protocol, "few-shot or masked-grid")
        .choices({"few-shot", "masked-grid"});
    table.value("context", options_.context, "context points K").at_least(1);
    table.value("points", options_.points, "grid points at density 1")
        .at_least(0)
        .default_text("200; masked-grid: 120");
  }

  void validate() const override { sampling().validate(); }

  int run(Console& console) override {
    if (fs::exists(options_.out) &&
        !(fs::is_directory(options_.out) && fs::is_empty(options_.out)) && !options_.overwrite)
      throw FileError("'" + options_.out.string() +
                      "' is there already and not empty; give another folder or --overwrite");
    const std::vector<Part> parts = plan();
    std::int64_t total = 0;
    for (const Part& part : parts) {
      refuse_leftovers(options_.out / part.folder, part.count);
      total += part.count;
    }
    if (total == 0) throw UsageError("no samples asked for; give --train, --valid or --test");
    ProgressBar bar = console.progress("writing", total, "files");
    std::int64_t done = 0;
    for (const Part& part : parts) {
      if (part.count == 0) continue;
      fs::create_directories(options_.out / part.folder);
      RandomGenerator random(options_.seed * 3 + part.stream);
      for (int i = 0; i < part.count; ++i) {
        write_mesh(sine_mesh(draw_sine_episode(sampling(), part.factor, random)),
                   options_.out / part.folder / file_name(i));
        bar.update(++done);
      }
    }
    write_dataset_description(options_.out, "f(x) = alpha sin(x - gamma), " + options_.protocol,
                              sine_contract(Form::few_shot));
    bar.finish();
    console.results() << "wrote " << total << " samples to " << options_.out.string() << "\n";
    return 0;
  }

 private:
  struct Part {
    std::string folder;
    int count;
    int factor;            ///< Density of the grid.
    std::uint64_t stream;  ///< Random stream: the test sets of all densities share one.
  };

  std::vector<Part> plan() const {
    std::vector<Part> parts = {{"train", options_.train, 1, 0}, {"valid", options_.valid, 1, 1}};
    for (const int factor : options_.resolutions)
      parts.push_back(
          {factor == 1 ? "test" : "test_x" + std::to_string(factor), options_.test, factor, 2});
    return parts;
  }

  static std::string file_name(int sample) {
    std::string number = std::to_string(sample);
    number.insert(0, number.size() < 4 ? 4 - number.size() : 0, '0');
    return number + ".vtp";
  }

  /// Files of a larger set that was here before would count as samples of the new one.
  static void refuse_leftovers(const fs::path& folder, int count) {
    if (!fs::is_directory(folder)) return;
    std::set<std::string> expected;
    for (int i = 0; i < count; ++i) expected.insert(file_name(i));
    for (const fs::directory_entry& entry : fs::directory_iterator(folder))
      if (entry.path().extension() == ".vtp" &&
          expected.count(entry.path().filename().string()) == 0)
        throw FileError("'" + entry.path().string() +
                        "' would remain among the new samples; remove it or give another folder");
  }

  SineSampling sampling() const {
    SineSampling sampling;
    sampling.protocol = sine_protocol_from_string(options_.protocol);
    sampling.context = options_.context;
    sampling.points = options_.points;
    return sampling;
  }

  GenerateOptions options_;
};

}  // namespace

std::unique_ptr<Command> make_generate_command() {
  return std::make_unique<GenerateCommand>();
}

}  // namespace funcattn
