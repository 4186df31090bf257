#include "meshio/text_lines.h"

namespace funcattn {

bool TextLines::next() {
  if (at_ >= text_.size()) return false;
  auto end = text_.find(line_end_, at_);
  ended_ = end != std::string_view::npos;
  if (!ended_) end = text_.size();
  line_ = text_.substr(at_, end - at_);
  if (!line_.empty() && line_.back() == '\r') line_.remove_suffix(1);
  at_ = end < text_.size() ? end + 1 : end;
  ++number_;
  return true;
}

std::vector<std::string_view> TextLines::words() const {
  constexpr const char* blanks = " \t";
  std::vector<std::string_view> found;
  for (auto begin = line_.find_first_not_of(blanks); begin != std::string_view::npos;) {
    auto end = line_.find_first_of(blanks, begin);
    if (end == std::string_view::npos) end = line_.size();
    found.push_back(line_.substr(begin, end - begin));
    begin = line_.find_first_not_of(blanks, end);
  }
  return found;
}

}  // namespace funcattn
