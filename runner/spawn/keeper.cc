#include "runner/spawn/keeper.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>

#include "runner/spawn/sweep.h"

namespace lockstep::spawn {
namespace {

static_assert(kEndKeeper == SIGTERM);

// How long processes have that are left when the program has ended.
constexpr long long kGraceMs = 500;
constexpr int kQuickRounds = 10;

long long now_ms() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000LL + now.tv_nsec / 1'000'000;
}

// Closes all descriptors but two. Otherwise readers of pipes that were open at the fork would not
// see their ends.
void close_all_but(int one, int other) {
  const auto low = static_cast<unsigned>(one < other ? one : other);
  const auto high = static_cast<unsigned>(one < other ? other : one);
  if (low > 3) close_range(3, low - 1, 0);
  if (high > low + 1) close_range(low + 1, high - 1, 0);
  close_range(high + 1, ~0U, 0);
}

// Lets an attached program be killed before the rank when memory is short. It uses small pages
// only: Linux frees the huge pages of a killed process only after it has chosen the next one to
// kill.
void be_first_to_go() {
  prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
  const int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (fd < 0) return;
  [[maybe_unused]] const ssize_t written = write(fd, "1000", 4);
  close(fd);
}

class Keeper {
 public:
  Keeper(int program, int signals) : program_(program), signals_(signals) {}
  // Runs until no process is left; returns the program's wait status.
  int run() {
    while (!reap()) {
      if (must_kill()) kill_descendants();
      wait();
    }
    return status_;
  }

 private:
  // Reaps ended processes. True: no process is left.
  bool reap() {
    while (true) {
      int status = 0;
      const pid_t pid = waitpid(-1, &status, WNOHANG);
      if (pid < 0 && errno == EINTR) continue;
      if (pid <= 0) return pid < 0;
      if (pid != program_) continue;
      status_ = status;
      kill_at_ = now_ms() + kGraceMs;
    }
  }
  bool must_kill() const { return is_ordered_ || (kill_at_ >= 0 && now_ms() >= kill_at_); }
  // Looks without a signal, too, while it kills: a new child may have come in between.
  void wait() {
    long long timeout = -1;
    if (must_kill())
      timeout = ++rounds_ < kQuickRounds ? 1 : 20;
    else if (kill_at_ >= 0)
      timeout = kill_at_ - now_ms();
    pollfd polled{signals_, POLLIN, 0};
    poll(&polled, 1, static_cast<int>(timeout));
    signalfd_siginfo info;
    while (read(signals_, &info, sizeof info) == sizeof info)
      if (info.ssi_signo == kEndKeeper) is_ordered_ = true;
  }

  const int program_, signals_;
  int status_ = 0;
  long long kill_at_ = -1;  // -1 while the program runs
  bool is_ordered_ = false;
  int rounds_ = 0;
};

}  // namespace

void keep(const MappedBlock& block, const int stdio[3], const KeeperPipes& pipes,
          const Place& place) {
  prctl(PR_SET_NAME, "lockstep-keeper");
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != place.parent) _exit(127);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGCHLD);
  sigaddset(&set, kEndKeeper);
  const int signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  if (signals < 0 || prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) fail(pipes.error, SpawnStage::fork);
  const int keeper = getpid();
  const pid_t program = fork();
  if (program == 0) {
    be_first_to_go();
    become_rank(block, stdio, -1, pipes.error, {keeper, place.spawn, place.terminal});
  }
  if (program < 0) fail(pipes.error, SpawnStage::fork);
  [[maybe_unused]] ssize_t written = write(pipes.keeper, &program, sizeof program);
  close_all_but(pipes.keeper, signals);  // closes the error pipe, too
  const int status = Keeper(program, signals).run();
  written = write(pipes.keeper, &status, sizeof status);
  _exit(0);
}

}  // namespace lockstep::spawn
