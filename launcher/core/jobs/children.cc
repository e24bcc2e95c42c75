#include "launcher/core/jobs/children.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "common/domain/why/jobs/orders.h"
#include "launcher/core/jobs/cancel.h"

namespace lockstep::launcher {
namespace {

Error denied(std::string why) { return make_error(ErrorCode::permission_denied, std::move(why)); }

// The number of jobs above this one that submitted another; 0 for a job that a person submitted.
int generation_of(const State& state, const Job& job) {
  int generation = 0;
  for (const Job* at = &job; at != nullptr && !at->child_of.value.empty();
       at = state.job(at->child_of))
    if (++generation >= kMaxGenerations) break;
  return generation;
}

Status check_limits(const State& state, const Job& parent) {
  if (state.children(parent.id).size() >= kMaxChildren)
    return make_error(ErrorCode::resource_exhausted,
                      fmt::format("job '{}' has submitted {} jobs, the most allowed for one job; "
                                  "delete some that have ended",
                                  parent.id.value, kMaxChildren));
  if (generation_of(state, parent) < kMaxGenerations) return {};
  return make_error(
      ErrorCode::resource_exhausted,
      fmt::format("job '{}' was submitted by a job, which was submitted by a job, and so on {} "
                  "times, the most allowed; submit from a job further up",
                  parent.id.value, kMaxGenerations));
}

// Checks that a child does not register data or models: only people choose these names.
Status check_names(const JobSpec& spec) {
  const auto named =
      std::find_if(spec.outputs.begin(), spec.outputs.end(),
                   [](const OutputSpec& output) { return output.asset.has_value(); });
  if (named == spec.outputs.end()) return {};
  return denied(
      fmt::format("outputs.{0}.name: a job that is submitted by a job cannot register its "
                  "outputs; leave out 'name', and read it as "
                  "azureml://jobs/JOB/outputs/{0}",
                  named->name));
}

Status take(std::string& asked, const std::string& parents, std::string_view what,
            const JobId& parent) {
  if (!asked.empty() && asked != parents)
    return denied(fmt::format("a job that is submitted by job '{}' has its {}, '{}'; leave out {}",
                              parent.value, what, parents, asked));
  asked = parents;
  return {};
}

// Why the job is canceled with its parent's attempt; none: it continues.
Why why_orphaned(const State& state, const Job& job) {
  if (!job.spec.is_child() || job.child_of.value.empty()) return {};
  const Job& parent = *state.job(job.child_of);
  const std::size_t number = job.spec.parent_attempt;
  if (parent.cancel_by) return ParentCanceled{parent.id};
  if (number == 0 || number > parent.attempts.size()) return {};
  const auto& ended = parent.attempts[number - 1].ended;
  if (!ended || ended->cause == Cause::completed) return {};
  return ParentEnded{parent.id, static_cast<int>(number)};
}

// The job's steps and children. Steps of a deleted pipeline may be gone already, if the launcher
// ended while it deleted them.
std::vector<JobId> below(const State& state, const Job& job) {
  std::vector<JobId> jobs;
  if (job.steps) jobs = job.steps->jobs();
  std::erase_if(jobs, [&](const JobId& id) { return state.job(id) == nullptr; });
  for (const std::uint64_t order : state.children(job.id))
    jobs.push_back(state.submitted().at(order));
  return jobs;
}

}  // namespace

bool is_current(const State& state, const AttemptId& id) {
  const Job* job = state.job(id.job);
  if (job == nullptr || !job->is_placed() || job->cancel_by) return false;
  const Attempt* attempt = job->last_attempt();
  return attempt->id == id && !attempt->ended && !attempt->doomed && attempt->tally.failed == 0;
}

namespace {

// True if the ranks of the attempt have got SIGTERM or will get it, so that ranks which wait for a
// child see its end. False if a part was given up: the ranks of a lost node may continue to run.
bool is_ending(const State& state, const AttemptId& id) {
  const Job* job = state.job(id.job);
  if (job == nullptr || !job->is_placed()) return false;
  const Attempt* attempt = job->last_attempt();
  return attempt->id == id && !attempt->ended &&
         std::none_of(attempt->parts.begin(), attempt->parts.end(),
                      [](const Part& part) { return part.gone() != nullptr; });
}

}  // namespace

std::optional<AttemptCaller> caller_of(const State& state, const AttemptId& attempt) {
  const bool current = is_current(state, attempt);
  if (!current && !is_ending(state, attempt)) return std::nullopt;
  const JobSpec& spec = state.job(attempt.job)->spec;
  return AttemptCaller{attempt, spec.submitter, spec.project, !current};
}

Status check_secrets(const State& state, const Caller& caller, const std::set<std::string>& names) {
  const auto* attempt = std::get_if<AttemptCaller>(&caller);
  if (attempt == nullptr || names.empty()) return {};
  const Job* parent = state.job(attempt->attempt.job);
  std::set<std::string> known;
  if (parent != nullptr) known = secrets_of(parent->spec.environment_variables);
  for (const std::string& name : names)
    if (known.count(name) == 0)
      return denied(
          fmt::format("environment_variables: a job that is submitted by job '{0}' may "
                      "use only the secrets that this job itself names, and '{1}' is "
                      "none of them; name it in the environment_variables of '{0}' too",
                      attempt->attempt.job.value, name));
  return {};
}

Status adopt(const Cluster& cluster, const AttemptCaller& caller, JobSpec& spec) {
  const State& state = cluster.state;
  if (!is_current(state, caller.attempt))
    return denied(fmt::format("attempt {} has ended or is being ended, and submits no more jobs",
                              to_string(caller.attempt)));
  const Job& parent = *state.job(caller.attempt.job);
  const JobSpec& own = parent.spec;
  const std::string project = own.project.empty() ? std::string(kDefaultProject) : own.project;
  TRY(take(spec.project, project, "project", parent.id));
  TRY(take(spec.run_as, own.run_as, "account", parent.id));
  if (own.run_as == "root" && !cluster.config.allow_root)
    return denied("jobs may not run as root on this launcher any more");
  TRY(check_limits(state, parent));
  const auto check_words = [&](const JobSpec& words) -> Status {
    TRY(check_secrets(state, caller, secrets_of(words.environment_variables)));
    return check_names(words);
  };
  TRY(check_words(spec));
  if (spec.pipeline)
    for (const PipelineStep& step : spec.pipeline->steps)
      if (const Status allowed = check_words(step.spec); !allowed)
        return allowed.error().within("jobs." + step.name);
  spec.submitter = own.submitter;
  spec.parent = parent.id;
  spec.parent_attempt = caller.attempt.number;
  if (spec.experiment_name.empty()) spec.experiment_name = own.experiment_name;
  return {};
}

void follow_parent(Context& core, const Job& job) {
  if (job.cancel_by) return;
  if (const Why by = why_orphaned(core.state, job)) cancel(core, job.id, by);
}

std::vector<JobId> descendants(const State& state, const Job& job) {
  std::vector<JobId> found = below(state, job);
  for (std::size_t i = 0; i < found.size(); ++i)
    for (JobId& next : below(state, *state.job(found[i]))) found.push_back(std::move(next));
  return found;
}

const Job* open_descendant(const State& state, const Job& job) {
  for (const JobId& id : descendants(state, job))
    if (const Job* one = state.job(id); !one->is_final()) return one;
  return nullptr;
}

}  // namespace lockstep::launcher
