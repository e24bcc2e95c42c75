#include "launcher/cli/submit/run_job.h"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "common/domain/job/array.h"
#include "common/domain/job/pipeline.h"
#include "launcher/cli/attach/rank_zero_terminal.h"
#include "launcher/cli/job/run_spec.h"

namespace lockstep::cli {

namespace {

// Checks the code folder before anything is started.
Status check_code(const RunArguments& arguments) {
  std::error_code failure;
  const auto status = std::filesystem::status(arguments.code, failure);
  const bool is_good =
      std::filesystem::is_directory(status) || std::filesystem::is_regular_file(status);
  if (arguments.code.empty() || is_good) return {};
  return make_error(
      ErrorCode::invalid_argument,
      fmt::format("run: --code '{}' {}; name the source directory or a file, or leave --code out "
                  "to take the current directory",
                  arguments.code,
                  std::filesystem::exists(status) ? "is neither a directory nor a file"
                                                  : "does not exist"));
}

// Makes an array of a submission. Each task needs the job's files of this machine. They are
// captured once.
void become_array(Submission& submission, const ArraySpec& array) {
  submission.spec = as_array(submission.spec, array);
  StepSubmission one{std::move(submission.directory), std::move(submission.build),
                     std::move(submission.data), submission.directory_was_named};
  one.links = submission.links;
  submission.steps.assign(array.indices.size(), one);
  submission.directory.reset();
  submission.build.reset();
  submission.data.clear();
}

// Uses the user's settings for options that the command line lacks.
Result<ComputeChoice> take_settings(Context& context, JobSpec& spec) {
  ComputeChoice target{spec.compute, "--compute"};
  if (target.name.empty()) {
    TRY_ASSIGN(target, default_compute(context.home));
    spec.compute = target.name;
  }
  TRY(choose_experiment(context.home, spec));
  return target;
}

}  // namespace

RunJob read_job(Context& context, const RunArguments& arguments, std::vector<Error>& errors) {
  const auto check = [&](const Status& status) {
    if (!status) errors.push_back(status.error());
  };
  const auto taken = [&](auto result, auto& to) {
    if (result)
      to = *std::move(result);
    else
      errors.push_back(std::move(result).error());
  };
  RunJob job;
  spec::Faults faults;
  job.spec = spec_of(arguments, faults);
  check(faults.status());
  check(read_port_flags(arguments, job.spec, job.data));
  taken(array_of(arguments), job.array);
  check(check_code(arguments));
  check(check_terminal(arguments.terminal, arguments.detach, job.array.has_value(),
                       arguments.format != Format::table));
  job.notes = notes_of_variables(arguments, job.spec);
  taken(take_settings(context, job.spec), job.target);
  taken(environment_of(arguments, job.notes), job.environment);
  return job;
}

CheckJobFile question_of(const RunArguments& arguments, const RunJob& job) {
  CheckJobFile question;
  JobSpec spec = job.spec;
  if (job.environment)
    if (const auto* content = std::get_if<spec::ReadEnvironment>(&*job.environment);
        content != nullptr && !content->build)
      spec.environment = content->environment.spec;
  question.spec = job.array ? as_array(spec, *job.array) : spec;
  question.wait_anyway = arguments.wait_anyway;
  question.places = flags_by_key(arguments);
  question.places["compute"] = job.target.where;
  if (!job.environment) return question;
  if (const auto* named = std::get_if<spec::EnvironmentReference>(&*job.environment)) {
    question.environment = named->text;
    question.places["environment"] = named->where;
  }
  return question;
}

Submission submission_of(const RunArguments& arguments, RunJob job) {
  Submission submission;
  submission.note = held_besides(job.spec.resources);
  submission.spec = std::move(job.spec);
  submission.rebuild = arguments.rebuild;
  submission.quiet = arguments.quiet;
  submission.data = std::move(job.data);
  submission.waits = !arguments.detach;
  submission.wait_anyway = arguments.wait_anyway;
  submission.build = std::move(job.build);
  submission.directory = arguments.code.empty() ? "." : arguments.code;
  submission.directory_was_named = !arguments.code.empty();
  submission.links = arguments.links.value_or(snapshot::Links::follow);
  if (job.array) become_array(submission, *job.array);
  return submission;
}

}  // namespace lockstep::cli
