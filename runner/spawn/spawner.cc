#include "runner/spawn/spawner.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "runner/spawn/keeper.h"
#include "runner/spawn/rank_process.h"
#include "runner/spawn/start_block.h"
#include "runner/spawn/sweep.h"

namespace lockstep::spawn {
namespace {

Header exit_of(int id, int status, const rusage& used) {
  const auto us = [](const timeval& time) {
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000 +
           static_cast<std::uint64_t>(time.tv_usec);
  };
  return {kMagic,
          Type::exited,
          id,
          status,
          0,
          static_cast<std::uint32_t>(used.ru_maxrss),
          us(used.ru_utime) + us(used.ru_stime)};
}

void close_both(const int (&fds)[2]) {
  for (const int fd : fds)
    if (fd >= 0) close(fd);
}

}  // namespace

Spawner::Spawner(int socket) : socket_(socket) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGCHLD);
  sigprocmask(SIG_BLOCK, &set, nullptr);
  child_signals_ = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

int Spawner::run() {
  while (true) {
    std::vector<pollfd> polled{{open_ ? socket_ : -1, POLLIN, 0}, {child_signals_, POLLIN, 0}};
    std::vector<int> starting;
    for (const Rank& rank : ranks_)
      if (rank.error_fd >= 0) {
        polled.push_back({rank.error_fd, POLLIN, 0});
        starting.push_back(rank.pid);
      }
    // While killing, it looks without a signal, too: a new child may have come in between.
    const int timeout_ms = !killing_ ? -1 : kill_rounds_ < 10 ? 1 : 20;
    if (poll(polled.data(), polled.size(), timeout_ms) < 0 && errno != EINTR) return 1;
    for (std::size_t i = 2; i < polled.size(); ++i)
      if (polled[i].revents != 0)
        for (Rank& rank : ranks_)
          if (rank.pid == starting[i - 2]) finish_start(rank);
    signalfd_siginfo ignored;
    while (read(child_signals_, &ignored, sizeof ignored) > 0) {
    }
    reap();
    if (open_ && polled[0].revents != 0) receive();
    if (killing_) pursue_kill();
    if (quitting_ && !killing_) return 0;
  }
}

void Spawner::receive() {
  Header header;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * kMaxFds)];
  iovec body{&header, sizeof header};
  msghdr message{};
  message.msg_iov = &body;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  const ssize_t length = recvmsg(socket_, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
  if (length < 0 && (errno == EAGAIN || errno == EINTR)) return;
  // The socket is closed, or the sender is not our runner.
  if (length != sizeof header || header.magic != kMagic) {
    open_ = false;
    killing_ = quitting_ = true;
    return;
  }
  int fds[kMaxFds] = {-1, -1, -1, -1, -1};
  for (cmsghdr* c = CMSG_FIRSTHDR(&message); c != nullptr; c = CMSG_NXTHDR(&message, c))
    if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS &&
        c->cmsg_len <= CMSG_LEN(sizeof fds))
      std::memcpy(fds, CMSG_DATA(c), c->cmsg_len - CMSG_LEN(0));
  carry_out(header, fds);
  for (const int fd : fds)
    if (fd >= 0) close(fd);
}

void Spawner::carry_out(const Header& header, int (&fds)[kMaxFds]) {
  switch (header.type) {
    case Type::start: start(header.id, header.value, fds); break;
    case Type::signal: signal_ranks(header.id, header.value); break;
    case Type::warn: warn_ranks(header.value); break;
    case Type::end: end_kept(header.id); break;
    case Type::kill_all:
      killing_ = true;
      kill_rounds_ = 0;
      break;
    case Type::quit:
      killing_ = quitting_ = true;
      kill_rounds_ = 0;
      break;
    case Type::started:
    case Type::failed:
    case Type::exited:
    case Type::empty: break;  // only this program sends these
  }
}

void Spawner::start(int id, int flags, int (&fds)[kMaxFds]) {
  MappedBlock block;
  int error = fds[kStartFds - 1] < 0 ? EBADMSG : block.map(fds[0]);
  int pipe_fds[2], keeper_fds[2] = {-1, -1};
  if (error == 0 && killing_) error = ECANCELED;
  if (error == 0 && (flags & kKept) != 0 && pipe2(keeper_fds, O_CLOEXEC | O_NONBLOCK) != 0)
    error = errno;
  if (error == 0 && pipe2(pipe_fds, O_CLOEXEC) != 0) {
    error = errno;
    close_both(keeper_fds);
  }
  if (error != 0) return send(Type::failed, id, error, static_cast<int>(SpawnStage::fork));
  const Place place{getpid(), getpid(), (flags & kTerminal) != 0};
  // Signals are blocked until the rank execs: a SIGTERM in between must reach the rank, although
  // this process ignores its own.
  sigset_t all, before;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, &before);
  const pid_t pid = fork();
  if (pid == 0 && (flags & kKept) != 0) keep(block, fds + 1, {pipe_fds[1], keeper_fds[1]}, place);
  if (pid == 0) become_rank(block, fds + 1, fds[kStartFds], pipe_fds[1], place);
  error = errno;
  sigprocmask(SIG_SETMASK, &before, nullptr);
  close(pipe_fds[1]);
  if (pid < 0) {
    close(pipe_fds[0]);
    close_both(keeper_fds);
    return send(Type::failed, id, error, static_cast<int>(SpawnStage::fork));
  }
  if (keeper_fds[1] >= 0) close(keeper_fds[1]);
  ranks_.push_back({id, pid, pipe_fds[0], false, keeper_fds[0], 0});
}

// The error pipe is readable: it holds a StartFailure, or exec has closed it.
void Spawner::finish_start(Rank& rank) {
  StartFailure failure;
  const ssize_t length = read(rank.error_fd, &failure, sizeof failure);
  if (length < 0 && errno == EINTR) return;
  close(rank.error_fd);
  rank.error_fd = -1;
  rank.failed = length == sizeof failure;
  // A keeper writes the program's pid before it closes its end of the error pipe.
  int program = 0;
  if (rank.is_kept() && read(rank.keeper_fd, &program, sizeof program) == sizeof program)
    rank.program = program;
  if (rank.failed)
    send(Type::failed, rank.id, failure.error, failure.stage);
  else
    send(Type::started, rank.id, rank.is_kept() ? rank.program : rank.pid);
}

void Spawner::signal_rank(const Rank& rank, int signal_number) {
  if (!rank.is_kept()) {
    // Before the child calls setsid the group does not exist, so only the process gets the signal.
    if (kill(-rank.pid, signal_number) != 0) kill(rank.pid, signal_number);
    return;
  }
  const int group = rank.program > 0 ? group_to_signal(rank.program, rank.pid) : -1;
  if (group > 0) kill(-group, signal_number);
}

void Spawner::signal_ranks(int id, int signal_number) {
  for (const Rank& rank : ranks_)
    if (id == kAll ? !rank.is_kept() : rank.id == id) signal_rank(rank, signal_number);
}

void Spawner::end_kept(int id) {
  for (const Rank& rank : ranks_)
    if (rank.id == id && rank.is_kept()) kill(rank.pid, kEndKeeper);
}

// Sends the signal to programs that handle it alone: it would end others, such as a shell that
// waits for the program.
void Spawner::warn_ranks(int signal_number) {
  for (const Rank& rank : ranks_)
    if (!rank.is_kept())
      for (const int pid : handlers_in_group(rank.pid, signal_number)) kill(pid, signal_number);
}

void Spawner::reap() {
  while (true) {
    int status = 0;
    rusage used{};
    const pid_t pid = wait4(-1, &status, WNOHANG, &used);
    if (pid <= 0) return;
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
      if (ranks_[i].pid != pid) continue;
      if (ranks_[i].error_fd >= 0) finish_start(ranks_[i]);
      if (ranks_[i].is_kept()) {  // a killed keeper reports nothing, so its own status counts
        int told = 0;
        if (read(ranks_[i].keeper_fd, &told, sizeof told) == sizeof told) status = told;
        close(ranks_[i].keeper_fd);
      }
      if (!ranks_[i].failed) send(exit_of(ranks_[i].id, status, used));
      ranks_.erase(ranks_.begin() + static_cast<std::ptrdiff_t>(i));
      break;
    }
  }
}

bool Spawner::children_left() const {
  siginfo_t info;
  return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 || errno != ECHILD;
}

void Spawner::kill_each() {
  for (const Rank& rank : ranks_) {
    signal_rank(rank, SIGKILL);
    if (rank.is_kept()) kill(rank.pid, SIGKILL);
  }
}

// Kills the ranks' process groups first, which is cheap and mostly enough; then what /proc still
// shows.
void Spawner::pursue_kill() {
  if (children_left()) {
    if (kill_rounds_++ == 0)
      kill_each();
    else
      kill_descendants();
    reap();
    if (children_left()) return;
  }
  killing_ = false;
  if (open_) send(Type::empty, kAll, 0);
}

void Spawner::send(Type type, int id, int value, int stage) {
  send({kMagic, type, id, value, stage, 0, 0});
}

void Spawner::send(const Header& header) {
  if (!open_) return;
  while (::send(socket_, &header, sizeof header, MSG_NOSIGNAL) < 0) {
    if (errno == EINTR) continue;
    open_ = false;
    killing_ = quitting_ = true;
    return;
  }
}

}  // namespace lockstep::spawn
