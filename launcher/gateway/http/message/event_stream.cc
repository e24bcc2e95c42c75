#include "launcher/gateway/http/message/event_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "launcher/gateway/http/message/characters.h"

namespace lockstep::http {
namespace {

std::string one_line(std::string_view text) {
  std::string line(text);
  for (char& c : line)
    if (is_control(c)) c = ' ';
  return line;
}

}  // namespace

std::string serialize(const ServerSentEvent& event) {
  std::string bytes;
  if (!event.id.empty()) fmt::format_to(std::back_inserter(bytes), "id: {}\n", one_line(event.id));
  if (!event.type.empty())
    fmt::format_to(std::back_inserter(bytes), "event: {}\n", one_line(event.type));
  // A reader ends a line at CR, LF and CR LF alike, and joins the lines with LF.
  std::string_view rest = event.data;
  for (;;) {
    const auto end = rest.find_first_of("\r\n");
    fmt::format_to(std::back_inserter(bytes), "data: {}\n", rest.substr(0, end));
    if (end == std::string_view::npos) break;
    const bool is_pair = rest.substr(end).starts_with("\r\n");
    rest.remove_prefix(end + (is_pair ? 2 : 1));
  }
  return bytes += '\n';
}

bool EventStream::offer(const ServerSentEvent& event) {
  if (is_finished_) return false;
  const std::string bytes = serialize(event);
  if (waiting_bytes() > 0 && waiting_bytes() + bytes.size() > most_bytes_) {
    is_refusing_ = true;
    return false;
  }
  waiting_ += bytes;
  if (std::exchange(is_asked_, false)) ready();
  return true;
}

void EventStream::finish(Duration retry) {
  if (is_finished_) return;
  is_finished_ = true;
  if (retry > Duration::zero())
    fmt::format_to(std::back_inserter(waiting_), "retry: {}\n\n", retry / milliseconds(1));
  if (std::exchange(is_asked_, false)) ready();
}

BodySource::Piece EventStream::read(std::size_t at_most) {
  std::string bytes = waiting_.substr(taken_, at_most);
  taken_ += bytes.size();
  if (taken_ == waiting_.size()) {
    waiting_.clear();
    taken_ = 0;
  } else if (taken_ > waiting_.size() / 2) {
    waiting_.erase(0, taken_);
    taken_ = 0;
  }
  if (is_refusing_ && waiting_bytes() <= most_bytes_ / 2) {
    is_refusing_ = false;
    if (on_room_) on_room_();
  }
  if (waiting_bytes() > 0) return {std::move(bytes), State::more};
  if (is_finished_) return {std::move(bytes), State::end};
  is_asked_ = true;
  return {std::move(bytes), State::later};
}

Response event_response(std::shared_ptr<EventStream> stream) {
  Response response;
  response.headers.add("content-type", "text/event-stream");
  // nginx would collect the events otherwise.
  response.headers.add("x-accel-buffering", "no");
  response.source = std::move(stream);
  response.heartbeat = Heartbeat{":\n\n"};
  return response;
}

}  // namespace lockstep::http
