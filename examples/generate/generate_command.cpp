#include "examples/generate/generate_command.h"
#include "examples/darcy/darcy_generation.h"

#include <set>

#include "core/error.h"
#include "core/text.h"
#include "examples/burgers/burgers_generation.h"
#include "examples/darcy/darcy_generation.h"
#include "examples/generate/generated_task.h"
#include "examples/parts/parts_generation.h"
#include "examples/sine/sine_generation.h"
#include "examples/vtk_samples.h"
#include "meshio/writer.h"

namespace funcattn {

namespace {

namespace fs = std::filesystem;

constexpr const char* data_set = "Data set";

struct GenerateOptions {
  std::string task;
  fs::path out;
  int train = 100;
  int valid = 20;
  int test = 20;
  int points = 0;
  std::vector<int> resolutions = {1};
  std::uint64_t seed = 0;
  bool overwrite = false;
};

class GenerateCommand : public Command {
 public:
  GenerateCommand() {
    tasks_.push_back(make_sine_generation());
    tasks_.push_back(make_burgers_generation());
    tasks_.push_back(make_darcy_generation());
    tasks_.push_back(make_parts_generation());
  }

  std::string name() const override { return "generate"; }
  std::string summary() const override { return "write the data set of a task as VTK files"; }
  std::vector<std::string> examples() const override {
    return {"funcattn generate sine --out sine_data --train 100 --test 20 --resolutions 1 4 32",
            "funcattn generate burgers --out burgers_data --train 1000 --test 200 "
            "--resolutions 1 2 4 8 16 32",
            "funcattn generate darcy --out darcy_data --domain notch --permeability two-phase "
            "--resolutions 1 4 16 --graded-resolutions 1 4",
            "funcattn generate parts --out parts_data --train 40 --test 10 --resolutions 1 4"};
  }

  void describe(OptionTable& table) override {
    table_ = &table;
    std::vector<std::string> names, points;
    for (const auto& task : tasks_) {
      names.push_back(task->name());
      points.push_back(task->name() + " " + std::to_string(task->default_points()));
    }
    table.positional("TASK", options_.task, "what to generate").choices(names);
    table.group(data_set);
    table.value("out,o", options_.out, "folder for train/, valid/, test/ and dataset.json")
        .placeholder("FOLDER")
        .required();
    table.value("train", options_.train, "training samples").at_least(0);
    table.value("valid", options_.valid, "validation samples").at_least(0);
    table.value("test", options_.test, "test samples").at_least(0);
    table.value("points", options_.points, "points of a training sample")
        .at_least(0)
        .default_text(join(points, ", "));
    table
        .list("resolutions", options_.resolutions,
              "points of the test samples over --points; 4 goes to test_x4/, with the same "
              "functions")
        .at_least(1);
    table.value("seed", options_.seed, "of all that is drawn");
    table.flag("overwrite", options_.overwrite, "write into a folder that is not empty");
    for (const auto& task : tasks_) {
      table.group(group_of(*task));
      task->describe(table);
    }
  }

  void validate() const override {
    const GeneratedTask& chosen = task();
    for (const auto& other : tasks_)
      for (const Option& option : table_->options())
        if (other->name() != chosen.name() && option.group() == group_of(*other) &&
            option.origin() != Origin::default_value)
          throw UsageError("--" + option.name() + " belongs to the task " + other->name() +
                           "; leave it away for " + chosen.name());
    std::set<std::string> folders;
    for (const SampleSet& set : test_sets())
      if (!folders.insert(set.folder).second)
        throw UsageError("the test set " + set.folder + " is asked for twice");
    chosen.validate(points());
  }

  int run(Console& console) override {
    if (fs::exists(options_.out) &&
        !(fs::is_directory(options_.out) && fs::is_empty(options_.out)) && !options_.overwrite)
      throw FileError("'" + options_.out.string() +
                      "' is there already and not empty; give another folder or --overwrite");
    const std::vector<Part> parts = plan();
    std::int64_t total = 0;
    for (const Part& part : parts)
      for (const SampleSet& set : part.sets) {
        refuse_leftovers(options_.out / set.folder, part.count);
        total += part.count;
      }
    if (total == 0) throw UsageError("no samples asked for; give --train, --valid or --test");
    refuse_other_sets(parts);
    // What it says is not true of the new samples.
    fs::remove(dataset_description(options_.out));
    ProgressBar bar = console.progress("writing", total, "files");
    std::int64_t done = 0;
    for (const Part& part : parts) {
      if (part.count == 0) continue;
      for (const SampleSet& set : part.sets) fs::create_directories(options_.out / set.folder);
      RandomGenerator random(options_.seed * 3 + part.stream);
      for (int i = 0; i < part.count; ++i) {
        const std::vector<Mesh> meshes = task().draw(points(), part.sets, random);
        for (std::size_t set = 0; set < meshes.size(); ++set) {
          write_mesh(meshes[set], options_.out / part.sets[set].folder / file_name(i));
          bar.update(++done);
        }
      }
    }
    write_dataset_description(options_.out, task().title(), task().contract(), origin());
    bar.finish();
    console.results() << "wrote " << total << " samples to " << options_.out.string() << "\n";
    return 0;
  }

 private:
  /// Sets that show the same samples.
  struct Part {
    int count;
    std::uint64_t stream;  ///< Of random numbers.
    std::vector<SampleSet> sets;
  };

  static std::string group_of(const GeneratedTask& task) { return "Task " + task.name(); }

  GeneratedTask& task() const {
    for (const auto& task : tasks_)
      if (task->name() == options_.task) return *task;
    throw UsageError("unknown task '" + options_.task + "'");
  }

  int points() const { return options_.points > 0 ? options_.points : task().default_points(); }

  /// What the samples depend on, as text.
  Json origin() const {
    Json origin = {{"task", options_.task}, {"points", std::to_string(points())}};
    for (const Option& option : table_->options()) {
      const bool is_of_set = option.group() == data_set && option.name() != "out" &&
                             option.name() != "overwrite" && option.name() != "points";
      if ((is_of_set || option.group() == group_of(task())) && !option.value_text().empty())
        origin[option.name()] = option.value_text();
    }
    return origin;
  }

  std::vector<SampleSet> test_sets() const {
    std::vector<SampleSet> sets;
    for (const int factor : options_.resolutions)
      sets.push_back({factor == 1 ? "test" : "test_x" + std::to_string(factor), factor, ""});
    for (const SampleSet& set : task().further_test_sets()) sets.push_back(set);
    return sets;
  }

  std::vector<Part> plan() const {
    return {{options_.train, 0, {{"train", 1, ""}}},
            {options_.valid, 1, {{"valid", 1, ""}}},
            {options_.test, 2, test_sets()}};
  }

  std::string file_name(int sample) const {
    std::string number = std::to_string(sample);
    number.insert(0, number.size() < 4 ? 4 - number.size() : 0, '0');
    return number + task().extension();
  }

  /// Files of a larger set that was here before would count as samples of the new one.
  void refuse_leftovers(const fs::path& folder, int count) const {
    if (!fs::is_directory(folder)) return;
    std::set<std::string> expected;
    for (int i = 0; i < count; ++i) expected.insert(file_name(i));
    for (const fs::directory_entry& entry : fs::directory_iterator(folder))
      if (is_mesh_file(entry.path()) && expected.count(entry.path().filename().string()) == 0)
        throw FileError("'" + entry.path().string() +
                        "' would remain among the new samples; remove it or give another folder");
  }

  /// Nor would test sets that are not asked for any more be of the same samples.
  void refuse_other_sets(const std::vector<Part>& parts) const {
    if (!fs::is_directory(options_.out)) return;
    std::set<std::string> written;
    for (const Part& part : parts)
      for (const SampleSet& set : part.sets) written.insert(set.folder);
    for (const fs::directory_entry& entry : fs::directory_iterator(options_.out)) {
      const std::string name = entry.path().filename().string();
      if (name.rfind("test", 0) == 0 && written.count(name) == 0) refuse_leftovers(entry.path(), 0);
    }
  }

  static bool is_mesh_file(const fs::path& path) {
    return path.extension() == ".vtp" || path.extension() == ".vtu";
  }

  GenerateOptions options_;
  std::vector<std::unique_ptr<GeneratedTask>> tasks_;
  const OptionTable* table_ = nullptr;
};

}  // namespace

std::unique_ptr<Command> make_generate_command() {
  return std::make_unique<GenerateCommand>();
}

}  // namespace funcattn
