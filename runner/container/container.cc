#include "runner/container/container.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <sstream>
#include <utility>
#include <vector>

#include "common/base/utf8.h"
#include "common/io/beneath.h"
#include "common/io/clock.h"
#include "common/io/file_system.h"
#include "common/io/net/framed_socket.h"
#include "runner/container/arguments.h"
#include "runner/container/hosts.h"
#include "runner/container/refusal.h"

namespace lockstep::runner {
namespace {

constexpr std::size_t kLastWords = 2000;
constexpr std::size_t kMostSaid = 64 << 10;
constexpr Bytes kMostLog = mebibytes(16);

// Makes a home. Ownership is given when all folders are made, the deepest first: until then nobody
// else can rename them.
Status make_home(const std::string& home, const std::vector<std::string>& folders,
                 const io::User& owner) {
  const auto slash = home.rfind('/');
  TRY_ASSIGN(const io::Folder attempt, io::Folder::open(home.substr(0, slash)));
  TRY(attempt.remove(home.substr(slash + 1)));
  bool is_new = false;
  std::vector<io::Folder> made;
  TRY_ASSIGN(io::Folder top, attempt.make(home.substr(slash + 1), is_new));
  made.push_back(std::move(top));
  for (const std::string& folder : folders) {  // parents come before the folders in them
    const auto end = folder.rfind('/');
    TRY_ASSIGN(const io::Folder in,
               made[0].enter(end == folder.npos ? "." : folder.substr(0, end)));
    TRY_ASSIGN(io::Folder inner, in.make(folder.substr(end + 1), is_new));
    made.push_back(std::move(inner));
  }
  if (geteuid() != 0 || owner.uid == 0) return {};
  for (auto folder = made.rbegin(); folder != made.rend(); ++folder)
    TRY(folder->give({owner.uid, owner.gid}, 0700));
  return {};
}

std::string how_it_ended(int wait_status) {
  if (WIFSIGNALED(wait_status)) return fmt::format("signal {}", WTERMSIG(wait_status));
  return fmt::format("exit code {}", WEXITSTATUS(wait_status));
}

// The engine's output as one line, without its usage text.
std::string joined(const std::string& text) {
  std::string all;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const bool is_advice =
        line.starts_with("See '") || line.starts_with("Run '") || line.starts_with("Usage: ");
    if (is_advice || line.find_first_not_of(" \t\r") == line.npos) continue;
    all += (all.empty() ? "" : " ") + line;
  }
  return all;
}

}  // namespace

ContainerProcess::ContainerProcess(io::EventLoop& loop, ContainerPlan plan,
                                   const io::AttemptDir& directory, const io::User& run_as,
                                   Events events)
    : loop_(loop),
      plan_(std::move(plan)),
      directory_(directory),
      run_as_(run_as),
      events_(std::move(events)),
      connect_by_(io::SystemClock().now() + kContainerTimeout) {}

ContainerProcess::~ContainerProcess() { stop_listening(); }

Result<std::unique_ptr<ContainerProcess>> ContainerProcess::start(io::EventLoop& loop,
                                                                  ContainerPlan plan,
                                                                  const io::AttemptDir& directory,
                                                                  const io::User& run_as,
                                                                  Events events) {
  std::unique_ptr<ContainerProcess> container(
      new ContainerProcess(loop, std::move(plan), directory, run_as, std::move(events)));
  TRY(container->make_places());
  TRY(container->listen());
  TRY(container->run());
  return container;
}

Status ContainerProcess::make_places() {
  TRY(io::make_directories(directory_.container(), 0711));
  TRY(name_gang({}));
  if (!plan_.variables_file.empty())
    TRY(io::write_file_atomically(plan_.variables_file, env_file_text(plan_.variables), 0600,
                                  false));
  const auto is_home = [&](const Mount& mount) { return mount.source == directory_.home(); };
  if (std::none_of(plan_.mounts.begin(), plan_.mounts.end(), is_home)) return {};
  return make_home(directory_.home(), folders_in_home(plan_, directory_.home()), run_as_);
}

// Listens on the socket. Only the runner can write to the folder. Any process that reaches the
// socket may connect, and its uid is checked.
Status ContainerProcess::listen() {
  TRY_ASSIGN(listener_,
             io::listen_unix(directory_.container(), plan_.socket, 0666, SOCK_SEQPACKET));
  loop_.watch(listener_.get(), io::EventLoop::Interest::read, [this] { accept(); });
  return {};
}

Status ContainerProcess::run() {
  ContainerPlan shown = plan_;
  shown.arguments.clear();  // arguments may hold secrets
  spdlog::info("{}", fmt::join(run_words(shown), " "));
  TRY_ASSIGN(running_, EngineProgram::start(loop_, order(run_words(plan_)),
                                            [this](int status) { ended(status); }));
  return {};
}

EngineProgram::Order ContainerProcess::order(std::vector<std::string> words) const {
  return {std::move(words), plan_.container.variables, directory_.container_log(),
          directory_.path()};
}

void ContainerProcess::accept() {
  auto socket = io::accept_unix(listener_.get());
  if (!socket) return;
  ucred peer{};
  socklen_t size = sizeof peer;
  getsockopt(socket->get(), SOL_SOCKET, SO_PEERCRED, &peer, &size);
  if (peer.uid != run_as_.uid) {
    refused_peer_ = fmt::format(
        "a process of uid {} connected instead of one of uid {}: does the engine map users "
        "(userns-remap)? ",
        peer.uid, run_as_.uid);
    spdlog::warn("{}", refused_peer_);
    return;
  }
  fcntl(socket->get(), F_SETFL, 0);
  stop_listening();
  state_ = State::connected;
  spawn_pid_ = peer.pid;
  tell_pid();
  if (plan_.memory) memory_ = MemoryEvents::of(peer.pid);
  if (plan_.memory && !memory_) spdlog::warn("cannot find the container's cgroup");
  pids_ = PidsEvents::of(peer.pid);
  events_.connected(*std::move(socket));
}

// Writes the container's pid. Its processes are not descendants of the runner; the agent finds them
// by this file.
void ContainerProcess::tell_pid() const {
  // There is no identity if the engine's processes are not visible.
  const auto identity = io::identify(spawn_pid_);
  if (!identity) return;
  const Status told =
      io::write_file_atomically(directory_.container_pid(), io::to_text(*identity), 0644, false);
  if (!told) spdlog::warn("{}", told.error().message);
}

void ContainerProcess::ended(int wait_status) {
  spdlog::info("the container ended: {}", how_it_ended(wait_status));
  if (state_ != State::starting) return;
  const std::string end = fmt::format("{} ended with {}: {}{}", plan_.container.engine,
                                      how_it_ended(wait_status), refused_peer_, last_words());
  if (is_refused(wait_status))
    fail(Cause::environment_failed,
         "the container engine refuses the job's resources.docker_args: " + end);
  else
    fail(Cause::start_failed, "the container did not start: " + end);
}

bool ContainerProcess::is_refused(int wait_status) const {
  return WIFEXITED(wait_status) && refused_peer_.empty() && !plan_.arguments.empty() &&
         blames_arguments(last_words());
}

Instant ContainerProcess::connect_by() const {
  return state_ == State::starting ? connect_by_ : Instant::never();
}

Instant ContainerProcess::next_deadline() const { return std::min(connect_by(), removal_until_); }

void ContainerProcess::expire(Instant now) {
  if (now >= removal_until_) {
    spdlog::error("{} has not removed the container {} within {}", plan_.container.engine,
                  plan_.name, format_duration(kContainerGrace));
    removing_->kill();
    removal_ended();
  }
  if (now < connect_by()) return;
  fail(Cause::start_failed,
       fmt::format("the container did not start within {}: {}{}",
                   format_duration(kContainerTimeout), refused_peer_, last_words()));
}

void ContainerProcess::fail(Cause cause, std::string why) {
  give_up();
  events_.failed(cause, std::move(why));
}

// Gives up waiting. A container that is still starting cannot connect then, and ends by itself.
void ContainerProcess::give_up() {
  if (state_ == State::starting) state_ = State::failed;
  stop_listening();
}

void ContainerProcess::stop_listening() {
  if (!listener_) return;
  loop_.unwatch(listener_.get(), io::EventLoop::Interest::read);
  listener_.reset();
  unlink((directory_.container() + "/" + plan_.socket).c_str());
}

std::string ContainerProcess::said() const {
  const std::string log = io::read_file(directory_.container_log(), kMostLog).value_or("");
  return std::string(tail(log, kMostSaid));
}

std::string ContainerProcess::last_words() const {
  const std::string log = said();
  const std::string words = joined(std::string(tail(log, kLastWords)));
  return words.empty() ? "it printed nothing" : words;
}

void ContainerProcess::remove(std::function<void()> done) {
  removed_ = std::move(done);
  if (is_removing()) return;
  auto removing = EngineProgram::start(loop_, order(remove_words(plan_.container, plan_.name)),
                                       [this](int) { removal_ended(); });
  if (!removing) {
    spdlog::warn("{}", removing.error().message);
    return loop_.post([this] { removal_ended(); });
  }
  removing_ = *std::move(removing);
  removal_until_ = io::SystemClock().now() + kContainerGrace;
}

void ContainerProcess::removal_ended() {
  removal_until_ = Instant::never();
  if (const auto done = std::exchange(removed_, nullptr)) done();
}

void ContainerProcess::unpause() {
  if (unpausing_ && !unpausing_->has_ended()) return;
  EngineProgram::Order unpausing = order({plan_.container.engine, "unpause", plan_.name});
  unpausing.log = "/dev/null";  // its error is not logged: mostly the container was not paused
  auto started = EngineProgram::start(loop_, unpausing, nullptr);
  if (started) unpausing_ = *std::move(started);
}

bool ContainerProcess::has_ended(Instant now) {
  if (leave_at_ == Instant::never()) {
    remove_at_ = now + (is_connected() ? kContainerGrace : Duration::zero());
    leave_at_ = remove_at_ + 2 * kContainerGrace;
  }
  if (running_->has_ended() && !is_removing()) return true;
  if (now >= leave_at_) {
    why_left_ = fmt::format("the container {} could not be removed: {}", plan_.name, last_words());
    spdlog::error("{}", why_left_);
    return true;
  }
  if (now >= remove_at_ && !is_removing()) {
    spdlog::warn("removing the container {}, which has not ended", plan_.name);
    remove_at_ = now + kContainerGrace;
    remove([] {});
  }
  return false;
}

Status ContainerProcess::name_gang(const GangTable& gang) {
  return write_hosts(directory_.hosts(), gang, Arguments(plan_.arguments).all("add-host"));
}

bool ContainerProcess::is_out_of_memory() { return memory_ && memory_->has_grown(); }

}  // namespace lockstep::runner
