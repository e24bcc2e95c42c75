// Pipelines of the simulation: how they are drawn, and what the oracle knows of them. Their steps
// have small variety, so that some are reused.

#include <algorithm>

#include "tests/sim/cluster.h"
#include "tests/sim/oracle.h"
#include "tests/sim/workload.h"

namespace lockstep::sim {
namespace {

constexpr const char* kOutput = "made";

PipelineStep draw_step(Random& random, const JobSpec& job,
                       const std::vector<PipelineStep>& before) {
  PipelineStep step;
  step.name = "s" + std::to_string(before.size() + 1);
  step.spec = job;
  step.spec.name.clear();
  step.spec.queue = {};
  step.spec.queue.priority = job.queue.priority;
  step.spec.inputs = {{"seed", std::to_string(random.between(1, 2))}};
  step.spec.outputs = {{kOutput, OutputType::uri_folder, OutputMode::rw_mount}};
  if (random.chance(0.15)) {
    step.spec.outputs.front().remote = "lake";
    step.spec.outputs.front().path = "azureml://datastores/lake/paths/${{name}}";
  }
  step.reuse = random.chance(0.8);
  for (const PipelineStep& other : before) {
    if (other.role != StepRole::main || !random.chance(0.5)) continue;
    const std::string input = "from_" + other.name;
    step.bindings.push_back({input, other.name, kOutput});
    DataInput data;
    data.name = input;
    step.spec.data.push_back(data);
  }
  return step;
}

void draw_roles(Random& random, PipelineSpec& pipeline) {
  if (random.chance(0.2)) {
    pipeline.steps.front().role = StepRole::on_init;
    for (PipelineStep& step : pipeline.steps) {
      std::erase_if(step.bindings, [&](const StepBinding& binding) {
        return binding.step == pipeline.steps.front().name;
      });
      std::erase_if(step.spec.data, [&](const DataInput& input) {
        return input.name == "from_" + pipeline.steps.front().name;
      });
    }
  }
  PipelineStep& last = pipeline.steps.back();
  if (pipeline.steps.size() > 1 && last.bindings.empty() && random.chance(0.5))
    last.role = StepRole::on_finalize;
}

// The outputs of one node's ranks, in truth.
Digest tree_of(const std::vector<CollectedOutput>& outputs) {
  for (const CollectedOutput& output : outputs)
    if (output.kind == OutputKind::named && output.tree) return *output.tree;
  return {};
}

}  // namespace

Digest merged_tree(const std::vector<NodeTree>& trees) {
  std::string text = "merged";
  for (const NodeTree& tree : trees) text += std::to_string(tree.node_rank) + tree.root.hex();
  return sha256(text);
}

std::vector<MergedOutput> merge(const launcher::MergeOutputs& question) {
  std::vector<MergedOutput> merged;
  for (const launcher::MergeOutputs::Output& output : question.outputs) {
    MergedOutput one{output.name, {}, {}, {}};
    if (!output.trees.empty()) one.tree = merged_tree(output.trees);
    merged.push_back(std::move(one));
  }
  return merged;
}

// ---- the workload -------------------------------------------------------------------------------

namespace {

// Such jobs often ask for the same, so that one can stand in for another.
void make_small(JobPlan& plan) {
  plan.spec.distribution = {};
  plan.spec.resources = {};
  plan.spec.resources.cpus = 1;
  plan.spec.resources.memory = gibibytes(1);
  plan.spec.resources.gpus = 0;
  plan.coupled = false;
  if (!plan.failing_rank) return;
  plan.failing_rank = 0;
  plan.ending = Ending::exit_code;
  plan.code = 7;
}

}  // namespace

// Replaces the job that was drawn. Its steps' jobs behave as that job would, each drawn anew.
void Workload::submit_pipeline(JobPlan whole, int nodes) {
  auto& random = cluster_.world.random;
  PipelineSpec pipeline;
  const int count = random.between(1, 5);
  for (int i = 0; i < count; ++i) {
    JobPlan plan = draw_job(random, 0, nodes);
    plan.endless = false;
    if (plan.impossible) make_possible(plan);
    if (random.chance(0.6)) make_small(plan);
    plan.spec.compute = whole.spec.compute;
    plan.spec.submitter = whole.spec.submitter;
    plan.spec.environment.reset();
    PipelineStep step = draw_step(random, plan.spec, pipeline.steps);
    plan.spec = step.spec;
    plans_[JobId(whole.spec.name + "_" + step.name)] = std::move(plan);
    pipeline.steps.push_back(std::move(step));
  }
  draw_roles(random, pipeline);
  pipeline.continue_on_step_failure = random.chance(0.6);
  JobPlan plan;
  plan.spec.name = whole.spec.name;
  plan.spec.submitter = whole.spec.submitter;
  plan.spec.compute = whole.spec.compute;
  plan.spec.queue.priority = whole.spec.queue.priority;
  plan.spec.pipeline = std::move(pipeline);
  const JobId job(plan.spec.name);
  plans_[job] = std::move(plan);
  submit(plans_[job]);
}

std::vector<JobId> Workload::steps_of(const JobId& job) const {
  std::vector<JobId> steps;
  const auto plan = plans_.find(job);
  if (plan == plans_.end() || !plan->second.spec.pipeline) return steps;
  for (const PipelineStep& step : plan->second.spec.pipeline->steps)
    steps.emplace_back(job.value + "_" + step.name);
  return steps;
}

// ---- the oracle ---------------------------------------------------------------------------------

const PipelineStep* Oracle::asked_step(const JobId& pipeline, const std::string& name) const {
  const auto asked = asked_.find(pipeline);
  if (asked == asked_.end() || !asked->second.pipeline) return nullptr;
  for (const PipelineStep& step : asked->second.pipeline->steps)
    if (step.name == name) return &step;
  return nullptr;
}

// What the ranks of the job's last attempt left, of all its nodes.
std::optional<Digest> Oracle::truly_made(const launcher::Job& job) const {
  std::vector<NodeTree> trees;
  if (job.attempts.empty()) return std::nullopt;
  const launcher::Attempt& attempt = job.attempts.back();
  for (std::size_t rank = 0; rank < attempt.parts.size(); ++rank) {
    const Digest tree = tree_of(outputs_kept(attempt.id, node_index(attempt.parts[rank].node)));
    if (tree != Digest()) trees.push_back({static_cast<int>(rank), tree});
  }
  if (trees.empty()) return std::nullopt;
  return merged_tree(trees);
}

// A step begins when those that it needs have completed, with what they made.
void Oracle::check_step(const launcher::JobSubmitted& fact) {
  const JobId& parent = fact.spec.parent;
  if (fact.spec.step.empty()) return;
  world_.count("launcher:step_begins");
  const PipelineStep* step = asked_step(parent, fact.spec.step);
  const launcher::Job* pipeline = state_.job(parent);
  if (step == nullptr || pipeline == nullptr || pipeline->cancel_by || pipeline->finish())
    return world_.violate("oracle:step", fact.job.value + " is a step that nobody wants");
  for (const StepBinding& binding : step->bindings) {
    const auto& made_by = pipeline->steps->of(binding.step).job;
    const launcher::Job* other = state_.job(made_by);
    const bool reused = pipeline->steps->of(binding.step).reused;
    if (reused) continue;  // it may be deleted since, and its name used again
    if (other == nullptr || !other->finish() || other->finish()->status != JobStatus::completed)
      return world_.violate("oracle:step", fmt::format("{} begins before step {} has completed",
                                                       fact.job.value, binding.step));
    const auto& data = fact.spec.data;
    const auto input = std::find_if(
        data.begin(), data.end(), [&](const DataInput& one) { return one.name == binding.input; });
    if (input == data.end() || input->tree != truly_made(*other))
      world_.violate("oracle:step", fmt::format("{} does not read what step {} made",
                                                fact.job.value, binding.step));
  }
}

void Oracle::judge(const launcher::OutputsMerged& fact) {
  const launcher::Job& job = *state_.job(fact.job);
  if (job.spec.pipeline || fact.outputs.empty()) return;
  if (fact.outputs.front().tree != truly_made(job))
    world_.violate("oracle:merged", fact.job.value + " has other outputs than its ranks made");
}

void Oracle::output_written(const launcher::WriteOutput& action) {
  remote_[{action.order, action.output}] = action.tree;
  if (action.to != "azureml://datastores/lake/paths/" + action.job.value)
    world_.violate("oracle:written", action.job.value + " is written to " + action.to);
}

// The remote has what the job's ranks made.
void Oracle::judge(const launcher::OutputWritten& fact) {
  const launcher::Job& job = *state_.job(fact.job);
  const auto there = remote_.find({job.order, fact.output});
  if (there == remote_.end())
    return world_.violate("oracle:written", fact.job.value + " is not in the remote");
  if (there->second != truly_made(job))
    world_.violate("oracle:written",
                   "the remote has other files than the ranks of " + fact.job.value + " made");
}

// Only the result of the same content stands in for a step.
void Oracle::judge(const launcher::StepReused& fact) {
  const PipelineStep* step = asked_step(fact.job, fact.step);
  const launcher::Job* other = state_.job(fact.from);
  const auto asked = asked_.find(fact.from);
  if (step == nullptr || other == nullptr || asked == asked_.end())
    return world_.violate("oracle:reused", fact.step + " reuses a job that is not there");
  if (!other->finish() || other->finish()->status != JobStatus::completed)
    world_.violate("oracle:reused", fact.step + " reuses a job that has not completed");
  if (asked->second.inputs != step->spec.inputs || !step->reuse ||
      asked->second.submitter != step->spec.submitter)
    world_.violate("oracle:reused", fact.step + " reuses a job with other content");
}

void Oracle::judge(const launcher::StepSkipped& fact) {
  const launcher::Job& job = *state_.job(fact.job);
  if (job.cancel_by) return;  // what has not begun never does
  const auto& all = job.steps->all();
  const bool is_due = std::any_of(all.begin(), all.end(), [](const auto& step) {
    return step.phase == launcher::Steps::Phase::failed ||
           step.phase == launcher::Steps::Phase::skipped;
  });
  const PipelineStep* step = asked_step(fact.job, fact.step);
  if (is_due || step == nullptr) return;
  for (const StepBinding& binding : step->bindings) {  // one of them made nothing
    const launcher::Job* other = state_.job(job.steps->of(binding.step).job);
    if (other == nullptr || !truly_made(*other)) return;
  }
  world_.violate("oracle:skipped", fact.step + " is skipped though no step failed");
}

// It waited when another step of a pipeline that does not continue failed.
bool Oracle::is_stopped_step(const launcher::Job& job) const {
  const auto asked = asked_.find(job.spec.parent);
  if (job.spec.step.empty() || asked == asked_.end() || !asked->second.pipeline) return false;
  const launcher::Job* parent = state_.job(job.spec.parent);
  return !asked->second.pipeline->continue_on_step_failure && job.attempts.empty() &&
         parent != nullptr && parent->steps->first_failed();
}

void Oracle::check_pipeline_end(const launcher::Job& job, const launcher::JobFinished& fact) {
  const auto& all = job.steps->all();
  const bool all_completed = std::all_of(all.begin(), all.end(), [](const auto& step) {
    return step.phase == launcher::Steps::Phase::completed;
  });
  if ((fact.status == JobStatus::completed) != all_completed && fact.status != JobStatus::canceled)
    world_.violate("oracle:pipeline", fact.job.value + " does not end as its steps did");
  if (fact.status == JobStatus::canceled && canceled_.count(fact.job) == 0)
    world_.violate("oracle:canceled", fact.job.value + " is Canceled but nobody canceled it");
}

}  // namespace lockstep::sim
