#pragma once
// How many bytes of each connection lie in this process: read by libzmq and not taken by anybody
// yet, or given to it and not written. libzmq bounds its queues in messages, which may be large; a
// connection whose peer is not trusted has a bound in bytes here, and all of these together have
// one. Counts alone: backlog_hooks.cc asks at each recv() and send(), ServerSocket tells what it
// takes and gives. Safe for threads.

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
    std::int64_t all = 256 << 20;  // in each direction; beyond, each has its share of that,
    std::int64_t share = 1 << 20;  // or this, if it is more
  };
  explicit Backlog(Limits limits) : limits_(limits) {}

  // A connection begins; what its descriptor had before is over.
  void opened(int fd);
  void closed(int fd);
  // Its peer is one of ours: it has no bound any more.
  void trust(int fd);
  // Another number each time it is opened; 0: not one of these connections.
  std::uint64_t life(int fd) const;

  // False: more than may wait unread. The connection is to be cut.
  bool read(int fd, std::int64_t bytes);
  void took(int fd, std::int64_t bytes);
  // Nothing waits to be taken: what connections left that are closed is gone.
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
