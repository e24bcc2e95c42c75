#include "launcher/compute/ssh/hold.h"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <semaphore>
#include <thread>

#include "common/io/clock.h"
#include "launcher/compute/ssh/tunnel.h"

namespace lockstep::compute::ssh {
namespace {

constexpr int kConnectAtOnce = 16;
constexpr Duration kFirstPause = seconds(1);
constexpr Duration kLongestPause = seconds(60);
constexpr Duration kLongUp = minutes(1);
// The launcher treats a node as lost after 10 seconds of silence.
constexpr Duration kSilence = seconds(6);

using Slots = std::counting_semaphore<kConnectAtOnce>;

// The data that all threads share; `stop` becomes readable when they must end.
struct Shared {
  const Call& call;
  Events& events;
  Slots& slots;
  int stop = -1;
};

bool is_readable(int fd, Duration timeout) {
  pollfd item{fd, POLLIN, 0};
  return ::poll(&item, 1, static_cast<int>(timeout.count() / 1'000'000)) > 0;
}

sigset_t ending_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&set, number);
  return set;
}

// The tunnel of one machine; `run` is its thread.
class Held {
 public:
  Held(const Host& host, std::unique_ptr<Client> client, const Shared& shared)
      : host_(host),
        client_(std::move(client)),
        shared_(shared),
        install_(install_of(shared.call, host)) {}

  void run();
  // Called by another thread: ends a wait of `run` on this connection.
  void interrupt() { client_->interrupt(); }

 private:
  std::optional<Failed> keep();
  tl::expected<int, Failed> open();
  bool take_slot();
  bool stopped(Duration timeout = {}) const { return is_readable(shared_.stop, timeout); }
  void warn(const Failed& failed, Duration pause);

  const Host& host_;
  const std::unique_ptr<Client> client_;
  const Shared& shared_;
  const Install install_;
  std::optional<Instant> up_since_;
  std::string told_;  // the last warning since the tunnel came up
  io::SystemClock clock_;
};

void Held::run() {
  Backoff backoff;
  while (!stopped()) {
    // The lock is needed, since `create` also opens the tunnel, while the agent joins.
    auto lock = lock_tunnel(shared_.call.request.state, host_.name);
    if (lock && !*lock) {
      (void)stopped(kFirstPause);
      continue;
    }
    up_since_.reset();
    const auto broken = keep();
    client_->disconnect();
    if (stopped() || !broken) return;
    const Duration pause = backoff.next(up_since_ ? clock_.now() - *up_since_ : Duration{});
    warn(*broken, pause);
    lock = make_error(ErrorCode::internal, "");  // releases the lock
    (void)stopped(pause);
  }
}

// Keeps the tunnel until it has ended. nullopt: the tunnel is not needed, or not any more.
std::optional<Failed> Held::keep() {
  if (!take_slot()) return std::nullopt;
  const auto port = open();
  shared_.slots.release();
  if (!port) return port.error();
  if (*port == 0) {
    shared_.events.machine(host_.name, "running", {{"tunnel", false}});
    return std::nullopt;
  }
  up_since_ = clock_.now();
  told_.clear();
  shared_.events.machine(host_.name, "running",
                         {{"tunnel", true}, {"tunnel_port", std::to_string(*port)}});
  return client_->wait_until_ended("tunnel", shared_.stop);
}

tl::expected<int, Failed> Held::open() {
  if (auto connected = client_->connect("tunnel", shared_.stop); !connected)
    return tl::unexpected(connected.error());
  return open_tunnel(*client_, install_, *shared_.call.request.local, false);
}

bool Held::take_slot() {
  while (!stopped())
    if (shared_.slots.try_acquire_for(std::chrono::milliseconds(200))) return true;
  return false;
}

void Held::warn(const Failed& failed, Duration pause) {
  if (failed.message == told_) return;
  told_ = failed.message;
  shared_.events.warning(
      host_.name, "tunnel",
      fmt::format("the tunnel is down: {}; the next try is in {}, then ever less "
                  "often, at least once a minute",
                  failed.message, format_duration(pause)));
}

// Returns at the end of standard input, or at a signal.
void wait_for_the_end(int signals) {
  std::array<pollfd, 2> items{{{STDIN_FILENO, POLLIN, 0}, {signals, POLLIN, 0}}};
  for (;;) {
    if (::poll(items.data(), items.size(), -1) < 0) continue;
    if (items[1].revents != 0) return;
    std::array<char, 4'096> ignored;
    if (items[0].revents == 0) continue;
    const ssize_t got = ::read(STDIN_FILENO, ignored.data(), ignored.size());
    if (got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN)) return;
  }
}

}  // namespace

Duration Backoff::next(Duration was_up) {
  if (was_up >= kLongUp) pause_ = {};
  pause_ = std::clamp(pause_ * 2, kFirstPause, kLongestPause);
  return pause_;
}

Status hold(const Call& call, const std::vector<Holding>& machines, Events& events) {
  const sigset_t signals = ending_signals();
  // Signals are blocked here, because threads inherit the mask.
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  const io::Fd signal_fd(::signalfd(-1, &signals, SFD_CLOEXEC));
  const io::Fd stop(::eventfd(0, EFD_CLOEXEC));
  if (!signal_fd || !stop) return errno_error(errno, "make an event descriptor");
  Slots slots(kConnectAtOnce);
  const Shared shared{call, events, slots, stop.get()};
  std::vector<std::unique_ptr<Held>> held;
  for (const Holding& machine : machines) {
    TRY_ASSIGN(auto client, Client::open(machine.host, machine.files, kSilence));
    held.push_back(std::make_unique<Held>(machine.host, std::move(client), shared));
  }
  std::vector<std::jthread> threads;
  for (const auto& machine : held) threads.emplace_back([&] { machine->run(); });
  wait_for_the_end(signal_fd.get());
  const std::uint64_t one = 1;
  (void)!::write(stop.get(), &one, sizeof one);
  for (const auto& machine : held) machine->interrupt();
  return {};
}

int run_guarded(const std::function<int()>& work) {
  sigset_t signals = ending_signals(), before;
  sigaddset(&signals, SIGCHLD);
  ::pthread_sigmask(SIG_BLOCK, &signals, &before);
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) return 1;
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    std::exit(::getppid() == parent ? work() : 1);
  }
  for (int status = 0;;) {
    const int number = ::sigwaitinfo(&signals, nullptr);
    if (number > 0 && number != SIGCHLD) ::kill(child, number);
    if (::waitpid(child, &status, WNOHANG) != child) continue;
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }
}

}  // namespace lockstep::compute::ssh
