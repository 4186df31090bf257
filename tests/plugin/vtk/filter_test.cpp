// What the filter gives is what OperatorStage gives, for every type of data set, and the pipeline
// around it behaves as VTK's users expect.

#include <vtkCompositeDataSet.h>
#include <vtkDataObject.h>
#include <vtkImageData.h>
#include <vtkInformation.h>
#include <vtkInformationStringKey.h>
#include <vtkMultiBlockDataSet.h>
#include <vtkNeuralOperator.h>
#include <vtkPartitionedDataSet.h>
#include <vtkPartitionedDataSetCollection.h>
#include <vtkPointData.h>
#include <vtkPolyData.h>
#include <vtkStreamingDemandDrivenPipeline.h>
#include <vtkTable.h>
#include <vtkTrivialProducer.h>

#include <fstream>

#include "operators/operator_file.h"
#include "plugin/stage.h"
#include "tests/plugin/samples.h"
#include "tests/plugin/vtk/data_sets.h"
#include "tests/support/folder_test.h"

namespace funcattn {
namespace {

using test::EventTexts;
using test::make_blocks;
using test::values_of;

StageOptions one_thread() {
  StageOptions options;
  options.threads = 1;
  return options;
}

class VtkFilter : public test::FolderTest {
 protected:
  void SetUp() override {
    FolderTest::SetUp();
    save_operator(operator_file(), test::make_surrogate());
    filter_->SetFileName(operator_file().c_str());
    filter_->SetThreads(1);
  }

  std::filesystem::path operator_file() const { return folder_ / "surrogate op.safetensors"; }

  /// The output's array beside the one that the stage computes.
  void expect_as_stage(vtkDataSet* input, const StageOptions& options = one_thread()) {
    const StageResult expected = OperatorStage(operator_file()).run(Mesh(input, "input"), options);
    auto* output = vtkDataSet::SafeDownCast(filter_->GetOutputDataObject(0));
    ASSERT_NE(output, nullptr);
    EXPECT_STREQ(output->GetClassName(), input->GetClassName());
    for (const char* name : {"pressure_predicted", "displacement_predicted"}) {
      const std::vector<double> values = values_of(output, name);
      EXPECT_FALSE(values.empty());
      EXPECT_EQ(values, values_of(expected.mesh.vtk(), name)) << name;
    }
    EXPECT_EQ(values_of(output, "load"), values_of(input, "load"));
  }

  vtkNew<vtkNeuralOperator> filter_;
};

TEST_F(VtkFilter, GivesWhatTheStageGivesForEveryTypeOfDataSet) {
  for (const auto& data :
       {test::make_unstructured_grid(), test::make_surface(), test::make_structured_grid(),
        test::make_image(), test::make_rectilinear_grid()}) {
    SCOPED_TRACE(data->GetClassName());
    filter_->SetInputData(data);
    filter_->Update();
    EXPECT_STREQ(filter_->GetLastError(), "");
    expect_as_stage(data);
  }
}

TEST_F(VtkFilter, BlocksAreOneSampleAndTheTreeIsKept) {
  const auto blocks = make_blocks();
  filter_->SetInputData(blocks);
  filter_->Update();
  auto* output = vtkMultiBlockDataSet::SafeDownCast(filter_->GetOutputDataObject(0));
  ASSERT_NE(output, nullptr);
  ASSERT_EQ(output->GetNumberOfBlocks(), 3u);
  EXPECT_EQ(output->GetBlock(1), nullptr);
  EXPECT_STREQ(output->GetMetaData(0u)->Get(vtkCompositeDataSet::NAME()), "left");
  auto* nested = vtkMultiBlockDataSet::SafeDownCast(output->GetBlock(2));
  ASSERT_NE(nested, nullptr);
  EXPECT_EQ(nested->GetBlock(0), nullptr);
  EXPECT_STREQ(nested->GetMetaData(1u)->Get(vtkCompositeDataSet::NAME()), "inner");

  const TreeResult expected =
      OperatorStage(operator_file()).run(MeshTree(blocks.Get(), "input"), one_thread());
  auto* left = vtkDataSet::SafeDownCast(output->GetBlock(0));
  auto* inner = vtkDataSet::SafeDownCast(nested->GetBlock(1));
  const char* name = "pressure_predicted";
  EXPECT_EQ(values_of(left, name), values_of(expected.tree.leaves()[0].vtk(), name));
  EXPECT_EQ(values_of(inner, name), values_of(expected.tree.leaves()[1].vtk(), name));
  EXPECT_FALSE(values_of(left, name).empty());

  filter_->PerBlockOn();
  filter_->Update();
  output = vtkMultiBlockDataSet::SafeDownCast(filter_->GetOutputDataObject(0));
  const auto alone = OperatorStage(operator_file())
                         .run(Mesh(test::make_unstructured_grid(), "alone"), one_thread());
  EXPECT_EQ(values_of(vtkDataSet::SafeDownCast(output->GetBlock(0)), name),
            values_of(alone.mesh.vtk(), name));
}

TEST_F(VtkFilter, PartitionedCollectionsAndLeavesThatAreNoMeshes) {
  vtkNew<vtkPartitionedDataSet> partitions;
  partitions->SetPartition(0, test::make_surface());
  partitions->SetPartition(2, test::make_image());
  vtkNew<vtkPartitionedDataSetCollection> collection;
  collection->SetPartitionedDataSet(0, partitions);
  collection->SetNumberOfPartitionedDataSets(2);
  filter_->SetInputData(collection);
  filter_->Update();
  auto* output = vtkPartitionedDataSetCollection::SafeDownCast(filter_->GetOutputDataObject(0));
  ASSERT_NE(output, nullptr);
  ASSERT_EQ(output->GetNumberOfPartitionedDataSets(), 2u);
  EXPECT_EQ(output->GetPartition(0, 1), nullptr);
  EXPECT_EQ(values_of(output->GetPartition(0, 0), "pressure_predicted").size(), 12u);
  EXPECT_EQ(values_of(output->GetPartition(0, 2), "pressure_predicted").size(), 30u);

  vtkNew<vtkMultiBlockDataSet> mixed;
  vtkNew<vtkTable> table;
  mixed->SetBlock(0, table);
  mixed->SetBlock(1, test::make_surface());
  filter_->SetInputData(mixed);
  filter_->Update();
  auto* blocks = vtkMultiBlockDataSet::SafeDownCast(filter_->GetOutputDataObject(0));
  EXPECT_NE(vtkTable::SafeDownCast(blocks->GetBlock(0)), nullptr);
  EXPECT_EQ(
      values_of(vtkDataSet::SafeDownCast(blocks->GetBlock(1)), "displacement_predicted").size(),
      36u);
}

TEST_F(VtkFilter, TheSecondInputIsWhereTheOperatorIsEvaluated) {
  const auto source = test::make_unstructured_grid();
  const auto query = test::make_image();
  filter_->SetInputData(source);
  filter_->SetInputData(1, query);
  filter_->Update();
  auto* output = vtkImageData::SafeDownCast(filter_->GetOutputDataObject(0));
  ASSERT_NE(output, nullptr);
  const TreeResult expected =
      OperatorStage(operator_file())
          .run(MeshTree(source.Get(), "input"), MeshTree(query.Get(), "query"), one_thread());
  const auto values = values_of(output, "pressure_predicted");
  EXPECT_EQ(values.size(), 30u);
  EXPECT_EQ(values, values_of(expected.tree.leaves()[0].vtk(), "pressure_predicted"));

  filter_->SetInputConnection(1, nullptr);
  filter_->Update();
  expect_as_stage(source);
}

TEST_F(VtkFilter, TheInputStaysAsItIs) {
  const auto data = test::make_unstructured_grid();
  data->GetPointData()->SetActiveScalars("load");
  const vtkMTimeType before = data->GetMTime();
  const vtkMTimeType points_before = data->GetPointData()->GetMTime();
  filter_->SetInputData(data);
  filter_->Update();
  EXPECT_EQ(data->GetMTime(), before);
  EXPECT_EQ(data->GetPointData()->GetMTime(), points_before);
  EXPECT_EQ(data->GetPointData()->GetNumberOfArrays(), 2);
  EXPECT_STREQ(data->GetPointData()->GetScalars()->GetName(), "load");
  auto* output = vtkDataSet::SafeDownCast(filter_->GetOutputDataObject(0));
  EXPECT_STREQ(output->GetPointData()->GetScalars()->GetName(), "load");
  EXPECT_EQ(output->GetPointData()->GetArray("force"), data->GetPointData()->GetArray("force"));
}

TEST_F(VtkFilter, ExecutesAgainOnlyWhereSomethingChanged) {
  const auto data = test::make_unstructured_grid();
  filter_->SetInputData(data);
  const EventTexts runs(filter_, vtkCommand::StartEvent);
  filter_->Update();
  filter_->Update();
  EXPECT_EQ(runs.count(), 1u);
  filter_->SetThreads(1);
  filter_->SetFileName(operator_file().c_str());
  filter_->SetSuffix("_predicted");
  filter_->SetWeights("");
  filter_->Update();
  EXPECT_EQ(runs.count(), 1u);
  filter_->SetSuffix("_new");
  filter_->Update();
  EXPECT_EQ(runs.count(), 2u);
  data->Modified();
  filter_->Update();
  EXPECT_EQ(runs.count(), 3u);
}

TEST_F(VtkFilter, ExecutesAgainWhenTheOperatorFileIsReplaced) {
  const auto data = test::make_unstructured_grid();
  filter_->SetInputData(data);
  filter_->Update();
  const auto before =
      values_of(vtkDataSet::SafeDownCast(filter_->GetOutputDataObject(0)), "pressure_predicted");
  const Operator other = test::make_surrogate(Association::point, torch::kFloat32);
  save_operator(operator_file(), other);
  filter_->Update();
  EXPECT_NE(
      values_of(vtkDataSet::SafeDownCast(filter_->GetOutputDataObject(0)), "pressure_predicted"),
      before);
  expect_as_stage(data);
}

TEST_F(VtkFilter, AWholeExtentIsComputedWhateverPartIsAskedFor) {
  const auto image = test::make_image();
  vtkNew<vtkTrivialProducer> producer;
  producer->SetOutput(image);
  filter_->SetInputConnection(producer->GetOutputPort());
  filter_->UpdateInformation();
  const int part[6] = {2, 3, 0, 1, 0, 0};
  filter_->UpdateExtent(part);
  expect_as_stage(image);
}

TEST_F(VtkFilter, SaysWhatTheOperatorNeedsAndGives) {
  ASSERT_EQ(filter_->GetNumberOfOperatorInputs(), 2);
  EXPECT_EQ(filter_->GetOperatorInputName(1), "force");
  EXPECT_EQ(filter_->GetOperatorInputComponents(1), 3);
  EXPECT_EQ(filter_->GetOperatorInputAssociation(1), vtkDataObject::POINT);
  EXPECT_EQ(filter_->GetOperatorInputName(2), "");
  ASSERT_EQ(filter_->GetNumberOfOperatorOutputs(), 2);
  EXPECT_EQ(filter_->GetOperatorOutputName(0), "pressure");
  EXPECT_EQ(filter_->GetOperatorOutputUnit(0), "Pa");
  EXPECT_STREQ(filter_->GetOperatorInputs(),
               "load: point, 1 component\nforce: point, 3 components");
  EXPECT_STREQ(filter_->GetOperatorOutputs(),
               "pressure: point, 1 component, Pa\ndisplacement: point, 3 components, m");
  EXPECT_EQ(Json::parse(filter_->GetContract()), OperatorStage(operator_file()).contract());
  EXPECT_EQ(filter_->LoadOperator(), 1);
}

TEST_F(VtkFilter, WeightsAsRecordedAreTheDefault) {
  const auto data = test::make_surface();
  filter_->SetInputData(data);
  filter_->SetWeights("recorded");
  filter_->Update();
  expect_as_stage(data);
  filter_->SetWeights("uniform");
  filter_->Update();
  StageOptions uniform = one_thread();
  uniform.weights = "uniform";
  expect_as_stage(data, uniform);
}

TEST_F(VtkFilter, WarningsAreEventsAndCanBeAskedFor) {
  const auto coarse = test::make_grid(3, 3);
  filter_->SetInputData(coarse.vtk());
  const EventTexts warnings(filter_, vtkCommand::WarningEvent);
  filter_->Update();
  ASSERT_EQ(filter_->GetNumberOfWarnings(), 1);
  EXPECT_NE(filter_->GetWarning(0).find("has 9 points"), std::string::npos);
  EXPECT_TRUE(warnings.contain(filter_->GetWarning(0)));
}

}  // namespace
}  // namespace funcattn
