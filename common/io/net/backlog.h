#pragma once
// Counts how many bytes of each connection this process holds: read by libzmq and not taken by the
// program yet (unread), or given to libzmq and not written yet (unsent). libzmq limits its queues
// only in messages, which may be large. So each connection of an untrusted peer has a limit in
// bytes here, and all of them together have one. This class only counts: backlog_hooks.cc asks it
// at each recv() and send(), and ServerSocket reports what it takes and gives. Thread-safe.

#include <atomic>
#include <cstdint>
#include <mutex>
#include <unordered_map>

namespace lockstep::io {

class Backlog {
 public:
  struct Limits {
    // The limit for one connection; more than an upload has in flight.
    std::int64_t unread = 48 << 20;
    std::int64_t unsent = 32 << 20;
    std::int64_t all = 256 << 20;  // all in one direction; beyond, each may hold an equal share,
    std::int64_t share = 1 << 20;  // the least share of a connection
  };
  explicit Backlog(Limits limits) : limits_(limits) {}

  // Tells that a connection was opened; an earlier one of the same descriptor has ended.
  void opened(int fd);
  void closed(int fd);
  // Lifts the limits of a connection whose peer is trusted.
  void trust(int fd);
  // A number that differs each time the descriptor is opened; 0: it is not one of these
  // connections.
  std::uint64_t life(int fd) const;

  // Counts bytes that were read. False: more bytes are unread than allowed, and the caller must cut
  // the connection.
  bool read(int fd, std::int64_t bytes);
  void took(int fd, std::int64_t bytes);
  // Tells that no message waits to be taken, so no unread bytes of closed connections are left
  // either.
  void all_taken();

  bool may_give(int fd, std::int64_t bytes);
  void gave(int fd, std::int64_t bytes);
  void wrote(int fd, std::int64_t bytes);

  std::int64_t unread() const;  // the unread bytes of all connections together
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
  std::atomic<bool> is_used_{false};  // most programs accept no connections
  mutable std::mutex mutex_;
  std::unordered_map<int, Entry> entries_;
  std::int64_t unread_ = 0, unsent_ = 0, left_unread_ = 0;
  std::int64_t connections_ = 0;  // the number of connections with limits
  std::uint64_t lives_ = 0;
};

// The backlog of this process.
Backlog& process_backlog();

}  // namespace lockstep::io
