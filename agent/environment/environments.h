#pragma once
// The environments of this node's parts. It finds out what each part needs, reuses an environment
// that is ready, and starts a solve or build otherwise, one for all parts that wait (see build.h).
// It decides nothing about jobs: each call comes from an action of agent/core, and each answer is
// an input. Nothing here blocks the loop.

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "agent/core/core.h"
#include "agent/environment/build.h"
#include "agent/environment/cache_limit.h"
#include "agent/environment/interpreters.h"
#include "agent/supervise/agent_home.h"
#include "agent/supervise/workers.h"
#include "common/io/event_loop.h"

namespace lockstep::agent {

struct EnvironmentConfig {
  std::string program;          // lockstep-env; "" = the agent refuses environments
  std::string spawn = {};       // lockstep-spawn, used to look into images
  Bytes limit = gibibytes(20);  // the limit for all environments and packages together; 0 = none
  LockFunctions locks;
  std::string packages = {};  // folder of fetched packages; "" = in the agent's home
};

class Environments {
 public:
  using Emit = std::function<void(Input)>;  // called on the loop's thread

  Environments(io::EventLoop& loop, const AgentHome& home, EnvironmentConfig config, Emit emit);
  ~Environments();
  Environments(const Environments&) = delete;
  Environments& operator=(const Environments&) = delete;

  // Prepares an environment -> EnvironmentProgress…, EnvironmentChanged…, EnvironmentFailed. Call
  // it again when the assignment's plan changes.
  void prepare(const Assignment& assignment);
  void leave(const AttemptId& attempt);
  void prune(Instant unused_since);
  // Ends all solves and builds, for an agent that exits: when this returns, no user code runs in a
  // build's cgroup, and the cgroups are removed. Blocks for some seconds at most.
  void end_builds();
  // The time of the next tick(), which removes orphaned containers and pruned environments.
  Instant next_deadline() const { return sweep_at_; }
  void tick(Instant now);

 private:
  void look(const std::shared_ptr<BuildSubscriber>& subscriber);
  Result<EnvironmentTarget> target_for(const std::shared_ptr<BuildSubscriber>& subscriber);
  void serve(const std::shared_ptr<BuildSubscriber>& subscriber, EnvironmentTarget target);
  void join(const std::shared_ptr<BuildSubscriber>& subscriber, EnvironmentTarget target);
  void leave_build(BuildSubscriber& subscriber);
  void tell(const std::shared_ptr<BuildSubscriber>& subscriber, Input input);

  io::EventLoop& loop_;
  const AgentHome home_;
  const EnvironmentConfig config_;
  const Emit emit_;
  const std::map<std::string, std::string> environment_;
  const EnvironmentCache cache_;
  EnvironmentCacheLimit cache_limit_;
  std::atomic<bool> leaving_ = false;
  Interpreters interpreters_;
  const BuildParts parts_;
  // used by the loop's thread only
  std::map<AttemptId, std::shared_ptr<BuildSubscriber>> subscribers_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Build>> builds_;  // user, what, key; guarded by mutex_
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  Instant sweep_at_;  // used by the loop's thread only
  std::atomic<bool> sweeps_ = false;
  Workers sweepers_;
  Workers builders_;  // these are declared last, so that their threads end first
  Workers lookers_;
};

}  // namespace lockstep::agent
