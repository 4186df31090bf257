#include "examples/darcy/darcy_generation.h"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <algorithm>
#include <array>
#include <cmath>

#include "core/error.h"
#include "examples/darcy/finite_elements.h"
#include "examples/darcy/gaussian_field.h"
#include "examples/darcy/triangulation.h"
#include "meshio/quadrature.h"

namespace funcattn {
namespace {

using Eigen::Vector2d;
constexpr double pi = 3.14159265358979323846;

// A manufactured solution with a permeability that varies.
double solution(const Vector2d& p) {
  return std::sin(pi * p.x()) * std::sin(2 * pi * p.y()) + p.x() * p.y();
}
Vector2d gradient(const Vector2d& p) {
  return {pi * std::cos(pi * p.x()) * std::sin(2 * pi * p.y()) + p.y(),
          2 * pi * std::sin(pi * p.x()) * std::cos(2 * pi * p.y()) + p.x()};
}
double permeability(const Vector2d& p) {
  return 1 + p.x() + p.y() * p.y();
}
double source(const Vector2d& p) {
  const double laplacian = -5 * pi * pi * std::sin(pi * p.x()) * std::sin(2 * pi * p.y());
  return -(gradient(p).x() + 2 * p.y() * gradient(p).y() + permeability(p) * laplacian);
}

struct Errors {
  double l2 = 0, h1 = 0;
};

/// Of the linear function, by a rule of degree 4 on each triangle.
Errors solve_and_measure(const TriangleMesh& mesh) {
  const auto centres = mesh.centres();
  Eigen::VectorXd a(centres.rows());
  for (Eigen::Index t = 0; t < a.size(); ++t) a[t] = permeability(centres.row(t).transpose());
  const Eigen::VectorXd u = solve_darcy(mesh, a, source, solution);
  Errors errors;
  for (Eigen::Index t = 0; t < mesh.triangles.rows(); ++t) {
    std::array<Vector2d, 3> p;
    Eigen::Vector3d value;
    for (int i = 0; i < 3; ++i) {
      p[static_cast<std::size_t>(i)] = mesh.points.row(mesh.triangles(t, i)).transpose();
      value[i] = u[mesh.triangles(t, i)];
    }
    Eigen::Matrix2d edges;
    edges << (p[1] - p[0]).transpose(), (p[2] - p[0]).transpose();
    const double area = edges.determinant() / 2;
    const Vector2d slope = edges.inverse() * Vector2d(value[1] - value[0], value[2] - value[0]);
    for (const auto& [place, weight] : {std::pair(0.445948490915965, 0.223381589678011),
                                        std::pair(0.091576213509771, 0.109951743655322)})
      for (int corner = 0; corner < 3; ++corner) {
        Eigen::Vector3d barycentric = Eigen::Vector3d::Constant(place);
        barycentric[corner] = 1 - 2 * place;
        const Vector2d at = barycentric[0] * p[0] + barycentric[1] * p[1] + barycentric[2] * p[2];
        errors.l2 += area * weight * std::pow(barycentric.dot(value) - solution(at), 2);
        errors.h1 += area * weight * (slope - gradient(at)).squaredNorm();
      }
  }
  return {std::sqrt(errors.l2), std::sqrt(errors.h1)};
}

/// n x n squares, each cut in two.
TriangleMesh regular(int n) {
  TriangleMesh mesh;
  mesh.points.resize((n + 1) * (n + 1), 2);
  mesh.triangles.resize(2 * n * n, 3);
  for (int i = 0; i <= n; ++i)
    for (int j = 0; j <= n; ++j) {
      mesh.points.row(i * (n + 1) + j) << static_cast<double>(j) / n, static_cast<double>(i) / n;
      mesh.on_boundary.push_back(i == 0 || j == 0 || i == n || j == n);
    }
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      const int corner = i * (n + 1) + j;
      mesh.triangles.row(2 * (i * n + j)) << corner, corner + 1, corner + n + 2;
      mesh.triangles.row(2 * (i * n + j) + 1) << corner, corner + n + 2, corner + n + 1;
    }
  return mesh;
}

TEST(DarcyElements, ConvergeAtSecondOrderOnRegularMeshes) {
  const Errors coarse = solve_and_measure(regular(32)), fine = solve_and_measure(regular(64));
  EXPECT_NEAR(std::log2(coarse.l2 / fine.l2), 2, 0.02);
  EXPECT_NEAR(std::log2(coarse.h1 / fine.h1), 1, 0.02);
  EXPECT_LT(fine.l2, 2e-3);
}

// Meshes of one family are not refinements of each other: the rates scatter a little.
TEST(DarcyElements, ConvergeAtSecondOrderOnTheMeshesOfTheTask) {
  for (const bool notched : {false, true})
    for (const Spacing spacing : {Spacing::uniform, Spacing::graded}) {
      DarcyDomain domain;
      domain.notched = notched;
      RandomGenerator random(7);
      const Errors coarse = solve_and_measure(triangulate(domain, spacing, 1000, random));
      const Errors fine = solve_and_measure(triangulate(domain, spacing, 16000, random));
      // Sixteen times the points: a quarter of the spacing.
      EXPECT_NEAR(std::log2(coarse.l2 / fine.l2) / 2, 2, 0.15) << notched;
      EXPECT_NEAR(std::log2(coarse.h1 / fine.h1) / 2, 1, 0.1) << notched;
    }
}

TEST(DarcyElements, RefuseAPermeabilityThatIsNone) {
  const TriangleMesh mesh = regular(2);
  Eigen::VectorXd a = Eigen::VectorXd::Ones(8);
  a[5] = 0;
  try {
    solve_darcy(mesh, a, source, solution);
    FAIL() << "nothing was thrown";
  } catch (const NumericError& error) {
    EXPECT_NE(std::string(error.what()).find("permeability of triangle 5 is 0"), std::string::npos)
        << error.what();
  }
}

double least_angle(const TriangleMesh& mesh) {
  double least = 180;
  for (Eigen::Index t = 0; t < mesh.triangles.rows(); ++t)
    for (int i = 0; i < 3; ++i) {
      const Vector2d at = mesh.points.row(mesh.triangles(t, i)).transpose();
      const Vector2d a = mesh.points.row(mesh.triangles(t, (i + 1) % 3)).transpose() - at;
      const Vector2d b = mesh.points.row(mesh.triangles(t, (i + 2) % 3)).transpose() - at;
      least = std::min(least, std::acos(a.dot(b) / a.norm() / b.norm()) * 180 / pi);
    }
  return least;
}

TEST(Triangulation, HasTheNumberOfPointsAndGoodTriangles) {
  for (const bool notched : {false, true})
    for (const Spacing spacing : {Spacing::uniform, Spacing::graded})
      for (const int points : {100, 800, 12800}) {
        DarcyDomain domain;
        domain.notched = notched;
        domain.notch_place = 0.37;
        RandomGenerator random(11);
        const TriangleMesh mesh = triangulate(domain, spacing, points, random);
        EXPECT_NEAR(static_cast<double>(mesh.points.rows()) / points, 1, points < 800 ? 0.2 : 0.05)
            << notched << points;
        // The angle at the notch's corners is 78.7 degrees; Delaunay does the rest.
        EXPECT_GT(least_angle(mesh), points < 800 ? 12 : 20) << notched << points;
      }
}

TEST(Triangulation, IsFinerTowardsTheNotchWhereGraded) {
  DarcyDomain domain;
  domain.notched = true;
  const auto near_the_tip = [&](Spacing spacing) {
    RandomGenerator random(3);
    const TriangleMesh mesh = triangulate(domain, spacing, 2000, random);
    int count = 0;
    for (Eigen::Index i = 0; i < mesh.points.rows(); ++i)
      count += (mesh.points.row(i).transpose() - domain.focus()).norm() < 0.05;
    return count;
  };
  EXPECT_GT(near_the_tip(Spacing::graded), 7 * near_the_tip(Spacing::uniform));
}

TEST(Triangulation, AMovedNotchStaysAMeshOfItsDomain) {
  DarcyDomain from, to;
  from.notched = to.notched = true;
  to.notch_place = 0.28;
  RandomGenerator random(3);
  const TriangleMesh mesh = move_notch(triangulate(from, Spacing::graded, 800, random), from, to);
  double area = 0;
  for (Eigen::Index t = 0; t < mesh.triangles.rows(); ++t) {
    const Vector2d a =
        mesh.points.row(mesh.triangles(t, 1)) - mesh.points.row(mesh.triangles(t, 0));
    const Vector2d b =
        mesh.points.row(mesh.triangles(t, 2)) - mesh.points.row(mesh.triangles(t, 0));
    const double twice = a.x() * b.y() - a.y() * b.x();
    EXPECT_GT(twice, 0);
    area += twice / 2;
  }
  EXPECT_NEAR(area, 0.95, 1e-12);
}

TEST(Triangulation, RefusesAHandfulOfPoints) {
  RandomGenerator random(3);
  EXPECT_THROW(triangulate(DarcyDomain(), Spacing::uniform, 19, random), UsageError);
}

TEST(GaussianField, HasUnitVarianceAndIsAFunctionOfThePlace) {
  Eigen::Matrix<double, Eigen::Dynamic, 2, Eigen::RowMajor> grid(400, 2), one(1, 2);
  for (int i = 0; i < 400; ++i) grid.row(i) << (i % 20 + 0.5) / 20, (i / 20 + 0.5) / 20;
  one = grid.row(137);
  RandomGenerator random(2);
  double square = 0;
  const int draws = 2000;
  for (int i = 0; i < draws; ++i) {
    const GaussianField field(1.0 / 3, 16, random);
    const Eigen::VectorXd values = field.at(grid);
    square += values.squaredNorm() / 400 / draws;
    if (i == 0) {
      EXPECT_NEAR(field.at(one)[0], values[137], 1e-12);
    }
  }
  EXPECT_NEAR(square, 1, 0.05);
}

RowMatrix values(const Mesh& mesh, const std::string& name, Association where) {
  return mesh.array(name, where).to_double();
}

double mean(const Mesh& mesh, const std::string& name) {
  const Eigen::VectorXd weights =
      quadrature_weights(mesh, Association::point, {WeightKind::measure, ""});
  return weights.dot(values(mesh, name, Association::point).col(0)) / weights.sum();
}

/// The task with some of its options given.
class DarcyTask {
 public:
  explicit DarcyTask(const std::vector<std::string>& arguments) : task_(make_darcy_generation()) {
    task_->describe(table_);
    table_.parse(arguments);
  }
  GeneratedTask* operator->() const { return task_.get(); }

 private:
  std::unique_ptr<GeneratedTask> task_;
  OptionTable table_;
};

TEST(DarcyGeneration, ASampleIsTheSameOnEveryMesh) {
  const DarcyTask task({"--domain", "notch", "--permeability", "two-phase"});
  RandomGenerator random(3), alone(3);
  const std::vector<Mesh> meshes =
      task->draw(200, {{"test", 1, ""}, {"test_x4", 4, ""}, {"test_graded", 1, "graded"}}, random);
  const Mesh single = task->draw(200, {{"test_x4", 4, ""}}, alone).front();
  EXPECT_EQ(random.next(), alone.next()) << "the next sample does not depend on the sets";
  EXPECT_EQ(values(single, "pressure", Association::point),
            values(meshes[1], "pressure", Association::point));
  for (const Mesh& mesh : meshes) {
    // The linear function on 200 points lies below the one on 800 where pressure is concave.
    EXPECT_NEAR(mean(mesh, "pressure") / mean(meshes[1], "pressure"), 1, 0.06);
    EXPECT_NEAR(values(mesh, "pressure", Association::point).maxCoeff() /
                    values(meshes[1], "pressure", Association::point).maxCoeff(),
                1, 0.02);
    const RowMatrix a = values(mesh, "permeability", Association::point);
    for (Eigen::Index i = 0; i < a.rows(); ++i) EXPECT_TRUE(a(i, 0) == 3 || a(i, 0) == 12);
    EXPECT_EQ(values(mesh, "pressure", Association::point).minCoeff(), 0);
  }
}

TEST(DarcyGeneration, TheOwnSolutionIsNearTheReference) {
  const DarcyTask own({"--solution", "own"}), reference({});
  RandomGenerator one(5), other(5);
  const RowMatrix a =
      values(own->draw(800, {{"test", 1, ""}}, one).front(), "pressure", Association::point);
  const RowMatrix b = values(reference->draw(800, {{"test", 1, ""}}, other).front(), "pressure",
                             Association::point);
  ASSERT_EQ(a.rows(), b.rows());
  EXPECT_LT((a - b).norm(), 0.02 * b.norm());
  EXPECT_GT((a - b).norm(), 1e-4 * b.norm()) << "they are two solutions";
}

TEST(DarcyGeneration, CellArraysAreValuesAtTheCentres) {
  const DarcyTask cells({"--association", "cell"}), points({});
  RandomGenerator one(5), other(5);
  const Mesh of_cells = cells->draw(400, {{"test", 1, ""}}, one).front();
  const Mesh of_points = points->draw(400, {{"test", 1, ""}}, other).front();
  EXPECT_EQ(cells->contract().association(), Association::cell);
  EXPECT_FALSE(of_cells.has_array("pressure", Association::point));
  const RowMatrix p = values(of_cells, "pressure", Association::cell);
  const Eigen::VectorXd areas =
      quadrature_weights(of_cells, Association::cell, {WeightKind::measure, ""});
  EXPECT_NEAR(areas.dot(p.col(0)) / areas.sum() / mean(of_points, "pressure"), 1, 0.03);
}

}  // namespace
}  // namespace funcattn
