#pragma once

#include <nlohmann/json.hpp>

namespace funcattn {

/// JSON that keeps the order in which keys were written, so that files and reports read well.
using Json = nlohmann::ordered_json;

}  // namespace funcattn
