#pragma once
// Finds likely mistakes in a network variable that a job or an operator sets: an interface or a
// port that this node does not have, a GID index out of range, RDMA turned off for a job that wants
// it. A warning is for people: the value stays as it was set. Pure.

#include <map>
#include <string>
#include <string_view>

#include "common/domain/job/spec.h"
#include "common/domain/targets/fabric.h"
#include "common/fabric/rdma_choice.h"

namespace lockstep {

struct CheckedNode {
  const NodeFabric& fabric;
  const RdmaChoice& rdma;
  const ProbeResult* probe = nullptr;  // may be null
  Rdma wanted = Rdma::off;
  int node_rank = 0;
  bool several_hosts = false;  // the gang is on several machines
};

using VariableMap = std::map<std::string, std::string>;

// "": nothing looks wrong. `all`: the other variables that are set.
std::string warning_for(const std::string& name, const std::string& value, const VariableMap& all,
                        const CheckedNode& node);

// Reads a number as NCCL and UCX do, "3" or "0x8001"; -1: the text is not a number.
int number_in(std::string_view text);

}  // namespace lockstep
