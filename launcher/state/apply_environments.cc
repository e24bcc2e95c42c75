// Applies facts about the locks of environments to the state.

#include "launcher/state/applier.h"
#include "launcher/state/old_facts.h"

namespace lockstep::launcher {

void State::Applier::operator()(const EnvironmentWanted& fact) const {
  Attempt& attempt = state.attempt_ref(fact.attempt);
  Part& part = state.part_ref(attempt, fact.node);
  if (!part.lock_request) ++attempt.tally.asked;
  part.lock_request = Part::LockRequest{fact.platform, at, {}};
  if (const Job& job = state.job_ref(fact.attempt.job); job.environment)
    state.touch_environment(*job.environment);
}

void State::Applier::operator()(const EnvironmentNotSolved& fact) const {
  Part& part = state.part_ref(state.attempt_ref(fact.attempt), fact.node);
  if (part.asks_for(fact.platform))
    part.lock_request->not_solved = Part::LockRequest::NotSolved{fact.generation, fact.why};
  solver_may_change(state.job_ref(fact.attempt.job));
}

void State::Applier::operator()(const EnvironmentLocked& fact) const {
  const auto account = account_of(state, fact);
  if (!account) return;
  const EnvironmentId id{fact.definition, *account, family_of(state, fact)};
  Environment& environment = state.environments_[id];
  environment.generation = fact.generation;
  environment.locks[fact.lock.platform] = {fact.lock.tree, at, fact.attempt, fact.node};
  state.touch_environment(id);
}

void State::Applier::operator()(const EnvironmentReset& fact) const {
  if (fact.account) return reset({fact.definition, *fact.account, fact.family}, fact.generation);
  for (const EnvironmentId& id : state.environments_of(fact.definition)) {
    reset(id, fact.generation);
    state.drop_environment(id);
  }
}

void State::Applier::reset(const EnvironmentId& id, std::uint64_t generation) const {
  Environment& environment = state.environments_[id];
  environment.generation = generation;
  environment.locks.clear();
  state.touch_environment(id);
}

void State::Applier::operator()(const EnvironmentsPruned& fact) const {
  state.environments_unused_since_ = fact.unused_since;
  for (auto& [id, node] : state.nodes_) ++node.revision;
}

}  // namespace lockstep::launcher
