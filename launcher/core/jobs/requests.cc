#include "launcher/core/jobs/requests.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "common/domain/job/pipeline.h"
#include "common/domain/why/jobs/orders.h"
#include "common/domain/why/nodes/machines.h"
#include "launcher/core/access/users.h"
#include "launcher/core/jobs/cancel.h"
#include "launcher/core/jobs/child_nodes.h"
#include "launcher/core/jobs/children.h"
#include "launcher/core/jobs/refusals.h"
#include "launcher/core/jobs/retention.h"
#include "launcher/core/jobs/step_names.h"
#include "launcher/core/jobs/target_choice.h"
#include "launcher/core/names/environment_requests.h"
#include "launcher/core/names/objects.h"
#include "launcher/core/queue/dependencies.h"
#include "launcher/core/queue/quotas.h"
#include "launcher/words/why.h"

namespace lockstep::launcher {

namespace {

std::optional<Error> name_is_taken(const Cluster& cluster, const JobSpec& spec,
                                   const std::string& asked) {
  const Job* other = cluster.state.job(JobId(spec.name));
  if (other == nullptr) return std::nullopt;
  return make_error(ErrorCode::already_exists,
                    fmt::format("a job '{}' exists already ({}); choose another {}, or leave the "
                                "name out to get a generated one",
                                spec.name, to_string(other->status()),
                                asked.empty() ? "generated name" : "name"));
}

std::optional<Error> queue_is_full(const Cluster& cluster) {
  if (cluster.state.queue().size() < cluster.config.max_queued_jobs) return std::nullopt;
  return make_error(ErrorCode::resource_exhausted,
                    fmt::format("the queue is full: {} jobs wait, the most allowed; submit again "
                                "later, or cancel some",
                                cluster.state.queue().size()));
}

// The refusals of a job. `spec`: with its owner and target filled in. `input.spec`: as the client
// sent it.
std::vector<Refusal> refusals(const Cluster& cluster, const SubmitInput& input, const JobSpec& spec,
                              const Judging& how) {
  if (how.what == Judging::What::all)
    if (Status status = validate(spec); !status) return {{status.error()}};
  const JobSpec& asked = input.spec;
  if (!asked.parent.value.empty() || !asked.step.empty() || asked.parent_attempt != 0)
    return {{make_error(ErrorCode::invalid_argument, "only a pipeline submits jobs of its steps")}};
  std::vector<Refusal> found;
  if (auto error = name_is_taken(cluster, spec, asked.name))
    found.push_back({*std::move(error), "name"});
  else if (auto owned = is_name_of_step(cluster, spec))
    found.push_back({*std::move(owned), "name"});
  else if (auto taken = step_name_is_taken(cluster, spec))
    found.push_back({*std::move(taken), "name"});
  if (auto error = queue_is_full(cluster)) found.push_back({*std::move(error)});
  const bool has_quota =
      !std::holds_alternative<LauncherItself>(input.caller) && how.what == Judging::What::all;
  if (has_quota)
    if (auto error = refused_by_quota(cluster, spec, input.snapshot_size, input.sources))
      found.push_back({*std::move(error)});
  std::vector<Refusal> of_nodes = spec.is_pipeline() ? refusals_of_steps(cluster, spec, how)
                                                     : refusals_of_nodes(cluster, spec, how);
  std::move(of_nodes.begin(), of_nodes.end(), std::back_inserter(found));
  return found;
}

bool wants_high_priority(const JobSpec& spec) {
  if (spec.queue.priority == Priority::high) return true;
  return spec.pipeline && std::any_of(spec.pipeline->steps.begin(), spec.pipeline->steps.end(),
                                      [](const PipelineStep& step) {
                                        return step.spec.queue.priority == Priority::high;
                                      });
}

// Checks that a user with the permission asks for priority high: if all could, it would have no
// effect.
Status check_priority(const Cluster& cluster, const Caller& caller, const JobSpec& spec) {
  if (!wants_high_priority(spec)) return {};
  const auto* attempt = std::get_if<AttemptCaller>(&caller);
  Decision decision = may(cluster.state.principals(), caller, Permission::raise_priority,
                          {spec.submitter, spec.project, false,
                           attempt == nullptr ? JobId() : attempt->attempt.job, spec.parent});
  if (decision.allowed) return {};
  return make_error(ErrorCode::permission_denied, std::move(decision.why));
}

// Chooses the target of a job that names none. A reason for the choice that the client sent is
// discarded.
void settle_target(const Cluster& cluster, JobSpec& spec) {
  spec.compute_why = {};
  if (spec.is_pipeline() || !validate(spec)) return;
  auto choice = choose_target(cluster, spec);
  if (!choice) return;
  spec.compute = std::move(choice->target);
  spec.compute_why = std::move(choice->why);
}

// Sets the job's owner and project.
Status take_project(const Cluster& cluster, const Caller& caller, JobSpec& spec) {
  const Principals& principals = cluster.state.principals();
  const auto* attempt = std::get_if<AttemptCaller>(&caller);
  if (attempt != nullptr) TRY(adopt(cluster, *attempt, spec));
  const bool is_persons = !std::holds_alternative<LauncherItself>(caller) && attempt == nullptr;
  if (is_persons) spec.submitter = name_of(caller);
  spec.project = project_of_new(principals, caller, spec.project);
  if (!principals.has_project(spec.project))
    return make_error(
        ErrorCode::not_found,
        fmt::format("there is no project '{}'; `lockstep project list` shows yours", spec.project));
  Decision decision = may(principals, caller, Permission::submit,
                          {spec.submitter, spec.project, false, {}, spec.parent});
  if (!decision.allowed) return make_error(ErrorCode::permission_denied, std::move(decision.why));
  return {};
}

// Sets the account as which the job's ranks run. A child runs as its parent's account.
Status take_account(const Cluster& cluster, const Caller& caller, JobSpec& spec) {
  TRY(check_priority(cluster, caller, spec));
  if (std::holds_alternative<AttemptCaller>(caller)) return {};
  TRY_ASSIGN(spec.run_as, account_for(cluster.state.principals(), caller, spec.run_as,
                                      cluster.config.allow_root));
  return {};
}

Status take_owner(const Cluster& cluster, const Caller& caller, JobSpec& spec) {
  TRY(take_project(cluster, caller, spec));
  return take_account(cluster, caller, spec);
}

// Checks that a person asks for a rebuild, because it changes what later jobs of the account
// install.
Status check_rebuild(const SubmitInput& input) {
  const auto* attempt = std::get_if<AttemptCaller>(&input.caller);
  if (attempt == nullptr || !input.rebuild) return {};
  return make_error(
      ErrorCode::permission_denied,
      fmt::format("--rebuild: a job that is submitted by job '{}' cannot have its environment "
                  "rebuilt, because that decides what other jobs install; leave out --rebuild "
                  "here, and submit a job with --rebuild yourself",
                  attempt->attempt.job.value));
}

// Turns a delay into a time, counted from the submission. The tasks of an array count from the
// array's submission.
void settle_time(QueueSettings& queue, Instant now) {
  if (const Duration delay = std::exchange(queue.delay, Duration{0}); delay > Duration{0})
    queue.not_before = now + delay;
}

void settle_time(JobSpec& spec, Instant now) {
  settle_time(spec.queue, now);
  if (!spec.pipeline) return;
  PipelineSpec pipeline = *spec.pipeline;
  for (PipelineStep& step : pipeline.steps) settle_time(step.spec.queue, now);
  spec.pipeline = std::move(pipeline);
}

constexpr std::string_view kWayOut =
    "the two would wait for each other for ever. Let the job that submits hold less (--cpus, "
    "--memory, --gpus; lockstep.resources in a job file), or do not wait for the child (`lockstep "
    "run --detach`, or `lockstep job create` without `--stream`): it starts when that job has "
    "ended";

// Refuses a pipeline of which a step names a checkpoint that does not exist.
Status check_checkpoints_of_steps(const Cluster& cluster, const Caller& caller,
                                  const JobSpec& spec) {
  if (!spec.pipeline) return {};
  for (const PipelineStep& step : spec.pipeline->steps)
    if (const auto checkpoint = first_checkpoint(cluster, caller, step.spec); !checkpoint)
      return checkpoint.error().within("jobs." + step.name);
  return {};
}

// Answers a submission whose id was used before; false: it is new. A client repeats a submission if
// the answer was lost, so its job is named again.
bool is_repeated(Context& core, const SubmitInput& input) {
  const Job* same =
      input.submission.empty() ? nullptr : core.state.job_of_submission(input.submission);
  if (same != nullptr) {
    const bool is_theirs =
        may(core.state.principals(), input.caller, Permission::see_job, object_of(*same)).allowed;
    if (is_theirs)
      core.act(ReplySubmitted{input.reply, same->id, submission_notes(core.cluster(), same->spec)});
    else
      core.refuse(input.reply, ErrorCode::conflict,
                  "another user has already used the id of this submission; submit the job again");
    return true;
  }
  const JobId* deleted = core.state.deleted().with_submission(input.submission);
  if (deleted == nullptr) return false;
  core.refuse(
      input.reply, ErrorCode::conflict,
      fmt::format(
          "this submission created job '{}', which has since been deleted; submit the job again",
          deleted->value));
  return true;
}

// A submission that passed all checks.
struct Accepted {
  JobSpec spec;  // with its owner, target and start time
  std::optional<CheckpointSource> checkpoint;
  Why held;  // why it waits for a job above it; none: it does not
};

// The job as the launcher will record it. An error: the first reason for which it is refused.
Result<Accepted> accept(const Context& core, const SubmitInput& input) {
  const Cluster cluster = core.cluster();
  JobSpec spec = input.spec;
  if (spec.name.empty()) spec.name = input.generated_name;
  TRY(take_owner(cluster, input.caller, spec));
  if (core.stopping)
    return make_error(ErrorCode::unavailable,
                      "the launcher is shutting down and takes no new jobs; submit again after it "
                      "has restarted");
  TRY(check_rebuild(input));
  settle_target(cluster, spec);
  if (const auto refused = refusals(cluster, input, spec, {Judging::What::all, input.wait_anyway});
      !refused.empty())
    return refused.front().whole();
  if (auto error = refused_dependencies(cluster, input.caller, spec)) return *std::move(error);
  const Why held = held_by_parents(cluster, spec);
  if (held && input.waits)
    return make_error(ErrorCode::conflict, words::text_of(held) + ": " + std::string(kWayOut));
  TRY_ASSIGN(auto checkpoint, first_checkpoint(cluster, input.caller, spec));
  TRY(check_checkpoints_of_steps(cluster, input.caller, spec));
  settle_time(spec, core.now);
  return Accepted{std::move(spec), std::move(checkpoint), held};
}

}  // namespace

void react(Context& core, const SubmitInput& input) {
  if (is_repeated(core, input)) return;
  auto accepted = accept(core, input);
  if (!accepted)
    return core.refuse(input.reply, accepted.error().code, std::move(accepted.error().message));
  const JobId job{accepted->spec.name};
  core.emit(JobSubmitted{job, input.submission, std::move(accepted->spec), 0,
                         incarnation_of_new(core.state, job), std::move(accepted->checkpoint), 0,
                         input.sources});
  if (const Job* parent = core.state.job(core.state.job(job)->child_of); parent && parent->shared)
    core.emit(JobShared{job, true, name_of(input.caller)});
  if (input.rebuild) rebuild_environment(core, job, name_of(input.caller));
  inherit_locks(core, job);
  std::vector<Why> notes = submission_notes(core.cluster(), core.state.job(job)->spec);
  if (accepted->held) notes.emplace_back(StartsAfterParent{accepted->held});
  core.act(ReplySubmitted{input.reply, job, std::move(notes)});
}

std::vector<Refusal> all_refusals(const Cluster& cluster, const Caller& caller, JobSpec spec,
                                  const Judging& how) {
  SubmitInput input;
  input.wait_anyway = how.wait_anyway;
  input.spec = spec;
  input.caller = caller;
  std::vector<Refusal> found;
  const auto add = [&found](const Error& error, const char* key) { found.push_back({error, key}); };
  const bool is_of_attempt = std::holds_alternative<AttemptCaller>(caller);
  if (const Status owned = take_project(cluster, caller, spec); !owned) {
    add(owned.error(), is_of_attempt ? "" : "lockstep.project");
    if (is_of_attempt) return found;  // a job of an attempt then has no account
  }
  if (const Status owned = take_account(cluster, caller, spec); !owned) add(owned.error(), "");
  settle_target(cluster, spec);
  for (Refusal& one : refusals(cluster, input, spec, how)) found.push_back(std::move(one));
  if (const auto error = refused_dependencies(cluster, caller, spec)) add(*error, "lockstep.after");
  if (const auto checkpoint = first_checkpoint(cluster, caller, spec); !checkpoint)
    add(checkpoint.error(), "lockstep.from_checkpoint_of");
  if (const Status good = check_checkpoints_of_steps(cluster, caller, spec); !good)
    add(good.error(), "");
  return found;
}

void react(Context& core, const UpdateJobInput& input) {
  const Job* job = known_job(core, input.reply, input.job);
  if (job == nullptr) return;
  if (!permitted(core, input.reply, input.caller, Permission::update_job, object_of(*job))) return;
  if (input.priority == Priority::high && job->spec.queue.priority != Priority::high &&
      !permitted(core, input.reply, input.caller, Permission::raise_priority, object_of(*job)))
    return;
  const std::string_view priority = to_string(input.priority);
  if (!job->is_waiting() || job->cancel_by)
    return core.refuse(
        input.reply, ErrorCode::conflict,
        fmt::format("job '{}' is {}; the priority of a job can be changed only while it is Queued",
                    job->id.value, to_string(job->status())));
  if (job->spec.queue.priority == input.priority)
    return core.act(ReplyDone{
        input.reply, fmt::format("job '{}' has priority {} already", job->id.value, priority)});
  core.emit(JobPriorityChanged{job->id, input.priority, name_of(input.caller)});
  core.act(
      ReplyDone{input.reply, fmt::format("job '{}' has priority {}", job->id.value, priority)});
}

void react(Context& core, const ShareInput& input) {
  const Job* job = known_job(core, input.reply, input.job);
  if (job == nullptr) return;
  if (!permitted(core, input.reply, input.caller, Permission::share_job, object_of(*job))) return;
  const std::string project =
      job->spec.project.empty() ? std::string(kDefaultProject) : job->spec.project;
  // Shares the job together with the jobs that it submitted. A step can only be shared with its
  // whole pipeline.
  std::vector<JobId> all = descendants(core.state, *job);
  all.insert(all.begin(), job->id);
  for (const JobId& id : all)
    if (const Job* one = core.state.job(id);
        one->shared != input.shared && (one == job || one->spec.step.empty()))
      core.emit(JobShared{id, input.shared, name_of(input.caller)});
  core.act(
      ReplyDone{input.reply, fmt::format("job '{}' is {}shared with project {}", input.job.value,
                                         input.shared ? "" : "no longer ", project)});
}

void react(Context& core, const CancelInput& input) {
  const Job* job = known_job(core, input.reply, input.job);
  if (job == nullptr) return;
  if (!permitted(core, input.reply, input.caller, Permission::cancel_job, object_of(*job))) return;
  const std::string& name = job->id.value;
  std::string message;
  if (job->is_final())
    message = fmt::format("job '{}' is already {}", name, to_string(job->status()));
  else if (job->is_ending())
    message = fmt::format(
        "job '{}' has already ended; its logs are being collected; logs that the launcher has no "
        "space for are dropped after {}",
        name, format_duration(core.config.space_timeout));
  else if (job->cancel_by)
    message = fmt::format("job '{}' is being canceled already", name);
  else
    message = fmt::format("job '{}' is being canceled", name);
  const auto* attempt = std::get_if<AttemptCaller>(&input.caller);
  cancel(core, input.job,
         attempt == nullptr ? Why(AskedBy{name_of(input.caller)})
                            : Why(AskedByAttempt{attempt->attempt}));
  core.act(ReplyDone{input.reply, std::move(message)});
}

}  // namespace lockstep::launcher
