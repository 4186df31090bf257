#pragma once

#include "meshio/mesh.h"

namespace funcattn {

/// An image, rectilinear or structured grid of another resolution: `axis_factor` times the
/// intervals along each axis that has extent, at least one. Coordinates and point arrays are
/// interpolated linearly in the space of the indices (vtkProbeFilter), cell arrays are those of the
/// cell around the new centre. The domain stays.
Mesh resample_structured(const Mesh& mesh, double axis_factor);

/// Whether resample_structured() serves the mesh.
bool is_structured(const Mesh& mesh);

/// Number of axes along which a structured mesh has extent, 0 to 3.
int structured_dimension(const Mesh& mesh);

}  // namespace funcattn
