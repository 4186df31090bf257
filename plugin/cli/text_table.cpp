#include "plugin/cli/text_table.h"

#include <algorithm>

#include "core/text.h"

namespace funcattn {

namespace {

/// Characters of UTF-8 text: bytes that do not continue a character.
std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char byte) {
    return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U;
  }));
}

bool reads_as_number(const std::string& text) {
  return text.empty() || text == "-" || parse_double(text).has_value();
}

}  // namespace

TextTable::TextTable(std::vector<std::string> header) {
  rows_.push_back(std::move(header));
}

void TextTable::add(std::vector<std::string> row) {
  row.resize(rows_.front().size());
  rows_.push_back(std::move(row));
}

void TextTable::print(std::ostream& stream, std::size_t indent) const {
  print(stream, indent, 0);
}

void TextTable::print_rows(std::ostream& stream, std::size_t indent) const {
  print(stream, indent, 1);
}

void TextTable::print(std::ostream& stream, std::size_t indent, std::size_t first_row) const {
  const std::size_t columns = rows_.front().size();
  std::vector<std::size_t> widths(columns, 0);
  std::vector<bool> numeric(columns, first_row == 0);
  for (std::size_t i = first_row; i < rows_.size(); ++i)
    for (std::size_t j = 0; j < columns; ++j) {
      widths[j] = std::max(widths[j], width(rows_[i][j]));
      if (i > 0 && !reads_as_number(rows_[i][j])) numeric[j] = false;
    }
  for (std::size_t i = first_row; i < rows_.size(); ++i) {
    const auto& row = rows_[i];
    std::string line(indent, ' ');
    for (std::size_t j = 0; j < columns; ++j) {
      const std::string padding(widths[j] - width(row[j]), ' ');
      line += (j > 0 ? "  " : "") + (numeric[j] ? padding + row[j] : row[j] + padding);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    stream << line << "\n";
  }
}

}  // namespace funcattn
