#include "meshio/series.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <string>

#include "core/atomic_file.h"
#include "core/error.h"
#include "core/text.h"
#include "meshio/file_bytes.h"
#include "meshio/xml_names.h"
#include "meshio/xml_structure.h"
#include "meshio/xml_tree.h"

namespace funcattn {

namespace fs = std::filesystem;

namespace {

const XmlElement& collection_of(const XmlDocument& document) {
  const XmlElement& root = document.root;
  if (root.name != "VTKFile" || root.attribute("type") != "Collection" || !root.child("Collection"))
    throw DataError("it is no ParaView collection: there is no element <Collection>");
  return *root.child("Collection");
}

TimedFile entry_of(const XmlElement& element, const fs::path& folder, const std::string& where,
                   MissingFiles missing) {
  const std::string file = element.attribute("file");
  if (file.empty()) throw DataError(where + " has no attribute 'file'");
  TimedFile entry{folder / file};
  std::error_code ignored;
  if (missing == MissingFiles::refuse && !fs::is_regular_file(entry.file, ignored))
    throw DataError(where + ": there is no file '" + entry.file.string() + "'");
  const std::string time = element.attribute("timestep");
  if (!time.empty()) {
    entry.time = parse_double(time);
    if (!entry.time || !std::isfinite(*entry.time))
      throw DataError(where + " has timestep=\"" + time + "\", expected a finite number");
  }
  entry.group = element.attribute("group");
  entry.part = element.attribute("part");
  entry.name = element.attribute("name");
  return entry;
}

/// A name cut at its last run of digits.
struct NumberedName {
  std::string before;
  std::string digits;
  std::string after;
};

std::optional<NumberedName> numbered_name(const fs::path& file) {
  const std::string stem = file.stem().string();
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto last = std::find_if(stem.rbegin(), stem.rend(), is_digit);
  if (last == stem.rend()) return std::nullopt;
  const auto end = static_cast<std::size_t>(stem.rend() - last);
  std::size_t begin = end;
  while (begin > 0 && is_digit(stem[begin - 1])) --begin;
  return NumberedName{stem.substr(0, begin), stem.substr(begin, end - begin),
                      stem.substr(end) + file.extension().string()};
}

std::string without_leading_zeros(const std::string& digits) {
  const auto first = digits.find_first_not_of('0');
  return first == std::string::npos ? "" : digits.substr(first);
}

std::string relative_to(const fs::path& folder, const fs::path& file) {
  const fs::path base = fs::absolute(folder).lexically_normal();
  const fs::path relative = fs::absolute(file).lexically_normal().lexically_relative(base);
  return relative.empty() ? fs::absolute(file).generic_string() : relative.generic_string();
}

}  // namespace

std::vector<TimedFile> read_pvd(const fs::path& path, MissingFiles missing) {
  try {
    const FileBytes file(path);
    const XmlDocument document = parse_vtk_xml(file);
    std::vector<TimedFile> entries;
    const XmlElement& collection = collection_of(document);
    check_xml_structure(document, file);
    for (const XmlElement& element : collection.children)
      entries.push_back(entry_of(element, path.parent_path(),
                                 "entry " + std::to_string(entries.size() + 1), missing));
    if (entries.empty()) throw DataError("it names no file");
    return entries;
  } catch (const DataError& error) {
    throw FileError("cannot read '" + path.string() + "': " + error.what());
  }
}

void write_pvd(const fs::path& path, const std::vector<TimedFile>& entries) {
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  std::string text =
      "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"0.1\">\n  <Collection>\n";
  for (std::size_t i = 0; i < entries.size(); ++i)
    text += "    <DataSet timestep=\"" +
            format_number(entries[i].time.value_or(static_cast<double>(i))) + "\" group=\"" +
            xml_escaped(entries[i].group) + "\" part=\"" +
            (entries[i].part.empty() ? "0" : xml_escaped(entries[i].part)) +
            (entries[i].name.empty() ? "" : "\" name=\"" + xml_escaped(entries[i].name)) +
            "\" file=\"" + xml_escaped(relative_to(folder, entries[i].file)) + "\"/>\n";
  write_file_atomically(path, text + "  </Collection>\n</VTKFile>\n");
}

std::vector<fs::path> numbered_series(const fs::path& file) {
  const auto name = numbered_name(file);
  if (!name) return {file};
  const fs::path folder = file.parent_path();
  struct Member {
    std::string number;
    fs::path file;
  };
  std::vector<Member> members;
  std::error_code failure;
  for (const auto& entry : fs::directory_iterator(folder.empty() ? "." : folder, failure)) {
    const auto other = numbered_name(entry.path());
    std::error_code ignored;
    if (!other || other->before != name->before || other->after != name->after ||
        !entry.is_regular_file(ignored))
      continue;
    members.push_back({without_leading_zeros(other->digits), folder / entry.path().filename()});
  }
  // By value, so that step_9 comes before step_10.
  std::sort(members.begin(), members.end(), [](const Member& a, const Member& b) {
    if (a.number.size() != b.number.size()) return a.number.size() < b.number.size();
    return a.number != b.number ? a.number < b.number : a.file < b.file;
  });
  std::vector<fs::path> files;
  for (Member& member : members) files.push_back(std::move(member.file));
  if (files.empty()) files.push_back(file);
  return files;
}

}  // namespace funcattn
