#include "launcher/gateway/http/message/request_parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/beast/http/basic_parser.hpp>
#include <iterator>
#include <limits>
#include <utility>

#include "common/base/check.h"
#include "launcher/gateway/http/message/characters.h"

namespace lockstep::http {
namespace {

namespace beast = boost::beast;
using BeastError = beast::http::error;

constexpr std::size_t kMaxChunkDigits = 15;  // so that no sum of sizes overflows soon

// Fields of which a second one would leave open which of them holds.
constexpr std::string_view kOnce[] = {"authorization",
                                      "content-encoding",
                                      "content-length",
                                      "content-type",
                                      "cookie",
                                      "expect",
                                      "host",
                                      "if-range",
                                      "last-event-id",
                                      "origin",
                                      "range",
                                      "sec-fetch-site",
                                      "transfer-encoding",
                                      "x-lockstep-csrf"};

Problem bad_request(int status, std::string detail) {
  Problem problem;
  problem.status = status;
  problem.detail = std::move(detail);
  return problem;
}

std::string_view text_of(beast::string_view text) { return {text.data(), text.size()}; }

// What stands between the chunks of a body, as far as it is there: a chunk's own CRLF (not before
// the first), the next one's size and CRLF, and one more CRLF behind a size of 0.
enum class ChunkLine { incomplete, complete, wrong };
ChunkLine judge_chunk_line(std::string_view bytes, bool is_first) {
  std::size_t at = 0;
  // Whether the next byte is this one; an end is incomplete, and not wrong.
  ChunkLine verdict = ChunkLine::complete;
  const auto expect = [&](char c) {
    if (verdict != ChunkLine::complete) return;
    if (at == bytes.size())
      verdict = ChunkLine::incomplete;
    else if (bytes[at++] != c)
      verdict = ChunkLine::wrong;
  };
  if (!is_first) {
    expect('\r');
    expect('\n');
  }
  const std::size_t begin = at;
  bool is_last = true;
  while (verdict == ChunkLine::complete && at < bytes.size() && hex_value(bytes[at]) >= 0)
    is_last = bytes[at++] == '0' && is_last;
  if (at - begin > kMaxChunkDigits) return ChunkLine::wrong;
  if (verdict == ChunkLine::complete && at == begin)
    return at == bytes.size() ? ChunkLine::incomplete : ChunkLine::wrong;
  expect('\r');
  expect('\n');
  if (is_last) {
    expect('\r');
    expect('\n');
  }
  return verdict;
}

// Not a switch: newer versions of Boost have more errors.
struct Words {
  BeastError error;
  std::string_view text;
};
constexpr Words kWords[] = {
    {BeastError::bad_method, "the method is not a word of letters"},
    {BeastError::bad_target, "the target has a blank or a character that is not ASCII"},
    {BeastError::bad_version, "the request line does not end with HTTP/1.1"},
    {BeastError::bad_field,
     "a field's name has a blank or another character that no name has, or its line has no ':'"},
    {BeastError::bad_value, "a field's value has a character that it may not have"},
    {BeastError::bad_content_length,
     "Content-Length is not one number, or stands beside Transfer-Encoding"},
    {BeastError::bad_transfer_encoding,
     "Transfer-Encoding is given twice, or stands beside Content-Length"},
};
std::string words_of(BeastError error) {
  for (const Words& words : kWords)
    if (words.error == error) return std::string(words.text);
  return "the request is malformed";
}

// "HTTP/2.0" at the end of a request line is another version; anything else is none.
bool ends_with_other_version(std::string_view head) {
  const std::string_view line = head.substr(0, head.find("\r\n"));
  if (line.size() < 9) return false;
  const std::string_view version = line.substr(line.size() - 9);
  return version.starts_with(" HTTP/") && is_digit(version[6]) && version[7] == '.' &&
         is_digit(version[8]) && version.substr(6) != "1.0" && version.substr(6) != "1.1";
}

}  // namespace

class RequestParser::Message final : public beast::http::basic_parser<true> {
 public:
  explicit Message(const Limits& limits) : limits_(limits) {
    header_limit(static_cast<std::uint32_t>(limits.head_bytes) + 1);
    // Boost 1.74 takes boost::none for a limit of 0. Whoever handles the request bounds its body.
    body_limit(std::numeric_limits<std::uint64_t>::max());
  }

  // One structured element at most: the head, a chunk's line, a piece of the body. The number of
  // bytes that it has used.
  std::size_t put_some(std::string_view bytes) {
    beast::error_code error;
    const std::size_t used = put(boost::asio::const_buffer(bytes.data(), bytes.size()), error);
    if (error && !refusal_)
      refusal_ = bad_request(400, words_of(static_cast<BeastError>(error.value())));
    return used;
  }

  Request& request() { return request_; }
  const std::optional<Problem>& refusal() const { return refusal_; }
  std::string take_body() { return std::exchange(body_, {}); }
  bool is_between_chunks() const { return chunked() && chunk_left_ == 0 && !is_done(); }
  bool is_before_first_chunk() const { return !had_chunk_; }

 private:
  void on_request_impl(beast::http::verb, beast::string_view method, beast::string_view target,
                       int version, beast::error_code& error) override {
    request_.target = std::string(text_of(target));
    request_.minor_version = version - 10;
    if (const auto known = method_from(text_of(method)))
      request_.method = *known;
    else
      return refuse(501, "no such method is served here; methods are written in capitals", error);
    check_target(error);
  }

  void on_field_impl(beast::http::field, beast::string_view name, beast::string_view value,
                     beast::error_code& error) override {
    if (is_head_done_) return refuse(400, "fields behind a body are not served", error);
    if (request_.headers.size() == limits_.fields)
      return refuse(431, fmt::format("there are more than {} fields", limits_.fields), error);
    const std::string key = lower_case(text_of(name));
    const bool is_single = std::find(std::begin(kOnce), std::end(kOnce), key) != std::end(kOnce);
    if (is_single && request_.headers.find(key) != nullptr)
      return refuse(400, fmt::format("the field {} is given twice", key), error);
    request_.headers.add(key, std::string(text_of(value)));
  }

  void on_header_impl(beast::error_code& error) override {
    is_head_done_ = true;
    check_framing(error);
    const std::string* host = request_.headers.find("host");
    if (host == nullptr || host->empty()) return refuse(400, "there is no Host field", error);
    request_.host = *host;
    request_.wants_keep_alive = keep_alive() && request_.minor_version == 1;
    check_expectation(error);
  }

  void on_body_init_impl(const boost::optional<std::uint64_t>&, beast::error_code&) override {}
  std::size_t on_body_impl(beast::string_view body, beast::error_code&) override {
    body_.append(body.data(), body.size());
    return body.size();
  }
  void on_chunk_header_impl(std::uint64_t size, beast::string_view extensions,
                            beast::error_code& error) override {
    if (!extensions.empty()) return refuse(400, "chunk extensions are not served", error);
    had_chunk_ = true;
    chunk_left_ = size;
  }
  std::size_t on_chunk_body_impl(std::uint64_t, beast::string_view body,
                                 beast::error_code&) override {
    body_.append(body.data(), body.size());
    chunk_left_ -= body.size();
    return body.size();
  }
  void on_finish_impl(beast::error_code&) override {}
  void on_response_impl(int, beast::string_view, int, beast::error_code&) override {}

  void check_target(beast::error_code& error) {
    const std::string& target = request_.target;
    if (target.size() > limits_.target_bytes) return refuse(414, "the address is too long", error);
    const bool is_printable =
        std::all_of(target.begin(), target.end(), [](char c) { return c > ' ' && c < 0x7f; });
    if (!is_printable) return refuse(400, words_of(BeastError::bad_target), error);
    if (!target.starts_with('/'))
      refuse(400, "the target is not a path: proxy requests are not served", error);
  }

  void check_framing(beast::error_code& error) {
    if (const std::string* coding = request_.headers.find("transfer-encoding")) {
      if (request_.headers.find("content-length") != nullptr)
        return refuse(400, "Transfer-Encoding stands beside Content-Length", error);
      if (request_.minor_version == 0)
        return refuse(400, "HTTP/1.0 has no Transfer-Encoding", error);
      if (!equal_ignoring_case(*coding, "chunked"))
        return refuse(501, "no transfer coding but chunked is served", error);
      request_.is_chunked = true;
    } else if (const std::string* length = request_.headers.find("content-length")) {
      request_.content_length = parse_decimal(*length);
      // Beast takes "5, 5" too.
      if (!request_.content_length)
        return refuse(400, words_of(BeastError::bad_content_length), error);
    }
    if (chunked() != request_.is_chunked)
      return refuse(400, "the framing of the body is not clear", error);
    const std::string_view coding = request_.headers.get("content-encoding");
    if (!coding.empty() && !equal_ignoring_case(coding, "identity"))
      refuse(415, "a compressed body is not served; send it as it is", error);
  }

  void check_expectation(beast::error_code& error) {
    const std::string* expectation = request_.headers.find("expect");
    if (expectation == nullptr || error) return;
    if (!equal_ignoring_case(*expectation, "100-continue"))
      return refuse(417, "no expectation but 100-continue is served", error);
    request_.expects_continue = request_.minor_version == 1;
  }

  // The first refusal stays.
  void refuse(int status, std::string detail, beast::error_code& error) {
    if (!refusal_) refusal_ = bad_request(status, std::move(detail));
    error = BeastError::bad_value;
  }

  const Limits limits_;
  Request request_;
  std::optional<Problem> refusal_;
  bool is_head_done_ = false;
  std::string body_;
  bool had_chunk_ = false;
  std::uint64_t chunk_left_ = 0;
};

RequestParser::RequestParser(const Limits& limits) : limits_(limits) {}
RequestParser::~RequestParser() = default;

void RequestParser::feed(std::string_view bytes) {
  if (stage_ == Stage::refused) return;
  if (consumed_ == buffer_.size()) {
    buffer_.clear();
    consumed_ = 0;
  }
  buffer_.append(bytes);
}

void RequestParser::consume(std::size_t bytes) {
  consumed_ += bytes;
  // What was parsed is given back once it is more than what was not.
  if (consumed_ > limits_.head_bytes && consumed_ > buffer_.size() / 2) {
    buffer_.erase(0, consumed_);
    consumed_ = 0;
  }
}

RequestParser::Step RequestParser::refuse(int status, std::string detail) {
  stage_ = Stage::refused;
  refusal_ = bad_request(status, std::move(detail));
  message_.reset();
  buffer_.clear();
  consumed_ = 0;
  return refusal_;
}

RequestParser::Step RequestParser::next() {
  switch (stage_) {
    case Stage::head: return next_of_head();
    case Stage::body: return next_of_body();
    case Stage::refused: break;
  }
  return refusal_;
}

Problem RequestParser::head_too_large() const {
  const bool is_request_line = line_begin_ == 0;
  if (is_request_line)
    return bad_request(414,
                       fmt::format("the address is longer than {} bytes", limits_.target_bytes));
  return bad_request(431, fmt::format("the fields are longer than {} bytes", limits_.head_bytes));
}

std::optional<Problem> RequestParser::wrong_byte(char before, char c) const {
  if (before == '\r' && c != '\n') return bad_request(400, "a CR stands without LF");
  if (c == '\n' && before != '\r') return bad_request(400, "a LF stands without CR");
  if ((c == ' ' || c == '\t') && scanned_ == line_begin_)
    return bad_request(400, "a line begins with a blank: folded fields are not served");
  if (is_control(c) && c != '\t' && c != '\r' && c != '\n')
    return bad_request(400,
                       "there is a control character before the body; if this is TLS, the "
                       "port speaks plain HTTP");
  return std::nullopt;
}

std::variant<RequestParser::NeedMore, std::size_t, Problem> RequestParser::scan_head() {
  // "METHOD TARGET HTTP/1.1": what a request line has beside its target.
  constexpr std::size_t kAroundTarget = 32;
  const std::string_view bytes = rest();
  for (; scanned_ < bytes.size(); ++scanned_) {
    const std::size_t most =
        line_begin_ == 0 ? std::min(limits_.target_bytes + kAroundTarget, limits_.head_bytes)
                         : limits_.head_bytes;
    if (scanned_ == most) return head_too_large();
    const char c = bytes[scanned_];
    if (auto problem = wrong_byte(scanned_ == 0 ? '\0' : bytes[scanned_ - 1], c))
      return *std::move(problem);
    if (c != '\n') continue;
    const bool is_empty_line = scanned_ - line_begin_ == 1;
    if (is_empty_line && line_begin_ == 0)
      return bad_request(400, "an empty line stands where a request is expected");
    if (is_empty_line) return scanned_ + 1;
    line_begin_ = scanned_ + 1;
  }
  return NeedMore{};
}

RequestParser::Step RequestParser::next_of_head() {
  const auto scan = scan_head();
  if (std::holds_alternative<NeedMore>(scan)) return NeedMore{};
  if (const auto* problem = std::get_if<Problem>(&scan))
    return refuse(problem->status, problem->detail);
  const std::string_view head = rest().substr(0, std::get<std::size_t>(scan));
  message_ = std::make_unique<Message>(limits_);
  const std::size_t used = message_->put_some(head);
  if (const auto refusal = message_->refusal()) {
    if (refusal->status == 400 && ends_with_other_version(head))
      return refuse(505, "no version of HTTP but 1.1 and 1.0 is served");
    return refuse(refusal->status, refusal->detail);
  }
  if (used != head.size() || !message_->is_header_done())
    return refuse(400, words_of(BeastError::need_more));
  consume(used);
  scanned_ = line_begin_ = 0;
  stage_ = Stage::body;
  return std::move(message_->request());
}

RequestParser::Step RequestParser::next_of_body() {
  for (;;) {
    if (message_->is_done()) {
      message_.reset();
      stage_ = Stage::head;
      return BodyEnd{};
    }
    if (rest().empty()) return NeedMore{};
    if (message_->is_between_chunks()) {
      switch (judge_chunk_line(rest(), message_->is_before_first_chunk())) {
        case ChunkLine::incomplete: return NeedMore{};
        case ChunkLine::wrong:
          return refuse(400, "the size of a chunk is not a hexadecimal number and CR LF");
        case ChunkLine::complete: break;
      }
    }
    const std::size_t used = message_->put_some(rest());
    if (const auto refusal = message_->refusal()) return refuse(refusal->status, refusal->detail);
    CHECK(used > 0, "Beast's parser wants more than a whole chunk line or a byte of the body");
    consume(used);
    if (std::string body = message_->take_body(); !body.empty()) return BodyBytes{std::move(body)};
  }
}

}  // namespace lockstep::http
