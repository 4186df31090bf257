#pragma once

#include "plugin/cli/command.h"

// The subcommands of funcattn_engine_bench. Each measures one thing in a fresh process and prints
// one JSON object; bench/engine.py puts them side by side with eager PyTorch.

namespace funcattn {

/// Writes an operator with weights of trained scale.
std::unique_ptr<Command> make_operator_command();
/// Writes a .vtu file: a triangulated surface in the unit cube.
std::unique_ptr<Command> make_mesh_command();
/// Time and memory of Operator::apply.
std::unique_ptr<Command> make_inference_command();
/// Time and memory of training steps.
std::unique_ptr<Command> make_training_command();
/// Rate of square float32 matrix products.
std::unique_ptr<Command> make_matrix_command();
/// Phases of a stage from file to file.
std::unique_ptr<Command> make_stage_command();

}  // namespace funcattn
