#include "launcher/core/clients.h"

#include <fmt/format.h>

#include "common/domain/docker_args.h"
#include "launcher/core/environment_requests.h"
#include "launcher/core/placement.h"
#include "launcher/core/retention.h"

namespace lockstep::launcher {

namespace {

std::optional<Error> refusal(const Cluster& cluster, const SubmitInput& input,
                             const JobSpec& spec) {
  if (Status status = validate(spec); !status) return status.error();
  if (spec.in_container())
    if (Status status =
            check_docker_args(spec.resources.docker_args, cluster.config.allowed_docker_args);
        !status)
      return status.error();
  if (const Job* other = cluster.state.job(JobId(spec.name)))
    return make_error(ErrorCode::already_exists,
                      fmt::format("a job '{}' exists already ({}); choose another {}, or leave "
                                  "the name out to get a generated one",
                                  spec.name, to_string(other->status()),
                                  input.spec.name.empty() ? "generated name" : "name"));
  if (cluster.state.queue().size() >= cluster.config.max_queued_jobs)
    return make_error(ErrorCode::resource_exhausted,
                      fmt::format("the queue is full: {} jobs wait, the most allowed; submit "
                                  "again later, or cancel some",
                                  cluster.state.queue().size()));
  return never_possible(cluster, spec);
}

}  // namespace

void react(Context& core, const SubmitInput& input) {
  if (!input.submission.empty()) {
    if (const Job* same = core.state.job_of_submission(input.submission)) {
      core.act(ReplySubmitted{input.reply, same->id});
      return;
    }
  }
  if (const JobId* deleted = core.state.deleted().with_submission(input.submission))
    return core.refuse(
        input.reply, ErrorCode::conflict,
        fmt::format("this submission became job '{}', which was deleted since; submit "
                    "the job anew",
                    deleted->value));
  JobSpec spec = input.spec;
  if (spec.name.empty()) spec.name = input.generated_name;
  if (core.stopping)
    return core.refuse(input.reply, ErrorCode::unavailable,
                       "the launcher is shutting down and takes no new jobs; submit again once it "
                       "was started again");
  if (auto error = refusal(core.cluster(), input, spec))
    return core.refuse(input.reply, error->code, std::move(error->message));
  const JobId job{spec.name};
  const std::string by = spec.submitter;
  core.emit(JobSubmitted{job, input.submission, std::move(spec), 0, era_of_new(core.state, job)});
  if (input.rebuild) rebuild_environment(core, job, by);
  core.act(ReplySubmitted{input.reply, job});
}

void cancel(Context& core, const JobId& id, const std::string& by) {
  const Job& job = *core.state.job(id);
  const bool can = job.phase == Job::Phase::waiting || job.phase == Job::Phase::placed;
  if (can && !job.cancel_by) core.emit(CancelRequested{id, by});
  if (job.phase == Job::Phase::ended) core.canceled_late.insert(id);
}

void react(Context& core, const CancelInput& input) {
  const Job* job = core.state.job(input.job);
  if (job == nullptr) {
    core.refuse(
        input.reply, ErrorCode::not_found,
        fmt::format("there is no job '{}'; `lockstep job list` shows all", input.job.value));
    return;
  }
  const std::string& name = job->id.value;
  std::string message;
  if (job->phase == Job::Phase::final)
    message = fmt::format("job '{}' is already {}", name, to_string(job->status()));
  else if (job->phase == Job::Phase::ended)
    message = fmt::format(
        "job '{}' has already ended; its logs are being collected, and what the launcher has no "
        "space for is given up in {}",
        name, format_duration(core.config.space_patience));
  else if (job->cancel_by)
    message = fmt::format("job '{}' is being canceled already", name);
  else
    message = fmt::format("job '{}' is being canceled", name);
  cancel(core, input.job, input.by);
  core.act(ReplyDone{input.reply, std::move(message)});
}

}  // namespace lockstep::launcher
