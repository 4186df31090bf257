#include "plugin/cli/option_help.h"

#include <algorithm>
#include <sstream>

#include "core/text.h"

namespace funcattn {

namespace {

constexpr std::size_t line_width = 80;
constexpr std::size_t description_column = 30;

std::vector<std::string> groups(const OptionTable& table) {
  std::vector<std::string> titles;
  for (const Option& option : table.options())
    if (std::find(titles.begin(), titles.end(), option.group()) == titles.end())
      titles.push_back(option.group());
  std::stable_partition(titles.begin(), titles.end(),
                        [](const std::string& title) { return title == "Arguments"; });
  return titles;
}

std::string details(const Option& option) {
  std::string text = option.description();
  if (!option.choices().empty()) text += ": " + join(option.choices(), ", ");
  std::vector<std::string> notes;
  if (!option.unit().empty()) notes.push_back("unit: " + option.unit());
  if (option.kind() != Option::Kind::flag && !option.default_text().empty())
    notes.push_back("default: " + option.default_text());
  if (option.is_required() && !option.positional()) notes.push_back("required");
  return notes.empty() ? text : text + " [" + join(notes, "; ") + "]";
}

std::string usage(const Command& command, const OptionTable& table) {
  std::string text = "funcattn " + command.name();
  for (const Option& option : table.options())
    if (option.positional()) text += " " + option_synopsis(option);
  for (const Option& option : table.options())
    if (option.is_required() && !option.positional())
      text += " --" + option.name() + " " + option.placeholder();
  return text + " [OPTIONS]";
}

}  // namespace

std::string wrap(const std::string& text, std::size_t width, std::size_t indent) {
  std::istringstream words(text);
  std::string result;
  std::size_t used = indent;
  for (std::string word; words >> word;) {
    if (!result.empty() && used + 1 + word.size() > width) {
      result += "\n" + std::string(indent, ' ');
      used = indent;
    } else if (!result.empty()) {
      result += " ";
      ++used;
    }
    result += word;
    used += word.size();
  }
  return result;
}

std::string option_synopsis(const Option& option) {
  const char* more = option.kind() == Option::Kind::list ? "..." : "";
  if (option.positional()) {
    const std::string name = option.name() + more;
    return option.is_required() ? name : "[" + name + "]";
  }
  std::string text = option.letter() ? std::string("-") + option.letter() + ", " : "    ";
  text += "--" + option.name();
  if (option.kind() != Option::Kind::flag) text += " " + option.placeholder() + more;
  return text;
}

std::string command_help(const Command& command, const OptionTable& table) {
  std::string help = "funcattn " + command.name() + ": " + command.summary() +
                     "\n\nusage: " + usage(command, table) + "\n";
  for (const std::string& title : groups(table)) {
    help += "\n" + title + ":\n";
    for (const Option& option : table.options()) {
      if (option.group() != title) continue;
      std::string line = "  " + option_synopsis(option);
      line += line.size() + 1 < description_column
                  ? std::string(description_column - line.size(), ' ')
                  : "\n" + std::string(description_column, ' ');
      help += line + wrap(details(option), line_width, description_column) + "\n";
    }
  }
  help += "\nExamples:\n";
  for (const std::string& example : command.examples()) help += "  " + example + "\n";
  return help;
}

std::string command_markdown(const Command& command, const OptionTable& table) {
  std::string text = "## funcattn " + command.name() + "\n\n" + command.summary() + "\n\n```\n";
  for (const std::string& example : command.examples()) text += example + "\n";
  text += "```\n";
  for (const std::string& title : groups(table)) {
    text += "\n| " + title + " | |\n|---|---|\n";
    for (const Option& option : table.options()) {
      if (option.group() != title) continue;
      std::string synopsis = option_synopsis(option);
      synopsis.erase(0, synopsis.find_first_not_of(' '));
      text += "| `" + synopsis + "` | " + details(option) + " |\n";
    }
  }
  return text;
}

}  // namespace funcattn
