#include "operators/safetensors.h"

#include <algorithm>
#include <array>
#include <boost/crc.hpp>
#include <cstring>
#include <limits>
#include <optional>
#include <set>

#include "core/atomic_file.h"
#include "core/error.h"

namespace funcattn {

namespace {

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
              "tensors are copied as they lie in memory");

constexpr std::size_t prefix_size = 8;
constexpr std::uint64_t longest_header = 100'000'000;  // the limit of the reference implementation
constexpr std::size_t most_axes = 64;                  // what LibTorch iterates over
constexpr std::string_view metadata_key = "__metadata__";
constexpr std::string_view checksum_key = "checksum";
constexpr std::string_view blank_checksum = "0000000000000000";

struct ElementType {
  std::string_view name;
  torch::Dtype dtype;
  std::uint64_t size;
};

constexpr std::array<ElementType, 10> element_types = {{{"F64", torch::kFloat64, 8},
                                                        {"F32", torch::kFloat32, 4},
                                                        {"F16", torch::kFloat16, 2},
                                                        {"BF16", torch::kBFloat16, 2},
                                                        {"I64", torch::kInt64, 8},
                                                        {"I32", torch::kInt32, 4},
                                                        {"I16", torch::kInt16, 2},
                                                        {"I8", torch::kInt8, 1},
                                                        {"U8", torch::kUInt8, 1},
                                                        {"BOOL", torch::kBool, 1}}};

using Crc64 =
    boost::crc_optimal<64, 0x42F0E1EBA9EA3693u, ~std::uint64_t{0}, ~std::uint64_t{0}, true, true>;

std::string to_digits(std::uint64_t checksum) {
  std::string digits(blank_checksum);
  for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit, checksum >>= 4)
    *digit = "0123456789abcdef"[checksum & 15];
  return digits;
}

struct Entry {
  std::string name;
  const ElementType* type = nullptr;
  std::vector<std::int64_t> shape;
  std::uint64_t begin = 0;  // offsets in the data that follow the header
  std::uint64_t end = 0;
};

class Parser {
 public:
  Parser(std::string_view bytes, const std::string& where) : bytes_(bytes), where_(where) {}

  Safetensors parse() {
    const std::string_view header = find_header();
    Safetensors content;
    const std::vector<Entry> entries = read_header(header, content);
    const std::string_view data = bytes_.substr(prefix_size + header.size());
    check_layout(entries, data.size());
    if (const std::string* checksum = content.find_metadata(std::string(checksum_key)))
      verify(*checksum, header);
    for (const Entry& entry : entries)
      content.tensors.emplace_back(entry.name, make_tensor(entry, data));
    return content;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw OperatorFileError("cannot read '" + where_ + "': " + what);
  }

  std::string_view find_header() const {
    if (bytes_.size() < prefix_size)
      fail("it has " + std::to_string(bytes_.size()) +
           " bytes, a safetensors file has at least 8; it is damaged or of another kind");
    std::uint64_t length = 0;
    std::memcpy(&length, bytes_.data(), prefix_size);
    if (length > bytes_.size() - prefix_size || length > longest_header)
      fail("its first 8 bytes give a header of " + std::to_string(length) + " bytes in a file of " +
           std::to_string(bytes_.size()) +
           "; it is cut off, damaged, or no safetensors file (expected at most " +
           std::to_string(std::min<std::uint64_t>(bytes_.size() - prefix_size, longest_header)) +
           ")");
    const std::string_view header = bytes_.substr(prefix_size, length);
    if (header.empty() || header.front() != '{')
      fail("its header does not begin with '{'; it is damaged or no safetensors file");
    return header;
  }

  // A key that stands twice would hide one of its values, so that a reader of another make might
  // see a different file.
  nlohmann::json parse_json(std::string_view header) const {
    std::vector<std::set<std::string>> open_objects;
    const auto watch = [&](int depth, nlohmann::json::parse_event_t event, nlohmann::json& value) {
      if (depth > 4) fail("its header is nested too deeply for a safetensors file");
      if (event == nlohmann::json::parse_event_t::object_start) open_objects.emplace_back();
      if (event == nlohmann::json::parse_event_t::object_end) open_objects.pop_back();
      if (event == nlohmann::json::parse_event_t::key &&
          !open_objects.back().insert(value.get<std::string>()).second)
        fail("its header holds the key '" + value.get<std::string>() + "' twice");
      return true;
    };
    try {
      return nlohmann::json::parse(header.begin(), header.end(), watch);
    } catch (const nlohmann::json::parse_error& error) {
      fail("its header is not valid JSON (at byte " + std::to_string(error.byte) +
           " of it); it is damaged or no safetensors file");
    } catch (const nlohmann::json::exception&) {
      fail("its header holds a number that is too large; it is damaged or no safetensors file");
    }
  }

  std::vector<Entry> read_header(std::string_view text, Safetensors& content) const {
    const nlohmann::json header = parse_json(text);
    std::vector<Entry> entries;
    for (const auto& [key, value] : header.items()) {
      if (key == metadata_key)
        read_metadata(value, content);
      else
        entries.push_back(read_entry(key, value));
    }
    std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
      return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
    });
    return entries;
  }

  void read_metadata(const nlohmann::json& metadata, Safetensors& content) const {
    if (!metadata.is_object()) fail("its __metadata__ is not a table of texts");
    for (const auto& [key, value] : metadata.items()) {
      if (!value.is_string()) fail("its metadata '" + key + "' is not a text");
      content.metadata.emplace_back(key, value.get<std::string>());
    }
  }

  Entry read_entry(const std::string& name, const nlohmann::json& description) const {
    const std::string tensor = "tensor '" + name + "' ";
    const auto member = [&](const char* key) -> const nlohmann::json& {
      if (!description.is_object() || !description.contains(key))
        fail(tensor + "has no '" + key + "' in the header");
      return description[key];
    };
    Entry entry;
    entry.name = name;

    const nlohmann::json& dtype = member("dtype");
    if (!dtype.is_string()) fail(tensor + "has a dtype that is not a text");
    const auto type = std::find_if(
        element_types.begin(), element_types.end(),
        [&](const ElementType& known) { return known.name == dtype.get<std::string>(); });
    if (type == element_types.end())
      fail(tensor + "has the unknown dtype '" + dtype.get<std::string>() +
           "' (read are F64, F32, F16, BF16, I64, I32, I16, I8, U8, BOOL)");
    entry.type = &*type;

    const nlohmann::json& shape = member("shape");
    if (!shape.is_array() || shape.size() > most_axes)
      fail(tensor + "has a shape that is not a list of at most 64 sizes");
    std::uint64_t product = 1;  // zero sizes counted as one: LibTorch multiplies strides so
    bool empty = false;
    for (const auto& item : shape) {
      const std::uint64_t size = read_size(item, tensor + "has the shape " + shape.dump());
      empty = empty || size == 0;
      if (size > 0 && __builtin_mul_overflow(product, size, &product))
        fail(tensor + "has the impossible shape " + shape.dump());
      entry.shape.push_back(static_cast<std::int64_t>(size));
    }
    if (product > std::numeric_limits<std::int64_t>::max() / 16)
      fail(tensor + "has the impossible shape " + shape.dump());

    const nlohmann::json& offsets = member("data_offsets");
    if (!offsets.is_array() || offsets.size() != 2)
      fail(tensor + "has data_offsets that are not a pair of numbers");
    entry.begin = read_size(offsets[0], tensor + "has the data_offsets " + offsets.dump());
    entry.end = read_size(offsets[1], tensor + "has the data_offsets " + offsets.dump());
    const std::uint64_t expected = empty ? 0 : product * entry.type->size;
    if (entry.end < entry.begin || entry.end - entry.begin != expected)
      fail(tensor + "has the data_offsets " + offsets.dump() + ", but " + std::string(type->name) +
           " " + shape.dump() + " takes " + std::to_string(expected) + " bytes");
    return entry;
  }

  std::uint64_t read_size(const nlohmann::json& number, const std::string& what) const {
    if (!number.is_number_unsigned() ||
        number.get<std::uint64_t>() >
            static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
      fail(what + ", which is not made of whole numbers from 0");
    return number.get<std::uint64_t>();
  }

  void check_layout(const std::vector<Entry>& entries, std::uint64_t data_size) const {
    std::uint64_t position = 0;
    for (const Entry& entry : entries) {
      if (entry.begin != position)
        fail("tensor '" + entry.name + "' begins at byte " + std::to_string(entry.begin) +
             " of the data, expected " + std::to_string(position) + " (no gap, no overlap)");
      position = entry.end;
    }
    if (position != data_size)
      fail("its tensors take " + std::to_string(position) + " bytes, but " +
           std::to_string(data_size) + " follow the header; it is cut off or damaged");
  }

  void verify(const std::string& stored, std::string_view header) const {
    const std::string key = "\"" + std::string(checksum_key) + "\":\"";
    const std::size_t found = header.find(key + stored + "\"");
    if (stored.size() != blank_checksum.size() || found == std::string_view::npos ||
        header.find(key, found + 1) != std::string_view::npos)
      fail("its checksum is not of the form \"checksum\":\"16 hexadecimal digits\"");
    const std::size_t digits = prefix_size + found + key.size();
    const std::size_t rest = digits + blank_checksum.size();
    Crc64 crc;
    crc.process_bytes(bytes_.data(), digits);
    crc.process_bytes(blank_checksum.data(), blank_checksum.size());
    crc.process_bytes(bytes_.data() + rest, bytes_.size() - rest);
    const std::string computed = to_digits(crc.checksum());
    if (computed != stored)
      fail("its checksum is " + computed + ", but " + stored +
           " was stored; the file is damaged: copy it again or restore an older one");
  }

  Tensor make_tensor(const Entry& entry, std::string_view data) const {
    const std::string_view bytes = data.substr(entry.begin, entry.end - entry.begin);
    // Any other byte in a bool is undefined behaviour wherever it is used.
    if (entry.type->dtype == torch::kBool &&
        std::any_of(bytes.begin(), bytes.end(), [](char byte) { return byte != 0 && byte != 1; }))
      fail("tensor '" + entry.name + "' is BOOL and holds a byte other than 0 and 1");
    Tensor tensor = torch::empty(entry.shape, torch::dtype(entry.type->dtype));
    if (!bytes.empty()) std::memcpy(tensor.data_ptr(), bytes.data(), bytes.size());
    return tensor;
  }

  std::string_view bytes_;
  const std::string& where_;
};

struct StoredTensor {
  std::string name;
  const ElementType* type;
  Tensor contiguous;
  std::string_view bytes() const {
    return {static_cast<const char*>(contiguous.data_ptr()), contiguous.nbytes()};
  }
};

std::vector<StoredTensor> make_storable(const Safetensors& content) {
  std::vector<StoredTensor> stored;
  std::set<std::string> names;
  for (const auto& [name, tensor] : content.tensors) {
    if (name == metadata_key || !names.insert(name).second)
      throw UsageError("cannot write the tensor '" + name +
                       "': a safetensors file holds each name once, and not '__metadata__'");
    const auto type = std::find_if(element_types.begin(), element_types.end(),
                                   [&, dtype = tensor.scalar_type()](const ElementType& known) {
                                     return known.dtype == dtype;
                                   });
    if (type == element_types.end())
      throw UsageError("cannot write the tensor '" + name + "': safetensors has no dtype " +
                       std::string(torch::toString(tensor.scalar_type())));
    stored.push_back({name, &*type, tensor.detach().to(torch::kCPU).contiguous()});
  }
  std::stable_sort(stored.begin(), stored.end(), [](const StoredTensor& a, const StoredTensor& b) {
    return a.type->size > b.type->size;
  });
  return stored;
}

// The 8-byte length, the JSON text with a blank checksum, and spaces up to a multiple of 8.
std::string make_header(const Safetensors& content, const std::vector<StoredTensor>& stored) {
  Json header;
  Json& metadata = header[std::string(metadata_key)];
  for (const auto& [key, value] : content.metadata)
    if (key != checksum_key) metadata[key] = value;
  metadata[std::string(checksum_key)] = std::string(blank_checksum);
  std::uint64_t position = 0;
  for (const StoredTensor& tensor : stored) {
    const std::uint64_t end = position + tensor.bytes().size();
    header[tensor.name] = {{"dtype", std::string(tensor.type->name)},
                           {"shape", tensor.contiguous.sizes().vec()},
                           {"data_offsets", {position, end}}};
    position = end;
  }
  std::string text;
  try {
    text = header.dump();
  } catch (const Json::type_error&) {
    throw UsageError("cannot write a safetensors file: a tensor name or metadata is not UTF-8");
  }
  text.resize((text.size() + 7) / 8 * 8, ' ');
  const std::uint64_t length = text.size();
  std::string bytes(prefix_size, '\0');
  std::memcpy(bytes.data(), &length, prefix_size);
  return bytes + text;
}

}  // namespace

const Tensor* Safetensors::find(const std::string& name) const {
  const auto found = std::find_if(tensors.begin(), tensors.end(),
                                  [&](const NamedTensor& entry) { return entry.first == name; });
  return found == tensors.end() ? nullptr : &found->second;
}

const std::string* Safetensors::find_metadata(const std::string& key) const {
  const auto found = std::find_if(metadata.begin(), metadata.end(),
                                  [&](const auto& entry) { return entry.first == key; });
  return found == metadata.end() ? nullptr : &found->second;
}

Safetensors parse_safetensors(std::string_view bytes, const std::string& where) {
  return Parser(bytes, where).parse();
}

Safetensors read_safetensors(const std::filesystem::path& path) {
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored) && std::filesystem::is_other(path, ignored))
    throw OperatorFileError("cannot read '" + path.string() + "': it is not a regular file");
  return parse_safetensors(read_file(path), path.string());
}

void write_safetensors(const std::filesystem::path& path, const Safetensors& content) {
  const std::vector<StoredTensor> stored = make_storable(content);
  std::string header = make_header(content, stored);
  Crc64 crc;
  crc.process_bytes(header.data(), header.size());
  for (const StoredTensor& tensor : stored)
    crc.process_bytes(tensor.bytes().data(), tensor.bytes().size());
  const std::string key = "\"" + std::string(checksum_key) + "\":\"";
  header.replace(header.find(key + std::string(blank_checksum)) + key.size(), blank_checksum.size(),
                 to_digits(crc.checksum()));

  AtomicFile file(path);
  file.write(header);
  for (const StoredTensor& tensor : stored) file.write(tensor.bytes());
  file.commit();
}

}  // namespace funcattn
