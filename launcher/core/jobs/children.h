#pragma once
// Jobs that a running job submits with the credential of its attempt (docs/decisions/055). A child
// has its parent's owner, project and account. It is canceled when the parent's attempt ends in any
// way but completed, and goes on when the parent completes.

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "launcher/core/base/context.h"

namespace lockstep::launcher {

// Whether the credential of this attempt counts in full: it is the newest of its job, and neither
// ended nor about to be ended.
bool is_current(const State& state, const AttemptId& attempt);
// Whoever holds that credential; nullopt: it does not count. While the attempt is being ended, it
// may only see and cancel its job and children.
std::optional<AttemptCaller> caller_of(const State& state, const AttemptId& attempt);

// A child may use a secret only if its parent's own variables name it: whoever got hold of the
// credential would otherwise learn all secrets of the owner. Always ok for other callers.
Status check_secrets(const State& state, const Caller& caller, const std::set<std::string>& names);

// Makes `spec` a child of the caller's job. The caller's own words about owner, project, account
// and parent are refused where they differ.
Status adopt(const Cluster& cluster, const AttemptCaller& caller, JobSpec& spec);

// Cancels this job if it is a child whose parent's attempt ended in any way but completed.
void follow_parent(Context& core, const Job& job);

// Its steps and children, theirs, …; parents first, and this job is not among them.
std::vector<JobId> descendants(const State& state, const Job& job);
// One of them that is not final; null: there is none.
const Job* open_descendant(const State& state, const Job& job);

}  // namespace lockstep::launcher
