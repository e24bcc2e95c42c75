#pragma once
// Labels of machines that a target does not have yet. A new machine has those of the target's file;
// a host that is attached over ssh also those that people set on its node before. Pure.

#include <map>
#include <string>

#include "launcher/core/placement/shape.h"

namespace lockstep::launcher {

// True if a machine of this name would have these labels. Of names that are no hosts, only the
// target's labels count.
bool would_have(const Compute& compute, const std::string& machine, const NodeLabels& labels);

// True if the host would have the labels, and is one of the nodes, that the job asks for.
bool is_suited(const Compute& compute, const SshHost& host, const Shape& shape);

// The suited hosts of an ssh target: all of them; those that hold no part of a job; and those that
// have no node, because they are not attached yet.
struct SuitedHosts {
  int all = 0, open = 0, without_node = 0;
};
SuitedHosts suited_hosts(const State& state, const Compute& compute, const Shape& shape);

// Gives the open hosts of an ssh target to the jobs that ask for labels: hosts with a label are
// few, and no other one helps those jobs.
class LabelledHosts {
 public:
  LabelledHosts(const State& state, const Compute& compute) : state_(state), compute_(compute) {}
  // False: the jobs before this one need them all. True of a job that asks for no label.
  bool take(const Shape& shape);

 private:
  const State& state_;
  const Compute& compute_;
  std::map<NodeLabels, int> taken_;
};

}  // namespace lockstep::launcher
