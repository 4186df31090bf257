#pragma once

#include <vtkDataSet.h>

namespace funcattn {

/// Throws DataError if meshes of `points` points, made of `data`, cannot fit into this machine's
/// memory (or the process's limit), so that a slip of the keyboard does not end in minutes of work
/// and a crash. A lower estimate: what passes may still not fit.
/// @param cells_per_point of which each holds `cell_points` point numbers; 0 where cells are
/// implied
void require_memory(vtkDataSet* data, double points, double cells_per_point, int cell_points);

}  // namespace funcattn
