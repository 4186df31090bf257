#pragma once

#include <filesystem>

#include "plugin/cli/command.h"

namespace funcattn {

struct InfoOptions {
  std::filesystem::path file;
  bool json = false;
};

/// `funcattn info`: verifies an operator file and says what it holds.
class InfoCommand : public Command {
 public:
  std::string name() const override { return "info"; }
  std::string summary() const override { return "verify an operator file and show what it holds"; }
  std::vector<std::string> examples() const override;
  void describe(OptionTable& table) override;
  int run(Console& console) override;

 private:
  InfoOptions options_;
};

}  // namespace funcattn
