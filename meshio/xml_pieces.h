#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "meshio/file_bytes.h"
#include "meshio/xml_tree.h"

namespace funcattn {

/// The elements <Piece> of a serial or parallel data set, in their order.
std::vector<const XmlElement*> pieces_of(const XmlElement& data_set);

/// A VTK XML file with other pieces; all else, appended data as well, is as it is.
/// @param document that was parsed from `file` and holds a piece
/// @param attributes of the data set
/// @param pieces the text for each of its pieces; empty to leave it out
std::string with_pieces(const FileBytes& file, const XmlDocument& document,
                        const std::map<std::string, std::string>& attributes,
                        const std::vector<std::string>& pieces);

/// A serial VTK XML file as it would be with piece number `i` alone, which is then the whole extent
/// of structured data.
/// @param document that was parsed from `file` and holds such a piece
std::string file_of_piece(const FileBytes& file, const XmlDocument& document, std::size_t i);

/// Attributes as they stand in a tag.
std::string attributes_text(const std::map<std::string, std::string>& attributes);

}  // namespace funcattn
