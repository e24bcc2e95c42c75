#pragma once
// Server-sent events (WHATWG HTML §9.2) as the body of an answer. What the client has not taken yet
// is bounded: once the bound is reached, offer() takes no more, and whoever makes the events waits
// until there is room instead of making them. So a slow reader costs one buffer, and the events'
// origin keeps the place where to go on (an event's id, which the client sends back as
// Last-Event-ID).

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "launcher/gateway/http/message/body_source.h"
#include "launcher/gateway/http/message/response.h"

namespace lockstep::http {

struct ServerSentEvent {
  std::string id = {};    // "": none. One line
  std::string type = {};  // "": "message". One line
  std::string data = {};  // any number of lines
};
// Its bytes. Line breaks in id and type become blanks.
std::string serialize(const ServerSentEvent& event);

class EventStream final : public BodySource {
 public:
  explicit EventStream(std::size_t most_bytes = 256 << 10) : most_bytes_(most_bytes) {}

  // False: there is no room, and the event was not taken. An event larger than the bound is taken
  // when nothing else waits, for it would never be otherwise.
  bool offer(const ServerSentEvent& event);
  // Called after an offer() was refused, once half of the room is free again. Not from offer().
  void on_room(std::function<void()> handler) { on_room_ = std::move(handler); }
  // No events follow. The client comes again after `retry`, if it is not 0.
  void finish(Duration retry = Duration::zero());
  std::size_t waiting_bytes() const { return waiting_.size() - taken_; }

  Piece read(std::size_t at_most) override;

 private:
  const std::size_t most_bytes_;
  std::string waiting_;
  std::size_t taken_ = 0;  // of waiting_
  bool is_refusing_ = false;
  bool is_finished_ = false;
  bool is_asked_ = false;  // read() found nothing, and ready() is awaited
  std::function<void()> on_room_;
};

// Status 200, the content type, no caching, and a comment as a heartbeat.
Response event_response(std::shared_ptr<EventStream> stream);

}  // namespace lockstep::http
