#pragma once

#include <vtkAlgorithm.h>
#include <vtkDataSet.h>
#include <vtkSmartPointer.h>

#include "meshio/inspection.h"
#include "meshio/vtk_messages.h"

namespace funcattn {

/// Runs a reader and compares what VTK made of the file with what the file declares.
/// @param data_class that the reader must deliver, as for vtkObject::IsA
/// Throws DataError.
vtkSmartPointer<vtkDataSet> read_and_compare(vtkAlgorithm* reader, const char* data_class,
                                             const DeclaredContents& declared,
                                             const VtkMessages& messages);

}  // namespace funcattn
