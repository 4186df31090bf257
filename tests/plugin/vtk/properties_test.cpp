// Outputs, parameters, device and the look inside: what is set at the filter is what the stage
// does.

#include <vtkDataArray.h>
#include <vtkExecutive.h>
#include <vtkFieldData.h>
#include <vtkNeuralOperator.h>
#include <vtkPointData.h>
#include <vtkStringArray.h>

#include <cmath>
#include <sstream>

#include "operators/operator_file.h"
#include "plugin/stage.h"
#include "tests/plugin/samples.h"
#include "tests/plugin/vtk/data_sets.h"
#include "tests/support/folder_test.h"

namespace funcattn {
namespace {

using test::EventTexts;
using test::values_of;

using Vector = std::vector<double>;
using Texts = std::vector<std::string>;

class VtkProperties : public test::FolderTest {
 protected:
  void SetUp() override {
    FolderTest::SetUp();
    save_operator(operator_file(), test::make_parametric());
    filter_->SetFileName(operator_file().c_str());
    filter_->SetThreads(1);
    filter_->SetInputData(grid_);
  }

  std::string operator_file() const { return (folder_ / "parametric.safetensors").string(); }

  vtkDataSet* output() { return vtkDataSet::SafeDownCast(filter_->GetOutputDataObject(0)); }

  Vector predicted(const char* name = "pressure_predicted") {
    filter_->Update();
    EXPECT_STREQ(filter_->GetLastError(), "");
    return values_of(output(), name);
  }

  Vector of_stage(const Vector& force) {
    StageOptions options;
    options.threads = 1;
    options.parameters["force"] = force;
    const StageResult result = OperatorStage(operator_file()).run(Mesh(grid_, "input"), options);
    return values_of(result.mesh.vtk(), "pressure_predicted");
  }

  /// Text and kind of the error of an execution, of which there is one.
  std::string error() {
    const EventTexts errors(filter_, vtkCommand::ErrorEvent);
    const EventTexts of_executive(filter_->GetExecutive(), vtkCommand::ErrorEvent);
    filter_->Update();
    EXPECT_EQ(errors.count(), 1u);
    EXPECT_FALSE(output()->GetPointData()->HasArray("pressure_predicted"));
    return std::string(filter_->GetLastErrorKind()) + ": " + filter_->GetLastError();
  }

  Texts names_of(vtkFieldData* data) {
    Texts names;
    for (int i = 0; i < data->GetNumberOfArrays(); ++i)
      names.emplace_back(data->GetAbstractArray(i)->GetName());
    return names;
  }

  vtkSmartPointer<vtkDataSet> grid_ = test::make_unstructured_grid();
  vtkNew<vtkNeuralOperator> filter_;
};

TEST_F(VtkProperties, ParametersChangeTheResultAsInTheStage) {
  const double force[] = {0.25, -0.5, 2};
  filter_->SetParameter("force", 3, force);
  const Vector first = predicted();
  ASSERT_EQ(first.size(), 30u);
  EXPECT_EQ(first, of_stage({0.25, -0.5, 2}));
  EXPECT_EQ(filter_->GetNumberOfWarnings(), 0);

  const EventTexts runs(filter_, vtkCommand::StartEvent);
  filter_->SetParameter("force", 3, force);
  filter_->Update();
  EXPECT_EQ(runs.count(), 0u) << "the same value is no change";
  const double other[] = {0.75, -0.5, 2};
  filter_->SetParameter("force", 3, other);
  const Vector second = predicted();
  EXPECT_EQ(runs.count(), 1u);
  EXPECT_EQ(second, of_stage({0.75, -0.5, 2}));
  EXPECT_NE(first, second);

  filter_->ClearParameters();
  for (const char* text : {"0.25,-0.5,2", " 0.25 , -5e-1, 2 ", "0.25 -0.5  2"}) {
    filter_->AddParameterText("force", text);
    filter_->AddParameterText("", " ");  // A row that nobody has filled.
    EXPECT_EQ(predicted(), first) << text;
    filter_->RemoveParameter("force");
    EXPECT_NE(error().find("data: input: there is no value for the parameter 'force'"),
              std::string::npos);
  }
}

TEST_F(VtkProperties, ParametersOutsideTheTrainingRangeAreAWarning) {
  const double force[] = {0.25, 7, 2};
  filter_->SetParameter("force", 3, force);
  const EventTexts warnings(filter_, vtkCommand::WarningEvent);
  EXPECT_EQ(predicted(), of_stage({0.25, 7, 2}));
  ASSERT_EQ(filter_->GetNumberOfWarnings(), 1);
  EXPECT_EQ(filter_->GetWarning(0),
            "input: the parameter 'force' is (0.25, 7, 2) N, training had (0, -1, 2) to (1, 0, 2) "
            "N: the prediction extrapolates");
  EXPECT_TRUE(warnings.contain(filter_->GetWarning(0)));
}

TEST_F(VtkProperties, WrongParametersAreErrors) {
  filter_->SetParameter("force", 1);
  EXPECT_EQ(error(),
            "usage: the parameter 'force' (3 numbers, (0, -1, 2) to (1, 0, 2) N in training) was "
            "given 1 numbers");
  filter_->ClearParameters();
  filter_->SetParameter("angle", 1);
  EXPECT_EQ(error(), "usage: the operator has no parameter 'angle'; it has force");
  filter_->ClearParameters();
  for (const char* text : {"0.25,one,2", "0.25,,2", "", "0.25, -0.5, 2,"}) {
    filter_->AddParameterText("force", text);
    EXPECT_EQ(error(), std::string("usage: the parameter 'force' was given '") + text +
                           "', expected numbers, separated by commas or blanks");
    filter_->ClearParameters();
  }
  filter_->AddParameterText("force", "0.25, -0.5, 2");
  filter_->AddParameterText("force", "0.75, -0.5, 2");
  EXPECT_EQ(error(), "usage: the parameter 'force' is given twice");
  filter_->ClearParameters();
  filter_->AddParameterText("force", "0.25, -0.5, 2");
  EXPECT_EQ(predicted(), of_stage({0.25, -0.5, 2}));
}

TEST_F(VtkProperties, TheContractSaysWhichParametersThereAre) {
  ASSERT_EQ(filter_->GetNumberOfOperatorParameters(), 1);
  EXPECT_EQ(filter_->GetOperatorParameterName(0), "force");
  EXPECT_EQ(filter_->GetOperatorParameterUnit(0), "N");
  EXPECT_EQ(filter_->GetOperatorParameterComponents(0), 3);
  EXPECT_EQ(filter_->GetOperatorParameterMinimum(0, 1), -1);
  EXPECT_EQ(filter_->GetOperatorParameterMaximum(0, 0), 1);
  EXPECT_TRUE(std::isnan(filter_->GetOperatorParameterMaximum(0, 3)));
  EXPECT_TRUE(std::isnan(filter_->GetOperatorParameterMaximum(1, 0)));
  EXPECT_EQ(filter_->GetOperatorParameterName(1), "");
  EXPECT_STREQ(filter_->GetOperatorParameters(), "force: 3 components, N, (0, -1, 2) to (1, 0, 2)");
  EXPECT_EQ(filter_->GetOperatorInputAssociation(1), vtkDataObject::FIELD);
  vtkStringArray* names = filter_->GetOperatorOutputNames();
  ASSERT_EQ(names->GetNumberOfValues(), 2);
  EXPECT_EQ(std::string(names->GetValue(1)), "displacement");

  save_operator(operator_file(), test::make_surrogate());
  EXPECT_EQ(filter_->GetNumberOfOperatorParameters(), 0);
  EXPECT_STREQ(filter_->GetOperatorParameters(), "");
  filter_->SetFileName("");
  EXPECT_EQ(filter_->GetOperatorOutputNames()->GetNumberOfValues(), 0);
}

TEST_F(VtkProperties, OutputsAreThoseThatAreChosen) {
  const double force[] = {0.25, -0.5, 2};
  filter_->SetParameter("force", 3, force);
  const Vector all = predicted("displacement_predicted");
  EXPECT_EQ(names_of(output()->GetPointData()),
            (Texts{"load", "force", "pressure_predicted", "displacement_predicted"}));
  filter_->AddOutputArray("displacement");
  EXPECT_EQ(predicted("displacement_predicted"), all);
  EXPECT_EQ(names_of(output()->GetPointData()), (Texts{"load", "force", "displacement_predicted"}));
  EXPECT_EQ(filter_->GetNumberOfOutputArrays(), 1);
  EXPECT_EQ(filter_->GetOutputArrayName(0), "displacement");
  EXPECT_EQ(filter_->GetOutputArrayName(1), "");

  const vtkMTimeType before = filter_->GetMTime();
  filter_->AddOutputArray("displacement");
  filter_->RemoveOutputArray("pressure");
  EXPECT_EQ(filter_->GetMTime(), before);
  filter_->AddOutputArray("presure");
  EXPECT_GT(filter_->GetMTime(), before);
  EXPECT_EQ(error(),
            "usage: the operator has no output 'presure'; it predicts pressure, displacement");
  filter_->RemoveOutputArray("presure");
  EXPECT_EQ(predicted("displacement_predicted"), all);
  filter_->ClearOutputArrays();
  EXPECT_EQ(predicted().size(), 30u);

  ASSERT_EQ(filter_->GetNumberOfOperatorOutputArrays(), 2);
  EXPECT_STREQ(filter_->GetOperatorOutputArrayName(1), "displacement");
  filter_->SetOutputArrayStatus("displacement", 1);
  filter_->SetOutputArrayStatus("pressure", 0);
  EXPECT_EQ(filter_->GetOperatorOutputArrayStatus("displacement"), 1);
  EXPECT_EQ(filter_->GetOperatorOutputArrayStatus("pressure"), 0);
  EXPECT_EQ(predicted("displacement_predicted"), all);
  EXPECT_FALSE(output()->GetPointData()->HasArray("pressure_predicted"));
  filter_->SetOutputArrayStatus("displacement", 0);
  EXPECT_EQ(predicted().size(), 30u) << "none is all";
}

TEST_F(VtkProperties, TheDeviceIsCheckedAndTold) {
  filter_->AddParameterText("force", "0.25 -0.5 2");
  EXPECT_STREQ(filter_->GetDevice(), "cpu");
  EXPECT_STREQ(filter_->GetUsedDevice(), "");
  const Vector on_cpu = predicted();
  EXPECT_STREQ(filter_->GetUsedDevice(), "cpu");
  filter_->SetDevice("gpu");
  EXPECT_EQ(error(), "usage: unknown device 'gpu'; choose auto, cpu, cuda or cuda:N");
  EXPECT_STREQ(filter_->GetUsedDevice(), "");
  filter_->SetDevice("cuda:99");
  EXPECT_NE(error().find("usage: the device cuda:99 is not there"), std::string::npos);
  filter_->SetDevice("auto");
  const Vector found = predicted();
  const bool on_gpu = std::string(filter_->GetUsedDevice()) != "cpu";
  EXPECT_EQ(filter_->GetNumberOfNotes(), on_gpu ? 0 : 1);
  if (!on_gpu) {
    EXPECT_EQ(found, on_cpu);
    EXPECT_NE(filter_->GetNote(0).find("no GPU"), std::string::npos) << filter_->GetNote(0);
  }
  EXPECT_EQ(filter_->GetNote(1), "");
  filter_->SetDevice("");
  EXPECT_EQ(predicted(), on_cpu);
  EXPECT_EQ(filter_->GetNumberOfNotes(), 0);
}

TEST_F(VtkProperties, BasisAndTransportAreAddedAndChangeNothingElse) {
  filter_->AddParameterText("force", "0.25 -0.5 2");
  const Vector plain = predicted();
  EXPECT_EQ(output()->GetFieldData()->GetNumberOfArrays(), 0);
  filter_->AddBasisOn();
  EXPECT_EQ(predicted(), plain);
  EXPECT_EQ(output()->GetPointData()->GetNumberOfArrays(), 8);
  const Vector basis = values_of(output(), "basis_block2_head1");
  ASSERT_EQ(basis.size(), 30u * 5u);
  for (std::size_t row = 0; row < 30; ++row) {
    double sum = 0;
    for (std::size_t column = 0; column < 5; ++column) sum += basis[row * 5 + column];
    EXPECT_NEAR(sum, 1, 1e-12);
  }
  filter_->AddBasisOff();
  filter_->AddTransportOn();
  filter_->AddInspectedBlock(2);
  EXPECT_EQ(predicted(), plain);
  EXPECT_EQ(output()->GetPointData()->GetNumberOfArrays(), 4);
  EXPECT_EQ(names_of(output()->GetFieldData()),
            (Texts{"transport_block2_head1", "transport_block2_head2", "singular_values_block2",
                   "condition_number_block2"}));
  EXPECT_EQ(output()->GetFieldData()->GetArray("transport_block2_head1")->GetNumberOfTuples(), 5);
  EXPECT_EQ(grid_->GetFieldData()->GetNumberOfArrays(), 0);
  filter_->AddInspectedBlock(3);
  EXPECT_EQ(error(), "usage: there is no block 3 to look into; the operator has 1 to 2");
  filter_->ClearInspectedBlocks();
  EXPECT_EQ(predicted(), plain);
  EXPECT_TRUE(output()->GetFieldData()->HasArray("transport_block1_head1"));
}

TEST_F(VtkProperties, AllArePrinted) {
  filter_->AddOutputArray("pressure");
  filter_->SetParameter("angle", 2.5);
  filter_->AddParameterText("force", "1 2 3");
  filter_->SetDevice("auto");
  filter_->AddInspectedBlock(2);
  std::ostringstream text;
  filter_->Print(text);
  for (const char* line :
       {"OutputArrays: pressure\n", "Parameters: angle = 2.5; force = 1 2 3;\n", "Device: auto\n",
        "InspectedBlocks: 2\n", "AddBasis: 0\n", "AddTransport: 0\n"})
    EXPECT_NE(text.str().find(line), std::string::npos) << line << text.str();
}

}  // namespace
}  // namespace funcattn
