#include "operators/published.h"

#include <cmath>
#include <functional>

#include "operator_test_support.h"
#include "operators/operator_file.h"
#include "tests/support/source_folder.h"

namespace funcattn {
namespace {

namespace fs = std::filesystem;
using test::all_forms;
using test::expect_error;

// A configuration as published code has it: settings that have no published counterpart at rest.
ModelConfig published_sizes(Form form) {
  ModelConfig config;
  config.form = form;
  config.width = 8;
  config.heads = form == Form::few_shot ? 1 : 2;
  config.basis = 5;
  config.out_features = 2;
  config.coordinate_dimension = form == Form::segmentation ? 3 : 0;
  config.value_features = form == Form::segmentation ? 0 : 3;
  config.blocks = form == Form::few_shot ? 1 : 3;
  config.ridge = 0.25;
  config.reference_points = 0;
  if (form == Form::shared_basis || form == Form::shared_basis_tied) config.mlp_ratio = 2;
  if (form == Form::segmentation) config.preprocess_depth = 2;
  if (form == Form::sum_coefficients) {
    config.ffn_width = 12;
    config.coordinate_dimension = 1;
    config.value_features = 1;
    config.out_features = 1;
  }
  if (form == Form::few_shot) {
    config.coordinate_dimension = 2;
    config.value_features = config.out_features = 1;
    config.activation = Activation::relu;
  }
  if (form == Form::paper) {
    config.blocks = 0;
    config.value_features = config.out_features = config.width;
    config.temperature = 0.75;
    config.coefficients = Coefficients::integral;
    config.cross = true;
  }
  return config;
}

ImportOptions options_for(Form form) {
  ImportOptions options;
  const bool is_paper = form == Form::paper;
  if (is_paper) options.heads = 2;
  if (is_paper) options.temperature = 0.75;
  if (is_paper) options.coefficients = "integral";
  if (is_paper) options.cross = 1;
  if (is_paper || form == Form::few_shot || form == Form::sum_coefficients) options.ridge = 0.25;
  return options;
}

struct Published {
  std::shared_ptr<Model> model;
  Safetensors file;  // bare names
};

Published publish(Form form) {
  Published published;
  published.model = make_model(published_sizes(form), torch::kFloat64, 11);
  for (const auto& item : published.model->named_parameters()) {
    published.file.tensors.emplace_back(item.key(), item.value().detach().clone());
    if (form != Form::few_shot || item.key().rfind("to_q.", 0) != 0) continue;
    for (const char* copy : {"to_k.", "to_v."})
      published.file.tensors.emplace_back(copy + item.key().substr(5),
                                          item.value().detach().clone());
  }
  return published;
}

Tensor& tensor_of(Safetensors& file, const std::string& name) {
  for (auto& [key, tensor] : file.tensors)
    if (key == name) return tensor;
  throw std::out_of_range(name);
}

class Import : public testing::TestWithParam<Form> {};

TEST_P(Import, BareWeightsTellTheirSizes) {
  const Published published = publish(GetParam());
  const ImportResult result = import_published(published.file, GetParam(), options_for(GetParam()));
  Json expected = published.model->config().to_json();
  Json found = result.op.model().config().to_json();
  if (GetParam() != Form::paper) {  // elsewhere the value at which training began
    expected.erase("temperature");
    found.erase("temperature");
  }
  if (GetParam() != Form::paper && GetParam() != Form::few_shot &&
      GetParam() != Form::sum_coefficients) {  // learned
    expected.erase("ridge");
    found.erase("ridge");
  }
  EXPECT_EQ(found, expected);
  EXPECT_TRUE(result.skipped.empty());
  for (const auto& item : published.model->named_parameters())
    EXPECT_TRUE(result.op.model().named_parameters()[item.key()].equal(item.value())) << item.key();
}

TEST_P(Import, PrefixedWeightsLeaveOtherTensorsAside) {
  Published published = publish(GetParam());
  for (auto& [name, tensor] : published.file.tensors) name = "weights." + name;
  published.file.tensors.emplace_back("output", torch::ones({2}));
  const ImportResult result = import_published(published.file, GetParam(), options_for(GetParam()));
  EXPECT_EQ(result.op.model().parameter_count(), published.model->parameter_count());
}

TEST_P(Import, BareSurplusAndMissingTensorsAreNamed) {
  Published published = publish(GetParam());
  Safetensors surplus = published.file;
  surplus.tensors.emplace_back("output", torch::ones({2}, torch::kFloat64));
  expect_error<OperatorFileError>(
      [&] { import_published(surplus, GetParam(), options_for(GetParam())); },
      {"tensor 'output'", "float64 [2]", "not part of"});
  for (std::size_t i = 0; i < published.file.tensors.size(); ++i) {
    Safetensors missing = published.file;
    missing.tensors.erase(missing.tensors.begin() + static_cast<std::ptrdiff_t>(i));
    expect_error<OperatorFileError>(
        [&] { import_published(missing, GetParam(), options_for(GetParam())); }, {"tensor"});
  }
}

TEST_P(Import, Float32IsAskedForOrWidened) {
  Published published = publish(GetParam());
  for (auto& [name, tensor] : published.file.tensors) tensor = tensor.to(torch::kFloat32);
  ImportOptions options = options_for(GetParam());
  EXPECT_EQ(import_published(published.file, GetParam(), options).op.dtype(), torch::kFloat64);
  options.dtype = torch::kFloat32;
  EXPECT_EQ(import_published(published.file, GetParam(), options).op.dtype(), torch::kFloat32);
  options.dtype = torch::kFloat16;
  expect_error<UsageError>([&] { import_published(published.file, GetParam(), options); },
                           {"float32 or float64", "Half"});
}

TEST_P(Import, ImportedOperatorsSaveAndLoad) {
  const test::TemporaryFolder folder;
  const Operator op =
      import_published(publish(GetParam()).file, GetParam(), options_for(GetParam())).op;
  save_operator(folder / "a", op);
  const Operator loaded = load_operator(folder / "a");
  const PointSamples source = test::random_samples(op, 6, 1);
  const PointSamples query = op.model().separates_query() ? test::random_samples(op, 3, 2) : source;
  EXPECT_TRUE(loaded.apply(source, query).equal(op.apply(source, query)));
}

TEST_P(Import, MetadataOfAnotherFormOrSizeIsRefused) {
  Published published = publish(GetParam());
  published.file.metadata = {{"form", GetParam() == Form::paper ? "few_shot" : "paper"}};
  expect_error<OperatorFileError>(
      [&] { import_published(published.file, GetParam(), options_for(GetParam())); },
      {"metadata 'form'", to_string(GetParam()), "is asked for"});
  published.file.metadata = {{"form", to_string(GetParam())}, {"width", "16"}};
  expect_error<OperatorFileError>(
      [&] { import_published(published.file, GetParam(), options_for(GetParam())); },
      {"has 8, but the metadata 'width' is 16"});
  published.file.metadata = {{"width", "wide"}};
  expect_error<OperatorFileError>(
      [&] { import_published(published.file, GetParam(), options_for(GetParam())); },
      {"metadata 'width' is 'wide'", "whole number"});
}

INSTANTIATE_TEST_SUITE_P(Published, Import, testing::ValuesIn(all_forms),
                         [](const auto& parameter) { return to_string(parameter.param); });

TEST(Published, WhatNoShapeTellsMustBeGiven) {
  struct Case {
    Form form;
    std::function<void(ImportOptions&)> take_away;
    const char* flag;
  };
  const std::vector<Case> cases = {
      {Form::paper, [](ImportOptions& o) { o.heads = 0; }, "--heads"},
      {Form::paper, [](ImportOptions& o) { o.ridge = -1; }, "--ridge"},
      {Form::paper, [](ImportOptions& o) { o.temperature = -1; }, "--temperature"},
      {Form::paper, [](ImportOptions& o) { o.coefficients.clear(); }, "--coefficients"},
      {Form::paper, [](ImportOptions& o) { o.cross = -1; }, "--cross"},
      {Form::few_shot, [](ImportOptions& o) { o.ridge = -1; }, "--ridge"},
      {Form::sum_coefficients, [](ImportOptions& o) { o.ridge = -1; }, "--ridge"}};
  for (const Case& item : cases) {
    ImportOptions options = options_for(item.form);
    item.take_away(options);
    expect_error<UsageError>([&] { import_published(publish(item.form).file, item.form, options); },
                             {std::string("give ") + item.flag, to_string(item.form)});
  }
}

TEST(Published, MetadataServesWhereNoOptionIsGiven) {
  Published published = publish(Form::paper);
  published.file.metadata = {{"heads", "2"},          {"reg_lambda", "0.25"},
                             {"temperature", "0.75"}, {"coefficients", "integral"},
                             {"cross", "1"},          {"basis", "5"}};
  EXPECT_EQ(import_published(published.file, Form::paper, {}).op.model().config().to_json(),
            published.model->config().to_json());
  published.file.metadata[1].second = "0,25";
  expect_error<OperatorFileError>([&] { import_published(published.file, Form::paper, {}); },
                                  {"'reg_lambda' is '0,25'", "a number"});
  published.file.metadata[1].second = "0.25";
  published.file.metadata[3].second = "median";
  expect_error<OperatorFileError>([&] { import_published(published.file, Form::paper, {}); },
                                  {"metadata 'coefficients'", "median"});
}

TEST(Published, OptionsWithoutEffectAreRefused) {
  struct Case {
    Form form;
    std::function<void(ImportOptions&)> add;
    std::vector<std::string> text;
  };
  const std::vector<Case> cases = {
      {Form::few_shot, [](ImportOptions& o) { o.heads = 2; }, {"--heads", "few_shot"}},
      {Form::shared_basis, [](ImportOptions& o) { o.ridge = 1; }, {"--ridge", "learned"}},
      {Form::shared_basis, [](ImportOptions& o) { o.heads = 4; }, {"heads", "4", "have 2"}},
      {Form::segmentation, [](ImportOptions& o) { o.temperature = 1; }, {"--temperature"}},
      {Form::sum_coefficients,
       [](ImportOptions& o) { o.coefficients = "mean"; },
       {"--coefficients"}},
      {Form::shared_basis_tied, [](ImportOptions& o) { o.cross = 0; }, {"--cross"}},
      {Form::few_shot,
       [](ImportOptions& o) { o.coordinate_dimension = 1; },
       {"have 2", "1 are given"}},
      {Form::shared_basis, [](ImportOptions& o) { o.coordinate_dimension = 4; }, {"at most 3"}},
      {Form::shared_basis,
       [](ImportOptions& o) {
         o.inputs = {{"u", Association::point, 1, ""}};
       },
       {"inputs", "1 ", "3"}},
      {Form::shared_basis,
       [](ImportOptions& o) {
         o.outputs = {{"u", Association::point, 1, ""}};
       },
       {"outputs", "1 ", "2"}},
  };
  for (const Case& item : cases) {
    ImportOptions options = options_for(item.form);
    item.add(options);
    expect_error<UsageError>([&] { import_published(publish(item.form).file, item.form, options); },
                             item.text);
  }
}

TEST(Published, UnusedParametersAreSkippedByName) {
  Published published = publish(Form::shared_basis_tied);
  published.file.tensors.emplace_back("blocks.1.mlp_new.linear_post.bias", torch::ones({8}));
  published.file.tensors.emplace_back("blocks.0.Attn.I_d", torch::eye(4).unsqueeze(0));
  const ImportResult result = import_published(published.file, Form::shared_basis_tied, {});
  EXPECT_EQ(result.skipped,
            (std::vector<std::string>{"blocks.1.mlp_new.linear_post.bias", "blocks.0.Attn.I_d"}));
  tensor_of(published.file, "blocks.0.Attn.I_d")[0][2][3] = 1e-7;
  expect_error<OperatorFileError>(
      [&] { import_published(published.file, Form::shared_basis_tied, {}); },
      {"'blocks.0.Attn.I_d' is not the identity"});
  tensor_of(published.file, "blocks.0.Attn.I_d") = torch::eye(4).narrow(0, 0, 2);
  expect_error<OperatorFileError>(
      [&] { import_published(published.file, Form::shared_basis_tied, {}); },
      {"'blocks.0.Attn.I_d' is not the identity"});
}

TEST(Published, TheThreeEncodersMustAgree) {
  Published published = publish(Form::few_shot);
  tensor_of(published.file, "to_v.4.bias")[3] += 1e-12;
  expect_error<OperatorFileError>(
      [&] { import_published(published.file, Form::few_shot, options_for(Form::few_shot)); },
      {"'to_q.4.bias' and 'to_v.4.bias' differ"});
}

TEST(Published, MisshapenAndNonFiniteWeightsAreNamed) {
  Published published = publish(Form::sum_coefficients);
  const ImportOptions options = options_for(Form::sum_coefficients);
  Safetensors changed = published.file;
  tensor_of(changed, "output_proj.bias") = torch::ones({3}, torch::kFloat64);
  expect_error<OperatorFileError>(
      [&] { import_published(changed, Form::sum_coefficients, options); },
      {"tensor 'output_proj.bias' is float64 [3], expected float64 [1]"});
  changed = published.file;
  tensor_of(changed, "transformer_stack.0.attn.q_proj.weight") = torch::ones({15, 8});
  expect_error<OperatorFileError>(
      [&] { import_published(changed, Form::sum_coefficients, options); },
      {"'transformer_stack.0.attn.q_proj.weight' has 15 rows, expected a multiple of 8"});
  changed = published.file;
  tensor_of(changed, "output_proj.bias") = torch::full({1}, 1e300, torch::kFloat64);
  ImportOptions narrow = options;
  narrow.dtype = torch::kFloat32;
  expect_error<OperatorFileError>(
      [&] { import_published(changed, Form::sum_coefficients, narrow); },
      {"tensor 'output_proj.bias' holds inf"});
}

TEST(Published, ContractsAreAsDocumented) {
  const auto contract = [](Form form, ImportOptions options) {
    return import_published(publish(form).file, form, options).op.contract();
  };
  Contract found = contract(Form::few_shot, options_for(Form::few_shot));
  EXPECT_EQ(found.coordinates.axes, (std::vector<int>{0, 1}));
  ASSERT_EQ(found.inputs.size(), 2u);
  EXPECT_EQ(found.inputs[0].name, "y_context");
  EXPECT_EQ(found.source_flag()->name, "context");
  EXPECT_EQ(found.outputs[0].name, "y");

  found = contract(Form::sum_coefficients, options_for(Form::sum_coefficients));
  EXPECT_EQ(found.coordinates.dimension(), 1);
  EXPECT_EQ(found.inputs[0].name, "y_context");
  EXPECT_FALSE(found.source_flag().has_value());
  EXPECT_EQ(found.outputs[0].name, "y");

  found = contract(Form::segmentation, {});
  EXPECT_EQ(found.coordinates.dimension(), 3);
  EXPECT_TRUE(found.inputs.empty());
  EXPECT_EQ(found.outputs[0].name, "label");
  EXPECT_EQ(found.outputs[0].components, 1);
  EXPECT_EQ(found.outputs[0].classes, (std::vector<int>{0, 1}));
  EXPECT_EQ(found.output_components(), 2);
  ImportOptions named;
  named.outputs = {{"part", Association::cell, 1, ""}};
  found = contract(Form::segmentation, named);
  EXPECT_EQ(found.outputs[0].name, "part");
  EXPECT_EQ(found.outputs[0].association, Association::cell);
  EXPECT_EQ(found.outputs[0].classes, (std::vector<int>{0, 1}));
  named.outputs = {{"logits", Association::point, 2, ""}};
  found = contract(Form::segmentation, named);
  EXPECT_FALSE(found.outputs[0].is_class());
  EXPECT_EQ(found.outputs[0].components, 2);

  found = contract(Form::shared_basis, {});
  EXPECT_EQ(found.coordinates.dimension(), 0);
  ASSERT_EQ(found.inputs.size(), 3u);
  EXPECT_EQ(found.inputs[2].name, "input_2");
  EXPECT_EQ(found.outputs[0].name, "output");
  EXPECT_EQ(found.outputs[0].components, 2);
  EXPECT_TRUE(found.input_normalisation.mean.empty());

  ImportOptions options;
  options.coordinate_dimension = 2;
  options.inputs = {{"velocity", Association::cell, 1, "m/s"}};
  found = contract(Form::shared_basis, options);
  EXPECT_EQ(found.coordinates.axes, (std::vector<int>{0, 1}));
  EXPECT_EQ(found.inputs[0].unit, "m/s");
  EXPECT_EQ(found.association(), Association::cell);
}

// Results of the published code, where they lie next to the sources.
fs::path golden_folder() {
  if (const char* given = std::getenv("FUNCATTN_GOLDEN")) return given;
  const fs::path source = test::source_folder();
  return source.parent_path() / "shared" / "golden";
}

Tensor batched(const Safetensors& file, const std::string& name, std::int64_t axes) {
  const Tensor* tensor = file.find(name);
  if (!tensor) return {};
  const Tensor wide = tensor->to(torch::kFloat64);
  return wide.dim() < axes ? wide.unsqueeze(0) : wide;
}

PointSamples samples(const Operator& op, const Tensor& features, const Tensor& weights) {
  const int coordinates = op.contract().coordinates.dimension();
  PointSamples result;
  result.coordinates = features.narrow(2, 0, coordinates);
  if (features.size(2) > coordinates)
    result.values = features.narrow(2, coordinates, features.size(2) - coordinates);
  result.weights = weights.defined()
                       ? weights
                       : torch::ones({features.size(0), features.size(1)}, torch::kFloat64);
  if (!result.values.defined() && op.contract().value_components() == 0)
    result.values = torch::zeros({features.size(0), features.size(1), 0}, torch::kFloat64);
  return result;
}

Tensor predict_golden(const Safetensors& file, const Operator& op) {
  const torch::NoGradGuard no_gradient;
  if (op.model().config().form == Form::few_shot)
    return op.apply(
        samples(op, torch::cat({batched(file, "context_x", 3), batched(file, "context_y", 3)}, 2),
                {}),
        samples(op, batched(file, "query_x", 3), {}));
  if (op.model().config().form != Form::paper) {
    const PointSamples source = samples(op, batched(file, "input", 3), {});
    return op.apply(source, source);
  }
  const PointSamples source =
      samples(op, batched(file, "source", 3), batched(file, "source_weights", 2));
  if (!op.model().config().cross) return op.apply(source, source);
  return op.apply(source,
                  samples(op, batched(file, "query", 3), batched(file, "query_weights", 2)));
}

TEST(Published, ReproducesTheResultsOfThePublishedCode) {
  const fs::path folder = golden_folder();
  if (!fs::is_directory(folder))
    GTEST_SKIP() << "no reference results; name their folder in FUNCATTN_GOLDEN";
  int files = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() != ".safetensors") continue;
    SCOPED_TRACE(entry.path().filename().string());
    const Safetensors file = read_safetensors(entry.path());
    const Form form = form_from_string(*file.find_metadata("form"));
    const ImportResult result = import_published(file, form, {});
    const Tensor expected = batched(file, "output", 3);
    const Tensor found = predict_golden(file, result.op);
    ASSERT_EQ(found.sizes(), expected.sizes());
    double tolerance = form == Form::sum_coefficients ? 1e-8 : 1e-10;
    if (file.find("output")->scalar_type() == torch::kFloat32) tolerance = 2e-5;
    EXPECT_LE((found - expected).abs().max().item<double>(),
              tolerance * expected.abs().max().item<double>());
    const bool has_unused = form == Form::shared_basis || form == Form::shared_basis_tied;
    EXPECT_EQ(result.skipped.empty(), !has_unused);
    ++files;
  }
  EXPECT_GE(files, 1);
}

}  // namespace
}  // namespace funcattn
