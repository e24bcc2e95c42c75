// torch.distributed's env:// rendezvous: the variables that torchrun and Azure ML's pytorch
// distribution set, and those that jax.distributed.initialize() reads without arguments.

#include <fmt/format.h>

#include <algorithm>

#include "common/base/check.h"
#include "runner/bootstrap/bootstrap.h"
#include "runner/bootstrap/nccl_watch.h"
#include "runner/bootstrap/network.h"
#include "runner/bootstrap/rank_variables.h"
#include "runner/bootstrap/torchrun.h"

namespace lockstep::runner {
namespace {

// Sets jax's variables. jax detects the launcher of a cluster by its variables, and Open MPI's fit
// ours (jax's ompi_cluster.py). The URI only makes jax detect Open MPI: the coordinator's address
// comes from the variable for it.
void set_jax(const GangContext& gang, int rank, int local_rank, Variables* out) {
  const GangTable& table = gang.gang();
  const std::string& head = table.members.front().address;
  out->set("JAX_COORDINATOR_ADDRESS", host_and_port(head, table.master_port));
  out->set("OMPI_MCA_orte_hnp_uri", fmt::format("1.0;tcp://{}:1", head));
  out->set("OMPI_COMM_WORLD_SIZE", gang.world_size());
  out->set("OMPI_COMM_WORLD_RANK", rank);
  out->set("OMPI_COMM_WORLD_LOCAL_RANK", local_rank);
}

// Gives each rank all its GPUs; by itself, jax uses only the GPU whose number is the local rank.
void set_jax_devices(const GangContext& gang, int local_rank, Variables* out) {
  const int gpus = static_cast<int>(gang.assignment.allotment.gpus.size());
  const int ranks = gang.assignment.ranks_here();
  if (gpus < ranks) return;
  if (gang.assignment.spec.resources.isolate_gpus) return out->set("JAX_LOCAL_DEVICE_IDS", 0);
  std::string ids;
  for (int gpu = local_rank * gpus / ranks; gpu < (local_rank + 1) * gpus / ranks; ++gpu)
    ids += (ids.empty() ? "" : ",") + std::to_string(gpu);
  out->set("JAX_LOCAL_DEVICE_IDS", ids);
}

// The variables of torchrun's agent. Scripts use the id as the job's. Lightning then trusts the
// ranks as given; without it, Lightning asks MPI wherever mpi4py is installed.
void set_elastic(const AttemptId& attempt, Variables* out) {
  out->set("TORCHELASTIC_RUN_ID", attempt.job.value);
  out->set("TORCHELASTIC_RESTART_COUNT", static_cast<int>(attempt.number) - 1);
}

class TorchBootstrap final : public Bootstrap {
 public:
  explicit TorchBootstrap(const GangContext& gang) : gang_(gang) {}

  void begin(Begun begun) override {
    CHECK(gang_.gang().master_port != 0, "a torch gang has a leased master port");
    begun({});
  }

  void environment(int rank, int local_rank, Prepared prepared) override {
    const Assignment& assignment = gang_.assignment;
    Variables out(gang_);
    set_torchrun(gang_, rank, local_rank, &out);
    set_elastic(assignment.attempt, &out);
    set_jax(gang_, rank, local_rank, &out);
    set_jax_devices(gang_, local_rank, &out);
    // Limits threads as torchrun does, so that ranks of a node do not compete for cores, but by the
    // rank's share of them.
    const int cpus = static_cast<int>(assignment.allotment.cpus.size());
    if (assignment.ranks_here() > 1) {
      out.set("OMP_NUM_THREADS", std::max(1, cpus / assignment.ranks_here()));
    }
    prepared(out.take());
  }

  void receive(const GangMessage&) override {}
  void end() override {}

 private:
  const GangContext& gang_;
};

}  // namespace

void set_torchrun(const GangContext& gang, int rank, int local_rank, Variables* out) {
  const Assignment& assignment = gang.assignment;
  out->set("MASTER_ADDR", gang.gang().members.front().address);
  out->set("MASTER_PORT", gang.gang().master_port);
  out->set("WORLD_SIZE", gang.world_size());
  out->set("RANK", rank);
  out->set("LOCAL_RANK", local_rank);
  out->set("LOCAL_WORLD_SIZE", assignment.ranks_here());
  out->set("NODE_RANK", assignment.node_rank);
  out->set("GROUP_RANK", assignment.node_rank);
  out->set("GROUP_WORLD_SIZE", assignment.nodes());
  out->set("ROLE_RANK", rank);
  out->set("ROLE_WORLD_SIZE", gang.world_size());
  set_nccl_watch(gang, out);
}

std::unique_ptr<Bootstrap> make_torch_bootstrap(const GangContext& gang) {
  return std::make_unique<TorchBootstrap>(gang);
}

}  // namespace lockstep::runner
