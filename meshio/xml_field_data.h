#pragma once

#include <vtkFieldData.h>
#include <vtkSmartPointer.h>

#include <string>

#include "meshio/file_bytes.h"
#include "meshio/writer.h"
#include "meshio/xml_tree.h"

namespace funcattn {

/// Field data of a VTK XML file of several pieces, which stand in a <FieldData> directly under the
/// root. Null if there are none. Throws DataError.
vtkSmartPointer<vtkFieldData> read_root_field_data(const FileBytes& file,
                                                   const XmlDocument& document);

/// The parts of a VTK XML file that hold field data.
struct FieldDataText {
  std::string root_attributes;  ///< " byte_order=..." and so on, to stand in <VTKFile>.
  std::string element;          ///< "<FieldData>...</FieldData>", or empty without arrays.
};

/// As VTK's writer encodes them, inline. Throws FileError.
FieldDataText field_data_text(vtkFieldData* fields, const WriteOptions& options);

}  // namespace funcattn
