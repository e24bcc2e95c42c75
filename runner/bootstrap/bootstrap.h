#pragma once
// A Bootstrap lets the ranks of one job find each other. Each runner has one. All calls and all
// events happen on the runner's loop thread. It starts no ranks and decides nothing about failures.

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "common/base/time.h"
#include "common/domain/runners/runner_protocol.h"
#include "common/io/event_loop.h"
#include "common/io/file_system.h"
#include "runner/bootstrap/gang_context.h"
#include "runner/pmix/client.h"

namespace lockstep::runner {

// The number of a rank's connection to its bootstrap. lockstep-spawn has the same.
inline constexpr int kRankConnectionFd = 20;

struct BootstrapEvents {
  std::function<void(int rank)> connected;
  std::function<void(int rank)> finalized;
  std::function<void(int rank, int code, std::string message)> aborted;
  std::function<void(GangMessage)>
      send;  // sends into the gang's tree (FencePart goes up, ModexRequest to its node)
  // Ranks that have not finalized can do so no more: their server has ended.
  std::function<void(std::string why)> lost = [](const std::string&) {};
  // Called when all ranks of this node that take part in a fence have entered it; false: the fence
  // is over.
  std::function<void(bool entered)> fence = [](bool) {};
};

// begin() and environment() call back exactly once, before they return or later: they may take
// long, and the runner continues meanwhile. After end() there are no callbacks.
class Bootstrap {
 public:
  using Begun = std::function<void(Status)>;
  using RankVariables = std::map<std::string, std::string>;
  using Prepared = std::function<void(Result<RankVariables>)>;

  virtual ~Bootstrap() = default;
  virtual void begin(Begun begun) = 0;  // called before the first rank starts
  // The variables of one rank, in addition to common_environment. Also registers the PMIx client.
  virtual void environment(int rank, int local_rank, Prepared prepared) = 0;
  // The rank's end of a connection to this bootstrap, which it inherits as kRankConnectionFd. Taken
  // once, after environment() has called back. Closed: the bootstrap has no connection.
  virtual io::Fd connection(int) { return io::Fd(); }
  virtual void receive(const GangMessage& message) = 0;  // FencePart/FenceDone/Modex* for us
  virtual void end() = 0;  // called after the last rank has ended; takes at most some seconds
  // The time of the next expire(), which fails the operations that took too long.
  virtual Instant next_deadline() const { return Instant::never(); }
  virtual void expire(Instant) {}
};

std::unique_ptr<Bootstrap> make_none_bootstrap(const GangContext& gang);
std::unique_ptr<Bootstrap> make_torch_bootstrap(const GangContext& gang);
std::unique_ptr<Bootstrap> make_ray_bootstrap(const GangContext& gang, BootstrapEvents events);
std::unique_ptr<Bootstrap> make_tensorflow_bootstrap(const GangContext& gang,
                                                     BootstrapEvents events);
std::unique_ptr<Bootstrap> make_pmix_bootstrap(const GangContext& gang,
                                               std::unique_ptr<pmix::Client> server,
                                               BootstrapEvents events);
// Makes the bootstrap of MPI: PMIx, and PMI-1 for MPICH's family.
std::unique_ptr<Bootstrap> make_mpi_bootstrap(const GangContext& gang, io::EventLoop& loop,
                                              std::unique_ptr<pmix::Client> server,
                                              BootstrapEvents events);
// Makes the one for spec.distribution.kind. `server`: for mpi alone.
std::unique_ptr<Bootstrap> make_bootstrap(const GangContext& gang, io::EventLoop& loop,
                                          std::unique_ptr<pmix::Client> server,
                                          BootstrapEvents events);

// The variables that ranks have whatever their distribution is (docs/guide-jobs.md, "What a rank
// finds"): AZUREML_*, AZ_BATCH_*, LOCKSTEP_*, CUDA_VISIBLE_DEVICES, PYTHONUNBUFFERED, and those of
// several nodes: their network (network_settings.h) and NCCL's log (nccl_log.h). They never
// override variables of the job's environment_variables or environment.
std::map<std::string, std::string> common_environment(const GangContext& gang, int rank,
                                                      int local_rank);

}  // namespace lockstep::runner
