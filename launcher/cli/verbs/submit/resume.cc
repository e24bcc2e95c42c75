// Submits a job that ended again: the same except for its name, continuing from its checkpoint. For
// a pipeline, each step that did not complete.

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "common/grammar/job_name.h"
#include "launcher/cli/base/step_choice.h"
#include "launcher/cli/job/file_request.h"
#include "launcher/cli/submit/submit_and_watch.h"
#include "launcher/cli/verbs/submit/pipeline_resume.h"
#include "launcher/cli/verbs/submit/submit_verbs.h"

namespace lockstep::cli {
namespace {

struct ResumeOptions {
  std::string name;
  std::string new_name;  // "": generated
  bool stream = false;
  bool quiet = false;
  bool wait_anyway = false;  // wait even if that is in vain
  Format format = Format::table;
};

// Checks that the caller owns the job: other users do not see the values of its variables, so they
// would submit a different job.
Status check_owner(Connection& connection, const JobSpec& spec) {
  TRY_ASSIGN(const UsersReply me, connection.ask_for<UsersReply>(WhoAmI{}));
  if (!me.users.empty() && me.users.front().name == spec.submitter) return {};
  if (me.users.empty())
    return make_error(
        ErrorCode::permission_denied,
        fmt::format(
            "job resume cannot be used inside a job, because a job is not shown the values "
            "of another job's variables; {1} may resume '{0}' from a shell, or this job may "
            "start a new one from the checkpoint of '{0}': lockstep run "
            "--from-checkpoint-of {0} -- COMMAND",
            spec.name, spec.submitter));
  return make_error(
      ErrorCode::permission_denied,
      fmt::format("job '{0}' belongs to {1}, and only its owner may resume it; to start your own "
                  "job from its checkpoint: lockstep run --from-checkpoint-of {0} -- COMMAND",
                  spec.name, spec.submitter));
}

Status check_ended(const JobView& job) {
  if (is_final(job.status)) return {};
  return make_error(
      ErrorCode::conflict,
      fmt::format("job '{0}' is {1} and has not ended; end it first with `lockstep job cancel {0}`",
                  job.spec.name, to_string(job.status)));
}

Result<JobSpec> spec_to_resume(Connection& connection, const ResumeOptions& options) {
  TRY_ASSIGN(const JobId ended, named_job(connection, "job resume", options.name));
  TRY_ASSIGN(JobReply reply, connection.ask_for<JobReply>(ShowJob{ended, true}));
  TRY(check_owner(connection, reply.job.spec));
  TRY(check_ended(reply.job));
  JobSpec spec = std::move(reply.job.spec);
  spec.parent = {};
  spec.step.clear();
  spec.parent_attempt = 0;
  if (spec.display_name == spec.name) spec.display_name.clear();
  wait_for_nothing(spec);
  const JobId before(std::exchange(spec.name, options.new_name));
  if (!spec.pipeline) {
    spec.from_checkpoint_of = before;
    return spec;
  }
  reply.job.spec = spec;
  reply.job.spec.name = before.value;
  TRY_ASSIGN(PipelineSpec pipeline, steps_to_resume(connection, reply.job));
  spec.pipeline = std::move(pipeline);
  return spec;
}

int resume(Context& context, const ResumeOptions& options) {
  const int otherwise = options.stream ? kExitLockstepFailed : kExitFailure;
  if (!options.new_name.empty())
    if (const Status valid = validate_job_name(options.new_name); !valid)
      return fail(context.terminal, valid.error().within("--name"), kExitUsage);
  const auto connection = context.connect(Context::Need::nodes);
  if (!connection) return fail(context.terminal, connection.error(), otherwise);
  auto spec = spec_to_resume(**connection, options);
  if (!spec) return fail(context.terminal, spec.error(), otherwise);
  CheckJobFile question;
  question.spec = *spec;
  question.wait_anyway = options.wait_anyway;
  if (!options.new_name.empty()) question.places["name"] = "--name " + options.new_name;
  Submission submission;
  submission.spec = *std::move(spec);
  submission.waits = options.stream;
  submission.wait_anyway = options.wait_anyway;
  return submit_and_watch(context, **connection, std::move(submission),
                          {true, options.quiet, 0, options.format}, otherwise,
                          [&](const Error& error) {
                            fail_with_all_of(context, **connection, question, error, otherwise);
                          });
}

}  // namespace

void add_resume_verb(CLI::App& group, VerbTable table) {
  const auto options = std::make_shared<ResumeOptions>();
  CLI::App* const verb = table.add_below(
      group, "resume",
      "submit an ended job again, starting from its newest checkpoint; of a pipeline or an array, "
      "what did not complete");
  if (verb == nullptr) return;
  verb->add_option("NAME", options->name, "the job")->required()->check(job_name());
  verb->add_option("--name", options->new_name, "the new job's name (default: a generated one)")
      ->check(filled("leave it out to get a generated name"));
  verb->add_flag("--stream", options->stream,
                 "follow the new job to its end, and return its exit code");
  verb->add_flag("-q,--quiet", options->quiet, "with --stream: only the job's output and failures");
  add_wait_anyway(*verb, options->wait_anyway);
  add_format(*verb, options->format, "print the job's record: json or yaml");
  verb->callback([table, options] {
    table.action = [options](Context& context) { return resume(context, *options); };
  });
}

}  // namespace lockstep::cli
