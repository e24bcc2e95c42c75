#include "launcher/gateway/http/message/precondition.h"

#include <fmt/format.h>

#include "launcher/gateway/http/message/characters.h"

namespace lockstep::http {
namespace {

// Whether a list of entity tags names this one. A malformed list names none.
bool names_tag(std::string_view list, std::string_view etag, bool weak_too) {
  list = without_blanks(list);
  if (list == "*") return !etag.empty();
  bool found = false;
  while (!list.empty()) {
    const bool is_weak = list.starts_with("W/");
    if (is_weak) list.remove_prefix(2);
    const auto end = list.starts_with('"') ? list.find('"', 1) : std::string_view::npos;
    if (end == std::string_view::npos) return false;
    if (list.substr(0, end + 1) == etag && (weak_too || !is_weak)) found = true;
    list = without_blanks(list.substr(end + 1));
    if (!list.empty() && !list.starts_with(',')) return false;
    if (!list.empty()) list = without_blanks(list.substr(1));
  }
  return found;
}

}  // namespace

Precondition judge_precondition(const Request& request, std::string_view etag) {
  if (const std::string* match = request.headers.find("if-match"))
    if (!names_tag(*match, etag, false)) return Precondition::failed;
  if (const std::string* none = request.headers.find("if-none-match"))
    if (names_tag(*none, etag, true))
      return is_safe(request.method) ? Precondition::not_modified : Precondition::failed;
  return Precondition::proceed;
}

std::string strong_etag(std::string_view text) { return fmt::format("\"{}\"", text); }

}  // namespace lockstep::http
