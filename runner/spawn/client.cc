#include "runner/spawn/client.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "common/io/file_system.h"
#include "runner/spawn/namespaces.h"

namespace lockstep::spawn {
namespace {

template <typename T>
void append(std::string& out, const T& value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

// Makes a memfd whose contents cannot change any more.
Result<io::Fd> sealed(const std::string& bytes) {
  io::Fd fd(memfd_create("lockstep-rank", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd) return errno_error(errno, "memfd_create for a rank's arguments");
  TRY(io::write_all(fd.get(), bytes));
  if (fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) != 0)
    return errno_error(errno, "sealing a rank's arguments");
  return fd;
}

}  // namespace

std::string encode(const RankProcess& rank) {
  std::string strings;
  const auto add = [&](const std::string& text) { strings.append(text.c_str(), text.size() + 1); };
  add(rank.program);
  add(rank.path);
  add(rank.cwd);
  for (const auto& word : rank.argv) add(word);
  for (const auto& [name, value] : rank.environment) add(name + "=" + value);
  for (const auto& file : rank.cgroup_procs) add(file);

  StartBlock head;
  head.argc = static_cast<std::uint32_t>(rank.argv.size());
  head.envc = static_cast<std::uint32_t>(rank.environment.size());
  head.cgroups = static_cast<std::uint32_t>(rank.cgroup_procs.size());
  head.gids = static_cast<std::uint32_t>(rank.groups.size());
  head.cpus = static_cast<std::uint32_t>(rank.cpus.size());
  head.rlimits = static_cast<std::uint32_t>(rank.rlimits.size());
  head.uid = rank.uid;
  head.gid = rank.gid;
  head.set_ids = rank.set_ids ? 1 : 0;
  head.strings_bytes = static_cast<std::uint32_t>(strings.size());
  std::string block;
  append(block, head);
  for (const std::uint32_t group : rank.groups) append(block, group);
  for (const int cpu : rank.cpus) append(block, cpu);
  block.resize((block.size() + 7) / 8 * 8);
  for (const RlimitEntry& entry : rank.rlimits) append(block, entry);
  return block + strings;
}

Result<std::unique_ptr<Client>> Client::launch(io::EventLoop& loop, const std::string& program,
                                               const Namespaces& namespaces, Events events) {
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0)
    return errno_error(errno, "socketpair for lockstep-spawn");
  io::Fd ours(sockets[0]), theirs(sockets[1]);
  TRY_ASSIGN(const int pid, start_in_namespaces(program, namespaces, theirs.get()));
  std::unique_ptr<Client> client(new Client(loop, pid, std::move(events)));
  client->connect(std::move(ours));
  return client;
}

Client::Client(io::EventLoop& loop, int pid, Events events)
    : loop_(loop), pid_(pid), events_(std::move(events)) {}

std::unique_ptr<Client> Client::expect(io::EventLoop& loop, Events events) {
  return std::unique_ptr<Client>(new Client(loop, -1, std::move(events)));
}

void Client::connect(io::Fd socket) {
  link_ = Link::connected;
  socket_ = std::move(socket);
  loop_.watch(socket_.get(), io::EventLoop::Interest::read, [this] { receive(); });
  flush();
}

Client::~Client() {
  stop_watching();
  socket_.reset();
  if (pid_ <= 0) return;
  const io::Fd process(static_cast<int>(syscall(SYS_pidfd_open, pid_, 0)));
  pollfd polled{process.get(), POLLIN, 0};
  if (process) poll(&polled, 1, static_cast<int>(kSpawnEndTimeout / milliseconds(1)));
  waitpid(pid_, nullptr, WNOHANG);
}

void Client::stop_watching() {
  if (!socket_) return;
  loop_.unwatch(socket_.get(), io::EventLoop::Interest::read);
  loop_.unwatch(socket_.get(), io::EventLoop::Interest::write);
}

Status Client::start(int id, const RankProcess& rank, int stdin_fd, int stdout_fd, int stderr_fd,
                     int connection_fd, int flags) {
  const std::string block = encode(rank);
  if (block.size() > kMaxBlockBytes)
    return make_error(
        ErrorCode::invalid_argument,
        fmt::format("the arguments and environment of rank {} take {} bytes; the limit "
                    "is {}; pass large data in a file",
                    id, block.size(), kMaxBlockBytes));
  TRY_ASSIGN(const io::Fd memory, sealed(block));
  const int fds[kMaxFds] = {memory.get(), stdin_fd, stdout_fd, stderr_fd, connection_fd};
  return send({kMagic, Type::start, id, flags, 0}, fds, connection_fd < 0 ? kStartFds : kMaxFds);
}

void Client::signal(int id, int signal_number) {
  if (!send({kMagic, Type::signal, id, signal_number, 0}, nullptr, 0)) lose();
}

void Client::end(int id) {
  if (!send({kMagic, Type::end, id, 0, 0}, nullptr, 0)) lose();
}

void Client::signal_all(int signal_number) {
  if (!send({kMagic, Type::signal, kAll, signal_number, 0}, nullptr, 0)) lose();
}

void Client::warn_all(int signal_number) {
  if (!send({kMagic, Type::warn, kAll, signal_number, 0}, nullptr, 0)) lose();
}

void Client::kill_all() {
  if (!send({kMagic, Type::kill_all, kAll, 0, 0}, nullptr, 0)) lose();
}

// Keeps an order; a signal that is sent repeatedly is kept once.
Status Client::keep(const Header& header, const int* fds, int count) {
  const bool is_repeated =
      count == 0 && !kept_.empty() && kept_.back().header.type == header.type &&
      kept_.back().header.id == header.id && kept_.back().header.value == header.value;
  if (is_repeated) return {};
  Order order{header, {}};
  for (int i = 0; i < count; ++i) {
    order.fds.emplace_back(fcntl(fds[i], F_DUPFD_CLOEXEC, 0));
    if (!order.fds.back()) return errno_error(errno, "send an order to lockstep-spawn");
  }
  kept_.push_back(std::move(order));
  return {};
}

Status Client::send(const Header& header, const int* fds, int count) {
  switch (link_) {
    case Link::lost: return make_error(ErrorCode::unavailable, "lockstep-spawn is gone");
    case Link::expected: return keep(header, fds, count);
    case Link::connected: break;
  }
  if (!kept_.empty()) return keep(header, fds, count);
  TRY_ASSIGN(const Sent sent, transmit(header, fds, count));
  if (sent == Sent::yes) return {};
  loop_.watch(socket_.get(), io::EventLoop::Interest::write, [this] { flush(); });
  return keep(header, fds, count);
}

void Client::flush() {
  while (!kept_.empty()) {
    const Order& order = kept_.front();
    std::vector<int> fds;
    for (const io::Fd& fd : order.fds) fds.push_back(fd.get());
    const auto sent = transmit(order.header, fds.data(), static_cast<int>(fds.size()));
    if (!sent) return lose();
    if (*sent == Sent::not_now)
      return loop_.watch(socket_.get(), io::EventLoop::Interest::write, [this] { flush(); });
    kept_.pop_front();
  }
  loop_.unwatch(socket_.get(), io::EventLoop::Interest::write);
}

Result<Client::Sent> Client::transmit(const Header& header, const int* fds, int count) const {
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * kMaxFds)] = {};
  Header copy = header;
  iovec body{&copy, sizeof copy};
  msghdr message{};
  message.msg_iov = &body;
  message.msg_iovlen = 1;
  if (count > 0) {
    message.msg_control = control;
    message.msg_controllen = CMSG_SPACE(sizeof(int) * static_cast<std::size_t>(count));
    cmsghdr* part = CMSG_FIRSTHDR(&message);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(sizeof(int) * static_cast<std::size_t>(count));
    std::memcpy(CMSG_DATA(part), fds, sizeof(int) * static_cast<std::size_t>(count));
  }
  while (sendmsg(socket_.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
    if (errno == EAGAIN) return Sent::not_now;
    if (errno != EINTR) return errno_error(errno, "send an order to lockstep-spawn");
  }
  return Sent::yes;
}

void Client::receive() {
  while (socket_) {
    Header header;
    const ssize_t length = recv(socket_.get(), &header, sizeof header, MSG_DONTWAIT);
    if (length < 0 && errno == EINTR) continue;
    if (length < 0 && errno == EAGAIN) return;
    if (length != sizeof header || header.magic != kMagic) return lose();
    switch (header.type) {
      case Type::started: events_.started(header.id, header.value); break;
      case Type::failed:
        events_.failed(header.id, header.value, static_cast<SpawnStage>(header.stage));
        break;
      case Type::exited:
        events_.exited(header.id, header.value,
                       {std::chrono::microseconds(header.cpu_us), kibibytes(header.largest_kib)});
        break;
      case Type::empty: events_.empty(); break;
      case Type::start:
      case Type::signal:
      case Type::kill_all:
      case Type::quit:
      case Type::end:
      case Type::warn: return lose();  // only the runner sends these
    }
  }
}

void Client::lose() {
  if (link_ == Link::lost) return;
  stop_watching();
  link_ = Link::lost;
  socket_.reset();
  kept_.clear();
  events_.lost();
}

}  // namespace lockstep::spawn
