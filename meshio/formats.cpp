#include "meshio/formats.h"

#include <algorithm>
#include <cctype>

#include "core/error.h"
#include "core/text.h"
#include "meshio/legacy_format.h"
#include "meshio/multiblock_format.h"
#include "meshio/parallel_format.h"
#include "meshio/signature.h"
#include "meshio/solver_formats.h"
#include "meshio/surface_formats.h"
#include "meshio/xml_format.h"

namespace funcattn {

namespace {

std::string extensions_where(bool (*wanted)(const FormatSupport&)) {
  std::vector<std::string> extensions;
  for (const FormatSupport& support : format_table())
    if (wanted(support)) extensions.push_back(support.format.extension);
  return join(extensions, ", ");
}

std::string lower_extension(const std::filesystem::path& path) {
  std::string extension = path.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return extension;
}

}  // namespace

const std::vector<FormatSupport>& format_table() {
  static const std::vector<FormatSupport> table = {
      {{".vtp", "VTK XML surface, line or point data"},
       {"VTKFile:PolyData"},
       "vtkPolyData",
       read_serial_xml,
       nullptr,
       write_xml},
      {{".vtu", "VTK XML unstructured grid"},
       {"VTKFile:UnstructuredGrid"},
       "vtkUnstructuredGrid",
       read_serial_xml,
       nullptr,
       write_xml},
      {{".vti", "VTK XML image data"},
       {"VTKFile:ImageData"},
       "vtkImageData",
       read_serial_xml,
       nullptr,
       write_xml},
      {{".vts", "VTK XML structured grid"},
       {"VTKFile:StructuredGrid"},
       "vtkStructuredGrid",
       read_serial_xml,
       nullptr,
       write_xml},
      {{".vtr", "VTK XML rectilinear grid"},
       {"VTKFile:RectilinearGrid"},
       "vtkRectilinearGrid",
       read_serial_xml,
       nullptr,
       write_xml},
      {{".pvtp", "VTK XML surface, line or point data in pieces"},
       {"VTKFile:PPolyData"},
       "vtkPolyData",
       read_parallel,
       nullptr,
       write_parallel},
      {{".pvtu", "VTK XML unstructured grid in pieces"},
       {"VTKFile:PUnstructuredGrid"},
       "vtkUnstructuredGrid",
       read_parallel,
       nullptr,
       write_parallel},
      {{".pvti", "VTK XML image data in pieces"},
       {"VTKFile:PImageData"},
       "vtkImageData",
       read_parallel,
       nullptr,
       write_parallel},
      {{".pvts", "VTK XML structured grid in pieces"},
       {"VTKFile:PStructuredGrid"},
       "vtkStructuredGrid",
       read_parallel,
       nullptr,
       write_parallel},
      {{".pvtr", "VTK XML rectilinear grid in pieces"},
       {"VTKFile:PRectilinearGrid"},
       "vtkRectilinearGrid",
       read_parallel,
       nullptr,
       write_parallel},
      {{".vtm", "VTK XML multi-block", true, true, false, true},
       {"VTKFile:vtkMultiBlockDataSet"},
       "vtkMultiBlockDataSet",
       read_multiblock,
       nullptr,
       write_multiblock},
      {{".vtmb", "VTK XML multi-block", true, true, false, true},
       {"VTKFile:vtkMultiBlockDataSet"},
       "vtkMultiBlockDataSet",
       read_multiblock,
       nullptr,
       write_multiblock},
      {{".vtpd", "VTK XML partitioned data set", true, true, false, true},
       {"VTKFile:vtkPartitionedDataSet"},
       "vtkPartitionedDataSet",
       read_multiblock,
       nullptr,
       write_multiblock},
      {{".vtpc", "VTK XML collection of partitioned data sets", true, true, false, true},
       {"VTKFile:vtkPartitionedDataSetCollection"},
       "vtkPartitionedDataSetCollection",
       read_multiblock,
       nullptr,
       write_multiblock},
      {{".vtk", "VTK legacy file of any data set"},
       {"legacy"},
       "vtkDataSet",
       read_legacy,
       nullptr,
       write_legacy},
      {{".vtkhdf", "VTKHDF 1.0 image data or unstructured grid", true, false},
       {"hdf5"},
       "vtkDataSet",
       read_vtkhdf,
       nullptr,
       nullptr},
      {{".hdf", "VTKHDF 1.0 image data or unstructured grid", true, false},
       {"hdf5"},
       "vtkDataSet",
       read_vtkhdf,
       nullptr,
       nullptr},
      {{".stl", "STL surface, text or binary", true, false},
       {"stl"},
       "vtkPolyData",
       read_stl,
       nullptr,
       nullptr},
      {{".ply", "PLY surface, text or binary", true, false},
       {"ply"},
       "vtkPolyData",
       read_ply,
       nullptr,
       nullptr},
      {{".obj", "Wavefront OBJ surface", true, false},
       {},
       "vtkPolyData",
       read_obj,
       nullptr,
       nullptr},
      {{".e", "Exodus II (classic netCDF)", true, false, true, true},
       {"netcdf"},
       "vtkMultiBlockDataSet",
       read_exodus,
       exodus_times,
       nullptr},
      {{".exo", "Exodus II (classic netCDF)", true, false, true, true},
       {"netcdf"},
       "vtkMultiBlockDataSet",
       read_exodus,
       exodus_times,
       nullptr},
      {{".ex2", "Exodus II (classic netCDF)", true, false, true, true},
       {"netcdf"},
       "vtkMultiBlockDataSet",
       read_exodus,
       exodus_times,
       nullptr},
      {{".case", "EnSight 6 or Gold case", true, false, true, true},
       {"ensight"},
       "vtkMultiBlockDataSet",
       read_ensight,
       ensight_times,
       nullptr},
      {{".foam", "OpenFOAM case; the file marks its folder", true, false, true, true},
       {},
       "vtkMultiBlockDataSet",
       read_openfoam,
       openfoam_times,
       nullptr},
  };
  return table;
}

const FormatSupport* find_format(const std::filesystem::path& path) {
  const std::string extension = lower_extension(path);
  for (const FormatSupport& support : format_table())
    if (support.format.extension == extension) return &support;
  return nullptr;
}

const FormatSupport& format_of(const std::filesystem::path& path) {
  const FormatSupport* by_extension = find_format(path);
  // Such a file only marks the folder of a case and may well be empty.
  if (by_extension && by_extension->format.extension == ".foam") return *by_extension;
  const std::string signature = signature_of(FileBytes(path));
  const auto matches = [&](const FormatSupport& support) {
    return std::find(support.signatures.begin(), support.signatures.end(), signature) !=
           support.signatures.end();
  };
  if (by_extension && (signature.empty() || matches(*by_extension))) return *by_extension;
  for (const FormatSupport& support : format_table())
    if (matches(support)) return support;
  const std::string xml = "VTKFile:";
  if (signature.find("AMR") != std::string::npos ||
      signature.find("Hierarchical") != std::string::npos)
    throw DataError("it is a VTK XML file of type '" + signature.substr(xml.size()) +
                    "': grids with adaptive refinement (AMR) are not read; convert it to "
                    "multi-block (.vtm) with ghost flags first");
  if (signature.rfind(xml, 0) == 0)
    throw DataError("it is a VTK XML file of type '" + signature.substr(xml.size()) +
                    "', which is no mesh that can be read; known: " + known_extensions());
  throw DataError("the extension '" + path.extension().string() +
                  "' is not known; known: " + known_extensions());
}

std::string known_extensions() {
  return extensions_where([](const FormatSupport& support) { return support.format.readable; });
}

std::string writable_extensions() {
  return extensions_where([](const FormatSupport& support) { return support.format.writable; });
}

}  // namespace funcattn
