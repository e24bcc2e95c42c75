#include "common/base/cut.h"

#include <fmt/format.h>

#include "common/base/utf8.h"

namespace lockstep {
namespace {

constexpr std::size_t kNoteBytes = 100;  // the most bytes of the line that replaces the middle

}  // namespace

std::string cut(std::string text, std::size_t limit) {
  if (text.size() <= limit) return text;
  text.resize(head(text, limit).size());
  return text + "…";
}

std::string cut_middle(std::string text, std::size_t limit) {
  if (text.size() <= limit) return text;
  const std::size_t half = (limit - kNoteBytes) / 2;
  const std::string_view first = head(text, half), last = tail(text, half);
  return fmt::format("{}\n[… {} bytes left out …]\n{}", first,
                     text.size() - first.size() - last.size(), last);
}

}  // namespace lockstep
