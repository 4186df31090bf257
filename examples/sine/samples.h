#pragma once

#include <memory>
#include <vector>

#include "examples/sine/functions.h"
#include "meshio/mesh.h"
#include "operators/contract.h"
#include "operators/model.h"
#include "operators/training/batch_source.h"

namespace funcattn {

/// Contract of a sine operator: coordinate x, input `y_context`, output `y`; with the input flag
/// `context` where the form separates source and query (few_shot), without it where the operator
/// sees all points (the value is then 0 where not shown).
Contract sine_contract(Form form);

/// The episode as a mesh: a poly-line on the x axis through grid and context points with the point
/// arrays `y`, `context` (0 or 1) and `y_context` (0 where not shown).
Mesh sine_mesh(const SineEpisode& episode);

/// The episode as tensors (float64). With a source flag in the contract the source is the context,
/// each point of weight 1; otherwise source and query are the grid. Query weights are those of the
/// trapezoidal rule, which are the measure weights of sine_mesh.
Sample sine_sample(const SineEpisode& episode, const Contract& contract);

/// Endless few-shot batches drawn on the fly: `batch` functions, a common K uniform in
/// [context_min, context_max], `queries` query points, a quarter of them drawn towards the ends of
/// the domain.
struct SineBatchOptions {
  SineDomain domain;
  int batch = 8;
  int context_min = 4;
  int context_max = 40;
  int queries = 200;
  std::uint64_t seed = 0;
  torch::Dtype dtype = torch::kFloat64;
};
std::unique_ptr<BatchSource> make_sine_batches(const SineBatchOptions& options);

}  // namespace funcattn
