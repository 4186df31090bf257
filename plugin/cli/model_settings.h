#pragma once

#include "core/json.h"

namespace funcattn {

/// Of a model's configuration, as its file stores it, the settings that its network is made of: a
/// form stands with the sizes of all the others, which have no effect.
Json settings_in_use(const Json& model);

}  // namespace funcattn
