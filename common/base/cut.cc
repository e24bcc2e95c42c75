#include "common/base/cut.h"

namespace lockstep {

std::string cut(std::string text, std::size_t limit) {
  if (text.size() <= limit) return text;
  while (limit > 0 && (static_cast<unsigned char>(text[limit]) & 0xc0) == 0x80) --limit;
  text.resize(limit);
  return text + "…";
}

}  // namespace lockstep
