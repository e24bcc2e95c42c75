#pragma once
// Decides which TCP connections a process keeps, when it accepts them and before any handshake. A
// connection is proven once a message from an accepted key came over it. Unproven connections have
// limits of their own, so that they cannot use up the descriptors of the others. This class only
// decides and counts; accept_hook.cc shuts down and closes. Thread-safe.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace lockstep::io {

class Admission {
 public:
  struct Limits {
    std::size_t all = 0;                  // connections
    std::size_t per_source = 0;           // connections from one address (IPv6: from one /64)
    std::size_t unproven = 0;             // unproven connections in all
    std::size_t unproven_per_source = 0;  // unproven ones of one address
    friend bool operator==(const Limits&, const Limits&) = default;
  };
  // Leaves a quarter of the process's descriptors, at most 2,048, for its own files.
  static Limits limits_for(std::size_t descriptors);

  struct Peer {
    std::string address;  // numeric
    std::uint16_t port = 0;
    friend bool operator==(const Peer&, const Peer&) = default;
  };
  struct Connection {
    int fd = -1;
    Peer peer;
  };
  // Whether this connection is still open. Its descriptor may have been closed and reused.
  using IsOpen = bool (*)(const Connection& connection);

  Admission(Limits limits, IsOpen is_open) : limits_(limits), is_open_(is_open) {}

  struct Verdict {
    bool admitted = true;          // false: close it
    std::vector<Connection> shut;  // shut these down to make room: those unproven for longest
  };
  Verdict arrived(const Connection& connection);
  void proven(int fd, const std::string& address);

  struct Count {
    std::size_t all = 0, unproven = 0;
    friend bool operator==(const Count&, const Count&) = default;
  };
  Count count() const;

 private:
  struct Entry {
    Peer peer;
    std::string source;
    std::uint64_t order = 0;
    bool is_proven = false;
  };
  struct Source {
    std::set<std::pair<std::uint64_t, int>> unproven;  // order, fd
    std::size_t all = 0;
    std::size_t proven() const { return all - unproven.size(); }
  };
  void forget(int fd);
  // Also forgets closed connections that it meets. nullopt: the source has no unproven one.
  std::optional<Connection> take_oldest_unproven(const std::string& source);
  std::optional<std::string> most_unproven() const;
  void forget_closed();

  const Limits limits_;
  const IsOpen is_open_;
  mutable std::mutex mutex_;
  std::map<int, Entry> entries_;  // some may have been closed since
  std::map<std::string, Source> sources_;
  std::size_t unproven_ = 0;
  std::uint64_t last_order_ = 0;
  std::uint64_t swept_at_ = 0;  // last_order_ at the last forget_closed()
};

// While this object exists, new connections to listening sockets of this port need `admission`.
class ListenerGuard {
 public:
  ListenerGuard(std::uint16_t port, std::shared_ptr<Admission> admission);
  ~ListenerGuard();
  ListenerGuard(const ListenerGuard&) = delete;
  ListenerGuard& operator=(const ListenerGuard&) = delete;

 private:
  std::uint16_t port_;
};

// The other end of a connected TCP socket; nullopt: it has none (any more), or is of another kind.
std::optional<Admission::Peer> peer_of(int fd);
// The IsOpen of real sockets.
bool is_still_connected(const Admission::Connection& connection);

// Makes one with limits_for() this process's present limit of open files.
std::shared_ptr<Admission> make_admission();
// Raises the soft limit of open files to the hard limit.
void raise_open_files_limit();

}  // namespace lockstep::io
