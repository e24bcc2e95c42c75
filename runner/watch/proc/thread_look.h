#pragma once
// Finds what one thread is blocked on: the system call, its descriptor, and the kind of object
// behind it. Pure, over a small interface to the process's descriptors.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runner/watch/proc/descriptor.h"
#include "runner/watch/proc/proc_texts.h"
#include "runner/watch/proc/system_calls.h"
#include "runner/watch/sockets/tcp_sockets.h"

namespace lockstep::runner {

enum class WaitsOn {
  nothing,   // the thread runs, or would
  peer,      // a socket to a peer
  store,     // the place where ranks first meet: the rendezvous's store, or the PMIx server
  other,     // a socket to something else
  listener,  // a socket that listens: for clients
  file,
  pipe,
  terminal,
  gpu,    // a call into its driver
  child,  // the end of a process
  timer,
  lock,  // a futex, or an event of its own process
  signal,
  unknown,
};

struct ThreadLook {
  char state = '?';
  WaitsOn on = WaitsOn::unknown;
  std::string call;         // "" if it is in none, or the kernel does not say
  std::string far, near;    // see RankStanding::on and own_end
  std::uint64_t inode = 0;  // the inode of the pipe or socket
  bool has_timeout = false;
  bool is_shared = false;  // a lock that other processes may release
  friend bool operator==(const ThreadLook&, const ThreadLook&) = default;
};

inline constexpr std::size_t kMaxPolled = 64;  // descriptors of one poll or epoll that count

// The process that a thread belongs to.
class DescriptorSource {
 public:
  virtual ~DescriptorSource() = default;
  virtual Descriptor descriptor(int fd) = 0;
  // the descriptors of an epoll, at most kMaxPolled
  virtual std::vector<int> epoll_targets(int fd) = 0;
  // The descriptors in an array of pollfd in the process's memory.
  virtual std::vector<int> polled(std::uint64_t address, std::uint64_t count) = 0;
  // nullptr: the inode is not a TCP socket
  virtual const TcpSocket* socket(std::uint64_t inode) = 0;
  virtual WaitsOn kind_of(const TcpSocket& socket) = 0;  // peer, store, other or listener
  // Whether both ends of this pipe belong to the process: then another of its threads wakes its
  // loop.
  virtual bool has_both_ends(std::uint64_t) { return false; }
};

// Looks at a thread. `call`: nullopt if the kernel does not tell it to us. Then the wait channel is
// used, as it is to find out which call continues after a stop (restart_syscall).
ThreadLook look_at_thread(char state, const std::optional<BlockedCall>& call,
                          const std::string& channel, Machine machine, DescriptorSource& source);

}  // namespace lockstep::runner
