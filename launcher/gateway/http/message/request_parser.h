#pragma once
// Bytes in, requests out: an incremental HTTP/1.1 parser without I/O. Boost.Beast's parser reads
// the fields and the framing; around it stands what Beast leaves to its user or reads more
// leniently than we want (decision 089): no folded fields, no bare newlines, one Content-Length,
// one Host, no transfer coding but chunked, no chunk extensions, no trailers, no proxy requests.
// After a refusal it reads nothing more: what follows cannot be trusted to be a request.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "launcher/gateway/http/message/limits.h"
#include "launcher/gateway/http/message/problem.h"
#include "launcher/gateway/http/message/request.h"

namespace lockstep::http {

class RequestParser {
 public:
  explicit RequestParser(const Limits& limits);
  ~RequestParser();
  RequestParser(const RequestParser&) = delete;
  RequestParser& operator=(const RequestParser&) = delete;

  // The caller bounds what it feeds by buffered_bytes().
  void feed(std::string_view bytes);

  struct NeedMore {};
  struct BodyBytes {
    std::string bytes;  // not empty
  };
  struct BodyEnd {};
  // In this order for each request: Request, BodyBytes any number of times, BodyEnd.
  using Step = std::variant<NeedMore, Request, BodyBytes, BodyEnd, Problem>;
  Step next();

  std::size_t buffered_bytes() const { return buffer_.size() - consumed_; }
  // Whether a request is begun: some bytes of it are there, or its BodyEnd is still to come.
  bool is_within_request() const { return stage_ != Stage::head || buffered_bytes() > 0; }

 private:
  enum class Stage { head, body, refused };
  class Message;  // Beast's parser of one request

  Step next_of_head();
  Step next_of_body();
  Step refuse(int status, std::string detail);
  // Looks at the bytes of the head that came since; the head's size once it is there.
  std::variant<NeedMore, std::size_t, Problem> scan_head();
  std::optional<Problem> wrong_byte(char before, char c) const;
  Problem head_too_large() const;
  std::string_view rest() const { return std::string_view(buffer_).substr(consumed_); }
  void consume(std::size_t bytes);

  const Limits limits_;
  Stage stage_ = Stage::head;
  std::string buffer_;
  std::size_t consumed_ = 0;    // of buffer_
  std::size_t scanned_ = 0;     // of rest(), in Stage::head
  std::size_t line_begin_ = 0;  // of the line at scanned_
  std::unique_ptr<Message> message_;
  Problem refusal_;
};

}  // namespace lockstep::http
