// A mesh in pieces that several processes hold, for which threads stand here: the prediction at a
// point is that of the whole mesh in one process.

#include <vtkDoubleArray.h>
#include <vtkFieldData.h>
#include <vtkNew.h>
#include <vtkPointData.h>
#include <vtkPointSet.h>
#include <vtkUnstructuredGrid.h>

#include <cmath>
#include <limits>

#include "core/error.h"
#include "operators/operator_file.h"
#include "plugin/stage.h"
#include "tests/plugin/partitions.h"
#include "tests/plugin/samples.h"
#include "tests/plugin/support.h"
#include "tests/support/thread_group.h"

namespace funcattn {
namespace {

using test::Cut;
using testing::message_of;
using testing::on_good_ranks;
using testing::on_ranks;

constexpr std::size_t piece_count = 5;

std::filesystem::path saved(const Operator& op, const std::string& name) {
  const auto path = std::filesystem::path(::testing::TempDir()) / (name + ".safetensors");
  save_operator(path, op);
  return path;
}

/// The pieces of a process.
MeshTree held(const std::vector<Mesh>& pieces, const ProcessGroup& group) {
  const auto size = static_cast<std::size_t>(group.size());
  const auto rank = static_cast<std::size_t>(group.rank());
  return test::tree_of(pieces, pieces.size() * rank / size, pieces.size() * (rank + 1) / size,
                       "mesh.pvtu");
}

/// Differences from the values at the points of the whole, as a share of their largest.
double difference(const MeshTree& part, const Mesh& whole, const std::string& array) {
  const RowMatrix expected = whole.array(array, Association::point).to_double();
  double largest = 0;
  for (const Mesh& leaf : part.leaves()) {
    if (leaf.count(Association::point) == 0) continue;
    const RowMatrix found = leaf.array(array, Association::point).to_double();
    const RowMatrix ids = leaf.array("id", Association::point).to_double();
    for (Eigen::Index i = 0; i < ids.rows(); ++i)
      largest =
          std::max(largest, (found.row(i) - expected.row(static_cast<Eigen::Index>(ids(i, 0))))
                                .cwiseAbs()
                                .maxCoeff());
  }
  return largest / expected.cwiseAbs().maxCoeff();
}

struct Case {
  std::string name;
  bool at_random;
  int ghost_layers;
  std::string weights;
};

class PiecesStage : public ::testing::TestWithParam<Case> {};

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const bool at_random : {false, true})
    for (const int layers : {0, 1, 2})
      for (const char* weights : {"measure", "uniform"})
        all.push_back({std::string(at_random ? "random_" : "in_turn_") + std::to_string(layers) +
                           "_" + weights,
                       at_random, layers, weights});
  return all;
}

INSTANTIATE_TEST_SUITE_P(Partitions, PiecesStage, ::testing::ValuesIn(cases()),
                         [](const auto& tested) { return tested.param.name; });

TEST_P(PiecesStage, PredictsWhatOneProcessPredicts) {
  const Mesh whole = test::with_ids(test::make_grid(17, 14));
  const Cut cut = GetParam().at_random ? test::cut_at_random(whole, piece_count)
                                       : test::cut_in_turn(whole, piece_count);
  const std::vector<Mesh> pieces = test::pieces_of(whole, cut, GetParam().ghost_layers);
  for (const torch::Dtype dtype : {torch::kFloat32, torch::kFloat64}) {
    const double tolerance = dtype == torch::kFloat32 ? 1e-5 : 1e-10;
    const OperatorStage stage(saved(test::make_deep(dtype), "deep"));
    StageOptions options;
    options.weights = GetParam().weights;
    options.threads = 1;
    const Mesh expected = stage.run(whole, options).mesh;
    const TreeResult alone = stage.run(held(pieces, SingleProcess()), options);
    EXPECT_LE(difference(alone.tree, expected, "pressure_predicted"), tolerance) << "no processes";
    for (const int size : {1, 2, 3, 4, 7})
      on_good_ranks(size, [&](ProcessGroup& group) {
        StageOptions mine = options;
        mine.engine.processes = &group;
        const TreeResult result = stage.run(held(pieces, group), mine);
        for (const char* array : {"pressure_predicted", "displacement_predicted"})
          EXPECT_LE(difference(result.tree, expected, array), tolerance)
              << array << " in " << size << " processes";
        std::int64_t entries = 0;
        for (const Mesh& piece : pieces) entries += piece.count(Association::point);
        EXPECT_EQ(result.entries, entries);
      });
  }
}

TEST(PiecesStageForms, PiecesByThemselvesGiveAnotherAnswer) {
  // Were it not so, the tests here would tell nothing.
  const OperatorStage stage(saved(test::make_deep(torch::kFloat64), "deep"));
  const Mesh whole = test::with_ids(test::make_grid(17, 14));
  StageOptions options;
  options.threads = 1;
  const Mesh expected = stage.run(whole, options).mesh;
  const auto pieces = test::pieces_of(whole, test::cut_in_turn(whole, piece_count), 0);
  const TreeResult alone = stage.run(MeshTree(pieces.front()), options);
  EXPECT_GE(difference(alone.tree, expected, "pressure_predicted"), 1e-2);
}

TEST_P(PiecesStage, FixedOrderGivesTheSameBits) {
  const Mesh whole = test::with_ids(test::make_grid(17, 14));
  const Cut cut = GetParam().at_random ? test::cut_at_random(whole, piece_count)
                                       : test::cut_in_turn(whole, piece_count);
  const std::vector<Mesh> pieces = test::pieces_of(whole, cut, GetParam().ghost_layers);
  const OperatorStage stage(saved(test::make_deep(torch::kFloat32), "deep"));
  StageOptions options;
  options.weights = GetParam().weights;
  options.threads = 1;
  options.engine.fixed_order = true;
  // In one process, without a group.
  const TreeResult one = stage.run(test::tree_of(pieces, 0, pieces.size(), "mesh.pvtu"), options);
  for (const int size : {2, 3, 4, 7})
    on_good_ranks(size, [&](ProcessGroup& group) {
      StageOptions mine = options;
      mine.engine.processes = &group;
      const TreeResult result = stage.run(held(pieces, group), mine);
      const std::size_t first =
          pieces.size() * static_cast<std::size_t>(group.rank()) / static_cast<std::size_t>(size);
      for (std::size_t i = 0; i < result.tree.leaves().size(); ++i) {
        const auto values = [&](const MeshTree& tree, std::size_t leaf) {
          return tree.leaves()[leaf].array("pressure_predicted", Association::point).to_double();
        };
        EXPECT_EQ(values(result.tree, i), values(one.tree, first + i)) << size << " processes";
      }
    });
}

TEST(PiecesStageForms, FewShotSourcePointsOfSeamsCountOnce) {
  // Source points are those with a flag; those on the seams are in two pieces.
  const OperatorStage stage(saved(test::make_regression(), "regression"));
  const Mesh line = test::with_ids(test::make_scattered_line(60, 3));
  StageOptions options;
  options.threads = 1;
  const Mesh expected = stage.run(line, options).mesh;
  vtkNew<vtkUnstructuredGrid> grid;  // The line's cells one by one, for the cut.
  grid->SetPoints(vtkPointSet::SafeDownCast(line.vtk())->GetPoints());
  grid->GetPointData()->ShallowCopy(line.vtk()->GetPointData());
  for (vtkIdType i = 0; i + 1 < 60; ++i) {
    const vtkIdType ends[2] = {i, i + 1};
    grid->InsertNextCell(VTK_LINE, 2, ends);
  }
  const Mesh whole(grid.GetPointer(), "line");
  for (const int layers : {0, 1}) {
    const auto pieces = test::pieces_of(whole, test::cut_at_random(whole, 4), layers);
    for (const int size : {2, 3})
      on_good_ranks(size, [&](ProcessGroup& group) {
        StageOptions mine = options;
        mine.engine.processes = &group;
        const TreeResult result = stage.run(held(pieces, group), mine);
        EXPECT_LE(difference(result.tree, expected, "y_predicted"), 1e-10);
      });
    const TreeResult alone = stage.run(held(pieces, SingleProcess()), options);
    EXPECT_LE(difference(alone.tree, expected, "y_predicted"), 1e-10);
  }
}

TEST(PiecesStageForms, QueriesInPieces) {
  const OperatorStage stage(saved(test::make_deep(torch::kFloat64), "deep"));
  const Mesh source = test::with_ids(test::make_grid(9, 8));
  const Mesh query = test::with_ids(test::make_grid(15, 12));
  StageOptions options;
  options.threads = 1;
  options.error_against = {"load", "force"};
  const TreeResult expected = stage.run(MeshTree(source), MeshTree(query), options);
  const auto sources = test::pieces_of(source, test::cut_at_random(source, 4), 0);
  const auto queries = test::pieces_of(query, test::cut_in_turn(query, 3), 1);
  const auto expect_same = [&](const TreeResult& result) {
    EXPECT_LE(difference(result.tree, expected.tree.leaves().front(), "pressure_predicted"), 1e-10);
    for (std::size_t i = 0; i < 2; ++i) {
      EXPECT_NEAR(result.errors[i].relative_l2, expected.errors[i].relative_l2, 1e-9);
      EXPECT_NEAR(result.errors[i].max_error, expected.errors[i].max_error, 1e-9);
    }
  };
  on_good_ranks(3, [&](ProcessGroup& group) {
    StageOptions mine = options;
    mine.engine.processes = &group;
    expect_same(stage.run(held(sources, group), held(queries, group), mine));
  });
  const SingleProcess alone;
  expect_same(stage.run(held(sources, alone), held(queries, alone), options));
}

TEST(PiecesStageForms, SumsOverPointsCountThoseOfSeamsOnce) {
  // sum_coefficients adds up over the points themselves, whatever their weights.
  const Operator op = test::make_surrogate();
  ModelConfig config = op.model().config();
  config.form = Form::sum_coefficients;
  config.blocks = 2;
  const OperatorStage stage(saved({make_model(config, torch::kFloat64, 7), op.contract()}, "sums"));
  const Mesh whole = test::with_ids(test::make_grid(17, 14));
  const auto pieces = test::pieces_of(whole, test::cut_at_random(whole, 4), 0);
  for (const char* weights : {"measure", "uniform"}) {
    StageOptions options;
    options.weights = weights;
    options.threads = 1;
    const Mesh expected = stage.run(whole, options).mesh;
    const TreeResult alone = stage.run(held(pieces, SingleProcess()), options);
    EXPECT_LE(difference(alone.tree, expected, "pressure_predicted"), 1e-10) << weights;
  }
}

TEST(PiecesStageReport, ErrorsRangesAndWarningsAreThoseOfTheWhole) {
  const Operator op = test::make_surrogate();
  Contract contract = op.contract();
  contract.min_points = 500;
  contract.max_points = 600;
  const OperatorStage stage(saved({op.shared_model(), contract}, "surrogate"));
  const Mesh whole = test::with_ids(test::make_grid(17, 14));
  StageOptions options;
  options.threads = 1;
  options.error_against = {"load", "force"};
  const StageResult expected = stage.run(whole, options);
  ASSERT_EQ(expected.warnings.size(), 1u);
  const auto pieces = test::pieces_of(whole, test::cut_in_turn(whole, 4), 1);
  on_good_ranks(5, [&](ProcessGroup& group) {  // One process has nothing.
    StageOptions mine = options;
    mine.engine.processes = &group;
    const TreeResult result = stage.run(held(pieces, group), mine);
    ASSERT_EQ(result.warnings.size(), 1u);
    EXPECT_EQ(result.warnings.front(),
              "mesh.pvtu has 238 points, training had 500 to 600: they show less of the input than "
              "the operator learned from");
    ASSERT_EQ(result.errors.size(), 2u);
    for (std::size_t i = 0; i < 2; ++i) {
      EXPECT_NEAR(result.errors[i].relative_l2, expected.errors[i].relative_l2, 1e-9);
      EXPECT_NEAR(result.errors[i].rmse, expected.errors[i].rmse, 1e-9);
      EXPECT_NEAR(result.errors[i].max_error, expected.errors[i].max_error, 1e-9);
    }
  });
}

TEST(PiecesStageReport, ParametersOfAnyPieceAreThoseOfAll) {
  const OperatorStage stage(saved(test::make_parametric(), "parametric"));
  const Mesh whole = test::with_ids(test::make_grid(9, 8));
  StageOptions options;
  options.threads = 1;
  options.parameters = {{"force", {0.5, -0.5, 2}}};
  const Mesh expected = stage.run(whole, options).mesh;
  auto pieces = test::pieces_of(whole, test::cut_in_turn(whole, 2), 0);
  const auto set = [](const Mesh& mesh, double first) {
    vtkNew<vtkDoubleArray> force;
    force->SetName("force");
    force->SetNumberOfComponents(3);
    force->InsertNextTuple3(first, -0.5, 2);
    mesh.vtk()->GetFieldData()->AddArray(force);
  };
  options.parameters.clear();
  const auto run = [&](ProcessGroup& group) {
    StageOptions mine = options;
    mine.engine.processes = &group;
    return stage.run(held(pieces, group), mine);
  };
  set(pieces[1], 0.5);
  on_good_ranks(2, [&](ProcessGroup& group) {
    EXPECT_LE(difference(run(group).tree, expected, "pressure_predicted"), 1e-10);
  });
  set(pieces[0], 0.75);
  for (const auto& error : on_ranks(2, [&](ProcessGroup& group) { (void)run(group); }))
    EXPECT_NE(message_of(error).find("is (0.75, -0.5, 2) in"), std::string::npos)
        << message_of(error);
}

TEST(PiecesStageErrors, OneProcessFailsAndAllSayWhy) {
  const OperatorStage stage(saved(test::make_surrogate(), "surrogate"));
  const Mesh whole = test::with_ids(test::make_grid(9, 8));
  auto pieces = test::pieces_of(whole, test::cut_in_turn(whole, 3), 0);
  pieces[2] = test::with_value(pieces[2], "load", Association::point, 4,
                               std::numeric_limits<double>::quiet_NaN());
  const auto errors = on_ranks(3, [&](ProcessGroup& group) {
    StageOptions options;
    options.threads = 1;
    options.engine.processes = &group;
    (void)stage.run(held(pieces, group), options);
  });
  for (const auto& error : errors) {
    EXPECT_NE(message_of(error).find("'load'"), std::string::npos) << message_of(error);
    EXPECT_THROW(std::rethrow_exception(error), DataError);
  }
}

TEST(PiecesStageErrors, MaskedPointsTakeNoPartAnywhere) {
  const OperatorStage stage(saved(test::make_surrogate(), "surrogate"));
  const Mesh whole =
      test::with_value(test::with_ids(test::make_grid(9, 8)), "load", Association::point, 30,
                       std::numeric_limits<double>::quiet_NaN());
  const auto pieces = test::pieces_of(whole, test::cut_in_turn(whole, 3), 0);
  StageOptions options;
  options.threads = 1;
  options.nan = NanPolicy::mask;
  const Mesh expected = stage.run(whole, options).mesh;
  on_good_ranks(3, [&](ProcessGroup& group) {
    StageOptions mine = options;
    mine.engine.processes = &group;
    const TreeResult result = stage.run(held(pieces, group), mine);
    EXPECT_GE(result.unusable, 1);
    for (const Mesh& leaf : result.tree.leaves()) {
      const RowMatrix ids = leaf.array("id", Association::point).to_double();
      const RowMatrix p = leaf.array("pressure_predicted", Association::point).to_double();
      const RowMatrix q = expected.array("pressure_predicted", Association::point).to_double();
      for (Eigen::Index i = 0; i < ids.rows(); ++i) {
        const auto id = static_cast<Eigen::Index>(ids(i, 0));
        if (id == 30)
          EXPECT_TRUE(std::isnan(p(i, 0)));
        else
          EXPECT_NEAR(p(i, 0), q(id, 0), 1e-9);
      }
    }
  });
}

TEST(PiecesStageErrors, DifferentOperatorsAndOptionsAreRefused) {
  const auto one = saved(test::make_surrogate(), "one");
  const auto other = saved(test::make_deep(torch::kFloat64), "other");
  const Mesh whole = test::make_grid(9, 8);
  const auto pieces = test::pieces_of(whole, test::cut_in_turn(whole, 2), 0);
  auto errors = on_ranks(2, [&](ProcessGroup& group) {
    StageOptions options;
    options.threads = 1;
    options.engine.processes = &group;
    (void)run(held(pieces, group), group.rank() == 0 ? one : other, options);
  });
  for (const auto& error : errors)
    EXPECT_NE(message_of(error).find("process 1 has another operator file than process 0"),
              std::string::npos)
        << message_of(error);
  errors = on_ranks(2, [&](ProcessGroup& group) {
    StageOptions options;
    options.threads = 1;
    options.weights = group.rank() == 0 ? "uniform" : "measure";
    options.engine.processes = &group;
    (void)run(held(pieces, group), one, options);
  });
  for (const auto& error : errors)
    EXPECT_EQ(message_of(error),
              "process 1 was given another weights ('measure') than process 0 ('uniform')");
}

TEST(PiecesStageErrors, OtherAttentionNeedsAllPointsInOneProcess) {
  const Operator surrogate = test::make_surrogate();
  ModelConfig config = surrogate.model().config();
  config.attention = Attention::softmax;
  const OperatorStage stage(
      saved({make_model(config, torch::kFloat64, 7), surrogate.contract()}, "softmax"));
  const Mesh whole = test::make_grid(9, 8);
  const auto pieces = test::pieces_of(whole, test::cut_in_turn(whole, 2), 0);
  for (const auto& error : on_ranks(2, [&](ProcessGroup& group) {
         StageOptions options;
         options.engine.processes = &group;
         (void)stage.run(held(pieces, group), options);
       }))
    EXPECT_EQ(message_of(error),
              "several processes share the sums of Functional Attention; the other attention of "
              "this operator needs all points in one process");
}

TEST(PiecesStageErrors, NoPointAnywhereAndNothingToWeighAreErrorsOfAll) {
  const OperatorStage stage(saved(test::make_surrogate(), "surrogate"));
  on_good_ranks(2, [&](ProcessGroup& group) {
    StageOptions options;
    options.engine.processes = &group;
    const TreeResult result = stage.run(test::tree_of({}, 0, 0, "mesh.pvtu"), options);
    EXPECT_EQ(result.entries, 0);
    ASSERT_EQ(result.warnings.size(), 1u);
  });
  const Mesh whole = test::make_grid(9, 8);
  const auto pieces = test::pieces_of(whole, test::cut_in_turn(whole, 2), 0);
  for (const char* weights : {"density", "array:none"})
    for (const auto& error : on_ranks(2, [&](ProcessGroup& group) {
           StageOptions options;
           options.weights = weights;
           options.engine.processes = &group;
           (void)stage.run(held(pieces, group), options);
         }))
      EXPECT_NE(message_of(error), "");
}

}  // namespace
}  // namespace funcattn
