#include "launcher/api/input_references.h"

#include <fmt/format.h>

#include <algorithm>

#include "launcher/core/users.h"

namespace lockstep::launcher {
namespace {

struct Wanted {
  OutputKind kind = OutputKind::named;
  std::string name;
  std::string path;
};

// "outputs/a/b" -> (./outputs, "a/b").
Result<Wanted> artifact_of(const std::string& path) {
  const auto slash = std::min(path.find('/'), path.size());
  const std::string folder = path.substr(0, slash);
  Wanted wanted;
  wanted.path = path.substr(std::min(slash + 1, path.size()));
  if (folder == kOutputsFolder)
    wanted.kind = OutputKind::outputs;
  else if (folder == kLogsFolder)
    wanted.kind = OutputKind::logs;
  else
    return make_error(ErrorCode::not_found,
                      "a job's artifacts are artifacts/paths/outputs and artifacts/paths/logs");
  return wanted;
}

// A file output is the file of the output's name, unless a folder is asked for.
Result<Wanted> wanted_of(const Job& job, const JobOutputReference& reference, InputType type) {
  if (reference.output == kArtifacts) return artifact_of(reference.path);
  std::string known;
  for (const OutputSpec& output : job.spec.outputs) {
    known += (known.empty() ? "" : ", ") + output.name;
    if (output.name != reference.output) continue;
    Wanted wanted{OutputKind::named, output.name, reference.path};
    if (output.type == OutputType::uri_file && type == InputType::uri_file && wanted.path.empty())
      wanted.path = output.name;
    return wanted;
  }
  return make_error(
      ErrorCode::not_found,
      fmt::format(
          "job {} has no output '{}'; it has {}", job.spec.name, reference.output,
          known.empty() ? "artifacts/paths/outputs" : known + " and artifacts/paths/outputs"));
}

std::vector<NodeTree> trees_of(const Attempt& attempt, const Wanted& wanted) {
  std::vector<NodeTree> trees;
  for (std::size_t rank = 0; rank < attempt.parts.size(); ++rank) {
    const Part& part = attempt.parts[rank];
    if (!part.report) continue;
    for (const CollectedOutput& output : part.report->outputs)
      if (output.kind == wanted.kind && output.name == wanted.name && output.tree)
        trees.push_back({static_cast<int>(rank), *output.tree});
  }
  return trees;
}

Result<TreeQuestion> ask(const State& state, const Caller& caller, InputType type,
                         const JobOutputReference& reference) {
  const Job* job = state.job(reference.job);
  if (job == nullptr)
    return make_error(
        ErrorCode::not_found,
        fmt::format("there is no job '{}'; `lockstep job list` shows all", reference.job.value));
  Decision decision = may(state.principals(), caller, Permission::read_job, object_of(*job));
  if (!decision.allowed) return make_error(ErrorCode::permission_denied, std::move(decision.why));
  if (!is_final(job->status()))
    return make_error(ErrorCode::conflict, fmt::format("job {} has not ended: it is {}",
                                                       job->spec.name, to_string(job->status())));
  TRY_ASSIGN(Wanted wanted, wanted_of(*job, reference, type));
  TreeQuestion question;
  if (!job->attempts.empty()) question.trees = trees_of(job->attempts.back(), wanted);
  if (question.trees.empty())
    return make_error(ErrorCode::not_found,
                      fmt::format("job {} wrote nothing to {}", job->spec.name,
                                  describe(wanted.kind, wanted.name)));
  question.path = std::move(wanted.path);
  return question;
}

}  // namespace

bool is_reference(const DataInput& input) {
  return input.mode != InputMode::direct && !input.tree && input.source.starts_with("azureml:");
}

Result<TreeQuestion> question_of(const State& state, const Caller& caller, const DataInput& input) {
  TRY_ASSIGN(const auto reference, parse_data_reference(input.source));
  if (!reference)
    return make_error(ErrorCode::invalid_argument, "inputs." + input.name + ": has no files");
  if (const auto* output = std::get_if<JobOutputReference>(&*reference))
    return ask(state, caller, input.type, *output);
  return make_error(ErrorCode::unsupported, "registered data is not supported yet");
}

}  // namespace lockstep::launcher
