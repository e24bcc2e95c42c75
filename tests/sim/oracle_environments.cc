// Environments as the oracle sees them: each lock is of one definition, generation and platform;
// all nodes of an attempt on one platform have the same; and nothing starts without.

#include "tests/sim/oracle.h"

namespace lockstep::sim {

namespace {

Digest definition_of(const Assignment& assignment) {
  return digest_of(assignment.spec.environment->definition);
}

}  // namespace

void Oracle::environment_solved(const Assignment& assignment, const std::string& platform,
                                const Digest& tree) {
  const std::uint64_t generation = assignment.environment.generation;
  const SolvedFor what{definition_of(assignment), generation, platform};
  const auto [known, first] = solved_.emplace(what, assignment.attempt);
  if (!first && calm_)
    world_.violate("oracle:environment",
                   fmt::format("what {} had solved was solved again for {}, without a fault",
                               to_string(known->second), to_string(assignment.attempt)));
  locks_[tree] = what;
}

void Oracle::environment_ready(const Assignment& assignment, int node,
                               const EnvironmentReport& report) {
  const AttemptId& attempt = assignment.attempt;
  environments_ready_.insert({attempt, node});
  if (!needs_lock(assignment.spec.environment->definition)) return;
  const SolvedFor what{definition_of(assignment), report.generation, report.platform};
  const auto lock = report.lock ? locks_.find(*report.lock) : locks_.end();
  if (lock == locks_.end() || lock->second != what)
    return world_.violate(
        "oracle:environment",
        fmt::format("{} was given a lock of something else ({})", to_string(attempt),
                    lock == locks_.end() ? "nobody solved it" : std::get<2>(lock->second)));
  const auto used = std::tuple(attempt, report.generation, report.platform);
  if (locks_used_.emplace(used, *report.lock).first->second != *report.lock)
    world_.violate("oracle:environment",
                   fmt::format("nodes of {} have different locks", to_string(attempt)));
}

void Oracle::runner_starts(const Assignment& assignment, int node) {
  const auto& asked = asked_.find(assignment.attempt.job);
  if (asked == asked_.end() || !asked->second.environment) return;
  if (environments_ready_.count({assignment.attempt, node}) == 0)
    world_.violate("oracle:environment",
                   fmt::format("{} started on node {} without its environment",
                               to_string(assignment.attempt), node));
}

}  // namespace lockstep::sim
