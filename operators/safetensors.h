#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "core/json.h"
#include "operators/torch_compat.h"

namespace funcattn {

/// Content of a safetensors container: named tensors in file order and string metadata.
struct Safetensors {
  std::vector<std::pair<std::string, Tensor>> tensors;
  std::vector<std::pair<std::string, std::string>> metadata;

  /// nullptr where absent.
  const Tensor* find(const std::string& name) const;
  const std::string* find_metadata(const std::string& key) const;
};

/// Parses a container: F64, F32, F16, BF16, I64, I32, I16, I8, U8, BOOL. Header length, JSON,
/// dtypes, shapes and offsets are checked (in range, no overlap, no gap, matching sizes) before
/// any tensor is made. Tensors own their memory. Where the metadata holds the key "checksum" it is
/// verified over the whole file. Throws OperatorFileError that says what is wrong.
Safetensors read_safetensors(const std::filesystem::path& path);

/// Writes contiguous CPU copies atomically, with the metadata key "checksum" added: a CRC-64 of
/// the whole file in which the checksum's own digits count as zeros. Throws FileError.
void write_safetensors(const std::filesystem::path& path, const Safetensors& content);

}  // namespace funcattn
