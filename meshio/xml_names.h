#pragma once

#include <vtkDataSet.h>
#include <vtkFieldData.h>
#include <vtkSmartPointer.h>

#include <string>

namespace funcattn {

/// `text` as XML needs it between quotation marks.
std::string xml_escaped(const std::string& text);

/// VTK 9.1 writes the names of arrays and components into XML as they are, and then cannot read a
/// file whose names hold & < > or quotation marks. These give the arrays escaped names, so that the
/// file holds what XML readers turn back into the names; values are shared. Throws FileError for
/// control characters and invalid UTF-8, which XML cannot hold at all.
void escape_names(vtkDataSet* data);
void escape_names(vtkFieldData* fields);

}  // namespace funcattn
