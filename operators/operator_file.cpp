#include "operators/operator_file.h"

#include <fstream>

#include "core/error.h"
#include "core/text.h"
#include "operators/model_weights.h"
#include "operators/safetensors.h"

#ifndef FUNCATTN_VERSION
#error "the build defines FUNCATTN_VERSION for this file"
#endif

namespace funcattn {

namespace {

constexpr const char* format_name = "funcattn-operator";

std::string dtype_name(torch::Dtype dtype) {
  if (dtype == torch::kFloat32) return "float32";
  if (dtype == torch::kFloat64) return "float64";
  throw UsageError("an operator file holds float32 or float64 weights, found " +
                   std::string(torch::toString(dtype)));
}

torch::Dtype dtype_from_name(const std::string& name) {
  if (name == "float32") return torch::kFloat32;
  if (name == "float64") return torch::kFloat64;
  throw OperatorFileError("its dtype is '" + name + "', expected float32 or float64");
}

std::string describe_foreign(const Safetensors& content) {
  const std::string* format = content.find_metadata("format");
  std::string text = "it is not an operator file: its metadata has " +
                     (format ? "the format '" + *format + "'" : std::string("no 'format'")) +
                     ", expected '" + format_name + "'";
  if (format && *format == "funcattn-training-state")
    return text + "; it is the state of a training, whose operator is the file without '.state'";
  for (const auto& [name, tensor] : content.tensors)
    if (name.rfind("weights.", 0) == 0)
      return text + "; it holds published weights: convert it with 'funcattn import'";
  return text + "; weights of a published implementation are converted by 'funcattn import'";
}

const std::string& require_metadata(const Safetensors& content, const char* key) {
  const std::string* text = content.find_metadata(key);
  if (!text) throw OperatorFileError(std::string("its metadata has no '") + key + "'");
  return *text;
}

Json require_json(const Safetensors& content, const char* key) {
  try {
    return Json::parse(require_metadata(content, key));
  } catch (const Json::exception&) {
    throw OperatorFileError(std::string("its metadata '") + key + "' is not valid JSON");
  }
}

void require_operator(const Safetensors& content) {
  const std::string* format = content.find_metadata("format");
  if (!format || *format != format_name) throw OperatorFileError(describe_foreign(content));
  if (!content.find_metadata("checksum"))
    throw OperatorFileError(
        "it has no checksum, so damage could not be seen; save the operator again");
  const std::string& version = require_metadata(content, "format_version");
  if (parse_integer(version) != operator_format_version)
    throw OperatorFileError(
        "its format version is '" + version +
        "', this library (" FUNCATTN_VERSION ") reads version " +
        std::to_string(operator_format_version) +
        "; install the funcattn that wrote it or save the operator with this one");
}

Operator make_operator(const Safetensors& content) {
  require_operator(content);
  const ModelConfig config = ModelConfig::from_json(require_json(content, "model"));
  Contract contract = Contract::from_json(require_json(content, "contract"));
  Json training = require_json(content, "training");
  const auto dtype = dtype_from_name(require_metadata(content, "dtype"));
  return {model_from_weights(config, content.tensors, dtype), std::move(contract),
          std::move(training)};
}

struct OperatorFile {
  Safetensors content;
  Operator op;
};

OperatorFile read_operator(const std::filesystem::path& path) {
  Safetensors content = read_safetensors(path);
  const std::string where = "cannot load '" + path.string() + "': ";
  try {
    Operator op = make_operator(content);
    return {std::move(content), std::move(op)};
  } catch (const Error& error) {
    throw OperatorFileError(where + error.what());
  } catch (const Json::exception& error) {
    throw OperatorFileError(where + "its metadata is not as expected (" + error.what() + ")");
  }
}

}  // namespace

void save_operator(const std::filesystem::path& path, const Operator& op) {
  Safetensors content;
  content.tensors = model_weights(op.model());
  if (const std::string fault = describe_non_finite(content.tensors); !fault.empty())
    throw NumericError("cannot save '" + path.string() + "': " + fault);
  // Texts from elsewhere may stand in the summary: a wrong byte there must not cost the operator.
  const std::string training = op.training().dump(-1, ' ', false, Json::error_handler_t::replace);
  content.metadata = {{"format", format_name},
                      {"format_version", std::to_string(operator_format_version)},
                      {"library_version", FUNCATTN_VERSION},
                      {"dtype", dtype_name(op.dtype())},
                      {"model", op.model().config().to_json().dump()},
                      {"contract", op.contract().to_json().dump()},
                      {"training", training}};
  write_safetensors(path, content);
}

Operator load_operator(const std::filesystem::path& path) {
  return read_operator(path).op;
}

Json describe_operator(const std::filesystem::path& path) {
  const auto [content, op] = read_operator(path);
  return {{"file", path.string()},
          {"size", std::filesystem::file_size(path)},
          {"format_version", operator_format_version},
          {"library_version", require_metadata(content, "library_version")},
          {"checksum", require_metadata(content, "checksum")},
          {"form", to_string(op.model().config().form)},
          {"parameters", op.model().parameter_count()},
          {"dtype", dtype_name(op.dtype())},
          {"model", op.model().config().to_json()},
          {"contract", op.contract().to_json()},
          {"training", op.training()}};
}

std::string operator_file_header(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::uint64_t length = 0;
  file.read(reinterpret_cast<char*>(&length), sizeof length);
  std::string header;
  std::error_code ignored;
  if (file && length <= std::filesystem::file_size(path, ignored)) header.resize(length);
  file.read(header.data(), static_cast<std::streamsize>(header.size()));
  if (!file) throw OperatorFileError("cannot read '" + path.string() + "' a second time");
  return header;
}

}  // namespace funcattn
