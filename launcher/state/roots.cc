#include "launcher/state/roots.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace lockstep::launcher {

namespace {

void each_output(const State& state, const Attempt& attempt, const Part& part,
                 const std::function<void(const Root&)>& take) {
  const auto take_one = [&](const CollectedOutput& output) {
    each_tree(output, [&](const Digest& tree) {
      take({tree, attempt.id.job,
            fmt::format("{} of attempt {} on node {}", describe(output.kind, output.name),
                        attempt.id.number, state.node_name(part.node))});
    });
  };
  if (part.saved) take_one(part.saved->checkpoint);
  for (const CollectedOutput& output : part.so_far) take_one(output);
  if (!part.report) return;
  if (part.report->restored) take_one(*part.report->restored);
  for (const CollectedOutput& output : part.report->outputs) take_one(output);
}

constexpr std::size_t kMaxJobsLookedAt = 2'000;

void each_source(const JobSpec& spec, const TakeTree& take) {
  if (spec.snapshot) take(*spec.snapshot);
  if (const Digest* context = spec.environment ? context_of(spec.environment->definition) : nullptr)
    take(*context);
  for (const DataInput& input : spec.data)
    if (input.tree) take(*input.tree);
  if (spec.pipeline)
    for (const PipelineStep& step : spec.pipeline->steps) each_source(step.spec, take);
}
void each_source(const Job& job, const TakeTree& take) { each_source(job.spec, take); }

void each_merged(const std::vector<MergedOutput>& outputs, const TakeTree& take) {
  for (const MergedOutput& output : outputs)
    if (output.tree) take(*output.tree);
}

// The merged outputs of the job itself, and of the steps of a pipeline.
void each_merged(const Job& job, const TakeTree& take) {
  if (job.merged) each_merged(*job.merged, take);
  if (job.steps)
    for (const Steps::Step& step : job.steps->all()) each_merged(step.outputs, take);
}

void each_tree_of(const std::optional<CheckpointSource>& source, const TakeTree& take) {
  if (!source) return;
  if (source->base) take(*source->base);
  for (const NodeTree& tree : source->trees) take(tree.root);
}

void each_told(const Part& part, const TakeTree& take) {
  if (part.saved) each_tree(part.saved->checkpoint, take);
  for (const CollectedOutput& output : part.so_far) each_tree(output, take);
  if (!part.report) return;
  if (part.report->restored) each_tree(*part.report->restored, take);
  for (const CollectedOutput& output : part.report->outputs) each_tree(output, take);
}

}  // namespace

void each_tree_of(const Job& job, const TakeTree& take) {
  each_source(job, take);
  each_merged(job, take);
  each_tree_of(job.first_checkpoint, take);
  for (const Attempt& attempt : job.attempts) {
    each_tree_of(attempt.checkpoint, take);
    for (const Part& part : attempt.parts) each_told(part, take);
  }
}

void each_tree_of(const State& state, const Node& node, const TakeTree& take) {
  for (const auto& [id, node_rank] : node.parts) {
    const Job& job = *state.job(id.job);
    const Attempt& attempt = *state.attempt(id);
    each_source(job, take);
    each_tree_of(attempt.checkpoint, take);
    each_told(attempt.parts[static_cast<std::size_t>(node_rank)], take);
    const Environment* environment =
        job.environment ? state.environment(*job.environment) : nullptr;
    if (environment == nullptr) continue;
    for (const auto& [platform, lock] : environment->locks) take(lock.tree);
  }
}

std::vector<Digest> newest_sources(const State& state, const std::string& user, std::size_t most) {
  std::vector<Digest> sources;
  std::size_t looked_at = 0;
  const auto look_at = [&](const Job& job) {
    each_source(job, [&](const Digest& tree) {
      if (std::find(sources.begin(), sources.end(), tree) == sources.end()) sources.push_back(tree);
    });
    return sources.size() < most && ++looked_at < kMaxJobsLookedAt;
  };
  state.each_older(std::numeric_limits<std::uint64_t>::max(), &state.index().of_user(user),
                   look_at);
  return sources;
}

std::vector<Digest> sources_of_family(const State& state, const JobId& id, std::size_t most) {
  std::vector<Digest> sources;
  const auto add = [&](const Digest& tree) {
    const bool is_new = std::find(sources.begin(), sources.end(), tree) == sources.end();
    if (is_new && sources.size() < most) sources.push_back(tree);
  };
  if (const Job* job = state.job(id)) each_source(*job, add);
  const auto& children = state.children(id);
  for (auto it = children.rbegin(); it != children.rend() && sources.size() < most; ++it)
    each_source(*state.job(state.submitted().at(*it)), add);
  return sources;
}

std::string describe(const Root& root) {
  return root.job.value.empty() ? root.what : fmt::format("job {}, {}", root.job.value, root.what);
}

namespace {

void each_source_root(const JobId& id, const std::string& step, const JobSpec& spec,
                      const std::function<void(const Root&)>& take) {
  const std::string whose = step.empty() ? "its " : fmt::format("step {}, its ", step);
  if (spec.snapshot) take({*spec.snapshot, id, whose + "source"});
  if (const Digest* context = spec.environment ? context_of(spec.environment->definition) : nullptr)
    take({*context, id,
          (step.empty() ? "" : fmt::format("step {}, ", step)) + "the build folder of its image"});
  for (const DataInput& input : spec.data)
    if (input.tree) take({*input.tree, id, fmt::format("{}input '{}'", whose, input.name)});
  if (spec.pipeline)
    for (const PipelineStep& one : spec.pipeline->steps)
      each_source_root(id, one.name, one.spec, take);
}

}  // namespace

void each_root(const State& state, const std::function<void(const Root&)>& take) {
  for (const auto& [id, job] : state.jobs()) {
    each_source_root(id, "", job.spec, take);
    each_merged(job, [&take, &of = id](const Digest& tree) {
      take({tree, of, "a merged output"});
    });
    each_tree_of(job.first_checkpoint, [&take, &of = job](const Digest& tree) {
      take({tree, of.id,
            fmt::format("the checkpoint of job {} that it starts from",
                        of.spec.from_checkpoint_of.value)});
    });
    for (const Attempt& attempt : job.attempts)
      for (const Part& part : attempt.parts) each_output(state, attempt, part, take);
  }
  const JobId nobody;
  for (const auto& [name, versions] : state.registered())
    for (const EnvironmentVersion& version : versions)
      if (const Digest* context = context_of(version.environment.spec.definition))
        take({*context, nobody, fmt::format("the build folder of environment {}", name)});
  for (const auto& [key, known] : state.assets().names())
    for (const AssetVersion& version : known.versions)
      if (version.asset.tree)
        take({*version.asset.tree, nobody,
              fmt::format("{} {}", noun_of(key.first), reference_of(version.asset))});
  for (const auto& [id, environment] : state.environments())
    for (const auto& [platform, lock] : environment.locks)
      take({lock.tree, lock.attempt.job,
            fmt::format("the lock of its environment for {}", platform)});
}

}  // namespace lockstep::launcher
