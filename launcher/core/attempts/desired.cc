#include "launcher/core/attempts/desired.h"

#include "launcher/core/attempts/environment_locks.h"

namespace lockstep::launcher {

namespace {

// The account as which the job's ranks run on this node. An ssh host that was attached as an
// account other than root runs the jobs of the admin who attached it, as that account.
std::string account_on(const State& state, const Node& node, const JobSpec& spec) {
  const std::string& user = node.inventory.user;
  if (user.empty() || user == "root" || user == spec.run_as) return spec.run_as;
  const Compute* target = state.computes().find(node.pool);
  if (target == nullptr || target->spec.source != NodeSource::ssh) return spec.run_as;
  for (const SshHost& host : target->spec.hosts) {
    if (host.name != node.machine) continue;
    const std::string& owner = host.secret_owner.empty() ? target->by : host.secret_owner;
    return owner == spec.submitter ? "" : spec.run_as;
  }
  return spec.run_as;
}

void give_table(const Attempt& attempt, int node_rank, const CoreConfig& config,
                Assignment& assignment) {
  if (!attempt.gang) return;
  if (attempt.rows)
    assignment.share = share_of(*attempt.gang, node_rank, config.gang_radix, *attempt.rows);
  if (!attempt.rows || node_rank == 0) assignment.gang = attempt.gang;
}

Assignment assignment_of(const Job& job, const Attempt& attempt, int node_rank,
                         const CoreConfig& config) {
  Assignment assignment;
  assignment.attempt = attempt.id;
  assignment.experiment = job.spec.experiment_name.empty() ? "Default" : job.spec.experiment_name;
  assignment.node_rank = node_rank;
  assignment.spec = job.spec;
  assignment.allotment = attempt.parts[static_cast<std::size_t>(node_rank)].allotment;
  assignment.grace = job.spec.stop.grace.value_or(config.stop_grace);
  assignment.solo = attempt.solo();
  if (job.spec.retry.on_lost == OnLost::after_fence) assignment.lease = config.fence_lease;
  assignment.checkpoint = attempt.checkpoint;
  if (attempt.solo() || attempt.gang) assignment.phase = WantedPhase::run;
  // A cancel that comes after the attempt's end, while the job waits for its next attempt, does not
  // change how this attempt ended.
  const bool canceled =
      attempt.ended ? attempt.ended->cause == Cause::canceled : job.cancel_by.has_value();
  if (canceled) {
    assignment.phase = WantedPhase::stop;
    assignment.stop_reason = StopReason::canceled;
  } else if (attempt.doomed) {
    assignment.phase = WantedPhase::stop;
    assignment.stop_reason = attempt.doomed->reason;
    assignment.grace = attempt.doomed->grace.value_or(assignment.grace);
  }
  if (assignment.phase == WantedPhase::run) give_table(attempt, node_rank, config, assignment);
  return assignment;
}

}  // namespace

DesiredState desired_for(const State& state, const CoreConfig& config, NodeId node) {
  DesiredState desired;
  const Node* holder = state.node(node);
  if (holder == nullptr) return desired;
  desired.revision = holder->revision;
  desired.environments_unused_since = state.environments_unused_since();
  for (const auto& [id, node_rank] : holder->parts) {
    const Job& job = *state.job(id.job);
    const Attempt& attempt = *state.attempt(id);
    desired.assignments.push_back(assignment_of(job, attempt, node_rank, config));
    desired.assignments.back().spec.run_as = account_on(state, *holder, job.spec);
    desired.assignments.back().environment = plan_of(state, job, attempt, node_rank);
  }
  return desired;
}

}  // namespace lockstep::launcher
