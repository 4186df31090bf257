// The stage inside a program that has a life of its own: progress, cancelling, threads.

#include <ATen/Parallel.h>
#include <omp.h>
#include <vtkImageData.h>
#include <vtkMultiBlockDataSet.h>
#include <vtkNew.h>
#include <vtkPlaneSource.h>
#include <vtkPolyData.h>
#ifdef __SSE__
#include <xmmintrin.h>
#endif

#include <algorithm>
#include <cfenv>
#include <clocale>
#include <thread>
#include <vector>

#include "core/error.h"
#include "operators/operator_file.h"
#include "plugin/stage.h"
#include "tests/plugin/samples.h"
#include "tests/plugin/support.h"

namespace funcattn {
namespace {

using test::error_of;

class HostTest : public ::testing::Test {
 protected:
  HostTest() { save_operator(folder_ / "op.safetensors", test::make_surrogate()); }

  OperatorStage load() const { return OperatorStage(folder_ / "op.safetensors"); }

  test::TemporaryFolder folder_;
};

RowMatrix displacement(const Mesh& mesh) {
  return mesh.array("displacement_predicted", Association::point).to_double();
}

/// Keeps what it is told; asks for an end from `last` on.
struct Told {
  std::vector<double> fractions;
  ProgressCallback until(double last) {
    return [this, last](double fraction) {
      fractions.push_back(fraction);
      return fraction < last;
    };
  }
  ProgressCallback all() { return until(2); }
};

TEST_F(HostTest, ProgressRisesFromZeroToOneAndChangesNoBit) {
  const OperatorStage stage = load();
  const Mesh mesh = test::make_grid(40, 30);
  Told told;
  StageOptions options;
  options.progress = told.all();
  options.threads = 1;
  EXPECT_EQ(displacement(stage.run(mesh, options).mesh), displacement(stage.run(mesh).mesh));
  EXPECT_TRUE(std::is_sorted(told.fractions.begin(), told.fractions.end()));
  EXPECT_GT(told.fractions.size(), 5u);
  EXPECT_EQ(told.fractions.front(), 0);
  EXPECT_EQ(told.fractions.back(), 1);
}

TEST_F(HostTest, ProgressOfBlocksFollowsOneAfterTheOther) {
  vtkNew<vtkMultiBlockDataSet> blocks;
  for (unsigned i = 0; i < 3; ++i) blocks->SetBlock(i, test::make_grid(6, 5).vtk());
  const MeshTree tree(blocks.GetPointer(), "blocks.vtm");
  const OperatorStage stage = load();
  for (const bool per_block : {false, true}) {
    Told told;
    StageOptions options;
    options.per_block = per_block;
    options.progress = told.all();
    (void)stage.run(tree, options);
    EXPECT_TRUE(std::is_sorted(told.fractions.begin(), told.fractions.end()));
    EXPECT_EQ(told.fractions.front(), 0);
    EXPECT_EQ(told.fractions.back(), 1);
    // A sample ends, and the next one begins.
    EXPECT_EQ(std::count(told.fractions.begin(), told.fractions.end(), 1.0 / 3), per_block ? 2 : 0);
  }
}

TEST_F(HostTest, ProgressOfAMeshWithoutPointsIsComplete) {
  Told told;
  StageOptions options;
  options.progress = told.all();
  (void)load().run(make_point_cloud(RowMatrix(0, 3), "empty.vtp"), options);
  EXPECT_EQ(told.fractions, (std::vector<double>{0, 1}));
}

TEST_F(HostTest, CancelsWhereverItIsAskedTo) {
  const OperatorStage stage = load();
  const Mesh mesh = test::make_grid(40, 30);
  const RowMatrix expected = displacement(stage.run(mesh).mesh);
  const std::size_t arrays = mesh.arrays().size();
  for (const double last : {0.0, 0.05, 0.5, 1.0})
    for (const auto memory :
         {ActivationMemory::resident, ActivationMemory::spilled, ActivationMemory::recomputed}) {
      Told told;
      StageOptions options;
      options.engine.memory = memory;
      options.engine.spill_folder = folder_.path();
      options.progress = told.until(last);
      EXPECT_EQ(error_of<Cancelled>([&] { (void)stage.run(mesh, options); }),
                "the run was cancelled by the program that asked for it; nothing was changed");
      EXPECT_GE(told.fractions.back(), last);
      EXPECT_EQ(std::count_if(told.fractions.begin(), told.fractions.end(),
                              [&](double fraction) { return fraction >= last; }),
                1)
          << "called again after it asked for an end";
      EXPECT_EQ(mesh.arrays().size(), arrays);
      EXPECT_EQ(displacement(stage.run(mesh).mesh), expected);
    }
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_.path()), {}), 1)
      << "a temporary file is left";
}

TEST_F(HostTest, CheckingIsNoRun) {
  const OperatorStage stage = load();
  Told told;
  StageOptions options;
  options.progress = told.until(0);
  EXPECT_EQ(stage.check(MeshTree(test::make_grid(6, 5)), nullptr, options).entries, 30);
  EXPECT_TRUE(told.fractions.empty());
}

#ifdef __SSE__
/// Modes of the processor's arithmetic, without the flags of what has happened.
unsigned arithmetic_modes() {
  return _mm_getcsr() & ~0x3fu;
}
void set_denormals_to_zero() {
  _mm_setcsr(_mm_getcsr() | 0x8040u);
}
#else
unsigned arithmetic_modes() {
  return 0;
}
void set_denormals_to_zero() {}
#endif

/// Everything that a host may have set for its own work.
struct HostState {
  int openmp_threads = omp_get_max_threads();
  int torch_threads = at::get_num_threads();
  caffe2::TypeMeta dtype = c10::get_default_dtype();
  Tensor random = at::globalContext().defaultGenerator(at::kCPU).get_state().clone();
  int rounding = std::fegetround();
  unsigned modes = arithmetic_modes();
  std::string locale = std::setlocale(LC_ALL, nullptr);
  bool records_gradients = at::GradMode::is_enabled();
  bool inference = c10::InferenceMode::is_enabled();
  bool deterministic = at::globalContext().deterministicAlgorithms();
};

void expect_equal(const HostState& found, const HostState& expected) {
  EXPECT_EQ(found.openmp_threads, expected.openmp_threads);
  EXPECT_EQ(found.torch_threads, expected.torch_threads);
  EXPECT_EQ(found.dtype, expected.dtype);
  EXPECT_TRUE(found.random.equal(expected.random));
  EXPECT_EQ(found.rounding, expected.rounding);
  EXPECT_EQ(found.modes, expected.modes);
  EXPECT_EQ(found.locale, expected.locale);
  EXPECT_EQ(found.records_gradients, expected.records_gradients);
  EXPECT_EQ(found.inference, expected.inference);
  EXPECT_EQ(found.deterministic, expected.deterministic);
}

TEST_F(HostTest, LeavesTheSettingsOfTheHostAsTheyWere) {
  const auto load_and_run = [&](int threads) {
    StageOptions options;
    options.threads = threads;
    (void)load().run(test::make_grid(20, 20), options);
    options.progress = [](double fraction) { return fraction < 0.5; };
    EXPECT_THROW((void)load().run(test::make_grid(20, 20), options), Cancelled);
  };
  // In a thread of its own, so that what is set here cannot reach other tests.
  std::thread([&] {
    (void)at::get_num_threads();  // LibTorch prepares a thread where it is first asked.
    const HostState usual;
    load_and_run(1);
    load_and_run(3);
    expect_equal(HostState(), usual);

    const std::string locale = std::setlocale(LC_ALL, nullptr);
    omp_set_num_threads(2);
    std::fesetround(FE_DOWNWARD);
    set_denormals_to_zero();
    at::manual_seed(20);
    std::setlocale(LC_ALL, "C.UTF-8");
    c10::set_default_dtype(caffe2::TypeMeta::Make<double>());
    at::globalContext().setDeterministicAlgorithms(true, false);
    const HostState unusual;
    load_and_run(1);
    load_and_run(3);
    expect_equal(HostState(), unusual);
    EXPECT_EQ(unusual.rounding, FE_DOWNWARD);
    at::globalContext().setDeterministicAlgorithms(false, false);
    c10::set_default_dtype(caffe2::TypeMeta::Make<float>());
    std::setlocale(LC_ALL, locale.c_str());
  }).join();
}

TEST_F(HostTest, DefaultDtypeOfTheHostChangesNothing) {
  const Mesh mesh = test::make_grid(9, 9);
  const RowMatrix expected = displacement(load().run(mesh).mesh);
  c10::set_default_dtype(caffe2::TypeMeta::Make<double>());
  const RowMatrix found = displacement(load().run(mesh).mesh);
  c10::set_default_dtype(caffe2::TypeMeta::Make<float>());
  EXPECT_EQ(found, expected);
}

/// Kinds of data that VTK keeps in different ways, some of them prepared when first asked for.
std::vector<Mesh> meshes_of_all_kinds() {
  const auto with_inputs = [](const Mesh& mesh) {
    const RowMatrix at = mesh.coordinates(Association::point);
    return mesh
        .with_array({"load", Association::point, 1, ""}, RowMatrix(at.col(0) + 2 * at.col(1)))
        .with_array({"force", Association::point, 3, ""}, at);
  };
  vtkNew<vtkPlaneSource> plane;
  plane->SetResolution(19, 17);
  plane->Update();
  vtkNew<vtkImageData> image;
  image->SetDimensions(15, 12, 1);
  image->SetSpacing(1.0 / 14, 1.0 / 11, 1);
  RowMatrix scattered = test::make_grid(17, 13).coordinates(Association::point);
  return {test::make_grid(21, 16), with_inputs({plane->GetOutput(), "plane.vtp"}),
          with_inputs({image.GetPointer(), "image.vti"}),
          with_inputs(make_point_cloud(scattered, "cloud.vtp"))};
}

TEST_F(HostTest, ManyThreadsShareStagesAndMeshes) {
  save_operator(folder_ / "single.safetensors",
                test::make_surrogate(Association::point, torch::kFloat32));
  const OperatorStage stages[2] = {load(), OperatorStage(folder_ / "single.safetensors")};
  const std::vector<std::string> weights = {"auto", "uniform", "density"};
  const auto work = [&](const std::vector<Mesh>& meshes, std::size_t job) {
    StageOptions options;
    options.threads = 1;
    options.weights = weights[job % weights.size()];
    options.engine.memory =
        job % 2 == 0 ? ActivationMemory::resident : ActivationMemory::recomputed;
    return displacement(stages[job / 2 % 2].run(meshes[job % meshes.size()], options).mesh);
  };
  constexpr std::size_t jobs = 48;
  std::vector<RowMatrix> expected;
  const std::vector<Mesh> quiet = meshes_of_all_kinds();
  for (std::size_t job = 0; job < jobs; ++job) expected.push_back(work(quiet, job));

  for (int repeat = 0; repeat < 3; ++repeat) {
    const std::vector<Mesh> shared = meshes_of_all_kinds();  // Nothing in them is prepared.
    std::vector<std::thread> threads;
    for (std::size_t first = 0; first < 4; ++first)
      threads.emplace_back([&, first] {
        for (std::size_t job = 0; job < jobs; ++job) {
          const std::size_t mine = (job + first * jobs / 4) % jobs;
          if (work(shared, mine) != expected[mine]) ADD_FAILURE() << "job " << mine;
        }
      });
    for (std::thread& thread : threads) thread.join();
  }
}

}  // namespace
}  // namespace funcattn
