#pragma once
// How the ranks of one job find each other. One Bootstrap per runner; everything is called on the
// runner's loop thread, and every event comes back on it (PMIx callbacks arrive on PMIx's own
// thread and are posted). It starts no ranks and decides nothing about failures.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "common/base/time.h"
#include "common/domain/runner_messages.h"
#include "common/io/event_loop.h"
#include "common/io/process.h"

namespace lockstep::runner {

// What a bootstrap may know of its gang. Lives longer than the Bootstrap.
struct GangContext {
  Assignment assignment;      // gang filled; its environment's variables are among the job's
  std::string tmp_directory;  // attempt's tmp/, owned by the run-as user
  io::User run_as;
  // Ranks in a container, who may see themselves as another user, and GPUs of their own alone,
  // counted from 0. Absent: they run on the node itself.
  struct Inside {
    io::User user;
    bool has_own_gpus = true;
  };
  std::optional<Inside> container = {};
  bool oversubscribed = false;  // more ranks than allotted cpus: yield, do not bind

  const GangTable& gang() const { return *assignment.gang; }
  const io::User& rank_user() const { return container ? container->user : run_as; }
  int world_size() const { return assignment.spec.world_size(); }
};

struct BootstrapEvents {
  std::function<void(int rank)> connected;
  std::function<void(int rank)> finalized;
  std::function<void(int rank, int code, std::string message)> aborted;
  std::function<void(GangMessage)>
      send;  // into the gang's tree (FencePart climbs, ModexRequest routes)
};

// begin() and environment() answer exactly once, at once or later: what they ask for may take long,
// and the runner goes on meanwhile. After end() no answer comes.
class Bootstrap {
 public:
  using Begun = std::function<void(Status)>;
  using RankVariables = std::map<std::string, std::string>;
  using Prepared = std::function<void(Result<RankVariables>)>;

  virtual ~Bootstrap() = default;
  virtual void begin(Begun begun) = 0;  // before the first rank starts
  // Variables of one rank, on top of those that every job has. Also called to register the client.
  virtual void environment(int rank, int local_rank, Prepared prepared) = 0;
  virtual void receive(const GangMessage& message) = 0;  // FencePart/FenceDone/Modex* for us
  virtual void end() = 0;                                // after the last rank is gone
  // When to call expire(), which answers what took too long with an error.
  virtual Instant next_deadline() const { return Instant::never(); }
  virtual void expire(Instant) {}
};

std::unique_ptr<Bootstrap> make_none_bootstrap(const GangContext& gang);
std::unique_ptr<Bootstrap> make_torch_bootstrap(const GangContext& gang);
std::unique_ptr<Bootstrap> make_pmix_bootstrap(const GangContext& gang, io::EventLoop& loop,
                                               BootstrapEvents events);
// By spec.distribution.kind.
std::unique_ptr<Bootstrap> make_bootstrap(const GangContext& gang, io::EventLoop& loop,
                                          BootstrapEvents events);

// Calls end(), for a process that exits afterwards. PMIx 4.2 sometimes deadlocks there, on a lock
// that is still held from a client that was killed while connecting. False: it did; then only _exit
// may follow.
bool end_within(std::unique_ptr<Bootstrap> bootstrap, Duration timeout);

// The variables that every rank of every job has (reference/azureml.md, the last rows of the
// table): AZUREML_*, AZ_BATCH_*, LOCKSTEP_*, CUDA_VISIBLE_DEVICES, NCCL/GLOO_SOCKET_IFNAME,
// PYTHONUNBUFFERED. A variable that the user set in environment_variables is never overridden, nor
// one of the job's environment.
std::map<std::string, std::string> common_environment(const GangContext& gang, int rank,
                                                      int local_rank);

}  // namespace lockstep::runner
