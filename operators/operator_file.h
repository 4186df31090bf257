#pragma once

#include <filesystem>

#include "operators/operator.h"

// The operator file (docs/operator_file.md): a safetensors container whose metadata holds
// "format" = "funcattn-operator", "format_version" = "1", "checksum", "library_version", "dtype",
// and the JSON texts "model", "contract", "training".

namespace funcattn {

inline constexpr int operator_format_version = 1;

/// Writes an operator atomically. Throws FileError, NumericError if a weight is not finite; an
/// older file of that name then still stands. What is not UTF-8 in training() is replaced.
void save_operator(const std::filesystem::path& path, const Operator& op);

/// Reads and verifies an operator: checksum, version, sizes against the file's, model built from
/// the stored configuration, names, shapes and dtypes compared both ways, all before a weight is
/// copied, and all weights finite. The model is on the CPU. Throws OperatorFileError, FileError
/// where there is no such file.
Operator load_operator(const std::filesystem::path& path);

/// The header of an operator file, which holds a checksum: the same for equal files alone.
std::string operator_file_header(const std::filesystem::path& path);

/// What `funcattn info` prints: `file`, `size` (bytes), `format_version`, `library_version` (that
/// wrote it), `checksum`, `form`, `parameters` (count), `dtype`, `model`, `contract`, `training`.
/// Verifies the file as load_operator does.
Json describe_operator(const std::filesystem::path& path);

}  // namespace funcattn
