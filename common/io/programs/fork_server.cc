#include "common/io/programs/fork_server.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <fmt/format.h>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "common/io/disk.h"

namespace lockstep::io {
namespace {

constexpr std::size_t kMaxOrder = 16 << 10;
constexpr int kChannelFd = 3;  // number of the channel's descriptor in a new process
constexpr int kForkAfterMs = 20;

// The first byte that a new process sends; a pid or an error follows.
constexpr char kHello = 'h';
constexpr char kFailed = 'f';

Status send_to(int socket, std::string_view bytes, int attached = -1) {
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof attached)] = {};
  iovec body{const_cast<char*>(bytes.data()), bytes.size()};
  msghdr message{};
  message.msg_iov = &body;
  message.msg_iovlen = 1;
  if (attached >= 0) {
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    cmsghdr* part = CMSG_FIRSTHDR(&message);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(sizeof attached);
    std::memcpy(CMSG_DATA(part), &attached, sizeof attached);
  }
  while (::sendmsg(socket, &message, MSG_NOSIGNAL) < 0)
    if (errno != EINTR) return errno_error(errno, "send");
  return {};
}

// "" at the end. `attached`: the descriptor that came with it.
std::string receive_from(int socket, Fd* attached = nullptr) {
  char bytes[kMaxOrder];
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))];
  iovec body{bytes, sizeof bytes};
  msghdr message{};
  message.msg_iov = &body;
  message.msg_iovlen = 1;
  message.msg_control = attached != nullptr ? control : nullptr;
  message.msg_controllen = attached != nullptr ? sizeof control : 0;
  ssize_t got = 0;
  do {
    got = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  std::string received(bytes, static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  const cmsghdr* part = got > 0 && attached != nullptr ? CMSG_FIRSTHDR(&message) : nullptr;
  if (part == nullptr || part->cmsg_type != SCM_RIGHTS) return received;
  int fd = -1;
  std::memcpy(&fd, CMSG_DATA(part), sizeof fd);
  attached->reset(fd);
  return received;
}

// ---- who orders ---------------------------------------------------------------------------------

std::string encode(const ForkOrder& order) {
  std::string bytes = order.log_path + '\0';
  for (const std::string& word : order.words) bytes += word + '\0';
  return bytes;
}

Error gone(const std::string& why) {
  return make_error(ErrorCode::unavailable, "the template process " + why);
}

// The next message of the new process; `unavailable` if none comes in time.
Result<std::string> hear(const Fd& channel, Duration timeout) {
  pollfd polled{channel.get(), POLLIN, 0};
  int ready = 0;
  do {
    ready = ::poll(&polled, 1, static_cast<int>(timeout / milliseconds(1)));
  } while (ready < 0 && errno == EINTR);
  if (ready <= 0) return gone("does not answer");
  return receive_from(channel.get());
}

Error failure(const std::string& said) { return make_error(ErrorCode::io, said.substr(1)); }

// The pid in the first message of a new process.
Result<int> pid_from(const std::string& hello) {
  if (hello.starts_with(kFailed)) return failure(hello);
  if (!hello.starts_with(kHello)) return gone("is gone");
  int pid = 0;
  std::memcpy(&pid, hello.data() + 1, std::min(sizeof pid, hello.size() - 1));
  return pid;
}

}  // namespace

Result<std::unique_ptr<ForkServer>> ForkServer::start(DetachedStart start, std::size_t longest,
                                                      Duration timeout) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    return errno_error(errno, "start " + start.program + ": socketpair");
  Fd ours(ends[0]);
  const Fd theirs(ends[1]);
  start.input = theirs.get();
  // Room for the arguments, which forked processes replace.
  start.arguments.emplace_back(longest, ' ');
  TRY_ASSIGN(const ProcessIdentity identity, start_detached(start));
  return std::unique_ptr<ForkServer>(new ForkServer(std::move(ours), identity, timeout));
}

Result<ProcessIdentity> ForkServer::fork(const ForkOrder& order) const {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    return errno_error(errno, "socketpair for a new process");
  const Fd channel(ends[0]);
  Fd theirs(ends[1]);
  const std::string bytes = encode(order);
  if (bytes.size() >= kMaxOrder)
    return make_error(ErrorCode::invalid_argument, "the command line of a new process is too long");
  if (const Status sent = send_to(socket_.get(), bytes, theirs.get()); !sent)
    return gone("does not accept requests: " + sent.error().message);
  theirs.reset();
  TRY_ASSIGN(const std::string hello, hear(channel, timeout_));
  TRY_ASSIGN(const int pid, pid_from(hello));
  // The process waits for our answer, so the pid is still its own.
  const auto identity = identify(pid);
  if (!identity || !send_to(channel.get(), "g")) return gone("is gone");
  // From here on the process runs, or reports an error.
  const std::string last = receive_from(channel.get());
  if (!last.empty()) return failure(last);
  return *identity;
}

// ---- who is forked ------------------------------------------------------------------------------

namespace {

std::optional<ForkOrder> decode(const std::string& bytes) {
  ForkOrder order;
  std::vector<std::string> words;
  for (std::size_t from = 0; from < bytes.size();) {
    const auto end = bytes.find('\0', from);
    if (end == std::string::npos) return std::nullopt;
    words.push_back(bytes.substr(from, end - from));
    from = end + 1;
  }
  if (words.size() < 2) return std::nullopt;
  order.log_path = words[0];
  order.words.assign(words.begin() + 1, words.end());
  return order;
}

[[noreturn]] void fail(const std::string& why) {
  (void)send_to(kChannelFd, kFailed + why);
  ::_exit(125);
}

// Overwrites our own arguments, which are contiguous in memory.
Status show_words(char** argv, const std::vector<std::string>& words) {
  char* end = argv[0];
  for (char** word = argv; *word != nullptr; ++word) end = *word + std::strlen(*word) + 1;
  std::string line;
  for (const std::string& word : words) line += word + '\0';
  const auto room = static_cast<std::size_t>(end - argv[0]);
  if (line.size() > room)
    return make_error(ErrorCode::invalid_argument, "no room for the command line: " + words[0]);
  line.resize(room, '\0');
  std::copy(line.begin(), line.end(), argv[0]);
  return {};
}

// Closes the server's descriptors: with its socket open, others would not notice its end.
void leave_the_server(int channel) {
  ::setsid();
  ::signal(SIGCHLD, SIG_DFL);
  if (channel != kChannelFd) ::dup3(channel, kChannelFd, O_CLOEXEC);
  ::syscall(SYS_close_range, static_cast<unsigned>(kChannelFd + 1), ~0U, 0U);
  const int null = ::open("/dev/null", O_RDONLY);
  if (null < 0 || ::dup2(null, STDIN_FILENO) < 0)
    fail("/dev/null: " + std::string(strerror(errno)));
  ::close(null);
}

void open_log(const std::string& path) {
  const int log = disk::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  if (log < 0) fail(fmt::format("cannot open the log {}: {}", path, std::strerror(errno)));
  ::dup2(log, STDOUT_FILENO);
  ::dup2(log, STDERR_FILENO);
  ::close(log);
}

void become(const ForkOrder& order, Fd channel, char** argv, const ForkHooks& hooks) {
  leave_the_server(channel.release());
  if (const Status shown = show_words(argv, order.words); !shown) fail(shown.error().message);
  if (const Status prepared = hooks.prepare(order); !prepared) fail(prepared.error().message);
  std::string hello(1, kHello);
  const int pid = ::getpid();
  hello.append(reinterpret_cast<const char*>(&pid), sizeof pid);
  if (!send_to(kChannelFd, hello) || receive_from(kChannelFd).empty()) ::_exit(125);
  open_log(order.log_path);
  ::close(kChannelFd);
}

// The process for the next order; it waits until the order comes.
class Spare {
 public:
  // Forks. In the server: returns whether the fork worked. In the new process: returns its order,
  // or ends the process.
  std::optional<ForkOrder> fork(char** argv, const ForkHooks& hooks);
  // Takes an order. False: the process has ended.
  bool take(const std::string& order, const Fd& channel) const {
    return socket_ && send_to(socket_.get(), order, channel.get()).has_value();
  }
  void end();

 private:
  Fd socket_;
  Fd process_;
};

[[noreturn]] void no_order() { ::_exit(0); }

std::optional<ForkOrder> Spare::fork(char** argv, const ForkHooks& hooks) {
  int ends[2];
  socket_.reset();
  process_.reset();
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return std::nullopt;
  Fd servers(ends[0]);
  Fd ours(ends[1]);
  const pid_t child = ::fork();
  if (child != 0) {
    if (child < 0) return std::nullopt;
    socket_ = std::move(servers);
    process_.reset(static_cast<int>(::syscall(SYS_pidfd_open, child, 0U)));
    return std::nullopt;
  }
  // Closes the server's descriptors: while its socket or the socket of an order is open here,
  // others would not notice an end.
  const int null = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (null < 0 || ::dup2(null, STDIN_FILENO) < 0) no_order();
  if (ours.get() != kChannelFd && ::dup3(ours.get(), kChannelFd, O_CLOEXEC) < 0) no_order();
  (void)ours.release();
  (void)servers.release();
  ::syscall(SYS_close_range, static_cast<unsigned>(kChannelFd + 1), ~0U, 0U);
  hooks.settle();
  Fd channel;
  const std::string bytes = receive_from(kChannelFd, &channel);
  const auto order = decode(bytes);
  if (!order || !channel) no_order();
  become(*order, std::move(channel), argv, hooks);
  return order;
}

// Waits for the end of the spare process, which ends by itself when our end closes; it may be
// joining a cgroup.
void Spare::end() {
  socket_.reset();
  pollfd ended{process_.get(), POLLIN, 0};
  if (process_) ::poll(&ended, 1, 5'000);
}

}  // namespace

std::optional<std::vector<std::string>> serve_forks(int socket, char** argv,
                                                    const ForkHooks& hooks) {
  ::signal(SIGCHLD, SIG_IGN);  // the kernel reaps our children
  Spare spare;
  if (const auto order = spare.fork(argv, hooks)) return order->words;
  while (true) {
    Fd channel;
    const std::string bytes = receive_from(socket, &channel);
    if (bytes.empty()) break;
    if (!decode(bytes) || !channel) continue;
    bool is_taken = spare.take(bytes, channel);
    if (!is_taken) {  // the process was killed by someone else
      if (const auto order = spare.fork(argv, hooks)) return order->words;
      is_taken = spare.take(bytes, channel);
    }
    if (!is_taken) (void)send_to(channel.get(), kFailed + std::string("cannot fork a process"));
    channel.reset();
    // The ordered process should start first. Nobody waits for the spare one yet.
    pollfd next{socket, POLLIN, 0};
    ::poll(&next, 1, kForkAfterMs);
    if (const auto order = spare.fork(argv, hooks)) return order->words;
  }
  spare.end();
  return std::nullopt;
}

}  // namespace lockstep::io
