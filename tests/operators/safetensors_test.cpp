#include "operators/safetensors.h"

#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>

#include "core/atomic_file.h"
#include "operator_test_support.h"

namespace funcattn {
namespace {

using test::expect_error;

// A container made by hand, as a program of another make would write it.
std::string container(const std::string& header, const std::string& data) {
  const std::uint64_t length = header.size();
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &length, 8);
  return bytes + header + data;
}

std::string tensor_header(const std::string& dtype, const std::string& shape,
                          const std::string& offsets) {
  return R"({"a":{"dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":)" + offsets +
         "}}";
}

Safetensors parse(const std::string& bytes) {
  return parse_safetensors(bytes, "here");
}

std::string raw_bytes(const Tensor& tensor) {
  return {static_cast<const char*>(tensor.data_ptr()), tensor.nbytes()};
}

Safetensors small_content() {
  Safetensors content;
  content.tensors = {{"a", torch::tensor({1.5, -2.25}, torch::kFloat64)},
                     {"b", torch::tensor({1, 0, 1}, torch::kBool)}};
  content.metadata = {{"note", "text \"checksum\":\"0123456789abcdef\" in a text"}};
  return content;
}

TEST(Safetensors, EveryDtypeAndShapeReadsBackBitEqual) {
  const test::TemporaryFolder folder;
  Safetensors content;
  const Tensor numbers = torch::arange(-3, 9, torch::kFloat64).reshape({3, 4}) / 7;
  for (const auto dtype :
       {torch::kUInt8, torch::kFloat64, torch::kFloat32, torch::kFloat16, torch::kBFloat16,
        torch::kInt64, torch::kInt32, torch::kInt16, torch::kInt8})
    content.tensors.emplace_back(torch::toString(dtype), (numbers.abs() * 21).to(dtype));
  content.tensors.emplace_back("bool", numbers > 0);
  content.tensors.emplace_back("scalar", torch::tensor(0.1, torch::kFloat64));
  content.tensors.emplace_back("empty", torch::empty({0, 5}));
  content.tensors.emplace_back(
      "special",
      torch::tensor({std::nan("7"), std::numeric_limits<double>::infinity(), -0.0, 5e-324},
                    torch::kFloat64));
  content.tensors.emplace_back("strided", numbers.t());
  content.tensors.emplace_back("näme with \"quotes\"", numbers);
  content.metadata = {{"one", "Größe\n\t\"x\""}, {"two", ""}};
  write_safetensors(folder / "all.safetensors", content);

  const Safetensors read = read_safetensors(folder / "all.safetensors");
  ASSERT_EQ(read.tensors.size(), content.tensors.size());
  for (const auto& [name, tensor] : content.tensors) {
    const Tensor* other = read.find(name);
    ASSERT_NE(other, nullptr) << name;
    EXPECT_EQ(other->scalar_type(), tensor.scalar_type()) << name;
    EXPECT_EQ(other->sizes(), tensor.sizes()) << name;
    EXPECT_EQ(raw_bytes(*other), raw_bytes(tensor.contiguous())) << name;
  }
  for (const auto& [key, text] : content.metadata) {
    ASSERT_NE(read.find_metadata(key), nullptr) << key;
    EXPECT_EQ(*read.find_metadata(key), text);
  }
  EXPECT_EQ(read.find_metadata("checksum")->size(), 16u);
  EXPECT_EQ(read.find("absent"), nullptr);
  EXPECT_EQ(read.find_metadata("absent"), nullptr);
}

TEST(Safetensors, LayoutIsAlignedAndPaddedWithSpaces) {
  const test::TemporaryFolder folder;
  Safetensors content = small_content();
  std::swap(content.tensors[0], content.tensors[1]);  // the 3-byte tensor first
  write_safetensors(folder / "a", content);
  const std::string bytes = read_file(folder / "a");
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), 8);
  EXPECT_EQ(length % 8, 0u);
  const Json header = Json::parse(bytes.substr(8, length));
  EXPECT_EQ(header["a"]["data_offsets"], Json({0, 16}));
  EXPECT_EQ(header["b"]["data_offsets"], Json({16, 19}));
  EXPECT_EQ(bytes.size(), 8 + length + 19);
}

TEST(Safetensors, RewritingWhatWasReadMakesTheSameFile) {
  const test::TemporaryFolder folder;
  write_safetensors(folder / "a", small_content());
  write_safetensors(folder / "b", read_safetensors(folder / "a"));
  Safetensors again = read_safetensors(folder / "b");
  EXPECT_EQ(*again.find_metadata("checksum"),
            *read_safetensors(folder / "a").find_metadata("checksum"));
}

// A flip inside the word "checksum" leaves a valid container without one: nothing else may pass.
TEST(Safetensors, EveryFlippedBitIsSeenOrTakesTheChecksumAway) {
  const test::TemporaryFolder folder;
  write_safetensors(folder / "a", small_content());
  std::string bytes = read_file(folder / "a");
  int passed = 0;
  for (std::size_t i = 0; i < bytes.size() * 8; ++i) {
    const char bit = static_cast<char>(1 << (i % 8));
    bytes[i / 8] = static_cast<char>(bytes[i / 8] ^ bit);
    try {
      EXPECT_EQ(parse(bytes).find_metadata("checksum"), nullptr) << "bit " << i;
      ++passed;
    } catch (const OperatorFileError&) {
    }
    bytes[i / 8] = static_cast<char>(bytes[i / 8] ^ bit);
  }
  EXPECT_LE(passed, 8 * 8);  // of the letters of the key
  EXPECT_NO_THROW(parse(bytes));
}

TEST(Safetensors, EveryTruncationAndEveryAddedByteIsSeen) {
  const test::TemporaryFolder folder;
  write_safetensors(folder / "a", small_content());
  const std::string bytes = read_file(folder / "a");
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_THROW(parse(bytes.substr(0, size)), OperatorFileError) << size;
  for (const char added : {'\0', ' ', '}'}) EXPECT_THROW(parse(bytes + added), OperatorFileError);
}

TEST(Safetensors, AFileWithoutChecksumIsRead) {
  const float value = 2.5F;
  std::string data(4, '\0');
  std::memcpy(data.data(), &value, 4);
  const Safetensors read = parse(container(tensor_header("F32", "[1]", "[0,4]") + "   ", data));
  ASSERT_EQ(read.tensors.size(), 1u);
  EXPECT_EQ(read.tensors[0].first, "a");
  EXPECT_EQ(read.tensors[0].second.item<float>(), 2.5F);
  EXPECT_EQ(parse(container("{}", "")).tensors.size(), 0u);
}

TEST(Safetensors, TensorsOwnTheirMemory) {
  Tensor tensor;
  {
    std::string bytes = container(tensor_header("U8", "[2]", "[0,2]"), std::string("\x05\x06"));
    tensor = parse(bytes).tensors[0].second;
    bytes.assign(bytes.size(), '\xff');
  }
  EXPECT_TRUE(tensor.equal(torch::tensor({5, 6}, torch::kUInt8)));
}

TEST(Safetensors, MalformedFilesAreRefusedWithTheReason) {
  const std::string eight(8, '\0');
  const std::string good = tensor_header("F64", "[1]", "[0,8]");
  struct Case {
    std::string bytes, text;
  };
  const std::string huge(8, '\x7f');
  const std::vector<Case> cases = {
      {"", "has 0 bytes"},
      {"short", "has 5 bytes"},
      {huge + "{}", "expected at most 2"},
      {container("", ""), "does not begin with '{'"},
      {container(" {}", ""), "does not begin with '{'"},
      {container("{\"a\":", ""), "not valid JSON"},
      {container("{\"\xff\":1}", ""), "not valid JSON"},
      {container(R"({"a":1e999})", ""), "number that is too large"},
      {container(R"({"a":{"b":{"c":{"d":{"e":1}}}}})", ""), "nested too deeply"},
      {container(R"({"a":[[[[[[1]]]]]]})", ""), "nested too deeply"},
      {container(R"({"__metadata__":{"x":1}})", ""), "metadata 'x' is not a text"},
      {container(R"({"__metadata__":[]})", ""), "__metadata__ is not a table"},
      {container(R"({"__metadata__":{"x":"1","x":"2"}})", ""), "the key 'x' twice"},
      {container(R"({"a":5})", ""), "tensor 'a' has no 'dtype'"},
      {container(R"({"a":{"dtype":"F64","shape":[1]}})", eight), "has no 'data_offsets'"},
      {container(R"({"a":{"dtype":3,"shape":[1],"data_offsets":[0,8]}})", eight), "not a text"},
      {container(tensor_header("F8_E4M3", "[8]", "[0,8]"), eight), "unknown dtype 'F8_E4M3'"},
      {container(tensor_header("F64", "[-1]", "[0,8]"), eight), "whole numbers from 0"},
      {container(tensor_header("F64", "[1.0]", "[0,8]"), eight), "whole numbers from 0"},
      {container(tensor_header("F64", "1", "[0,8]"), eight), "a shape that is not a list"},
      {container(tensor_header("F64", "[4611686018427387904,4]", "[0,8]"), eight),
       "impossible shape"},
      {container(tensor_header("F64", "[0,9223372036854775807,4]", "[0,0]"), ""),
       "impossible shape"},
      {container(tensor_header("F64", "[1000000000000]", "[0,8000000000000]"), eight),
       "take 8000000000000 bytes"},
      {container(tensor_header("F64", "[2]", "[0,8]"), eight), "takes 16 bytes"},
      {container(tensor_header("F64", "[1]", "[8,0]"), eight), "takes 8 bytes"},
      {container(tensor_header("F64", "[1]", "[0]"), eight), "not a pair"},
      {container(tensor_header("F64", "[1]", "[8,16]"), eight + eight), "expected 0 (no gap"},
      {container(R"({"a":{"dtype":"F64","shape":[1],"data_offsets":[0,8]},)"
                 R"("b":{"dtype":"F64","shape":[1],"data_offsets":[4,12]}})",
                 eight + "1234"),
       "expected 8 (no gap, no overlap)"},
      {container(good, eight + "x"), "but 9 follow the header"},
      {container(good, "1234567"), "but 7 follow the header"},
      {container(tensor_header("BOOL", "[1]", "[0,1]"), "\x02"), "a byte other than 0 and 1"},
      {container(R"({"__metadata__":{"checksum":"sha"}})", ""), "its checksum is not of the form"},
      {container(R"({"__metadata__":{"checksum" : "0123456789abcdef"}})", ""),
       "its checksum is not of the form"},
      {container(R"({"__metadata__":{"checksum":"0123456789abcdef"}})", ""),
       "but 0123456789abcdef was stored; the file is damaged"},
  };
  for (const Case& item : cases)
    expect_error<OperatorFileError>([&] { parse(item.bytes); }, {"cannot read 'here'", item.text});
}

TEST(Safetensors, WhatIsNoFileIsRefused) {
  const test::TemporaryFolder folder;
  expect_error<FileError>([&] { read_safetensors(folder / "absent"); }, {"absent", "no such file"});
  expect_error<OperatorFileError>([] { read_safetensors("/dev/zero"); }, {"not a regular file"});
}

TEST(Safetensors, WhatCannotBeWrittenLeavesTheOldFile) {
  const test::TemporaryFolder folder;
  write_safetensors(folder / "a", small_content());
  const std::string before = read_file(folder / "a");
  const Tensor tensor = torch::ones({2});
  expect_error<UsageError>(
      [&] {
        write_safetensors(folder / "a", {{{"x", tensor}, {"x", tensor}}, {}});
      },
      {"tensor 'x'", "each name once"});
  expect_error<UsageError>(
      [&] {
        write_safetensors(folder / "a", {{{"__metadata__", tensor}}, {}});
      },
      {"__metadata__"});
  expect_error<UsageError>(
      [&] {
        write_safetensors(folder / "a", {{{"x", tensor.to(torch::kComplexFloat)}}, {}});
      },
      {"tensor 'x'", "no dtype", "ComplexFloat"});
  expect_error<UsageError>(
      [&] {
        write_safetensors(folder / "a", {{}, {{"key", "\xff"}}});
      },
      {"not UTF-8"});
  EXPECT_EQ(read_file(folder / "a"), before);
  expect_error<FileError>([&] { write_safetensors((folder / "no") / "a", small_content()); },
                          {"does not exist"});
}

}  // namespace
}  // namespace funcattn
