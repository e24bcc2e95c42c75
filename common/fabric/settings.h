#pragma once
// The network settings of one rank: which variables NCCL, UCX, gloo, torch and MPI get, and why.
// Three sources say so, the first that speaks wins: the job's own variables (with its environment's
// among them), the operator's fabric.yml, and the probe of the gang with the node's fabric. Pure:
// it looks at nothing but its arguments, and starts nothing.
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
  std::vector<int> gpus = {};  // of the allotment: FabricGpu::index, in PCI order
  // Towards another node by the routing table, where no probe chose one; "lo" if all nodes are on
  // one host; "": unknown.
  std::string route_interface = {};
  bool has_rdma_device = false;                // counts only where the node's fabric is not known
  std::optional<GangFabric> gang_fabric = {};  // absent: unknown; then the node's own ports count
};

// By name, without doubles, at most kMaxNetworkSettings; texts fit in kMaxSettingTextBytes. It has
// the user's network variables too, so that people see all that counts. `probe` may be null.
NetworkSettings settings_for(const NodeFabric& fabric, const ProbeResult* probe,
                             const OperatorSettings& operators, const JobSpec& spec,
                             const RankPlace& place);

// What Lockstep adds to the rank's environment: all but the user's own, and what is no variable.
std::map<std::string, std::string> variables_of(const NetworkSettings& settings);

// Where local ranks differ from local rank 0. `all`: by local rank. At most kMaxSettingOverrides.
SettingOverrides differences(const std::vector<NetworkSettings>& all);

}  // namespace lockstep
