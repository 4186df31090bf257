#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/process_group.h"
#include "operators/contract.h"
#include "operators/point_samples.h"
#include "plugin/pair_binding.h"

namespace funcattn {

/// What the user says of the arrays of a data set.
struct ArrayChoice {
  std::vector<std::string> inputs;
  std::vector<std::string> parameters;  ///< Values of a whole mesh, in its field data.
  std::vector<std::string> targets;
  bool classes = false;              ///< The targets are classes, not fields.
  std::optional<int> ignored_class;  ///< A label that says that the class is not known.
  /// Targets that are classes as the data set describes them; the classes of others are counted.
  std::vector<OutputArray> described_classes;
  std::string source_flag;                 ///< Empty: every point is a source sample.
  std::optional<Association> association;  ///< Of all arrays; point where nothing is said.
  std::string weights;                     ///< Empty: nothing is said, which means auto.
};

/// Samples and the contract that an operator trained on them has.
struct VtkTrainingSet {
  std::vector<Sample> samples;
  Contract contract;
  std::vector<std::string> integer_fields;  ///< Targets of an integer type that are no classes.
  /// Class targets of which no point has the label that ArrayChoice::ignored_class names.
  std::vector<std::string> without_ignored_class;
  std::int64_t most_results = 0;         ///< Rows of the targets of the largest sample.
  bool has_interpolated_inputs = false;  ///< Of pairs: a query lacked some that it needs.
  std::vector<std::string> apart;        ///< PairSample::apart of those that have it.
};

/// The meshes that hold the targets, where those are others than the ones that hold the inputs.
struct QueryFiles {
  std::vector<std::filesystem::path> files;  ///< One per sample, in their order.
  const Model* model = nullptr;              ///< Whose kind alone counts.
  QuerySettings settings;
};

/// Reads and binds all files (float64, physical units). Throws FileError, DataError.
/// @param pieces processes that read their pieces of each file (all of a mesh in one piece the
/// first
///   one) and call it together; null: each file is read as a whole
/// @param queries null: a sample is one mesh; never together with `pieces`
std::vector<Sample> load_samples(const std::vector<std::filesystem::path>& files,
                                 const Contract& contract, ProcessGroup* pieces = nullptr,
                                 const QueryFiles* queries = nullptr);

/// Reads the files and derives the contract: component counts from the first file, coordinates
/// along which the set has extent (centred on its bounding box, scaled to [-1, 1] along the longest
/// axis), statistics of inputs and targets, or the classes of these, ranges of points and
/// parameters. `coordinates` overrides the coordinate handling where it has axes. `pieces` as for
/// load_samples(): the contract is that of the whole meshes, the same in all processes. Of pairs
/// the coordinates are those of both meshes, the range of points is that of `files`.
VtkTrainingSet load_training_set(const std::vector<std::filesystem::path>& files,
                                 const ArrayChoice& arrays, const CoordinateHandling& coordinates,
                                 ProcessGroup* pieces = nullptr,
                                 const QueryFiles* queries = nullptr);

/// What classes of targets an operator does not have, gathered sample after sample.
class UnknownClasses {
 public:
  /// Throws as distinct_classes().
  void add(const Sample& sample, const Contract& contract);
  /// One per output that has any: "the class 7 of 'label'", "the classes 6, 7, 220 of 'label'".
  std::vector<std::string> texts() const;

 private:
  std::map<std::string, std::set<int>> values_;  ///< By the output's name.
};

/// Of several samples at once.
std::vector<std::string> unknown_classes(const std::vector<Sample>& samples,
                                         const Contract& contract);

/// The part of a data set folder that serves a purpose: FOLDER/train where there is one, else the
/// folder itself.
std::vector<std::filesystem::path> training_files(const std::filesystem::path& location);
/// FOLDER/valid, or nothing.
std::vector<std::filesystem::path> validation_files(const std::filesystem::path& location);
/// The test sets of a location, by name: FOLDER/test, FOLDER/test_x2, ... where there are any, else
/// the location itself.
std::vector<std::pair<std::string, std::vector<std::filesystem::path>>> test_sets(
    const std::filesystem::path& location);

/// What a data set's dataset.json says of its arrays: fills the members of `arrays` that say
/// nothing, `described_classes`, and the coordinate handling. Nothing where there is no such file.
/// Throws FileError if it is damaged.
void read_dataset_description(const std::filesystem::path& location, ArrayChoice& arrays,
                              CoordinateHandling& coordinates);

/// Where the description of a folder's samples is, if there is one.
std::filesystem::path dataset_description(const std::filesystem::path& location);

/// "FOLDER/dataset.json" where it is the folder above a location that describes its arrays; empty:
/// not so.
std::filesystem::path description_above(const std::filesystem::path& location);

/// Writes dataset.json.
/// @param generated what the samples were made by: {option: value as text}
void write_dataset_description(const std::filesystem::path& folder, const std::string& title,
                               const Contract& contract, const Json& generated = Json::object());

}  // namespace funcattn
