#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "meshio/mesh.h"

namespace funcattn {

/// The mesh with an array of whole numbers of 32 bits, one per point or cell (vtkIntArray), which
/// takes the place of one of that name. Throws DataError where there are not as many.
Mesh with_class_array(const Mesh& mesh, const std::string& name, Association association,
                      const Eigen::VectorXi& values);

/// The mesh, one of whose arrays has these names of its components.
/// @param names one per component
Mesh with_component_names(const Mesh& mesh, const std::string& name, Association association,
                          const std::vector<std::string>& names);

}  // namespace funcattn
