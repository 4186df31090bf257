#pragma once

#include <vtkDataSet.h>
#include <vtkSmartPointer.h>
#include <vtkXMLReader.h>

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "meshio/inspection.h"
#include "meshio/xml_extent.h"
#include "meshio/xml_tree.h"

namespace funcattn {

/// Reads piece number `i` alone; the points and cells keep their order.
using ReadPiece = std::function<vtkSmartPointer<vtkDataSet>(std::size_t i)>;

/// Arrays that VTK's readers do not bring over from several pieces as they are: bits, of which they
/// copy no byte, and text, which they mix or whose memory two arrays then give back. Not so of all
/// data in all formats, but so of the cells of surfaces and of everything structured. Where pieces
/// overlap, ghost flags as well: of one place VTK keeps those of the last piece, for which it may
/// be a ghost, though another piece owns it.
class UncopiedArrays {
 public:
  UncopiedArrays() = default;
  /// Those that are declared in two sections: <PPointData> and <PCellData> of an index, or those of
  /// the first piece of a serial file.
  /// @param overlap whether pieces may hold the same points and cells of the whole
  UncopiedArrays(const XmlElement* point_data, const XmlElement* cell_data, bool overlap);

  bool empty() const { return point_arrays_.empty() && cell_arrays_.empty(); }

  /// Neither reads them nor expects them.
  void leave_out(vtkXMLReader* reader, DeclaredContents& declared) const;

  /// Adds them to the data that were read without them.
  /// @param extents of the pieces where data are structured
  /// Throws DataError if a piece lacks one of them.
  void add_to(vtkDataSet* data, const std::vector<Extent>& extents, const Extent& whole,
              const ReadPiece& read_piece) const;

 private:
  std::vector<std::string> point_arrays_;
  std::vector<std::string> cell_arrays_;
};

}  // namespace funcattn
