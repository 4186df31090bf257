#pragma once

#include <map>
#include <string>
#include <vector>

#include "plugin/cli/option_table.h"

namespace funcattn {

/// The option --parameter NAME=V[,V...] of commands that apply an operator. `mesh` is the argument
/// whose field data say what is not given.
void declare_parameters(OptionTable& table, std::vector<std::string>& texts,
                        const std::string& mesh);

/// Names and values of StageOptions::parameters. Throws UsageError for texts of another form and
/// for a name given twice.
std::map<std::string, std::vector<double>> parameters_from_strings(
    const std::vector<std::string>& texts);

}  // namespace funcattn
