#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "operators/published.h"

// What sizes the weights of a published implementation have. Internal to the import.

namespace funcattn {

/// The parameters of a published weight file under their bare names.
class PublishedWeights {
 public:
  explicit PublishedWeights(const Safetensors& file);

  const std::vector<NamedTensor>& tensors() const { return tensors_; }
  /// Length of an axis. Throws OperatorFileError if the tensor is missing or has fewer axes.
  int size(const std::string& name, int axis) const;
  std::int64_t element_count(const std::string& name) const;
  /// 1 + the largest number N for which a name begins with "<prefix>N."; 0 where none does.
  int count(const std::string& prefix) const;

 private:
  const Tensor& at(const std::string& name) const;
  std::vector<NamedTensor> tensors_;
};

/// The configuration of the model that the weights belong to, from their shapes, the metadata and
/// the options (see ImportOptions). Throws as import_published.
ModelConfig published_config(const PublishedWeights& weights, const Safetensors& file, Form form,
                             const ImportOptions& options);

}  // namespace funcattn
