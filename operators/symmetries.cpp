#include "operators/symmetries.h"

#include <vector>

#include "core/error.h"
#include "core/text.h"

namespace funcattn {

const char* to_string(Symmetries symmetries) {
  switch (symmetries) {
    case Symmetries::none:
      return "none";
    case Symmetries::rectangle:
      return "rectangle";
    case Symmetries::square:
      return "square";
  }
  return "";
}

Symmetries symmetries_from_string(const std::string& text) {
  std::vector<std::string> names;
  for (const auto symmetries : {Symmetries::none, Symmetries::rectangle, Symmetries::square}) {
    if (text == to_string(symmetries)) return symmetries;
    names.emplace_back(to_string(symmetries));
  }
  const auto meant = closest_match(text, names);
  throw UsageError("unknown symmetries '" + text + "': expected one of " + join(names, ", ") +
                   (meant ? "; did you mean " + *meant + "?" : ""));
}

int SymmetryGroup::order() const {
  switch (kind) {
    case Symmetries::none:
      return 1;
    case Symmetries::rectangle:
      return 4;
    case Symmetries::square:
      return 8;
  }
  return 1;
}

}  // namespace funcattn
