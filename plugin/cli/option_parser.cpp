#include <boost/program_options.hpp>
#include <map>
#include <sstream>

#include "core/atomic_file.h"
#include "core/error.h"
#include "core/text.h"
#include "plugin/cli/option_table.h"

namespace po = boost::program_options;

namespace funcattn {

namespace {

/// Lets Boost split the command line by the number of tokens an option takes and leaves the
/// conversion to Option, which does not depend on the locale and words its own errors.
class TokenCount : public po::value_semantic {
 public:
  explicit TokenCount(Option::Kind kind) : kind_(kind) {}
  std::string name() const override { return "arg"; }
  unsigned min_tokens() const override { return kind_ == Option::Kind::flag ? 0 : 1; }
  unsigned max_tokens() const override {
    return kind_ == Option::Kind::list ? std::numeric_limits<unsigned>::max() : min_tokens();
  }
  bool is_composing() const override { return kind_ == Option::Kind::list; }
  bool is_required() const override { return false; }
  void parse(boost::any& store, const std::vector<std::string>& tokens, bool) const override {
    store = tokens;
  }
  bool apply_default(boost::any&) const override { return false; }
  void notify(const boost::any&) const override {}

 private:
  Option::Kind kind_;
};

po::options_description describe_to_boost(const std::deque<Option>& options) {
  po::options_description description;
  for (const Option& option : options) {
    if (option.positional()) continue;
    const std::string names =
        option.letter() ? option.name() + "," + option.letter() : option.name();
    // The description takes ownership of the semantic.
    description.add_options()(names.c_str(), new TokenCount(option.kind()));
  }
  return description;
}

/// Without this, Boost takes the -1.5 of "--shift 0 -1.5" for an option.
std::vector<po::option> take_negative_number(std::vector<std::string>& arguments) {
  const std::string& token = arguments.front();
  if (token.size() < 2 || token.front() != '-' || !parse_double(token)) return {};
  po::option number;
  number.value = {token};
  number.original_tokens = {token};
  number.position_key = 0;
  arguments.erase(arguments.begin());
  return {number};
}

std::string without_dashes(const std::string& token) {
  const auto start = token.find_first_not_of('-');
  return start == std::string::npos ? "" : token.substr(start, token.find('=') - start);
}

std::vector<std::string> split_words(const std::string& line) {
  std::istringstream stream(line);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

}  // namespace

void OptionTable::throw_unknown(const std::string& found) const {
  std::vector<std::string> names;
  for (const Option& option : options_)
    if (!option.positional()) names.push_back(option.name());
  std::string message = "unknown option '" + found + "'";
  // A single dash and one letter is no misspelt word.
  const bool is_letter = found.size() == 2 && found[0] == '-' && found[1] != '-';
  if (!is_letter)
    if (const auto meant = closest_match(without_dashes(found), names))
      message += "; did you mean '--" + *meant + "'?";
  throw UsageError(message);
}

const Option* OptionTable::find_spelling(const std::string& token) const {
  for (const Option& option : options_) {
    if (option.positional()) continue;
    if (token == "--" + option.name()) return &option;
    if (option.letter() && token == std::string("-") + option.letter()) return &option;
  }
  return nullptr;
}

std::vector<std::string> OptionTable::take_assigned(const std::vector<std::string>& arguments) {
  std::vector<std::string> rest;
  bool options_ended = false;
  for (const std::string& argument : arguments) {
    options_ended = options_ended || argument == "--";
    const auto equals = argument.find('=');
    if (!options_ended && argument.rfind("--", 0) == 0 && equals != std::string::npos) {
      Option* option = find_named(argument.substr(2, equals - 2));
      // Boost takes no value for a flag, and no empty one ("--suffix=").
      const bool is_empty = equals + 1 == argument.size();
      if (option && (option->kind() == Option::Kind::flag ||
                     (option->kind() == Option::Kind::single && is_empty))) {
        option->assign({argument.substr(equals + 1)}, Origin::command_line);
        continue;
      }
    }
    rest.push_back(argument);
  }
  return rest;
}

void OptionTable::parse(const std::vector<std::string>& arguments) {
  const std::vector<std::string> rest = take_assigned(arguments);
  const po::options_description description = describe_to_boost(options_);
  std::vector<po::option> found;
  try {
    const int style = po::command_line_style::unix_style & ~po::command_line_style::allow_guessing;
    found = po::command_line_parser(rest)
                .options(description)
                .style(style)
                .extra_style_parser(take_negative_number)
                .run()
                .options;
  } catch (const po::unknown_option& error) {
    throw_unknown(error.get_option_name());
  } catch (const po::error_with_option_name& error) {
    const Option* option = find_spelling(error.get_option_name());
    if (!option) throw UsageError(error.what());
    throw UsageError(option->title() + " needs a value (" + option->placeholder() + ")");
  } catch (const po::error& error) {
    throw UsageError(error.what());
  }

  std::map<std::string, std::vector<std::string>> named;
  std::vector<std::string> positional;
  for (const po::option& entry : found) {
    if (entry.string_key.empty()) {
      positional.insert(positional.end(), entry.value.begin(), entry.value.end());
      continue;
    }
    const Option& option = *find_named(entry.string_key);
    // "--output --json": Boost takes the next option for the value.
    const bool is_separate = entry.original_tokens.size() > 1;
    if (is_separate && !entry.value.empty() && find_spelling(entry.value.front()))
      throw UsageError(option.title() + " needs a value (" + option.placeholder() + ")");
    auto [slot, is_new] = named.try_emplace(entry.string_key);
    if (!is_new && option.kind() == Option::Kind::single)
      throw UsageError(option.title() + " is given twice: '" + slot->second.front() + "' and '" +
                       entry.value.front() + "'; give it once");
    if (option.kind() == Option::Kind::flag)
      slot->second = {"true"};
    else
      slot->second.insert(slot->second.end(), entry.value.begin(), entry.value.end());
  }
  for (const auto& [name, tokens] : named) find_named(name)->assign(tokens, Origin::command_line);
  assign_positional(positional);
}

void OptionTable::assign_positional(const std::vector<std::string>& values) {
  auto next = values.begin();
  for (Option& option : options_) {
    if (!option.positional() || next == values.end()) continue;
    const auto end = option.kind() == Option::Kind::list ? values.end() : next + 1;
    option.assign({next, end}, Origin::command_line);
    next = end;
  }
  if (next != values.end()) throw UsageError("unexpected argument '" + *next + "'");
}

void OptionTable::read_config(const std::filesystem::path& path) {
  std::istringstream stream(read_file(path));
  const std::string where = "configuration file '" + path.string() + "': ";
  std::vector<po::option> found;
  try {
    found = po::parse_config_file(stream, describe_to_boost(options_), true).options;
  } catch (const po::invalid_config_file_syntax& error) {
    throw UsageError(where + "'" + error.tokens() + "' is not of the form 'name = value'");
  } catch (const po::error& error) {
    throw UsageError(where + error.what());
  }

  std::map<std::string, std::vector<std::string>> named;
  for (const po::option& entry : found) {
    Option* option = find_named(entry.string_key);
    if (!option) {
      try {
        throw_unknown(entry.string_key);
      } catch (const UsageError& error) {
        throw UsageError(where + error.what());
      }
    }
    const std::string text = entry.value.empty() ? "" : entry.value.front();
    auto [slot, is_new] = named.try_emplace(entry.string_key);
    if (!is_new && option->kind() != Option::Kind::list)
      throw UsageError(where + "'" + entry.string_key + "' is given twice");
    const auto tokens =
        option->splits_in_config_ ? split_words(text) : std::vector<std::string>{text};
    slot->second.insert(slot->second.end(), tokens.begin(), tokens.end());
  }
  for (const auto& [name, tokens] : named) {
    Option& option = *find_named(name);
    if (option.origin() != Origin::default_value) continue;
    // What another option of the command line takes the place of goes with all that belongs to it.
    const auto is_replaced = [&](const Option* replaced) {
      const Option* other = replaced ? find_named(replaced->other_) : nullptr;
      return other && other->origin() == Origin::command_line;
    };
    if (is_replaced(&option) || is_replaced(find_named(option.owner_))) continue;
    try {
      option.assign(tokens, Origin::config_file);
    } catch (const UsageError& error) {
      throw UsageError(where + error.what());
    }
  }
}

}  // namespace funcattn
