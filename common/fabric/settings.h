#pragma once
// The network settings of one rank: the variables that NCCL, UCX, gloo, torch and MPI get, and why.
// Each comes from the first source that has it: the job's own variables (with its environment's
// among them), the operator's fabric.yml, and the probe of the gang with the node's fabric. Pure:
// the result depends on the arguments alone.
//
// NCCL's variables are set in three places: those of the network here; the address of RAS, names of
// threads and torch's flight recorder in runner/bootstrap/nccl_watch.h; the debug log in
// runner/bootstrap/nccl_log.h. common_environment() (runner/bootstrap/bootstrap.h) and the
// distribution's bootstrap put them into the rank's environment.
//
// Names and meanings of the variables are those of NCCL's, UCX's, gloo's and Open MPI's manuals.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/domain/job/distribution.h"
#include "common/domain/job/spec.h"
#include "common/domain/targets/fabric.h"

namespace lockstep {

struct RankPlace {
  int node_rank = 0;
  int local_rank = 0;
  std::vector<int> gpus = {};  // the GPUs of the allotment: FabricGpu::index, in PCI order
  // Towards another node by the routing table, where no probe chose one; "lo" if all nodes are on
  // one host; "": unknown.
  std::string route_interface = {};
  bool has_rdma_device = false;                // counts only where the node's fabric is not known
  std::optional<GangFabric> gang_fabric = {};  // absent: unknown; then the node's own ports count
};

// The settings by name, each once, at most kMaxNetworkSettings; texts fit in kMaxSettingTextBytes.
// The user's network variables are among them, so that people see all that counts. `probe` may be
// null.
NetworkSettings settings_for(const NodeFabric& fabric, const ProbeResult* probe,
                             const OperatorSettings& operators, const JobSpec& spec,
                             const RankPlace& place);

// The variables that Lockstep adds to the rank's environment. Left out are the user's own, and
// settings that are not variables.
std::map<std::string, std::string> variables_of(const NetworkSettings& settings);

// The differences of local ranks from local rank 0. `all`: by local rank. At most
// kMaxSettingOverrides.
SettingOverrides differences(const std::vector<NetworkSettings>& all);

}  // namespace lockstep
