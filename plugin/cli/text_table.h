#pragma once

#include <ostream>
#include <string>
#include <vector>

namespace funcattn {

/// A table of aligned columns for people: numbers flush right, words flush left.
class TextTable {
 public:
  explicit TextTable(std::vector<std::string> header);

  /// A row with as many cells as the header; missing cells at the end are empty.
  void add(std::vector<std::string> row);

  /// @param indent spaces in front of every line
  void print(std::ostream& stream, std::size_t indent = 0) const;
  /// Without the header; all columns flush left.
  void print_rows(std::ostream& stream, std::size_t indent = 0) const;

 private:
  void print(std::ostream& stream, std::size_t indent, std::size_t first_row) const;

  std::vector<std::vector<std::string>> rows_;  ///< The first one is the header.
};

}  // namespace funcattn
