#include "meshio/reader.h"

#include <algorithm>
#include <new>

#include "core/error.h"
#include "core/text.h"
#include "meshio/formats.h"

namespace funcattn {

namespace {

/// Runs `function`; whatever goes wrong becomes a FileError that names the file once.
template <class Function>
auto naming_the_file(const std::filesystem::path& path, const Function& function) {
  const std::string failed = "cannot read '" + path.string() + "': ";
  try {
    return function();
  } catch (const Error& error) {
    const std::string message = error.what();
    throw FileError(message.rfind(failed, 0) == 0 ? message : failed + message);
  } catch (const std::bad_alloc&) {
    throw FileError(failed + "there is not enough memory for it, or it is damaged");
  } catch (const std::exception& error) {
    throw FileError(failed + error.what());
  }
}

std::vector<double> steps_of(const FormatSupport& support, const std::filesystem::path& path,
                             const MeshTree* read) {
  if (support.time_steps) return support.time_steps(path);
  const std::optional<double> time =
      read ? read->time() : MeshTree(support.read(path, {}), path.string()).time();
  return time ? std::vector<double>{*time} : std::vector<double>();
}

void require_time(const std::vector<double>& steps, double wanted) {
  if (std::find(steps.begin(), steps.end(), wanted) != steps.end()) return;
  std::vector<std::string> known;
  for (const double step : steps) known.push_back(format_number(step));
  throw DataError(
      "it has no time step " + format_number(wanted) +
      (known.empty() ? "; it says nothing of time" : "; its times are " + join(known, ", ")));
}

}  // namespace

const std::vector<FileFormat>& file_formats() {
  static const auto formats = [] {
    std::vector<FileFormat> list;
    for (const FormatSupport& support : format_table()) list.push_back(support.format);
    return list;
  }();
  return formats;
}

MeshTree read_mesh_tree(const std::filesystem::path& path, const ReadOptions& options) {
  return naming_the_file(path, [&] {
    const FormatSupport& support = format_of(path);
    if (options.time && support.time_steps) require_time(support.time_steps(path), *options.time);
    const MeshTree tree(support.read(path, options), path.string());
    if (options.time && !support.time_steps)
      require_time(steps_of(support, path, &tree), *options.time);
    return tree;
  });
}

Mesh read_mesh(const std::filesystem::path& path) {
  const MeshTree tree = read_mesh_tree(path);
  if (tree.leaves().size() != 1)
    throw FileError("'" + path.string() + "' holds a tree of " +
                    std::to_string(tree.leaves().size()) +
                    " data sets, but one is needed; merge them into one, or give a file of one of "
                    "its blocks");
  return Mesh(tree.leaves().front().vtk(), path.string());
}

std::vector<double> time_steps(const std::filesystem::path& path) {
  return naming_the_file(path, [&] { return steps_of(format_of(path), path, nullptr); });
}

}  // namespace funcattn
