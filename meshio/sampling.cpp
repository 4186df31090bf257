#include "meshio/sampling.h"

#include <vtkDataSetAttributes.h>
#include <vtkNew.h>
#include <vtkStaticPointLocator.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/text.h"
#include "meshio/non_finite.h"
#include "meshio/refinement.h"
#include "meshio/structured_resampling.h"
#include "meshio/subset.h"

namespace funcattn {

namespace {

/// Whole numbers below this could be meant as factors.
constexpr std::int64_t fewest_points = 10;
/// A slip of the keyboard beyond.
constexpr int largest_factor = 10000;

[[noreturn]] void throw_resampling(const std::string& text, const std::string& expected) {
  throw UsageError("resampling to '" + text + "': expected " + expected);
}

/// Of `size` rows, of which `count` > 1 are chosen, those of the first half: at least as many rows
/// as are to be chosen on either side.
std::int64_t first_half(std::int64_t size, std::int64_t count) {
  const std::int64_t half = count / 2;
  const auto rows = static_cast<std::int64_t>(
      static_cast<double>(size) * static_cast<double>(half) / static_cast<double>(count));
  return std::clamp(rows, half, size - (count - half));
}

/// Halves the rows along the longest edge of their box, and the number to choose with them, until
/// one is to be chosen, at random. (vtkMaskPoints does so too, from VTK's process-wide generator:
/// results would depend on what else runs, and change it for the host.)
void choose_evenly(const RowMatrix& coordinates, Eigen::Index* begin, Eigen::Index* end,
                   std::int64_t count, RandomGenerator& random, std::vector<Eigen::Index>& chosen) {
  const auto size = static_cast<std::uint64_t>(end - begin);
  if (count == 1) {
    chosen.push_back(begin[random.below(size)]);
    return;
  }
  Eigen::RowVector3d low = coordinates.row(*begin);
  Eigen::RowVector3d high = low;
  for (const Eigen::Index* row = begin; row != end; ++row) {
    low = low.cwiseMin(coordinates.row(*row));
    high = high.cwiseMax(coordinates.row(*row));
  }
  Eigen::Index axis;
  (high - low).maxCoeff(&axis);
  const std::int64_t half = count / 2;
  Eigen::Index* middle = begin + first_half(end - begin, count);
  std::nth_element(begin, middle, end, [&](Eigen::Index a, Eigen::Index b) {
    const double at_a = coordinates(a, axis);
    const double at_b = coordinates(b, axis);
    return at_a != at_b ? at_a < at_b : a < b;
  });
  choose_evenly(coordinates, begin, middle, half, random, chosen);
  choose_evenly(coordinates, middle, end, count - half, random, chosen);
}

void skip_even_choice(std::int64_t size, std::int64_t count, RandomGenerator& random) {
  if (count == 1) {
    (void)random.below(static_cast<std::uint64_t>(size));
    return;
  }
  const std::int64_t first = first_half(size, count);
  skip_even_choice(first, count / 2, random);
  skip_even_choice(size - first, count - count / 2, random);
}

}  // namespace

std::vector<Eigen::Index> choose_rows(const RowMatrix& coordinates, std::vector<Eigen::Index> rows,
                                      std::int64_t count, SamplingMethod method,
                                      RandomGenerator& random) {
  if (static_cast<std::size_t>(count) < rows.size()) {
    if (method == SamplingMethod::even) {
      std::vector<Eigen::Index> chosen;
      choose_evenly(coordinates, rows.data(), rows.data() + rows.size(), count, random, chosen);
      rows = std::move(chosen);
    } else {
      for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i)
        std::swap(rows[i], rows[i + random.below(rows.size() - i)]);
      rows.resize(static_cast<std::size_t>(count));
    }
  }
  std::sort(rows.begin(), rows.end());
  return rows;
}

void skip_choice(std::int64_t rows, std::int64_t count, SamplingMethod method,
                 RandomGenerator& random) {
  if (count >= rows) return;
  if (method == SamplingMethod::even) return skip_even_choice(rows, count, random);
  for (std::int64_t i = 0; i < count; ++i) (void)random.below(static_cast<std::uint64_t>(rows - i));
}

Eigen::VectorXd subset_weights(const RowMatrix& coordinates, const Eigen::VectorXd& weights,
                               const std::vector<Eigen::Index>& chosen) {
  RowMatrix places(static_cast<Eigen::Index>(chosen.size()), 3);
  for (Eigen::Index i = 0; i < places.rows(); ++i)
    places.row(i) = coordinates.row(chosen[static_cast<std::size_t>(i)]);
  const Mesh cloud = make_point_cloud(places, "subset");
  vtkNew<vtkStaticPointLocator> locator;
  locator->SetDataSet(cloud.vtk());
  locator->BuildLocator();
  Eigen::VectorXd sums = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(chosen.size()));
  for (Eigen::Index row = 0; row < weights.size(); ++row)
    if (weights[row] > 0)
      sums[locator->FindClosestPoint(coordinates.row(row).data())] += weights[row];
  return sums;
}

namespace {

/// Nothing is near such a place, nor between it and another.
void refuse_non_finite_places(const Mesh& leaf, Association association,
                              const RowMatrix& coordinates) {
  Eigen::Index count = 0;
  Eigen::Index first = -1;
  for (Eigen::Index row = 0; row < coordinates.rows(); ++row) {
    if (coordinates.row(row).allFinite()) continue;
    if (first < 0) first = row;
    ++count;
  }
  if (count > 0)
    throw DataError(describe_non_finite(
        leaf.origin() + ": the coordinates of the " + to_string(association) + "s hold", count,
        coordinates.rows(), first, "repair or remove them before the resampling"));
}

Mesh take_subset(const Mesh& leaf, Association association, std::int64_t count,
                 const Resampling& resampling, const WeightChoice& weight_choice) {
  const RowMatrix coordinates = leaf.coordinates(association);
  refuse_non_finite_places(leaf, association, coordinates);
  if (leaf.has_array(sampling_weights_name, association))
    throw DataError(leaf.origin() + ": there is a " + to_string(association) + " array '" +
                    sampling_weights_name +
                    "', which would receive the weights of the subset; rename it");
  const Eigen::VectorXd weights = quadrature_weights(leaf, association, weight_choice);
  const Eigen::VectorXd presence = leaf.presence(association);
  std::vector<Eigen::Index> rows;
  for (Eigen::Index row = 0; row < presence.size(); ++row)
    if (presence[row] > 0) rows.push_back(row);
  RandomGenerator random(resampling.seed);
  const std::vector<Eigen::Index> chosen =
      choose_rows(coordinates, std::move(rows), count, resampling.method, random);

  KeepMask kept(static_cast<std::size_t>(presence.size()), false);
  for (const Eigen::Index row : chosen) kept[static_cast<std::size_t>(row)] = true;
  const Mesh subset =
      association == Association::point ? keep_points_as_cloud(leaf, kept) : keep_cells(leaf, kept);
  return subset.with_array({sampling_weights_name, association, 1, ""},
                           RowMatrix(subset_weights(coordinates, weights, chosen)));
}

void refuse_ghosts(const Mesh& leaf) {
  for (const Association association : {Association::point, Association::cell})
    if (leaf.has_array(vtkDataSetAttributes::GhostArrayName(), association))
      throw DataError(leaf.origin() + ": the mesh marks ghost or hidden " + to_string(association) +
                      "s, which have no meaning between points; resample it without them");
}

/// Points (or cells) that a leaf of `present` shall have, of a tree of `total`.
std::int64_t wanted(std::int64_t present, std::int64_t total, const Resampling& resampling) {
  const double factor = resampling.factor > 0
                            ? resampling.factor
                            : static_cast<double>(resampling.count) / static_cast<double>(total);
  return std::max<std::int64_t>(1, std::llround(static_cast<double>(present) * factor));
}

}  // namespace

Resampling resampling_from_string(const std::string& text) {
  const std::string forms =
      "a factor (x2, x0.5 or 0.5; at most x" + std::to_string(largest_factor) +
      ") or a whole number of points (5000; at least " + std::to_string(fewest_points) + ")";
  const bool marked = !text.empty() && text.front() == 'x';
  const std::string number = marked ? text.substr(1) : text;
  // Signs and exponents are left to no one's interpretation.
  const bool is_plain =
      !number.empty() && number.find_first_not_of("0123456789.") == std::string::npos;
  const auto value = is_plain ? parse_double(number) : std::nullopt;
  if (!value) throw_resampling(text, forms);
  Resampling resampling;
  if (!marked && number.find('.') == std::string::npos) {
    const auto count = parse_integer(number);
    if (!count) throw_resampling(text, forms + "; that is more than can be counted");
    if (*count < fewest_points)
      throw_resampling(text, *count > 0 ? forms + "; for a factor write 'x" + text + "'" : forms);
    resampling.count = *count;
    return resampling;
  }
  if (!marked && *value >= 1)
    throw_resampling(text, forms + "; write 'x" + text + "' for a factor, '" +
                               std::to_string(std::llround(std::min(*value, 1e18))) +
                               "' for a number of points");
  if (!(*value > 0) || *value > largest_factor) throw_resampling(text, forms);
  resampling.factor = *value;
  return resampling;
}

ResampledTree resample(const MeshTree& tree, Association association, const Resampling& resampling,
                       const WeightChoice& weights) {
  std::int64_t total = 0;
  for (const Mesh& leaf : tree.leaves()) total += leaf.count(association);
  const bool finer = resampling.factor > 0 ? resampling.factor > 1 : resampling.count > total;
  if (static_cast<double>(resampling.count) > static_cast<double>(total) * largest_factor &&
      total > 0)
    throw DataError(tree.origin() + ": " + std::to_string(resampling.count) + " " +
                    to_string(association) + "s are more than " + std::to_string(largest_factor) +
                    " times the " + std::to_string(total) + " that it has; ask for fewer");
  std::vector<Mesh> leaves;
  bool has_weights = false;
  for (const Mesh& leaf : tree.leaves()) {
    const std::int64_t present = leaf.count(association);
    const std::int64_t target = wanted(std::max<std::int64_t>(present, 1), total, resampling);
    if (present == 0 || target == present) {
      leaves.push_back(leaf);
    } else if (is_structured(leaf) && structured_dimension(leaf) > 0 &&
               (finer || resampling.method == SamplingMethod::even)) {
      refuse_ghosts(leaf);
      const double factor = static_cast<double>(target) / static_cast<double>(present);
      leaves.push_back(
          resample_structured(leaf, std::pow(factor, 1.0 / structured_dimension(leaf))));
    } else if (finer) {
      refuse_ghosts(leaf);
      refuse_non_finite_places(leaf, Association::point, leaf.coordinates(Association::point));
      const double factor = static_cast<double>(target) / static_cast<double>(present);
      leaves.push_back(
          refine(leaf, std::llround(static_cast<double>(leaf.count(Association::point)) * factor)));
    } else {
      leaves.push_back(take_subset(leaf, association, target, resampling, weights));
      has_weights = true;
    }
  }
  // Parts that keep their cells, or are empty, stand beside subsets.
  for (Mesh& leaf : leaves)
    if (has_weights && !leaf.has_array(sampling_weights_name, association))
      leaf = leaf.with_array({sampling_weights_name, association, 1, ""},
                             leaf.count(association) == 0
                                 ? RowMatrix(0, 1)
                                 : RowMatrix(quadrature_weights(leaf, association, weights)));
  return {tree.with_leaves(std::move(leaves)), has_weights};
}

}  // namespace funcattn
