#pragma once
// The gang and this node's ranks, as everything knows them that prepares ranks to find each other.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/domain/runners/runner_protocol.h"
#include "common/io/process.h"

namespace lockstep::runner {

// A bootstrap's input: the gang and this node's ranks. Must outlive the Bootstrap.
struct GangContext {
  Assignment assignment;      // with its gang; the variables include the environment's variables
  std::string tmp_directory;  // attempt's tmp/, owned by the run-as user
  io::User run_as;
  std::string tmp_of_ranks = {};  // the path of `tmp` that ranks are given; "": `tmp` itself
  // Set if the ranks run in a container, where they may have another user, and may see only their
  // own GPUs, counted from 0. Absent: they run on the node itself.
  struct Inside {
    io::User user;
    bool has_own_gpus = true;
  };
  std::optional<Inside> container = {};
  bool oversubscribed = false;  // there are more ranks than allotted cpus: yield, do not bind
  // for tensorflow: the ports leased here, by local rank
  std::vector<std::uint16_t> rank_ports = {};
  std::uint16_t ras_port = 0;   // the port leased here for NCCL's RAS; 0: none
  std::string nccl_dumps = {};  // the beginning of the names of torch's dumps of NCCL; "": none
  NodeFabric fabric = {};       // this node's fabric; empty: its agent reported none
  std::optional<ProbeResult> probe = {};  // the gang's probe, once it is done
  // The settings of the ranks here, by local rank; one entry for all of them if they are equal.
  // Empty: not decided.
  std::vector<NetworkSettings> network = {};
  int radix = kGangTreeRadix;  // the radix of the gang's tree

  const GangTable& gang() const { return *assignment.gang; }
  const io::User& rank_user() const { return container ? container->user : run_as; }
  int world_size() const { return assignment.spec.world_size(); }
  const std::string& rank_tmp() const {
    return tmp_of_ranks.empty() ? tmp_directory : tmp_of_ranks;
  }
};

}  // namespace lockstep::runner
