#pragma once
// The operator's fabric.yml: what its network settings of jobs are, by target, size and label.
//
//   rules:
//     - interface: eth1                  # of all nodes
//     - target: gpus
//       size: Standard_ND96asr_v4
//       labels: {rack: r7}
//       network: 10.1.0.0/16
//       rdma: [mlx5_0, mlx5_1:1]         # or none
//       environment_variables:
//         NCCL_IB_TC: 106
//
// A rule counts for the nodes that all of its conditions fit; one without conditions for every
// node. Of two that set the same thing, the later one counts. Keys that take one word also take a
// list. A job's own variables come before the file's.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/domain/targets/fabric.h"
#include "common/domain/targets/node_labels.h"

namespace lockstep::spec {

struct FabricRule {
  // The conditions. An empty one fits every node.
  std::vector<std::string> targets;
  std::vector<std::string> sizes;  // by size_key()
  NodeLabels labels;               // the labels that the node must have
  // The settings. The texts `rule` in them are "fabric.yml:12".
  std::optional<OperatorInterface> interface;
  std::optional<OperatorRdma> rdma;
  std::vector<OperatorVariable> variables;
  friend bool operator==(const FabricRule&, const FabricRule&) = default;
};
using FabricRules = std::vector<FabricRule>;
inline constexpr std::size_t kMaxFabricRules = 1'000;

// The properties of a node by which rules are chosen.
struct RuledNode {
  std::string target, size;
  NodeLabels labels;
};

// Reads rules. Errors begin with FILE:LINE:COLUMN, one line for each fault.
Result<FabricRules> read_fabric_rules(const std::string& name, std::string_view text);

// Reads the file at `path`. If it does not exist, there are no rules. permission_denied: an account
// other than root and this process's user can change it.
Result<FabricRules> load_fabric_rules(const std::string& path);

// The settings for a node. Beyond kMaxOperatorVariables, the last ones by name are left out.
OperatorSettings settings_of(const FabricRules& rules, const RuledNode& node);

}  // namespace lockstep::spec
