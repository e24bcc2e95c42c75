#pragma once
// Fills in fields that are missing in facts of earlier versions, by the rules of those versions.
// The functions in this file never change: replaying an old journal must not depend on a launcher's
// present decisions.

#include <map>
#include <optional>
#include <string>

#include "common/domain/job/spec.h"
#include "common/domain/why/all/old_texts.h"
#include "common/domain/why/jobs/ends.h"
#include "launcher/state/facts/fact.h"
#include "launcher/state/state.h"

namespace lockstep::launcher {

// The value of PartPlacement::whole for journals of up to 0.5.
inline bool took_whole_node_in_0_5(const JobSpec& spec) {
  const ResourceRequest& asked = spec.resources;
  return !asked.cpus && !asked.memory && !asked.gpus;
}

// The account of a lock. In journals of earlier versions a lock was for all accounts: it now
// belongs to the account of the job for which it was solved. If that job has been deleted, the lock
// is unused.
inline std::optional<std::string> account_of(const State& state, const EnvironmentLocked& fact) {
  if (fact.account) return fact.account;
  const Job* job = state.job(fact.attempt.job);
  const bool is_its =
      job != nullptr && job->environment && job->environment->definition == fact.definition;
  return is_its ? std::optional(job->environment->account) : std::nullopt;
}

// The family of a lock. In journals of earlier versions, a job that an attempt submitted could
// solve for all jobs of the account: such a lock now belongs to that job's family.
inline std::uint64_t family_of(const State& state, const EnvironmentLocked& fact) {
  if (fact.family) return *fact.family;
  const Job* job = state.job(fact.attempt.job);
  const bool is_its =
      job != nullptr && job->environment && job->environment->definition == fact.definition;
  return is_its ? job->environment->family : 0;
}

// The value of MachineCreated::is_held for journals that do not have it.
inline bool was_held(const std::map<std::string, std::string>& about) {
  for (const char* finding : {"tunnel", "hold"})
    if (const auto found = about.find(finding); found != about.end() && found->second == "true")
      return true;
  return false;
}

// The value of Attempt::retried. In journals of earlier versions the fact has one text, which
// begins with how the attempt ended.
inline Why retried_of(const Attempt& attempt, const JobRequeued& fact) {
  const Why end = attempt.ended ? attempt.ended->why : Why();
  if (const auto* text = fact.why.as<Told>()) return retry_of_old(text->text, end);
  return RetriedAfter{end, fact.why};
}

}  // namespace lockstep::launcher
