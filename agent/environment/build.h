#pragma once
// A running solve or build, and its subscribers: the attempts that wait for it. It owns the
// lockstep-env process that does the work, copies log and progress to each subscriber, and tells
// each the result. It runs on a worker thread and stops when the last subscriber leaves.

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
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

// Reads and stores locks in the launcher's blob store. The errors unavailable and
// resource_exhausted may be temporary.
struct LockFunctions {
  // The text of the lock in this tree, fetched from the launcher if this node does not have it.
  std::function<Result<std::string>(const Digest& tree)> fetch;
  // Sends a folder that holds a lock to the launcher; returns its tree.
  std::function<Result<Digest>(const std::string& folder)> store;
  // Writes a whole tree of the launcher's store into `folder`, which must not exist.
  using OnProgress = std::function<void(const std::string& text)>;
  std::function<Status(const Digest& tree, const std::string& folder, const OnProgress& progress)>
      write_out = {};
  ShareFunctions share = {};  // without `fetch`, nodes do not share packages
};

// The dependencies that all builds of an agent share.
struct BuildParts {
  const EnvironmentCache& cache;
  const std::string& program;  // lockstep-env
  const std::map<std::string, std::string>& environment;
  const LockFunctions& locks;
  const std::string& home;      // the agent's home
  const std::string& spawn;     // lockstep-spawn
  std::function<bool()> go_on;  // false: the agent is exiting
  std::function<void(const std::shared_ptr<BuildSubscriber>&, Input)> tell;
};

inline constexpr std::uint64_t kMaxEnvironmentLogBytes = 64ull << 20;

class Build {
 public:
  Build(const BuildParts& parts, EnvironmentTarget target);

  const EnvironmentTarget& target() const { return target_; }
  // Runs the solve or build to its end. After it, no subscriber is left.
  void run();

  // Adds a subscriber. False: the build is ending; the caller needs a new one.
  bool join(const std::shared_ptr<BuildSubscriber>& subscriber);
  void leave(const BuildSubscriber& subscriber);
  void stop() { stopped_ = true; }

  // The package files that were written out for a build.
  struct Archives {
    std::size_t count = 0;
    std::uint64_t bytes = 0;
  };

 private:
  struct Subscription {
    std::shared_ptr<BuildSubscriber> subscriber;
    std::uint64_t copied = 0;  // bytes of the log; for the build's thread only
    std::string progress;      // the last one told; for the build's thread only
  };
  using Subscriptions = std::vector<std::shared_ptr<Subscription>>;

  bool go_on() { return !stopped_ && parts_.go_on(); }
  bool pause(Duration duration);  // Waits. False: the build must stop.
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
  std::set<Digest> missing_of(const std::vector<PackageFile>& files, const envs::Lock& lock,
                              const EntryLock& held);
  Status fetch_packages(const envs::Lock& lock, const std::vector<PackageFile>& files,
                        const std::set<Digest>& wanted, envs::EnvironmentOrder& order,
                        const std::function<void()>& log_lines);
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
  std::optional<BuildCgroup> cgroup_;  // for the build's thread only
  mutable std::mutex mutex_;
  Subscriptions subscriptions_;  // guarded by mutex_
  bool ended_ = false;           // guarded by mutex_
  std::atomic<bool> stopped_ = false;
  // For the build's thread only:
  std::string progress_;
  Instant shared_at_;
  std::uint64_t logged_ = 0;
  bool holds_entry_ = false;  // while false, the entry's log may be an earlier build's
};

// ---- messages to subscribers

// Writes the environment's Activation (variables and container) into the attempt's WorkspacePlan,
// then reports that the environment is ready.
void tell_ready(const BuildParts& parts, const std::shared_ptr<BuildSubscriber>& subscriber,
                const EnvironmentTarget& target, const BuiltEnvironment& built, std::string how);
void tell_reused(const BuildParts& parts, const std::shared_ptr<BuildSubscriber>& subscriber,
                 const EnvironmentTarget& target, const BuiltEnvironment& built);
void tell_failed(const BuildParts& parts, const std::shared_ptr<BuildSubscriber>& subscriber,
                 const Error& error, Cause cause);
void tell_failed_before(const BuildParts& parts, const std::shared_ptr<BuildSubscriber>& subscriber,
                        const EnvironmentTarget& target, const RememberedFailure& failure);
// Reports that this node cannot solve the environment while another may: the part keeps waiting.
void tell_cannot_solve(const BuildParts& parts, const std::shared_ptr<BuildSubscriber>& subscriber,
                       const EnvironmentTarget& target, const Error& error);
void tell_not_solved(const BuildParts& parts, const std::shared_ptr<BuildSubscriber>& subscriber,
                     const EnvironmentReport& report);
void tell_wants_lock(const BuildParts& parts, const std::shared_ptr<BuildSubscriber>& subscriber,
                     const EnvironmentTarget& target);
void tell_solved(const BuildParts& parts, const std::shared_ptr<BuildSubscriber>& subscriber,
                 const EnvironmentTarget& target, const Digest& lock);

// Whether the engine still has the environment's image; is_here is true if it has no image.
Result<ImageHere> look_for_its_image(const EnvironmentTarget& target,
                                     const BuiltEnvironment& built);
// Whether the same build would fail again, so that a retry of the attempt is useless.
bool is_lasting(const Error& error);

}  // namespace lockstep::agent
