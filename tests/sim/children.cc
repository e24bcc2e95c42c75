// Children of the simulation: running attempts submit jobs, and the oracle knows which.

#include "tests/sim/cluster.h"
#include "tests/sim/oracle.h"
#include "tests/sim/workload.h"

namespace lockstep::sim {

// ---- the workload -------------------------------------------------------------------------------

// By the newest attempt of this job, which starts just now. It may have ended when the launcher
// hears of it.
void Workload::submit_child(const JobId& parent) {
  auto& random = cluster_.world.random;
  if (!has_children_ || cluster_.winding_down || !random.chance(0.5)) return;
  const launcher::Job* job = cluster_.launcher.committed().job(parent);
  if (job == nullptr || job->attempts.empty()) return;
  const AttemptId attempt = job->attempts.back().id;
  const std::string submitter = job->spec.submitter, project = job->spec.project;
  JobPlan plan = draw_job(random, 0, 1);
  plan.spec.name = "kid-" + std::to_string(++kids_);
  plan.spec.submitter = submitter;
  plan.spec.compute = job->spec.compute;
  if (plan.impossible) make_possible(plan);
  plan.endless = false;
  plan.runs = random.between(milliseconds(100), seconds(15));
  plan.spec.environment.reset();
  const JobId child(plan.spec.name);
  plans_[child] = plan;
  cluster_.world.after(random.between(milliseconds(1), seconds(4)), [=, this] {
    cluster_.oracle.job_planned(child, plan.spec);
    cluster_.oracle.child_planned(child, attempt);
    launcher::SubmitInput submit;
    submit.submission = "submission-" + std::to_string(next_);
    submit.spec = plan.spec;
    submit.spec.submitter.clear();
    submit.caller = launcher::AttemptCaller{attempt, submitter, project};
    ask(std::move(submit), "submit " + child.value);
  });
}

// ---- the oracle ---------------------------------------------------------------------------------

void Oracle::child_planned(const JobId& child, const AttemptId& parent) {
  children_[child] = parent;
}

void Oracle::check_child(const launcher::JobSubmitted& fact) {
  const auto asked = children_.find(fact.job);
  if (asked == children_.end()) {
    if (fact.spec.is_child())
      world_.violate("oracle:child", fact.job.value + " is a child, but no attempt asked for it");
    return;
  }
  world_.count("launcher:child_begins");
  const launcher::Job* parent = state_.job(asked->second.job);
  if (fact.spec.parent != asked->second.job || fact.spec.parent_attempt != asked->second.number ||
      parent == nullptr)
    return world_.violate("oracle:child", fact.job.value + " does not name its parent's attempt");
  const JobSpec& own = parent->spec;
  if (fact.spec.submitter != own.submitter || fact.spec.run_as != own.run_as ||
      (!own.project.empty() && fact.spec.project != own.project))
    world_.violate("oracle:child", fact.job.value + " has another owner than its parent");
}

bool Oracle::is_orphan(const JobId& job) const {
  const auto asked = children_.find(job);
  if (asked == children_.end()) return false;
  const launcher::Attempt* attempt = state_.attempt(asked->second);
  if (attempt == nullptr) return true;  // deleted since
  if (state_.job(asked->second.job)->cancel_by) return true;
  return attempt->ended && attempt->ended->cause != Cause::completed;
}

void Oracle::check_parent(const launcher::AttemptPlaced& fact) {
  const auto asked = children_.find(fact.attempt.job);
  if (asked == children_.end() || state_.attempt(asked->second) == nullptr) return;
  if (!is_orphan(fact.attempt.job)) return;
  world_.violate("oracle:child", to_string(fact.attempt) +
                                     " was placed after its parent's attempt ended, or its "
                                     "parent was canceled");
}

}  // namespace lockstep::sim
