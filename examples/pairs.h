#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace funcattn {

/// The mesh of `queries` that belongs to each of `sources`: in folders the one of the same name
/// without extension, in lists, collections and single files the one at the same place. Throws
/// FileError, naming the file, where one of either has no partner or the name of another.
/// @param location, query_location where they were listed
std::vector<std::filesystem::path> match_queries(const std::filesystem::path& location,
                                                 const std::vector<std::filesystem::path>& sources,
                                                 const std::filesystem::path& query_location,
                                                 const std::vector<std::filesystem::path>& queries);

/// Where two collections with times are paired: the first pair whose times are not the same, as a
/// sentence; empty: there is none. It may be meant: the state of a step that follows from another.
std::string differing_times(const std::filesystem::path& location,
                            const std::filesystem::path& query_location);

/// A warning where QuerySettings::interpolate_inputs is set.
inline constexpr const char* nothing_to_interpolate =
    "--interpolate-inputs has no effect: no mesh of --query-data lacks an input that it needs";

/// Files of samples, some of which have a second one with the targets.
struct SampleFiles {
  std::vector<std::filesystem::path> sources;
  std::vector<std::filesystem::path> queries;  ///< One per source, or none at all.

  /// Those that hold the truth and get the results.
  const std::vector<std::filesystem::path>& with_results() const {
    return queries.empty() ? sources : queries;
  }

  /// Those from the first up to the second.
  SampleFiles part(std::size_t first, std::size_t last) const;
  void add(const SampleFiles& all, std::size_t index);
};

/// The training samples of a data set (training_files()) with their queries, if there is a
/// `query_location`.
SampleFiles training_pairs(const std::filesystem::path& location,
                           const std::filesystem::path& query_location);
/// The validation samples (validation_files()) alike. Throws FileError where only one of the two
/// locations has some.
SampleFiles validation_pairs(const std::filesystem::path& location,
                             const std::filesystem::path& query_location);

/// Moves a share of the samples, every n-th, so that an ordered set is held out evenly, from
/// `files` to `held_out`.
void hold_out(double share, SampleFiles& files, SampleFiles& held_out);

/// A named test set of pairs, or of single meshes.
struct TestSet {
  std::string name;
  SampleFiles files;
  std::filesystem::path location{};        ///< Folder, list, collection or file.
  std::filesystem::path query_location{};  ///< Of pairs.
};

/// The test sets of all locations (test_sets()); with `query_locations`, of which there are as
/// many, each with that of the same name there, or, where both have one, with that one. Their names
/// are those of the sets, SOURCE to QUERY where these differ. Sets of one name are told apart by
/// the folders that their results are in, by name or, if need be, by all of their paths. Throws
/// FileError where a set has no partner, and as match_queries(), UsageError where two have
/// the same samples.
std::vector<TestSet> all_test_sets(const std::vector<std::filesystem::path>& locations,
                                   const std::vector<std::filesystem::path>& query_locations);

}  // namespace funcattn
