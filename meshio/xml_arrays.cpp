#include "meshio/xml_arrays.h"

#include <vtkCallbackCommand.h>
#include <vtkLZ4DataCompressor.h>
#include <vtkLZMADataCompressor.h>
#include <vtkZLibDataCompressor.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "core/error.h"
#include "core/text.h"
#include "meshio/inspection.h"
#include "meshio/number_word.h"

namespace funcattn {

/// How a value is stored.
struct ValueType {
  const char* name;
  std::int64_t size;  ///< Bytes; 0 for bits, -1 for strings.
  bool floating;
  bool is_signed;
};

namespace {

constexpr const char* kWhitespace = " \t\r\n\f\v";

constexpr ValueType kValueTypes[] = {
    {"Int8", 1, false, true},    {"UInt8", 1, false, false},  {"Int16", 2, false, true},
    {"UInt16", 2, false, false}, {"Int32", 4, false, true},   {"UInt32", 4, false, false},
    {"Int64", 8, false, true},   {"UInt64", 8, false, false}, {"Float32", 4, true, true},
    {"Float64", 8, true, true},  {"Bit", 0, false, false},    {"String", -1, false, false},
};

const ValueType& value_type(const XmlElement& array, const std::string& what) {
  const std::string name = array.attribute("type");
  for (const ValueType& type : kValueTypes)
    if (name == type.name) return type;
  throw DataError(what + " is of the unknown type '" + name + "'");
}

/// Calls `visit` for every word of the text.
template <class Visit>
void for_each_word(std::string_view text, const Visit& visit) {
  for (auto begin = text.find_first_not_of(kWhitespace); begin != std::string_view::npos;) {
    auto end = text.find_first_of(kWhitespace, begin);
    if (end == std::string_view::npos) end = text.size();
    visit(text.substr(begin, end - begin));
    begin = text.find_first_not_of(kWhitespace, end);
  }
}

NumberKind text_kind(const ValueType& type) {
  if (type.floating) return type.size == 4 ? NumberKind::float32 : NumberKind::float64;
  switch (type.size) {
    case 0:
      return NumberKind::bit;
    case 1:
      return type.is_signed ? NumberKind::int8 : NumberKind::uint8;
    case 2:
      return type.is_signed ? NumberKind::int16 : NumberKind::uint16;
    case 8:
      return type.is_signed ? NumberKind::int64 : NumberKind::uint64;
    default:  // VTK stores strings in text as the codes of their bytes.
      return type.size == 4 && !type.is_signed ? NumberKind::uint32 : NumberKind::int32;
  }
}

/// Checks the words of an ASCII array and counts them.
std::int64_t count_words(std::string_view text, const ValueType& type, const std::string& what) {
  std::int64_t words = 0;
  const NumberKind kind = text_kind(type);
  for_each_word(text, [&](std::string_view word) {
    const auto value = parse_double(word);
    if (value && !std::isfinite(*value))
      throw DataError(what + " holds '" + std::string(word) +
                      "' as text, which VTK cannot read; store it in binary or appended form");
    const bool good = is_number(word, kind);
    if (!good)
      throw DataError(what + " holds '" + std::string(word.substr(0, 40)) +
                      "', expected a number of type " + type.name + "; the file is damaged");
    ++words;
  });
  return words;
}

// VTK reads strings up to their zeros, as many as there are rows, wherever the array ends.
constexpr const char* kOpenText = "holds a text without an end; the file is damaged";

/// Strings of an ASCII array, which stand as numbers of bytes with a 0 behind each.
std::int64_t strings_of_text(std::string_view text, const std::string& what) {
  std::int64_t strings = 0;
  bool is_ended = true;
  for_each_word(text, [&](std::string_view word) {
    is_ended = parse_double(word) == 0.0;
    strings += is_ended ? 1 : 0;
  });
  if (!is_ended) throw DataError(what + " " + kOpenText);
  return strings;
}

}  // namespace

XmlArrays::XmlArrays(const FileBytes& file, const XmlDocument& document)
    : file_(file), document_(document) {
  const XmlElement& root = document.root;
  const std::string order = root.attribute("byte_order", "LittleEndian");
  if (order != "LittleEndian" && order != "BigEndian")
    throw DataError("its byte order is '" + order + "', expected LittleEndian or BigEndian");
  layout_.big_endian = order == "BigEndian";
  const std::string header = root.attribute("header_type", "UInt32");
  if (header != "UInt32" && header != "UInt64")
    throw DataError("its header type is '" + header + "', expected UInt32 or UInt64");
  layout_.header_word = header == "UInt64" ? 8 : 4;
  const std::string compressor = root.attribute("compressor");
  if (compressor == "vtkZLibDataCompressor") {
    compressor_ = vtkSmartPointer<vtkZLibDataCompressor>::New();
  } else if (compressor == "vtkLZ4DataCompressor") {
    compressor_ = vtkSmartPointer<vtkLZ4DataCompressor>::New();
    layout_.has_checksum = false;
  } else if (compressor == "vtkLZMADataCompressor") {
    compressor_ = vtkSmartPointer<vtkLZMADataCompressor>::New();
  } else if (!compressor.empty()) {
    throw DataError("its compressor '" + compressor + "' is not known");
  }
  if (compressor_) {
    // Failure shows in what it returns; without an observer VTK would log it as well.
    compressor_->AddObserver(vtkCommand::ErrorEvent, vtkSmartPointer<vtkCallbackCommand>::New());
  }
  layout_.compressor = compressor_;
}

EncodedBytes XmlArrays::source_of(const XmlElement& array) const {
  EncodedBytes source;
  if (array.attribute("format") == "appended") {
    if (!document_.appended) throw DataError("lies in appended data, but the file has none");
    const AppendedSection section = *document_.appended;
    source.size = section.end - section.begin;
    source.base64 = section.base64;
    source.read = [this, section](std::uint64_t offset, std::uint64_t count) {
      return file_.read(section.begin + offset,
                        std::min(count, section.end - section.begin - offset));
    };
    return source;
  }
  std::string_view text = array.text;
  const auto begin = text.find_first_not_of(kWhitespace);
  if (begin != std::string_view::npos)
    text = text.substr(begin, text.find_last_not_of(kWhitespace) + 1 - begin);
  source.base64 = true;
  source.size = begin == std::string_view::npos ? 0 : text.size();
  source.read = [text](std::uint64_t offset, std::uint64_t count) {
    return std::string(text.substr(offset, count));
  };
  return source;
}

std::uint64_t XmlArrays::offset_of(const XmlElement& array) {
  return array.attribute("format") == "appended" ? static_cast<std::uint64_t>(array.count("offset"))
                                                 : 0;
}

void XmlArrays::check(const XmlElement& array, const std::string& what,
                      std::optional<std::int64_t> tuples) const {
  const ValueType& type = value_type(array, what);
  const std::int64_t components = array.count("NumberOfComponents", 1);
  if (components == 0) throw DataError(what + " has 0 components, expected at least 1");
  if (array.attributes.count("NumberOfTuples")) {
    const std::int64_t declared = array.count("NumberOfTuples");
    if (tuples && declared != *tuples)
      throw DataError(what + " declares " + std::to_string(declared) + " rows, expected " +
                      std::to_string(*tuples));
    tuples = declared;
  }
  std::optional<std::int64_t> values;
  if (tuples) values = checked_product(*tuples, components);

  const std::string format = array.attribute("format", "ascii");
  if (format == "ascii") {
    const std::int64_t words = count_words(array.text, type, what);
    const std::int64_t found = type.size < 0 ? strings_of_text(array.text, what) : words;
    if (values && found != *values)
      throw DataError(what + " holds " + std::to_string(found) + " values, expected " +
                      std::to_string(*values));
    return;
  }
  if (format != "appended" && format != "binary")
    throw DataError(what + " has the unknown format '" + format + "'");
  try {
    const EncodedBytes source = source_of(array);
    // An array without values may have no block at all.
    if (format == "binary" && source.size == 0 && values == 0) return;
    const EncodedBlock block(source, layout_, offset_of(array));
    if (values && type.size >= 0) {
      const std::int64_t expected =
          type.size == 0 ? (*values + 7) / 8 : checked_product(*values, type.size);
      if (block.data_size() != static_cast<std::uint64_t>(expected))
        throw DataError("holds " + std::to_string(block.data_size()) + " bytes, expected " +
                        std::to_string(expected) + " for " + std::to_string(*values) +
                        " values of type " + type.name);
    }
    block.check_content();
    if (values && type.size < 0) {
      const std::string bytes = block.decode();
      if (!bytes.empty() && bytes.back() != '\0') throw DataError(kOpenText);
      const auto found = std::count(bytes.begin(), bytes.end(), '\0');
      if (found != *values)
        throw DataError("holds " + std::to_string(found) + " values, expected " +
                        std::to_string(*values));
    }
  } catch (const DataError& error) {
    throw DataError(what + " " + error.what());
  }
}

void XmlArrays::check_decodes(const XmlElement& array, const std::string& what) const {
  if (array.attribute("format", "ascii") == "ascii") return;
  try {
    const EncodedBytes source = source_of(array);
    if (source.size > 0) EncodedBlock(source, layout_, offset_of(array)).decode();
  } catch (const DataError& error) {
    throw DataError(what + " " + error.what());
  }
}

std::int64_t XmlArrays::value_count(const XmlElement& array, const std::string& what) const {
  const ValueType& type = value_type(array, what);
  if (array.attribute("format", "ascii") == "ascii") return count_words(array.text, type, what);
  if (type.size <= 0) throw DataError(what + " is of type '" + type.name + "', expected numbers");
  const EncodedBytes source = source_of(array);
  if (source.size == 0) return 0;
  return static_cast<std::int64_t>(EncodedBlock(source, layout_, offset_of(array)).data_size()) /
         type.size;
}

std::int64_t XmlArrays::last_integer(const XmlElement& array, const std::string& what) const {
  const ValueType& type = value_type(array, what);
  const bool whole = array.attribute("format", "ascii") == "ascii" || layout_.compressor ||
                     type.floating || type.size <= 0;
  std::vector<std::int64_t> values;
  if (whole) {
    values = integers(array, what);
  } else {
    const EncodedBytes source = source_of(array);
    const auto width = static_cast<std::uint64_t>(type.size);
    if (source.size > 0)
      values = decoded_integers(EncodedBlock(source, layout_, offset_of(array)).decode_last(width),
                                type);
  }
  if (values.empty()) throw DataError(what + " is empty");
  return values.back();
}

std::vector<std::int64_t> XmlArrays::integers(const XmlElement& array,
                                              const std::string& what) const {
  const ValueType& type = value_type(array, what);
  if (type.floating || type.size <= 0)
    throw DataError(what + " is of type '" + type.name + "', expected integers");
  std::vector<std::int64_t> values;
  if (array.attribute("format", "ascii") == "ascii") {
    for_each_word(array.text, [&](std::string_view word) {
      const auto value = parse_integer(word);
      if (!value) throw DataError(what + " holds '" + std::string(word) + "', expected an integer");
      values.push_back(*value);
    });
    return values;
  }
  std::string bytes;
  try {
    const EncodedBytes source = source_of(array);
    if (source.size > 0) bytes = EncodedBlock(source, layout_, offset_of(array)).decode();
  } catch (const DataError& error) {
    throw DataError(what + " " + error.what());
  }
  return decoded_integers(bytes, type);
}

std::vector<std::int64_t> XmlArrays::decoded_integers(const std::string& bytes,
                                                      const ValueType& type) const {
  std::vector<std::int64_t> values;
  const auto width = static_cast<std::size_t>(type.size);
  values.reserve(bytes.size() / width);
  for (std::size_t at = 0; at + width <= bytes.size(); at += width) {
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < width; ++i) {
      const std::size_t byte = layout_.big_endian ? i : width - 1 - i;
      bits = (bits << 8) | static_cast<unsigned char>(bytes[at + byte]);
    }
    const std::size_t unused = 64 - 8 * width;
    values.push_back(type.is_signed ? static_cast<std::int64_t>(bits << unused) >> unused
                                    : static_cast<std::int64_t>(bits));
  }
  return values;
}

}  // namespace funcattn
