#pragma once
// Requests in flight on one bulk socket. They are numbered, limited by their total weight, sent
// again after some silence, and given up after a longer silence, or earlier when the connection has
// been down for a time. One that is refused because the other side is busy is sent again after a
// pause, with fewer beside it; only refusals for as long as a silence are given up too. It knows
// nothing of blobs.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "common/base/result.h"
#include "common/domain/messages/bulk_protocol.h"
#include "common/io/event_loop.h"
#include "common/io/net/transport.h"
#include "common/transfer/transfer.h"

namespace lockstep::transfer {

class RequestWindow {
 public:
  // Called with each answer; true = the request is done. An error ends the transfer.
  using OnAnswer = std::function<Result<bool>(BulkMessage& answer)>;

  RequestWindow(io::ClientSocket& socket, const TransferOptions& options);
  ~RequestWindow();
  RequestWindow(const RequestWindow&) = delete;
  RequestWindow& operator=(const RequestWindow&) = delete;

  // Waits until `weight` more fits into the window, then sends.
  Status request(BulkMessage body, std::uint64_t weight, OnAnswer on_answer);
  // Waits until at most `count` requests are open.
  Status drain(std::size_t count = 0);
  // Waits for an answer, for wake(), or until the open requests are due to be sent again.
  Status wait();
  void wake();  // from any thread; if no wait() is running, the next one ends at once
  bool has_open() const { return !open_.empty(); }
  bool was_answered() const { return was_answered_; }  // whether any answer came so far

 private:
  struct Open {
    std::string bytes;  // the encoded request, to send it again
    std::uint64_t weight = 0;
    OnAnswer on_answer;
    int refusals = 0;                        // the consecutive refusals for now
    std::optional<std::int64_t> send_at_ns;  // set while the request is refused for now
  };
  Status turn();
  Status receive();
  Status answered(std::uint64_t sequence, BulkMessage& answer);
  void refused_for_now(Open& open, const BulkRefused& refused);
  void done(std::map<std::uint64_t, Open>::iterator open);
  bool may_send(const Open& open) const;
  std::int64_t next_send_ns() const;
  void send_refused();
  Status repeat_or_give_up();
  Status check_link();  // unavailable: the link has been down for too long

  io::ClientSocket& socket_;
  const TransferOptions options_;
  io::EventLoop loop_;
  std::uint64_t next_sequence_ = 0;
  std::uint64_t window_bytes_;   // at most the options'; less after refusals
  std::uint64_t weight_ = 0;     // the weight of all open requests
  std::uint64_t in_flight_ = 0;  // the weight of requests that do not wait to be sent again
  std::map<std::uint64_t, Open> open_;
  bool was_answered_ = false;
  std::optional<BulkRefused> refused_;  // the last answer was this refusal for now
  std::int64_t last_heard_ns_ = 0;      // time of the last answer, or of the first open request
  std::int64_t last_repeat_ns_ = 0;
  std::optional<std::int64_t> down_since_ns_;
};

}  // namespace lockstep::transfer
