#include "plugin/cli/console.h"

#include <gtest/gtest.h>

#include <sstream>

#include "plugin/cli/text_table.h"

namespace funcattn {
namespace {

TEST(TextTable, AlignsNumbersRightAndWordsLeft) {
  TextTable table({"field", "points", "error"});
  table.add({"Geschwindigkeit \u00fc", "9", "0.5"});
  table.add({"p", "1024", "-"});
  std::ostringstream text;
  table.print(text, 1);
  EXPECT_EQ(text.str(),
            " field              points  error\n"
            " Geschwindigkeit \u00fc       9    0.5\n"
            " p                    1024      -\n");
}

TEST(TextTable, RowsAlone) {
  TextTable table({"", ""});
  table.add({"form", "paper"});
  table.add({"parameters", "12"});
  std::ostringstream text;
  table.print_rows(text);
  EXPECT_EQ(text.str(), "form        paper\nparameters  12\n");
}

TEST(Console, MessagesAreOneHarmlessLine) {
  std::ostringstream results, log;
  Console console(results, log, false);
  console.warn("a\nb\x1b[2J");
  console.error("\u00e4\t\x7f\u009b1m");
  EXPECT_EQ(log.str(), "funcattn: warning: a\\nb\\x1b[2J\nfuncattn: \u00e4\\t\\x7f\\x9b1m\n");
}

TEST(ProgressBar, PrintsALineEveryTenSecondsAwayFromATerminal) {
  std::ostringstream log;
  double now = 100;
  {
    ProgressBar bar(log, ProgressBar::Style::lines, "training", 100, "steps",
                    [&now] { return now; });
    for (int step = 1; step <= 25; ++step) {
      now += 1;
      bar.update(step, "loss 0.5");
    }
  }
  EXPECT_EQ(log.str(),
            "training 10/100 steps, 1 steps/s, 1 min 30 s left, loss 0.5\n"
            "training 20/100 steps, 1 steps/s, 1 min 20 s left, loss 0.5\n"
            "training 25/100 steps, 1 steps/s, 1 min 15 s left, loss 0.5\n");
}

TEST(ProgressBar, RedrawsItsLineOnATerminal) {
  std::ostringstream log;
  double now = 0;
  {
    ProgressBar bar(log, ProgressBar::Style::redrawn, "files", 4, "files", [&now] { return now; });
    now = 1;
    bar.update(1, "long note");
    now = 1.01;
    bar.update(2);
    now = 2;
    bar.update(4);
  }
  EXPECT_EQ(log.str(),
            "\rfiles [######..................] 1/4 files, 1 files/s, 3 s left, long note"
            "\rfiles [########################] 4/4 files, 2 files/s, 2 s                \n");
}

TEST(ProgressBar, SaysNothingWhenSilentOrUnused) {
  std::ostringstream log;
  { ProgressBar bar(log, ProgressBar::Style::silent, "a", 0, "steps"); }
  { ProgressBar bar(log, ProgressBar::Style::redrawn, "a", 0, "steps"); }
  EXPECT_EQ(log.str(), "");
}

TEST(Console, ReplacesWhatIsNotUtf8InJson) {
  std::ostringstream results;
  std::ostringstream log;
  Console console(results, log, false);
  console.print_json({{"file", "a\xff"}});
  EXPECT_EQ(results.str(), "{\n  \"file\": \"a\xef\xbf\xbd\"\n}\n");
}

TEST(Duration, ReadsWell) {
  EXPECT_EQ(format_duration(42.4), "42 s");
  EXPECT_EQ(format_duration(185), "3 min 05 s");
  EXPECT_EQ(format_duration(7800), "2 h 10 min");
}

}  // namespace
}  // namespace funcattn
