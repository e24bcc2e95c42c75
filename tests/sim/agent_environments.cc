// How a simulated node comes to the environments of its jobs: nothing is installed here, but it
// asks, solves, waits, fails and builds as agent/environment does.

#include <fmt/ranges.h>

#include "tests/sim/cluster.h"
#include "tests/sim/node.h"

namespace lockstep::sim {

namespace {

const EnvironmentLock* lock_for(const EnvironmentPlan& plan, const std::string& platform) {
  for (const EnvironmentLock& lock : plan.locks)
    if (lock.platform == platform) return &lock;
  return nullptr;
}

}  // namespace

std::string Node::platform_for(const Assignment& assignment) const {
  if (!std::holds_alternative<CondaEnvironment>(assignment.spec.environment->definition))
    return "python" + std::to_string(index % cluster.weather.platforms);
  return fmt::format("{}", fmt::join(assignment.environment.virtual_packages, " "));
}

void AgentProcess::act(const agent::PrepareEnvironment& action) {
  equipping_[action.assignment.attempt].assignment = action.assignment;
  equip(action.assignment.attempt);
}

void AgentProcess::act(const agent::LeaveEnvironment& action) {
  cluster_.world.count("agent:leave_environment");
  equipping_.erase(action.attempt);
}

void AgentProcess::equip(const AttemptId& attempt) {
  Equipping& entry = equipping_.at(attempt);
  const EnvironmentPlan& plan = entry.assignment.environment;
  cluster_.world.trace("environment of {} on n{}: generation {}, {} locks{}{}", to_string(attempt),
                       node_.index, plan.generation, plan.locks.size(),
                       plan.solve ? ", to solve" : "", entry.at_work ? ", at work" : "");
  if (entry.at_work) return;
  const bool needs = needs_lock(entry.assignment.spec.environment->definition);
  const std::string platform = node_.platform_for(entry.assignment);
  if (!needs || lock_for(plan, platform) != nullptr) return build(attempt);
  const bool has_failed = plan.solve && entry.not_solved == plan.generation;
  if (has_failed && plan.others_may_solve) return tell_not_solved(attempt);
  if (has_failed) cluster_.world.count("agent:solves_at_last");
  if (plan.solve && entry.solved != plan.generation) return solve(attempt);
  if (plan.solve) return tell_solved(attempt);
  if (std::exchange(entry.asked, true)) return;
  give(agent::EnvironmentChanged{
      attempt, {EnvironmentReport::Step::wants_lock, plan.generation, platform, {}, {}, {}}});
}

// What takes its time, and may find at its end that nobody wants it any more.
void AgentProcess::work_at(const AttemptId& attempt, Work work,
                           std::function<void(Equipping&)> end) {
  auto& random = cluster_.world.random;
  equipping_.at(attempt).at_work = true;
  Duration takes = random.between(milliseconds(1), milliseconds(800));
  if (random.chance(cluster_.weather.environment_slow)) {
    cluster_.world.count("fault:environment_slow");
    takes = random.between(seconds(5), seconds(60));
  }
  const std::uint64_t generation = equipping_.at(attempt).assignment.environment.generation;
  later(takes / 2, [this, attempt] { give(agent::EnvironmentProgress{attempt, "fetching"}); });
  later(takes, [this, attempt, generation, work, end = std::move(end)] {
    const auto it = equipping_.find(attempt);
    if (it == equipping_.end()) return;
    it->second.at_work = false;
    if (it->second.assignment.environment.generation != generation) return equip(attempt);
    auto& random = cluster_.world.random;
    if (work == Work::solve && !node_.can_solve) return could_not_solve(attempt);
    if (!random.chance(cluster_.weather.environment_fails)) return end(it->second);
    cluster_.world.count("fault:environment_fails");
    if (random.chance(0.3)) return fail(attempt, Cause::environment_failed);
    if (work == Work::solve) return could_not_solve(attempt);
    fail(attempt, Cause::start_failed);
  });
}

void AgentProcess::fail(const AttemptId& attempt, Cause cause) {
  give(agent::EnvironmentFailed{attempt, make_error(ErrorCode::io, "it did not work"), cause});
  equipping_.erase(attempt);
}

void AgentProcess::could_not_solve(const AttemptId& attempt) {
  Equipping& entry = equipping_.at(attempt);
  const EnvironmentPlan& plan = entry.assignment.environment;
  const std::string platform = node_.platform_for(entry.assignment);
  cluster_.oracle.solving_failed(entry.assignment, platform, node_.index);
  if (plan.solve && !plan.others_may_solve) {
    std::set<int> of_platform;
    for (const auto& node : cluster_.nodes)
      if (node->platform_for(entry.assignment) == platform) of_platform.insert(node->index);
    cluster_.oracle.solving_given_up(entry.assignment, platform, of_platform);
    return fail(attempt, Cause::start_failed);
  }
  cluster_.world.count("agent:passes_solving_on");
  entry.not_solved = plan.generation;
  tell_not_solved(attempt);
  // Meanwhile it may have been told what another one found.
  const auto it = equipping_.find(attempt);
  if (it != equipping_.end() && !it->second.assignment.environment.solve) equip(attempt);
}

void AgentProcess::tell_not_solved(const AttemptId& attempt) {
  const Assignment& assignment = equipping_.at(attempt).assignment;
  give(agent::EnvironmentChanged{attempt,
                                 {EnvironmentReport::Step::not_solved,
                                  assignment.environment.generation,
                                  node_.platform_for(assignment),
                                  {},
                                  {},
                                  "it cannot be solved here"}});
}

void AgentProcess::solve(const AttemptId& attempt) {
  cluster_.world.count("agent:solve");
  work_at(attempt, Work::solve, [this, attempt](Equipping& entry) {
    const std::uint64_t generation = entry.assignment.environment.generation;
    const Digest tree = sha256(fmt::format("{} {}", cluster_.world.random.next(), generation));
    const std::string platform = node_.platform_for(entry.assignment);
    entry.solved = generation;
    entry.lock = tree;
    cluster_.oracle.environment_solved(entry.assignment, platform, tree);
    tell_solved(attempt);
    // Meanwhile it may have been told what another one found.
    const auto it = equipping_.find(attempt);
    if (it != equipping_.end() && !it->second.assignment.environment.solve) equip(attempt);
  });
}

// Again when it is asked again: another may have been asked when it said so before.
void AgentProcess::tell_solved(const AttemptId& attempt) {
  const Equipping& entry = equipping_.at(attempt);
  give(agent::EnvironmentChanged{attempt,
                                 {EnvironmentReport::Step::solved,
                                  *entry.solved,
                                  node_.platform_for(entry.assignment),
                                  entry.lock,
                                  {},
                                  {}}});
}

void AgentProcess::build(const AttemptId& attempt) {
  work_at(attempt, Work::build, [this, attempt](Equipping& entry) {
    const std::string platform = node_.platform_for(entry.assignment);
    EnvironmentReport report{EnvironmentReport::Step::ready,
                             entry.assignment.environment.generation,
                             platform,
                             {},
                             sha256("key"),
                             "built"};
    if (const auto* lock = lock_for(entry.assignment.environment, platform))
      report.lock = lock->tree;
    cluster_.oracle.environment_ready(entry.assignment, node_.index, report);
    equipping_.erase(attempt);
    give(agent::EnvironmentChanged{attempt, report});
  });
}

}  // namespace lockstep::sim
