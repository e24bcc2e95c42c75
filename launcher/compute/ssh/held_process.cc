#include "launcher/compute/ssh/held_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "common/io/clock.h"
#include "common/io/process.h"

namespace lockstep::compute::ssh {
namespace {

constexpr std::size_t kMaxErrors = 4'096;
constexpr Duration kGrace = seconds(2);

std::string find(const std::string& name) {
  for (const char* folder : {"/usr/local/bin/", "/usr/bin/", "/bin/"})
    if (const std::string path = folder + name; ::access(path.c_str(), X_OK) == 0) return path;
  return "";
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> found;
  for (const std::string& text : texts) found.push_back(const_cast<char*>(text.c_str()));
  found.push_back(nullptr);
  return found;
}

std::vector<std::string> environment_with(const std::vector<std::string>& added) {
  auto variables = io::own_environment();
  for (const std::string& one : added) {
    const auto equals = one.find('=');
    variables[one.substr(0, equals)] = one.substr(equals + 1);
  }
  std::vector<std::string> all;
  for (const auto& [name, value] : variables) all.push_back(name + "=" + value);
  return all;
}

// Makes async-signal-safe calls only. ssh ends the ssh to its jump host at SIGTERM, which it could
// not do at SIGKILL.
[[noreturn]] void run_child(pid_t parent, const char* program, char* const* words,
                            char* const* environment, int errors) {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(127);
  ::setpgid(0, 0);
  const int null = ::open("/dev/null", O_RDWR);
  ::dup2(null, 0);
  ::dup2(null, 1);
  ::dup2(errors, 2);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
  ::execve(program, words, environment);
  ::_exit(127);
}

}  // namespace

Result<std::unique_ptr<HeldProcess>> HeldProcess::start(
    const std::vector<std::string>& words, const std::vector<std::string>& environment) {
  const std::string program = find(words.at(0));
  if (program.empty()) return make_error(ErrorCode::not_found, words[0] + " is not installed");
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return errno_error(errno, "make a pipe");
  io::Fd read_end(ends[0]), write_end(ends[1]);
  ::fcntl(read_end.get(), F_SETFL, O_NONBLOCK);
  const std::vector<std::string> variables = environment_with(environment);
  const std::vector<char*> argv = pointers(words), envp = pointers(variables);
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) return errno_error(errno, "start " + program);
  if (child == 0) run_child(parent, program.c_str(), argv.data(), envp.data(), write_end.get());
  ::setpgid(child, child);  // set in both processes, whichever runs first
  // The pid cannot be reused until it is reaped, even if the process has ended.
  io::Fd process(static_cast<int>(::syscall(SYS_pidfd_open, child, 0)));
  const Status opened = process ? Status() : Status(errno_error(errno, "watch " + program));
  auto held =
      std::unique_ptr<HeldProcess>(new HeldProcess(child, std::move(process), std::move(read_end)));
  if (!opened) return opened.error();
  return held;
}

HeldProcess::~HeldProcess() {
  terminate();
  if (process_) (void)wait(-1, kGrace);
  ::kill(-pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

void HeldProcess::terminate() { ::kill(-pid_, SIGTERM); }

HeldProcess::Wait HeldProcess::wait(int stop, Duration timeout) {
  io::SystemClock clock;
  const Instant end = clock.now() + timeout;
  while (!has_ended_) {
    std::array<pollfd, 3> items{
        {{process_.get(), POLLIN, 0}, {stop, POLLIN, 0}, {errors_fd_.get(), POLLIN, 0}}};
    const std::int64_t left = (end - clock.now()).count() / 1'000'000;
    if (timeout.count() >= 0 && left <= 0) return Wait::timed_out;
    ::poll(items.data(), items.size(), timeout.count() < 0 ? -1 : static_cast<int>(left + 1));
    if (items[2].revents != 0) read_errors();
    if (items[0].revents != 0) has_ended_ = true;
    if (items[1].revents != 0) return Wait::stopped;
  }
  read_errors();
  return Wait::ended;
}

void HeldProcess::read_errors() {
  std::array<char, 4'096> buffer;
  while (errors_fd_) {
    const ssize_t got = ::read(errors_fd_.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got == 0) errors_fd_.reset();
    if (got <= 0) return;
    errors_.append(buffer.data(), static_cast<std::size_t>(got));
    if (errors_.size() > kMaxErrors) errors_.erase(0, errors_.size() - kMaxErrors);
  }
}

const std::string& HeldProcess::errors() {
  read_errors();
  return errors_;
}

std::string HeldProcess::how_it_ended() const {
  siginfo_t info{};
  ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT);
  return (info.si_code == CLD_EXITED ? "with " : "by signal ") + std::to_string(info.si_status);
}

}  // namespace lockstep::compute::ssh
