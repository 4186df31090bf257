#include "plugin/cli/option_hints.h"

namespace funcattn {

namespace {

/// What the library advises, in words that serve all of its users, and how the command is told so.
/// Every row has a command-line test, which fails when the words change.
struct Hint {
  const char* advice;
  const char* options;
};

constexpr Hint hints[] = {
    {"exists only as a", "--convert-association"},
    {"let the NaN policy mask", "--nan mask, --nan drop"},
    {"mask them instead", "--nan mask"},
    {"choose another suffix or allow overwriting", "--suffix, --overwrite"},
    {"or interpolate the inputs from", "--interpolate-inputs"},
    {"inspect a coarser mesh", "--memory-limit"},
    {"remove it or allow overwriting", "--overwrite"},
    {"use uniform weights", "--weights uniform"},
    {"keep them in a temporary file, or compute them anew",
     "--memory spilled, --memory recomputed"},
    {"choose another folder for temporary files", "--spill-folder"},
    {"give the run one value for it", "--parameter, --per-block"},
    {"give the run a value for it", "--parameter"},
    {"choose appended or binary encoding", "--encoding"},
};

}  // namespace

std::string with_option_hints(const std::string& message) {
  for (const Hint& hint : hints)
    if (message.find(hint.advice) != std::string::npos) return message + " (" + hint.options + ")";
  return message;
}

}  // namespace funcattn
