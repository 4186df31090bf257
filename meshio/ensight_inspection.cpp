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
    has_model = has_model || words[0].rfind("model", 0) == 0;
    // The file's name stands last; with wildcards it stands for one file per step.
    std::string name(words.back());
    if (words.back() == "change_coords_only" && words.size() > 2)
      name = std::string(words[words.size() - 2]);
    if (has_wildcard(name)) continue;
    name.erase(std::remove(name.begin(), name.end(), '"'), name.end());
    try {
      const FileBytes file(path.parent_path() / name);
    } catch (const FileError& error) {
      throw DataError(lines.where() + ": " + error.what());
    }
  }
  if (!has_model) throw DataError("its GEOMETRY names no model; it is no EnSight case or damaged");
}

}  // namespace funcattn
