#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/array_spec.h"
#include "plugin/cli/command.h"

namespace funcattn {

struct ImportCommandOptions {
  std::filesystem::path file;
  std::filesystem::path output;
  std::string form;
  std::optional<int> heads;
  std::optional<double> ridge;
  std::optional<double> temperature;
  std::string coefficients;
  std::optional<int> cross;
  std::string dtype = "float64";
  std::optional<int> coordinates;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::string association = "point";

  /// Throws UsageError.
  void validate() const;
};

/// "NAME" or "NAME:COMPONENTS"; a name may hold colons. Throws UsageError.
ArraySpec array_spec_from_string(const std::string& text, Association association);

/// `funcattn import`: makes an operator file of published weights.
class ImportCommand : public Command {
 public:
  std::string name() const override { return "import"; }
  std::string summary() const override {
    return "make an operator of weights written by a published implementation";
  }
  std::vector<std::string> examples() const override;
  void describe(OptionTable& table) override;
  void validate() const override { options_.validate(); }
  int run(Console& console) override;

 private:
  ImportCommandOptions options_;
};

}  // namespace funcattn
