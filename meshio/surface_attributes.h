#pragma once

class vtkDataSetAttributes;

namespace funcattn {

/// Makes colours ("RGB", "RGBA"), "Normals" and "TCoords" of a surface file the active ones, as
/// VTK's readers of such files do.
void activate_surface_attributes(vtkDataSetAttributes* attributes);

}  // namespace funcattn
