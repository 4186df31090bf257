#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

class vtkDataCompressor;

namespace funcattn {

/// How a VTK XML file stores binary blocks.
struct BlockLayout {
  bool big_endian = false;
  std::size_t header_word = 4;              ///< Bytes of each integer of a block's header.
  vtkDataCompressor* compressor = nullptr;  ///< Null where nothing is compressed.
  bool has_checksum = true;                 ///< Whether compressed data carry a checksum.
};

/// Encoded bytes: an appended section or the text of an inline array.
struct EncodedBytes {
  std::uint64_t size = 0;
  bool base64 = false;
  std::function<std::string(std::uint64_t offset, std::uint64_t count)> read;
};

/// One array's block: a header (its length, or the lengths of its compressed pieces) and the data.
/// The constructor reads the header and checks that all of it fits into `source`.
class EncodedBlock {
 public:
  /// Throws DataError, in words that continue "array 'x' ".
  EncodedBlock(const EncodedBytes& source, const BlockLayout& layout, std::uint64_t offset);

  std::uint64_t data_size() const { return data_size_; }  ///< Bytes, uncompressed.
  std::uint64_t encoded_size() const {
    return encoded_size_;
  }  ///< Bytes or characters in the file.

  /// Checks what VTK would not notice: characters that are not base64, and compressed pieces
  /// without a checksum that yield less than they declare. Throws DataError.
  void check_content() const;

  /// The data. Throws DataError if they cannot be decoded.
  std::string decode() const;

  /// The last `count` bytes of data that are not compressed, or fewer if there are fewer.
  std::string decode_last(std::uint64_t count) const;

 private:
  std::string bytes(std::uint64_t offset, std::uint64_t first, std::uint64_t count) const;
  std::vector<std::uint64_t> header_words(std::uint64_t count) const;
  void read_compressed_header();

  const EncodedBytes& source_;
  const BlockLayout& layout_;
  std::uint64_t offset_;
  std::uint64_t data_size_ = 0;
  std::uint64_t encoded_size_ = 0;
  std::uint64_t stored_size_ = 0;      ///< Bytes of data after base64, before decompression.
  std::uint64_t data_at_ = 0;          ///< Where the stream that holds the data begins.
  std::uint64_t skip_ = 0;             ///< Header bytes at the front of that stream.
  std::uint64_t piece_size_ = 0;       ///< Uncompressed bytes of all pieces but the last.
  std::vector<std::uint64_t> pieces_;  ///< Compressed bytes of each piece.
};

}  // namespace funcattn
