#include "operators/training/augmentation.h"

#include <set>

#include "operators/training/batch_source.h"
#include "tests/operators/training/fixtures.h"

namespace funcattn {
namespace {

using test::message_of;

Contract plane_contract(std::vector<double> low, std::vector<double> high) {
  Contract contract = test::pointwise_contract();
  contract.coordinates.axes.clear();
  contract.coordinates.center.clear();
  for (std::size_t axis = 0; axis < low.size(); ++axis) {
    contract.coordinates.axes.push_back(static_cast<int>(axis));
    contract.coordinates.center.push_back(0.0);
  }
  contract.bounds_min = std::move(low);
  contract.bounds_max = std::move(high);
  return contract;
}

/// One point without symmetry of its own, with a third coordinate.
Sample one_point() {
  Sample sample;
  sample.name = "one";
  sample.source.coordinates = torch::tensor({{3.0, 1.5, 7.0}}, torch::kFloat64);
  sample.source.values = torch::tensor({{4.0}}, torch::kFloat64);
  sample.source.weights = torch::ones({1}, torch::kFloat64);
  sample.query = sample.source;
  sample.targets = torch::tensor({{5.0}}, torch::kFloat64);
  return sample;
}

std::set<std::vector<double>> images(const Augmentation& augmentation) {
  RandomGenerator random(1);
  std::set<std::vector<double>> places;
  for (int i = 0; i < 200; ++i) {
    const Sample moved = augmentation.apply(one_point(), random);
    EXPECT_TRUE(moved.query.coordinates.is_same(moved.source.coordinates));
    EXPECT_EQ(moved.targets.item<double>(), 5.0);
    EXPECT_EQ(moved.source.values.item<double>(), 4.0);
    const double* at = moved.source.coordinates.data_ptr<double>();
    places.insert({at[0], at[1], at[2]});
  }
  return places;
}

TEST(Symmetries, OfASquareAreEight) {
  Contract contract = plane_contract({0, 0, 0}, {4, 4, 9});
  // About (2, 2): offsets (1, -0.5).
  const std::set<std::vector<double>> expected{{3, 1.5, 7}, {1, 1.5, 7}, {3, 2.5, 7}, {1, 2.5, 7},
                                               {1.5, 3, 7}, {1.5, 1, 7}, {2.5, 3, 7}, {2.5, 1, 7}};
  EXPECT_EQ(images(*make_symmetries(symmetries_of(Symmetries::square, contract, std::nullopt))),
            expected);
  EXPECT_EQ(contract.bounds_max, (std::vector<double>{4, 4, 9}));
}

TEST(Symmetries, OfARectangleAreFour) {
  Contract contract = plane_contract({0, 1, 0}, {4, 2, 9});
  const std::set<std::vector<double>> expected{{3, 1.5, 7}, {1, 1.5, 7}};
  EXPECT_EQ(images(*make_symmetries(symmetries_of(Symmetries::rectangle, contract, std::nullopt))),
            expected);
}

TEST(Symmetries, AboutACenterWidenTheBox) {
  // A grid at i/4 of the unit square.
  Contract contract = plane_contract({0, 0}, {0.75, 0.75});
  const auto augmentation =
      make_symmetries(symmetries_of(Symmetries::square, contract, std::array<double, 2>{0.5, 0.5}));
  EXPECT_EQ(contract.bounds_min, (std::vector<double>{0, 0}));
  EXPECT_EQ(contract.bounds_max, (std::vector<double>{1, 1}));
  EXPECT_EQ(augmentation->description(),
            (Json{{"kind", "symmetries"}, {"group", "square"}, {"center", {0.5, 0.5}}}));
}

TEST(Symmetries, LeaveTheSampleAlone) {
  Contract contract = plane_contract({0, 0, 0}, {4, 4, 9});
  const auto augmentation =
      make_symmetries(symmetries_of(Symmetries::square, contract, std::nullopt));
  const Sample sample = one_point();
  RandomGenerator random(1);
  for (int i = 0; i < 20; ++i) augmentation->apply(sample, random);
  EXPECT_TRUE(torch::equal(sample.source.coordinates, one_point().source.coordinates));
}

TEST(Symmetries, SkippingDrawsWhatApplyingDoes) {
  for (const Symmetries symmetries : {Symmetries::square, Symmetries::rectangle}) {
    Contract contract = plane_contract({0, 0, 0}, {4, 4, 9});
    const auto augmentation = make_symmetries(symmetries_of(symmetries, contract, std::nullopt));
    RandomGenerator applied(1), skipped(1);
    for (int i = 0; i < 20; ++i) {
      augmentation->apply(one_point(), applied);
      augmentation->skip(one_point(), skipped);
    }
    EXPECT_EQ(skipped.state(), applied.state());
    EXPECT_NE(skipped.state(), RandomGenerator(1).state());
  }
}

TEST(Symmetries, RefuseWhatTheyDoNotFit) {
  const auto message = [](Contract contract, Symmetries symmetries,
                          std::optional<std::array<double, 2>> center = std::nullopt) {
    return message_of<UsageError>(
        [&] { make_symmetries(symmetries_of(symmetries, contract, center)); });
  };
  EXPECT_EQ(message(plane_contract({0}, {1}), Symmetries::rectangle),
            "symmetries are those of the first two coordinates, but the points have 1; train "
            "without symmetries");
  EXPECT_EQ(message(plane_contract({0, 0}, {2, 1}), Symmetries::square),
            "the symmetries of a square are asked for, but the points reach 1 from the center "
            "along the first axis and 0.5 along the second; take those of a rectangle, or give "
            "the center of the square");
  EXPECT_CONTAINS(message(plane_contract({0, 0}, {1, 1}), Symmetries::square, {{0.5, 3.0}}),
                  "is at 3 on axis 1, outside of the points, which are from 0 to 1");
  Contract vector = plane_contract({0, 0}, {1, 1});
  vector.outputs[0].components = 3;
  EXPECT_EQ(message(vector, Symmetries::rectangle),
            "symmetries need arrays of one component, but the target 'y' has 3, which would have "
            "to be turned with the points; train without symmetries");
  EXPECT_CONTAINS(message_of<UsageError>([] { symmetries_from_string("sqare"); }),
                  "did you mean square?");
}

TEST(Rotations, KeepDistancesAndHandednessAndHaveNoPreferredDirection) {
  Contract contract = plane_contract({0, 0, 0}, {4, 8, 8});
  const auto rotations = make_rotations(contract);
  EXPECT_EQ(contract.bounds_min, (std::vector<double>{-4, -2, -2}));
  EXPECT_EQ(contract.bounds_max, (std::vector<double>{8, 10, 10}));
  const Tensor center = torch::tensor({2.0, 4.0, 4.0}, torch::kFloat64);
  Sample sample = one_point();
  sample.source.coordinates = center + torch::eye(3, torch::kFloat64);
  sample.source.values = torch::arange(3, torch::kFloat64).unsqueeze(1);
  sample.source.weights = torch::ones({3}, torch::kFloat64);
  sample.query = sample.source;
  RandomGenerator random(4);
  Tensor mean = torch::zeros({3, 3}, torch::kFloat64);
  constexpr int count = 2000;
  for (int i = 0; i < count; ++i) {
    const Sample turned = rotations->apply(sample, random);
    EXPECT_TRUE(turned.query.coordinates.is_same(turned.source.coordinates));
    EXPECT_TRUE(turned.source.values.is_same(sample.source.values));
    const Tensor axes = turned.source.coordinates - center;
    ASSERT_LT((axes.matmul(axes.t()) - torch::eye(3, torch::kFloat64)).abs().max().item<double>(),
              1e-13);
    ASSERT_NEAR(at::linalg_det(axes).item<double>(), 1, 1e-13);
    mean += axes / count;
  }
  EXPECT_LT(mean.abs().max().item<double>(), 4 / std::sqrt(3.0 * count));
  EXPECT_EQ(rotations->description(), (Json{{"kind", "rotations"}, {"center", {2.0, 4.0, 4.0}}}));
}

TEST(Rotations, RefuseWhatTheyDoNotFit) {
  Contract plane = plane_contract({0, 0}, {1, 1});
  EXPECT_CONTAINS(message_of<UsageError>([&] { make_rotations(plane); }), "the points have 2");
  Contract vector = plane_contract({0, 0, 0}, {1, 1, 1});
  vector.inputs[0].components = 3;
  EXPECT_EQ(message_of<UsageError>([&] { make_rotations(vector); }),
            "rotations need arrays of one component, but the input 'u' has 3, which would have to "
            "be turned with the points; train without rotations");
}

/// Adds what it draws, so that the order of draws shows in the coordinates.
class Noise final : public Augmentation {
 public:
  Sample apply(const Sample& sample, RandomGenerator& random) const override {
    Sample moved = sample;
    moved.source.coordinates = sample.source.coordinates + random.uniform();
    moved.query = moved.source;
    return moved;
  }
  Json description() const override { return Json{{"kind", "noise"}}; }
};

std::unique_ptr<BatchSource> noisy_source(std::uint64_t seed) {
  return make_dataset_source(test::pointwise_samples(7), 2, seed, {std::make_shared<Noise>()});
}

TEST(Augmentation, KeepsTheOrderOfSamplesAndContinuesBitEqual) {
  const auto plain = make_dataset_source(test::pointwise_samples(7), 2, 9);
  const auto source = noisy_source(9);
  for (int i = 0; i < 6; ++i) EXPECT_EQ(source->next().names, plain->next().names) << i;
  const Json stored = Json::parse(source->state().dump());
  const auto other = noisy_source(12345);
  other->restore(stored);
  for (int i = 0; i < 9; ++i) {
    const Batch expected = source->next();
    const Batch found = other->next();
    EXPECT_EQ(found.names, expected.names) << i;
    EXPECT_TRUE(torch::equal(found.source.coordinates, expected.source.coordinates)) << i;
    EXPECT_FALSE(torch::equal(found.source.coordinates, plain->next().source.coordinates)) << i;
  }
  EXPECT_CONTAINS(message_of<UsageError>([&] { plain->restore(stored); }),
                  "augmentations was [{\"kind\":\"noise\"}], now []");
}

}  // namespace
}  // namespace funcattn
