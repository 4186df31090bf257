#include "plugin/cli/option_hints.h"

#include <algorithm>

#include "core/text.h"

namespace funcattn {

namespace {

/// What the library advises, in words that serve all of its users, and how a command is told so.
/// Every row has a command-line test, which fails when the words change.
struct Hint {
  const char* advice;
  std::vector<std::string> options;
  /// What a command says in place of the advice that has none of these options; null: the same.
  const char* instead = nullptr;
};

const std::vector<Hint>& hints() {
  static const std::vector<Hint> all = {
      {"exists only as a", {"--convert-association"}},
      {", or let the NaN policy mask or drop such entries",
       {"--nan mask", "--nan drop"},
       ", or leave the file out"},
      {"mask them instead", {"--nan mask"}},
      {"choose another suffix or allow overwriting", {"--suffix", "--overwrite"}},
      {"or interpolate the inputs from", {"--interpolate-inputs"}},
      {"inspect a coarser mesh", {"--memory-limit"}},
      {"remove it or allow overwriting", {"--overwrite"}},
      {"use uniform weights", {"--weights uniform"}},
      {"the weight 0 with an array of weights of the query",
       {"--query-weights array:NAME", "--error-weights array:NAME"}},
      {"the weight 0 with an array of weights",
       {"--weights array:NAME", "--error-weights array:NAME"}},
      {"keep them in a temporary file, or compute them anew",
       {"--memory spilled", "--memory recomputed"}},
      {"choose another folder for temporary files", {"--spill-folder"}},
      {"give the run one value for it", {"--parameter", "--per-block"}},
      {", or give the run a value for it", {"--parameter"}, ""},
      {"leave the choice of a single prediction away", {"--single-prediction"}},
      {"choose appended or binary encoding", {"--encoding"}},
  };
  return all;
}

}  // namespace

std::string with_option_hints(const std::string& message, const KnownOption& knows) {
  for (const Hint& hint : hints()) {
    const std::size_t place = message.find(hint.advice);
    if (place == std::string::npos) continue;
    std::vector<std::string> known;
    for (const std::string& option : hint.options)
      if (knows(option.substr(2, option.find(' ') - 2))) known.push_back(option);
    if (known.empty() && hint.instead)
      return std::string(message).replace(place, std::string(hint.advice).size(), hint.instead);
    const std::string options = " (" + join(known, ", ") + ")";
    const bool told = message.find(options) != std::string::npos;
    return known.empty() || told ? message : message + options;
  }
  return message;
}

}  // namespace funcattn
