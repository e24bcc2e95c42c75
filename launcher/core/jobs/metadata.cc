#include "launcher/core/jobs/metadata.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/domain/ranks/limits.h"
#include "launcher/core/access/users.h"
#include "launcher/core/jobs/cancel.h"
#include "launcher/core/queue/quotas.h"

namespace lockstep::launcher {

namespace {

// The pipeline of a step's job; null: the job is not a step, or its pipeline was deleted.
const Job* pipeline_around(const State& state, const Job& job) {
  return job.spec.step.empty() ? nullptr : state.job(job.spec.parent);
}

JobSpec annotated(JobSpec spec, const AnnotateJob& ask) {
  if (ask.display_name) spec.display_name = *ask.display_name;
  if (ask.description) spec.description = *ask.description;
  if (ask.experiment_name) spec.experiment_name = *ask.experiment_name;
  if (ask.clear_tags) spec.tags.clear();
  for (const std::string& key : ask.remove_tags) spec.tags.erase(key);
  for (const auto& [key, value] : ask.set_tags) spec.tags[key] = value;
  return spec;
}

std::optional<Error> why_not_annotated(const Cluster& cluster, const JobSpec& before,
                                       const JobSpec& after) {
  if (after.tags.count("") != 0)
    return make_error(ErrorCode::invalid_argument, "tags: a tag needs a key, as in tags.KEY=VALUE");
  if (after.tags.size() > std::max(kMaxJobTags, before.tags.size()))
    return make_error(ErrorCode::resource_exhausted,
                      fmt::format("job '{}' would have {} tags, and {} are possible; remove some "
                                  "with --remove tags.KEY",
                                  before.name, after.tags.size(), kMaxJobTags));
  const std::size_t bytes = annotation_bytes(after);
  if (bytes > std::max(kMaxAnnotationBytes, annotation_bytes(before)))
    return make_error(
        ErrorCode::resource_exhausted,
        fmt::format("the texts and tags of job '{}' would have {} bytes, and {} are possible",
                    before.name, with_commas(bytes), with_commas(kMaxAnnotationBytes)));
  return refused_by_quota_of_texts(cluster, before, after);
}

}  // namespace

bool is_archived(const State& state, const Job& job) {
  const Job* pipeline = pipeline_around(state, job);
  return job.archived || (pipeline != nullptr && pipeline->archived);
}

void react(Context& core, const ArchiveJobInput& input) {
  const Job* job = known_job(core, input.reply, input.ask.job);
  if (job == nullptr) return;
  if (!permitted(core, input.reply, input.caller, Permission::annotate_job, object_of(*job)))
    return;
  const bool archived = input.ask.archived;
  const std::string& name = job->id.value;
  if (const Job* pipeline = pipeline_around(core.state, *job))
    return core.refuse(
        input.reply, ErrorCode::conflict,
        fmt::format("job '{}' is step '{}' of pipeline '{}', and is {} with that: "
                    "lockstep job {} {}",
                    name, job->spec.step, pipeline->id.value, archived ? "archived" : "restored",
                    archived ? "archive" : "restore", pipeline->id.value));
  std::string message;
  if (job->archived == archived)
    message = fmt::format("job '{}' is {}", name, archived ? "archived already" : "not archived");
  else if (!archived)
    message = fmt::format("job '{}' is restored", name);
  else if (job->is_final())
    message = fmt::format("job '{}' is archived", name);
  else
    message =
        fmt::format("job '{}' is archived; it is {}, and goes on", name, to_string(job->status()));
  if (job->archived != archived) core.emit(JobArchived{job->id, archived, name_of(input.caller)});
  core.act(ReplyDone{input.reply, std::move(message)});
}

void react(Context& core, const AnnotateJobInput& input) {
  const Job* job = known_job(core, input.reply, input.ask.job);
  if (job == nullptr) return;
  if (!permitted(core, input.reply, input.caller, Permission::annotate_job, object_of(*job)))
    return;
  JobSpec after = annotated(job->spec, input.ask);
  if (auto error = why_not_annotated(core.cluster(), job->spec, after))
    return core.refuse(input.reply, error->code, std::move(error->message));
  if (after == job->spec)
    return core.act(
        ReplyDone{input.reply, fmt::format("job '{}' is unchanged: it has these texts and tags "
                                           "already",
                                           job->id.value)});
  core.emit(JobAnnotated{job->id, std::move(after.display_name), std::move(after.description),
                         std::move(after.experiment_name), std::move(after.tags),
                         name_of(input.caller)});
  core.act(ReplyDone{input.reply, fmt::format("job '{}' is updated", job->id.value)});
}

}  // namespace lockstep::launcher
