#include "meshio/density.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/error.h"
#include "core/random.h"
#include "meshio/quadrature.h"
#include "tests/meshio/mesh_samples.h"

namespace funcattn {
namespace {

/// Random points whose first `dimension` coordinates fill the unit cube, bent where asked.
RowMatrix random_cloud(Eigen::Index count, int dimension, bool bent) {
  RandomGenerator random(11);
  RowMatrix points = RowMatrix::Zero(count, 3);
  for (Eigen::Index i = 0; i < count; ++i) {
    for (int axis = 0; axis < dimension; ++axis) points(i, axis) = random.uniform();
    if (bent && dimension < 3) points(i, 2) = 0.3 * std::sin(3 * points(i, 0));
  }
  return points;
}

TEST(Density, DimensionOfTheCloud) {
  for (const bool bent : {false, true})
    for (const int dimension : {1, 2, 3})
      EXPECT_EQ(cloud_dimension(random_cloud(3000, dimension, bent)), dimension) << bent;
  RowMatrix grid(1000, 3);
  for (int i = 0; i < 1000; ++i) grid.row(i) << i % 10, i / 10 % 10, i / 100;
  EXPECT_EQ(cloud_dimension(grid), 3);
  EXPECT_EQ(cloud_dimension(grid.topRows(100)), 2);
  EXPECT_EQ(cloud_dimension(grid.topRows(10)), 1);
  EXPECT_EQ(cloud_dimension(grid.topRows(1)), 1);
  EXPECT_EQ(cloud_dimension(RowMatrix::Zero(5, 3)), 1);
}

// With a density that grows as x the plain mean of x over the points is 2/3, the integral 1/2.
TEST(Density, IntegratesOverAnUnevenCloud) {
  RandomGenerator random(3);
  RowMatrix points = RowMatrix::Zero(20000, 3);
  for (Eigen::Index i = 0; i < points.rows(); ++i)
    points.row(i) << std::sqrt(random.uniform()), random.uniform(), 0;
  const Mesh cloud = make_point_cloud(points, "cloud");
  const Eigen::VectorXd weights =
      quadrature_weights(cloud, Association::point, weight_choice_from_string("density"));
  EXPECT_NEAR(points.col(0).mean(), 2.0 / 3, 0.01);
  EXPECT_NEAR(weights.dot(points.col(0)) / weights.sum(), 0.5, 0.02);
  EXPECT_NEAR(weights.sum(), 1, 0.15) << "the area";
}

TEST(Density, EvenGridHasEvenWeightsInside) {
  RowMatrix grid(400, 3);
  for (int i = 0; i < 400; ++i) grid.row(i) << 0.5 * (i % 20), 0.5 * (i / 20), 7;
  const Eigen::VectorXd weights = density_weights(grid, Eigen::VectorXd::Ones(400));
  // Eight neighbours within sqrt(2) steps: pi 2 (1/2)^2 / 8.
  for (int row = 1; row < 19; ++row)
    for (int column = 1; column < 19; ++column)
      EXPECT_NEAR(weights[20 * row + column], M_PI / 16, 1e-12);
}

TEST(Density, SmallAndCoincidentClouds) {
  EXPECT_EQ(density_weights(RowMatrix::Zero(1, 3), Eigen::VectorXd::Ones(1)),
            Eigen::VectorXd::Ones(1));
  EXPECT_EQ(density_weights(RowMatrix::Zero(30, 3), Eigen::VectorXd::Ones(30)),
            Eigen::VectorXd::Ones(30));
  RowMatrix two(2, 3);
  two << 0, 0, 0, 2, 0, 0;
  EXPECT_EQ(density_weights(two, Eigen::VectorXd::Ones(2)), Eigen::VectorXd::Constant(2, 4));
  EXPECT_EQ(density_weights(two, Eigen::Vector2d(0, 1)), Eigen::Vector2d(0, 1));
}

TEST(Density, AbsentPointsAreNobodysNeighbours) {
  const RowMatrix points = random_cloud(200, 2, false);
  RowMatrix doubled(400, 3);
  doubled << points, points;
  Eigen::VectorXd present = Eigen::VectorXd::Ones(400);
  present.tail(200).setZero();
  const Eigen::VectorXd weights = density_weights(doubled, present);
  EXPECT_EQ(weights.head(200), density_weights(points, Eigen::VectorXd::Ones(200)));
  EXPECT_EQ(weights.tail(200), Eigen::VectorXd::Zero(200));
}

TEST(Density, PointsWithoutAPlaceWeighNothing) {
  RowMatrix points = random_cloud(50, 2, false);
  const Eigen::VectorXd others = density_weights(points.bottomRows(49), Eigen::VectorXd::Ones(49));
  points(0, 1) = NAN;
  const Mesh cloud = make_point_cloud(points, "cloud");
  const WeightChoice choice = weight_choice_from_string("density");
  const Eigen::VectorXd weights =
      quadrature_weights(cloud, Association::point, choice, NonFinitePlaces::weigh_nothing);
  EXPECT_EQ(weights[0], 0);
  EXPECT_EQ(weights.tail(49), others);
  expect_says(message_of<DataError>([&] { quadrature_weights(cloud, Association::point, choice); }),
              "cloud: the coordinates of the points hold NaN or Inf at 1 of 50 entries, the first "
              "at index 0");
}

}  // namespace
}  // namespace funcattn
