#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "core/json.h"
#include "core/process_group.h"
#include "operators/point_samples.h"
#include "operators/training/augmentation.h"

namespace funcattn {

/// What the processes of a training run share out.
enum class Parallel {
  samples,  ///< The samples of every batch.
  domain,   ///< The points of every sample: each process holds its pieces of all of them.
};

/// What one of several processes takes of things that all share out: as many as the others or one
/// more or less, one after the other.
struct Share {
  int process = 0;
  int processes = 1;

  /// Of `count` things: from the first up to the second.
  std::pair<std::size_t, std::size_t> of(std::size_t count) const;
};

/// Where training batches come from: a shuffled data set or a generator. Owns its random state.
class BatchSource {
 public:
  virtual ~BatchSource() = default;
  /// The next batch, physical units, float64 or the dtype of the model; of a share of it, which may
  /// be none of its samples: a batch without names then.
  virtual Batch next() = 0;
  /// From now on next() gives a share of each batch. What all processes get together, and the
  /// state, are those of the source without shares. A source that knows no shares gives every
  /// process the whole batch, of which the mean over samples is the same.
  virtual void take_share(const Share&) {}
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
/// @param pieces the processes that hold the other pieces of the samples, which call it together;
///   null: the samples are whole
std::unique_ptr<BatchSource> make_dataset_source(std::vector<Sample> samples, int batch_size,
                                                 std::uint64_t seed,
                                                 Augmentations augmentations = {},
                                                 ProcessGroup* pieces = nullptr);

}  // namespace funcattn
