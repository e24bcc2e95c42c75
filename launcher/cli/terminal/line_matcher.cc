#include "launcher/cli/terminal/line_matcher.h"

#include <fmt/format.h>
#include <re2/re2.h>

namespace lockstep::cli {

Result<LineMatcher> LineMatcher::compile(const std::string& expression) {
  re2::RE2::Options options;
  options.set_log_errors(false);
  auto compiled = std::make_shared<const re2::RE2>(expression, options);
  if (compiled->ok()) return LineMatcher(std::move(compiled));
  const std::string where =
      compiled->error_arg().empty() ? "" : fmt::format(" at '{}'", compiled->error_arg());
  return make_error(ErrorCode::invalid_argument,
                    fmt::format("'{}' is not a valid regular expression: {}{} (the syntax is "
                                "RE2's: https://github.com/google/re2/wiki/Syntax)",
                                expression, compiled->error(), where));
}

bool LineMatcher::operator()(std::string_view line) const {
  if (!line.empty() && line.back() == '\n') line.remove_suffix(1);
  return re2::RE2::PartialMatch(re2::StringPiece(line.data(), line.size()), *expression_);
}

}  // namespace lockstep::cli
