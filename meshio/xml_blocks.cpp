#include "meshio/xml_blocks.h"

#include <vtkDataCompressor.h>

#include <algorithm>
#include <array>

#include "core/error.h"

namespace funcattn {

namespace {

/// No compressor of VTK shrinks anything more than this; a header that says so is damaged and
/// would make the reader ask for absurd amounts of memory.
constexpr std::uint64_t kLargestRatio = 20000;

std::uint64_t encoded_length(std::uint64_t bytes, bool base64) {
  return base64 ? (bytes + 2) / 3 * 4 : bytes;
}

/// 64 marks padding, 65 what is not base64.
std::array<unsigned char, 256> base64_values() {
  std::array<unsigned char, 256> values;
  values.fill(65);
  const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=";
  for (std::size_t i = 0; i < digits.size(); ++i)
    values[static_cast<unsigned char>(digits[i])] = static_cast<unsigned char>(i);
  return values;
}

/// Decodes whole groups of four characters; padding may stand in the last group only.
std::string decode_base64(const std::string& text) {
  static const auto values = base64_values();
  const DataError broken("holds characters that are not base64; the file is damaged");
  if (text.size() % 4 != 0) throw DataError("ends early; the file is cut short");
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  for (std::size_t i = 0; i < text.size(); i += 4) {
    std::array<unsigned, 4> group{};
    for (std::size_t j = 0; j < 4; ++j) group[j] = values[static_cast<unsigned char>(text[i + j])];
    std::size_t padding = 0;
    if (group[3] == 64) padding = group[2] == 64 ? 2 : 1;
    for (std::size_t j = 0; j < 4 - padding; ++j)
      if (group[j] >= 64) throw broken;
    if (padding > 0 && i + 4 != text.size()) throw broken;
    const unsigned word = (group[0] << 18) | (group[1] << 12) |
                          ((padding < 2 ? group[2] : 0) << 6) | (padding < 1 ? group[3] : 0);
    bytes.push_back(static_cast<char>(word >> 16));
    if (padding < 2) bytes.push_back(static_cast<char>((word >> 8) & 255));
    if (padding < 1) bytes.push_back(static_cast<char>(word & 255));
  }
  return bytes;
}

}  // namespace

EncodedBlock::EncodedBlock(const EncodedBytes& source, const BlockLayout& layout,
                           std::uint64_t offset)
    : source_(source), layout_(layout), offset_(offset) {
  data_at_ = offset;
  if (layout_.compressor) {
    read_compressed_header();
  } else {
    data_size_ = stored_size_ = header_words(1)[0];
    skip_ = layout_.header_word;
    if (stored_size_ > source_.size)
      throw DataError("declares " + std::to_string(stored_size_) +
                      " bytes, more than the file holds; the file is cut short or damaged");
    encoded_size_ = encoded_length(skip_ + stored_size_, source_.base64);
  }
  if (offset_ > source_.size || encoded_size_ > source_.size - offset_)
    throw DataError("needs " + std::to_string(encoded_size_) + " bytes at position " +
                    std::to_string(offset_) + " of the data, but there are only " +
                    std::to_string(source_.size) + "; the file is cut short or damaged");
}

void EncodedBlock::read_compressed_header() {
  const std::uint64_t count = header_words(1)[0];
  if (count > source_.size / layout_.header_word)
    throw DataError("declares " + std::to_string(count) +
                    " compressed pieces, more than the file holds; the file is damaged");
  if (count == 0) {
    encoded_size_ = encoded_length(layout_.header_word, source_.base64);
    return;
  }
  const auto words = header_words(3 + count);
  piece_size_ = words[1];
  const std::uint64_t last = words[2];
  pieces_.assign(words.begin() + 3, words.end());
  const DataError damaged("has impossible sizes of its compressed pieces; the file is damaged");
  for (const std::uint64_t piece : pieces_) {
    if (piece == 0 || piece > source_.size) throw damaged;
    stored_size_ += piece;
  }
  if (piece_size_ == 0 || last > piece_size_) throw damaged;
  if (__builtin_mul_overflow(last > 0 ? count - 1 : count, piece_size_, &data_size_) ||
      __builtin_add_overflow(data_size_, last, &data_size_) ||
      data_size_ / kLargestRatio > stored_size_)
    throw damaged;
  const std::uint64_t header = encoded_length((3 + count) * layout_.header_word, source_.base64);
  data_at_ = offset_ + header;
  encoded_size_ = header + encoded_length(stored_size_, source_.base64);
}

/// `count` bytes from `first` on of the stream that begins at `offset`.
std::string EncodedBlock::bytes(std::uint64_t offset, std::uint64_t first,
                                std::uint64_t count) const {
  const DataError cut("ends early; the file is cut short");
  const std::uint64_t begin = source_.base64 ? first / 3 * 4 : first;
  const std::uint64_t length = source_.base64 ? encoded_length(first % 3 + count, true) : count;
  if (offset > source_.size || begin + length > source_.size - offset) throw cut;
  std::string raw = source_.read(offset + begin, length);
  if (raw.size() < length) throw cut;
  if (!source_.base64) return raw;
  raw = decode_base64(raw).substr(first % 3);
  if (raw.size() < count) throw cut;
  raw.resize(count);
  return raw;
}

std::vector<std::uint64_t> EncodedBlock::header_words(std::uint64_t count) const {
  const std::size_t width = layout_.header_word;
  const std::string raw = bytes(offset_, 0, count * width);
  std::vector<std::uint64_t> words(count);
  for (std::size_t i = 0; i < raw.size(); ++i) {
    const std::size_t byte = layout_.big_endian ? i % width : width - 1 - i % width;
    words[i / width] =
        (words[i / width] << 8) | static_cast<unsigned char>(raw[i / width * width + byte]);
  }
  return words;
}

void EncodedBlock::check_content() const {
  if (layout_.compressor && !layout_.has_checksum) {
    decode();
  } else if (source_.base64) {
    constexpr std::uint64_t step = 3 << 18;
    const std::uint64_t total = skip_ + stored_size_;
    for (std::uint64_t at = 0; at < total; at += step)
      bytes(data_at_, at, std::min(step, total - at));
  }
}

std::string EncodedBlock::decode_last(std::uint64_t count) const {
  count = std::min(count, stored_size_);
  return bytes(data_at_, skip_ + stored_size_ - count, count);
}

std::string EncodedBlock::decode() const {
  if (!layout_.compressor) return bytes(data_at_, skip_, stored_size_);
  const std::string stored = bytes(data_at_, 0, stored_size_);
  std::string data(data_size_, '\0');
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  for (const std::uint64_t piece : pieces_) {
    const std::uint64_t expected = std::min(piece_size_, data_size_ - to);
    const auto got = layout_.compressor->Uncompress(
        reinterpret_cast<const unsigned char*>(stored.data()) + from, piece,
        reinterpret_cast<unsigned char*>(data.data()) + to, expected);
    if (got != expected) throw DataError("cannot be decompressed; the file is damaged");
    from += piece;
    to += expected;
  }
  return data;
}

}  // namespace funcattn
