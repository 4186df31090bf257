#include "meshio/ply_values.h"

#include <charconv>
#include <cmath>
#include <cstring>

#include "core/error.h"
#include "core/text.h"

namespace funcattn {

namespace {

DataError cut_short() {
  return DataError("it ends inside its elements; the file is cut short");
}

}  // namespace

PlyValues::PlyValues(const std::string& bytes, TextLines lines, PlyStorage storage)
    : bytes_(bytes), lines_(lines), storage_(storage), at_(lines.position()) {}

void PlyValues::require_room(const PlyElement& element) const {
  std::int64_t least = 0;  // Bytes of a row with empty lists.
  for (const PlyProperty& property : element.properties) {
    const std::size_t size = property.count ? property.count->size : property.type.size;
    least += storage_ == PlyStorage::text ? 2 : static_cast<std::int64_t>(size);
  }
  if (least > 0 && element.rows > static_cast<std::int64_t>(bytes_.size()) / least)
    throw DataError("its header declares " + std::to_string(element.rows) + " rows of '" +
                    element.name + "', more than the file holds; it is cut short or damaged");
}

bool PlyValues::next_words() {
  word_ = 0;
  for (words_.clear(); words_.empty(); words_ = lines_.words())
    if (!lines_.next()) return false;
  return true;
}

void PlyValues::begin_row(const PlyElement& element, std::int64_t row) {
  if (storage_ == PlyStorage::text && !next_words())
    throw DataError("it ends at " + element.name + " " + std::to_string(row) + " of " +
                    std::to_string(element.rows) + "; the file is cut short");
  row_line_ = lines_.number();
}

double PlyValues::number(const PlyScalar& type) {
  if (storage_ != PlyStorage::text) return binary_number(type);
  if (word_ == words_.size()) {
    const std::string line = lines_.where();
    if (!next_words()) throw DataError(line + " ends early; the file is cut short");
  }
  return text_number(words_[word_++], type);
}

double PlyValues::text_number(std::string_view word, const PlyScalar& type) const {
  const auto value = parse_double(word);
  const bool whole = value && std::trunc(*value) == *value;  // "3.0" stands for an integer as well.
  if (type.floating && value && !std::isfinite(*value)) return *value;
  if (!is_number(type.floating || !whole ? word : std::string_view(format_number(*value)),
                 type.kind))
    throw DataError(lines_.where() + " holds '" + std::string(word.substr(0, 40)) +
                    "', expected a number of the declared type; the file is damaged");
  if (!value) return 0;  // Too near to zero for a double.
  if (type.kind != NumberKind::float32) return *value;
  float nearest = 0;  // By way of a double it would be rounded twice.
  if (word.front() == '+') word.remove_prefix(1);
  std::from_chars(word.data(), word.data() + word.size(), nearest);
  return static_cast<double>(nearest);
}

double PlyValues::binary_number(const PlyScalar& type) {
  if (type.size > bytes_.size() - at_) throw cut_short();
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < type.size; ++i) {
    const std::size_t byte = storage_ == PlyStorage::big_endian ? i : type.size - 1 - i;
    bits = (bits << 8) | static_cast<unsigned char>(bytes_[at_ + byte]);
  }
  at_ += type.size;
  if (type.floating && type.size == 4) {
    const auto narrow = static_cast<std::uint32_t>(bits);
    float value = 0;
    std::memcpy(&value, &narrow, sizeof value);
    return static_cast<double>(value);
  }
  if (type.floating) {
    double value = 0;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  }
  const std::size_t unused = 64 - 8 * type.size;
  return type.is_signed ? static_cast<double>(static_cast<std::int64_t>(bits << unused) >> unused)
                        : static_cast<double>(bits);
}

std::int64_t PlyValues::list_length(const PlyProperty& list) {
  const auto length = static_cast<std::int64_t>(number(*list.count));
  if (length < 0) throw DataError("a list has a negative length; the file is damaged");
  if (storage_ == PlyStorage::text) {
    const std::size_t left = words_.size() - word_ + (bytes_.size() - lines_.position() + 1) / 2;
    if (length > static_cast<std::int64_t>(left))
      throw DataError(lines_.where() + " ends early; the file is cut short");
  } else if (length > static_cast<std::int64_t>((bytes_.size() - at_) / list.type.size)) {
    throw cut_short();
  }
  return length;
}

void PlyValues::end_row() const {
  if (storage_ != PlyStorage::text || word_ == words_.size()) return;
  const bool wrapped = row_line_ != lines_.number();
  throw DataError(lines_.where() + " has more numbers than declared" +
                  (wrapped ? " for the row that begins on line " + std::to_string(row_line_) : "") +
                  "; the file is damaged");
}

void PlyValues::finish() {
  // Some programs end binary files with a line end too, that of the header.
  const std::string_view rest =
      storage_ == PlyStorage::text ? std::string_view() : std::string_view(bytes_).substr(at_);
  bool more = !rest.empty() && rest != lines_.line_end() && rest != "\r\n";
  if (storage_ == PlyStorage::text) more = next_words();
  if (more) throw DataError("something follows behind its last element; the file is damaged");
}

}  // namespace funcattn
