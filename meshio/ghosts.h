#pragma once

#include <vtkDataSet.h>
#include <vtkDataSetAttributes.h>
#include <vtkUnsignedCharArray.h>

#include "core/array_spec.h"

namespace funcattn {

/// Flags by which VTK leaves points or cells out: those that another piece owns, hidden ones, and
/// cells that finer ones replace.
inline constexpr int kAbsentPoint =
    vtkDataSetAttributes::DUPLICATEPOINT | vtkDataSetAttributes::HIDDENPOINT;
inline constexpr int kAbsentCell = vtkDataSetAttributes::DUPLICATECELL |
                                   vtkDataSetAttributes::HIDDENCELL |
                                   vtkDataSetAttributes::REFINEDCELL;

/// VTK's array of ghost flags, or null. Throws DataError if it has not one row per point or cell.
vtkUnsignedCharArray* ghost_flags(vtkDataSet* data, Association association);

}  // namespace funcattn
