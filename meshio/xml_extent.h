#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "meshio/inspection.h"
#include "meshio/xml_tree.h"

namespace funcattn {

/// Extent: first and last point index along each axis.
struct Extent {
  std::array<std::int64_t, 6> bounds{};

  std::int64_t points(std::size_t axis) const {
    const std::int64_t length = bounds[2 * axis + 1] - bounds[2 * axis] + 1;
    return length > 0 ? length : 0;
  }
  std::int64_t points() const {
    return checked_product(checked_product(points(0), points(1)), points(2));
  }
  std::int64_t cells() const {
    if (points() == 0) return 0;
    std::int64_t product = 1;
    for (std::size_t axis = 0; axis < 3; ++axis)
      product = checked_product(product, points(axis) > 1 ? points(axis) - 1 : 1);
    return product;
  }
  bool contains(const Extent& other) const;
  std::string text() const;  ///< As in a file.
};

/// Extent in an attribute. Throws DataError unless it holds six integers with which VTK can count.
Extent extent_of(const XmlElement& element, const std::string& key);

/// Throws DataError unless all pieces lie inside the whole extent and together leave no cell of it
/// out, which VTK would fill with zeros. Pieces without points do not count.
void check_covered(const Extent& whole, const std::vector<Extent>& pieces);

}  // namespace funcattn
