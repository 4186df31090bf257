#include "meshio/signature.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <string_view>

namespace funcattn {

namespace {

constexpr std::uint64_t kHead = 4096;
constexpr std::uint64_t kStlHeader = 84;    ///< Title and number of triangles.
constexpr std::uint64_t kStlTriangle = 50;  ///< Normal, three corners, attribute.

bool begins_with(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

std::string xml_type(const std::string& head) {
  const auto element = head.find("<VTKFile");
  if (element == std::string::npos) return {};
  const auto end = head.find('>', element);
  for (const char* key : {" type=\"", " type='", "\ttype=\"", "\ntype=\""}) {
    const auto at = head.find(key, element);
    if (at >= end) continue;  // npos as well
    const auto begin = at + std::string_view(key).size();
    const auto close = head.find_first_of("\"'", begin);
    if (close == std::string::npos) continue;
    const std::string type = head.substr(begin, close - begin);
    // Anything but a word is damage, which the inspection of the file describes.
    const bool word =
        std::all_of(type.begin(), type.end(), [](unsigned char c) { return std::isalnum(c) != 0; });
    return word ? "VTKFile:" + type : std::string();
  }
  return {};
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

/// EnSight's case files name the format in their first section.
bool is_ensight_case(const std::string& head) {
  const auto type = head.find("type:");
  return head.find("format") < type && head.find("ensight", type) != std::string::npos &&
         type != std::string::npos;
}

}  // namespace

bool is_text_stl(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t\r\n");
  return begin != std::string_view::npos && lower(std::string(text.substr(begin, 5))) == "solid";
}

std::optional<std::uint64_t> binary_stl_size(const FileBytes& file) {
  const std::string head = file.read(0, kStlHeader);
  if (head.size() < kStlHeader) return std::nullopt;
  std::uint64_t triangles = 0;
  for (std::size_t i = 4; i-- > 0;)
    triangles = (triangles << 8) | static_cast<unsigned char>(head[80 + i]);
  const std::uint64_t size = kStlHeader + triangles * kStlTriangle;
  // Zeros are many a file; without a triangle the size must be exact.
  if (file.size() < size || file.size() - size >= (triangles > 0 ? kStlTriangle : 1))
    return std::nullopt;
  return size;
}

std::string signature_of(const FileBytes& file) {
  const std::string head = file.read(0, kHead);
  if (begins_with(head, "# vtk DataFile Version")) return "legacy";
  if (begins_with(head, "\x89HDF\r\n\x1a\n")) return "hdf5";
  if (begins_with(head, "CDF") && head.size() > 3 &&
      (head[3] == '\x01' || head[3] == '\x02' || head[3] == '\x05'))
    return "netcdf";
  if (begins_with(head, "ply\n") || begins_with(head, "ply\r")) return "ply";
  if (const std::string xml = xml_type(head); !xml.empty()) return xml;
  if (binary_stl_size(file)) return "stl";
  const std::string lower_head = lower(head);
  // "solid" begins many a text; the first facet must follow.
  if (is_text_stl(head) && lower_head.find("facet") != std::string::npos) return "stl";
  if (is_ensight_case(lower_head)) return "ensight";
  return {};
}

}  // namespace funcattn
