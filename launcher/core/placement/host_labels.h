#pragma once
// Labels of machines that a target does not have yet. A new machine has the labels of the target's
// file; an ssh host also has those that people set on its node earlier. Pure.

#include <map>
#include <string>

#include "launcher/core/placement/shape.h"

namespace lockstep::launcher {

// True if a machine of this name would have these labels. For a name that is not a host's, only the
// target's labels count.
bool would_have(const Compute& compute, const std::string& machine, const NodeLabels& labels);

// True if the host would have the labels that the job asks for and, if the job names nodes, is one
// of them.
bool is_suited(const Compute& compute, const SshHost& host, const Shape& shape);

// The numbers of suitable hosts of an ssh target: in all; those that hold no part of a job; and
// those without a node, because they are not attached yet.
struct SuitedHosts {
  int all = 0, open = 0, without_node = 0;
};
SuitedHosts suited_hosts(const State& state, const Compute& compute, const Shape& shape);

// Gives the free hosts of an ssh target to the jobs that ask for labels. Few hosts have a label,
// and another host would not help such a job.
class LabelledHosts {
 public:
  LabelledHosts(const State& state, const Compute& compute) : state_(state), compute_(compute) {}
  // Takes a host. False: earlier jobs need all such hosts. Always true for a job that asks for no
  // label.
  bool take(const Shape& shape);

 private:
  const State& state_;
  const Compute& compute_;
  std::map<NodeLabels, int> taken_;
};

}  // namespace lockstep::launcher
