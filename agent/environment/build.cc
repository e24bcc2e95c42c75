#include "agent/environment/build.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <thread>
#include <variant>

#include "common/base/cut.h"
#include "common/base/utf8.h"
#include "common/io/clock.h"
#include "common/io/disk.h"
#include "common/io/files/disk_space.h"
#include "envs/env_process.h"

namespace lockstep::agent {
namespace {

constexpr Duration kLookEvery = milliseconds(50);
constexpr Duration kShareEvery = milliseconds(100);  // between updates to waiting attempts
constexpr std::size_t kMaxProgressBytes = 200;
constexpr Bytes kFullDisk = mebibytes(16);  // with less free space, a failure is not remembered
constexpr std::size_t kCopyBytes = 256 << 10;
constexpr std::size_t kTagBytes = 16;  // bytes of the key that a tag shows

Instant now() { return io::SystemClock().now(); }

// Whether a person can remove the cause: by adding a missing file, replacing a damaged one, or
// granting the right to read it. Such a failure is not remembered, so the next job tries again.
bool may_be_mended(const Error& error) {
  return error.code == ErrorCode::not_found || error.code == ErrorCode::corrupt ||
         error.code == ErrorCode::permission_denied;
}

}  // namespace

Build::Build(const BuildParts& parts, EnvironmentTarget target)
    : parts_(parts),
      target_(std::move(target)),
      entry_(target_.what == EnvironmentTarget::What::solve
                 ? parts.cache.solve(target_.user, target_.key)
                 : parts.cache.built(target_.user, target_.key)) {}

// ---- who waits ----------------------------------------------------------------------------------

bool Build::join(const std::shared_ptr<BuildSubscriber>& subscriber) {
  const std::lock_guard guard(mutex_);
  if (ended_ || stopped_) return false;
  const bool is_subscribed =
      std::any_of(subscriptions_.begin(), subscriptions_.end(),
                  [&](const auto& subscription) { return subscription->subscriber == subscriber; });
  if (!is_subscribed)
    subscriptions_.push_back(std::make_shared<Subscription>(Subscription{subscriber, 0, ""}));
  return true;
}

void Build::leave(const BuildSubscriber& subscriber) {
  const std::lock_guard guard(mutex_);
  std::erase_if(subscriptions_, [&](const auto& subscription) {
    return subscription->subscriber.get() == &subscriber;
  });
  if (subscriptions_.empty()) stopped_ = true;
}

Build::Subscriptions Build::subscriptions() const {
  const std::lock_guard guard(mutex_);
  return subscriptions_;
}

void Build::finish(const std::function<void(const std::shared_ptr<BuildSubscriber>&)>& tell) {
  Subscriptions last;
  {
    const std::lock_guard guard(mutex_);
    ended_ = true;
    last.swap(subscriptions_);
  }
  for (const auto& subscription : last) copy_log(*subscription);
  for (const auto& subscription : last) tell(subscription->subscriber);
}

// ---- log and progress

void Build::log(std::string_view bytes) {
  if (logged_ > kMaxEnvironmentLogBytes) return;
  std::string last;
  if (logged_ + bytes.size() > kMaxEnvironmentLogBytes) {
    last = std::string(head(bytes, kMaxEnvironmentLogBytes - logged_)) +
           "\n[this log is cut here: it has reached 64 MiB]\n";
  }
  logged_ += bytes.size();
  const io::Fd fd(
      io::disk::open(entry_.log().c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  // A failed write is ignored: the build itself reports a full disk.
  if (fd) static_cast<void>(io::write_all(fd.get(), last.empty() ? bytes : last));
}

void Build::line(const std::string& text) { log(text + "\n"); }

void Build::show(std::string text) { progress_ = cut(std::move(text), kMaxProgressBytes); }

// Copies the build's log to each attempt that waits. One that joins late gets it from its start.
void Build::copy_log(Subscription& subscription) const {
  if (!holds_entry_) return;
  const io::Fd fd(::open(entry_.log().c_str(), O_RDONLY | O_CLOEXEC));
  struct stat info {};
  if (!fd || ::fstat(fd.get(), &info) != 0) return;
  const auto size = static_cast<std::uint64_t>(info.st_size);
  if (size < subscription.copied) subscription.copied = 0;  // the log was begun anew
  std::string buffer(kCopyBytes, '\0');
  while (subscription.copied < size) {
    const ssize_t got =
        ::pread(fd.get(), buffer.data(), buffer.size(), static_cast<off_t>(subscription.copied));
    if (got <= 0) return;
    subscription.subscriber->log({buffer.data(), static_cast<std::size_t>(got)});
    subscription.copied += static_cast<std::uint64_t>(got);
  }
}

void Build::share() {
  const Instant at = now();
  if (at - shared_at_ < kShareEvery) return;
  shared_at_ = at;
  for (const auto& subscription : subscriptions()) {
    copy_log(*subscription);
    if (progress_.empty() || subscription->progress == progress_) continue;
    subscription->progress = progress_;
    parts_.tell(subscription->subscriber,
                EnvironmentProgress{subscription->subscriber->wanted().attempt, progress_});
  }
}

bool Build::pause(Duration duration) {
  const Instant end = now() + duration;
  while (go_on() && now() < end) {
    share();
    std::this_thread::sleep_for(kLookEvery);
  }
  return go_on();
}

// ---- work

std::optional<EntryLock> Build::wait_for_lock(const std::string& path, EntryLock::Kind kind) {
  if (const Status made = parts_.cache.open_for(target_.user); !made) {
    fail(made.error());
    return std::nullopt;
  }
  for (;;) {
    auto lock = EntryLock::try_acquire(path, kind);
    if (!lock) {
      fail(lock.error());
      return std::nullopt;
    }
    if (*lock) return std::move(*lock);
    show("waiting: another process on this node is building or removing this environment");
    if (!pause(kShareEvery)) return std::nullopt;
  }
}

void Build::run() {
  if (go_on()) work();
  cgroup_.reset();
  // Subscribers that are still here get no result: the agent is leaving.
  finish([](const auto&) {});
}

void Build::work() {
  const auto held = wait_for_lock(entry_.lock_file(), EntryLock::Kind::exclusive);
  if (!held) return;
  holds_entry_ = true;
  if (const auto built = EnvironmentCache::find(entry_)) {
    const auto image = look_for_its_image(target_, *built);
    if (!image) return fail(image.error());
    if (image->is_here)
      return finish(
          [&](const auto& subscriber) { tell_reused(parts_, subscriber, target_, *built); });
  }
  const auto failure = EnvironmentCache::find_failure(entry_);
  if (failure && !may_be_mended(failure->error)) {  // earlier versions remembered those, too
    for (const auto& subscription : subscriptions())
      subscription->subscriber->say(
          fmt::format("the {} failed before; this is the log of {}, by job {}:", described(target_),
                      for_people(failure->at), failure->job));
    return finish(
        [&](const auto& subscriber) { tell_failed_before(parts_, subscriber, target_, *failure); });
  }
  if (target_.what == EnvironmentTarget::What::solve) return solve(*held);
  build(*held);
}

envs::ImageSite Build::image_site() const {
  if (!std::holds_alternative<DockerEnvironment>(target_.definition)) return {};
  const bool solves = target_.what == EnvironmentTarget::What::solve;
  // An image that holds packages of a user's build is kept per user.
  const std::string whose =
      target_.user.uid == ::geteuid() ? "" : fmt::format("{}-", target_.user.uid);
  return {parts_.home,
          parts_.spawn,
          fmt::format("lockstep/env:{}{}{}", solves ? "solve-" : "", whose,
                      target_.key.hex().substr(0, kTagBytes)),
          entry_.image_record(),
          entry_.context(),
          solves && target_.share ? entry_.solved_image() : "",
          parts_.program,
          target_.run_as,
          entry_.scratch(),
          cgroup_ ? cgroup_->procs_files() : std::vector<std::string>()};
}

Result<envs::EnvironmentOrder> Build::order_for(envs::Order::What what,
                                                std::optional<envs::Lock> lock,
                                                const EntryLock& held) {
  // The agent calls engines itself, so tools of an image work in a folder that no user can change.
  const bool is_image = std::holds_alternative<DockerEnvironment>(target_.definition);
  io::User user = target_.user;
  if (is_image) {
    TRY_ASSIGN(user, io::current_user());
  }
  const std::string scratch = is_image ? entry_.engine() : entry_.scratch();
  envs::EnvironmentOrder order{
      parts_.program, user, envs::tool_environment(parts_.environment, user, scratch), {}};
  order.order = {what,
                 target_.definition,
                 std::move(lock),
                 {entry_.prefix(),
                  entry_.packages(),
                  target_.generation != 0,
                  target_.platform,
                  image_site(),
                  {}}};
  if (std::holds_alternative<CondaEnvironment>(target_.definition))
    order.order.site.shared = {entry_.archives(), entry_.wanted(), entry_.scratch() + "/fetched"};
  // The engine's client stays outside: programs that it starts may serve other images of its user.
  if (cgroup_ && !is_image) order.cgroup_procs = cgroup_->procs_files();
  order.lock = held.fd();
  return order;
}

// Runs lockstep-env. `tree`: the folder of the lock's tree, if it is on this node.
Result<envs::Event> Build::run_tools(envs::Order::What what, std::optional<envs::Lock> lock,
                                     const EntryLock& held, const std::string& tree) {
  const auto packages = wait_for_lock(entry_.packages_lock(), EntryLock::Kind::shared);
  if (!packages) return make_error(ErrorCode::conflict, "stopped");
  TRY(EnvironmentCache::renew_scratch(entry_, target_.user));
  const std::string doing = what == envs::Order::What::solve ? "solving" : "building";
  TRY_ASSIGN(envs::EnvironmentOrder order, order_for(what, std::move(lock), held));
  if (!tree.empty()) order.order.site.image.tree = tree;
  order.on_log = [this](std::string_view bytes) { log(bytes); };
  order.on_progress = [&](const std::string& text) { show(doing + ": " + text); };
  order.go_on = [this] {
    share();
    return go_on();
  };
  show(doing + " the environment");
  auto said = envs::run_lockstep_env(order);
  EnvironmentCache::drop_scratch(entry_);
  if (!said && cgroup_) return cgroup_->explain(said.error());
  return said;
}

// Whether another node can continue for this subscriber. Several attempts may wait for this build,
// and each may have other nodes to try next. A part with a newer order, or of another generation,
// does not end because of this failure.
bool Build::passes_on(const BuildSubscriber& subscriber) const {
  if (target_.what != EnvironmentTarget::What::solve) return false;
  const EnvironmentPlan plan = subscriber.wanted().environment;
  return plan.others_may_solve || !plan.solve || plan.generation != target_.generation;
}

// Whether another node may succeed, since it has other credentials, a channel on its disk, or the
// image in its engine. An error of a command in the definition is the same everywhere.
bool Build::may_be_elsewhere(const Error& error) const {
  const auto* docker = std::get_if<DockerEnvironment>(&target_.definition);
  return may_be_mended(error) && !(docker != nullptr && docker->build);
}

// Fails for a reason of this node or the network, not of the definition, so it is not remembered.
void Build::fail(const Error& error) {
  finish([&](const auto& subscriber) {
    if (passes_on(*subscriber)) return tell_cannot_solve(parts_, subscriber, target_, error);
    tell_failed(parts_, subscriber, error, Cause::start_failed);
  });
}

void Build::fail_by_tools(const Error& error) {
  // The free space is checked before the definition is blamed, since tools do not always report a
  // full disk.
  const auto space = io::disk_space(entry_.path());
  const bool is_full = error.code == ErrorCode::resource_exhausted ||
                       (space && space->free < kFullDisk && error.code != ErrorCode::conflict);
  EnvironmentCache::drop_prefix(entry_);
  static_cast<void>(io::remove_tree(entry_.solved_folder()));  // the folder may hold an image
  if (!go_on()) return;
  if (is_full)
    return fail(make_error(
        ErrorCode::resource_exhausted,
        fmt::format("the disk is full ({} were free in {}): free some of it (`lockstep environment "
                    "prune --unused-for 0s` removes what no job uses), or let lockstep-agent keep "
                    "fewer environments (--environments-size). {}",
                    space ? to_string(space->free) : "nothing", entry_.path(), error.message)));
  if (!is_lasting(error)) return fail(error);
  if (!may_be_mended(error)) {
    const Status kept = EnvironmentCache::keep_failure(entry_, {error, now(), target_.job});
    if (!kept) line(kept.error().message);
  }
  finish([&](const auto& subscriber) {
    if (may_be_elsewhere(error) && passes_on(*subscriber))
      return tell_cannot_solve(parts_, subscriber, target_, error);
    tell_failed(parts_, subscriber, error, Cause::environment_failed);
  });
}

Result<envs::Event> Build::run_build(const std::optional<envs::Lock>& lock, const EntryLock& held) {
  const bool shares = target_.share && lock && !lock->conda.empty() && !lock->image &&
                      parts_.locks.share.fetch != nullptr;
  if (shares) return run_with_packages(*lock, held);
  auto said = run_tools(envs::Order::What::build, lock, held);
  if (!said || !said->wants_tree) return said;
  const Status fetched = fetch_tree(*target_.lock, entry_.image(), "the image");
  if (!fetched) {
    EnvironmentCache::drop_scratch(entry_);
    return fetched.error();
  }
  return run_tools(envs::Order::What::build, lock, held, entry_.image());
}

Status Build::begin() {
  TRY(parts_.cache.begin(entry_, target_.user));
  cgroup_.emplace(entry_, target_.memory, target_.cpus, target_.pids);
  if (!cgroup_->unlimited_because().empty() && ::geteuid() == 0)
    line("note: " + cgroup_->unlimited_because());
  return {};
}

void Build::build(const EntryLock& held) {
  const Instant began = now();
  if (const Status begun = begin(); !begun) return fail(begun.error());
  const bool is_image = std::holds_alternative<DockerEnvironment>(target_.definition);
  line(is_image ? fmt::format("{}: preparing the image in this node's engine", described(target_))
                : fmt::format("{}: building in {}", described(target_), entry_.prefix()));
  std::optional<envs::Lock> lock;
  if (target_.lock) {
    auto fetched = fetch_lock();
    if (!go_on()) return;
    if (!fetched) return fail(fetched.error());
    lock = *std::move(fetched);
  }
  auto said = run_build(lock, held);
  if (!said) return fail_by_tools(said.error());
  if (!said->activation)
    return fail(make_error(ErrorCode::internal,
                           "lockstep-env answered with a lock instead of the built environment"));
  // Activating a container runs the engine's program as the agent, so only an activation that the
  // agent's own user produced is accepted.
  if (said->activation->container && !is_image)
    return fail(make_error(ErrorCode::internal,
                           fmt::format("lockstep-env named a container for the {}, which has none; "
                                       "a program that it ran as {} may have forged the answer",
                                       described(target_), target_.user.name)));
  const BuiltEnvironment built{*std::move(said->activation), now(), target_.job};
  if (const Status kept = EnvironmentCache::keep(entry_, built); !kept) return fail(kept.error());
  const std::string how =
      fmt::format("built in {:.1f} s", std::chrono::duration<double>(built.at - began).count());
  line(fmt::format("{}: {}", described(target_), how));
  finish([&](const auto& subscriber) { tell_ready(parts_, subscriber, target_, built, how); });
  EnvironmentCache::measure(entry_);  // no job waits for the measurement
}

void Build::solve(const EntryLock& held) {
  if (const Status begun = begin(); !begun) return fail(begun.error());
  line(fmt::format("this node solves the environment for {}", target_.platform));
  const Status context = fetch_context();
  if (!go_on()) return;
  if (!context) return fail(context.error());
  auto said = run_tools(envs::Order::What::solve, std::nullopt, held);
  if (!said) return fail_by_tools(said.error());
  if (!said->lock)
    return fail(make_error(ErrorCode::internal, "lockstep-env answered without a lock"));
  EnvironmentCache::drop_prefix(entry_);
  const std::string python = interpreter_of(target_.definition);
  if (said->lock->platform != target_.platform)
    return fail(make_error(
        ErrorCode::unavailable,
        fmt::format("the environment was solved for {} instead of {}{}", said->lock->platform,
                    target_.platform,
                    python.empty() ? "" : fmt::format(": '{}' has changed meanwhile", python))));
  if (const Status kept = EnvironmentCache::keep_solved(entry_, envs::to_json(*said->lock)); !kept)
    return fail(kept.error());
  const auto tree = store_lock();
  if (!go_on()) return;
  if (!tree) return fail(tree.error());
  EnvironmentCache::forget_solved(entry_);
  line(fmt::format("the digest of its lock is {}", tree->hex()));
  finish([&](const auto& subscriber) { tell_solved(parts_, subscriber, target_, *tree); });
}

}  // namespace lockstep::agent
