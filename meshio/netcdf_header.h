#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "meshio/file_bytes.h"

namespace funcattn {

/// A variable of a classic netCDF file and where its values are.
struct NetcdfVariable {
  std::vector<std::int64_t> shape;  ///< -1 stands for the number of records.
  int type = 0;                     ///< As in the format: 2 char, 4 int, 5 float, 6 double, ...
  std::int64_t value_size = 0;      ///< Bytes of one value.
  std::uint64_t begin = 0;
};

/// The header of a classic netCDF file (versions CDF-1, CDF-2 and CDF-5). The netCDF library itself
/// reads zeros where such a file has been cut off, without an error.
struct NetcdfHeader {
  std::map<std::string, std::int64_t> dimensions;
  std::map<std::string, NetcdfVariable> variables;

  /// Throws DataError if the header is damaged or the file is too short for the values that it
  /// declares.
  explicit NetcdfHeader(const FileBytes& file);

  /// Values of an integer variable that has no record dimension. Throws DataError.
  std::vector<std::int64_t> integers(const FileBytes& file, const std::string& name) const;
};

}  // namespace funcattn
