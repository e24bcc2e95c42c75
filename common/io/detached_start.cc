// start_detached() of common/io/process.h. Between fork and exec only async-signal-safe calls are
// made, because ZeroMQ's threads may hold any lock at the fork.

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>
#include <algorithm>
#include <cerrno>

#include "common/io/process.h"

namespace lockstep::io {
namespace {

// The data that the child needs, prepared before the fork.
struct Prepared {
  std::string program, directory, log_path;
  int input = -1;
  std::vector<std::string> environment;
  std::vector<char*> argv, envp;
};

enum class Stage : int { fork, log, directory, exec };
struct Failure {
  Stage stage;
  int error;
};

const char* to_words(Stage stage) {
  switch (stage) {
    case Stage::fork: return "fork";
    case Stage::log: return "open its log";
    case Stage::directory: return "change to its directory";
    case Stage::exec: return "execute it";
  }
  return "start it";
}

[[noreturn]] void fail(int channel, Stage stage) {
  const Failure failure{stage, errno};
  [[maybe_unused]] const auto sent = ::write(channel, &failure, sizeof failure);
  ::_exit(127);
}

void reset_signals() {
  struct sigaction action {};
  action.sa_handler = SIG_DFL;
  for (int signal = 1; signal < NSIG; ++signal) ::sigaction(signal, &action, nullptr);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

[[noreturn]] void run_grandchild(const Prepared& prepared, int channel) {
  // The parent records our start time first, so that it can identify us even if we end at once.
  char go = 0;
  if (::read(channel, &go, 1) != 1) ::_exit(127);
  ::umask(022);
  const int input = prepared.input >= 0 ? prepared.input : ::open("/dev/null", O_RDONLY);
  const int output = ::open(prepared.log_path.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  if (input < 0 || output < 0) fail(channel, Stage::log);
  ::dup2(input, 0);
  ::dup2(output, 1);
  ::dup2(output, 2);
  if (::chdir(prepared.directory.c_str()) != 0) fail(channel, Stage::directory);
  ::syscall(SYS_close_range, 3U, ~0U, 4U /* CLOSE_RANGE_CLOEXEC */);
  ::execve(prepared.program.c_str(), prepared.argv.data(), prepared.envp.data());
  fail(channel, Stage::exec);
}

[[noreturn]] void run_child(const Prepared& prepared, int channel, int parents_end) {
  ::close(parents_end);
  ::setsid();
  reset_signals();
  const pid_t grandchild = ::fork();
  if (grandchild < 0) fail(channel, Stage::fork);
  if (grandchild == 0) run_grandchild(prepared, channel);
  const int pid = grandchild;
  [[maybe_unused]] const auto sent = ::write(channel, &pid, sizeof pid);
  ::_exit(0);
}

Prepared prepare(const DetachedStart& start, std::vector<std::string>& arguments) {
  Prepared prepared;
  prepared.program = start.program;
  prepared.directory = start.directory;
  prepared.input = start.input;
  prepared.log_path = start.log_path.empty() ? "/dev/null" : start.log_path;
  for (const auto& [name, value] : start.environment) {
    prepared.environment.push_back(name + "=" + value);
  }
  for (std::string& word : arguments) prepared.argv.push_back(word.data());
  for (std::string& entry : prepared.environment) prepared.envp.push_back(entry.data());
  prepared.argv.push_back(nullptr);
  prepared.envp.push_back(nullptr);
  return prepared;
}

ssize_t read_again(int fd, void* data, std::size_t size) {
  ssize_t got = 0;
  do {
    got = ::read(fd, data, size);
  } while (got < 0 && errno == EINTR);
  return got;
}

Error failed(const DetachedStart& start, const Failure& failure) {
  std::string on = start.program;
  if (failure.stage == Stage::log) on += " (" + start.log_path + ")";
  if (failure.stage == Stage::directory) on += " (" + start.directory + ")";
  return errno_error(failure.error,
                     fmt::format("start {}: cannot {}", on, to_words(failure.stage)));
}

}  // namespace

Result<ProcessIdentity> start_detached(const DetachedStart& start) {
  std::vector<std::string> arguments = start.arguments;
  const Prepared prepared = prepare(start, arguments);
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return errno_error(errno, "start " + start.program + ": socketpair");
  }
  Fd ours(ends[0]);
  Fd theirs(ends[1]);
  const pid_t child = ::fork();
  if (child < 0) return failed(start, {Stage::fork, errno});
  if (child == 0) run_child(prepared, theirs.get(), ours.get());
  theirs.reset();
  while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  int pid = 0;
  Failure failure{Stage::fork, EAGAIN};
  // The child sends a pid (4 bytes) or a failure (8 bytes); we answer "go" only to a pid.
  char first[sizeof failure];
  const ssize_t got = read_again(ours.get(), first, sizeof first);
  if (got == sizeof failure)
    std::copy(first, first + sizeof first, reinterpret_cast<char*>(&failure));
  if (got != sizeof pid) return failed(start, failure);
  std::copy(first, first + sizeof pid, reinterpret_cast<char*>(&pid));
  const auto identity = identify(pid);
  const char go = 1;
  if (!identity || ::send(ours.get(), &go, 1, MSG_NOSIGNAL) != 1) return failed(start, failure);
  // End of file: exec has closed the other end.
  if (read_again(ours.get(), &failure, sizeof failure) > 0) return failed(start, failure);
  return *identity;
}

}  // namespace lockstep::io
