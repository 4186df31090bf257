// Progress, abort and time: what a pipeline asks of a filter while it runs.

#include <vtkDataObject.h>
#include <vtkInformation.h>
#include <vtkInformationVector.h>
#include <vtkMultiBlockDataSet.h>
#include <vtkNeuralOperator.h>
#include <vtkPointData.h>
#include <vtkStreamingDemandDrivenPipeline.h>
#include <vtkUnstructuredGrid.h>
#include <vtkUnstructuredGridAlgorithm.h>

#include <algorithm>
#include <functional>

#include "operators/operator_file.h"
#include "plugin/stage.h"
#include "tests/plugin/samples.h"
#include "tests/plugin/vtk/data_sets.h"
#include "tests/support/folder_test.h"

namespace funcattn {
namespace {

using test::EventTexts;
using test::values_of;

const std::vector<double> kTimes = {0.5, 2.25, 3.0};

/// A grid whose load depends on the time that is asked for.
Mesh grid_at(double time) {
  const Mesh grid = test::make_grid(6, 5);
  RowMatrix load = grid.array("load", Association::point).to_double();
  load.array() += time;
  return grid.with_array({"load", Association::point, 1, ""}, load, true);
}

class TimeSource : public vtkUnstructuredGridAlgorithm {
 public:
  static TimeSource* New() {
    auto* source = new TimeSource;
    source->InitializeObjectBase();
    return source;
  }
  vtkTypeMacro(TimeSource, vtkUnstructuredGridAlgorithm)

 protected:
  TimeSource() { SetNumberOfInputPorts(0); }
  int RequestInformation(vtkInformation*, vtkInformationVector**,
                         vtkInformationVector* outputs) override {
    vtkInformation* info = outputs->GetInformationObject(0);
    const double range[2] = {kTimes.front(), kTimes.back()};
    info->Set(vtkStreamingDemandDrivenPipeline::TIME_STEPS(), kTimes.data(), 3);
    info->Set(vtkStreamingDemandDrivenPipeline::TIME_RANGE(), range, 2);
    return 1;
  }
  int RequestData(vtkInformation*, vtkInformationVector**, vtkInformationVector* outputs) override {
    vtkInformation* info = outputs->GetInformationObject(0);
    const auto key = vtkStreamingDemandDrivenPipeline::UPDATE_TIME_STEP();
    const double time = info->Has(key) ? info->Get(key) : kTimes.front();
    vtkDataObject* output = vtkDataObject::GetData(info);
    output->ShallowCopy(grid_at(time).vtk());
    output->GetInformation()->Set(vtkDataObject::DATA_TIME_STEP(), time);
    return 1;
  }
};

/// Calls `action` with the filter's progress whenever it is told.
class ProgressObserver {
 public:
  ProgressObserver(vtkNeuralOperator* filter, std::function<void(double)> action)
      : filter_(filter), action_(std::move(action)) {
    filter_->AddObserver(vtkCommand::ProgressEvent, this, &ProgressObserver::tell);
  }

 private:
  void tell() { action_(filter_->GetProgress()); }
  vtkNeuralOperator* filter_;
  std::function<void(double)> action_;
};

class VtkFilterExecution : public test::FolderTest {
 protected:
  void SetUp() override {
    FolderTest::SetUp();
    save_operator(folder_ / "op.safetensors", test::make_surrogate());
    filter_->SetFileName((folder_ / "op.safetensors").c_str());
    filter_->SetThreads(1);
  }
  std::vector<double> pressure() {
    return values_of(vtkDataSet::SafeDownCast(filter_->GetOutputDataObject(0)),
                     "pressure_predicted");
  }

  vtkNew<vtkNeuralOperator> filter_;
};

TEST_F(VtkFilterExecution, EveryTimeStepIsComputedAndKeepsItsTime) {
  vtkNew<TimeSource> source;
  filter_->SetInputConnection(source->GetOutputPort());
  filter_->UpdateInformation();
  vtkInformation* info = filter_->GetOutputInformation(0);
  ASSERT_EQ(info->Length(vtkStreamingDemandDrivenPipeline::TIME_STEPS()), 3);
  EXPECT_EQ(info->Get(vtkStreamingDemandDrivenPipeline::TIME_STEPS())[1], 2.25);

  const OperatorStage stage(folder_ / "op.safetensors");
  StageOptions options;
  options.threads = 1;
  const EventTexts runs(filter_, vtkCommand::StartEvent);
  for (const double time : {3.0, 0.5, 2.25}) {
    filter_->UpdateTimeStep(time);
    vtkDataObject* output = filter_->GetOutputDataObject(0);
    EXPECT_EQ(output->GetInformation()->Get(vtkDataObject::DATA_TIME_STEP()), time);
    EXPECT_EQ(pressure(),
              values_of(stage.run(grid_at(time), options).mesh.vtk(), "pressure_predicted"));
  }
  EXPECT_EQ(runs.count(), 3u);
  filter_->UpdateTimeStep(2.25);
  EXPECT_EQ(runs.count(), 3u);
}

TEST_F(VtkFilterExecution, ProgressRisesToOne) {
  const auto large = test::make_grid(80, 60);
  filter_->SetInputData(large.vtk());
  std::vector<double> told;
  const ProgressObserver observer(filter_, [&](double progress) { told.push_back(progress); });
  filter_->Update();
  EXPECT_GT(told.size(), 5u);
  EXPECT_TRUE(std::is_sorted(told.begin(), told.end()));
  EXPECT_EQ(told.back(), 1);
}

TEST_F(VtkFilterExecution, ProgressOverBlocksOfTheirOwnNeverGoesBack) {
  const auto blocks = test::make_blocks();
  filter_->SetInputData(blocks);
  filter_->PerBlockOn();
  std::vector<double> told;
  const ProgressObserver observer(filter_, [&](double progress) { told.push_back(progress); });
  filter_->Update();
  EXPECT_TRUE(std::is_sorted(told.begin(), told.end()));
  EXPECT_NE(std::find(told.begin(), told.end(), 0.5), told.end());
}

TEST_F(VtkFilterExecution, AnAbortLeavesNothingAndTheNextUpdateComputes) {
  const auto large = test::make_grid(80, 60);
  filter_->SetInputData(large.vtk());
  filter_->Update();
  const auto expected = pressure();
  ASSERT_EQ(expected.size(), 4800u);

  bool abort = true;
  double reached = 0;
  const ProgressObserver observer(filter_, [&](double progress) {
    if (!abort) return;
    if (progress < 1) reached = std::max(reached, progress);
    if (progress > 0.2 && progress < 1) filter_->SetAbortExecute(1);
  });
  const EventTexts errors(filter_, vtkCommand::ErrorEvent);
  filter_->Modified();
  filter_->Update();
  EXPECT_EQ(errors.count(), 0u);
  EXPECT_STREQ(filter_->GetLastErrorKind(), "cancelled");
  EXPECT_GT(reached, 0.2);
  EXPECT_LT(reached, 0.8);
  EXPECT_TRUE(pressure().empty());

  abort = false;
  filter_->Update();
  EXPECT_EQ(pressure(), expected);
  EXPECT_STREQ(filter_->GetLastErrorKind(), "");
}

}  // namespace
}  // namespace funcattn
