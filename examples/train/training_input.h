#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "core/json.h"
#include "examples/pairs.h"
#include "examples/train/train_settings.h"
#include "operators/training/augmentation.h"
#include "operators/training/batch_source.h"
#include "operators/training/loss.h"
#include "plugin/cli/console.h"

namespace funcattn {

/// What a run of training learns from.
struct TrainingInput {
  Contract contract;
  std::unique_ptr<BatchSource> batches;
  std::vector<Sample> validation;
  Loss loss = Loss::relative_l2;
  /// Of the data, what the operator's record tells beside the options of every run.
  Json record = Json::object();
};

/// A model that is like the operator's but for what the data decide. Throws UsageError.
std::shared_ptr<Model> model_of_kind(const Recipe& recipe);

/// Reads it, as the settings say.
class TrainingReader {
 public:
  /// @param settings which must outlive this
  /// @param processes that share the samples, @param pieces that hold pieces of each; null: none do
  TrainingReader(const TrainSettings& settings, ProcessGroup* processes, ProcessGroup* pieces)
      : options_(settings), processes_(processes), pieces_(pieces) {}

  TrainingInput task(const Recipe& recipe) const;
  /// Throws FileError, DataError, UsageError; MemoryError where the classes are too many.
  TrainingInput files(const Recipe& recipe, Console& console) const;

 private:
  std::vector<Sample> share_of(std::vector<Sample> all) const;
  SampleFiles share_of(SampleFiles all) const;
  Json data_record() const;
  std::pair<SampleFiles, SampleFiles> sample_files(Json& record, Console& console) const;
  Loss loss_for(const Recipe& recipe, const ArrayChoice& arrays) const;
  void tell_of_description(const ArrayChoice& arrays, Console& console) const;
  void check_class_counts(const VtkTrainingSet& set, const Recipe& recipe, Console& console) const;
  Augmentations augment(Contract& contract) const;
  void refuse_to_replace(const std::filesystem::path& sample) const;
  void refuse_to_replace_lists() const;

  const TrainSettings& options_;
  ProcessGroup* processes_;
  ProcessGroup* pieces_;
};

}  // namespace funcattn
