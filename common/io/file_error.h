#pragma once
// Turns the errno of a call on a file into an Error whose code fits.

#include <cerrno>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace lockstep::io {

// Makes an error. `what` is the attempted action, as in "open"; the message also has the path.
inline Error file_error(int errnum, std::string_view what, const std::string& path) {
  Error error = errno_error(errnum, std::string(what) + " " + path);
  if (errnum == ENOENT || errnum == ENOTDIR) error.code = ErrorCode::not_found;
  if (errnum == EEXIST) error.code = ErrorCode::already_exists;
  if (errnum == EACCES || errnum == EPERM) error.code = ErrorCode::permission_denied;
  if (errnum == ENOSPC || errnum == EDQUOT || errnum == EMFILE || errnum == ENFILE) {
    error.code = ErrorCode::resource_exhausted;
  }
  return error;
}

}  // namespace lockstep::io
