#include "runner/container/engine_program.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace lockstep::runner {
namespace {

// The program gets a session of its own and default signals: the runner ignores most.
class Attributes {
 public:
  explicit Attributes(const EngineProgram::Order& order) {
    sigset_t all, none;
    sigfillset(&all);
    sigemptyset(&none);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes,
                             POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSID);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addchdir_np(&files, order.directory.c_str());
    posix_spawn_file_actions_addopen(&files, 1, order.log.c_str(), O_WRONLY | O_CREAT | O_APPEND,
                                     0600);
    posix_spawn_file_actions_adddup2(&files, 1, 2);
  }
  ~Attributes() {
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
  }
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;

  posix_spawnattr_t attributes;
  posix_spawn_file_actions_t files;
};

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

Result<std::unique_ptr<EngineProgram>> EngineProgram::start(
    io::EventLoop& loop, const Order& order, std::function<void(int wait_status)> on_end) {
  std::vector<std::string> words = order.words, variables;
  for (const auto& [name, value] : order.variables) variables.push_back(name + "=" + value);
  const Attributes with(order);
  pid_t pid = -1;
  const int error = posix_spawn(&pid, words[0].c_str(), &with.files, &with.attributes,
                                pointers_to(words).data(), pointers_to(variables).data());
  if (error != 0) return errno_error(error, "cannot start " + words[0]);
  io::Fd process(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  if (!process) {
    const Error failed = errno_error(errno, "pidfd_open of " + words[0]);
    ::kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
    return failed;
  }
  return std::unique_ptr<EngineProgram>(
      new EngineProgram(loop, pid, std::move(process), std::move(on_end)));
}

EngineProgram::EngineProgram(io::EventLoop& loop, int pid, io::Fd process,
                             std::function<void(int)> on_end)
    : loop_(loop), pid_(pid), process_(std::move(process)), on_end_(std::move(on_end)) {
  loop_.watch(process_.get(), io::EventLoop::Interest::read, [this] { reap(); });
}

// Kills the program. After SIGKILL a process only takes long inside the kernel. Then init reaps it.
EngineProgram::~EngineProgram() {
  if (has_ended_) return;
  loop_.unwatch(process_.get(), io::EventLoop::Interest::read);
  ::kill(pid_, SIGKILL);
  pollfd polled{process_.get(), POLLIN, 0};
  poll(&polled, 1, static_cast<int>(kReapTimeout / milliseconds(1)));
  waitpid(pid_, nullptr, WNOHANG);
}

void EngineProgram::kill() {
  if (!has_ended_) ::kill(pid_, SIGKILL);
}

void EngineProgram::reap() {
  int status = 0;
  if (waitpid(pid_, &status, WNOHANG) != pid_) return;
  has_ended_ = true;
  loop_.unwatch(process_.get(), io::EventLoop::Interest::read);
  if (on_end_) std::exchange(on_end_, nullptr)(status);
}

}  // namespace lockstep::runner
