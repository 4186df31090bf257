// Every wrong setting gives one clear error and an empty output; put right, the same filter works.

#include <vtkCellData.h>
#include <vtkDoubleArray.h>
#include <vtkExecutive.h>
#include <vtkImageData.h>
#include <vtkInformation.h>
#include <vtkInformationVector.h>
#include <vtkNeuralOperator.h>
#include <vtkPassThrough.h>
#include <vtkPointData.h>
#include <vtkPolyData.h>
#include <vtkTable.h>
#include <vtkUnstructuredGrid.h>
#include <vtkUnstructuredGridAlgorithm.h>
#include <vtkXMLUnstructuredGridReader.h>

#include <fstream>
#include <functional>

#include "meshio/writer.h"
#include "operators/operator_file.h"
#include "tests/plugin/samples.h"
#include "tests/plugin/vtk/data_sets.h"
#include "tests/support/folder_test.h"
#include "tests/support/memory_limit.h"

namespace funcattn {
namespace {

using test::EventTexts;
using test::values_of;

/// Hands on a grid, or fails.
class FailingSource : public vtkUnstructuredGridAlgorithm {
 public:
  static FailingSource* New() {
    auto* source = new FailingSource;
    source->InitializeObjectBase();
    return source;
  }
  vtkTypeMacro(FailingSource, vtkUnstructuredGridAlgorithm)
  vtkSmartPointer<vtkDataSet> grid;
  bool fails_to_inform = false;
  bool fails_to_produce = false;

 protected:
  FailingSource() { SetNumberOfInputPorts(0); }
  int RequestInformation(vtkInformation*, vtkInformationVector**, vtkInformationVector*) override {
    return fails_to_inform ? 0 : 1;
  }
  int RequestData(vtkInformation*, vtkInformationVector**, vtkInformationVector* outputs) override {
    if (fails_to_inform || fails_to_produce) return 0;
    vtkDataObject::GetData(outputs, 0)->ShallowCopy(grid);
    return 1;
  }
};

class VtkFilterErrors : public test::FolderTest {
 protected:
  void SetUp() override {
    FolderTest::SetUp();
    save_operator(operator_file(), test::make_surrogate());
    grid_ = test::make_unstructured_grid();
    filter_->SetFileName(operator_file().c_str());
    filter_->SetThreads(1);
    filter_->SetInputData(grid_);
  }

  std::string operator_file() const { return (folder_ / "op.safetensors").string(); }

  std::size_t predicted_values() {
    auto* output = vtkDataSet::SafeDownCast(filter_->GetOutputDataObject(0));
    return output ? values_of(output, "pressure_predicted").size() : 0;
  }

  /// Updates with a wrong setting, then with the right one again.
  void expect_error(const std::string& text, const std::string& kind,
                    const std::function<void()>& spoil, const std::function<void()>& repair) {
    SCOPED_TRACE(text);
    spoil();
    {
      const EventTexts errors(filter_, vtkCommand::ErrorEvent);
      const EventTexts of_executive(filter_->GetExecutive(), vtkCommand::ErrorEvent);
      filter_->Update();
      ASSERT_EQ(errors.count(), 1u);
      EXPECT_TRUE(errors.contain(text)) << errors.texts().front();
      EXPECT_NE(std::string(filter_->GetLastError()).find(text), std::string::npos);
      EXPECT_EQ(filter_->GetLastErrorKind(), kind);
      EXPECT_EQ(predicted_values(), 0u);
      // Asked again, it does not pretend that the empty output is a result.
      filter_->Update();
      EXPECT_EQ(errors.count(), 2u);
    }
    repair();
    const EventTexts errors(filter_, vtkCommand::ErrorEvent);
    filter_->Update();
    EXPECT_EQ(errors.count(), 0u);
    EXPECT_STREQ(filter_->GetLastError(), "");
    EXPECT_EQ(predicted_values(), 30u);
  }

  vtkSmartPointer<vtkDataSet> grid_;
  vtkNew<vtkNeuralOperator> filter_;
};

TEST_F(VtkFilterErrors, OperatorFiles) {
  const auto right = [&] { filter_->SetFileName(operator_file().c_str()); };
  expect_error(
      "set FileName", "usage", [&] { filter_->SetFileName(nullptr); }, right);
  expect_error(
      "nowhere.safetensors", "file",
      [&] { filter_->SetFileName((folder_ / "nowhere.safetensors").c_str()); }, right);
  const auto damaged = folder_ / "damaged.safetensors";
  std::ofstream(damaged) << "not an operator";
  expect_error(
      "damaged.safetensors", "operator_file", [&] { filter_->SetFileName(damaged.c_str()); },
      right);
  expect_error(
      folder_.string(), "file", [&] { filter_->SetFileName(folder_.c_str()); }, right);
}

TEST_F(VtkFilterErrors, AFileThatIsRepairedInPlace) {
  const auto file = folder_ / "other.safetensors";
  expect_error(
      "other.safetensors", "operator_file",
      [&] {
        std::ofstream(file) << "half";
        filter_->SetFileName(file.c_str());
      },
      [&] { save_operator(file, test::make_surrogate()); });
}

TEST_F(VtkFilterErrors, PropertiesOutOfRange) {
  expect_error(
      "NanPolicy is 7", "usage", [&] { filter_->SetNanPolicy(7); },
      [&] { filter_->SetNanPolicy(vtkNeuralOperator::NAN_ERROR); });
  expect_error(
      "ActivationMemory is -1", "usage", [&] { filter_->SetActivationMemory(-1); },
      [&] { filter_->SetActivationMemory(vtkNeuralOperator::RESIDENT); });
  expect_error(
      "cubature", "usage", [&] { filter_->SetWeights("cubature"); },
      [&] { filter_->SetWeights(nullptr); });
  expect_error(
      "no point array 'area'", "data",
      [&] {
        filter_->SetWeights("array");
        filter_->SetWeightArray("area");
      },
      [&] { filter_->SetWeights("uniform"); });
  expect_error(
      "/nowhere", "file",
      [&] {
        filter_->SetActivationMemory(vtkNeuralOperator::SPILLED);
        filter_->SetSpillFolder("/nowhere");
      },
      [&] { filter_->SetSpillFolder(nullptr); });
}

TEST_F(VtkFilterErrors, InputsThatDoNotFit) {
  const auto right = [&] { filter_->SetInputData(grid_); };
  const Mesh grid(grid_, "grid");
  const Mesh without = test::without_array(grid, "load", Association::point);
  expect_error(
      "there is no point array 'load'", "data", [&] { filter_->SetInputData(without.vtk()); },
      right);
  const Mesh nan = test::with_value(grid, "force", Association::point, 3,
                                    std::numeric_limits<double>::quiet_NaN());
  expect_error(
      "first at index 3", "data", [&] { filter_->SetInputData(nan.vtk()); }, right);
  const Mesh taken =
      grid.with_array({"pressure_predicted", Association::point, 1, ""}, RowMatrix::Zero(30, 1));
  expect_error(
      "'pressure_predicted'", "data", [&] { filter_->SetInputData(taken.vtk()); }, right);
  filter_->SetInputData(taken.vtk());
  filter_->OverwriteOn();
  filter_->Update();
  EXPECT_EQ(predicted_values(), 30u);
}

TEST_F(VtkFilterErrors, BlocksAreNamed) {
  const auto blocks = test::make_blocks();
  vtkDataSet::SafeDownCast(blocks->GetBlock(0))->GetPointData()->RemoveArray("force");
  expect_error(
      "block 'left'", "data", [&] { filter_->SetInputData(blocks); },
      [&] { filter_->SetInputData(grid_); });
}

TEST_F(VtkFilterErrors, APieceOfTheWhole) {
  const EventTexts errors(filter_, vtkCommand::ErrorEvent);
  const EventTexts of_executive(filter_->GetExecutive(), vtkCommand::ErrorEvent);
  filter_->UpdatePiece(1, 4, 0);
  EXPECT_TRUE(errors.contain("piece 1 of 4"));
  EXPECT_EQ(predicted_values(), 0u);
  filter_->UpdatePiece(0, 1, 0);
  EXPECT_EQ(predicted_values(), 30u);
}

TEST_F(VtkFilterErrors, NoInputAndInputsThatAreNoMeshes) {
  const auto right = [&] { filter_->SetInputData(grid_); };
  filter_->Update();
  expect_error(
      "the filter has no input", "usage", [&] { filter_->SetInputConnection(0, nullptr); }, right);
  vtkNew<vtkTable> table;
  expect_error(
      "the input is a vtkTable, expected a vtkDataSet", "data",
      [&] { filter_->SetInputData(table); }, right);
  expect_error(
      "the query is a vtkTable, expected a vtkDataSet", "data",
      [&] { filter_->SetInputData(1, table); }, [&] { filter_->SetInputConnection(1, nullptr); });
  expect_error(
      "the input has 2 connections, expected one", "usage",
      [&] { filter_->AddInputDataObject(0, grid_); }, right);
}

TEST_F(VtkFilterErrors, InputsWhoseSourceFailed) {
  for (const auto fails : {&FailingSource::fails_to_inform, &FailingSource::fails_to_produce}) {
    vtkNew<FailingSource> source;
    source->grid = grid_;
    filter_->SetInputConnection(source->GetOutputPort());
    filter_->Update();
    EXPECT_EQ(predicted_values(), 30u);
    expect_error(
        "there are no data to work on: the update of the input (FailingSource) failed", "data",
        [&] {
          source.Get()->*fails = true;
          source->Modified();
        },
        [&] {
          source.Get()->*fails = false;
          source->Modified();
        });
    // Another input of before the failure is none of it.
    expect_error(
        "the input (FailingSource) failed", "data",
        [&] {
          source.Get()->*fails = true;
          source->Modified();
        },
        [&] { filter_->SetInputData(grid_); });
  }
}

TEST_F(VtkFilterErrors, QueriesWhoseSourceFailed) {
  vtkNew<FailingSource> source;
  source->grid = grid_;
  filter_->SetQueryConnection(source->GetOutputPort());
  expect_error(
      "the update of the input (vtkTrivialProducer) or of the query (FailingSource) failed", "data",
      [&] {
        source->fails_to_produce = true;
        source->Modified();
      },
      [&] {
        source->fails_to_produce = false;
        source->Modified();
      });
}

TEST_F(VtkFilterErrors, UpdatesThatAFilterDownstreamAsksFor) {
  vtkNew<FailingSource> source;
  vtkNew<vtkPassThrough> consumer;
  source->grid = grid_;
  filter_->SetInputConnection(source->GetOutputPort());
  consumer->SetInputConnection(filter_->GetOutputPort());
  consumer->Update();
  EXPECT_STREQ(filter_->GetLastError(), "");
  EXPECT_EQ(predicted_values(), 30u);
  source->fails_to_produce = true;
  source->Modified();
  const EventTexts errors(filter_, vtkCommand::ErrorEvent);
  consumer->Update();
  EXPECT_EQ(errors.count(), 1u);
  EXPECT_STREQ(filter_->GetLastErrorKind(), "data");
  EXPECT_EQ(predicted_values(), 0u);
  filter_->SetInputConnection(0, nullptr);
  consumer->Update();
  EXPECT_EQ(errors.count(), 2u);
  EXPECT_STREQ(filter_->GetLastErrorKind(), "usage");
  filter_->SetInputData(grid_);
  consumer->Update();
  EXPECT_EQ(errors.count(), 2u);
  EXPECT_STREQ(filter_->GetLastError(), "");
  EXPECT_EQ(
      values_of(vtkDataSet::SafeDownCast(consumer->GetOutputDataObject(0)), "pressure_predicted")
          .size(),
      30u);
}

TEST_F(VtkFilterErrors, AReaderFarUpstream) {
  const auto file = folder_ / "late.vtu";
  vtkNew<vtkXMLUnstructuredGridReader> reader;
  vtkNew<vtkPassThrough> between;
  const EventTexts of_reader(reader, vtkCommand::ErrorEvent);
  const EventTexts of_executive(reader->GetExecutive(), vtkCommand::ErrorEvent);
  reader->SetFileName(file.c_str());
  between->SetInputConnection(reader->GetOutputPort());
  expect_error(
      "the update of the input (vtkPassThrough) failed", "data",
      [&] { filter_->SetInputConnection(between->GetOutputPort()); },
      [&] {
        write_mesh(Mesh(grid_, "grid"), file);
        reader->Modified();
      });
}

TEST_F(VtkFilterErrors, PointsThatMemoryDoesNotHold) {
  const Operator small = test::make_surrogate();
  ModelConfig wide = small.model().config();
  wide.width = 512;
  save_operator(operator_file(), {make_model(wide, torch::kFloat64, 7), small.contract()});
  vtkNew<vtkImageData> image;
  image->SetDimensions(800, 500, 1);  // 1.6 GB of features.
  image->SetSpacing(1.0 / 800, 1.0 / 500, 1);
  for (const auto& [name, components] : {std::pair{"load", 1}, {"force", 3}}) {
    vtkNew<vtkDoubleArray> array;
    array->SetName(name);
    array->SetNumberOfComponents(components);
    array->SetNumberOfTuples(image->GetNumberOfPoints());
    array->Fill(0.5);
    image->GetPointData()->AddArray(array);
  }
  std::unique_ptr<test::MemoryLimit> limit;
  expect_error(
      "the features of the points need 1.53 GiB", "memory",
      [&] {
        filter_->SetInputData(image);
        limit = std::make_unique<test::MemoryLimit>(800000000);
      },
      [&] {
        limit.reset();
        filter_->SetInputData(grid_);
      });
}

TEST_F(VtkFilterErrors, AMeshWithoutPointsIsAWarning) {
  vtkNew<vtkPolyData> nothing;
  filter_->SetInputData(nothing);
  const EventTexts warnings(filter_, vtkCommand::WarningEvent);
  filter_->Update();
  EXPECT_TRUE(warnings.contain("no points"));
  auto* output = vtkDataSet::SafeDownCast(filter_->GetOutputDataObject(0));
  EXPECT_NE(output->GetPointData()->GetArray("pressure_predicted"), nullptr);
}

TEST_F(VtkFilterErrors, WhatIsAskedOfAMissingFileIsEmpty) {
  filter_->SetFileName("/nowhere.safetensors");
  const EventTexts errors(filter_, vtkCommand::ErrorEvent);
  EXPECT_EQ(filter_->GetNumberOfOperatorInputs(), 0);
  EXPECT_EQ(filter_->GetContract(), "");
  EXPECT_STREQ(filter_->GetOperatorInputs(), "");
  EXPECT_EQ(filter_->GetOperatorOutputName(0), "");
  EXPECT_EQ(errors.count(), 0u);
  EXPECT_EQ(filter_->LoadOperator(), 0);
  EXPECT_TRUE(errors.contain("/nowhere.safetensors"));
}

}  // namespace
}  // namespace funcattn
