#pragma once
// Chooses the target of a job that names none, when it is submitted: of the targets that could ever
// run it, those that could now; of these, any other before local; then the cheapest; then the one
// whose nodes have least that the job does not ask for. Pure.

#include <optional>
#include <string>
#include <vector>

#include "launcher/core/base/cluster.h"
#include "launcher/core/base/refusal.h"

namespace lockstep::launcher {

struct TargetChoice {
  std::string target;
  Why why;  // TargetWasChosen
};
// nullopt: there is nothing to choose (the job names a target, or local is the only one with nodes
// of its own), or no target could run it; it then belongs to local.
std::optional<TargetChoice> choose_target(const Cluster& cluster, const JobSpec& spec);

// What a person who submits this job should know: which target was chosen, what is not used, which
// jobs of others it refers to, and which steps have other names than expected.
std::vector<Why> submission_notes(const Cluster& cluster, const JobSpec& spec);

// Why the target refuses the job at submission: the job names nodes that do not exist or belong to
// another target, or it is an MPI job with more nodes than the target's size allows. Whether the
// nodes that the target has now suffice is not checked here.
std::optional<Refusal> refused_by_target(const Cluster& cluster, const JobSpec& spec);

}  // namespace lockstep::launcher
