#include "launcher/cli/transfer/download_plan.h"

#include <fmt/format.h>

#include <algorithm>

namespace lockstep::cli {

namespace {

std::string path_of(OutputKind kind, const std::string& name) {
  switch (kind) {
    case OutputKind::outputs: return "artifacts/outputs";
    case OutputKind::logs: return "artifacts/logs";
    case OutputKind::named: return "named-outputs/" + name;
    case OutputKind::checkpoint: return "checkpoint";
    case OutputKind::kept: return "artifacts/kept";
  }
  return "artifacts/outputs";
}

std::string when_it_comes(const JobView& job) {
  if (is_final(job.status)) return "";
  return fmt::format("; the job is {}, and its outputs are collected when its ranks have ended",
                     to_string(job.status));
}

Result<const AttemptView*> attempt_of(const JobView& job, std::uint32_t number) {
  const std::string& name = job.spec.name;
  if (job.attempts.empty())
    return make_error(ErrorCode::not_found,
                      fmt::format("{} was not started, so it has no files", name));
  if (number == 0) return &job.attempts.back();
  for (const AttemptView& attempt : job.attempts)
    if (attempt.number == number) return &attempt;
  return make_error(
      ErrorCode::not_found,
      fmt::format("{0} has no attempt {2}; it has {1}", name,
                  job.attempts.size() == 1 ? std::string("one attempt")
                                           : fmt::format("attempts 1 to {}", job.attempts.size()),
                  number));
}

Status check_name(const JobView& job, const std::string& name) {
  const auto& outputs = job.spec.outputs;
  std::string known;
  for (const OutputSpec& output : outputs) {
    if (output.name == name) return {};
    known += (known.empty() ? "" : ", ") + output.name;
  }
  return make_error(ErrorCode::not_found,
                    fmt::format("{} has no output '{}'; {}", job.spec.name, name,
                                known.empty() ? "it has no named outputs" : "it has " + known));
}

void add_tree(const AttemptView& attempt, OutputKind kind, const std::string& name,
              DownloadPlan& plan) {
  DownloadPlan::Tree tree;
  tree.to.kind = kind;
  tree.to.name = name;
  tree.to.path = path_of(kind, name);
  for (const PartView& part : attempt.parts) {
    for (const CollectedOutput& output : part.outputs) {
      if (output.kind != kind || output.name != name || !output.tree) continue;
      tree.from.push_back({part.node_rank, *output.tree});
      if (output.pieces) tree.pieces.push_back({part.node_rank, *output.pieces});
      tree.to.nodes.push_back(part.node_name);
    }
  }
  if (kind == OutputKind::checkpoint && attempt.checkpoint) tree.base = attempt.checkpoint->tree;
  if (!tree.from.empty()) plan.trees.push_back(std::move(tree));
}

// The error for a missing checkpoint: one that was written but not kept differs from one that was
// not written.
Error no_checkpoint(const JobView& job, const AttemptView& attempt,
                    const DownloadRequest& request) {
  std::vector<std::string> why;
  for (const PartView& part : attempt.parts)
    for (const CollectedOutput& output : part.outputs)
      if (output.kind == OutputKind::checkpoint)
        for (const std::string& problem : output.problems)
          why.push_back(fmt::format("node {}: {}", part.node_name, problem));
  if (why.empty()) why.emplace_back("nothing was written to $LOCKSTEP_CHECKPOINT_DIR");
  return make_error(
      ErrorCode::not_found,
      fmt::format("{} saved no checkpoint{}: {}", job.spec.name,
                  request.attempt == 0 ? "" : fmt::format(" in attempt {}", request.attempt),
                  fmt::join(why, "; ")));
}

}  // namespace

const AttemptView* newest_with_checkpoint(const JobView& job) {
  for (auto attempt = job.attempts.rbegin(); attempt != job.attempts.rend(); ++attempt)
    for (const PartView& part : attempt->parts)
      for (const CollectedOutput& output : part.outputs)
        if (output.kind == OutputKind::checkpoint && output.tree) return &*attempt;
  return nullptr;
}

Result<DownloadPlan> plan_download(const JobView& job, const DownloadRequest& request) {
  TRY_ASSIGN(const AttemptView* attempt, attempt_of(job, request.attempt));
  if (request.checkpoint && request.attempt == 0)
    if (const AttemptView* saved = newest_with_checkpoint(job)) attempt = saved;
  if (request.named) TRY(check_name(job, *request.named));
  DownloadPlan plan;
  plan.attempt = attempt->number;
  plan.logs = request.artifacts;
  if (request.artifacts) {
    add_tree(*attempt, OutputKind::outputs, "", plan);
    add_tree(*attempt, OutputKind::logs, "", plan);
    add_tree(*attempt, OutputKind::kept, "", plan);
  }
  if (request.checkpoint) add_tree(*attempt, OutputKind::checkpoint, "", plan);
  if (request.checkpoint && plan.trees.empty()) return no_checkpoint(job, *attempt, request);
  for (const OutputSpec& output : job.spec.outputs)
    if (request.all_named || request.named == output.name)
      add_tree(*attempt, OutputKind::named, output.name, plan);
  if (request.named && plan.trees.empty())
    return make_error(ErrorCode::not_found,
                      fmt::format("output '{}' of {} is empty in attempt {}{}", *request.named,
                                  job.spec.name, plan.attempt, when_it_comes(job)));
  return plan;
}

bool DownloadRequest::wants(const CollectedOutput& output) const {
  switch (output.kind) {
    case OutputKind::outputs:
    case OutputKind::logs:
    case OutputKind::kept: return artifacts;
    case OutputKind::named: return all_named || named == output.name;
    case OutputKind::checkpoint: return checkpoint;
  }
  return false;
}

std::vector<std::string> output_problems(const AttemptView& attempt,
                                         const DownloadRequest& request) {
  std::vector<std::string> lines;
  for (const PartView& part : attempt.parts)
    for (const CollectedOutput& output : part.outputs)
      for (const std::string& problem : output.problems) {
        if (!request.wants(output)) continue;
        lines.push_back(fmt::format("node {}: {}: {}", part.node_name,
                                    describe(output.kind, output.name), problem));
      }
  return lines;
}

}  // namespace lockstep::cli
