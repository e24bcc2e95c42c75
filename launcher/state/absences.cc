#include "launcher/state/absences.h"

namespace lockstep::launcher {

std::set<NodeId> nodes_without(const Attempt& attempt) {
  std::set<NodeId> nodes;
  if (!attempt.ended || attempt.ended->cause != Cause::workspace_failed) return nodes;
  for (const Part& part : attempt.parts)
    if (part.exit() != nullptr && part.exit()->absent) nodes.insert(part.node);
  return nodes;
}

std::set<NodeId> nodes_without(const Job& job, std::size_t attempts) {
  std::set<NodeId> nodes;
  for (std::size_t i = 0; i < attempts; ++i) nodes.merge(nodes_without(job.attempts[i]));
  return nodes;
}

}  // namespace lockstep::launcher
