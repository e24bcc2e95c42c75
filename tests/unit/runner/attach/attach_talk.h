#pragma once
// A client of one attachment, at the runner's control socket: it sends frames and collects what
// comes. Nothing is lost there, so it repairs nothing.

#include <gtest/gtest.h>
#include <poll.h>

#include <functional>
#include <string>
#include <variant>

#include "tests/unit/runner/attempt.h"

namespace lockstep::runner::testing {

class AttachTalk {
 public:
  AttachTalk(FakeAgent& agent, const Attempt& attempt, char id = 'a')
      : agent_(agent), id_(std::string(kAttachIdBytes, id)) {
    open_.job = attempt.assignment.attempt.job;
    open_.attempt = attempt.assignment.attempt;
    open_.node_rank = attempt.assignment.node_rank;
  }

  // Opens it, and again, `pause_ms` after a refusal, while the ranks have not started. False: it
  // was refused.
  bool open(AttachOrder order, std::optional<int> rank = std::nullopt, int pause_ms = 10) {
    open_.order = std::move(order);
    open_.rank = rank;
    do {
      refused.reset();
      send(open_);
      if (!until([this] { return opened || refused; })) return false;
      if (refused) poll(nullptr, 0, pause_ms);
    } while (refused && refused->for_now);
    return opened.has_value();
  }
  void open_again() {
    open_.have_output = output.size();
    open_.have_error = error.size();
    opened.reset();
    send(open_);
  }
  void send(const AttachBody& body) { EXPECT_TRUE(agent_.send_control(AttachFrame{id_, body})); }
  // Waits until all of it was taken.
  void type(const std::string& bytes, bool end = false) {
    const std::uint64_t begin = sent_;
    while (sent_ < begin + bytes.size() || end) {
      const std::size_t at = sent_ - begin;
      const std::size_t room = kAttachWindow - (sent_ - taken_);
      AttachData data{AttachStream::input, sent_, bytes.substr(at, std::min(room, kMaxAttachData)),
                      false};
      sent_ += data.bytes.size();
      data.end = end && sent_ == begin + bytes.size();
      if (!data.bytes.empty() || data.end) send(data);
      if (data.end) break;
      if (sent_ - taken_ == kAttachWindow &&
          !until([this] { return sent_ - taken_ < kAttachWindow; }))
        return;
    }
  }
  // Takes what comes until it is so. False: nothing came for a minute.
  bool until(const std::function<bool()>& so) {
    while (!so()) {
      const auto message = agent_.next_message();
      if (!message) return false;
      if (const auto* frame = std::get_if<AttachFrame>(&*message)) take(*frame);
    }
    return true;
  }
  bool shows(const std::string& text) {
    return until([&] { return output.find(text) != std::string::npos; });
  }
  // Its exit code; -1: it did not end.
  int code() {
    return until([this] { return end.has_value(); }) ? end->code : -1;
  }

  std::string output, error;
  std::optional<AttachOpened> opened;
  std::optional<AttachRefused> refused;
  std::optional<AttachEnd> end;

 private:
  void take(const AttachFrame& frame) {
    if (frame.attachment != id_) return;
    if (const auto* it = std::get_if<AttachOpened>(&frame.body)) opened = *it;
    if (const auto* it = std::get_if<AttachRefused>(&frame.body)) refused = *it;
    if (const auto* it = std::get_if<AttachEnd>(&frame.body)) end = *it;
    if (const auto* it = std::get_if<AttachTaken>(&frame.body)) taken_ = it->offset;
    const auto* data = std::get_if<AttachData>(&frame.body);
    if (data == nullptr) return;
    std::string& to = data->stream == AttachStream::output ? output : error;
    if (data->offset + data->bytes.size() <= to.size()) return;
    ASSERT_LE(data->offset, to.size());
    to += data->bytes.substr(to.size() - data->offset);
    send(AttachTaken{data->stream, to.size()});
  }

  FakeAgent& agent_;
  const AttachId id_;
  AttachOpen open_;
  std::uint64_t sent_ = 0, taken_ = 0;
};

inline AttachProgram program_order(std::vector<std::string> argv, bool terminal = false) {
  AttachProgram order;
  order.argv = std::move(argv);
  order.terminal = terminal;
  order.takes_input = true;
  order.term = "xterm";
  return order;
}

}  // namespace lockstep::runner::testing
