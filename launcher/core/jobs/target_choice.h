#pragma once
// Chooses the target of a submitted job that names none: of the targets that could ever run it,
// those that could run it now; of these, any other before local; then the cheapest; then the one
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
// Chooses a target. nullopt: there is no choice (the job names a target, or only local has nodes of
// its own), or no target could run the job. It then belongs to local.
std::optional<TargetChoice> choose_target(const Cluster& cluster, const JobSpec& spec);

// The notes for the submitter of this job: which target was chosen, which settings are not used,
// which jobs of other users it refers to, and which steps have other names than expected.
std::vector<Why> submission_notes(const Cluster& cluster, const JobSpec& spec);

// Why the target refuses the job at submission: the job names nodes that do not exist or belong to
// another target, or it is an MPI job with more nodes than the target's size allows. Whether the
// nodes that the target has now suffice is not checked here.
std::optional<Refusal> refused_by_target(const Cluster& cluster, const JobSpec& spec);

}  // namespace lockstep::launcher
