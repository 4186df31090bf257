#pragma once

#include <vtkDataCompressor.h>
#include <vtkSmartPointer.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "meshio/file_bytes.h"
#include "meshio/xml_blocks.h"
#include "meshio/xml_tree.h"

namespace funcattn {

struct ValueType;

/// Checks and decodes the <DataArray> elements of one VTK XML file, whatever their encoding.
class XmlArrays {
 public:
  /// Reads byte order, header type and compressor from the root element. Throws DataError.
  XmlArrays(const FileBytes& file, const XmlDocument& document);

  /// Checks that an array's data are there and as long as they must be.
  /// @param what for messages, e.g. "point array 'p'"
  /// @param tuples expected rows; without, what the element itself declares, if anything
  void check(const XmlElement& array, const std::string& what,
             std::optional<std::int64_t> tuples) const;

  /// Checks in addition that a binary array can be decompressed.
  void check_decodes(const XmlElement& array, const std::string& what) const;

  /// Number of values that an array holds. Throws DataError.
  std::int64_t value_count(const XmlElement& array, const std::string& what) const;

  /// Last value of an integer array that is not empty, without reading all of it where possible.
  /// Throws DataError.
  std::int64_t last_integer(const XmlElement& array, const std::string& what) const;

  /// Values of an integer array. Throws DataError.
  std::vector<std::int64_t> integers(const XmlElement& array, const std::string& what) const;

 private:
  std::vector<std::int64_t> decoded_integers(const std::string& bytes, const ValueType& type) const;
  EncodedBytes source_of(const XmlElement& array) const;
  static std::uint64_t offset_of(const XmlElement& array);

  const FileBytes& file_;
  const XmlDocument& document_;
  vtkSmartPointer<vtkDataCompressor> compressor_;
  BlockLayout layout_;
};

}  // namespace funcattn
