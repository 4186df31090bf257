#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/json.h"
#include "operators/torch_compat.h"

namespace funcattn {

/// A tensor with its name, as it stands in a file or in a model.
using NamedTensor = std::pair<std::string, Tensor>;

/// Content of a safetensors container: named tensors in file order and string metadata.
struct Safetensors {
  std::vector<NamedTensor> tensors;
  std::vector<std::pair<std::string, std::string>> metadata;  ///< Sorted by key when read.

  /// nullptr where absent.
  const Tensor* find(const std::string& name) const;
  const std::string* find_metadata(const std::string& key) const;
};

/// Parses a container: F64, F32, F16, BF16, I64, I32, I16, I8, U8, BOOL. Header length, JSON,
/// dtypes, shapes and offsets are checked (in range, no overlap, no gap, matching sizes) before
/// any tensor is made; memory in use is proportional to the file's size whatever its header says.
/// Tensors own their memory. Where the metadata holds the key "checksum" it is verified over the
/// whole file. Throws OperatorFileError that says what is wrong, FileError where there is no file.
Safetensors read_safetensors(const std::filesystem::path& path);

/// The same for the bytes of a file that is already in memory; `where` names it in messages.
Safetensors parse_safetensors(std::string_view bytes, const std::string& where);

/// Writes contiguous CPU copies atomically, with the metadata key "checksum" added (one that is
/// there is replaced): a CRC-64/XZ of the whole file in which the checksum's own digits count as
/// the character 0. Tensors are laid out by falling element size, otherwise in the order given, so
/// that each is aligned. Throws FileError where the file cannot be written, UsageError for two
/// tensors of one name, a dtype that the format lacks, or text that is not UTF-8.
void write_safetensors(const std::filesystem::path& path, const Safetensors& content);

}  // namespace funcattn
