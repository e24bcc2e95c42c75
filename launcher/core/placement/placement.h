#pragma once
// Computes where a job would run now: pure functions over State and node health. All parts of a
// gang are placed at once or none, within one network label. Requests for a part of a node may
// share the node. Nodes are tried by id, except that a later attempt keeps its nodes and their
// ranks if possible.

#include <compare>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "common/base/result.h"
#include "common/domain/targets/node_labels.h"
#include "common/domain/why/nodes/placement.h"
#include "launcher/core/base/config.h"
#include "launcher/core/memory/liveness.h"
#include "launcher/core/memory/machine_calls.h"
#include "launcher/core/memory/machine_samples.h"
#include "launcher/state/state.h"

namespace lockstep::launcher {

// The fields of a request that decide which nodes could ever run it.
struct Shape {
  int nodes = 1;
  std::optional<int> cpus;
  std::optional<Bytes> memory;
  std::optional<int> gpus;
  int gpus_at_least = 0;  // set if each rank gets its own GPU
  std::string run_as;     // an account that the node must have
  LimitRequest limits = {};
  bool in_container = false;
  bool isolated = false;  // the whole node, and nobody else on its machine
  Rdma rdma = Rdma::off;
  NodeLabels labels = {};               // that each node must have
  std::vector<std::string> names = {};  // the only nodes that may run it; empty: any
  std::optional<Duration> lasts = {};   // how long it may run at most; nullopt: it does not say
  std::set<NodeId> not_on = {};         // nodes that do not have what the job names
  bool whole_node() const { return isolated || (!cpus && !memory && !gpus); }
  friend auto operator<=>(const Shape&, const Shape&) = default;
};
Shape shape_of(const JobSpec& spec);
Shape shape_of(const Job& job);  // with what its attempts showed
NodesAsked asked_for(const Shape& shape);
std::string describe(const Shape& shape);  // "2 nodes with 4 cpus and 1 gpu each"

struct Placed {
  std::vector<PartPlacement> parts;  // index = node rank
  std::vector<Why> why;
};
struct Blocked {
  Why why;
};  // enough nodes could run it, but not now
struct Impossible {
  Why why;
  bool in_vain = false;  // time alone does not help: in_vain.h
};                       // the existing nodes can never run it
using Placement = std::variant<Placed, Blocked, Impossible>;

// What is kept for one job that waits. Others may use it only as far as that job does not need it.
struct KeptNodes {
  JobId job;
  Shape shape;                       // its request
  std::map<NodeId, Node::Use> uses;  // of each node that it will have, what others use then
  // Whether a part with this shape leaves enough for the job.
  bool leaves_room(const Node& node, const Shape& shape) const;
};

struct Cluster {
  const State& state;
  const NodeWatches& watches;
  const CoreConfig& config;
  Instant now = {};           // of the newest step
  Instant recovered_at = {};  // when this launcher recovered its journal; ns = 0: it was empty
  const MachineSamples* samples = nullptr;  // null: nothing is known
  const KeptNodes* kept = nullptr;          // null: nothing is kept
  const MachineCalls* calls = nullptr;      // null: nothing is known of machines that wait
};

Placement place(const Cluster& cluster, const Job& job);

// The groups of nodes within which a gang with this shape could ever lie.
using NodeGroup = std::vector<const Node*>;
std::vector<NodeGroup> groups_of(const Cluster& cluster, const std::string& pool,
                                 const Shape& shape);

// Why the job can never run on its target; nullopt otherwise. This is known only for elastic
// targets with fewer machines (invalid_argument), and for target local with a fixed number of nodes
// (unsatisfiable). Nodes that joined beyond that number count as well, unless they are LOST.
std::optional<Error> never_possible(const Cluster& cluster, const JobSpec& spec);

// True if no node can have this job's account: the number of nodes is fixed, all of them have
// joined, and none has the account.
bool lacks_account(const Cluster& cluster, const Job& job);

// One reason for each node of the job's pool: whether it could run a part of the job now, and if
// not, why. At most kMaxWhyLines.
std::vector<Why> explain_nodes(const Cluster& cluster, const Job& job);
inline constexpr std::size_t kMaxWhyLines = 64;

// When the back-off and the fences of a waiting job are over, so that it may be placed; ns = 0:
// now.
Instant ready_at(const Cluster& cluster, const Job& job);
// The part whose fence lasts longest; null when no part is fenced.
const Part* longest_fence(const Cluster& cluster, const Job& job);

// Why the node can run no work at all now; none when it can.
Why why_unusable(const Cluster& cluster, const Node& node);

}  // namespace lockstep::launcher
