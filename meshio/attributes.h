#pragma once

#include <vtkCellData.h>
#include <vtkDataSet.h>
#include <vtkPointData.h>

#include "core/array_spec.h"

namespace funcattn {

/// Where VTK keeps the arrays of an association.
inline vtkDataSetAttributes* attributes_of(vtkDataSet* data, Association association) {
  if (association == Association::point) return data->GetPointData();
  return data->GetCellData();
}

}  // namespace funcattn
