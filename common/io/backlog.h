#pragma once
// Counts the bytes of each connection that are buffered in this process: read by libzmq and not yet
// received by us, or sent by us and not yet written. libzmq limits its queues by messages, which
// may be large; this limits the bytes of each untrusted connection, and of all of them together.
// backlog_hooks.cc reports each recv() and send(), ServerSocket each message that it receives and
// sends. Safe for threads.

#include <atomic>
#include <cstdint>
#include <mutex>
#include <unordered_map>

namespace lockstep::io {

class Backlog {
 public:
  struct Limits {
    std::int64_t unread = 48 << 20;  // of one connection; more than an upload has in flight
    std::int64_t unsent = 32 << 20;
    std::int64_t all = 256 << 20;  // in each direction; then all have equal parts
    std::int64_t share = 1 << 20;  // of `all`, but at least this
  };
  explicit Backlog(Limits limits) : limits_(limits) {}

  // A connection begins; counts of an earlier one with this descriptor are dropped.
  void opened(int fd);
  void closed(int fd);
  // The peer is authenticated: its connection has no limit any more.
  void trust(int fd);
  // Another number each time it is opened; 0: not one of these connections.
  std::uint64_t life(int fd) const;

  // False: the limit of unread bytes is exceeded, and the connection must be closed.
  bool read(int fd, std::int64_t bytes);
  void took(int fd, std::int64_t bytes);
  // No message is waiting: counts of closed connections are dropped.
  void all_taken();

  bool may_give(int fd, std::int64_t bytes);
  void gave(int fd, std::int64_t bytes);
  void wrote(int fd, std::int64_t bytes);

  std::int64_t unread() const;  // all together
  std::int64_t unsent() const;

 private:
  struct Entry {
    std::int64_t unread = 0, unsent = 0;
    std::uint64_t life = 0;
    bool is_trusted = false;
  };
  Entry* bounded(int fd);
  void forget(int fd);
  std::int64_t share() const;

  const Limits limits_;
  std::atomic<bool> is_used_{false};  // most programs accept nothing
  mutable std::mutex mutex_;
  std::unordered_map<int, Entry> entries_;
  std::int64_t unread_ = 0, unsent_ = 0, left_unread_ = 0;
  std::int64_t connections_ = 0;  // that have a bound
  std::uint64_t lives_ = 0;
};

// Of this process.
Backlog& process_backlog();

}  // namespace lockstep::io
