#pragma once
// Every function that can fail for an outside reason returns a Result<T>: either a T or an Error
// that says what failed, on what, why, and what to do. It owns no resources and never throws.

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

#include "common/base/word.h"

namespace lockstep {

// The class of a failure. Code decides by it; the message is for people only.
enum class ErrorCode {
  invalid_argument,  // the caller's input is wrong; trying again cannot help
  not_found,
  already_exists,
  permission_denied,
  unavailable,  // the other side cannot be reached now; trying again may help
  deadline_exceeded,
  resource_exhausted,  // a named limit was reached
  unsupported,         // we know this feature and do not support it; the message names it
  conflict,            // the state does not allow it (running jobs, a stale attempt, a lock held)
  corrupt,             // stored or received bytes fail a check (digest, format)
  io,                  // a system call failed
  internal,
  unsatisfiable,  // the present resources can never fulfil it, however long one waits
};
inline constexpr ErrorCode kLastErrorCode = ErrorCode::unsatisfiable;

Word describe(ErrorCode code);
std::string_view to_string(ErrorCode code);

struct Error {
  ErrorCode code = ErrorCode::internal;
  std::string message;

  // Returns the same error with "context: " before its message.
  Error within(std::string_view context) const;
};

template <typename T>
class [[nodiscard]] Result : public tl::expected<T, Error> {
 public:
  using Base = tl::expected<T, Error>;
  using Base::Base;
  Result(Error error) : Base(tl::unexpect, std::move(error)) {}  // NOLINT: implicit by design
  Result(Base base) : Base(std::move(base)) {}                   // NOLINT: implicit by design
};

using Status = Result<void>;

inline Error make_error(ErrorCode code, std::string message) {
  return Error{code, std::move(message)};
}

// An io Error from errno: "WHAT: strerror(errnum)".
Error errno_error(int errnum, std::string_view what);

}  // namespace lockstep

// TRY(expr): returns the error of a Status from the enclosing function.
// TRY_ASSIGN(decl, expr): the same for a Result; on success binds its value, as in
// TRY_ASSIGN(auto x, f());
#define LOCKSTEP_CONCAT_INNER(a, b) a##b
#define LOCKSTEP_CONCAT(a, b) LOCKSTEP_CONCAT_INNER(a, b)
#define TRY(expr)                                                            \
  do {                                                                       \
    auto lockstep_try_result = (expr);                                       \
    if (!lockstep_try_result) return std::move(lockstep_try_result).error(); \
  } while (false)
#define TRY_ASSIGN(decl, expr) TRY_ASSIGN_INNER(LOCKSTEP_CONCAT(try_value_, __LINE__), decl, expr)
#define TRY_ASSIGN_INNER(name, decl, expr)   \
  auto name = (expr);                        \
  if (!name) return std::move(name).error(); \
  decl = *std::move(name)
