#include <algorithm>
#include <cctype>

#include "core/atomic_file.h"
#include "core/error.h"
#include "meshio/file_bytes.h"
#include "meshio/inspection.h"
#include "meshio/text_lines.h"

namespace funcattn {

namespace {

bool has_wildcard(std::string_view name) {
  return name.find('*') != std::string_view::npos;
}

/// The names of files at the end of a line of the sections GEOMETRY and VARIABLE.
std::vector<std::string> files_of(const std::vector<std::string_view>& words) {
  const auto stop = std::find(words.begin(), words.end(), "change_coords_only");
  std::vector<std::string> files(words.begin() + 1, stop);
  // "complex scalar per node: [sets] name real-file imaginary-file frequency"
  const std::size_t wanted = words[0] == "complex" ? 2 : 1;
  if (wanted == 2 && files.size() > 3) files.pop_back();
  if (files.size() > wanted)
    files.erase(files.begin(), files.end() - static_cast<std::ptrdiff_t>(wanted));
  return files;
}

}  // namespace

void inspect_ensight(const std::filesystem::path& path) {
  const std::string text = read_file(path);
  if (text.find('\0') != std::string::npos)
    throw DataError("it holds NUL bytes, but a case file is text; it is damaged");
  TextLines lines(text);
  std::string section;
  bool has_model = false;
  while (lines.next()) {
    const auto words = lines.words();
    if (words.empty() || words[0].front() == '#') continue;
    const bool heading =
        words.size() == 1 && std::all_of(words[0].begin(), words[0].end(),
                                         [](unsigned char c) { return std::isupper(c) != 0; });
    if (heading) {
      section = std::string(words[0]);
      continue;
    }
    if (section != "GEOMETRY" && section != "VARIABLE") continue;
    if (section == "VARIABLE" && words[0] == "constant") continue;
    if (lines.line().find('"') != std::string_view::npos)
      throw DataError(lines.where() +
                      " holds a name between quotation marks, which VTK cannot read; remove the "
                      "marks, and blanks from the names of files");
    has_model = has_model || words[0].rfind("model", 0) == 0;
    for (const std::string& name : files_of(words)) {
      if (has_wildcard(name)) continue;  // One file per step.
      try {
        const FileBytes file(path.parent_path() / name);
      } catch (const FileError& error) {
        throw DataError(lines.where() + ": " + error.what());
      }
    }
  }
  if (!has_model) throw DataError("its GEOMETRY names no model; it is no EnSight case or damaged");
}

}  // namespace funcattn
