#pragma once
// Where a job would run now: pure functions over State and node health. A gang is placed whole or
// not at all, within one network label; partial requests share a node; the order is by node id,
// except that a later attempt keeps its nodes and their ranks where it can. Changes nothing.

#include <compare>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "common/base/result.h"
#include "launcher/core/config.h"
#include "launcher/core/liveness.h"
#include "launcher/core/state.h"

namespace lockstep::launcher {

// The properties of a request that decide which nodes could ever take it.
struct Shape {
  int nodes = 1;
  std::optional<int> cpus;
  std::optional<Bytes> memory;
  std::optional<int> gpus;
  int gpus_at_least = 0;  // when each rank gets one of its own
  std::string run_as;     // a user that the node must have
  LimitRequest limits = {};
  bool in_container = false;
  bool whole_node() const { return !cpus && !memory && !gpus; }
  friend auto operator<=>(const Shape&, const Shape&) = default;
};
Shape shape_of(const JobSpec& spec);
std::string describe(const Shape& shape);  // "2 nodes with 4 cpus and 1 gpu each"

struct Placed {
  std::vector<PartPlacement> parts;  // index = node rank
  std::vector<std::string> why;
};
struct Blocked {
  std::string reason;
};  // enough nodes could take it, but not now
struct Impossible {
  std::string reason;
};  // not with the nodes there are
using Placement = std::variant<Placed, Blocked, Impossible>;

struct Cluster {
  const State& state;
  const NodeWatches& watches;
  const CoreConfig& config;
  Instant now = {};           // of the newest step
  Instant recovered_at = {};  // when this launcher started on a journal; ns = 0: on none
};

Placement place(const Cluster& cluster, const Job& job);

// Why the job can never run on its target (known only of target local, when the number of its nodes
// is fixed); nullopt otherwise.
// Nodes that joined beyond the fixed number count as well, while they are not LOST.
std::optional<Error> never_possible(const Cluster& cluster, const JobSpec& spec);

// Whether none of a fixed number of nodes, all of which have joined, has this job's account: no
// other node is to come.
bool lacks_account(const Cluster& cluster, const Job& job);

// One line for each node of the job's pool: could it take a part of the job now, and if not, why.
// At most kMaxWhyLines.
std::vector<std::string> explain_nodes(const Cluster& cluster, const Job& job);
inline constexpr std::size_t kMaxWhyLines = 64;

// When a waiting job may be placed again: its back-off is over, and its fences; ns = 0: at once.
Instant ready_at(const Cluster& cluster, const Job& job);
// The fence that lasts longest; null when none is up.
const Part* longest_fence(const Cluster& cluster, const Job& job);

// Why the node can take no work at all now; nullopt when it can.
std::optional<std::string> why_unusable(const Cluster& cluster, const Node& node);

}  // namespace lockstep::launcher
