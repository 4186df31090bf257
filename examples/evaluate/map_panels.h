#pragma once

#include <string>
#include <vector>

#include "examples/evaluate/gnuplot.h"
#include "examples/evaluate/panel.h"
#include "examples/evaluate/sample_view.h"

namespace funcattn {

/// One row for one operator: truth, prediction, error. For several: truth and predictions, with the
/// errors below these. One range of colours serves all values, one all errors.
/// @param name of the data, to which those of the maps are added
std::vector<PanelRow> map_rows(const SampleView& view, const std::string& name,
                               std::vector<PlotData>& data);

}  // namespace funcattn
