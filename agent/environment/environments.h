#pragma once
// The environments of this node's parts: finds out what each one needs, gives it what is ready, and
// has the rest solved or built, once for all who wait (see build.h). It decides nothing about
// jobs: it is asked by actions of agent/core and answers with inputs. Nothing here blocks the loop.

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
  std::string program;          // lockstep-env; "" = environments are refused
  std::string spawn = {};       // lockstep-spawn, to look into images with
  Bytes limit = gibibytes(20);  // of all that is kept; 0 = none
  LockFunctions locks;
  std::string packages = {};  // where those are kept that were fetched; "" = in the agent's home
};

class Environments {
 public:
  using Emit = std::function<void(Input)>;  // called on the loop's thread

  Environments(io::EventLoop& loop, const AgentHome& home, EnvironmentConfig config, Emit emit);
  ~Environments();
  Environments(const Environments&) = delete;
  Environments& operator=(const Environments&) = delete;

  // -> EnvironmentProgress…, EnvironmentChanged…, EnvironmentFailed. Called again when the plan
  // changes.
  void prepare(const Assignment& assignment);
  void leave(const AttemptId& attempt);
  void prune(Instant unused_since);
  // Ends all solves and builds, for an agent that exits: when it returns, no user's process runs in
  // a build's cgroup, and the cgroups are gone. Blocks for some seconds at most.
  void end_builds();
  // Removes containers that were left over, from time to time.
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
  std::map<AttemptId, std::shared_ptr<BuildSubscriber>> subscribers_;  // of the loop's thread
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Build>> builds_;  // by entry; guarded by mutex_
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  Instant sweep_at_;  // of the loop's thread
  std::atomic<bool> sweeps_ = false;
  Workers sweepers_;
  Workers builders_;  // last, as they end first
  Workers lookers_;
};

}  // namespace lockstep::agent
