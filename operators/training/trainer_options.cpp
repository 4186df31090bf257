#include <cmath>
#include <map>

#include "core/error.h"
#include "core/text.h"
#include "operators/training/trainer.h"

namespace funcattn {

void TrainerOptions::validate() const {
  const auto require = [](bool holds, const std::string& what, const std::string& found,
                          const std::string& expected) {
    if (!holds) throw UsageError("training: " + what + " is " + found + ", expected " + expected);
  };
  const auto at_least = [&](const std::string& what, std::int64_t value, std::int64_t least) {
    require(value >= least, what, std::to_string(value), std::to_string(least) + " or more");
  };
  const auto number = [&](const std::string& what, double value, bool holds,
                          const std::string& expected) {
    require(std::isfinite(value) && holds, what, format_number(value), expected);
  };
  at_least("steps", steps, 1);
  at_least("validate_every", validate_every, 0);
  at_least("log_every", log_every, 1);
  at_least("state_every", state_every, 0);
  number("weight_decay", weight_decay, weight_decay >= 0, "0 or more");
  number("beta1", beta1, beta1 >= 0 && beta1 < 1, "0 or more and less than 1");
  number("beta2", beta2, beta2 >= 0 && beta2 < 1, "0 or more and less than 1");
  number("epsilon", epsilon, epsilon > 0, "more than 0");
  number("clip_norm", clip_norm, clip_norm >= 0, "0 or more");
  number("orthogonality", orthogonality, orthogonality >= 0, "0 or more");
  number("average_decay", average_decay, average_decay >= 0 && average_decay < 1,
         "0 or more and less than 1");
  number("label_smoothing", label_smoothing, label_smoothing >= 0 && label_smoothing < 1,
         "0 or more and less than 1");
  if (label_smoothing > 0 && loss != Loss::cross_entropy)
    throw UsageError(std::string("training: label_smoothing is of the loss cross_entropy, but the "
                                 "loss is ") +
                     to_string(loss));
  Schedule whole = schedule;
  whole.total_steps = steps;
  whole.validate();
  if (resume && state_path.empty())
    throw UsageError("training: resume needs state_path, the state file of the run to continue");
  std::map<std::filesystem::path, std::string> uses;
  for (const auto& [use, path] :
       {std::pair<std::string, std::filesystem::path>{"best_path", best_path},
        {"last_path", last_path},
        {"state_path", state_path},
        {"log_path", log_path}}) {
    if (path.empty()) continue;
    const auto [other, is_new] = uses.emplace(path.lexically_normal(), use);
    if (!is_new)
      throw UsageError("training: " + other->second + " and " + use + " are both '" +
                       path.string() + "'; give each its own file");
  }
}

Json TrainerOptions::course() const {
  Json course{{"steps", steps},
              {"loss", to_string(loss)},
              {"schedule",
               {{"kind", to_string(schedule.kind)},
                {"peak", schedule.peak},
                {"warmup_steps", schedule.warmup_steps},
                {"final_fraction", schedule.final_fraction},
                {"rise_fraction", schedule.rise_fraction},
                {"start_fraction", schedule.start_fraction}}},
              {"optimiser",
               {{"kind", "adamw"},
                {"weight_decay", weight_decay},
                {"beta1", beta1},
                {"beta2", beta2},
                {"epsilon", epsilon},
                {"clip_norm", clip_norm},
                {"average_decay", average_decay}}}};
  if (loss == Loss::cross_entropy) course["label_smoothing"] = label_smoothing;
  // Only where there is one: runs of before it was an option can be resumed.
  if (orthogonality > 0) course["orthogonality"] = orthogonality;
  return course;
}

}  // namespace funcattn
