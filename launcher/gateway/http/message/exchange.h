#pragma once
// One request and its answer, as handlers have them. A handler keeps the exchange as long as it
// likes and answers now or later, on the loop's thread. When the client goes, or is too slow, the
// exchange is over: then an answer is ignored.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "launcher/gateway/http/message/request.h"
#include "launcher/gateway/http/message/response.h"

namespace lockstep::http {

struct Client {
  std::string address;  // numeric; "": it came over a unix socket
  bool is_tls = false;
  std::uint64_t connection = 0, request = 0;  // numbers; the second counts within the first
};

// Where the body of a request goes. It is destroyed without complete() if the exchange is over
// before.
class BodySink {
 public:
  virtual ~BodySink() = default;
  // False: these bytes were taken, and no more come until Exchange::resume_body().
  virtual bool take(std::string bytes) = 0;
  virtual void complete() = 0;
};

class Exchange {
 public:
  virtual ~Exchange() = default;
  virtual const Request& request() const = 0;
  virtual const Client& client() const = 0;
  // Once, before the answer; both functions of the sink may be called before this returns. A body
  // that is longer is refused, and the exchange is over.
  virtual void take_body(std::uint64_t at_most, std::shared_ptr<BodySink> sink) = 0;
  virtual void resume_body() = 0;
  // Once. Before the body was taken as a whole, it ends the connection.
  virtual void answer(Response response) = 0;
  // The launcher knows the sender. For the access log, and so that the connection keeps its place
  // when there are too many.
  virtual void identified_as(const std::string& user) = 0;
  // Calls it once, when the answer was made as a whole or nobody waits for it any more.
  virtual void on_over(std::function<void()> handler) = 0;
  virtual bool is_over() const = 0;
};

// Takes a body as one text.
void collect_body(Exchange& exchange, std::uint64_t at_most,
                  std::function<void(std::string body)> then);

}  // namespace lockstep::http
