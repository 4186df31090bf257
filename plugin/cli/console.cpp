#include "plugin/cli/console.h"

#include <algorithm>

namespace funcattn {

namespace {

/// File names and messages of libraries may hold line breaks; a message is one line.
std::string as_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

}  // namespace

Console::Console(std::ostream& results, std::ostream& log, bool log_is_terminal)
    : results_(results), log_(log), log_is_terminal_(log_is_terminal) {}

void Console::note(const std::string& text) {
  if (!quiet_) log_ << as_line(text) << std::endl;
}

void Console::warn(const std::string& text) {
  log_ << program_ << ": warning: " << as_line(text) << std::endl;
}

void Console::error(const std::string& text) {
  log_ << program_ << ": " << as_line(text) << std::endl;
}

void Console::print_json(const Json& json) {
  results_ << json.dump(2, ' ', false, Json::error_handler_t::replace) << "\n";
}

ProgressBar Console::progress(std::string label, std::int64_t total, std::string unit) {
  const auto style = quiet_             ? ProgressBar::Style::silent
                     : log_is_terminal_ ? ProgressBar::Style::redrawn
                                        : ProgressBar::Style::lines;
  return ProgressBar(log_, style, std::move(label), total, std::move(unit));
}

}  // namespace funcattn
