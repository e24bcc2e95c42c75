#include "launcher/cli/base/step_choice.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <algorithm>

#include "common/base/printable.h"
#include "common/domain/job/pipeline.h"
#include "launcher/cli/base/verb_table.h"

namespace lockstep::cli {

namespace {

Error wrong(const std::string& verb, const std::string& what) {
  return make_error(ErrorCode::invalid_argument, verb + ": " + what);
}

}  // namespace

void add_step(CLI::App& verb, std::string& step) {
  verb.add_option("--step", step, "only this step of the pipeline")
      ->check(filled("leave it out to see all steps"));
}

Result<JobId> job_of_step(const std::string& verb, const JobView& job, const std::string& name) {
  constexpr std::size_t kMostNamed = 20;
  if (!job.spec.is_pipeline())
    return wrong(verb,
                 fmt::format("{} is not a pipeline, so it has no step '{}'", job.spec.name, name));
  std::string names;
  for (std::size_t i = 0; i < job.steps.size(); ++i) {
    const StepView& step = job.steps[i];
    if (i < kMostNamed) names += (names.empty() ? "" : ", ") + step.name;
    if (step.name != name) continue;
    // The step's job, or the one whose results it reuses.
    if (!step.job.value.empty()) return step.job;
    return wrong(verb, fmt::format("step '{}' of {} has no job{}", name, job.spec.name,
                                   step.reason.empty() ? "" : ": " + step.reason));
  }
  if (job.steps.size() > kMostNamed)
    names += fmt::format(" and {} more", job.steps.size() - kMostNamed);
  const char* const what = job.spec.pipeline->array.empty() ? "step" : "task";
  return wrong(
      verb, fmt::format("{} has no {} '{}'; its {}s: {}", job.spec.name, what, name, what, names));
}

std::string reused_text(const StepView& step, const std::string& what) {
  if (step.phase != StepPhase::reused) return "";
  return fmt::format("step '{}' was reused from job {}, whose {}", step.name, step.job.value, what);
}

Result<JobId> own_job_of_step(const std::string& verb, const JobView& job,
                              const std::string& name) {
  TRY_ASSIGN(JobId own, job_of_step(verb, job, name));
  for (const StepView& step : job.steps)
    if (step.name == name && step.phase == StepPhase::reused)
      return make_error(
          ErrorCode::conflict,
          fmt::format("{}: step '{}' was reused from job {}; to change that one, name it", verb,
                      step.name, step.job.value));
  return own;
}

void say_whose(Connection& connection, Terminal& terminal, const JobView& job) {
  const auto me = connection.ask_for<UsersReply>(WhoAmI{});
  if (!me || me->users.empty() || me->users.front().name == job.spec.submitter) return;
  terminal.print_line(
      in_one_line(fmt::format("job '{}' is {}'s", job.spec.name, job.spec.submitter)));
}

void say_whose(Connection& connection, Terminal& terminal, const JobId& job) {
  if (const auto known = connection.ask_for<JobReply>(ShowJob{job}))
    say_whose(connection, terminal, known->job);
}

namespace {

using OfStep = Result<JobId> (*)(const std::string& verb, const JobView& job,
                                 const std::string& name);

Result<JobId> job_of_word(Connection& connection, const std::string& verb, const std::string& word,
                          OfStep of_step) {
  const auto slash = word.find('/');
  if (slash == word.npos) return JobId(word);
  TRY_ASSIGN(const JobReply whole,
             connection.ask_for<JobReply>(ShowJob{JobId(word.substr(0, slash))}));
  return of_step(verb, whole.job, word.substr(slash + 1));
}

}  // namespace

Result<JobId> named_job(Connection& connection, const std::string& verb, const std::string& word) {
  return job_of_word(connection, verb, word, job_of_step);
}

Result<JobId> job_to_change(Connection& connection, const std::string& verb,
                            const std::string& word) {
  return job_of_word(connection, verb, word, own_job_of_step);
}

Result<JobId> job_to_read(Connection& connection, Terminal& terminal, const std::string& verb,
                          const std::string& word, const std::string& what) {
  if (word.find('/') == word.npos) return JobId(word);
  TRY_ASSIGN(const JobView job, chosen_job(connection, terminal, verb, word, "", what));
  return JobId(job.spec.name);
}

Result<JobView> chosen_job(Connection& connection, Terminal& terminal, const std::string& verb,
                           const std::string& word, const std::string& step_option,
                           const std::string& what) {
  const auto slash = step_option.empty() ? word.find('/') : word.npos;
  const std::string name = word.substr(0, slash);
  const std::string step = slash == word.npos ? step_option : word.substr(slash + 1);
  TRY_ASSIGN(JobReply known, connection.ask_for<JobReply>(ShowJob{JobId(name)}));
  if (step.empty()) return std::move(known.job);
  TRY_ASSIGN(const JobId job, job_of_step(verb, known.job, step));
  const auto& steps = known.job.steps;
  const auto chosen = std::find_if(steps.begin(), steps.end(),
                                   [&](const StepView& one) { return one.name == step; });
  const std::string reused = reused_text(*chosen, what);
  auto reply = connection.ask_for<JobReply>(ShowJob{job});
  if (!reply) return reused.empty() ? reply.error() : reply.error().within(in_one_line(reused));
  if (!reused.empty()) terminal.print_line(in_one_line(reused));
  return std::move(reply->job);
}

}  // namespace lockstep::cli
