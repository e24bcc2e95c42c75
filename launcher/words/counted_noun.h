#pragma once
// "1 job", "3 jobs": a number with its noun.

#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <string_view>

namespace lockstep::words {

inline std::string counted(std::size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace lockstep::words
