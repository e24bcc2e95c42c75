#pragma once
// Job files that must be refused, each with its whole error message: where, what, what to do.

#include <ostream>
#include <string>
#include <vector>

#include "common/base/result.h"

namespace lockstep::spec {

struct BadInput {
  const char* name;
  std::string text;
  std::vector<std::string> overrides;
  std::string message;
  ErrorCode code = ErrorCode::invalid_argument;
};
inline void PrintTo(const BadInput& bad, std::ostream* out) { *out << bad.name; }

inline constexpr ErrorCode kNotYet = ErrorCode::unsupported;

std::vector<BadInput> bad_keys();       // also texts that are no mapping
std::vector<BadInput> bad_pipelines();  // with the files of files_of_bad_pipelines()
std::vector<BadInput> bad_values();     // also bad expressions and overrides

}  // namespace lockstep::spec
