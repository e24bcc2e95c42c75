#include "common/io/programs/child_program.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace lockstep::io {
namespace {

constexpr int kLastWaitMs = 1'000;

struct Pipe {
  Fd read, write;
};
Result<Pipe> make_output_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return errno_error(errno, "make a pipe");
  Pipe pipe{Fd(ends[0]), Fd(ends[1])};
  ::fcntl(pipe.read.get(), F_SETFL, O_NONBLOCK);
  return pipe;
}

// The data that the child needs, prepared before the fork.
struct ChildPlan {
  std::vector<char*> words;  // ends with a null
  std::string refusal;       // the error if the program cannot be executed, before strerror's text
  int input, output, errors;
  int parent;
};

// Makes async-signal-safe calls only: other threads may have held any lock at the fork.
[[noreturn]] void become_program(const ChildPlan& plan) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != plan.parent) ::_exit(127);  // the parent ended before the line above
  struct sigaction action {};
  action.sa_handler = SIG_DFL;
  for (int signal = 1; signal < NSIG; ++signal) ::sigaction(signal, &action, nullptr);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::umask(077);
  ::dup2(plan.input >= 0 ? plan.input : ::open("/dev/null", O_RDONLY), 0);
  ::dup2(plan.output, 1);
  ::dup2(plan.errors, 2);
  ::syscall(SYS_close_range, 3U, ~0U, 4U /* CLOSE_RANGE_CLOEXEC */);
  if (::chdir("/") == 0) ::execve(plan.words[0], plan.words.data(), environ);
  const char* const why = ::strerrordesc_np(errno);
  [[maybe_unused]] auto sent = ::write(2, plan.refusal.data(), plan.refusal.size());
  if (why != nullptr) sent = ::write(2, why, ::strlen(why));
  ::_exit(127);
}

}  // namespace

Result<ChildProgram> ChildProgram::start(const std::vector<std::string>& words, int input) {
  TRY_ASSIGN(Pipe output, make_output_pipe());
  TRY_ASSIGN(Pipe errors, make_output_pipe());
  ChildPlan plan{{},
                 "cannot execute " + words.at(0) + ": ",
                 input,
                 output.write.get(),
                 errors.write.get(),
                 ::getpid()};
  for (const std::string& word : words) plan.words.push_back(const_cast<char*>(word.c_str()));
  plan.words.push_back(nullptr);
  const pid_t child = ::fork();
  if (child < 0) return errno_error(errno, "start " + words[0]);
  if (child == 0) become_program(plan);
  ::setpgid(child, child);  // set in both processes, so that the group exists whichever runs first
  Fd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, child, 0)));
  ChildProgram program(child, std::move(pidfd), std::move(output.read), std::move(errors.read));
  if (!program.pidfd_) return errno_error(errno, "watch " + words[0]);
  return program;
}

ChildProgram::ChildProgram(ChildProgram&& other) noexcept
    : pid_(std::exchange(other.pid_, 0)),
      pidfd_(std::move(other.pidfd_)),
      output_(std::move(other.output_)),
      errors_(std::move(other.errors_)) {}

ChildProgram::~ChildProgram() {
  if (pid_ == 0) return;
  signal(SIGKILL);
  pollfd item{pidfd_.get(), POLLIN, 0};
  ::poll(&item, 1, kLastWaitMs);
  (void)reap();
}

void ChildProgram::signal(int signal) {
  if (pid_ != 0) ::kill(-pid_, signal);
}

std::optional<ChildProgram::End> ChildProgram::reap() {
  siginfo_t info{};
  if (pid_ == 0 ||
      ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
      info.si_pid == 0)
    return std::nullopt;
  signal(SIGKILL);  // the pid is still reserved here
  int status = 0;
  ::waitpid(pid_, &status, WNOHANG);
  pid_ = 0;
  if (WIFSIGNALED(status)) return End{0, WTERMSIG(status)};
  return End{WEXITSTATUS(status), 0};
}

}  // namespace lockstep::io
