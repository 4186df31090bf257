#pragma once

#include <ostream>
#include <string>

#include "core/json.h"
#include "plugin/cli/progress_bar.h"

namespace funcattn {

/// What a command writes to: results to one stream, progress and messages to another.
class Console {
 public:
  /// @param log_is_terminal whether progress bars may redraw their line
  Console(std::ostream& results, std::ostream& log, bool log_is_terminal);

  std::ostream& results() { return results_; }
  std::ostream& log() { return log_; }

  bool quiet() const { return quiet_; }
  bool verbose() const { return verbose_; }
  void set_quiet(bool quiet) { quiet_ = quiet; }
  void set_verbose(bool verbose) { verbose_ = verbose; }
  /// Name in front of warnings and errors: "funcattn run".
  void set_program(std::string program) { program_ = std::move(program); }

  /// A line of progress information; silent with --quiet.
  void note(const std::string& text);
  /// "funcattn run: warning: text", also with --quiet.
  void warn(const std::string& text);
  /// "funcattn run: text".
  void error(const std::string& text);

  /// Indented JSON on the results stream. File names that are not UTF-8 are shown with replacement
  /// characters.
  void print_json(const Json& json);

  /// @param total steps expected; 0: unknown
  ProgressBar progress(std::string label, std::int64_t total, std::string unit);

 private:
  std::ostream& results_;
  std::ostream& log_;
  bool log_is_terminal_;
  bool quiet_ = false;
  bool verbose_ = false;
  std::string program_ = "funcattn";
};

}  // namespace funcattn
