#include "plugin/dataset.h"

#include <vtkNew.h>
#include <vtkXMLDataElement.h>
#include <vtkXMLDataParser.h>

#include <algorithm>
#include <cctype>
#include <sstream>

#include "core/atomic_file.h"
#include "core/error.h"
#include "core/text.h"
#include "meshio/reader.h"
#include "meshio/vtk_messages.h"

namespace funcattn {

namespace fs = std::filesystem;

namespace {

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

std::vector<std::string> readable_extensions() {
  std::vector<std::string> extensions;
  for (const FileFormat& format : file_formats())
    if (format.readable) extensions.push_back(format.extension);
  return extensions;
}

/// Compares digit runs by value, so that step_9 comes before step_10.
bool naturally_less(const std::string& a, const std::string& b) {
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() && j < b.size()) {
    if (is_digit(a[i]) && is_digit(b[j])) {
      const auto run = [](const std::string& text, std::size_t& at) {
        while (at + 1 < text.size() && text[at] == '0' && is_digit(text[at + 1])) ++at;
        const std::size_t start = at;
        while (at < text.size() && is_digit(text[at])) ++at;
        return text.substr(start, at - start);
      };
      const std::string left = run(a, i);
      const std::string right = run(b, j);
      if (left.size() != right.size()) return left.size() < right.size();
      if (left != right) return left < right;
    } else if (a[i] != b[j]) {
      return a[i] < b[j];
    } else {
      ++i;
      ++j;
    }
  }
  const std::size_t left_over = a.size() - i;
  const std::size_t right_over = b.size() - j;
  return left_over != right_over ? left_over < right_over : a < b;
}

std::vector<fs::path> list_folder(const fs::path& folder) {
  const std::vector<std::string> extensions = readable_extensions();
  std::vector<fs::path> files;
  std::vector<std::string> subfolders;
  std::error_code failure;
  for (const auto& entry : fs::directory_iterator(folder, failure)) {
    const std::string name = entry.path().filename().string();
    std::error_code ignored;
    if (entry.is_directory(ignored)) subfolders.push_back(name);
    // A leading dot marks files that are being written.
    if (!entry.is_regular_file(ignored) || name.front() == '.') continue;
    const std::string extension = lower(entry.path().extension().string());
    if (std::find(extensions.begin(), extensions.end(), extension) != extensions.end())
      files.push_back(entry.path());
  }
  if (failure) throw FileError("cannot list '" + folder.string() + "': " + failure.message());
  if (files.empty()) {
    std::sort(subfolders.begin(), subfolders.end());
    const std::string hint =
        subfolders.empty() ? "" : "; it has the folders " + join(subfolders, ", ");
    throw FileError("'" + folder.string() + "' holds no mesh file (" + join(extensions, ", ") +
                    ")" + hint);
  }
  std::sort(files.begin(), files.end(), [](const fs::path& a, const fs::path& b) {
    return naturally_less(a.filename().string(), b.filename().string());
  });
  return files;
}

/// A file named in `list`, relative to its folder; `where` says in which line or entry.
fs::path referenced_file(const fs::path& list, const std::string& name, const std::string& where) {
  const fs::path file = list.parent_path() / fs::path(name);
  std::error_code ignored;
  if (!fs::is_regular_file(file, ignored))
    throw FileError("'" + list.string() + "', " + where + ": there is no file '" + file.string() +
                    "'");
  return file;
}

std::vector<fs::path> read_list(const fs::path& list) {
  std::istringstream stream(read_file(list));
  std::vector<fs::path> files;
  int number = 0;
  for (std::string line; std::getline(stream, line);) {
    ++number;
    line.erase(line.find_last_not_of(" \t\r") + 1);
    line.erase(0, line.find_first_not_of(" \t"));
    if (line.empty() || line.front() == '#') continue;
    files.push_back(referenced_file(list, line, "line " + std::to_string(number)));
  }
  if (files.empty())
    throw FileError("'" + list.string() + "' lists no file; put one path per line");
  return files;
}

std::vector<fs::path> read_collection(const fs::path& collection) {
  std::istringstream stream(read_file(collection));
  const VtkMessages messages;
  const vtkNew<vtkXMLDataParser> parser;
  messages.observe(parser);
  parser->SetStream(&stream);
  vtkXMLDataElement* root = parser->Parse() != 0 ? parser->GetRootElement() : nullptr;
  vtkXMLDataElement* list = root ? root->FindNestedElementWithName("Collection") : nullptr;
  if (!list)
    throw FileError("'" + collection.string() + "' is damaged or no ParaView collection: " +
                    (messages.has_errors() ? messages.first_error()
                                           : std::string("no element 'Collection' in it")));
  std::vector<fs::path> files;
  std::vector<std::string> times;
  for (int i = 0; i < list->GetNumberOfNestedElements(); ++i) {
    vtkXMLDataElement* entry = list->GetNestedElement(i);
    if (std::string(entry->GetName()) != "DataSet") continue;
    const std::string where = "entry " + std::to_string(files.size());
    const char* file = entry->GetAttribute("file");
    if (!file)
      throw FileError("'" + collection.string() + "', " + where +
                      ": the attribute 'file' is absent");
    const char* time = entry->GetAttribute("timestep");
    if (time && std::find(times.begin(), times.end(), time) != times.end())
      throw FileError("'" + collection.string() + "', " + where + ": time step " + time +
                      " has several parts; merge them into one file per time step");
    if (time) times.emplace_back(time);
    files.push_back(referenced_file(collection, file, where));
  }
  if (files.empty()) throw FileError("'" + collection.string() + "' names no data set");
  return files;
}

}  // namespace

std::vector<fs::path> list_samples(const fs::path& location) {
  std::error_code ignored;
  if (!fs::exists(location, ignored))
    throw FileError("there is no file or folder '" + location.string() + "'");
  if (fs::is_directory(location, ignored)) return list_folder(location);
  const std::string extension = lower(location.extension().string());
  if (extension == ".txt" || extension == ".lst") return read_list(location);
  if (extension == ".pvd") return read_collection(location);
  return {location};
}

}  // namespace funcattn
