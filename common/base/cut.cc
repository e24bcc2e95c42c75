#include "common/base/cut.h"

#include <fmt/format.h>

namespace lockstep {
namespace {

constexpr std::size_t kNoteBytes = 100;  // at most, of the line between

bool is_inside_character(const std::string& text, std::size_t at) {
  return (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80;
}

}  // namespace

std::string cut(std::string text, std::size_t limit) {
  if (text.size() <= limit) return text;
  while (limit > 0 && is_inside_character(text, limit)) --limit;
  text.resize(limit);
  return text + "…";
}

std::string cut_middle(std::string text, std::size_t limit) {
  if (text.size() <= limit) return text;
  std::size_t head = (limit - kNoteBytes) / 2;
  std::size_t tail = text.size() - head;
  while (head > 0 && is_inside_character(text, head)) --head;
  while (tail < text.size() && is_inside_character(text, tail)) ++tail;
  return fmt::format("{}\n[… {} bytes left out …]\n{}", text.substr(0, head), tail - head,
                     text.substr(tail));
}

}  // namespace lockstep
