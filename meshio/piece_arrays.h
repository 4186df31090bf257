#pragma once

#include <vtkDataSet.h>
#include <vtkXMLReader.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "meshio/inspection.h"
#include "meshio/xml_extent.h"
#include "meshio/xml_tree.h"

namespace funcattn {

/// One piece of a parallel file; without extent where data are not structured.
struct StoredPiece {
  std::filesystem::path file;
  Extent extent;
};

/// Arrays that VTK's parallel readers do not bring over from the pieces as they are: bits, of which
/// they copy no byte, and text, whose memory two arrays then give back (of all data but the points
/// and cells of unstructured grids and the points of surfaces).
class UncopiedArrays {
 public:
  UncopiedArrays() = default;
  /// Those that the index, a <PPolyData> or the like, declares.
  explicit UncopiedArrays(const XmlElement& index);

  bool empty() const { return point_arrays_.empty() && cell_arrays_.empty(); }

  /// Neither reads them nor expects them.
  void leave_out(vtkXMLReader* reader, DeclaredContents& declared) const;

  /// Adds them to the data that were read without them. Throws FileError.
  void add_to(vtkDataSet* data, const std::vector<StoredPiece>& pieces, const Extent& whole) const;

 private:
  std::vector<std::string> point_arrays_;
  std::vector<std::string> cell_arrays_;
};

}  // namespace funcattn
