#pragma once

#include <filesystem>

#include "plugin/stage.h"

namespace funcattn {

/// Heat maps of the transport matrices, a row of maps per block and a column per head, each with a
/// colour range of its own, symmetric about 0. Throws FileError.
void draw_transports(const std::filesystem::path& path, const SampleInspection& inspection);

/// Singular values of the transports, divided by the largest of their head, and coverage of the
/// functions in descending order: two panels per block, a curve per head. Throws FileError.
void draw_spectra(const std::filesystem::path& path, const SampleInspection& inspection);

/// Softmax attention between points: what 0 to 100 per cent of the domain receive beside their
/// share, and how much of the domain a query attends to; two panels per block. Throws FileError.
void draw_attention(const std::filesystem::path& path, const SampleInspection& inspection);

}  // namespace funcattn
