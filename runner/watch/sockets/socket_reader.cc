#include "runner/watch/sockets/socket_reader.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string_view>
#include <system_error>
#include <thread>

namespace lockstep::runner {
namespace {

constexpr std::size_t kDumpBuffer = 64 << 10;
constexpr Bytes kMostProcText = mebibytes(16);
constexpr int kMostFailures = 3;  // the most failures in a row
// The dumped states: all but TIME_WAIT and CLOSE (net/tcp_states.h).
constexpr std::uint32_t kDumpedStates = 0xfff & ~(1u << 6) & ~(1u << 7) & ~1u;

std::string namespace_file(const std::string& process) {
  return fmt::format("/proc/{}/ns/net", process);
}

std::uint64_t inode_of(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 ? info.st_ino : 0;
}

io::Fd open_diag_here() {
  io::Fd fd(::socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG));
  const timeval time_limit{1, 0};
  if (fd) ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &time_limit, sizeof time_limit);
  return fd;
}

// Enters the other namespace on a thread of its own, which ends there.
io::Fd open_diag_in(const std::string& name_file) {
  const io::Fd where(::open(name_file.c_str(), O_RDONLY | O_CLOEXEC));
  io::Fd opened;
  if (!where) return opened;
  try {
    std::thread([&] {
      if (::setns(where.get(), CLONE_NEWNET) == 0) opened = open_diag_here();
    }).join();
  } catch (const std::system_error&) {  // the limit of threads is reached
  }
  return opened;
}

Status ask_for_sockets(int fd, int family, std::uint32_t sequence) {
  struct {
    nlmsghdr head;
    inet_diag_req_v2 request;
  } message{};
  message.head.nlmsg_len = sizeof message;
  message.head.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  message.head.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
  message.head.nlmsg_seq = sequence;
  message.request.sdiag_family = static_cast<std::uint8_t>(family);
  message.request.sdiag_protocol = IPPROTO_TCP;
  message.request.idiag_ext = 1 << (INET_DIAG_INFO - 1);
  message.request.idiag_states = kDumpedStates;
  if (::send(fd, &message, sizeof message, 0) != static_cast<ssize_t>(sizeof message))
    return errno_error(errno, "asking the kernel for TCP sockets");
  return {};
}

enum class DumpStep { goes_on, over, failed };

// Handles the messages of one datagram; errno holds the reason if it fails.
DumpStep take_datagram(std::string_view datagram, std::uint32_t sequence, TcpSockets* sockets) {
  while (datagram.size() >= sizeof(nlmsghdr)) {
    nlmsghdr head{};
    std::memcpy(&head, datagram.data(), sizeof head);
    if (head.nlmsg_len < sizeof head || head.nlmsg_len > datagram.size()) break;
    const std::string_view body =
        datagram.substr(NLMSG_HDRLEN, head.nlmsg_len - static_cast<std::size_t>(NLMSG_HDRLEN));
    if (head.nlmsg_seq == sequence && head.nlmsg_type == NLMSG_DONE) return DumpStep::over;
    if (head.nlmsg_seq == sequence && head.nlmsg_type == NLMSG_ERROR) {
      int error = 0;
      if (body.size() >= sizeof error) std::memcpy(&error, body.data(), sizeof error);
      errno = -error;
      return DumpStep::failed;
    }
    if (head.nlmsg_seq == sequence && sockets->size() < kMaxSocketsRead)
      if (const auto socket = parse_tcp_diag(body)) sockets->push_back(*socket);
    datagram.remove_prefix(std::min<std::size_t>(NLMSG_ALIGN(head.nlmsg_len), datagram.size()));
  }
  return DumpStep::goes_on;
}

// The rest of an incomplete dump stays in the socket, so the socket must be closed.
Status dump_family(int fd, int family, std::uint32_t sequence, TcpSockets* sockets, bool* is_cut) {
  TRY(ask_for_sockets(fd, family, sequence));
  const auto buffer = std::make_unique_for_overwrite<char[]>(kDumpBuffer);
  while (true) {
    const ssize_t length = ::recv(fd, buffer.get(), kDumpBuffer, 0);
    if (length < 0 && errno == EINTR) continue;
    if (length <= 0) return errno_error(errno, "reading TCP sockets from the kernel");
    const std::string_view datagram(buffer.get(), static_cast<std::size_t>(length));
    switch (take_datagram(datagram, sequence, sockets)) {
      case DumpStep::over: return {};
      case DumpStep::failed: return errno_error(errno, "TCP sockets, from the kernel");
      case DumpStep::goes_on: break;
    }
    *is_cut = sockets->size() >= kMaxSocketsRead;
    if (*is_cut) return {};
  }
}

}  // namespace

// Reads the sockets. A kernel without sock_diag is asked a few times only.
Result<TcpSockets> SocketReader::read(int pid) {
  if (root_.empty() && failures_ < kMostFailures) {
    auto sockets = read_by_diag(pid);
    failures_ = sockets ? 0 : failures_ + 1;
    if (sockets) return sockets;
    by_namespace_.clear();
  }
  return read_proc(pid);
}

Result<TcpSockets> SocketReader::read_by_diag(int pid) {
  const std::string file = namespace_file(std::to_string(pid));
  const std::uint64_t ours = inode_of(namespace_file("self"));
  const std::uint64_t theirs = inode_of(file);
  if (theirs == 0) return errno_error(errno, file);
  const auto found = by_namespace_.find(theirs);
  if (found == by_namespace_.end()) {
    if (by_namespace_.size() >= kMaxNamespaces) by_namespace_.clear();
    by_namespace_[theirs] = theirs == ours ? open_diag_here() : open_diag_in(file);
  }
  io::Fd& fd = by_namespace_[theirs];
  if (!fd) return errno_error(errno, "a netlink socket in " + file);
  TcpSockets sockets;
  bool is_cut = false;
  std::uint32_t sequence = 0;
  for (const int family : {AF_INET, AF_INET6}) {
    const Status dumped = dump_family(fd.get(), family, ++sequence, &sockets, &is_cut);
    if (!dumped && family == AF_INET) return dumped.error();
    if (!dumped || is_cut) fd.reset();
    if (!fd) break;  // without IPv6, or with too many sockets
  }
  if (!fd) by_namespace_.erase(theirs);
  return sockets;
}

Result<TcpSockets> SocketReader::read_proc(int pid) const {
  TcpSockets sockets;
  TRY_ASSIGN(const std::string v4,
             io::read_file(fmt::format("{}/proc/{}/net/tcp", root_, pid), kMostProcText));
  parse_proc_net_tcp(v4, kMaxSocketsRead, &sockets);
  const auto v6 = io::read_file(fmt::format("{}/proc/{}/net/tcp6", root_, pid), kMostProcText);
  if (v6) parse_proc_net_tcp(*v6, kMaxSocketsRead, &sockets);
  return sockets;
}

}  // namespace lockstep::runner
