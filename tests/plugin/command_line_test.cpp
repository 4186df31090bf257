#include "plugin/cli/command_line.h"

#include <functional>
#include <new>
#include <sstream>

#include "core/error.h"
#include "tests/plugin/support.h"

namespace funcattn {
namespace {

class Probe : public Command {
 public:
  explicit Probe(std::function<int(Console&)> action) : action_(std::move(action)) {}
  std::string name() const override { return "probe"; }
  std::string summary() const override { return "try something"; }
  std::vector<std::string> examples() const override { return {"funcattn probe --level 2"}; }
  void describe(OptionTable& table) override {
    table.value("level", level_, "how deep");
    declare_threads(table, threads_);
  }
  void validate() const override {
    if (level_ == 13) throw UsageError("level 13 does not exist");
  }
  int run(Console& console) override { return action_(console); }

 private:
  int level_ = 1;
  int threads_ = 0;
  std::function<int(Console&)> action_;
};

struct Outcome {
  int status;
  std::string results;
  std::string log;
};

Outcome run_with(std::vector<const char*> arguments, std::function<int(Console&)> action) {
  Commands commands;
  commands.push_back(std::make_unique<Probe>(std::move(action)));
  arguments.insert(arguments.begin(), "funcattn");
  std::ostringstream results;
  std::ostringstream log;
  const int status = run_command_line(static_cast<int>(arguments.size()), arguments.data(),
                                      commands, results, log);
  return {status, results.str(), log.str()};
}

int do_nothing(Console&) {
  return 0;
}

TEST(CommandLine, ReturnsWhatTheCommandReturns) {
  const Outcome outcome = run_with({"probe"}, [](Console& console) {
    console.results() << "42\n";
    console.note("working");
    console.warn("careful");
    return 1;
  });
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.results, "42\n");
  EXPECT_EQ(outcome.log, "working\nfuncattn probe: warning: careful\n");
}

// A command is advised to use the options that it has, whatever the library says.
TEST(CommandLine, ErrorsNameOptionsOfTheCommand) {
  const auto failing = [](Console&) -> int {
    throw DataError("a.vtu: NaN; repair it, or let the NaN policy mask or drop such entries");
  };
  EXPECT_EQ(run_with({"probe"}, failing).log,
            "funcattn probe: a.vtu: NaN; repair it, or leave the file out\n");
}

TEST(CommandLine, QuietSilencesNotesOnly) {
  const Outcome outcome = run_with({"probe", "-q"}, [](Console& console) {
    console.note("working");
    console.progress("steps", 2, "steps").update(1);
    console.warn("careful");
    return 0;
  });
  EXPECT_EQ(outcome.log, "funcattn probe: warning: careful\n");
}

TEST(CommandLine, HelpGoesToTheResults) {
  EXPECT_NE(run_with({"--help"}, do_nothing).results.find("  probe  try something\n"),
            std::string::npos);
  for (const std::vector<const char*>& arguments : {std::vector<const char*>{"probe", "--help"},
                                                    {"probe", "-h", "--nonsense"},
                                                    {"help", "probe"}}) {
    const Outcome outcome = run_with(arguments, do_nothing);
    EXPECT_EQ(outcome.status, 0);
    EXPECT_EQ(outcome.results.rfind("funcattn probe: try something\n", 0), 0u) << outcome.results;
    EXPECT_EQ(outcome.log, "");
  }
  const Outcome markdown = run_with({"help", "--markdown"}, do_nothing);
  EXPECT_EQ(markdown.results.rfind("## funcattn probe\n", 0), 0u) << markdown.results;
}

TEST(CommandLine, VersionNamesWhatResultsDependOn) {
  const Outcome outcome = run_with({"--version"}, do_nothing);
  EXPECT_EQ(outcome.status, 0);
  for (const char* item :
       {"funcattn ", "LibTorch ", "VTK ", "BLAS ", "CPU features ", "threads ", "device "})
    EXPECT_NE(outcome.results.find(item), std::string::npos) << item << "\n" << outcome.results;
}

TEST(CommandLine, WrongUsageIsStatusTwo) {
  const std::string hint = "; see 'funcattn probe --help'\n";
  EXPECT_EQ(run_with({}, do_nothing).status, 2);
  EXPECT_EQ(run_with({"prob"}, do_nothing).log,
            "funcattn: unknown command 'prob'; did you mean 'probe'?; see 'funcattn --help'\n");
  EXPECT_EQ(run_with({"--level"}, do_nothing).log,
            "funcattn: unknown option '--level' before the command; see 'funcattn --help'\n");
  const Outcome unknown = run_with({"probe", "--levle", "3"}, do_nothing);
  EXPECT_EQ(unknown.status, 2);
  EXPECT_EQ(unknown.log,
            "funcattn probe: unknown option '--levle'; did you mean '--level'?" + hint);
  EXPECT_EQ(run_with({"probe", "--level", "13"}, do_nothing).log,
            "funcattn probe: level 13 does not exist" + hint);
  EXPECT_EQ(run_with({"probe", "--threads", "-1"}, do_nothing).log,
            "funcattn probe: option '--threads': found '-1', expected at least 0" + hint);
}

TEST(CommandLine, EveryExceptionBecomesOneLine) {
  const auto outcome_of = [](auto error) {
    return run_with({"probe"}, [error](Console&) -> int { throw error; });
  };
  EXPECT_EQ(outcome_of(UsageError("which one")).status, 2);
  const Outcome data = outcome_of(DataError("a.vtu: no array 'u'"));
  EXPECT_EQ(data.status, 1);
  EXPECT_EQ(data.log, "funcattn probe: a.vtu: no array 'u'\n");
  EXPECT_EQ(outcome_of(FileError("in two\nlines")).log, "funcattn probe: in two\\nlines\n");
  EXPECT_EQ(outcome_of(std::runtime_error("what happened\nException raised from f at g.cpp")).log,
            "funcattn probe: what happened\n");
  const std::string memory =
      "funcattn probe: out of memory: use a smaller mesh or a machine with more memory\n";
  EXPECT_EQ(outcome_of(std::bad_alloc()).log, memory);
  EXPECT_EQ(outcome_of(std::runtime_error("DefaultCPUAllocator: can't allocate memory: ...")).log,
            memory);
}

TEST(CommandLine, VerboseTellsWhereValuesComeFrom) {
  const test::TemporaryFolder folder;
  const std::string config = folder.write("c.ini", "level = 3\n").string();
  const Outcome outcome =
      run_with({"probe", "--config", config.c_str(), "--threads", "2", "-v"}, do_nothing);
  EXPECT_NE(outcome.log.find("--level = 3 (configuration file)\n"), std::string::npos);
  EXPECT_NE(outcome.log.find("--threads = 2 (command line)\n"), std::string::npos);
  EXPECT_NE(outcome.log.find("--quiet = false (default)\n"), std::string::npos);
}

TEST(CommandLine, ResultsThatCannotBeWrittenAreAFailure) {
  Commands commands;
  commands.push_back(std::make_unique<Probe>([](Console& console) {
    console.results() << "42\n";
    return 0;
  }));
  const char* arguments[] = {"funcattn", "probe"};
  std::ostream broken(nullptr);
  std::ostringstream log;
  EXPECT_EQ(run_command_line(2, arguments, commands, broken, log), 1);
  EXPECT_EQ(log.str().rfind("funcattn probe: cannot write the results to standard output", 0), 0u);
}

}  // namespace
}  // namespace funcattn
