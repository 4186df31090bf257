#include "meshio/formats.h"

#include <algorithm>
#include <cctype>

#include "core/error.h"
#include "core/text.h"
#include "meshio/legacy_format.h"
#include "meshio/multiblock_format.h"
#include "meshio/signature.h"
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
       "VTKFile:PolyData",
       "vtkPolyData",
       read_xml_poly_data,
       nullptr,
       write_xml},
      {{".vtu", "VTK XML unstructured grid"},
       "VTKFile:UnstructuredGrid",
       "vtkUnstructuredGrid",
       read_xml_unstructured_grid,
       nullptr,
       write_xml},
      {{".vti", "VTK XML image data"},
       "VTKFile:ImageData",
       "vtkImageData",
       read_xml_image_data,
       nullptr,
       write_xml},
      {{".vts", "VTK XML structured grid"},
       "VTKFile:StructuredGrid",
       "vtkStructuredGrid",
       read_xml_structured_grid,
       nullptr,
       write_xml},
      {{".vtr", "VTK XML rectilinear grid"},
       "VTKFile:RectilinearGrid",
       "vtkRectilinearGrid",
       read_xml_rectilinear_grid,
       nullptr,
       write_xml},
      {{".vtm", "VTK XML multi-block", true, true, false, true},
       "VTKFile:vtkMultiBlockDataSet",
       "vtkMultiBlockDataSet",
       read_multiblock,
       nullptr,
       write_multiblock},
      {{".vtmb", "VTK XML multi-block", true, true, false, true},
       "VTKFile:vtkMultiBlockDataSet",
       "vtkMultiBlockDataSet",
       read_multiblock,
       nullptr,
       write_multiblock},
      {{".vtk", "VTK legacy file of any data set"},
       "legacy",
       "vtkDataSet",
       read_legacy,
       nullptr,
       write_legacy},
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
  const std::string signature = signature_of(FileBytes(path));
  const auto matches = [&](const FormatSupport& support) {
    return support.signature && signature == support.signature;
  };
  if (by_extension && (signature.empty() || matches(*by_extension))) return *by_extension;
  for (const FormatSupport& support : format_table())
    if (matches(support)) return support;
  const std::string xml = "VTKFile:";
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
