#include "operators/operator_file.h"

#include <clocale>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <functional>
#include <limits>

#include "core/atomic_file.h"
#include "operator_test_support.h"
#include "operators/model_weights.h"
#include "operators/safetensors.h"
#include "tests/support/source_folder.h"

namespace funcattn {
namespace {

namespace fs = std::filesystem;
using test::all_forms;
using test::expect_error;
using test::random_samples;
using test::small_operator;

// The smallest file: every byte of it is damaged in turn.
Operator tiny_operator() {
  ModelConfig config = test::small_config(Form::few_shot);
  config.coordinate_dimension = 1;
  config.value_features = config.out_features = 1;
  config.width = config.basis = 2;
  config.encoder_layers = 1;
  return Operator(make_model(config), test::fitting_contract(config));
}

void set_metadata(Safetensors& content, const std::string& key, const std::string& text) {
  for (auto& [name, value] : content.metadata)
    if (name == key) value = text;
}

void erase_metadata(Safetensors& content, const std::string& key) {
  auto& metadata = content.metadata;
  metadata.erase(std::remove_if(metadata.begin(), metadata.end(),
                                [&](const auto& entry) { return entry.first == key; }),
                 metadata.end());
}

void change_json(Safetensors& content, const std::string& key,
                 const std::function<void(Json&)>& change) {
  Json json = Json::parse(*content.find_metadata(key));
  change(json);
  set_metadata(content, key, json.dump());
}

struct FormAndDtype {
  Form form;
  torch::Dtype dtype;
};

class EveryForm : public testing::TestWithParam<FormAndDtype> {};

TEST_P(EveryForm, PredictsTheSameBitsAfterLoading) {
  const test::TemporaryFolder folder;
  const fs::path path = folder / "an operator Ä.fop";
  const Operator op = small_operator(GetParam().form, GetParam().dtype);
  save_operator(path, op);
  const Operator loaded = load_operator(path);

  EXPECT_EQ(loaded.dtype(), GetParam().dtype);
  EXPECT_EQ(loaded.model().config().to_json(), op.model().config().to_json());
  EXPECT_EQ(loaded.contract().to_json(), op.contract().to_json());
  EXPECT_EQ(loaded.training(), op.training());
  const auto expected = model_weights(op.model());
  const auto found = model_weights(loaded.model());
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].first, expected[i].first);
    EXPECT_TRUE(found[i].second.equal(expected[i].second)) << found[i].first;
  }
  const PointSamples source = random_samples(op, 9, 1);
  const PointSamples query = op.model().separates_query() ? random_samples(op, 4, 2) : source;
  EXPECT_TRUE(loaded.apply(source, query).equal(op.apply(source, query)));
}

TEST_P(EveryForm, LeastWeightCountIsATightLowerBound) {
  for (const int scale : {1, 3}) {
    ModelConfig config = test::small_config(GetParam().form);
    config.width *= scale;
    config.blocks += scale;
    config.mlp_ratio = scale;
    config.preprocess_depth = scale;
    config.basis *= scale;
    if (GetParam().form == Form::few_shot) config.fourier_features = (scale - 1) * 20;
    const double least = least_weight_count(config);
    const auto count = static_cast<double>(make_model(config)->parameter_count());
    EXPECT_LE(least, count);
    EXPECT_GE(2 * least, count);
  }
}

INSTANTIATE_TEST_SUITE_P(OperatorFile, EveryForm, testing::ValuesIn([] {
                           std::vector<FormAndDtype> cases;
                           for (const Form form : all_forms)
                             for (const auto dtype : {torch::kFloat32, torch::kFloat64})
                               cases.push_back({form, dtype});
                           return cases;
                         }()),
                         [](const auto& parameter) {
                           return std::string(to_string(parameter.param.form)) +
                                  (parameter.param.dtype == torch::kFloat32 ? "_float32"
                                                                            : "_float64");
                         });

TEST(OperatorFile, TheBarePaperLayerReadsBack) {
  ModelConfig config = test::small_config(Form::paper);
  config.blocks = 0;
  config.coordinate_dimension = 0;
  config.value_features = config.out_features = config.width;
  config.cross = true;
  const test::TemporaryFolder folder;
  const Operator op(make_model(config, torch::kFloat64, 3), test::fitting_contract(config));
  save_operator(folder / "a", op);
  const PointSamples source = random_samples(op, 9, 1);
  const PointSamples query = random_samples(op, 5, 2);
  EXPECT_TRUE(load_operator(folder / "a").apply(source, query).equal(op.apply(source, query)));
}

TEST(OperatorFile, EveryFlippedBitIsSeen) {
  const test::TemporaryFolder folder;
  const fs::path path = folder / "a";
  save_operator(path, tiny_operator());
  const std::string bytes = read_file(path);
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  const auto put = [&](std::size_t position, char byte) {
    file.seekp(static_cast<std::streamoff>(position));
    file.put(byte);
    file.flush();
    ASSERT_TRUE(file.good());
  };
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      put(i, static_cast<char>(bytes[i] ^ (1 << bit)));
      EXPECT_THROW(load_operator(path), OperatorFileError) << "byte " << i << " bit " << bit;
    }
    put(i, bytes[i]);
  }
  EXPECT_NO_THROW(load_operator(path));
}

TEST(OperatorFile, EveryTruncationAndEveryAddedByteIsSeen) {
  const test::TemporaryFolder folder;
  const fs::path path = folder / "a";
  save_operator(path, tiny_operator());
  const std::string bytes = read_file(path);
  std::ofstream(path, std::ios::app | std::ios::binary) << ' ';
  EXPECT_THROW(load_operator(path), OperatorFileError);
  for (std::size_t size = bytes.size(); size-- > 0;) {
    fs::resize_file(path, size);
    EXPECT_THROW(load_operator(path), OperatorFileError) << size;
  }
}

TEST(OperatorFile, WhatDoesNotFitIsNamed) {
  struct Case {
    std::function<void(Safetensors&)> change;
    std::vector<std::string> text;
  };
  const auto on_tensor = [](const char* name, const std::function<Tensor(const Tensor&)>& change) {
    return [=](Safetensors& content) {
      for (auto& [key, tensor] : content.tensors)
        if (key == name) tensor = change(tensor);
    };
  };
  const auto on_model = [](const char* key, const Json& value) {
    return [=](Safetensors& content) {
      change_json(content, "model", [&](Json& json) { json[key] = value; });
    };
  };
  const double infinity = std::numeric_limits<double>::infinity();
  const std::vector<Case> cases = {
      {[](Safetensors& c) { c.tensors.erase(c.tensors.begin() + 3); }, {"is missing", "float32 ["}},
      {[](Safetensors& c) {
         c.tensors.emplace_back("extra", torch::ones({2, 1}));
       },
       {"tensor 'extra'", "float32 [2, 1]", "not part of the form shared_basis"}},
      {on_tensor("placeholder",
                 [](const Tensor& t) {
                   return t.view({2, 4});
                 }),
       {"tensor 'placeholder' is float32 [2, 4], expected float32 [8]"}},
      {on_tensor("placeholder", [](const Tensor& t) { return t.to(torch::kFloat64); }),
       {"tensor 'placeholder' is float64 [8], expected float32 [8]"}},
      {on_tensor("placeholder", [](const Tensor& t) { return t.to(torch::kInt32); }),
       {"tensor 'placeholder' is Int [8], expected float32 [8]"}},
      {on_tensor("placeholder", [](const Tensor& t) { return t.clone().fill_(NAN); }),
       {"tensor 'placeholder' holds nan at element 0", "finite"}},
      {on_tensor("blocks.1.mlp2.bias",
                 [=](const Tensor& t) {
                   Tensor changed = t.clone();
                   changed[1] = -infinity;
                   return changed;
                 }),
       {"tensor 'blocks.1.mlp2.bias' holds -inf at element 1"}},
      {on_model("width", 1000000000), {"'width' is 1000000000"}},
      {on_model("width", 1 << 20), {"numbers, expected at least", "width 1048576"}},
      {on_model("blocks", 1 << 20), {"numbers, expected at least", "1048576 blocks"}},
      {on_model("basis", 1 << 20), {"numbers, expected at least", "1048576 basis"}},
      {on_model("mlp_ratio", 1 << 20), {"numbers, expected at least"}},
      {on_model("basis", 6), {"slice1.weight' is float32 [5, 4], expected float32 [6, 4]"}},
      {on_model("blocks", 1), {"tensor 'blocks.0.ln_3.weight' is missing"}},
      {on_model("form", "sharedbasis"), {"sharedbasis"}},
      {on_model("value_features", 2), {"linear_pre.0.weight", "[16, 5]", "[16, 4]"}},
      {[](Safetensors& c) {
         change_json(c, "contract", [](Json& json) { json["outputs"][0]["components"] = 1; });
       },
       {"output_normalisation mean holds 2 numbers, expected 1"}},
      {[](Safetensors& c) {
         change_json(c, "contract", [](Json& json) { json["inputs"].erase(0); });
       },
       {"input_normalisation"}},
      {[](Safetensors& c) { set_metadata(c, "model", "{"); }, {"'model' is not valid JSON"}},
      {[](Safetensors& c) { set_metadata(c, "training", ""); }, {"'training' is not valid JSON"}},
      {[](Safetensors& c) { set_metadata(c, "dtype", "float16"); }, {"dtype is 'float16'"}},
      {[](Safetensors& c) { erase_metadata(c, "contract"); }, {"no 'contract'"}},
      {[](Safetensors& c) { set_metadata(c, "format_version", "2"); },
       {"format version is '2'", "reads version 1"}},
      {[](Safetensors& c) { set_metadata(c, "format_version", "one"); },
       {"format version is 'one'", "reads version 1"}},
      {[](Safetensors& c) { erase_metadata(c, "format_version"); }, {"no 'format_version'"}},
      {[](Safetensors& c) { erase_metadata(c, "format"); },
       {"not an operator file", "no 'format'", "funcattn import"}},
      {[](Safetensors& c) { set_metadata(c, "format", "pt"); },
       {"not an operator file", "format 'pt'"}},
  };
  const test::TemporaryFolder folder;
  save_operator(folder / "good", small_operator(Form::shared_basis));
  for (const Case& item : cases) {
    Safetensors content = read_safetensors(folder / "good");
    item.change(content);
    write_safetensors(folder / "bad", content);
    std::vector<std::string> text = item.text;
    text.push_back("cannot load '" + (folder / "bad").string() + "'");
    expect_error<OperatorFileError>([&] { load_operator(folder / "bad"); }, text);
    expect_error<OperatorFileError>([&] { describe_operator(folder / "bad"); }, text);
  }
}

TEST(OperatorFile, AbsurdFewShotSizesAllocateNothing) {
  const test::TemporaryFolder folder;
  save_operator(folder / "good", small_operator(Form::few_shot));
  for (const char* key : {"fourier_features", "encoder_layers", "latent", "coordinate_dimension"}) {
    Safetensors content = read_safetensors(folder / "good");
    change_json(content, "model", [&](Json& json) { json[key] = 1 << 20; });
    write_safetensors(folder / "bad", content);
    expect_error<OperatorFileError>([&] { load_operator(folder / "bad"); },
                                    {"numbers, expected at least"});
  }
}

TEST(OperatorFile, WithoutChecksumItIsRefused) {
  const test::TemporaryFolder folder;
  save_operator(folder / "a", tiny_operator());
  std::string bytes = read_file(folder / "a");
  bytes.replace(bytes.find("\"checksum\""), 10, "\"checksvm\"");
  write_file_atomically(folder / "a", bytes);
  expect_error<OperatorFileError>([&] { load_operator(folder / "a"); }, {"no checksum"});
}

TEST(OperatorFile, PublishedWeightsAreToldFromOperators) {
  const test::TemporaryFolder folder;
  write_safetensors(folder / "a", {{{"weights.q.weight", torch::ones({2, 2})}}, {}});
  expect_error<OperatorFileError>(
      [&] { load_operator(folder / "a"); },
      {"not an operator file", "it holds published weights", "funcattn import"});
  expect_error<FileError>([&] { load_operator(folder / "absent"); }, {"no such file"});
}

TEST(OperatorFile, AFailedSaveLeavesTheOldFile) {
  const test::TemporaryFolder folder;
  Operator op = tiny_operator();
  save_operator(folder / "a", op);
  const std::string before = read_file(folder / "a");
  {
    const torch::NoGradGuard no_gradient;
    op.model().parameters()[0].fill_(NAN);
  }
  expect_error<NumericError>([&] { save_operator(folder / "a", op); },
                             {"cannot save", "holds nan at element 0"});
  EXPECT_EQ(read_file(folder / "a"), before);
  expect_error<FileError>([&] { save_operator((folder / "no") / "a", tiny_operator()); },
                          {"does not exist"});
}

TEST(OperatorFile, TrainingSummaryMayHoldAnyText) {
  const test::TemporaryFolder folder;
  Operator op = tiny_operator();
  op.set_training({{"task", "caf\xe9"}, {"score", std::nan("")}});
  save_operator(folder / "a", op);
  EXPECT_EQ(load_operator(folder / "a").training()["task"], "caf\xef\xbf\xbd");
  EXPECT_TRUE(load_operator(folder / "a").training()["score"].is_null());
}

TEST(OperatorFile, DescriptionHoldsWhatTheFileSays) {
  const test::TemporaryFolder folder;
  const Operator op = small_operator(Form::few_shot, torch::kFloat64);
  save_operator(folder / "a", op);
  const Json info = describe_operator(folder / "a");
  EXPECT_EQ(info["file"], (folder / "a").string());
  EXPECT_EQ(info["size"], fs::file_size(folder / "a"));
  EXPECT_EQ(info["format_version"], 1);
  EXPECT_EQ(info["form"], "few_shot");
  EXPECT_EQ(info["parameters"], op.model().parameter_count());
  EXPECT_EQ(info["dtype"], "float64");
  EXPECT_EQ(info["checksum"], *read_safetensors(folder / "a").find_metadata("checksum"));
  EXPECT_EQ(info["library_version"],
            *read_safetensors(folder / "a").find_metadata("library_version"));
  EXPECT_EQ(info["model"], op.model().config().to_json());
  EXPECT_EQ(info["contract"], op.contract().to_json());
  EXPECT_EQ(info["training"]["seed"], 7);
}

class CommaLocale {
 public:
  CommaLocale() : before_(std::setlocale(LC_ALL, nullptr)) {
    for (const char* name : {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "fr_FR.utf8", "de_DE"})
      if (std::setlocale(LC_ALL, name) && *std::localeconv()->decimal_point == ',') return;
    std::setlocale(LC_ALL, before_.c_str());
  }
  ~CommaLocale() { std::setlocale(LC_ALL, before_.c_str()); }
  bool is_set() const { return *std::localeconv()->decimal_point == ','; }

 private:
  std::string before_;
};

TEST(OperatorFile, ADecimalCommaChangesNothing) {
  const test::TemporaryFolder folder;
  const Operator op = small_operator(Form::few_shot);
  save_operator(folder / "dot", op);
  const CommaLocale locale;
  if (!locale.is_set()) GTEST_SKIP() << "no locale with a decimal comma is installed";
  save_operator(folder / "comma", op);
  EXPECT_EQ(read_file(folder / "comma"), read_file(folder / "dot"));
  const Operator loaded = load_operator(folder / "dot");
  EXPECT_EQ(loaded.model().config().ridge, op.model().config().ridge);
  EXPECT_EQ(loaded.contract().coordinates.center, op.contract().coordinates.center);
  EXPECT_EQ(loaded.contract().input_normalisation.scale, op.contract().input_normalisation.scale);
}

TEST(OperatorFile, AReaderOfAnotherMakeSeesTheSame) {
  if (std::system("python3 -c pass >/dev/null 2>&1") != 0)
    GTEST_SKIP() << "python3 is not installed";
  const test::TemporaryFolder folder;
  const fs::path path = folder / "a";
  const Operator op = small_operator(Form::shared_basis);
  save_operator(path, op);
  const fs::path script = test::source_folder() / "tests/operators/read_operator_file.py";
  const std::string command =
      "python3 '" + script.string() + "' '" + path.string() + "' blocks.0.mlp.linear_pre.0.weight";
  std::string output;
  FILE* pipe = ::popen(command.c_str(), "r");
  ASSERT_NE(pipe, nullptr);
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) output += static_cast<char>(c);
  ASSERT_EQ(::pclose(pipe), 0) << output;

  const Json seen = Json::parse(output);
  EXPECT_TRUE(seen["checksum_holds"].get<bool>());
  EXPECT_EQ(seen["metadata"]["format"], "funcattn-operator");
  EXPECT_EQ(Json::parse(seen["metadata"]["contract"].get<std::string>()), op.contract().to_json());
  EXPECT_EQ(seen["names"].size(), model_weights(op.model()).size());
  EXPECT_EQ(seen["shape"], Json({8, 8}));
  const Tensor weight = op.model().named_parameters()["blocks.0.mlp.linear_pre.0.weight"];
  const auto values = seen["values"].get<std::vector<double>>();
  ASSERT_EQ(values.size(), 64u);
  for (std::size_t i = 0; i < values.size(); ++i)
    EXPECT_EQ(values[i], weight.view(-1)[static_cast<std::int64_t>(i)].item<float>()) << i;
}

}  // namespace
}  // namespace funcattn
