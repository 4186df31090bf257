#pragma once

#include <vtkDataObject.h>
#include <vtkSmartPointer.h>

#include <filesystem>
#include <vector>

#include "meshio/reader.h"

namespace funcattn {

/// Files of solvers: see FormatSupport::read and time_steps.
///
/// Exodus II: element blocks with all their results and nodal results. OpenFOAM: the internal mesh,
/// all fields at the association that they have in the case, polyhedra left whole; the .foam file
/// only marks the folder. EnSight: all parts and variables of a case file. VTKHDF 1.0: image data
/// and unstructured grids.
///
/// VTK's readers of OpenFOAM and EnSight can crash on damaged text. These files are read twice,
/// first in a copy of the process: see trial.h.
vtkSmartPointer<vtkDataObject> read_exodus(const std::filesystem::path& path,
                                           const ReadOptions& options);
std::vector<double> exodus_times(const std::filesystem::path& path);

vtkSmartPointer<vtkDataObject> read_openfoam(const std::filesystem::path& path,
                                             const ReadOptions& options);
std::vector<double> openfoam_times(const std::filesystem::path& path);

vtkSmartPointer<vtkDataObject> read_ensight(const std::filesystem::path& path,
                                            const ReadOptions& options);
std::vector<double> ensight_times(const std::filesystem::path& path);

vtkSmartPointer<vtkDataObject> read_vtkhdf(const std::filesystem::path& path,
                                           const ReadOptions& options);

}  // namespace funcattn
