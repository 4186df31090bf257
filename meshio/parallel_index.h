#pragma once

#include <vtkDataSet.h>
#include <vtkFieldData.h>
#include <vtkSmartPointer.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "meshio/inspection.h"
#include "meshio/piece_arrays.h"
#include "meshio/xml_extent.h"
#include "meshio/xml_tree.h"

namespace funcattn {

/// Numbers of pieces, [begin, end).
struct PieceRange {
  std::size_t begin = 0;
  std::size_t end = std::numeric_limits<std::size_t>::max();
};

/// What the index of a parallel VTK XML file says.
struct ParallelIndex {
  std::string type;
  std::vector<std::filesystem::path> files;  ///< Of the pieces.
  std::vector<std::int64_t> points;  ///< Of each piece; 0 for those that were not inspected.
  std::vector<Extent> extents;       ///< Of the pieces; empty ones where data are not structured.
  std::size_t described = 0;         ///< The first piece that holds something.
  std::vector<bool> bare;            ///< Pieces without points that lack declared arrays.
  Extent whole{{0, -1, 0, -1, 0, -1}};  ///< Of structured data.
  DeclaredContents declared;
  bool pieces_have_fields = false;       ///< Field data other than the time.
  vtkSmartPointer<vtkFieldData> fields;  ///< Field data that stand in the index; null: none.
  UncopiedArrays uncopied;
};

/// "PImageData" -> "ImageData", the type of the pieces.
std::string piece_type(const std::string& type);

/// Whether the pieces are blocks of one grid.
bool is_structured(const std::string& type);

/// Reads an index, and inspects the files of the pieces in `held` as if each were alone. Throws
/// DataError, without the name of the index; what concerns a piece names it.
ParallelIndex inspect_index(const std::filesystem::path& path, PieceRange held = {});

/// Adds the field data that a mesh lacks. @param fields may be null
void add_missing_fields(vtkFieldData* fields, vtkDataSet& data);

/// What of a serial file the index of a parallel one repeats.
struct PieceHeader {
  std::string file_attributes;      ///< " version=..." of <VTKFile>, but for the type.
  std::string type;                 ///< "ImageData"
  std::string data_set_attributes;  ///< Of <ImageData>, but for the extent.
  std::string sections;             ///< <PPointData> and so on.
  std::string extent;               ///< Of the piece; empty where it has none.
};
/// Throws FileError if the file has no piece. @param serial_root of the file
PieceHeader piece_header(const XmlElement& serial_root);

/// A piece as an index names it.
struct ListedPiece {
  std::string reference;
  std::string extent;
};
/// The text of the index. @param header of any piece @param whole_extent empty: there is none
std::string parallel_index_text(const PieceHeader& header, const std::string& whole_extent,
                                const std::vector<ListedPiece>& pieces);

}  // namespace funcattn
