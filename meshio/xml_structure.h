#pragma once

#include "meshio/file_bytes.h"
#include "meshio/xml_tree.h"

namespace funcattn {

/// Throws DataError, naming line and element, unless every element of a VTK XML file is one that
/// VTK knows, stands where VTK looks for it, and stands there once if VTK takes the first only;
/// elements that name files have no other attributes than those that VTK or ParaView know. What
/// VTK does not look for it passes over in silence, and so would lose a misspelt <Piece>.
///
/// @param document a serial, parallel or composite file or a collection (.pvd)
/// @param file that it was parsed from, for the line
void check_xml_structure(const XmlDocument& document, const FileBytes& file);

}  // namespace funcattn
