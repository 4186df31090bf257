#include "plugin/cli/option_table.h"

#include <cmath>

#include "core/error.h"
#include "core/text.h"

namespace funcattn {

const char* to_string(Origin origin) {
  switch (origin) {
    case Origin::default_value:
      return "default";
    case Origin::config_file:
      return "configuration file";
    case Origin::command_line:
      return "command line";
  }
  return "";
}

Option& Option::required() {
  required_ = true;
  return *this;
}

Option& Option::instead_of(std::string other) {
  other_ = std::move(other);
  return *this;
}

Option& Option::only_with(std::string owner) {
  owner_ = std::move(owner);
  return *this;
}

bool Option::is_given() const {
  return origin_ != Origin::default_value && !(kind_ == Kind::flag && value_text() == "false");
}

Option& Option::required_unless(const bool& instead) {
  required_ = true;
  instead_ = &instead;
  return *this;
}

Option& Option::unit(std::string text) {
  unit_ = std::move(text);
  return *this;
}

Option& Option::placeholder(std::string text) {
  placeholder_ = std::move(text);
  return *this;
}

Option& Option::choices(std::vector<std::string> values) {
  choices_ = std::move(values);
  placeholder_ = "NAME";
  return *this;
}

Option& Option::default_text(std::string text) {
  default_text_ = std::move(text);
  return *this;
}

Option& Option::may_be_empty() {
  may_be_empty_ = true;
  return *this;
}

Option& Option::at_least(double bound) {
  lower_ = bound;
  lower_is_open_ = false;
  return *this;
}

Option& Option::at_most(double bound) {
  upper_ = bound;
  return *this;
}

Option& Option::above(double bound) {
  lower_ = bound;
  lower_is_open_ = true;
  return *this;
}

std::string Option::title() const {
  return positional_ ? "argument '" + name_ + "'" : "option '--" + name_ + "'";
}

void Option::assign(const std::vector<std::string>& tokens, Origin origin) {
  if (tokens.empty()) throw UsageError(title() + " needs a value (" + placeholder_ + ")");
  store_(*this, tokens);
  origin_ = origin;
}

namespace {

[[noreturn]] void throw_expected(const Option& option, const std::string& found,
                                 const std::string& expected) {
  throw UsageError(option.title() + ": found '" + found + "', expected " + expected);
}

template <typename Integer>
void parse_integer_option(const Option& option, const std::string& token, Integer& value,
                          void (*check)(const Option&, const std::string&, double)) {
  const auto parsed = parse_integer(token);
  if (!parsed) throw_expected(option, token, "a whole number");
  if constexpr (std::is_unsigned_v<Integer>) {
    if (*parsed < 0) throw_expected(option, token, "a whole number of at least 0");
  } else if (*parsed < std::numeric_limits<Integer>::min() ||
             *parsed > std::numeric_limits<Integer>::max()) {
    throw_expected(option, token,
                   "a whole number of at most " +
                       std::to_string(std::numeric_limits<Integer>::max()) + " in size");
  }
  check(option, token, static_cast<double>(*parsed));
  value = static_cast<Integer>(*parsed);
}

}  // namespace

void OptionTokens::check_bounds(const Option& option, const std::string& token, double value) {
  const bool too_small = option.lower_is_open_ ? value <= option.lower_ : value < option.lower_;
  if (too_small)
    throw_expected(
        option, token,
        (option.lower_is_open_ ? "a number above " : "at least ") + format_number(option.lower_));
  if (value > option.upper_)
    throw_expected(option, token, "at most " + format_number(option.upper_));
}

void OptionTokens::check_choice(const Option& option, const std::string& token) {
  if (option.choices().empty()) return;
  for (const auto& choice : option.choices())
    if (choice == token) return;
  std::string expected = "one of " + join(option.choices(), ", ");
  if (const auto meant = closest_match(token, option.choices()))
    expected += "; did you mean '" + *meant + "'?";
  throw_expected(option, token, expected);
}

void OptionTokens::parse(const Option& option, const std::string& token, std::string& value) {
  if (token.empty() && !option.may_be_empty_)
    throw_expected(option, token, "a value (" + option.placeholder() + ")");
  check_choice(option, token);
  value = token;
}

void OptionTokens::parse(const Option& option, const std::string& token,
                         std::filesystem::path& value) {
  if (token.empty()) throw_expected(option, token, "the name of a file or folder");
  value = token;
}

void OptionTokens::parse(const Option& option, const std::string& token, bool& value) {
  for (const char* text : {"true", "yes", "on", "1"})
    if (token == text) {
      value = true;
      return;
    }
  for (const char* text : {"false", "no", "off", "0"})
    if (token == text) {
      value = false;
      return;
    }
  throw_expected(option, token, "true or false");
}

void OptionTokens::parse(const Option& option, const std::string& token, double& value) {
  const auto parsed = parse_double(token);
  if (!parsed || !std::isfinite(*parsed))
    throw_expected(option, token, "a finite number with a decimal point, such as 0.5 or 1e-3");
  check_bounds(option, token, *parsed);
  value = *parsed;
}

void OptionTokens::parse(const Option& option, const std::string& token, int& value) {
  parse_integer_option(option, token, value, check_bounds);
}

void OptionTokens::parse(const Option& option, const std::string& token, std::int64_t& value) {
  parse_integer_option(option, token, value, check_bounds);
}

void OptionTokens::parse(const Option& option, const std::string& token, std::uint64_t& value) {
  parse_integer_option(option, token, value, check_bounds);
}

std::string OptionTokens::show(double value) {
  return format_number(value);
}

Option& OptionTable::add(const std::string& names, std::string description, Option::Kind kind) {
  Option& option = options_.emplace_back();
  const auto comma = names.find(',');
  option.name_ = names.substr(0, comma);
  if (comma != std::string::npos) option.letter_ = names.at(comma + 1);
  option.group_ = group_;
  option.description_ = std::move(description);
  option.kind_ = kind;
  return option;
}

Option& OptionTable::add_positional(const std::string& name, std::string description,
                                    Option::Kind kind) {
  Option& option = options_.emplace_back();
  option.name_ = name;
  option.placeholder_ = name;
  option.group_ = "Arguments";
  option.description_ = std::move(description);
  option.kind_ = kind;
  option.positional_ = true;
  return option;
}

Option& OptionTable::flag(const std::string& names, bool& target, std::string description) {
  Option& option = add(names, std::move(description), Option::Kind::flag);
  option.store_ = [&target](const Option& self, const std::vector<std::string>& tokens) {
    OptionTokens::parse(self, tokens.front(), target);
  };
  option.show_ = [&target] { return OptionTokens::show(target); };
  return option;
}

const Option* OptionTable::find(const std::string& name) const {
  for (const Option& option : options_)
    if (option.name() == name) return &option;
  return nullptr;
}

Option* OptionTable::find_named(const std::string& name) {
  for (Option& option : options_)
    if (!option.positional() && option.name() == name) return &option;
  return nullptr;
}

void OptionTable::check_required() const {
  for (const Option& option : options_) {
    if (!option.is_needed() || option.origin() != Origin::default_value) continue;
    throw UsageError(option.positional()
                         ? "argument " + option.name() + " is missing: " + option.description()
                         : option.title() + " is missing: " + option.description());
  }
}

void OptionTable::check_owners() const {
  std::vector<std::string> idle;
  const Option* owner = nullptr;
  for (const Option& option : options_) {
    const Option* needed = find(option.owner_);
    if (!needed || needed->is_given() || !option.is_given()) continue;
    if (!owner) owner = needed;
    if (needed == owner) idle.push_back("--" + option.name());
  }
  if (!owner) return;
  const Option* other = find(owner->other_);
  const bool several = idle.size() > 1;
  const std::string name = "--" + owner->name();
  throw UsageError(
      join(idle, ", ") + (several ? " belong to " : " belongs to ") + name + ", " +
      (other && other->is_given() ? "but --" + other->name() + " is given" : "which is not given") +
      "; leave " + (several ? "them" : "it") + " away, or give " + name +
      (other && other->is_given() ? " in its place" : ""));
}

}  // namespace funcattn
