#include "common/base/result.h"

#include <cerrno>
#include <cstring>

namespace lockstep {

std::string_view to_string(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_argument: return "invalid_argument";
    case ErrorCode::not_found: return "not_found";
    case ErrorCode::already_exists: return "already_exists";
    case ErrorCode::permission_denied: return "permission_denied";
    case ErrorCode::unavailable: return "unavailable";
    case ErrorCode::deadline_exceeded: return "deadline_exceeded";
    case ErrorCode::resource_exhausted: return "resource_exhausted";
    case ErrorCode::unsupported: return "unsupported";
    case ErrorCode::conflict: return "conflict";
    case ErrorCode::corrupt: return "corrupt";
    case ErrorCode::io: return "io";
    case ErrorCode::internal: return "internal";
    case ErrorCode::unsatisfiable: return "unsatisfiable";
  }
  return "internal";
}

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
