#include "plugin/dataset.h"

#include <glob.h>

#include <algorithm>
#include <cctype>
#include <sstream>

#include "core/atomic_file.h"
#include "core/error.h"
#include "core/text.h"
#include "meshio/reader.h"

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

/// Paths of a list, one a line, relative to `folder`; `title` names the list in messages.
std::vector<fs::path> read_lines(std::istream& stream, const fs::path& folder,
                                 const std::string& title, MissingFiles missing) {
  std::vector<fs::path> files;
  int number = 0;
  for (std::string line; std::getline(stream, line);) {
    ++number;
    if (number == 1) {
      if (line.rfind("\xFF\xFE", 0) == 0 || line.rfind("\xFE\xFF", 0) == 0)
        throw FileError(title + " is UTF-16 text; save it as UTF-8");
      if (line.rfind("\xEF\xBB\xBF", 0) == 0) line.erase(0, 3);  // The mark of UTF-8 text.
    }
    if (line.find('\0') != std::string::npos)
      throw FileError(title + ", line " + std::to_string(number) +
                      " holds NUL bytes; put one path per line (find -print, not -print0)");
    line.erase(line.find_last_not_of(" \t\r") + 1);
    line.erase(0, line.find_first_not_of(" \t"));
    if (line.empty() || line.front() == '#') continue;
    const fs::path file = folder / fs::path(line);
    std::error_code ignored;
    if (missing == MissingFiles::refuse && !fs::is_regular_file(file, ignored))
      throw FileError(title + ", line " + std::to_string(number) + ": there is no file '" +
                      file.string() + "'");
    files.push_back(file);
  }
  if (files.empty()) throw FileError(title + " lists no file; put one path per line");
  return files;
}

std::vector<TimedFile> read_collection(const fs::path& collection, MissingFiles missing) {
  std::vector<TimedFile> entries = read_pvd(collection, missing);
  for (std::size_t i = 0; i < entries.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (entries[i].time && entries[i].time == entries[j].time)
        throw FileError("'" + collection.string() + "', entry " + std::to_string(i + 1) +
                        ": time step " + format_number(*entries[i].time) +
                        " has several parts; merge them into one file per time step");
  return entries;
}

InputFiles untimed(const fs::path& location, const std::vector<fs::path>& files) {
  InputFiles input;
  input.location = location;
  for (const fs::path& file : files) input.files.push_back({file, std::nullopt});
  return input;
}

}  // namespace

InputFiles list_input(const fs::path& location, MissingFiles missing) {
  std::error_code ignored;
  if (!fs::exists(location, ignored))
    throw FileError("there is no file or folder '" + location.string() + "'");
  if (fs::is_directory(location, ignored)) return untimed(location, list_folder(location));
  const std::string extension = lower(location.extension().string());
  if (extension == ".txt" || extension == ".lst") {
    std::istringstream stream(read_file(location));
    return untimed(location, read_lines(stream, location.parent_path(),
                                        "'" + location.string() + "'", missing));
  }
  if (extension == ".pvd") return {location, read_collection(location, missing), true};
  return untimed(location, {location});
}

std::vector<fs::path> list_samples(const fs::path& location) {
  std::vector<fs::path> files;
  for (const TimedFile& entry : list_input(location).files) files.push_back(entry.file);
  return files;
}

std::vector<fs::path> read_list(std::istream& stream, MissingFiles missing) {
  return read_lines(stream, fs::path(), "the list on standard input", missing);
}

bool is_pattern(const fs::path& path) {
  std::error_code ignored;
  return path.string().find_first_of("*?[") != std::string::npos && !fs::exists(path, ignored);
}

std::vector<fs::path> match_pattern(const fs::path& pattern) {
  glob_t found = {};
  const int status = ::glob(pattern.c_str(), GLOB_ERR, nullptr, &found);
  std::vector<fs::path> files;
  for (std::size_t i = 0; status == 0 && i < found.gl_pathc; ++i)
    files.emplace_back(found.gl_pathv[i]);
  ::globfree(&found);
  if (files.empty()) throw FileError("no file matches '" + pattern.string() + "'");
  std::sort(files.begin(), files.end(), [](const fs::path& a, const fs::path& b) {
    return naturally_less(a.string(), b.string());
  });
  return files;
}

}  // namespace funcattn
