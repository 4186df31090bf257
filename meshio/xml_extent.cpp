#include "meshio/xml_extent.h"

#include <sstream>

#include "core/error.h"
#include "core/text.h"

namespace funcattn {

Extent extent_of(const XmlElement& element, const std::string& key) {
  std::istringstream words(element.attribute(key));
  Extent extent;
  std::size_t count = 0;
  for (std::string word; words >> word; ++count) {
    const auto value = parse_integer(word);
    // VTK computes with 32-bit extents.
    if (!value || *value > INT32_MAX - 1 || *value < INT32_MIN + 1 || count >= 6) count = 6;
    if (count < 6) extent.bounds[count] = *value;
  }
  if (count != 6)
    throw DataError("<" + element.name + "> has " + key + "=\"" + element.attribute(key) +
                    "\", expected six integers");
  return extent;
}

}  // namespace funcattn
