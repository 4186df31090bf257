#pragma once

#include <vtkFieldData.h>
#include <vtkSmartPointer.h>

#include <string>

#include "meshio/file_bytes.h"
#include "meshio/writer.h"
#include "meshio/xml_tree.h"

namespace funcattn {

/// Field data of a VTK XML file that has data sets in files of their own: what stands in the only
/// <FieldData>, under the root of a tree or the data set of an index. Null if there are none.
/// Throws DataError.
/// @param parent of the <FieldData>
vtkSmartPointer<vtkFieldData> read_field_data(const FileBytes& file, const XmlDocument& document,
                                              const XmlElement& parent);

/// The parts of a VTK XML file that hold field data.
struct FieldDataText {
  std::string root_attributes;  ///< " byte_order=..." and so on, to stand in <VTKFile>.
  std::string element;          ///< "<FieldData>...</FieldData>", or empty without arrays.
};

/// As VTK's writer encodes them, inline. Throws FileError.
FieldDataText field_data_text(vtkFieldData* fields, const WriteOptions& options);

}  // namespace funcattn
