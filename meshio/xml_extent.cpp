#include "meshio/xml_extent.h"

#include <algorithm>
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

bool Extent::contains(const Extent& other) const {
  for (std::size_t axis = 0; axis < 3; ++axis)
    if (other.bounds[2 * axis] < bounds[2 * axis] ||
        other.bounds[2 * axis + 1] > bounds[2 * axis + 1])
      return false;
  return true;
}

std::string Extent::text() const {
  std::vector<std::string> words;
  for (const std::int64_t bound : bounds) words.push_back(std::to_string(bound));
  return join(words, " ");
}

namespace {

/// Boxes between neighbouring ends of pieces; in more than these only the number of cells is
/// compared.
constexpr std::size_t kMostBoxes = 50'000'000;

/// The positions along one axis at which pieces begin or end, both ends of the whole among them. An
/// axis of one point counts as one cell.
std::vector<std::int64_t> ends_along(std::size_t axis, const Extent& whole,
                                     const std::vector<Extent>& pieces) {
  if (whole.points(axis) == 1) return {0, 1};
  std::vector<std::int64_t> ends = {whole.bounds[2 * axis], whole.bounds[2 * axis + 1]};
  for (const Extent& piece : pieces) {
    ends.push_back(piece.bounds[2 * axis]);
    ends.push_back(piece.bounds[2 * axis + 1]);
  }
  std::sort(ends.begin(), ends.end());
  ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
  return ends;
}

std::size_t index_of(const std::vector<std::int64_t>& ends, std::int64_t position) {
  return static_cast<std::size_t>(std::lower_bound(ends.begin(), ends.end(), position) -
                                  ends.begin());
}

}  // namespace

void check_covered(const Extent& whole, const std::vector<Extent>& pieces) {
  std::vector<Extent> filled;
  for (const Extent& piece : pieces) {
    if (piece.points() == 0) continue;
    if (!whole.contains(piece))
      throw DataError("a <Piece> with Extent=\"" + piece.text() +
                      "\" lies outside the WholeExtent=\"" + whole.text() + "\"");
    filled.push_back(piece);
  }
  if (whole.points() == 0) return;
  std::array<std::vector<std::int64_t>, 3> ends;
  std::size_t boxes = 1;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    ends[axis] = ends_along(axis, whole, filled);
    boxes = std::min(boxes * (ends[axis].size() - 1), kMostBoxes + 1);
  }
  const DataError gap("its pieces do not cover the WholeExtent=\"" + whole.text() +
                      "\"; a piece is missing or an extent is damaged");
  if (boxes > kMostBoxes) {
    std::int64_t cells = 0;
    for (const Extent& piece : filled) cells += piece.cells();
    if (cells < whole.cells()) throw gap;
    return;
  }
  std::vector<bool> covered(boxes, false);
  for (const Extent& piece : filled) {
    std::array<std::size_t, 6> range{};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const bool flat = whole.points(axis) == 1;
      range[2 * axis] = flat ? 0 : index_of(ends[axis], piece.bounds[2 * axis]);
      range[2 * axis + 1] = flat ? 1 : index_of(ends[axis], piece.bounds[2 * axis + 1]);
    }
    for (std::size_t k = range[4]; k < range[5]; ++k)
      for (std::size_t j = range[2]; j < range[3]; ++j)
        for (std::size_t i = range[0]; i < range[1]; ++i)
          covered[(k * (ends[1].size() - 1) + j) * (ends[0].size() - 1) + i] = true;
  }
  if (std::find(covered.begin(), covered.end(), false) != covered.end()) throw gap;
}

}  // namespace funcattn
