#pragma once

#include <vtkDataSet.h>

namespace funcattn {

/// Throws DataError if a cell names a point that is not there, offsets run backwards, a cell type
/// is unknown or has the wrong number of points. VTK accepts all of these and crashes later. The
/// message names the cell.
void check_cells(vtkDataSet* data);

/// Throws DataError if an array has no name, shares its name with another one of the same
/// association, or has not one row per point or cell: VTK writes such files but loses arrays when
/// it reads them.
void check_arrays(vtkDataSet* data);

}  // namespace funcattn
