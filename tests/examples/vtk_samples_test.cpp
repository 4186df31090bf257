#include "examples/vtk_samples.h"

#include <gtest/gtest.h>
#include <vtkDoubleArray.h>
#include <vtkFieldData.h>
#include <vtkNew.h>

#include <cstdlib>

#include "core/error.h"
#include "meshio/class_array.h"
#include "meshio/mesh.h"
#include "meshio/reader.h"
#include "meshio/writer.h"
#include "tests/support/folder_test.h"

namespace funcattn {
namespace {

namespace fs = std::filesystem;

class VtkSamplesTest : public test::FolderTest {
 protected:
  // A line from (10, 5, 0) to (14, 5, 0): y and z are constant.
  fs::path write_line(const std::string& name, int points, double load) const {
    RowMatrix coordinates = RowMatrix::Zero(points, 3);
    coordinates.col(1).setConstant(5);
    for (int i = 0; i < points; ++i) coordinates(i, 0) = 10 + 4.0 * i / (points - 1);
    const RowMatrix force = RowMatrix::Constant(points, 1, load);
    const Mesh mesh = make_polyline(coordinates, name)
                          .with_array({"load", Association::point, 1, ""}, force)
                          .with_array({"pressure", Association::point, 1, ""},
                                      RowMatrix(coordinates.col(0) * load));
    fs::create_directories((folder_ / name).parent_path());
    write_mesh(mesh, folder_ / name);
    return folder_ / name;
  }
};

TEST_F(VtkSamplesTest, TheContractSaysWhatTheFilesHold) {
  const std::vector<fs::path> files = {write_line("a.vtp", 5, 1), write_line("b.vtp", 9, 3)};
  ArrayChoice arrays;
  arrays.inputs = {"load"};
  arrays.targets = {"pressure"};
  const VtkTrainingSet set = load_training_set(files, arrays, {});
  const Contract& contract = set.contract;
  EXPECT_EQ(contract.coordinates.axes, std::vector<int>{0}) << "constant axes are left out";
  EXPECT_EQ(contract.coordinates.center, std::vector<double>{12});
  EXPECT_EQ(contract.coordinates.scale, 2);
  EXPECT_EQ(contract.min_points, 5);
  EXPECT_EQ(contract.max_points, 9);
  EXPECT_EQ(contract.bounds_min, std::vector<double>{10});
  EXPECT_EQ(contract.bounds_max, std::vector<double>{14});
  EXPECT_NEAR(contract.input_normalisation.mean.at(0), 2, 1e-12) << "samples count alike";
  EXPECT_NEAR(contract.input_normalisation.scale.at(0), 1, 1e-12);
  ASSERT_EQ(set.samples.size(), 2u);
  EXPECT_EQ(load_samples(files, contract).at(1).targets.size(0), 9);
}

TEST_F(VtkSamplesTest, ParametersComeFromFieldData) {
  const auto write = [&](const std::string& name, double speed, double angle) {
    const fs::path file = write_line(name, 4, speed);
    const Mesh mesh = read_mesh(file);
    vtkNew<vtkDoubleArray> inflow;
    inflow->SetName("inflow");
    inflow->SetNumberOfComponents(2);
    inflow->InsertNextTuple2(speed, angle);
    mesh.vtk()->GetFieldData()->AddArray(inflow);
    write_mesh(mesh, file);
    return file;
  };
  const std::vector<fs::path> files = {write("a.vtp", 1, 0.5), write("b.vtp", 3, -0.5)};
  ArrayChoice arrays;
  arrays.inputs = {"load"};
  arrays.parameters = {"inflow"};
  arrays.targets = {"pressure"};
  const VtkTrainingSet set = load_training_set(files, arrays, {});
  ASSERT_EQ(set.contract.parameters().size(), 1u);
  const InputArray inflow = set.contract.parameters().front();
  EXPECT_EQ(inflow.components, 2);
  EXPECT_EQ(inflow.min, (std::vector<double>{1, -0.5}));
  EXPECT_EQ(inflow.max, (std::vector<double>{3, 0.5}));
  const std::vector<double>& mean = set.contract.input_normalisation.mean;
  const std::vector<double>& scale = set.contract.input_normalisation.scale;
  ASSERT_EQ(mean.size(), 3u);
  EXPECT_NEAR(mean[1], 2, 1e-12);
  EXPECT_NEAR(scale[1], 1, 1e-12);
  EXPECT_NEAR(mean[2], 0, 1e-12);
  EXPECT_NEAR(scale[2], 0.5, 1e-12);
  const Tensor values = load_samples(files, set.contract).at(1).source.values;
  EXPECT_EQ(values.size(1), 3);
  EXPECT_TRUE(values.select(1, 1).eq(3).all().item<bool>());
  EXPECT_TRUE(values.select(1, 2).eq(-0.5).all().item<bool>());

  write_dataset_description(folder_, "a set", set.contract);
  ArrayChoice described;
  CoordinateHandling coordinates;
  read_dataset_description(folder_, described, coordinates);
  EXPECT_EQ(described.inputs, std::vector<std::string>{"load"});
  EXPECT_EQ(described.parameters, std::vector<std::string>{"inflow"});

  arrays.parameters = {"outflow"};
  try {
    load_training_set(files, arrays, {});
    FAIL() << "nothing was thrown";
  } catch (const DataError& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("a.vtp: the field data have no values 'outflow'; they have inflow"),
              std::string::npos)
        << text;
  }
}

TEST_F(VtkSamplesTest, AMissingArrayIsNamedWithTheFile) {
  ArrayChoice arrays;
  arrays.inputs = {"lod"};
  arrays.targets = {"pressure"};
  try {
    load_training_set({write_line("a.vtp", 5, 1)}, arrays, {});
    FAIL() << "nothing was thrown";
  } catch (const DataError& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("lod"), std::string::npos) << text;
    EXPECT_NE(text.find("a.vtp"), std::string::npos) << text;
  }
  arrays.targets.clear();
  EXPECT_THROW(load_training_set({folder_ / "a.vtp"}, arrays, {}), UsageError);
}

TEST_F(VtkSamplesTest, FoldersServeByName) {
  write_line("train/0.vtp", 3, 1);
  write_line("valid/0.vtp", 3, 1);
  write_line("test/0.vtp", 3, 1);
  write_line("test_x4/0.vtp", 9, 1);
  EXPECT_EQ(training_files(folder_).size(), 1u);
  EXPECT_EQ(validation_files(folder_).size(), 1u);
  const auto sets = test_sets(folder_);
  ASSERT_EQ(sets.size(), 2u);
  EXPECT_EQ(sets[0].first, "test");
  EXPECT_EQ(sets[1].first, "test_x4");
  EXPECT_EQ(test_sets(folder_ / "train").at(0).first, "train");
  EXPECT_TRUE(validation_files(folder_ / "train").empty());
}

TEST_F(VtkSamplesTest, ADescriptionFillsWhatTheUserLeftOpen) {
  Contract contract;
  contract.inputs.push_back({{"seen", Association::point, 1, ""}, InputRole::value});
  contract.inputs.push_back({{"known", Association::point, 1, ""}, InputRole::source_flag});
  contract.outputs.push_back({"u", Association::point, 1, ""});
  contract.coordinates = {{0}, {0.0}, 1.0};
  write_dataset_description(folder_, "a set", contract);
  ArrayChoice arrays;
  CoordinateHandling coordinates;
  read_dataset_description(folder_, arrays, coordinates);
  EXPECT_EQ(arrays.inputs, std::vector<std::string>{"seen"});
  EXPECT_EQ(arrays.source_flag, "known");
  EXPECT_EQ(arrays.targets, std::vector<std::string>{"u"});
  EXPECT_EQ(coordinates.axes, std::vector<int>{0});
  EXPECT_EQ(arrays.weights, "auto");
  EXPECT_EQ(arrays.association, Association::point);

  arrays = {};
  arrays.targets = {"mine"};
  arrays.weights = "uniform";
  read_dataset_description(folder_, arrays, coordinates);
  EXPECT_EQ(arrays.targets, std::vector<std::string>{"mine"});
  EXPECT_EQ(arrays.weights, "uniform");

  Contract of_cells;
  of_cells.inputs.push_back({{"seen", Association::cell, 1, ""}, InputRole::value});
  of_cells.outputs.push_back({"u", Association::cell, 1, ""});
  of_cells.weights = "array:w";
  write_dataset_description(folder_, "cells", of_cells);
  arrays = {};
  read_dataset_description(folder_, arrays, coordinates);
  EXPECT_EQ(arrays.association, Association::cell);
  EXPECT_EQ(arrays.weights, "array:w");

  write_dataset_description(folder_, "broken", contract);
  fs::resize_file(folder_ / "dataset.json", 20);
  EXPECT_THROW(read_dataset_description(folder_, arrays, coordinates), FileError);
}

class ClassSamplesTest : public test::FolderTest {
 protected:
  fs::path write(const std::string& name, const std::vector<int>& labels) const {
    const auto count = static_cast<Eigen::Index>(labels.size());
    RowMatrix places = RowMatrix::Zero(count, 3);
    for (Eigen::Index i = 0; i < count; ++i) places(i, 0) = static_cast<double>(i);
    const Eigen::VectorXi values = Eigen::Map<const Eigen::VectorXi>(labels.data(), count);
    write_mesh(with_class_array(make_polyline(places, name), "label", Association::point, values)
                   .with_array({"real", Association::point, 1, ""}, values.cast<double>()),
               folder_ / name);
    return folder_ / name;
  }

  static ArrayChoice arrays() {
    ArrayChoice choice;
    choice.targets = {"label"};
    choice.classes = true;
    return choice;
  }

  template <typename Error>
  static std::string error_of(const std::vector<fs::path>& files, const ArrayChoice& choice) {
    try {
      load_training_set(files, choice, {});
    } catch (const Error& error) {
      return error.what();
    }
    ADD_FAILURE() << "nothing was thrown";
    return {};
  }
};

TEST_F(ClassSamplesTest, ClassesAreCountedOverAllTrainingSamples) {
  const std::vector<fs::path> files = {write("a.vtp", {0, 5, 5, 2}), write("b.vtp", {0, 9, -3})};
  ArrayChoice choice = arrays();
  const Contract all = load_training_set(files, choice, {}).contract;
  EXPECT_EQ(all.outputs.at(0).classes, (std::vector<int>{-3, 0, 2, 5, 9}));
  EXPECT_FALSE(all.outputs[0].ignored);
  EXPECT_EQ(all.output_components(), 5);
  EXPECT_TRUE(all.output_normalisation.mean.empty());
  choice.ignored_class = 0;
  const VtkTrainingSet set = load_training_set(files, choice, {});
  EXPECT_EQ(set.contract.outputs.at(0).classes, (std::vector<int>{-3, 2, 5, 9}));
  EXPECT_EQ(set.contract.outputs[0].ignored, 0);
  EXPECT_EQ(set.samples[0].targets.size(1), 1) << "the class itself, not a number per class";
  EXPECT_EQ(set.samples[0].targets[1].item<double>(), 5);
  EXPECT_TRUE(set.without_ignored_class.empty());
  choice.ignored_class = 1;
  EXPECT_EQ(load_training_set(files, choice, {}).without_ignored_class,
            std::vector<std::string>{"label"});
  choice.ignored_class = 0;
  choice.targets = {"real"};
  EXPECT_EQ(load_training_set(files, choice, {}).contract.outputs[0].classes,
            set.contract.outputs[0].classes)
      << "whole numbers of any type";

  const std::vector<Sample> others =
      load_samples({write("c.vtp", {0, 5, 8}), write("d.vtp", {8, 11})}, set.contract);
  EXPECT_EQ(unknown_classes(others, set.contract),
            (std::vector<std::string>{"the classes 8, 11 of 'label'"}));
  EXPECT_TRUE(unknown_classes(set.samples, set.contract).empty());
}

TEST_F(ClassSamplesTest, IntegersThatAreNotSaidToBeClassesAreAField) {
  ArrayChoice choice = arrays();
  choice.classes = false;
  const VtkTrainingSet set = load_training_set({write("a.vtp", {0, 5, 5, 2})}, choice, {});
  EXPECT_EQ(set.integer_fields, std::vector<std::string>{"label"});
  EXPECT_FALSE(set.contract.outputs.at(0).is_class());
  EXPECT_NEAR(set.contract.output_normalisation.mean.at(0), 11.0 / 3, 1e-12) << "by the measure";
  choice.targets = {"real"};
  EXPECT_TRUE(load_training_set({folder_ / "a.vtp"}, choice, {}).integer_fields.empty());
}

TEST_F(ClassSamplesTest, TheDataSetMayNameTheClasses) {
  const std::vector<fs::path> files = {write("a.vtp", {0, 1, 1})};
  Contract described;
  described.outputs = {{{"label", Association::point, 1, ""}, {0, 1, 2}, 4}};
  write_dataset_description(folder_, "test", described);
  ArrayChoice choice;
  CoordinateHandling coordinates;
  read_dataset_description(folder_, choice, coordinates);
  EXPECT_EQ(choice.targets, std::vector<std::string>{"label"});
  choice.classes = true;
  const OutputArray output = load_training_set(files, choice, {}).contract.outputs.at(0);
  EXPECT_EQ(output.classes, (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(output.ignored, 4);
  choice.ignored_class = 2;
  EXPECT_EQ(load_training_set(files, choice, {}).contract.outputs[0].classes,
            (std::vector<int>{0, 1}));
  EXPECT_EQ(error_of<DataError>({files[0], write("b.vtp", {0, 3})}, choice),
            "the training samples have the class 3 of 'label', which the data set's dataset.json "
            "does not name; mend it, or remove it and name the arrays with --targets");
}

TEST_F(ClassSamplesTest, RefuseWhatIsNoClass) {
  const fs::path file = write("a.vtp", {3, 3, 3});
  ArrayChoice choice = arrays();
  EXPECT_EQ(error_of<DataError>({file}, choice),
            "the target 'label' has one class only, 3; there is nothing to tell apart");
  choice.ignored_class = 3;
  EXPECT_EQ(error_of<DataError>({file}, choice),
            "the target 'label' has no class but the ignored 3; there is nothing to tell apart");
  EXPECT_EQ(error_of<DataError>({write("c.vtp", {0, 1, -1})}, arrays()),
            "the target 'label' holds -1, by which a prediction says that there is no class; leave "
            "such points out with --ignore-class -1, or number that class otherwise");
  const Mesh mesh = read_mesh(file);
  write_mesh(mesh.with_array({"half", Association::point, 1, ""}, RowMatrix::Constant(3, 1, 2.5))
                 .with_array({"pair", Association::point, 2, ""}, RowMatrix::Zero(3, 2)),
             folder_ / "b.vtp");
  choice.targets = {"half"};
  EXPECT_NE(error_of<DataError>({folder_ / "b.vtp"}, choice)
                .find("point array 'half' holds 2.5 at index 0, which is no class"),
            std::string::npos);
  choice.targets = {"pair"};
  EXPECT_NE(error_of<DataError>({folder_ / "b.vtp"}, choice).find("'pair' has 2 components"),
            std::string::npos);
}

}  // namespace
}  // namespace funcattn
