#include "meshio/surface_attributes.h"

#include <vtkDataSetAttributes.h>

namespace funcattn {

void activate_surface_attributes(vtkDataSetAttributes* attributes) {
  for (const char* colours : {"RGB", "RGBA"})
    if (attributes->HasArray(colours)) attributes->SetActiveScalars(colours);
  if (attributes->HasArray("Normals")) attributes->SetActiveNormals("Normals");
  if (attributes->HasArray("TCoords")) attributes->SetActiveTCoords("TCoords");
}

}  // namespace funcattn
