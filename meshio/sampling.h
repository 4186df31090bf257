#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/random.h"
#include "meshio/mesh_tree.h"
#include "meshio/quadrature.h"

namespace funcattn {

enum class SamplingMethod {
  even,    ///< spread over the mesh: one point of each of as many boxes of equal size in points
  random,  ///< every point equally likely
};

/// How many points (or cells) a mesh shall have.
struct Resampling {
  double factor = 0;       ///< Of what there is; 0 where `count` says it.
  std::int64_t count = 0;  ///< 0 where `factor` says it.
  SamplingMethod method = SamplingMethod::even;
  std::uint64_t seed = 0;  ///< Of both methods.
};

/// "x2", "x0.5", and below 1 also "0.5": a factor, at most x10000; digits alone ("5000"): a number
/// of points, at least 10. All else could be misread and is refused: "2", "100.0", "1e3". Throws
/// UsageError.
Resampling resampling_from_string(const std::string& text);

/// `count` of the rows given, sorted; all of them where there are no more.
/// @param coordinates finite at those rows @param count > 0
std::vector<Eigen::Index> choose_rows(const RowMatrix& coordinates, std::vector<Eigen::Index> rows,
                                      std::int64_t count, SamplingMethod method,
                                      RandomGenerator& random);

/// Draws what choose_rows() would of so many rows.
void skip_choice(std::int64_t rows, std::int64_t count, SamplingMethod method,
                 RandomGenerator& random);

/// Weights of a subset: each row of positive weight hands its own to the nearest one chosen.
/// @param weights one per row of `coordinates` @return one per row chosen
Eigen::VectorXd subset_weights(const RowMatrix& coordinates, const Eigen::VectorXd& weights,
                               const std::vector<Eigen::Index>& chosen);

/// Name of the array that holds the weights of a subset, see resample().
inline constexpr const char* sampling_weights_name = "sampling_weights";

struct ResampledTree {
  MeshTree tree;
  bool has_weights = false;  ///< The leaves have the array `sampling_weights_name`.
};

/// The tree with more or fewer points (cells, where `association` says so).
///
/// More: by refine() and resample_structured(); a subdivided mesh has at least what was asked for.
/// Fewer: images and grids are resampled on a coarser lattice (method `even`); of everything else a
/// subset remains, points as a cloud of vertices, cells as they are. Every point of a subset stands
/// for the points of its leaf that are nearer to it than to the others, and has the sum of their
/// `weights`. Ghosts are never chosen. A number is shared out among the leaves by their sizes;
/// leaves that have the right number stay as they are. Throws DataError for meshes that cannot be
/// refined, or have ghosts or hidden points and shall be, for more than 10000 times what there is,
/// and for more points than this machine's memory can hold.
ResampledTree resample(const MeshTree& tree, Association association, const Resampling& resampling,
                       const WeightChoice& weights);

}  // namespace funcattn
