#pragma once

#include <string>
#include <vector>

#include "core/json.h"
#include "plugin/stage.h"

namespace funcattn {

/// One object per sample and head; numbers that are not finite are null.
Json inspection_json(const std::vector<SampleInspection>& inspections);

/// Tables for people, one per sample: a row per block, head and basis.
std::string inspection_text(const std::vector<SampleInspection>& inspections);

}  // namespace funcattn
