#pragma once
// Jobs that a running job submits with the credential of its attempt (docs/decisions/055). A child
// has its parent's owner, project and account. It is canceled when the parent's attempt ends in any
// way but completed, and continues when the parent completes.

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "launcher/core/base/context.h"

namespace lockstep::launcher {

// True if the credential of this attempt gives all its rights: the attempt is the newest of its
// job, and has neither ended nor is being ended.
bool is_current(const State& state, const AttemptId& attempt);
// The caller with this attempt's credential; nullopt: the credential is not valid. While the
// attempt is being ended, the caller may only see and cancel its job and children.
std::optional<AttemptCaller> caller_of(const State& state, const AttemptId& attempt);

// Checks secrets. A child may use a secret only if a variable of its parent names it: otherwise a
// thief of the credential could read all secrets of the owner. Always ok for other callers.
Status check_secrets(const State& state, const Caller& caller, const std::set<std::string>& names);

// Makes `spec` a child of the caller's job. An owner, project, account or parent in it that differs
// from the parent's is refused.
Status adopt(const Cluster& cluster, const AttemptCaller& caller, JobSpec& spec);

// Cancels this job if it is a child whose parent's attempt ended in any way but completed.
void follow_parent(Context& core, const Job& job);

// The steps and children of the job, theirs, and so on. Parents come first; the job itself is left
// out.
std::vector<JobId> descendants(const State& state, const Job& job);
// A descendant that is not final; null: there is none.
const Job* open_descendant(const State& state, const Job& job);

}  // namespace lockstep::launcher
