#include "launcher/gateway/http/message/byte_range.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "launcher/gateway/http/message/characters.h"

namespace lockstep::http {
namespace {

bool is_of_this_version(const Request& request, std::string_view etag) {
  const std::string* condition = request.headers.find("if-range");
  if (condition == nullptr) return true;
  // A date would need the strength of a validator that we never give; "W/" never matches.
  return !etag.empty() && *condition == etag;
}

}  // namespace

RangeChoice choose_range(const Request& request, std::uint64_t size, std::string_view etag) {
  constexpr std::string_view kUnit = "bytes=";
  if (request.method != Method::get && request.method != Method::head) return WholeBody{};
  const std::string_view field = request.headers.get("range");
  if (field.size() <= kUnit.size() || !equal_ignoring_case(field.substr(0, kUnit.size()), kUnit) ||
      !is_of_this_version(request, etag))
    return WholeBody{};
  const std::string_view range = without_blanks(field.substr(kUnit.size()));
  const auto dash = range.find('-');
  if (dash == std::string_view::npos) return WholeBody{};
  const std::string_view from = range.substr(0, dash), to = range.substr(dash + 1);
  const std::optional<std::uint64_t> first = parse_decimal(from), last = parse_decimal(to);
  if (from.empty()) {  // so many at the end
    if (!last) return WholeBody{};
    if (*last == 0 || size == 0) return NoSuchPart{};
    return BodyPart{size - std::min(*last, size), size - 1};
  }
  if (!first || (!to.empty() && !last) || (last && *last < *first)) return WholeBody{};
  if (*first >= size) return NoSuchPart{};
  return BodyPart{*first, std::min(last.value_or(size - 1), size - 1)};
}

std::string content_range(const BodyPart& part, std::uint64_t size) {
  return fmt::format("bytes {}-{}/{}", part.first, part.last, size);
}

std::string unsatisfied_range(std::uint64_t size) { return fmt::format("bytes */{}", size); }

}  // namespace lockstep::http
