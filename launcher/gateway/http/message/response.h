#pragma once
// An answer as values, and its head as bytes. Date, framing and the headers that protect a browser
// are written here for every answer, so that no handler can forget them.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/time.h"
#include "launcher/gateway/http/message/body_source.h"
#include "launcher/gateway/http/message/headers.h"

namespace lockstep::http {

// What a browser may do with the body.
enum class ContentPolicy {
  data,       // show nothing of it as a document
  page,       // our own page: our own scripts, styles and pictures, none of them inline
  untrusted,  // a job's file, shown: no script, no form, no request, an origin of its own
};

// For a source that may say nothing for long, as events do: these bytes are sent when nothing was
// for so long, so that proxies and clients see that the connection is alive.
struct Heartbeat {
  std::string bytes;
  Duration every = seconds(15);
};

struct Response {
  int status = 200;
  Headers headers = {};  // without those that write_head adds
  std::string body = {};
  std::shared_ptr<BodySource> source = {};   // instead of `body`
  std::optional<std::uint64_t> length = {};  // of `source`, if it is known
  ContentPolicy policy = ContentPolicy::data;
  bool closes = false;  // the connection ends after this answer
  std::optional<Heartbeat> heartbeat = {};
};

Response text_response(int status, std::string content_type, std::string body);
Response json_response(int status, std::string json);
// An answer that has no body.
Response empty_response(int status);

struct HeadFacts {
  Instant now;
  enum class Framing { none, length, chunked, until_close } framing = Framing::none;
  std::uint64_t length = 0;  // for Framing::length
  bool closes = false;       // the connection ends after this answer
  Duration hsts{0};          // Strict-Transport-Security; 0: not sent
};
// Status line and fields, to the empty line. Control characters in values become blanks: no handler
// can be made to write a field or an answer of somebody else's.
std::string write_head(const Response& response, const HeadFacts& facts);

// "Sun, 06 Nov 1994 08:49:37 GMT" (RFC 9110 §5.6.7).
std::string http_date(Instant time);

// For a file that is downloaded: attachment, with its name as ASCII and as UTF-8 (RFC 6266).
std::string attachment_disposition(std::string_view file_name);

}  // namespace lockstep::http
