#include "launcher/cli/verbs/look/pipeline_download.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "common/domain/job/pipeline.h"
#include "launcher/cli/base/step_choice.h"
#include "launcher/cli/transfer/download_marks.h"

namespace lockstep::cli {
namespace {

Status check_name(const JobView& job, const std::string& name) {
  std::string known;
  for (const PipelineOutput& output : job.spec.pipeline->outputs) {
    if (output.name == name) return {};
    known += (known.empty() ? "" : ", ") + output.name;
  }
  return make_error(ErrorCode::not_found,
                    fmt::format("pipeline {} has no output '{}'; {}", job.spec.name, name,
                                known.empty() ? "it has no outputs of its own; `lockstep job "
                                                "download STEP_JOB --all` brings those of a step"
                                              : "it has " + known));
}

void add(Downloaded done, const std::string& below, PipelineDownloaded& all) {
  all.is_marked = all.is_marked && done.unmarked.empty();
  for (DownloadedTree& tree : done.trees) {
    tree.path = below + "/" + tree.path;
    all.trees.push_back(std::move(tree));
  }
  for (LogFile& log : done.logs) {
    log.name = below + "/artifacts/user_logs/" + log.name;
    all.logs.push_back(std::move(log));
  }
}

// Adds a step's files; for a reused step, the files of the job whose results it uses.
Status add_step(Connection& connection, const std::string& pipeline, const StepView& step,
                const std::string& folder, const OnText& progress, PipelineDownloaded& all) {
  const std::string below = pipeline + "/" + step.name;
  if (step.job.value.empty()) return {};
  const auto reply = connection.ask_for<JobReply>(ShowJob{step.job});
  const bool is_gone = !reply && step.phase == StepPhase::reused &&
                       (reply.error().code == ErrorCode::not_found ||
                        reply.error().code == ErrorCode::permission_denied);
  if (is_gone) {  // the bytes that other steps read belong to them
    all.problems.push_back(fmt::format("step '{}' reuses job {}, whose files are left out: {}",
                                       step.name, step.job.value, reply.error().message));
    return {};
  }
  if (!reply) return reply.error();
  if (reply->job.attempts.empty()) return {};
  DownloadRequest request;
  request.all_named = true;
  TRY_ASSIGN(DownloadPlan plan, plan_download(reply->job, request));
  for (const std::string& problem : output_problems(reply->job.attempts.back(), request))
    all.problems.push_back(fmt::format("step '{}': {}", step.name, problem));
  const auto say = [&](const std::string& text) { progress(step.name + ": " + text); };
  TRY_ASSIGN(Downloaded done, download_job(connection, step.job, pipeline, std::move(plan),
                                           folder + "/" + below, say));
  if (const std::string reused = reused_text(step, "files these are"); !reused.empty())
    all.notes.push_back(reused);
  add(std::move(done), below, all);
  return {};
}

}  // namespace

Result<DownloadPlan> plan_pipeline_download(const JobView& job,
                                            const std::optional<std::string>& named) {
  if (named) TRY(check_name(job, *named));
  DownloadPlan plan;
  for (const MergedOutput& output : job.merged) {
    if (!output.tree || (named && *named != output.name)) continue;
    DownloadPlan::Tree& tree = plan.trees.emplace_back();
    tree.to.kind = OutputKind::named;
    tree.to.name = output.name;
    tree.to.path = "named-outputs/" + output.name;
    tree.from.push_back({0, *output.tree});
  }
  if (named && plan.trees.empty())
    return make_error(
        ErrorCode::not_found,
        fmt::format("output '{}' of pipeline {} {}", *named, job.spec.name,
                    is_final(job.status)
                        ? "is empty: its step wrote nothing to it, or did not complete"
                        : "is not there yet: a pipeline has its outputs when it has ended"));
  return plan;
}

Result<PipelineDownloaded> download_pipeline(Connection& connection, const JobView& job,
                                             const PipelineDownloadRequest& request,
                                             const OnText& progress) {
  PipelineDownloaded all;
  for (const MergedOutput& output : job.merged)
    for (const std::string& problem : output.problems)
      if (!request.named || *request.named == output.name)
        all.problems.push_back(fmt::format("output '{}': {}", output.name, problem));
  TRY_ASSIGN(DownloadPlan plan, plan_pipeline_download(job, request.named));
  const std::string& name = job.spec.name;
  if (!plan.trees.empty()) {
    TRY_ASSIGN(Downloaded own, download_job(connection, JobId(name), name, std::move(plan),
                                            request.folder + "/" + name, progress));
    add(std::move(own), name, all);
  }
  if (request.steps)
    for (const StepView& step : job.steps)
      TRY(add_step(connection, name, step, request.folder, progress, all));
  if (!all.is_marked) all.notes.push_back(unmarked_text(request.folder + "/" + name));
  return all;
}

}  // namespace lockstep::cli
