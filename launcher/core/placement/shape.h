#pragma once
// A job's request for each of its nodes, in a form that can be compared with a node. Pure.

#include <compare>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/domain/targets/node_labels.h"
#include "common/domain/why/nodes/placement.h"
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
  bool isolated = false;  // the whole node, and no other job on its machine
  Rdma rdma = Rdma::off;
  NodeLabels labels = {};               // labels that each node must have
  std::vector<std::string> names = {};  // the only nodes that may run it; empty: any
  std::optional<Duration> lasts = {};   // the longest time that it may run; nullopt: unknown
  std::set<NodeId> not_on = {};         // nodes that lack something that the job names
  bool whole_node() const { return isolated || (!cpus && !memory && !gpus); }
  friend auto operator<=>(const Shape&, const Shape&) = default;
};
Shape shape_of(const JobSpec& spec);
Shape shape_of(const Job& job);  // including what its earlier attempts showed
NodesAsked asked_for(const Shape& shape);
std::string describe(const Shape& shape);  // "2 nodes with 4 cpus and 1 gpu each"

inline constexpr std::size_t kMaxReasonNodes = 4;  // nodes that one line names

}  // namespace lockstep::launcher
