#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/json.h"
#include "operators/point_samples.h"
#include "operators/training/augmentation.h"

namespace funcattn {

/// Where training batches come from: a shuffled data set or a generator. Owns its random state.
class BatchSource {
 public:
  virtual ~BatchSource() = default;
  /// The next batch, physical units, float64 or the dtype of the model.
  virtual Batch next() = 0;
  /// Batches per pass over the data; 0 for a generator, which has no end.
  virtual std::int64_t batches_per_epoch() const = 0;
  /// Everything needed to continue with the same batches: an object with the text "kind", the
  /// random state and the position.
  virtual Json state() const = 0;
  /// Throws UsageError if this source cannot continue that state (other data, other batch size).
  /// Keys that are missing may surface as exceptions of the JSON library.
  virtual void restore(const Json& state) = 0;
};

/// All samples in memory, shuffled anew each epoch by an own generator; the last batch of an epoch
/// may be smaller. Each sample passes the augmentations in their order when it is drawn; they have
/// a generator of their own, so that the order of the samples does not depend on them. Throws
/// DataError without samples, UsageError for a batch size < 1.
std::unique_ptr<BatchSource> make_dataset_source(std::vector<Sample> samples, int batch_size,
                                                 std::uint64_t seed,
                                                 Augmentations augmentations = {});

}  // namespace funcattn
