#include "meshio/netcdf_header.h"

#include <algorithm>

#include "core/error.h"
#include "meshio/inspection.h"

namespace funcattn {

namespace {

constexpr std::uint64_t kLargestHeader = 64 << 20;
constexpr std::int64_t kRecordDimension = -1;

std::int64_t size_of_type(std::int64_t type) {
  constexpr std::int64_t sizes[] = {0, 1, 1, 2, 4, 4, 8, 1, 2, 4, 8, 8};
  if (type < 1 || type > 11)
    throw DataError("its netCDF header names an unknown type; the file is damaged");
  return sizes[type];
}

std::int64_t padded(std::int64_t bytes) {
  return (bytes + 3) / 4 * 4;
}

class HeaderReader {
 public:
  HeaderReader(const FileBytes& file, NetcdfHeader& header)
      : file_(file), header_(header), bytes_(file.read(0, kLargestHeader)) {}

  void run() {
    version_ = bytes_.size() > 3 ? bytes_[3] : 0;
    at_ = 4;
    std::int64_t records = count();
    if (records == (version_ == 5 ? -1 : 0xFFFFFFFFLL)) records = 0;  // "streaming"
    if (list(0x0A)) read_dimensions();
    if (list(0x0C)) skip_attributes();
    if (list(0x0B)) read_variables();
    check_sizes(records);
  }

 private:
  static DataError damaged() { return DataError("its netCDF header is damaged or cut short"); }

  std::int64_t integer(std::size_t width) {
    if (bytes_.size() - at_ < width) throw damaged();
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < width; ++i)
      value = (value << 8) | static_cast<unsigned char>(bytes_[at_++]);
    return static_cast<std::int64_t>(value);
  }
  /// A number of things: 8 bytes from version 5 on.
  std::int64_t count() { return integer(version_ == 5 ? 8 : 4); }

  /// A count that must fit into the rest of the header, each thing taking at least four bytes.
  std::int64_t bounded_count() {
    const std::int64_t value = count();
    if (value < 0 || value > static_cast<std::int64_t>((bytes_.size() - at_) / 4)) throw damaged();
    return value;
  }

  /// Reads the tag and length of a list; false where the list is absent.
  bool list(std::int64_t tag) {
    const std::int64_t found = integer(4);
    length_ = bounded_count();
    if (found == 0 && length_ == 0) return false;
    if (found != tag) throw damaged();
    return length_ > 0;
  }

  std::string name() {
    const std::int64_t length = count();
    if (length < 0 || length > static_cast<std::int64_t>(bytes_.size() - at_)) throw damaged();
    std::string text = bytes_.substr(at_, static_cast<std::size_t>(length));
    skip(padded(length));
    return text;
  }
  void skip(std::int64_t size) {
    if (size < 0 || size > static_cast<std::int64_t>(bytes_.size() - at_)) throw damaged();
    at_ += static_cast<std::size_t>(size);
  }

  void read_dimensions() {
    for (std::int64_t i = length_; i > 0; --i) {
      const std::string key = name();
      const std::int64_t size = count();
      if (size < 0) throw damaged();
      dimension_sizes_.push_back(size == 0 ? kRecordDimension : size);
      header_.dimensions[key] = size;
    }
  }

  void skip_attributes() {
    for (std::int64_t i = length_; i > 0; --i) {
      name();
      const std::int64_t size = size_of_type(integer(4));
      const std::int64_t values = count();
      skip(padded(checked_product(values, size)));
    }
  }

  void read_variables() {
    for (std::int64_t i = length_; i > 0; --i) {
      const std::string key = name();
      NetcdfVariable variable;
      for (std::int64_t axes = bounded_count(); axes > 0; --axes) {
        const std::int64_t dimension = count();
        if (dimension < 0 || dimension >= static_cast<std::int64_t>(dimension_sizes_.size()))
          throw damaged();
        variable.shape.push_back(dimension_sizes_[static_cast<std::size_t>(dimension)]);
      }
      if (list(0x0C)) skip_attributes();
      variable.type = static_cast<int>(integer(4));
      variable.value_size = size_of_type(variable.type);
      count();  // The size in bytes, which the shape says as well.
      variable.begin = static_cast<std::uint64_t>(integer(version_ == 1 ? 4 : 8));
      header_.variables[key] = std::move(variable);
    }
  }

  static bool is_record(const NetcdfVariable& variable) {
    return !variable.shape.empty() && variable.shape.front() == kRecordDimension;
  }

  /// Bytes of a variable, of one record where it has records.
  static std::int64_t bytes_of(const NetcdfVariable& variable) {
    std::int64_t bytes = variable.value_size;
    for (std::size_t axis = is_record(variable) ? 1 : 0; axis < variable.shape.size(); ++axis) {
      if (variable.shape[axis] < 0) throw damaged();
      bytes = checked_product(bytes, variable.shape[axis]);
    }
    return bytes;
  }

  void check_sizes(std::int64_t records) const {
    if (records < 0) throw damaged();
    std::int64_t record_size = 0;
    std::int64_t record_variables = 0;
    for (const auto& [key, variable] : header_.variables) {
      if (!is_record(variable)) continue;
      record_size += padded(bytes_of(variable));
      if (record_size < 0) throw damaged();
      ++record_variables;
    }
    for (const auto& [key, variable] : header_.variables) {
      std::int64_t needed = bytes_of(variable);
      if (is_record(variable)) {
        if (records == 0) continue;
        // A single record variable is stored without padding.
        const std::int64_t stride = record_variables == 1 ? needed : record_size;
        const std::int64_t before = checked_product(records - 1, stride);
        if (__builtin_add_overflow(before, needed, &needed)) throw damaged();
      }
      if (variable.begin > file_.size() ||
          static_cast<std::uint64_t>(needed) > file_.size() - variable.begin)
        throw DataError("its variable '" + key + "' needs " + std::to_string(needed) +
                        " bytes at position " + std::to_string(variable.begin) +
                        ", but the file has only " + std::to_string(file_.size()) +
                        "; it is cut short or damaged");
    }
  }

  const FileBytes& file_;
  NetcdfHeader& header_;
  const std::string bytes_;
  std::size_t at_ = 0;
  char version_ = 0;
  std::int64_t length_ = 0;
  std::vector<std::int64_t> dimension_sizes_;
};

}  // namespace

NetcdfHeader::NetcdfHeader(const FileBytes& file) {
  HeaderReader(file, *this).run();
}

std::vector<std::int64_t> NetcdfHeader::integers(const FileBytes& file,
                                                 const std::string& name) const {
  const auto found = variables.find(name);
  if (found == variables.end()) throw DataError("it has no variable '" + name + "'");
  const NetcdfVariable& variable = found->second;
  if (variable.type != 4 && variable.type != 10)
    throw DataError("its variable '" + name + "' does not hold integers");
  std::int64_t total = 1;
  for (const std::int64_t size : variable.shape) total = checked_product(total, size);
  const auto width = static_cast<std::size_t>(variable.value_size);
  const std::string bytes = file.read(variable.begin, static_cast<std::uint64_t>(total) * width);
  std::vector<std::int64_t> values(static_cast<std::size_t>(total));
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::uint64_t bits = 0;
    for (std::size_t j = 0; j < width; ++j)
      bits = (bits << 8) | static_cast<unsigned char>(bytes.at(i * width + j));
    const std::size_t unused = 64 - 8 * width;
    values[i] = static_cast<std::int64_t>(bits << unused) >> unused;
  }
  return values;
}

}  // namespace funcattn
