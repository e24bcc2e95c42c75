#pragma once
// Result<T> is what every function returns that the world can make fail: either a T or an Error
// that says what failed, on what, why, and what to do. It owns no resources and never throws.

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace lockstep {

// The class of a failure, for code that decides. The message is for the person who reads it.
enum class ErrorCode {
  invalid_argument,  // the caller's input is wrong; a retry cannot help
  not_found,
  already_exists,
  permission_denied,
  unavailable,  // the other side does not answer now; a retry may help
  deadline_exceeded,
  resource_exhausted,  // a named bound was reached
  unsupported,         // recognised, and refused by name
  conflict,            // the state does not allow it (running jobs, a stale attempt, a lock held)
  corrupt,             // stored or received bytes are not what they claim to be
  io,                  // the operating system said no
  internal,
};

std::string_view to_string(ErrorCode code);

struct Error {
  ErrorCode code = ErrorCode::internal;
  std::string message;

  // The same error with "context: " before its message.
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
// TRY_ASSIGN(decl, expr): the same, else binds the value: TRY_ASSIGN(auto x, f());
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
