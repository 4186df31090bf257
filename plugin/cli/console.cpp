#include "plugin/cli/console.h"

#include "core/text.h"

namespace funcattn {

Console::Console(std::ostream& results, std::ostream& log, bool log_is_terminal)
    : results_(results), log_(log), log_is_terminal_(log_is_terminal) {}

void Console::note(const std::string& text) {
  if (!quiet_) log_ << printable(text) << std::endl;
}

void Console::warn(const std::string& text) {
  log_ << program_ << ": warning: " << printable(text) << std::endl;
}

void Console::error(const std::string& text) {
  log_ << program_ << ": " << printable(text) << std::endl;
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
