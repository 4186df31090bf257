#pragma once

#include <vtkDataArray.h>
#include <vtkDataSet.h>

#include <functional>
#include <string>

namespace funcattn {

/// Calls `visit(array, description)` for all numbers of a data set, coordinates included.
void for_each_array(vtkDataSet* data,
                    const std::function<void(vtkDataArray* array, const std::string& what)>& visit);

/// Throws FileError if an array holds NaN or Inf: VTK writes them into text but cannot read that
/// back.
void refuse_non_finite(vtkDataSet* data);

/// What one of VTK's writers returned. Throws FileError if it failed.
void check_written(int written, unsigned long code);

}  // namespace funcattn
