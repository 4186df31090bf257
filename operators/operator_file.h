#pragma once

#include <filesystem>

#include "operators/operator.h"

// The operator file (docs/operator_file.md): a safetensors container whose metadata holds
// "format" = "funcattn-operator", "format_version" = "1", "checksum", "library_version", and the
// JSON texts "model", "contract", "training".

namespace funcattn {

inline constexpr int operator_format_version = 1;

/// Writes an operator atomically. Throws FileError; an older file of that name then still stands.
void save_operator(const std::filesystem::path& path, const Operator& op);

/// Reads and verifies an operator: checksum, version, model built from the stored configuration,
/// names, shapes and dtypes compared both ways, all before a weight is copied, and all weights
/// finite. Throws OperatorFileError.
Operator load_operator(const std::filesystem::path& path);

/// What `funcattn info` prints: format, model, contract, training, parameter count, file size.
/// Verifies the file as load_operator does.
Json describe_operator(const std::filesystem::path& path);

}  // namespace funcattn
