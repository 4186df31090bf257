#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace funcattn {

/// Where an option got its value from.
enum class Origin { default_value, config_file, command_line };

/// "default", "configuration file" or "command line".
const char* to_string(Origin origin);

/// One option or argument of a command. Made by OptionTable; refined by chaining:
///   table.value("steps", options.steps, "optimiser steps").at_least(1);
class Option {
 public:
  enum class Kind { flag, single, list };

  Option& required();
  /// Required while `instead`, a flag of the same table, is not set.
  Option& required_unless(const bool& instead);
  /// One of two ways to say the same: given on the command line, it takes the place of the other
  /// option in the configuration file, with all that belongs to it.
  Option& instead_of(std::string other);
  /// Has an effect only where another option of the table is given; OptionTable::check_owners()
  /// refuses it elsewhere.
  Option& only_with(std::string owner);
  /// Unit of the value, shown in help: "s", "MiB".
  Option& unit(std::string text);
  /// What stands for the value in help: FILE, N, NAME[:COMPONENTS].
  Option& placeholder(std::string text);
  /// The only texts accepted.
  Option& choices(std::vector<std::string> values);
  /// What help shows as default where the stored value does not speak for itself ("all cores").
  Option& default_text(std::string text);
  /// Texts and names are refused where they are empty, unless this is said.
  Option& may_be_empty();
  Option& at_least(double bound);
  Option& at_most(double bound);
  Option& above(double bound);

  const std::string& name() const { return name_; }
  char letter() const { return letter_; }  ///< One-letter form, or '\0'.
  const std::string& group() const { return group_; }
  const std::string& description() const { return description_; }
  Kind kind() const { return kind_; }
  bool positional() const { return positional_; }
  bool is_required() const { return required_; }
  /// Required, and nothing was given that takes its place.
  bool is_needed() const { return required_ && !(instead_ && *instead_); }
  Origin origin() const { return origin_; }
  /// By the command line or the configuration file; a flag that is undone is not given.
  bool is_given() const;
  const std::vector<std::string>& choices() const { return choices_; }
  const std::string& unit() const { return unit_; }
  const std::string& default_text() const { return default_text_; }
  const std::string& placeholder() const { return placeholder_; }
  /// "option '--steps'" or "argument 'INPUT'", for messages.
  std::string title() const;
  /// The value as it is now, as text.
  std::string value_text() const { return show_(); }

  /// Converts and stores. Throws UsageError naming option, text found and what is expected.
  void assign(const std::vector<std::string>& tokens, Origin origin);

 private:
  friend class OptionTable;

  std::string name_;
  char letter_ = '\0';
  std::string group_;
  std::string description_;
  std::string unit_;
  std::string placeholder_;
  std::string default_text_;
  std::vector<std::string> choices_;
  Kind kind_ = Kind::single;
  bool positional_ = false;
  bool required_ = false;
  bool may_be_empty_ = false;
  const bool* instead_ = nullptr;
  std::string other_;              ///< That it takes the place of.
  std::string owner_;              ///< Without which it has no effect; empty: none.
  bool splits_in_config_ = false;  ///< Several values may share a line of the config file.
  double lower_ = -std::numeric_limits<double>::infinity();
  double upper_ = std::numeric_limits<double>::infinity();
  bool lower_is_open_ = false;
  Origin origin_ = Origin::default_value;
  std::function<void(const Option&, const std::vector<std::string>&)> store_;
  std::function<std::string()> show_;

  friend struct OptionTokens;
};

/// Conversions between the text of an option and its type, independent of the locale. Conversions
/// from text throw UsageError.
struct OptionTokens {
  static void parse(const Option& option, const std::string& token, std::string& value);
  static void parse(const Option& option, const std::string& token, std::filesystem::path& value);
  static void parse(const Option& option, const std::string& token, bool& value);
  static void parse(const Option& option, const std::string& token, double& value);
  static void parse(const Option& option, const std::string& token, int& value);
  static void parse(const Option& option, const std::string& token, std::int64_t& value);
  static void parse(const Option& option, const std::string& token, std::uint64_t& value);
  /// Throws UsageError with the likeliest choice meant.
  static void check_choice(const Option& option, const std::string& token);
  static void check_bounds(const Option& option, const std::string& token, double value);

  static std::string show(const std::string& value) { return value; }
  static std::string show(const std::filesystem::path& value) { return value.string(); }
  static std::string show(bool value) { return value ? "true" : "false"; }
  static std::string show(double value);
  static std::string show(int value) { return std::to_string(value); }
  static std::string show(std::int64_t value) { return std::to_string(value); }
  static std::string show(std::uint64_t value) { return std::to_string(value); }

  static const char* placeholder(const std::string&) { return "TEXT"; }
  static const char* placeholder(const std::filesystem::path&) { return "FILE"; }
  static const char* placeholder(double) { return "NUMBER"; }
  static const char* placeholder(int) { return "N"; }
  static const char* placeholder(std::int64_t) { return "N"; }
  static const char* placeholder(std::uint64_t) { return "N"; }
};

/// The type of what an option may be chosen from.
template <typename T>
struct ChoiceValue {
  using type = T;
};
template <typename T>
struct ChoiceValue<std::optional<T>> {
  using type = T;
};

/// All options of a command: the one source of parsing, --help, --config and documentation.
///
/// Targets are the members of the command's options struct; their values at the time of
/// declaration are the defaults. Names are "long" or "long,l" with a one-letter form.
class OptionTable {
 public:
  OptionTable() = default;
  OptionTable(const OptionTable&) = delete;
  OptionTable& operator=(const OptionTable&) = delete;

  /// Title under which help lists the options declared from here on.
  void group(std::string title) { group_ = std::move(title); }

  /// A switch without value. "--name=false" undoes what a configuration file says.
  Option& flag(const std::string& names, bool& target, std::string description);

  /// An option with one value: std::string, std::filesystem::path, double, int, int64, uint64.
  template <typename T>
  Option& value(const std::string& names, T& target, std::string description) {
    Option& option = add(names, std::move(description), Option::Kind::single);
    bind(option, target);
    return option;
  }

  /// An option that may be left away: std::nullopt where not given.
  template <typename T>
  Option& value(const std::string& names, std::optional<T>& target, std::string description) {
    Option& option = add(names, std::move(description), Option::Kind::single);
    option.store_ = [&target](const Option& self, const std::vector<std::string>& tokens) {
      T value{};
      OptionTokens::parse(self, tokens.front(), value);
      target = value;
    };
    option.show_ = [&target] { return target ? OptionTokens::show(*target) : std::string(); };
    option.placeholder_ = OptionTokens::placeholder(T{});
    option.default_text_ = option.show_();
    return option;
  }

  /// An option with one or more values: --resample 1 2 4.
  template <typename T>
  Option& list(const std::string& names, std::vector<T>& target, std::string description) {
    Option& option = add(names, std::move(description), Option::Kind::list);
    bind_list(option, target);
    return option;
  }

  /// An option whose value is one of `values`, an enumeration for example. `target` may be a
  /// std::optional of it, without a value where the option is not given.
  template <typename Target>
  Option& choice(const std::string& names, Target& target,
                 std::vector<std::pair<std::string, typename ChoiceValue<Target>::type>> values,
                 std::string description) {
    Option& option = add(names, std::move(description), Option::Kind::single);
    std::vector<std::string> texts;
    for (const auto& entry : values) texts.push_back(entry.first);
    option.choices(std::move(texts));
    option.store_ = [&target, values](const Option& self, const std::vector<std::string>& tokens) {
      OptionTokens::check_choice(self, tokens.front());
      for (const auto& [text, value] : values)
        if (text == tokens.front()) target = value;
    };
    option.show_ = [&target, values] {
      for (const auto& [text, value] : values)
        if (value == target) return text;
      return std::string();
    };
    option.default_text_ = option.show_();
    return option;
  }

  /// An argument without name, by position. Required unless it has a default.
  template <typename T>
  Option& positional(const std::string& name, T& target, std::string description) {
    Option& option = add_positional(name, std::move(description), Option::Kind::single);
    bind(option, target);
    option.required_ = option.default_text_.empty();
    return option;
  }

  /// All remaining arguments; declare it last.
  template <typename T>
  Option& positional(const std::string& name, std::vector<T>& target, std::string description) {
    Option& option = add_positional(name, std::move(description), Option::Kind::list);
    bind_list(option, target);
    option.required_ = target.empty();
    return option;
  }

  /// Reads the arguments after the command's name. Throws UsageError: unknown option with the
  /// likeliest one meant, missing, surplus or malformed value, option given twice.
  void parse(const std::vector<std::string>& arguments);

  /// Fills what the command line left at its default from a file of `name = value` lines with `#`
  /// comments. Lists of numbers stand on one line; other lists repeat the line. Throws FileError
  /// if it cannot be read, UsageError as parse() does, naming the file.
  void read_config(const std::filesystem::path& path);

  /// Throws UsageError for the first required option that has no value.
  void check_required() const;

  /// Throws UsageError naming the options that were given without the one that they belong to.
  void check_owners() const;

  const std::deque<Option>& options() const { return options_; }
  /// nullptr where there is none. `name` without dashes.
  const Option* find(const std::string& name) const;

 private:
  Option& add(const std::string& names, std::string description, Option::Kind kind);
  Option& add_positional(const std::string& name, std::string description, Option::Kind kind);
  Option* find_named(const std::string& name);
  /// The option that "--name" or "-n" stands for, or nullptr.
  const Option* find_spelling(const std::string& token) const;
  /// Assigns "--flag=false" and "--name="; @return the other arguments
  std::vector<std::string> take_assigned(const std::vector<std::string>& arguments);
  void assign_positional(const std::vector<std::string>& values);
  [[noreturn]] void throw_unknown(const std::string& found) const;

  template <typename T>
  static void bind(Option& option, T& target) {
    option.store_ = [&target](const Option& self, const std::vector<std::string>& tokens) {
      T value{};
      OptionTokens::parse(self, tokens.front(), value);
      target = std::move(value);
    };
    option.show_ = [&target] { return OptionTokens::show(target); };
    if (option.placeholder_.empty()) option.placeholder_ = OptionTokens::placeholder(T{});
    option.default_text_ = option.show_();
  }

  template <typename T>
  static void bind_list(Option& option, std::vector<T>& target) {
    option.store_ = [&target](const Option& self, const std::vector<std::string>& tokens) {
      std::vector<T> values(tokens.size());
      for (std::size_t i = 0; i < tokens.size(); ++i)
        OptionTokens::parse(self, tokens[i], values[i]);
      target = std::move(values);
    };
    option.show_ = [&target] {
      std::string text;
      for (const T& value : target) text += (text.empty() ? "" : " ") + OptionTokens::show(value);
      return text;
    };
    if (option.placeholder_.empty()) option.placeholder_ = OptionTokens::placeholder(T{});
    option.default_text_ = option.show_();
    option.splits_in_config_ = std::is_arithmetic_v<T>;
  }

  std::deque<Option> options_;  ///< Addresses stay valid while options are added.
  std::string group_ = "Options";
};

}  // namespace funcattn
