#include <gtest/gtest.h>
#include <vtkFeatureEdges.h>
#include <vtkNew.h>
#include <vtkPointData.h>
#include <vtkPolyData.h>

#include <cmath>

#include "core/error.h"
#include "examples/parts/figure.h"
#include "examples/parts/parts_generation.h"

namespace funcattn {
namespace {

TEST(Figure, ItsSurfaceIsClosedAndHasTheNumberOfPoints) {
  RandomGenerator random(4);
  for (int sample = 0; sample < 5; ++sample) {
    const Figure figure(random);
    const Mesh surface = figure.surface(3000);
    EXPECT_NEAR(static_cast<double>(surface.count(Association::point)), 3000, 300);
    vtkNew<vtkFeatureEdges> open;
    open->SetInputData(surface.vtk());
    open->FeatureEdgesOff();
    open->NonManifoldEdgesOff();
    open->BoundaryEdgesOn();
    open->Update();
    EXPECT_EQ(open->GetOutput()->GetNumberOfCells(), 0);
    const RowMatrix places = surface.coordinates(Association::point);
    for (Eigen::Index i = 0; i < places.rows(); ++i)
      ASSERT_LT(std::abs(figure.distance(places.row(i).transpose())), 0.02);
  }
}

TEST(Figure, DistancesAndNormalsAreThoseOfTheSolids) {
  RandomGenerator random(4);
  const Figure figure(random);
  const Mesh surface = figure.surface(1000);
  const RowMatrix places = surface.coordinates(Association::point);
  for (Eigen::Index i = 0; i < places.rows(); ++i) {
    const Eigen::Vector3d place = places.row(i).transpose();
    const Eigen::Vector3d normal = figure.normal(place);
    ASSERT_NEAR(normal.norm(), 1, 1e-12);
    // A distance grows at most as fast as the way; along the normal, outside, just as fast.
    const double near = figure.distance(place + 0.03 * normal);
    ASSERT_LE(near - figure.distance(place), 0.03 + 1e-12);
  }
  EXPECT_LT(figure.distance({0, 0, 0}), 0);
  EXPECT_EQ(figure.part({0, 0, 0}), FigurePart::body);
  EXPECT_GT(figure.distance({0.95, 0.95, 0.95}), 0);
}

TEST(PartsGeneration, EveryPointHasOneOfFourParts) {
  const auto task = make_parts_generation();
  RandomGenerator random(9);
  const std::vector<Mesh> meshes = task->draw(1000, {{"test", 1, ""}, {"test_x4", 4, ""}}, random);
  std::vector<Eigen::VectorXd> shares;
  for (const Mesh& mesh : meshes) {
    const ArrayView label = mesh.array("label", Association::point);
    ASSERT_EQ(label.type(), ScalarType::int32);
    ASSERT_EQ(label.components(), 1);
    const RowMatrix values = label.to_double();
    shares.emplace_back(figure_parts);
    for (int part = 0; part < figure_parts; ++part)
      shares.back()[part] = (values.array() == part).cast<double>().mean();
    ASSERT_NEAR(shares.back().sum(), 1, 1e-12) << "no other value";
    EXPECT_GT(shares.back().minCoeff(), 0.03) << "each part is there";
  }
  EXPECT_LT((shares[0] - shares[1]).cwiseAbs().maxCoeff(), 0.03) << "one figure at two densities";
  EXPECT_THROW(task->validate(199), UsageError);
  const OutputArray output = task->contract().outputs.at(0);
  EXPECT_EQ(output.name, "label");
  EXPECT_EQ(output.classes, (std::vector<int>{0, 1, 2, 3}));
}

}  // namespace
}  // namespace funcattn
