#include "examples/pairs.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "core/error.h"
#include "core/text.h"
#include "examples/vtk_samples.h"
#include "plugin/dataset.h"

namespace funcattn {

namespace fs = std::filesystem;

namespace {

/// Of the span of a series: times that differ by less are the same in other digits.
constexpr double written_alike = 1e-6;

/// By name without extension. Throws FileError where two files share one.
std::map<std::string, fs::path> by_name(const std::vector<fs::path>& files) {
  std::map<std::string, fs::path> names;
  for (const fs::path& file : files) {
    const auto [known, is_new] = names.emplace(file.stem().string(), file);
    if (!is_new)
      throw FileError("'" + known->second.string() + "' and '" + file.string() +
                      "' have the same name, by which meshes of pairs are told; keep one of them");
  }
  return names;
}

void refuse_without_partner(const std::map<std::string, fs::path>& files,
                            const std::map<std::string, fs::path>& others,
                            const fs::path& other_location, const std::string& what) {
  for (const auto& [name, file] : files)
    if (others.count(name) == 0)
      throw FileError("'" + file.string() + "' has no " + what + " in '" + other_location.string() +
                      "': no mesh there is named '" + name +
                      "'; add it, or take the other one away");
}

}  // namespace

std::vector<fs::path> match_queries(const fs::path& location, const std::vector<fs::path>& sources,
                                    const fs::path& query_location,
                                    const std::vector<fs::path>& queries) {
  if (!fs::is_directory(location) && !fs::is_directory(query_location)) {
    const std::size_t both = std::min(sources.size(), queries.size());
    if (sources.size() != queries.size()) {
      const bool more = sources.size() > both;
      throw FileError("'" + (more ? sources : queries)[both].string() + "' has no " +
                      (more ? "query" : "source") + ": '" + location.string() + "' has " +
                      std::to_string(sources.size()) + " and '" + query_location.string() +
                      "' has " + std::to_string(queries.size()) +
                      " meshes, which are taken in their order; list as many of both");
    }
    return queries;
  }
  const auto named_sources = by_name(sources);
  const auto named_queries = by_name(queries);
  refuse_without_partner(named_sources, named_queries, query_location, "query");
  refuse_without_partner(named_queries, named_sources, location, "source");
  std::vector<fs::path> matched;
  for (const fs::path& source : sources)
    matched.push_back(named_queries.at(source.stem().string()));
  return matched;
}

std::string differing_times(const fs::path& location, const fs::path& query_location) {
  if (fs::is_directory(location) || fs::is_directory(query_location)) return {};
  const InputFiles sources = list_input(location);
  const InputFiles queries = list_input(query_location);
  if (!sources.is_series || !queries.is_series) return {};
  const auto time_of = [](const TimedFile& file) { return file.time.value_or(0); };
  const double first = time_of(sources.files.front());
  const double span = std::abs(time_of(sources.files.back()) - first);
  const double tolerance = written_alike * (span > 0 ? span : std::abs(first));
  for (std::size_t i = 0; i < std::min(sources.files.size(), queries.files.size()); ++i) {
    const TimedFile& source = sources.files[i];
    const TimedFile& query = queries.files[i];
    if (!source.time || !query.time || std::abs(*source.time - *query.time) <= tolerance) continue;
    return "'" + location.string() + "' and '" + query_location.string() +
           "' are paired in their order, not by time: '" + source.file.string() + "' of time " +
           format_significant(*source.time, 6) + " with '" + query.file.string() + "' of time " +
           format_significant(*query.time, 6);
  }
  return {};
}

SampleFiles SampleFiles::part(std::size_t first, std::size_t last) const {
  SampleFiles some;
  for (std::size_t i = first; i < last; ++i) some.add(*this, i);
  return some;
}

void SampleFiles::add(const SampleFiles& all, std::size_t index) {
  sources.push_back(all.sources[index]);
  if (!all.queries.empty()) queries.push_back(all.queries[index]);
}

SampleFiles training_pairs(const fs::path& location, const fs::path& query_location) {
  SampleFiles files{training_files(location), {}};
  if (!query_location.empty())
    files.queries =
        match_queries(location, files.sources, query_location, training_files(query_location));
  return files;
}

SampleFiles validation_pairs(const fs::path& location, const fs::path& query_location) {
  SampleFiles files{validation_files(location), {}};
  if (query_location.empty()) return files;
  const std::vector<fs::path> queries = validation_files(query_location);
  if (files.sources.empty() != queries.empty()) {
    const bool of_sources = queries.empty();
    throw FileError("'" + (of_sources ? location : query_location).string() +
                    "' has the folder valid, '" +
                    (of_sources ? query_location : location).string() +
                    "' has none; give both one, or neither");
  }
  if (!queries.empty())
    files.queries = match_queries(location, files.sources, query_location, queries);
  return files;
}

void hold_out(double share, SampleFiles& files, SampleFiles& held_out) {
  const std::size_t count = files.sources.size();
  const auto wanted = static_cast<std::size_t>(std::floor(share * static_cast<double>(count)));
  SampleFiles kept;
  for (std::size_t i = 0; i < count; ++i) {
    const bool hold = (i + 1) * wanted / count > i * wanted / count;
    (hold ? held_out : kept).add(files, i);
  }
  files = std::move(kept);
}

namespace {

using NamedFiles = std::vector<std::pair<std::string, std::vector<fs::path>>>;

std::string names_of(const NamedFiles& sets) {
  std::vector<std::string> names;
  for (const auto& set : sets) names.push_back(set.first);
  return join(names, ", ");
}

/// The folder that tells a location's sets from those of others of the same name.
fs::path folder_of(const fs::path& location) {
  const fs::path given = location.has_filename() ? location : location.parent_path();
  const bool is_in_it = fs::is_directory(given / "test");
  return is_in_it ? given : fs::absolute(given).lexically_normal().parent_path();
}

/// Of one of the sets of a location.
fs::path set_location(const fs::path& location, const std::string& name) {
  return fs::is_directory(location / "test") ? location / name : location;
}

std::vector<TestSet> paired_sets(const fs::path& location, const fs::path& query_location) {
  const NamedFiles sources = test_sets(location);
  std::vector<TestSet> sets;
  if (query_location.empty()) {
    for (const auto& [name, files] : sources)
      sets.push_back({name, {files, {}}, set_location(location, name), {}});
    return sets;
  }
  const NamedFiles queries = test_sets(query_location);
  const bool by_names = sources.size() > 1 || queries.size() > 1;
  if (by_names && names_of(sources) != names_of(queries))
    throw FileError("'" + location.string() + "' has the test sets " + names_of(sources) + ", '" +
                    query_location.string() + "' has " + names_of(queries) +
                    "; give the folders of the sets that belong together");
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const auto& [name, files] = sources[i];
    const auto& [query_name, query_files] = queries[i];
    sets.push_back({name == query_name ? name : name + " to " + query_name,
                    {files, match_queries(location, files, query_location, query_files)},
                    set_location(location, name),
                    set_location(query_location, query_name)});
  }
  return sets;
}

bool are_the_same(const std::vector<fs::path>& files, const std::vector<fs::path>& others) {
  return std::equal(files.begin(), files.end(), others.begin(), others.end(),
                    [](const fs::path& a, const fs::path& b) {
                      std::error_code ignored;
                      return a == b || fs::equivalent(a, b, ignored);
                    });
}

void refuse_sets_given_twice(const std::vector<TestSet>& sets) {
  const auto told = [](const TestSet& set) {
    return "'" + set.location.string() + "'" +
           (set.query_location.empty() ? "" : " with '" + set.query_location.string() + "'");
  };
  for (auto set = sets.begin(); set != sets.end(); ++set)
    for (auto other = sets.begin(); other != set; ++other)
      if (are_the_same(set->files.sources, other->files.sources) &&
          are_the_same(set->files.queries, other->files.queries))
        throw UsageError("the test sets " + told(*other) + " and " + told(*set) +
                         " have the same samples; leave one of them away");
}

}  // namespace

std::vector<TestSet> all_test_sets(const std::vector<fs::path>& locations,
                                   const std::vector<fs::path>& query_locations) {
  std::vector<TestSet> sets;
  std::vector<fs::path> folders, source_folders;
  for (std::size_t i = 0; i < locations.size(); ++i) {
    const fs::path query = query_locations.empty() ? fs::path() : query_locations[i];
    for (TestSet& set : paired_sets(locations[i], query)) {
      sets.push_back(std::move(set));
      folders.push_back(folder_of(query.empty() ? locations[i] : query));
      source_folders.push_back(folder_of(locations[i]));
    }
  }
  refuse_sets_given_twice(sets);
  const auto tell_apart = [&](const auto& told) {
    std::vector<std::string> names;
    for (const TestSet& set : sets) names.push_back(set.name);
    for (std::size_t i = 0; i < sets.size(); ++i)
      if (std::count(names.begin(), names.end(), names[i]) > 1) sets[i].name = told(i, names[i]);
  };
  const auto in = [](const fs::path& folder, const std::string& name) {
    return (folder / fs::path(name).filename()).string();
  };
  tell_apart(
      [&](std::size_t i, const std::string& name) { return in(folders[i].filename(), name); });
  tell_apart(
      [&](std::size_t i, const std::string& name) { return in(folders[i].relative_path(), name); });
  // The same queries for several sources.
  if (!query_locations.empty())
    tell_apart([&](std::size_t i, const std::string& name) {
      return source_folders[i].filename().string() + " to " + name;
    });
  return sets;
}

}  // namespace funcattn
