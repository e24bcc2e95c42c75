#include "launcher/core/attempts/merging.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/domain/data/data_reference.h"
#include "common/domain/why/jobs/events.h"
#include "launcher/core/names/asset_requests.h"

namespace lockstep::launcher {
namespace {

constexpr Duration kMergeAgainAfter = seconds(5);

std::vector<NodeTree> trees_of(const Job& job, OutputKind kind, const std::string& name) {
  std::vector<NodeTree> trees;
  const std::vector<Part>& parts = job.attempts.back().parts;
  for (std::size_t rank = 0; rank < parts.size(); ++rank) {
    if (!parts[rank].report) continue;
    for (const CollectedOutput& one : parts[rank].report->outputs)
      if (one.kind == kind && one.name == name && one.tree)
        trees.push_back({static_cast<int>(rank), *one.tree});
  }
  return trees;
}

// Adds the files of the output that nodes could not keep, as text for people.
void add_problems(const State& state, const Job& job, MergedOutput& output) {
  for (const Part& part : job.attempts.back().parts) {
    if (!part.report) continue;
    for (const CollectedOutput& one : part.report->outputs) {
      const bool is_it = one.kind == OutputKind::named && one.name == output.name;
      if (!is_it || one.problems.empty() || output.problems.size() >= kMaxOutputProblems) continue;
      output.problems.push_back(
          fmt::format("node {}: {}", state.node_name(part.node), one.problems.front()));
    }
  }
}

MergeOutputs question_of(const State& state, const Job& job) {
  MergeOutputs question{job.id, {}};
  for (const OutputSpec& output : job.spec.outputs)
    question.outputs.push_back({output.name,
                                output.type,
                                trees_of(job, OutputKind::named, output.name),
                                {},
                                output.asset.has_value()});
  const Job* parent = job.spec.step.empty() ? nullptr : state.job(job.spec.parent);
  if (parent != nullptr && gives_artifacts(*parent->spec.pipeline, job.spec.step))
    question.outputs.push_back({std::string(kArtifacts), OutputType::uri_folder,
                                trees_of(job, OutputKind::outputs, ""),
                                trees_of(job, OutputKind::logs, "")});
  return question;
}

bool nothing_to_merge(const MergeOutputs& question) {
  return std::all_of(
      question.outputs.begin(), question.outputs.end(),
      [](const MergeOutputs::Output& one) { return one.trees.empty() && one.logs.empty(); });
}

// Registers the output as data or a model. If that fails, the job stays completed and its files
// stay; the reason is added to the output's problems.
void register_output(Context& core, const Job& job, const OutputAsset& as,
                     const Result<Bytes>& size, MergedOutput& output) {
  const auto problem = [&](const std::string& why) {
    output.problems.push_back(fmt::format("not registered as {}: {}", as.name, why));
  };
  if (!output.tree) return problem("no rank wrote to it");
  if (!size) return problem(size.error().message);
  CreateAssetInput input;
  input.asset = asset_of(as);
  input.asset.tree = output.tree;
  input.asset.file = output.file;
  input.asset.path = fmt::format("azureml://jobs/{}/outputs/{}", job.id.value, output.name);
  input.project = job.spec.project;
  input.caller = UserCaller{job.spec.submitter};
  input.files = *size;
  auto registration = registration_of(core.cluster(), input);
  if (!registration) return problem(registration.error().message);
  output.registered = reference_of(registration->fact.asset);
  if (!registration->is_there) core.emit(std::move(registration->fact));
}

// Registers the versions first, and then records that the outputs are merged, in one write.
// Otherwise two outputs could get the same version number.
void settle(Context& core, const Job& job, std::vector<MergedOutput> outputs,
            const OutputSizes& sizes) {
  for (MergedOutput& output : outputs) {
    const auto size = sizes.find(output.name);
    for (const OutputSpec& spec : job.spec.outputs)
      if (spec.name == output.name && spec.asset)
        register_output(core, job, *spec.asset,
                        size == sizes.end() ? Result<Bytes>(Bytes{}) : size->second, output);
  }
  core.emit(OutputsMerged{job.id, std::move(outputs)});
}

}  // namespace

bool gives_artifacts(const PipelineSpec& pipeline, const std::string& step) {
  const auto is_it = [&](const auto& one) { return one.step == step && one.output == kArtifacts; };
  if (std::any_of(pipeline.outputs.begin(), pipeline.outputs.end(), is_it)) return true;
  return std::any_of(pipeline.steps.begin(), pipeline.steps.end(), [&](const PipelineStep& other) {
    return std::any_of(other.bindings.begin(), other.bindings.end(), is_it);
  });
}

bool waits_for_merge(Context& core, const Job& job, const ExitReport& report) {
  const bool is_read = !job.spec.step.empty() || registers_outputs(job.spec.outputs) ||
                       writes_to_remotes(job.spec.outputs);
  if (!is_read || job.merged || report.cause != Cause::completed) return false;
  MergeOutputs question = question_of(core.state, job);
  if (question.outputs.empty()) return false;
  if (nothing_to_merge(question)) {
    std::vector<MergedOutput> empty;
    for (const auto& output : question.outputs) {
      empty.push_back({output.name, {}, {}, {}});
      add_problems(core.state, job, empty.back());
    }
    settle(core, job, std::move(empty), {});
    return false;
  }
  if (core.endings.begin_merge(job.id)) core.act(std::move(question));
  return true;
}

void react(Context& core, const OutputsMergedInput& input) {
  const Job* job = core.state.job(input.job);
  if (job == nullptr || !job->is_ending() || job->merged) return;
  if (!input.why_not.empty()) {
    core.record(input.job, {core.now, Event::Kind::logs_wait, 0, {}, NotMergedYet{input.why_not}});
    core.timers.set({TimerKey::Kind::merge, {}, {input.job, 0}},
                    core.clock.polled() + kMergeAgainAfter);
    return;
  }
  core.endings.end_merge(input.job);
  std::vector<MergedOutput> outputs = input.outputs;
  for (MergedOutput& output : outputs) add_problems(core.state, *job, output);
  settle(core, *job, std::move(outputs), input.sizes);
}

void merge_again(Context& core, const JobId& id) {
  core.endings.end_merge(id);
  if (core.state.job(id) != nullptr) core.pending.dirty_jobs.insert(id);
}

}  // namespace lockstep::launcher
