#pragma once

#include <vtkDataSet.h>
#include <vtkSmartPointer.h>

#include <cstdint>
#include <vector>

namespace funcattn {

/// Notes with the data set how many points each of the pieces has that were joined to it, one after
/// the other. A point of a seam is then there once per piece, which nothing else tells.
void note_pieces(vtkDataSet& data, const std::vector<std::int64_t>& points);

/// Points of the pieces that a data set was joined from, in their order; all points where none were
/// noted.
std::vector<std::int64_t> piece_sizes(vtkDataSet& data);

/// A shallow copy, which, unlike VTK's, has the note.
vtkSmartPointer<vtkDataSet> shallow_copy(vtkDataSet& data);

}  // namespace funcattn
