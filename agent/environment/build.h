#pragma once
// One solving or building at work, for all who wait for it: it owns the lockstep-env that does it,
// brings its log and its progress to each of them, and tells them the end. Run on a worker thread;
// it ends when nobody waits any more.

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "agent/core/core.h"
#include "agent/environment/build_cgroup.h"
#include "agent/environment/build_subscriber.h"
#include "agent/environment/cache.h"
#include "agent/environment/container_engine.h"
#include "agent/environment/package_share.h"
#include "agent/environment/target.h"
#include "envs/env_process.h"
#include "envs/order.h"

namespace lockstep::agent {

// How locks come and go: the launcher's blob store. unavailable, resource_exhausted: it may pass.
struct LockFunctions {
  // The text of the lock in this tree; from the launcher when it is not here.
  std::function<Result<std::string>(const Digest& tree)> fetch;
  // A folder that holds one, to the launcher; its tree.
  std::function<Result<Digest>(const std::string& folder)> store;
  // A whole tree of the launcher's store, into a folder that does not exist.
  using OnProgress = std::function<void(const std::string& text)>;
  std::function<Status(const Digest& tree, const std::string& folder, const OnProgress& progress)>
      write_out = {};
  ShareFunctions share = {};  // without `fetch`: packages are not shared
};

// What all builds of an agent share.
struct BuildParts {
  const EnvironmentCache& cache;
  const std::string& program;  // lockstep-env
  const std::map<std::string, std::string>& environment;
  const LockFunctions& locks;
  const std::string& home;      // the agent's
  const std::string& spawn;     // lockstep-spawn
  std::function<bool()> go_on;  // false: the agent leaves
  std::function<void(const std::shared_ptr<BuildSubscriber>&, Input)> tell;
};

inline constexpr std::uint64_t kMaxEnvironmentLogBytes = 64ull << 20;

class Build {
 public:
  Build(const BuildParts& parts, EnvironmentTarget target);

  const EnvironmentTarget& target() const { return target_; }
  // To the end; then nobody waits for it.
  void run();

  // False: it ends, and is of no use to one more.
  bool join(const std::shared_ptr<BuildSubscriber>& subscriber);
  void leave(const BuildSubscriber& subscriber);
  void stop() { stopped_ = true; }

  // Packages' files that a build finds.
  struct Archives {
    std::size_t count = 0;
    std::uint64_t bytes = 0;
  };

 private:
  struct Subscription {
    std::shared_ptr<BuildSubscriber> subscriber;
    std::uint64_t copied = 0;  // of the log; the build's thread alone
    std::string progress;      // told last; the same
  };
  using Subscriptions = std::vector<std::shared_ptr<Subscription>>;

  bool go_on() { return !stopped_ && parts_.go_on(); }
  bool pause(Duration duration);  // false: it is over
  std::optional<EntryLock> wait_for_lock(const std::string& path, EntryLock::Kind kind);
  void work();
  Status begin();
  void build(const EntryLock& held);
  void solve(const EntryLock& held);
  Result<envs::Lock> fetch_lock();
  Result<Digest> store_lock();
  Status fetch_tree(const Digest& tree, const std::string& folder, const std::string& what);
  Status fetch_context();
  Result<envs::Event> run_build(const std::optional<envs::Lock>& lock, const EntryLock& held);
  Result<envs::Event> run_with_packages(const std::optional<envs::Lock>& lock,
                                        const EntryLock& held);
  void share_packages(const envs::Lock& lock, const EntryLock& held);
  Archives write_archives(const envs::Lock& lock, const std::set<Digest>& wanted);
  envs::ImageSite image_site() const;
  Result<envs::EnvironmentOrder> order_for(envs::Order::What what, std::optional<envs::Lock> lock,
                                           const EntryLock& held);
  Result<envs::Event> run_tools(envs::Order::What what, std::optional<envs::Lock> lock,
                                const EntryLock& held, const std::string& tree = "");
  Subscriptions subscriptions() const;
  void log(std::string_view bytes);
  void line(const std::string& text);
  void show(std::string text);
  void share();
  void copy_log(Subscription& subscription) const;
  void finish(const std::function<void(const std::shared_ptr<BuildSubscriber>&)>& tell);
  bool passes_on(const BuildSubscriber& subscriber) const;
  bool may_be_elsewhere(const Error& error) const;
  void fail(const Error& error);
  void fail_by_tools(const Error& error);

  const BuildParts& parts_;
  const EnvironmentTarget target_;
  const CacheEntry entry_;
  std::optional<BuildCgroup> cgroup_;  // of the build's thread
  mutable std::mutex mutex_;
  Subscriptions subscriptions_;  // guarded by mutex_
  bool ended_ = false;           // the same
  std::atomic<bool> stopped_ = false;
  // Of its thread:
  std::string progress_;
  Instant shared_at_;
  std::uint64_t logged_ = 0;
  bool holds_entry_ = false;  // until then its log may still be that of a build before
};

// ---- what subscribers are told

// Puts the activation into the subscriber's workspace plan, writes a line to its environment log,
// then tells it that the environment is ready.
void tell_ready(const BuildParts& parts, const std::shared_ptr<BuildSubscriber>& subscriber,
                const EnvironmentTarget& target, const BuiltEnvironment& built, std::string how);
void tell_reused(const BuildParts& parts, const std::shared_ptr<BuildSubscriber>& subscriber,
                 const EnvironmentTarget& target, const BuiltEnvironment& built);
void tell_failed(const BuildParts& parts, const std::shared_ptr<BuildSubscriber>& subscriber,
                 const Error& error, Cause cause);
void tell_failed_before(const BuildParts& parts, const std::shared_ptr<BuildSubscriber>& subscriber,
                        const EnvironmentTarget& target, const RememberedFailure& failure);
// This node cannot, but another one may: the part goes on waiting.
void tell_cannot_solve(const BuildParts& parts, const std::shared_ptr<BuildSubscriber>& subscriber,
                       const EnvironmentTarget& target, const Error& error);
void tell_not_solved(const BuildParts& parts, const std::shared_ptr<BuildSubscriber>& subscriber,
                     const EnvironmentReport& report);
void tell_wants_lock(const BuildParts& parts, const std::shared_ptr<BuildSubscriber>& subscriber,
                     const EnvironmentTarget& target);
void tell_solved(const BuildParts& parts, const std::shared_ptr<BuildSubscriber>& subscriber,
                 const EnvironmentTarget& target, const Digest& lock);

// False: the engine does not have the image of it any more. True of what has none.
Result<ImageHere> look_for_its_image(const EnvironmentTarget& target,
                                     const BuiltEnvironment& built);
// Whether it would fail again now: nobody tries the attempt once more.
bool is_lasting(const Error& error);

}  // namespace lockstep::agent
