#include "launcher/api/json/pipeline.h"

#include <algorithm>

namespace lockstep::api {

void keys(const StepView& step, See& see) {
  const bool is_reused = step.phase == StepPhase::reused;
  const auto job = unless_empty(step.job.value);
  see("name", step.name, "Its name in the pipeline.");
  see("phase", step.phase,
      "Waiting: for other steps. Reused: an earlier job's outputs stand in for it. NotRun: it "
      "never runs.");
  see("status", step.status, "Azure ML's word for the state of its job; null: it has none.");
  see("job", is_reused ? std::nullopt : job, "The name of its job; null: it has none.");
  see("reused_from", is_reused ? std::optional(step.job) : std::nullopt,
      "The job whose outputs stand in for it; null: none.");
  see("reason", step.reason, "Why it waits, failed or was not run.");
  see("reason_data", step.why, "`reason`, for programs.");
  see("compute", unless_empty(step.compute),
      "Its compute target; null: none is named, and it has no job yet.");
  see("after", step.after, "The steps whose outputs are its inputs.");
  see("started_at", step.started, "When the last attempt of its job started; null: not yet.");
  see("ended_at", step.ended, "When its job ended; null: not yet.");
}

// Null keys as far as they have no meaning in its state.
void keys(const OutputWrite& write, See& see) {
  const bool waits = write.state == OutputWrite::State::waiting;
  see("to", write.to, "The path, with the job's name in it.");
  see("state", write.state,
      "waiting: it is being written, or will be tried again. given_up: after a week of failures; "
      "`job download` has it.");
  see("at", waits ? Instant() : write.at, "When it was written or given up; null: not yet.");
  see("failed_tries", write.tries, "How many tries failed; 0 once it is written.");
  see("reason", unless_empty(write.why), "Why the last try failed; null: none did.");
  see("reason_data", write.why_data, "`reason`, for programs.");
  see("again_at", waits ? write.at : Instant(), "When it is tried again; null: now, or never.");
}

namespace {

std::variant<InputType, OutputType> type_of(const OutputSpec& output) {
  if (output.declared) return *output.declared;
  if (output.asset) return output.asset->type;
  return output.type;
}

void spec_keys(const OutputSpec& output, See& see) {
  const OutputAsset& asset = or_none(output.asset);
  see("type", type_of(output), "As the job file has it. Only uri_file is collected as one file.");
  see("mode", output.mode, "Azure ML's mode.");
  see("path", unless_empty(output.path),
      "The place in a datastore that it is written to as well; null: none.");
  see("name", output.asset ? std::optional(asset.name) : std::nullopt,
      "The name under which it is registered as data or a model; null: it is not.");
  see("version", unless_empty(asset.version),
      "The version that the file names; null: the next number.");
}

void step_keys(const PipelineOutput& output, See& see) {
  see("step", output.step, "Of a pipeline: the step that writes it.");
  see("output", output.output, "Of a pipeline: the name of that step's output.");
}

void merged_keys(const MergedOutput& merged, See& see) {
  see("digest", merged.tree, "SHA-256 of its tree; null: no rank wrote to it.");
  see("file", unless_empty(merged.file),
      "The name of the one file in the tree; null: the output is a folder.");
  see("problems", merged.problems,
      "Files of which nodes have different ones, and what could not be merged.");
  see("registered_as", unless_empty(merged.registered),
      "NAME:VERSION of the data or model that it was registered as; null: it was not.");
}

template <class T, class Is>
const T* find(const std::vector<T>& all, Is is) {
  const auto found = std::find_if(all.begin(), all.end(), is);
  return found == all.end() ? nullptr : &*found;
}

}  // namespace

void keys(const NamedOutput& one, See& see) {
  const OutputSpec* output = one.output;
  const std::string& name = output != nullptr ? output->name : or_none(one.of_step).name;
  const auto* merged =
      find(one.job->merged, [&](const MergedOutput& merged) { return merged.name == name; });
  const auto* write = find(one.job->writes, [&](const OutputWrite& write) {
    return output != nullptr && write.output == name;
  });
  see.only_if(output != nullptr, [&](See& see) { spec_keys(or_none(output), see); });
  see.together("type", {"mode", "path", "name", "version"});
  see.only_if(one.of_step != nullptr, [&](See& see) { step_keys(or_none(one.of_step), see); });
  see.together("step", {"output"});
  see.only_if(merged != nullptr, [&](See& see) { merged_keys(or_none(merged), see); });
  see.together("digest", {"file", "problems", "registered_as"});
  see.only_if(
      write != nullptr, "written", or_none(write),
      "How far the launcher is with writing the merged output to the remote datastore of path.");
}

std::optional<Entries<StepView>> steps_of(const JobView& job) {
  if (job.steps.empty()) return std::nullopt;
  Entries<StepView> steps;
  for (const StepView& step : job.steps) steps.emplace_back(step.name, step);
  return steps;
}

Entries<NamedOutput> outputs_of(const JobView& job) {
  Entries<NamedOutput> all;
  for (const OutputSpec& output : job.spec.outputs)
    all.emplace_back(output.name, NamedOutput{&job, &output, nullptr});
  if (!job.spec.pipeline) return all;
  for (const PipelineOutput& output : job.spec.pipeline->outputs)
    all.emplace_back(output.name, NamedOutput{&job, nullptr, &output});
  return all;
}

}  // namespace lockstep::api
