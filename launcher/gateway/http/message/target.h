#pragma once
// The target of a request: its path as decoded segments, and its query. Whatever two programs could
// read differently is refused: an encoded '/', '.' and '..' as segments, control characters, bytes
// that are no UTF-8, a '%' without two digits. So a path that was checked here means one thing.

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/result.h"

namespace lockstep::http {

class Query {
 public:
  static constexpr std::size_t kMaxParameters = 100;

  // "a=1&b=two+words", without the '?'.
  static Result<Query> parse(std::string_view text);

  // nullopt: it is not there. An error: it is there twice.
  Result<std::optional<std::string>> one(std::string_view name) const;
  std::vector<std::string> all(std::string_view name) const;
  // Decimal digits, at most `most`.
  Result<std::optional<std::uint64_t>> number(std::string_view name,
                                              std::uint64_t most = UINT64_MAX) const;
  // "true" or "false"; `absent` if it is not there.
  Result<bool> flag(std::string_view name, bool absent) const;
  // An error names the first parameter that is not one of these, and the nearest that is.
  Status expect_only(std::initializer_list<std::string_view> known) const;
  std::size_t size() const { return parameters_.size(); }

 private:
  std::vector<std::pair<std::string, std::string>> parameters_;
};

struct Target {
  std::string path;                   // as it was sent, without the query
  std::vector<std::string> segments;  // "/a/b": {"a", "b"}; "/": none; "/a/": {"a", ""}
  Query query;
};
// Of Request::target.
Result<Target> parse_target(std::string_view target);

// Undoes %XX. An error says what is wrong, without quoting the text. `plus_is_blank`: as in
// queries.
Result<std::string> percent_decode(std::string_view text, bool plus_is_blank = false);
// For a link: everything but unreserved characters (RFC 3986 §2.3) is encoded.
std::string percent_encode(std::string_view text);

}  // namespace lockstep::http
