#include "operators/contract.h"

#include <cmath>
#include <functional>

#include "operator_test_support.h"

namespace funcattn {
namespace {

using test::expect_error;

Contract full_contract() {
  Contract contract = test::fitting_contract(test::small_config(Form::few_shot));
  contract.weights = "array:Volumen ÄÖ";
  return contract;
}

TEST(Contract, JsonReadsBackEqual) {
  const Contract contract = full_contract();
  const Contract read = Contract::from_json(Json::parse(contract.to_json().dump()));
  EXPECT_EQ(read.to_json().dump(), contract.to_json().dump());
  EXPECT_EQ(Contract::from_json(contract.to_json()).to_json(), contract.to_json());
  ASSERT_EQ(read.inputs.size(), 3u);
  EXPECT_EQ(read.inputs[1].name, "in1");
  EXPECT_EQ(read.inputs[1].unit, "m/s");
  EXPECT_EQ(read.inputs[1].role, InputRole::value);
  EXPECT_EQ(read.inputs[2].role, InputRole::source_flag);
  EXPECT_EQ(read.outputs[0].components, 2);
  EXPECT_EQ(read.coordinates.axes, contract.coordinates.axes);
  EXPECT_EQ(read.coordinates.center, contract.coordinates.center);
  EXPECT_EQ(read.coordinates.scale, 1.9);
  EXPECT_EQ(read.input_normalisation.mean, contract.input_normalisation.mean);
  EXPECT_EQ(read.input_normalisation.scale, contract.input_normalisation.scale);
  EXPECT_EQ(read.output_normalisation.scale, contract.output_normalisation.scale);
  EXPECT_EQ(read.weights, "array:Volumen ÄÖ");
  EXPECT_EQ(read.min_points, 10);
  EXPECT_EQ(read.max_points, 1000);
  EXPECT_EQ(read.bounds_min, contract.bounds_min);
  EXPECT_EQ(read.bounds_max, contract.bounds_max);
}

TEST(Contract, SymmetriesAreThoseOfScalarsInThePlane) {
  Contract contract = full_contract();
  EXPECT_FALSE(contract.to_json().contains("symmetries"));
  for (InputArray& input : contract.inputs) input.components = 1;
  for (OutputArray& output : contract.outputs) output.components = 1;
  contract.input_normalisation = contract.output_normalisation = {};
  contract.symmetries = {Symmetries::rectangle, {0.5, 1.0 / 3}};
  const Json json = contract.to_json();
  const Contract read = Contract::from_json(Json::parse(json.dump()));
  EXPECT_EQ(read.symmetries.kind, Symmetries::rectangle);
  EXPECT_EQ(read.symmetries.center, contract.symmetries.center);
  const auto refused = [&](const std::function<void(Json&)>& change,
                           const std::vector<std::string>& text) {
    Json changed = json;
    change(changed);
    expect_error<OperatorFileError>([&] { Contract::from_json(changed); }, text);
  };
  refused([](Json& j) { j["symmetries"]["group"] = "circle"; },
          {"contract.symmetries", "'circle'", "'rectangle' or 'square'"});
  refused([](Json& j) { j["symmetries"]["center"] = {1}; }, {"'center' of 1 numbers, expected 2"});
  refused([](Json& j) { j["outputs"][0]["components"] = 2; },
          {"symmetries of a rectangle need arrays of one component", "has 2"});
  refused(
      [](Json& j) {
        j["coordinates"] = {{"axes", {"x"}}, {"center", {0}}, {"scale", 1}};
        j.erase("bounds");
      },
      {"map two coordinates, but there are 1"});
}

TEST(Contract, AbsentKeysTakeTheDocumentedDefaults) {
  const Contract read = Contract::from_json(Json::parse(R"({
    "inputs": [{"name": "u", "association": "cell", "components": 3}],
    "outputs": [{"name": "p", "association": "cell", "components": 1}],
    "coordinates": {"axes": ["z", "x"], "center": [1, 2], "scale": 2}})"));
  EXPECT_EQ(read.inputs[0].role, InputRole::value);
  EXPECT_EQ(read.inputs[0].unit, "");
  EXPECT_EQ(read.association(), Association::cell);
  EXPECT_EQ(read.coordinates.axes, (std::vector<int>{2, 0}));
  EXPECT_TRUE(read.input_normalisation.mean.empty());
  EXPECT_TRUE(read.output_normalisation.scale.empty());
  EXPECT_EQ(read.weights, "auto");
  EXPECT_EQ(read.min_points, 0);
  EXPECT_EQ(read.max_points, 0);
  EXPECT_TRUE(read.bounds_min.empty());
}

TEST(Contract, CountsComponentsByRole) {
  const Contract contract = full_contract();
  EXPECT_EQ(contract.value_components(), 2);
  EXPECT_EQ(contract.output_components(), 2);
  ASSERT_TRUE(contract.source_flag().has_value());
  EXPECT_EQ(contract.source_flag()->name, "known");
  EXPECT_FALSE(
      test::fitting_contract(test::small_config(Form::shared_basis)).source_flag().has_value());
  EXPECT_EQ(Contract().association(), Association::point);
}

/// Three inputs, of which the second is a parameter of two components.
Contract contract_with_parameter() {
  Contract contract = test::fitting_contract(test::small_config(Form::shared_basis));
  contract.inputs.pop_back();
  InputArray& inflow = contract.inputs[1];
  inflow.name = "inflow";
  inflow.components = 2;
  inflow.role = InputRole::parameter;
  inflow.min = {-1, 0.1};
  inflow.max = {1, 0.3};
  return contract;
}

TEST(Contract, ParametersAreFieldDataWithARange) {
  const Contract contract = contract_with_parameter();
  const Json json = contract.to_json();
  EXPECT_EQ(json.at("inputs")[1].at("association"), "field");
  EXPECT_EQ(json.at("inputs")[1].at("role"), "parameter");
  EXPECT_FALSE(json.at("inputs")[0].contains("min"));
  const Contract read = Contract::from_json(Json::parse(json.dump()));
  EXPECT_EQ(read.to_json(), json);
  ASSERT_EQ(read.parameters().size(), 1u);
  EXPECT_EQ(read.parameters()[0].name, "inflow");
  EXPECT_EQ(read.parameters()[0].unit, "m/s");
  EXPECT_EQ(read.parameters()[0].min, (std::vector<double>{-1, 0.1}));
  EXPECT_EQ(read.parameters()[0].max, (std::vector<double>{1, 0.3}));
  EXPECT_EQ(read.parameter_components(), 2);
  EXPECT_EQ(read.value_components(), 3);

  // The role follows from the association, and the range may be unknown.
  Json bare = json;
  for (const char* key : {"role", "min", "max", "unit"}) bare["inputs"][1].erase(key);
  EXPECT_EQ(Contract::from_json(bare).parameters().at(0).name, "inflow");
  EXPECT_TRUE(Contract::from_json(bare).parameters().at(0).min.empty());

  Contract cells = contract;
  cells.inputs[0].association = Association::cell;
  cells.outputs[0].association = Association::cell;
  EXPECT_EQ(Contract::from_json(cells.to_json()).association(), Association::cell);
}

TEST(Contract, ParametersThatContradictThemselvesAreRefused) {
  struct Case {
    std::function<void(Json&)> change;
    std::vector<std::string> text;
  };
  const std::vector<Case> cases = {
      {[](Json& j) { j["inputs"][1]["role"] = "value"; }, {"inputs[1]", "'field'", "'value'"}},
      {[](Json& j) { j["inputs"][1]["association"] = "point"; }, {"'point'", "'parameter'"}},
      {[](Json& j) { j["inputs"][0]["association"] = "edge"; },
       {"inputs[0]", "'edge'", "'point' or 'cell' or 'field'"}},
      {[](Json& j) { j["outputs"][0]["association"] = "field"; }, {"outputs[0]", "'field'"}},
      {[](Json& j) {
         j["inputs"][0]["min"] = {0};
         j["inputs"][0]["max"] = {1};
       },
       {"'in0' is recorded, expected only of parameters"}},
      {[](Json& j) { j["inputs"][1].erase("min"); }, {"'inflow'", "0 numbers, expected 2"}},
      {[](Json& j) { j["inputs"][1]["max"] = {1}; }, {"'inflow'", "1 numbers, expected 2"}},
      {[](Json& j) { j["inputs"][1]["min"][1] = 0.4; }, {"'inflow' is 0.4 to 0.3"}},
  };
  for (const Case& item : cases) {
    Json json = contract_with_parameter().to_json();
    item.change(json);
    expect_error<OperatorFileError>([&] { Contract::from_json(json); }, item.text);
  }
  Contract flagged = full_contract();
  flagged.inputs[0].role = InputRole::parameter;
  expect_error<UsageError>([&] { flagged.validate(); },
                           {"the parameter 'in0' stands beside the source_flag 'known'"});
}

TEST(Contract, JsonThatIsNotAsDocumentedIsRefused) {
  struct Case {
    std::function<void(Json&)> change;
    std::vector<std::string> text;
  };
  const std::vector<Case> cases = {
      {[](Json& j) { j = Json::array(); }, {"the contract is not a table"}},
      {[](Json& j) { j.erase("inputs"); }, {"the contract has no 'inputs'"}},
      {[](Json& j) { j.erase("outputs"); }, {"the contract has no 'outputs'"}},
      {[](Json& j) { j.erase("coordinates"); }, {"the contract has no 'coordinates'"}},
      {[](Json& j) { j["surplus"] = 1; }, {"unknown key 'surplus'"}},
      {[](Json& j) { j["inputs"] = 3; }, {"'inputs' that is not a list"}},
      {[](Json& j) { j["inputs"][1].erase("name"); }, {"contract.inputs[1] has no 'name'"}},
      {[](Json& j) { j["inputs"][1]["name"] = 3; }, {"contract.inputs[1]", "not a text"}},
      {[](Json& j) { j["inputs"][1]["role"] = "mask"; }, {"inputs[1]", "'mask'", "source_flag"}},
      {[](Json& j) { j["outputs"][0]["role"] = "value"; }, {"outputs[0]", "unknown key 'role'"}},
      {[](Json& j) { j["outputs"][0]["association"] = "edge"; },
       {"outputs[0]", "'edge'", "'point' or 'cell'"}},
      {[](Json& j) { j["outputs"][0]["components"] = 0; }, {"'out'", "0 components"}},
      {[](Json& j) { j["outputs"][0]["components"] = -1; }, {"outputs[0]", "components", "-1"}},
      {[](Json& j) { j["outputs"][0]["components"] = 1.5; }, {"components", "1.5"}},
      {[](Json& j) { j["outputs"][0]["components"] = 4000000000; }, {"components", "1048576"}},
      {[](Json& j) { j["outputs"] = Json::array(); }, {"no output"}},
      {[](Json& j) { j["coordinates"]["axes"][0] = "w"; }, {"contract.coordinates", "\"w\""}},
      {[](Json& j) { j["coordinates"]["axes"][0] = "y"; }, {"the axis 1", "at most once"}},
      {[](Json& j) { j["coordinates"]["center"].push_back(1); }, {"3 numbers, expected 2"}},
      {[](Json& j) { j["coordinates"]["center"][0] = nullptr; }, {"'center' that holds null"}},
      {[](Json& j) { j["coordinates"]["scale"] = 0; }, {"coordinates scale", "above 0"}},
      {[](Json& j) { j["coordinates"]["scale"] = "1"; }, {"'scale' that is not a number"}},
      {[](Json& j) { j["input_normalisation"]["mean"].push_back(1); },
       {"input_normalisation mean", "3"}},
      {[](Json& j) { j["output_normalisation"]["scale"][0] = -1; },
       {"output_normalisation scale", "-1"}},
      {[](Json& j) { j["output_normalisation"].erase("mean"); }, {"no 'mean'"}},
      {[](Json& j) { j["weights"] = "mesure"; }, {"'mesure'", "array:NAME"}},
      {[](Json& j) { j["weights"] = "array:"; }, {"'array:'"}},
      {[](Json& j) { j["points"]["min"] = 2000; }, {"2000 to 1000"}},
      {[](Json& j) { j["points"]["max"] = 1e300; }, {"contract.points", "1e+300"}},
      {[](Json& j) { j["bounds"]["min"][0] = 9; }, {"bounds min 9"}},
      {[](Json& j) { j["bounds"]["max"] = Json::array(); },
       {"bounds max", "0 numbers, expected 2"}},
  };
  for (const Case& item : cases) {
    Json json = full_contract().to_json();
    item.change(json);
    expect_error<OperatorFileError>([&] { Contract::from_json(json); }, item.text);
  }
}

TEST(Contract, ContradictionsAreUsageErrors) {
  struct Case {
    std::function<void(Contract&)> change;
    std::vector<std::string> text;
  };
  const std::vector<Case> cases = {
      {[](Contract& c) { c.inputs[0].name = ""; }, {"an input has no name"}},
      {[](Contract& c) { c.inputs[0].name = "in1"; }, {"input 'in1' stands there twice"}},
      {[](Contract& c) { c.outputs.push_back(c.outputs[0]); }, {"output 'out' stands there twice"}},
      {[](Contract& c) { c.outputs[0].name = "\xe4"; }, {"output", "not valid UTF-8"}},
      {[](Contract& c) { c.outputs[0].unit = "\xb0"; }, {"output", "not valid UTF-8"}},
      {[](Contract& c) { c.inputs[0].components = 0; }, {"'in0' has 0 components"}},
      {[](Contract& c) { c.outputs[0].association = Association::cell; },
       {"'in0' is point data and 'out' is cell data"}},
      {[](Contract& c) { c.inputs[0].role = InputRole::source_flag; }, {"more than one input"}},
      {[](Contract& c) { c.inputs[2].components = 2; }, {"source_flag 'known' has 2 components"}},
      {[](Contract& c) { c.output_normalisation.mean[0] = NAN; },
       {"output_normalisation mean", "nan"}},
      {[](Contract& c) { c.output_normalisation.scale[0] = INFINITY; }, {"inf"}},
      {[](Contract& c) { c.coordinates.center[0] = INFINITY; }, {"coordinates center"}},
      {[](Contract& c) { c.coordinates.scale = NAN; }, {"coordinates scale"}},
      {[](Contract& c) { c.min_points = -1; }, {"-1 to 1000"}},
  };
  for (const Case& item : cases) {
    Contract contract = full_contract();
    EXPECT_NO_THROW(contract.validate());
    item.change(contract);
    expect_error<UsageError>([&] { contract.validate(); }, item.text);
  }
}

Contract class_contract() {
  Contract contract = test::fitting_contract(test::small_config(Form::shared_basis));
  contract.outputs.push_back({{"label", Association::point, 1, ""}, {0, 1, 2}, {}});
  for (int i = 0; i < 3; ++i) {
    contract.output_normalisation.mean.push_back(0);
    contract.output_normalisation.scale.push_back(1);
  }
  return contract;
}

TEST(Contract, ClassesAreANumberOrAListOfTheirValues) {
  Contract contract = class_contract();
  EXPECT_NO_THROW(contract.validate());
  EXPECT_EQ(contract.output_components(), 5);
  EXPECT_EQ(contract.target_components(), 3);
  Json json = contract.to_json();
  EXPECT_EQ(json["outputs"][1]["classes"], 3);
  EXPECT_FALSE(json["outputs"][0].contains("classes"));
  EXPECT_FALSE(json["outputs"][1].contains("ignored"));
  EXPECT_EQ(Contract::from_json(Json::parse(json.dump())).outputs[1].classes,
            (std::vector<int>{0, 1, 2}));

  contract.outputs[1].classes = {-5, 2, 2147483647};
  contract.outputs[1].ignored = no_class;
  json = Json::parse(contract.to_json().dump());
  EXPECT_EQ(json["outputs"][1]["classes"], (std::vector<int>{-5, 2, 2147483647}));
  const Contract read = Contract::from_json(json);
  EXPECT_EQ(read.outputs[1].classes, contract.outputs[1].classes);
  EXPECT_EQ(read.outputs[1].ignored, no_class);
  EXPECT_EQ(read.to_json(), contract.to_json());
}

TEST(Contract, RefusesClassesThatAreNone) {
  struct Case {
    std::function<void(Json&)> change;
    std::vector<std::string> text;
  };
  const std::vector<Case> cases = {
      {[](Json& j) { j["classes"] = 0; }, {"contract.outputs[1]", "no class in 'classes'"}},
      {[](Json& j) { j["classes"] = Json::array(); }, {"no class in 'classes'"}},
      {[](Json& j) { j["classes"] = 1; }, {"'label' has one class, 0, expected at least two"}},
      {[](Json& j) { j["classes"] = "3"; }, {"'classes' \"3\"", "whole number"}},
      {[](Json& j) {
         j["classes"] = {0, 1.5, 2};
       },
       {"'classes' that holds 1.5", "32 bits"}},
      {[](Json& j) {
         j["classes"] = {0, 1, 2147483648LL};
       },
       {"holds 2147483648"}},
      {[](Json& j) {
         j["classes"] = {-2147483648LL, 1, 2};
       },
       {"holds -2147483648"}},
      {[](Json& j) {
         j["classes"] = {0, 2, 2};
       },
       {"the class 2 after 2", "ascending"}},
      {[](Json& j) {
         j["classes"] = {-1, 0, 1};
       },
       {"the class -1", "or ignore it"}},
      {[](Json& j) { j["ignored"] = 2; }, {"ignores 2, which is one of its classes"}},
      {[](Json& j) { j["ignored"] = 0.5; }, {"'ignored' that holds 0.5"}},
      {[](Json& j) { j["components"] = 2; }, {"classes and 2 components, expected 1"}},
      {[](Json& j) {
         j.erase("classes");
         j["ignored"] = 7;
       },
       {"ignores the class 7, but has no classes"}},
  };
  for (const Case& item : cases) {
    Json json = class_contract().to_json();
    item.change(json["outputs"][1]);
    expect_error<OperatorFileError>([&] { Contract::from_json(json); }, item.text);
  }
  Json json = class_contract().to_json();
  json["output_normalisation"]["scale"][4] = 2;
  expect_error<OperatorFileError>([&] { Contract::from_json(json); },
                                  {"mean or scale for the classes of 'label'"});
}

}  // namespace
}  // namespace funcattn
