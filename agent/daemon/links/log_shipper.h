#pragma once
// Sends the logs of this node's ranks and environments to the launcher: every byte once, in order,
// within a window of unacknowledged bytes. Acknowledged bytes are on the launcher's disk, all
// others are in our files, so a lost message or connection costs only a question (LogResume). It
// reads files that other processes append to; it never writes or removes one.

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "common/base/time.h"
#include "common/domain/messages/bulk_protocol.h"
#include "common/domain/ranks/exit_report.h"
#include "common/io/attempt/attempt_dir.h"
#include "common/io/event_loop.h"
#include "common/io/file_system.h"

namespace lockstep::agent {

class LogShipper {
 public:
  // Sends a message. unavailable: the link is down or its queue is full; the shipper retries a
  // little later.
  using Send = std::function<Status(BulkMessage)>;
  // Reports the log bytes that the launcher has acknowledged, only for ranks with news.
  using Taken = std::function<void(const AttemptId&, const std::vector<LogSize>&)>;

  struct Limits {
    std::uint64_t window_bytes = 4u << 20;  // the most unacknowledged bytes of all streams together
    // small, so that control messages do not wait behind logs
    std::uint64_t bytes_per_turn = 1u << 20;
    Duration resume_after = seconds(2);       // ask for an acknowledgement that is this late
    Duration retry_after = milliseconds(20);  // the pause after the link refused a message
    Duration scan_every = milliseconds(20);   // used only if inotify is not available
    Duration tell_every = milliseconds(50);   // the time between calls of Taken
  };

  LogShipper(io::EventLoop& loop, NodeId node, Send send, Taken taken);
  LogShipper(io::EventLoop& loop, NodeId node, Send send, Taken taken, Limits limits);
  ~LogShipper();
  LogShipper(const LogShipper&) = delete;
  LogShipper& operator=(const LogShipper&) = delete;

  // Ships the logs until forget(). `known`: an earlier agent may have sent a part of them.
  void ship(const AttemptId& attempt, const io::AttemptDir& directory, bool known);
  void forget(const AttemptId& attempt);
  void on_link_up();
  void on_link_down();  // sends nothing until on_link_up()
  void on_ack(const LogAck& ack, Instant now);
  // Notes that the launcher takes no more of this log for now. The log gives its part of the window
  // to others, and after resume_after asks and tries again with one message.
  void on_refused(const LogKey& key, Instant now);

  bool empty() const { return attempts_.empty(); }
  std::uint64_t unacknowledged() const { return in_flight_; }
  Instant next_deadline() const { return std::min(next_, tell_at_); }
  void tick(Instant now);  // sends as much as the window allows; call it in each turn of the loop

 private:
  struct Stream {
    enum class State {
      idle,      // all known bytes are sent
      queued,    // the stream is in ready_
      resuming,  // sends nothing until the launcher says where to continue
    };
    State state = State::idle;
    std::uint64_t sent = 0, acked = 0;
    Instant ask_at = Instant::never();  // the acknowledgement is overdue from this time on
    bool is_refused = false;            // true until something more of it is acknowledged
  };
  struct Attempt {
    io::AttemptDir directory;
    bool known = false;
    int watch = -1;
    std::map<std::pair<int, LogStream>, Stream> streams;
    std::set<int> news;  // ranks with acknowledged bytes not yet passed to Taken
  };

  void changed(const AttemptId& attempt, Attempt& entry, const std::string& file_name);
  void scan(const AttemptId& attempt, Attempt& entry);
  void on_inotify();
  Stream* find(const LogKey& key);
  void enqueue(const LogKey& key, Stream& stream);
  void pump(Instant now);
  enum class Progress { sent, at_end, refused };
  Progress send_chunk(const LogKey& key, Stream& stream, Instant now);
  void ask(Instant now);
  void tell_taken(Instant now);

  io::EventLoop& loop_;
  const NodeId node_;
  const Send send_;
  const Taken taken_;
  const Limits limits_;
  io::Fd inotify_;
  std::map<AttemptId, Attempt> attempts_;
  std::map<int, AttemptId> watched_;
  // Streams that may have bytes to send, served round robin. The key of a stream that has begun to
  // resume stays here and is skipped.
  std::deque<LogKey> ready_;
  std::uint64_t in_flight_ = 0;
  Instant next_ = Instant::never();
  Instant blocked_until_{};
  Instant tell_at_ = Instant::never();
  Instant told_at_{};
  bool linked_ = false;
  std::string buffer_;
};

}  // namespace lockstep::agent
