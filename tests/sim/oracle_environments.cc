// Environments as the oracle sees them: each lock is of one definition, account, generation and
// platform;
// all nodes of an attempt on one platform have the same; and nothing starts without.

#include <algorithm>
#include <cstdio>

#include "tests/sim/oracle.h"

namespace lockstep::sim {

namespace {

Digest definition_of(const Assignment& assignment) {
  return digest_of(assignment.spec.environment->definition);
}

bool is_conda(const std::optional<EnvironmentSpec>& environment) {
  return environment && std::holds_alternative<CondaEnvironment>(environment->definition);
}

// Those of the simulation have two numbers; an absent one is the lowest.
std::pair<int, int> numbers_of(const std::string& version) {
  std::pair<int, int> numbers{0, 0};
  std::sscanf(version.c_str(), "%d.%d", &numbers.first, &numbers.second);
  return numbers;
}

}  // namespace

void Oracle::record_platform(const launcher::AttemptPlaced& fact) {
  if (!is_conda(state_.job(fact.attempt.job)->spec.environment)) return;
  std::vector<std::string> cuda, glibc;
  for (const auto& part : fact.parts) {
    cuda.push_back(state_.node(part.node)->inventory.cuda);
    glibc.push_back(state_.node(part.node)->inventory.glibc);
  }
  const auto lowest = [](const std::vector<std::string>& all) {
    return *std::min_element(all.begin(), all.end(), [](const auto& a, const auto& b) {
      return numbers_of(a) < numbers_of(b);
    });
  };
  lowest_[fact.attempt] =
      (lowest(cuda).empty() ? "" : "__cuda=" + lowest(cuda) + " ") + "__glibc=" + lowest(glibc);
}

// All nodes of an attempt build for what all of them had when it was placed.
void Oracle::check_platform(const Assignment& assignment, const std::string& platform) {
  if (!is_conda(assignment.spec.environment)) return;
  const auto known = lowest_.find(assignment.attempt);
  if (known == lowest_.end()) return;  // it is not committed, which others see
  const std::string& lowest = known->second;
  if (platform != lowest)
    world_.violate("oracle:environment",
                   fmt::format("{} is built for '{}', but its nodes have '{}' in common",
                               to_string(assignment.attempt), platform, lowest));
}

void Oracle::environment_solved(const Assignment& assignment, const std::string& platform,
                                const Digest& tree) {
  check_platform(assignment, platform);
  const std::uint64_t generation = assignment.environment.generation;
  const SolvedFor what{definition_of(assignment), assignment.spec.run_as, generation, platform};
  const auto [known, first] = solved_.emplace(what, assignment.attempt);
  if (!first && calm_)
    world_.violate("oracle:environment",
                   fmt::format("what {} had solved was solved again for {}, without a fault",
                               to_string(known->second), to_string(assignment.attempt)));
  locks_[tree] = what;
}

void Oracle::solving_failed(const Assignment& assignment, const std::string& platform, int node) {
  not_solved_[{assignment.attempt, assignment.environment.generation, platform}].insert(node);
}

// One node that can is enough: all that may still do it have tried.
void Oracle::solving_given_up(const Assignment& assignment, const std::string& platform,
                              const std::set<int>& nodes) {
  const launcher::Attempt* attempt = state_.attempt(assignment.attempt);
  if (attempt == nullptr) return;
  const auto& failed =
      not_solved_[{assignment.attempt, assignment.environment.generation, platform}];
  for (const launcher::Part& part : attempt->parts) {
    const int node = node_index(part.node);
    const bool may = !part.ended() && !part.at_least(PartState::prepared) && nodes.count(node) != 0;
    if (may && failed.count(node) == 0)
      world_.violate("oracle:solving",
                     fmt::format("{} ended because it could not be solved, but node {} did not try",
                                 to_string(assignment.attempt), node));
  }
}

// Then a job may fail in a calm world, too.
bool Oracle::nobody_could_solve(const launcher::Job& job, const ExitReport& report) const {
  if (report.cause != Cause::start_failed || job.attempts.empty()) return false;
  const launcher::Attempt& attempt = job.attempts.back();
  std::set<int> failed;
  for (const auto& [what, nodes] : not_solved_)
    if (std::get<0>(what) == attempt.id) failed.insert(nodes.begin(), nodes.end());
  // A node whose environment is ready solves no more, also when somebody rebuilds it meanwhile.
  return std::all_of(attempt.parts.begin(), attempt.parts.end(), [&](const launcher::Part& part) {
    const int node = node_index(part.node);
    return failed.count(node) != 0 || environments_ready_.count({attempt.id, node}) != 0;
  });
}

void Oracle::environment_ready(const Assignment& assignment, int node,
                               const EnvironmentReport& report) {
  const AttemptId& attempt = assignment.attempt;
  environments_ready_.insert({attempt, node});
  if (!needs_lock(assignment.spec.environment->definition)) return;
  check_platform(assignment, report.platform);
  const SolvedFor what{definition_of(assignment), assignment.spec.run_as, report.generation,
                       report.platform};
  const auto lock = report.lock ? locks_.find(*report.lock) : locks_.end();
  if (lock == locks_.end() || lock->second != what)
    return world_.violate(
        "oracle:environment",
        fmt::format("{} was given a lock of something else ({})", to_string(attempt),
                    lock == locks_.end()
                        ? "nobody solved it"
                        : fmt::format("account '{}', {}", std::get<1>(lock->second),
                                      std::get<3>(lock->second))));
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
