#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "meshio/file_bytes.h"

namespace funcattn {

/// Part of a VTK XML file.
struct XmlElement {
  std::string name;
  std::map<std::string, std::string> attributes;
  std::string text;  ///< All character data directly inside.
  std::vector<XmlElement> children;
  std::uint64_t position = 0;  ///< Of its first byte in the file.

  /// Value of an attribute or `otherwise`.
  std::string attribute(const std::string& key, const std::string& otherwise = "") const;
  /// Attribute as an integer >= 0; `otherwise` where absent. Throws DataError.
  std::int64_t count(const std::string& key, std::int64_t otherwise) const;
  /// Attribute that must be there, as an integer >= 0. Throws DataError.
  std::int64_t count(const std::string& key) const;
  const XmlElement* child(const std::string& wanted) const;  ///< First of that name, or null.
};

/// Type and components of the arrays in a section, by its name without the P of parallel files and
/// the name or, for coordinates, number of each array: "PointData/p" -> "Float32 x 3".
void collect_layouts(const XmlElement& section, std::map<std::string, std::string>& layouts);

/// Where the appended data of a VTK XML file are: from behind the underscore to the closing tag.
struct AppendedSection {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  bool base64 = false;
};

struct XmlDocument {
  XmlElement root;
  std::optional<AppendedSection> appended;
};

/// Parses a VTK XML file up to its appended data, which, if raw, are not XML. Throws DataError if
/// it is not well-formed or ends early.
XmlDocument parse_vtk_xml(const FileBytes& file);

}  // namespace funcattn
