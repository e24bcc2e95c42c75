#pragma once
// The order of names in which people count: "n2" comes before "n10".

#include <cstring>
#include <string>

namespace lockstep {

inline bool is_named_before(const std::string& a, const std::string& b) {
  return ::strverscmp(a.c_str(), b.c_str()) < 0;
}

}  // namespace lockstep
