#include "envs/env_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <vector>

#include "common/base/cut.h"
#include "common/base/time.h"
#include "common/domain/environment/definition.h"
#include "common/io/clock.h"
#include "common/io/file_system.h"

namespace lockstep::envs {
namespace {

constexpr Duration kKilledAfter = seconds(5);  // how long after SIGTERM the process is killed
constexpr int kLookEveryMs = 50;
constexpr std::size_t kMaxEventBytes = 2 * kMaxLockBytes + (1 << 20);
constexpr int kFirstFreeFd = 10;  // descriptors are moved out of the way of 0-4
constexpr int kCannotStart = 126;

constexpr std::string_view kUsualPath = "/usr/local/bin:/usr/bin:/bin";

struct Pipe {
  io::Fd read, write;
};

Result<Pipe> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return errno_error(errno, "make a pipe");
  Pipe pipe{io::Fd(ends[0]), io::Fd(ends[1])};
  if (::fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0) return errno_error(errno, "make a pipe");
  return pipe;
}

// The text as a file for standard input, so that nobody waits until the process reads it.
Result<io::Fd> as_file(const std::string& text) {
  io::Fd fd(static_cast<int>(::memfd_create("lockstep-env order", MFD_CLOEXEC)));
  if (!fd) return errno_error(errno, "make a file in memory");
  TRY(io::write_all(fd.get(), text));
  if (::lseek(fd.get(), 0, SEEK_SET) != 0) return errno_error(errno, "rewind a file in memory");
  return fd;
}

// The data that the child needs. It is made before the fork: after it, only async-signal-safe calls
// are allowed.
struct Start {
  std::string program;
  std::vector<std::string> variables;
  std::vector<char*> environment;
  std::vector<gid_t> groups;
  const io::User& user;
  bool changes_user = false;
  std::vector<int> cgroups = {};
  int input = -1, log = -1, events = -1, lock = -1;
};

// Uses system calls directly: glibc's functions also tell the other threads, which the child does
// not have.
bool become_user(const Start& start) {
  if (!start.changes_user) return true;
  const gid_t gid = start.user.gid;
  const uid_t uid = start.user.uid;
  return ::syscall(SYS_setgroups, start.groups.size(), start.groups.data()) == 0 &&
         ::syscall(SYS_setresgid, gid, gid, gid) == 0 &&
         ::syscall(SYS_setresuid, uid, uid, uid) == 0;
}

bool place(int from, int to) { return ::dup2(from, to) == to; }

[[noreturn]] void run_child(const Start& start) {
  // Descriptors are copied out of the way first, since one may have a number that is replaced
  // below.
  const int input = ::fcntl(start.input, F_DUPFD_CLOEXEC, kFirstFreeFd);
  const int log = ::fcntl(start.log, F_DUPFD_CLOEXEC, kFirstFreeFd);
  const int events = ::fcntl(start.events, F_DUPFD_CLOEXEC, kFirstFreeFd);
  const int lock = start.lock < 0 ? -1 : ::fcntl(start.lock, F_DUPFD_CLOEXEC, kFirstFreeFd);
  ::setsid();
  bool ready = true;
  for (const int cgroup : start.cgroups) ready = ready && ::write(cgroup, "0", 1) == 1;
  ready = ready && place(input, 0) && place(log, 1) && place(log, 2) && place(events, kEventsFd);
  if (lock >= 0) ready = ready && place(lock, kLockFd);
#ifdef SYS_close_range
  ::syscall(SYS_close_range, lock >= 0 ? kLockFd + 1 : kLockFd, ~0U, 0);
#endif
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
  char* const words[] = {const_cast<char*>("lockstep-env"), nullptr};
  if (ready && ::chdir("/") == 0 && become_user(start))
    ::execve(start.program.c_str(), words, start.environment.data());
  const char* why = std::strerror(errno);
  (void)!::write(2, why, std::strlen(why));
  (void)!::write(2, "\n", 1);
  ::_exit(kCannotStart);
}

class Running {
 public:
  Running(const EnvironmentOrder& what, pid_t pid, io::Fd log, io::Fd events)
      : what_(what), pid_(pid), log_(std::move(log)), events_(std::move(events)) {
    process_.reset(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  }
  Result<Event> to_the_end();

 private:
  void wait_for_more();
  void stop_when_told();
  bool has_ended() const;
  void read_log();
  void read_events();
  void take_line(std::string_view line);
  int reap();
  Error short_enough(Error error);
  Result<Event> result(int status);

  const EnvironmentOrder& what_;
  const pid_t pid_;
  io::Fd log_, events_, process_;
  io::SystemClock clock_;
  std::optional<Instant> kill_at_;  // set when the order to stop came
  std::string rest_;                // the beginning of an event
  std::optional<Event> last_;
  std::optional<Error> nonsense_;  // set if a line of its output is not an event
};

// Reads a stream. False: nothing more can be read now. Resets `fd` at the end of the stream.
bool read_some(io::Fd& fd, const std::function<void(std::string_view)>& take) {
  if (!fd) return false;
  char buffer[65536];
  const ssize_t got = ::read(fd.get(), buffer, sizeof buffer);
  if (got < 0) return errno == EINTR;
  if (got == 0) fd.reset();
  if (got > 0) take({buffer, static_cast<std::size_t>(got)});
  return got > 0;
}

void Running::read_log() {
  // The loop is bounded, so that a tool that prints without end does not stop us from looking at
  // the rest.
  for (int i = 0; i < 16 && read_some(log_, what_.on_log); ++i) {
  }
}

void Running::read_events() {
  while (read_some(events_, [this](std::string_view bytes) { rest_.append(bytes); })) {
    for (auto end = rest_.find('\n'); end != std::string::npos; end = rest_.find('\n')) {
      take_line(std::string_view(rest_).substr(0, end));
      rest_.erase(0, end + 1);
    }
    if (rest_.size() > kMaxEventBytes)
      nonsense_ = make_error(ErrorCode::internal, "a line too long");
    if (nonsense_) return;
  }
}

void Running::take_line(std::string_view line) {
  auto event = event_from_json(line);
  if (!event) {
    nonsense_ = event.error();
  } else if (event->is_last()) {
    last_ = *std::move(event);
  } else if (what_.on_progress) {
    what_.on_progress(event->progress);
  }
}

bool Running::has_ended() const {
  siginfo_t info{};
  return ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
         info.si_pid == pid_;
}

void Running::wait_for_more() {
  pollfd items[] = {
      {log_.get(), POLLIN, 0}, {events_.get(), POLLIN, 0}, {process_.get(), POLLIN, 0}};
  ::poll(items, 3, kLookEveryMs);
}

void Running::stop_when_told() {
  const bool go_on = what_.go_on() && !nonsense_;
  if (!go_on && !kill_at_) {
    ::kill(pid_, SIGTERM);  // the program ends its tools
    kill_at_ = clock_.now() + kKilledAfter;
  }
  if (kill_at_ && clock_.now() >= *kill_at_) ::kill(-pid_, SIGKILL);
}

int Running::reap() {
  // The pid cannot be reused until it is reaped, so the rest of its session is killed before that.
  ::kill(-pid_, SIGKILL);
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  // Killed processes may still run for a moment. When this returns, none writes into the prefix any
  // more.
  const Instant deadline = clock_.now() + kKilledAfter;
  while (::kill(-pid_, 0) == 0 && clock_.now() < deadline) ::usleep(1'000);
  return status;
}

Result<Event> Running::to_the_end() {
  while (!has_ended()) {
    wait_for_more();
    read_log();
    read_events();
    stop_when_told();
  }
  const int status = reap();
  read_events();
  while (read_some(log_, what_.on_log)) {
  }
  return result(status);
}

// Shortens an error: solvers explain hundreds of packages, and scripts print any text.
Error Running::short_enough(Error error) {
  if (error.message.size() <= kMaxErrorBytes) return error;
  what_.on_log(error.message + "\n");
  error.message = cut_middle(std::move(error.message), kMaxErrorBytes);
  return error;
}

Result<Event> Running::result(int status) {
  if (kill_at_ && !nonsense_) return make_error(ErrorCode::conflict, "stopped");
  if (nonsense_) return nonsense_->within("lockstep-env sent an invalid event");
  if (last_ && last_->failed) return short_enough(*std::move(last_->failed));
  if (last_) return *std::move(last_);
  if (WIFEXITED(status) && WEXITSTATUS(status) == kCannotStart)
    return make_error(
        ErrorCode::internal,
        fmt::format("user {} could not run {}; the reason is in the job's environment "
                    "log (if it is a lack of permission: Lockstep's programs and all "
                    "folders above them must be open to every user who runs jobs)",
                    what_.user.name, what_.program));
  const std::string how = WIFSIGNALED(status)
                              ? fmt::format("was killed by signal {}", WTERMSIG(status))
                              : fmt::format("exited with code {}", WEXITSTATUS(status));
  return make_error(ErrorCode::internal,
                    fmt::format("lockstep-env {} before it was done; its log is the job's "
                                "environment log ({}, run as {})",
                                how, what_.program, what_.user.name));
}

}  // namespace

std::map<std::string, std::string> tool_environment(const std::map<std::string, std::string>& ours,
                                                    const io::User& user,
                                                    const std::string& scratch) {
  std::map<std::string, std::string> variables;
  for (const auto& [name, value] : ours)
    if (name == "PATH" || is_tool_variable(name)) variables.emplace(name, value);
  variables.emplace("PATH", kUsualPath);
  variables["HOME"] = user.home;
  variables["USER"] = variables["LOGNAME"] = user.name;
  variables["TMPDIR"] = scratch;  // the folder is removed, so killed tools leave nothing behind
  return variables;
}

std::string find_on_path(const std::map<std::string, std::string>& environment,
                         const std::string& program) {
  if (program.find('/') != std::string::npos)
    return ::access(program.c_str(), X_OK) == 0 ? program : "";
  const auto path = environment.find("PATH");
  std::string_view rest = path == environment.end() ? kUsualPath : std::string_view(path->second);
  while (!rest.empty()) {
    const std::string_view folder = rest.substr(0, rest.find(':'));
    rest.remove_prefix(std::min(folder.size() + 1, rest.size()));
    std::string there = fmt::format("{}/{}", folder, program);
    if (folder.starts_with('/') && ::access(there.c_str(), X_OK) == 0) return there;
  }
  return "";
}

Result<Event> run_lockstep_env(const EnvironmentOrder& what) {
  TRY_ASSIGN(const io::Fd input, as_file(to_json(what.order)));
  TRY_ASSIGN(Pipe log, make_pipe());
  TRY_ASSIGN(Pipe events, make_pipe());
  Start start{what.program, {},
              {},           {what.user.groups.begin(), what.user.groups.end()},
              what.user,    ::geteuid() == 0 && what.user.uid != 0};
  for (const auto& [name, value] : what.environment) start.variables.push_back(name + "=" + value);
  for (std::string& variable : start.variables) start.environment.push_back(variable.data());
  start.environment.push_back(nullptr);
  std::vector<io::Fd> cgroups;
  for (const std::string& file : what.cgroup_procs) {
    TRY_ASSIGN(io::Fd fd, io::open_file(file, O_WRONLY));
    start.cgroups.push_back(fd.get());
    cgroups.push_back(std::move(fd));
  }
  start.input = input.get();
  start.log = log.write.get();
  start.events = events.write.get();
  start.lock = what.lock;
  const pid_t pid = ::fork();
  if (pid < 0) return errno_error(errno, "start " + what.program);
  if (pid == 0) run_child(start);
  log.write.reset();
  events.write.reset();
  return Running(what, pid, std::move(log.read), std::move(events.read)).to_the_end();
}

}  // namespace lockstep::envs
