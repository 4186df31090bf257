#include "examples/evaluate/panel.h"

#include <iterator>

#include "core/text.h"

namespace funcattn {

namespace {

// Colours that differ in lightness too, for those who do not see them apart.
const char* const colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00"};

}  // namespace

Panel plain_panel(const std::string& script) {
  return [script](const Canvas& canvas, const Area& area) {
    return "reset\nset origin " + canvas.x(area.left) + "," + canvas.y(area.bottom) +
           "\nset size " + canvas.x(area.width) + "," + canvas.y(area.height) + "\n" + script;
  };
}

std::string colour(std::size_t index) {
  return std::string("'") + colours[index % std::size(colours)] + "'";
}

std::string dashes(std::size_t index) {
  return " dt " + std::to_string(1 + index / std::size(colours));
}

std::string shortened(const std::string& text, std::size_t most) {
  if (text.size() <= most) return text;
  std::size_t head = most / 2, tail = text.size() - most / 2;
  const auto continues = [&](std::size_t at) {  // A character of UTF-8.
    return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80;
  };
  while (head > 0 && continues(head)) --head;
  while (continues(tail)) ++tail;
  return text.substr(0, head) + "…" + text.substr(tail);
}

}  // namespace funcattn
