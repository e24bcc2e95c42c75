#include "common/base/result.h"

#include <cerrno>
#include <cstring>

namespace lockstep {

Word describe(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_argument: return {1, "invalid_argument"};
    case ErrorCode::not_found: return {2, "not_found"};
    case ErrorCode::already_exists: return {3, "already_exists"};
    case ErrorCode::permission_denied: return {4, "permission_denied"};
    case ErrorCode::unavailable: return {5, "unavailable"};
    case ErrorCode::deadline_exceeded: return {6, "deadline_exceeded"};
    case ErrorCode::resource_exhausted: return {7, "resource_exhausted"};
    case ErrorCode::unsupported: return {8, "unsupported"};
    case ErrorCode::conflict: return {9, "conflict"};
    case ErrorCode::corrupt: return {10, "corrupt"};
    case ErrorCode::io: return {11, "io"};
    case ErrorCode::internal: return {12, "internal"};
    case ErrorCode::unsatisfiable: return {13, "unsatisfiable"};
  }
  return {};
}
std::string_view to_string(ErrorCode code) { return describe(code).word; }

Error Error::within(std::string_view context) const {
  return Error{code, std::string(context) + ": " + message};
}

Error errno_error(int errnum, std::string_view what) {
  char buffer[256];
  const char* text = strerror_r(errnum, buffer, sizeof buffer);
  const bool full = errnum == ENOSPC || errnum == EDQUOT;
  return Error{full ? ErrorCode::resource_exhausted : ErrorCode::io,
               std::string(what) + ": " + text};
}

}  // namespace lockstep
