#include "plugin/cli/option_table.h"

#include <clocale>

#include "core/error.h"
#include "plugin/cli/command.h"
#include "plugin/cli/option_help.h"
#include "tests/plugin/support.h"

namespace funcattn {
namespace {

using test::error_of;

enum class Colour { red, green };

struct Options {
  std::vector<std::filesystem::path> files;
  double rate = 1e-3;
  int steps = 100;
  std::uint64_t seed = 0;
  std::string form = "paper";
  std::vector<double> resample;
  std::vector<std::string> names;
  std::optional<double> ridge;
  Colour colour = Colour::green;
  bool json = false;
  bool overwrite = false;
};

class OptionTableTest : public ::testing::Test {
 protected:
  OptionTableTest() {
    table.positional("INPUT", options.files, "files to read");
    table.group("Training");
    table.value("rate", options.rate, "learning rate").above(0);
    table.value("steps,n", options.steps, "optimiser steps").at_least(1).at_most(1000000);
    table.value("seed", options.seed, "seed of all random numbers");
    table.value("form", options.form, "attention form").choices({"paper", "few_shot"});
    table.value("ridge", options.ridge, "regularisation").unit("1");
    table.group("Data");
    table.list("resample", options.resample, "factors of the resolution");
    table.list("names", options.names, "arrays");
    table.choice<Colour>("colour", options.colour, {{"red", Colour::red}, {"green", Colour::green}},
                         "of the curve");
    table.flag("json,j", options.json, "report as JSON");
    table.flag("overwrite", options.overwrite, "replace");
  }

  std::string parse_error(const std::vector<std::string>& arguments) {
    return error_of<UsageError>([&] { table.parse(arguments); });
  }

  Options options;
  OptionTable table;
};

TEST_F(OptionTableTest, TakesEmptyTextsWhereTheyMeanSomething) {
  table.parse({"a.vtu", "--form=few_shot", "--names", "x"});
  OptionTable other;
  std::string suffix = "_a";
  std::string weights = "auto";
  other.value("suffix", suffix, "ending").may_be_empty();
  other.value("weights", weights, "of the points").placeholder("CHOICE");
  other.parse({"--suffix="});
  EXPECT_EQ(suffix, "");
  for (const std::vector<std::string>& given :
       {std::vector<std::string>{"--weights="}, std::vector<std::string>{"--weights", ""}})
    EXPECT_EQ(error_of<UsageError>([&] { other.parse(given); }),
              "option '--weights': found '', expected a value (CHOICE)");
  EXPECT_NE(parse_error({"--rate="}).find("option '--rate': found '', expected a finite number"),
            std::string::npos);
}

TEST_F(OptionTableTest, ChoicesMayBeLeftAway) {
  std::optional<Colour> colour;
  OptionTable other;
  other.choice("colour", colour, {{"red", Colour::red}, {"green", Colour::green}}, "of the curve");
  other.parse({});
  EXPECT_FALSE(colour);
  other.parse({"--colour", "red"});
  EXPECT_EQ(colour, Colour::red);
  EXPECT_EQ(other.find("colour")->value_text(), "red");
}

TEST_F(OptionTableTest, AnotherOptionCanTakeThePlaceOfARequiredOne) {
  std::filesystem::path file;
  bool list = false;
  OptionTable other;
  other.value("file", file, "to read").required_unless(list);
  other.flag("list", list, "instead");
  other.parse({});
  EXPECT_NE(error_of<UsageError>([&] { other.check_required(); }).find("'--file' is missing"),
            std::string::npos);
  other.parse({"--list"});
  other.check_required();
}

TEST_F(OptionTableTest, ReadsEveryKindOfOption) {
  table.parse({"a b.vtu", "--rate", "5e-4", "-n20", "--seed=18446", "--resample", "1", "-2.5",
               "--form", "few_shot", "-j", "--colour", "red", "--ridge", "0", "--", "-odd.vtu"});
  EXPECT_EQ(options.files, (std::vector<std::filesystem::path>{"a b.vtu", "-odd.vtu"}));
  EXPECT_EQ(options.rate, 5e-4);
  EXPECT_EQ(options.steps, 20);
  EXPECT_EQ(options.seed, 18446u);
  EXPECT_EQ(options.resample, (std::vector<double>{1, -2.5}));
  EXPECT_EQ(options.form, "few_shot");
  EXPECT_EQ(options.colour, Colour::red);
  EXPECT_EQ(options.ridge, 0.0);
  EXPECT_TRUE(options.json);
  EXPECT_FALSE(options.overwrite);
  EXPECT_EQ(table.find("rate")->origin(), Origin::command_line);
  EXPECT_EQ(table.find("overwrite")->origin(), Origin::default_value);
}

TEST_F(OptionTableTest, SuggestsTheOptionMeant) {
  EXPECT_EQ(parse_error({"--resmaple", "2"}),
            "unknown option '--resmaple'; did you mean '--resample'?");
  EXPECT_EQ(parse_error({"--xyzzy"}), "unknown option '--xyzzy'");
  EXPECT_EQ(parse_error({"-x"}), "unknown option '-x'");
  // A prefix is no abbreviation: it would change its meaning with every new option.
  EXPECT_EQ(parse_error({"--step", "2"}), "unknown option '--step'; did you mean '--steps'?");
}

TEST_F(OptionTableTest, NamesOptionTextAndExpectationOfAMalformedValue) {
  EXPECT_EQ(parse_error({"--steps", "10x"}),
            "option '--steps': found '10x', expected a whole number");
  EXPECT_EQ(parse_error({"--steps", "99999999999"}),
            "option '--steps': found '99999999999', expected a whole number of at most 2147483647 "
            "in size");
  EXPECT_EQ(parse_error({"--seed", "-1"}),
            "option '--seed': found '-1', expected a whole number of at least 0");
  for (const char* text : {"0,5", "nan", "inf", "", "1.0 "})
    EXPECT_EQ(parse_error({"--rate", text}),
              std::string("option '--rate': found '") + text +
                  "', expected a finite number with a decimal point, such as 0.5 or 1e-3");
  EXPECT_EQ(parse_error({"--form", "papr"}),
            "option '--form': found 'papr', expected one of paper, few_shot; did you mean "
            "'paper'?");
  EXPECT_EQ(parse_error({"--colour", "blue"}),
            "option '--colour': found 'blue', expected one of red, green");
  EXPECT_EQ(parse_error({"--resample", "1", "two"}),
            "option '--resample': found 'two', expected a finite number with a decimal point, "
            "such as 0.5 or 1e-3");
}

TEST_F(OptionTableTest, ChecksBounds) {
  EXPECT_EQ(parse_error({"--rate", "0"}), "option '--rate': found '0', expected a number above 0");
  EXPECT_EQ(parse_error({"--steps", "0"}), "option '--steps': found '0', expected at least 1");
  EXPECT_EQ(parse_error({"--steps", "1000001"}),
            "option '--steps': found '1000001', expected at most 1e+06");
}

TEST_F(OptionTableTest, RejectsMissingRepeatedAndSurplusValues) {
  EXPECT_EQ(parse_error({"--steps"}), "option '--steps' needs a value (N)");
  EXPECT_EQ(parse_error({"-n"}), "option '--steps' needs a value (N)");
  EXPECT_EQ(parse_error({"--rate", "--json"}), "option '--rate' needs a value (NUMBER)");
  EXPECT_EQ(parse_error({"--steps", "1", "-n", "2"}),
            "option '--steps' is given twice: '1' and '2'; give it once");
  table.parse({"--resample", "1", "2", "--resample", "4"});
  EXPECT_EQ(options.resample, (std::vector<double>{1, 2, 4}));
  EXPECT_EQ(error_of<UsageError>([&] { table.check_required(); }),
            "argument INPUT is missing: files to read");

  OptionTable one_file;
  std::filesystem::path file;
  one_file.positional("FILE", file, "a file");
  EXPECT_EQ(error_of<UsageError>([&] { one_file.parse({"a", "b"}); }), "unexpected argument 'b'");
  std::filesystem::path output;
  one_file.value("output", output, "where to").required();
  EXPECT_EQ(error_of<UsageError>([&] { one_file.check_required(); }),
            "option '--output' is missing: where to");
}

TEST_F(OptionTableTest, CommandLineOverridesConfiguration) {
  const test::TemporaryFolder folder;
  const auto config = folder.write("run.ini",
                                   "# a comment\n"
                                   "rate = 0.25   # behind a value\n"
                                   "steps=7\r\n"
                                   "\n"
                                   "resample = 1 2 4\n"
                                   "names = two words\n"
                                   "names = other\n"
                                   "overwrite = true\n"
                                   "json = yes\n");
  table.parse({"in.vtu", "--steps", "9", "--overwrite=false"});
  table.read_config(config);
  table.check_required();
  EXPECT_EQ(options.rate, 0.25);
  EXPECT_EQ(options.steps, 9);
  EXPECT_EQ(options.resample, (std::vector<double>{1, 2, 4}));
  EXPECT_EQ(options.names, (std::vector<std::string>{"two words", "other"}));
  EXPECT_TRUE(options.json);
  EXPECT_FALSE(options.overwrite);
  EXPECT_EQ(table.find("rate")->origin(), Origin::config_file);
  EXPECT_EQ(table.find("steps")->origin(), Origin::command_line);
  EXPECT_EQ(table.find("seed")->origin(), Origin::default_value);
}

TEST(OptionAlternatives, CommandLineTakesThePlaceOfTheOtherWayToSayItInTheConfiguration) {
  const test::TemporaryFolder folder;
  const auto config = folder.write("train.cfg", "epochs = 500\nbatch = 4\n");
  const auto parsed = [&](const std::vector<std::string>& arguments) {
    std::optional<int> steps, epochs, batch;
    OptionTable table;
    table.value("steps", steps, "steps").instead_of("epochs");
    table.value("epochs", epochs, "passes").instead_of("steps");
    table.value("batch", batch, "samples");
    table.parse(arguments);
    table.read_config(config);
    EXPECT_EQ(batch, 4);
    return std::make_pair(steps, epochs);
  };
  EXPECT_EQ(parsed({"--steps", "3"}), std::make_pair(std::optional(3), std::optional<int>()));
  EXPECT_EQ(parsed({}), std::make_pair(std::optional<int>(), std::optional(500)));
}

TEST(OptionOwners, WhatHasNoEffectWithoutAnotherOptionIsRefused) {
  const test::TemporaryFolder folder;
  const auto config = folder.write("fit.cfg", "task = sine\nepisodes = 5\nlines = true\n");
  struct Values {
    std::string data, task, weights;
    int episodes = 3;
    bool lines = false;
  };
  const auto parsed = [&](const std::vector<std::string>& arguments, bool with_config) {
    Values values;
    OptionTable table;
    table.value("data", values.data, "files").instead_of("task");
    table.value("task", values.task, "task").instead_of("data");
    table.value("weights", values.weights, "weights").only_with("data");
    table.value("episodes", values.episodes, "functions").only_with("task");
    table.flag("lines", values.lines, "lines").only_with("task");
    table.parse(arguments);
    if (with_config) table.read_config(config);
    table.check_owners();
    return values;
  };
  const auto refusal = [&](const std::vector<std::string>& arguments, bool with_config = false) {
    return error_of<UsageError>([&] { parsed(arguments, with_config); });
  };
  EXPECT_EQ(parsed({"--task", "sine", "--episodes", "4", "--lines"}, false).episodes, 4);
  EXPECT_EQ(refusal({"--data", "a", "--episodes", "3", "--lines"}),
            "--episodes, --lines belong to --task, but --data is given; leave them away, or give "
            "--task in its place");
  EXPECT_EQ(refusal({"--episodes", "4"}),
            "--episodes belongs to --task, which is not given; leave it away, or give --task");
  EXPECT_EQ(refusal({"--task", "sine", "--weights", "uniform"}),
            "--weights belongs to --data, but --task is given; leave it away, or give --data in "
            "its place");
  EXPECT_EQ(refusal({"--weights", "uniform"}, true), refusal({"--task", "b", "--weights", "c"}));
  EXPECT_FALSE(parsed({"--data", "a", "--lines=false"}, false).lines) << "undone is not given";
  EXPECT_EQ(parsed({}, true).episodes, 5);
  const Values files = parsed({"--data", "a"}, true);
  EXPECT_EQ(files.task, "") << "the command line's --data takes its place";
  EXPECT_EQ(files.episodes, 3);
  EXPECT_FALSE(files.lines);
}

TEST_F(OptionTableTest, ConfigurationErrorsNameTheFile) {
  const test::TemporaryFolder folder;
  const auto read = [&](const std::string& text) {
    const auto config = folder.write("run.ini", text);
    std::string message = error_of<UsageError>([&] { table.read_config(config); });
    const std::string start = "configuration file '" + config.string() + "': ";
    EXPECT_EQ(message.rfind(start, 0), 0u) << message;
    return message.substr(start.size());
  };
  EXPECT_EQ(read("stpes = 3\n"), "unknown option 'stpes'; did you mean '--steps'?");
  EXPECT_EQ(read("INPUT = a.vtu\n"), "unknown option 'INPUT'");
  EXPECT_EQ(read("[section]\nsteps = 3\n"), "unknown option 'section.steps'");
  EXPECT_EQ(read("steps 3\n"), "'steps 3' is not of the form 'name = value'");
  EXPECT_EQ(read("steps = 3\nsteps = 4\n"), "'steps' is given twice");
  EXPECT_EQ(read("steps =\n"), "option '--steps': found '', expected a whole number");
  EXPECT_EQ(read("resample =\n"), "option '--resample' needs a value (NUMBER)");
  EXPECT_EQ(read("json = maybe\n"), "option '--json': found 'maybe', expected true or false");
  EXPECT_EQ(read("rate = 0,5\n"),
            "option '--rate': found '0,5', expected a finite number with a decimal point, such as "
            "0.5 or 1e-3");
  error_of<FileError>([&] { table.read_config(folder / "absent.ini"); });
}

TEST_F(OptionTableTest, IgnoresTheLocale) {
  const std::string before = std::setlocale(LC_ALL, nullptr);
  // Where no comma locale is installed the check still holds, trivially.
  std::setlocale(LC_ALL, "de_DE.UTF-8");
  table.parse({"--rate", "0.5"});
  EXPECT_EQ(options.rate, 0.5);
  EXPECT_EQ(table.find("rate")->value_text(), "0.5");
  std::setlocale(LC_ALL, before.c_str());
}

class Example : public Command {
 public:
  std::string name() const override { return "fit"; }
  std::string summary() const override { return "fit a curve"; }
  std::vector<std::string> examples() const override { return {"funcattn fit a.vtu"}; }
  void describe(OptionTable&) override {}
  int run(Console&) override { return 0; }
};

TEST_F(OptionTableTest, HelpShowsGroupsDefaultsUnitsAndChoices) {
  const std::string help = command_help(Example(), table);
  EXPECT_EQ(help.rfind("funcattn fit: fit a curve\n\nusage: funcattn fit INPUT... [OPTIONS]\n\n"
                       "Arguments:\n  INPUT...                    files to read\n\nTraining:\n",
                       0),
            0u)
      << help;
  for (const char* line :
       {"      --rate NUMBER           learning rate [default: 0.001]\n",
        "  -n, --steps N               optimiser steps [default: 100]\n",
        "      --ridge NUMBER          regularisation [unit: 1]\n",
        "\nData:\n      --resample NUMBER...    factors of the resolution\n",
        "      --colour NAME           of the curve: red, green [default: green]\n",
        "  -j, --json                  report as JSON\n", "\nExamples:\n  funcattn fit a.vtu\n"})
    EXPECT_NE(help.find(line), std::string::npos) << line << "\n" << help;
  const std::string markdown = command_markdown(Example(), table);
  EXPECT_NE(markdown.find("| `-n, --steps N` | optimiser steps [default: 100] |"),
            std::string::npos)
      << markdown;
}

TEST(Wrap, BreaksBetweenWords) {
  EXPECT_EQ(wrap("one two three", 9, 2), "one two\n  three");
  EXPECT_EQ(wrap("unbreakable", 4, 2), "unbreakable");
}

}  // namespace
}  // namespace funcattn
