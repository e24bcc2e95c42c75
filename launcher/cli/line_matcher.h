#pragma once
// `--grep`: a regular expression (RE2: its time is linear in the line, whatever the expression)
// that is looked for in lines of bytes.

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
  // invalid_argument: what is wrong with the expression, and where.
  static Result<LineMatcher> compile(const std::string& expression);
  // `line` with or without its newline, which is no part of what is matched.
  bool operator()(std::string_view line) const;

 private:
  explicit LineMatcher(std::shared_ptr<const re2::RE2> expression)
      : expression_(std::move(expression)) {}
  std::shared_ptr<const re2::RE2> expression_;
};

}  // namespace lockstep::cli
