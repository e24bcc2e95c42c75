// Whatever stands in a target or in a field that the gateway reads: what comes out keeps its
// promises.

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "common/base/utf8.h"
#include "launcher/gateway/http/message/byte_range.h"
#include "launcher/gateway/http/message/cookie.h"
#include "launcher/gateway/http/message/event_stream.h"
#include "launcher/gateway/http/message/host.h"
#include "launcher/gateway/http/message/precondition.h"
#include "launcher/gateway/http/message/target.h"
#include "launcher/gateway/http/site/credential.h"

namespace {

using namespace lockstep;
using namespace lockstep::http;

void demand(bool holds) {
  if (!holds) std::abort();
}

void check_target(std::string_view text) {
  const auto target = parse_target(text);
  if (!target) return;
  for (const std::string& segment : target->segments) {
    demand(segment != "." && segment != ".." && segment.find('/') == std::string::npos);
    for (const char c : segment) demand(!is_control(c));
    demand(whole_characters(segment) == segment.size());
    // What was decoded stays what it is when it is sent again.
    demand(percent_decode(percent_encode(segment)).value() == segment);
  }
  demand(target->query.size() <= Query::kMaxParameters);
}

void check_range(const std::string& text) {
  constexpr std::uint64_t kSize = 1'000;
  Request request;
  request.headers.add("range", text);
  const auto choice = choose_range(request, kSize, "");
  if (const auto* part = std::get_if<BodyPart>(&choice))
    demand(part->first <= part->last && part->last < kSize);
}

void check_host(std::string_view text) {
  const auto host = parse_host(text);
  if (!host) return;
  demand(!host->host.empty() && host->host.find_first_of("/@ ,?#") == std::string::npos);
  demand(host->port.size() <= 5);
}

void check_credential(const std::string& text) {
  Request request;
  request.headers.add("authorization", text);
  const auto found = credential_of(request, false);
  if (const auto* credential = std::get_if<Credential>(&found))
    for (const char c : credential->secret) demand(!is_control(c) && c != ' ' && c > 0);
  Request browser;
  browser.host = "localhost";
  browser.headers.add("cookie", text);
  browser.headers.add("origin", text);
  browser.headers.add("if-none-match", text);
  browser.headers.add("if-match", text);
  (void)find_cookie(browser.headers, "lockstep").has_value();
  (void)why_cross_site(browser, {Credential::Kind::cookie, "a"}, false).has_value();
  (void)judge_precondition(browser, "\"a\"");
}

// An event is one event: it has one empty line, at its end.
void check_event(const std::string& text) {
  const std::string bytes = serialize({text, text, text});
  demand(bytes.ends_with("\n\n") && bytes.find("\n\n") == bytes.size() - 2);
  demand(bytes.find('\r') == std::string::npos);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  check_target(text);
  check_range(text);
  check_host(text);
  check_credential(text);
  check_event(text);
  const std::string head = write_head(text_response(200, text, ""), {});
  demand(head.find("\r\n\r\n") == head.size() - 4);
  return 0;
}
