#include "plugin/capi/job_options.h"

#include <functional>
#include <limits>
#include <map>

#include "core/error.h"
#include "core/text.h"
#include "operators/device.h"

namespace funcattn {

namespace {

[[noreturn]] void refuse(const std::string& key, const std::string& value,
                         const std::string& expected) {
  throw UsageError("option '" + key + "' cannot be '" + value + "'; expected " + expected);
}

int whole_number(const std::string& key, const std::string& value, int most) {
  const auto number = parse_integer(value);
  if (!number || *number < 0 || *number > most)
    refuse(key, value, "a whole number from 0 to " + std::to_string(most));
  return static_cast<int>(*number);
}

NanPolicy nan_policy(const std::string& value) {
  if (value == "error") return NanPolicy::error;
  if (value == "mask") return NanPolicy::mask;
  if (value == "drop") refuse("nan", value, "error or mask: the caller's arrays keep their points");
  refuse("nan", value, "error or mask");
}

std::string point_weights(const std::string& value) {
  if (value == "uniform" || value == "density") return value;
  refuse("weights", value,
         "uniform or density: there are no cells to measure, and weights of the caller's own are "
         "set by funcattn_job_set_weights");
}

using Setter = std::function<void(const std::string& value, StageOptions& options)>;

struct Option {
  std::string default_value;
  Setter set;
};

std::map<std::string, Option> known_options() {
  std::map<std::string, Option> known;
  known["threads"] = {"0", [](const std::string& value, StageOptions& options) {
                        options.threads = whole_number("threads", value, most_threads);
                      }};
  known["nan"] = {"error", [](const std::string& value, StageOptions& options) {
                    options.nan = nan_policy(value);
                  }};
  known["weights"] = {"uniform", [](const std::string& value, StageOptions& options) {
                        options.weights = point_weights(value);
                      }};
  known["device"] = {"cpu", [](const std::string& value, StageOptions& options) {
                       (void)device_choice_from_string(value);
                       options.device = value;
                     }};
  known["memory"] = {"resident", [](const std::string& value, StageOptions& options) {
                       options.engine.memory = activation_memory_from_string(value);
                     }};
  known["spill_folder"] = {"", [](const std::string& value, StageOptions& options) {
                             options.engine.spill_folder = value;
                           }};
  known["tile_points"] = {"0", [](const std::string& value, StageOptions& options) {
                            options.engine.tile_points =
                                whole_number("tile_points", value, std::numeric_limits<int>::max());
                          }};
  return known;
}

}  // namespace

void set_job_option(const std::string& key, const char* value, StageOptions& options) {
  const std::map<std::string, Option> known = known_options();
  const auto found = known.find(key);
  if (found == known.end()) {
    std::vector<std::string> keys;
    for (const auto& [name, option] : known) keys.push_back(name);
    const auto meant = closest_match(key, keys);
    keys.push_back("parameter.NAME");
    throw UsageError("unknown option '" + key + "'" +
                     (meant ? "; did you mean '" + *meant + "'?" : "") +
                     " (options: " + join(keys, ", ") + ")");
  }
  found->second.set(value ? std::string(value) : found->second.default_value, options);
}

}  // namespace funcattn
