#pragma once
// Reads the TCP sockets of the network namespace that a process is in: by sock_diag, which also has
// TCP_INFO; if that fails, from /proc/PID/net. If the namespace is not ours, as in a container with
// a network of its own, a short-lived thread of ours enters it and opens the netlink socket there:
// the socket stays in that namespace, and no code of the ranks runs. That needs root; without root,
// /proc/PID/net is used. Each reading is bounded in sockets and in time. It owns at most
// kMaxNamespaces netlink sockets.

#include <cstdint>
#include <map>
#include <string>

#include "common/base/result.h"
#include "common/io/file_system.h"
#include "runner/watch/sockets/tcp_sockets.h"

namespace lockstep::runner {

// Sockets of one namespace; others are left out.
inline constexpr std::size_t kMaxSocketsRead = 65'536;
inline constexpr std::size_t kMaxNamespaces = 4;

class SocketReader {
 public:
  // `root`: "", or the root directory of a fake machine: then only its /proc is read.
  explicit SocketReader(std::string root = "") : root_(std::move(root)) {}

  // The sockets that are connected, connect, listen or close. An error: neither way works.
  Result<TcpSockets> read(int pid);

 private:
  Result<TcpSockets> read_by_diag(int pid);
  Result<TcpSockets> read_proc(int pid) const;

  const std::string root_;
  std::map<std::uint64_t, io::Fd> by_namespace_;  // inode of the namespace -> netlink socket
  int failures_ = 0;                              // consecutive failures of sock_diag
};

}  // namespace lockstep::runner
