#pragma once

#include <vtkDataSet.h>
#include <vtkSmartPointer.h>

#include <cstdint>
#include <string>
#include <vector>

namespace funcattn {

/// Notes with the data set how many points each of the pieces has that were joined to it, one after
/// the other. A point of a seam is then there once per piece, which nothing else tells.
void note_pieces(vtkDataSet& data, const std::vector<std::int64_t>& points);

/// Points of the pieces that a data set was joined from, in their order; all points where none were
/// noted.
std::vector<std::int64_t> piece_sizes(vtkDataSet& data);

/// Notes that the pieces do not agree on a value of the field data, of which the data set has one.
/// @param numbers of two pieces that differ, as text: "1.7 in piece 0 and 1.2 in piece 3"
void note_difference(vtkDataSet& data, const std::string& field, const std::string& numbers);

/// The numbers of a field on which the pieces of a data set do not agree; empty: they do, or are
/// not known.
std::string noted_difference(vtkDataObject& data, const std::string& field);

/// A shallow copy, which, unlike VTK's, has the notes.
vtkSmartPointer<vtkDataSet> shallow_copy(vtkDataSet& data);

}  // namespace funcattn
