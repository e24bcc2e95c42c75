#include <map>
#include <numeric>
#include <string>
#include <utility>

#include "common/fabric/settings.h"
#include "runner/bootstrap/bootstrap.h"
#include "runner/bootstrap/nccl_log.h"
#include "runner/bootstrap/network_settings.h"
#include "runner/bootstrap/rank_variables.h"

namespace lockstep::runner {
namespace {

std::string join_addresses(const GangTable& gang, char separator) {
  std::string list;
  for (const GangMember& member : gang.members) {
    if (!list.empty()) list += separator;
    list += member.address;
  }
  return list;
}

// Indexes are in PCI order, so CUDA must count in that order too.
void set_gpus(const GangContext& gang, int local_rank, Variables* out) {
  std::vector<int> held = gang.assignment.allotment.gpus;
  if (gang.container && gang.container->has_own_gpus) std::iota(held.begin(), held.end(), 0);
  std::string visible;
  for (std::size_t i = 0; i < held.size(); ++i) {
    const bool isolated = gang.assignment.spec.resources.isolate_gpus;
    if (isolated && i != static_cast<std::size_t>(local_rank)) continue;
    if (!visible.empty()) visible += ',';
    visible += std::to_string(held[i]);
  }
  out->set("CUDA_VISIBLE_DEVICES", visible);  // "" hides the GPUs that the job does not hold
  if (!held.empty()) out->set("CUDA_DEVICE_ORDER", "PCI_BUS_ID");
  out->set("AZ_BATCHAI_GPU_COUNT", static_cast<int>(held.size()));
}

void set_multi_node(const GangContext& gang, Variables* out) {
  const GangTable& table = gang.gang();
  if (table.members.size() < 2) return;
  out->set("AZ_BATCH_HOST_LIST", join_addresses(table, ','));
  out->set("AZ_BATCH_NODE_LIST", join_addresses(table, ';'));
  out->set("AZ_BATCH_IS_CURRENT_NODE_MASTER", gang.assignment.node_rank == 0 ? "true" : "false");
  out->set("AZUREML_NODE_COUNT", static_cast<int>(table.members.size()));
}

// Sets the log into which NCCL writes its choice of network, and which the runner reads. `network`:
// settings of the operator come before Lockstep's.
void set_nccl_log(const GangContext& gang, std::map<std::string, std::string> network,
                  Variables* out) {
  const JobSpec& spec = gang.assignment.spec;
  const bool uses_nccl = !gang.assignment.allotment.gpus.empty();
  if (spec.resources.rdma == Rdma::off || gang.gang().members.size() < 2 || !uses_nccl) return;
  network.insert(spec.environment_variables.begin(), spec.environment_variables.end());
  for (const auto& [name, value] : nccl_log_variables(network, gang.rank_tmp()))
    out->set(name, value);
}

void set_array(const ArrayTask& task, Variables* out) {
  out->set("LOCKSTEP_ARRAY_INDEX", task.index);
  out->set("LOCKSTEP_ARRAY_COUNT", task.count);
  out->set("LOCKSTEP_ARRAY_MIN", task.first);
  out->set("LOCKSTEP_ARRAY_MAX", task.last);
}

}  // namespace

// The variables that every rank has. MLFLOW_RUN_ID and MLFLOW_TRACKING_URI are left out without a
// tracking service: mlflow.start_run() fails for a run id that no server knows.
std::map<std::string, std::string> common_environment(const GangContext& gang, int rank,
                                                      int local_rank) {
  const Assignment& assignment = gang.assignment;
  const JobSpec& spec = assignment.spec;
  Variables out(gang);
  out.set("AZUREML_RUN_ID", assignment.attempt.job.value);
  out.set("AZUREML_EXPERIMENT_ID", assignment.experiment);
  out.set("AZUREML_PROCESS_NAME", "rank_" + std::to_string(rank));
  out.set("AZUREML_CR_NODE_RANK", assignment.node_rank);
  for (const auto& [name, value] : spec.inputs) out.set("AZURE_ML_INPUT_" + name, value);
  set_gpus(gang, local_rank, &out);
  set_multi_node(gang, &out);
  auto network = variables_of(network_of_rank(gang, local_rank));
  for (const auto& [name, value] : network) out.set(name, value);
  set_nccl_log(gang, std::move(network), &out);

  out.set("LOCKSTEP_JOB", assignment.attempt.job.value);
  out.set("LOCKSTEP_ATTEMPT", static_cast<int>(assignment.attempt.number));
  out.set("LOCKSTEP_RANK", rank);
  out.set("LOCKSTEP_LOCAL_RANK", local_rank);
  out.set("LOCKSTEP_WORLD_SIZE", gang.world_size());
  out.set("LOCKSTEP_LOCAL_WORLD_SIZE", assignment.ranks_here());
  out.set("LOCKSTEP_NODE_RANK", assignment.node_rank);
  out.set("LOCKSTEP_NODE_COUNT", assignment.nodes());
  if (spec.array) set_array(*spec.array, &out);
  out.set("TMPDIR", gang.rank_tmp());
  out.set("PYTHONUNBUFFERED", "1");
  return out.take();
}

}  // namespace lockstep::runner
