#pragma once
// Searches lines of bytes for a regular expression (`--grep`). RE2 takes time linear in the line's
// length for every expression.

#include <memory>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace re2 {
class RE2;
}

namespace lockstep::cli {

class LineMatcher {
 public:
  // Compiles an expression. Returns invalid_argument with the fault and its place.
  static Result<LineMatcher> compile(const std::string& expression);
  // Whether the line matches. `line` may end with its newline, which is not matched.
  bool operator()(std::string_view line) const;

 private:
  explicit LineMatcher(std::shared_ptr<const re2::RE2> expression)
      : expression_(std::move(expression)) {}
  std::shared_ptr<const re2::RE2> expression_;
};

}  // namespace lockstep::cli
