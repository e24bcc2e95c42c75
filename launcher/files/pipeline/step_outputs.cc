#include "launcher/files/pipeline/step_outputs.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/nearest.h"

namespace lockstep::spec {

namespace {

std::vector<std::string_view> outputs_of(const PipelineNode& node) {
  std::vector<std::string_view> names;
  for (const BoundOutput& output : node.outputs) names.push_back(output.output.name);
  return names;
}

// Whether a node has an output. Each step also has its artifacts: the files that it leaves in
// ./outputs and ./logs.
bool has_output(PipelineNode& node, std::string_view name) {
  const bool is_artifacts = node.kind == JobKind::command && name == kArtifacts;
  return is_artifacts || node.output(name) != nullptr;
}

}  // namespace

std::string unknown_name(const std::string& message, std::string_view name,
                         const std::vector<std::string_view>& known) {
  const std::string near = nearest(name, known);
  return near.empty() ? message : fmt::format("{}; did you mean '{}'?", message, near);
}

void PipelineOutputs::fault(const Place& place, const std::string& message) {
  faults_.add(place, source_.error(place, message));
}

void PipelineOutputs::bind() {
  for (PipelineNode* pipeline : tree_.pipelines) bind_inside(*pipeline);
  for (PipelineNode* pipeline : tree_.pipelines) {
    // The output may belong to a step that could not be read.
    const bool is_known = std::all_of(pipeline->steps.begin(), pipeline->steps.end(),
                                      [](const auto& step) { return step->has_ports; });
    if (!pipeline->has_ports || !pipeline->is_good || !is_known) continue;
    for (const BoundOutput& output : pipeline->outputs)
      if (writers_.count({pipeline, output.output.name}) == 0 && !output.from)
        fault(output.place,
              fmt::format("no step writes output '{0}' of {1}; write outputs: {{NAME: "
                          "${{{{parent.outputs.{0}}}}}}} in the step that does",
                          output.output.name, pipeline->shown()));
  }
}

void PipelineOutputs::bind_inside(PipelineNode& pipeline) {
  for (BoundOutput& output : pipeline.outputs) {
    if (!output.from) continue;
    PipelineNode* step = pipeline.step(output.from->step);
    if (step == nullptr) {
      find(pipeline, *output.from);  // reports the missing output
      continue;
    }
    add_writer(pipeline, output, {step, output.from->name, output.from->place});
    if (step->has_ports && step->output(output.from->name) == nullptr) find(pipeline, *output.from);
  }
  for (const auto& step : pipeline.steps)
    for (BoundOutput& output : step->outputs) bind_to_parent(*step, output);
}

void PipelineOutputs::bind_to_parent(PipelineNode& node, BoundOutput& output) {
  if (output.from && node.kind == JobKind::command)
    fault(output.from->place,
          fmt::format("'{}': a step's output is bound to ${{{{parent.outputs.NAME}}}}; the other "
                      "step takes it as an input",
                      output.from->whole));
  if (!output.bound) return;
  BoundOutput* target = node.parent->output(output.bound->name);
  if (target == nullptr) {
    if (!node.parent->has_ports) return;
    return fault(output.bound->place,
                 unknown_name(fmt::format("{} has no output '{}' (in '{}')", node.parent->shown(),
                                          output.bound->name, output.bound->whole),
                              output.bound->name, outputs_of(*node.parent)));
  }
  add_writer(*node.parent, *target, {&node, output.output.name, output.bound->place});
}

void PipelineOutputs::add_writer(PipelineNode& pipeline, BoundOutput& output, Writer writer) {
  const Name name(&pipeline, output.output.name);
  const auto [known, is_new] = writers_.emplace(name, writer);
  if (!is_new)
    return fault(writer.place,
                 fmt::format("output '{}' of {} is written by {} already ({})", output.output.name,
                             pipeline.shown(), known->second.node->shown(),
                             source_.where(known->second.place)));
  BoundOutput* written = writer.node->output(writer.output);
  if (written == nullptr) return;
  if (!written->output.asset) written->output.asset = output.output.asset;
  if (written->output.path.empty()) {
    written->output.path = output.output.path;
    written->output.where = output.output.where;
  }
  if (!output.output.type) return;
  if (!written->output.type) written->output.type = output.output.type;
  if (takes(*output.output.type, *written->output.type)) return;
  fault(writer.place,
        fmt::format("output '{}' of {} is a {} ({}), but '{}' of {} is a {} ({})",
                    output.output.name, pipeline.shown(), to_string(*output.output.type),
                    source_.where(output.place), writer.output, writer.node->shown(),
                    to_string(*written->output.type), source_.where(written->place)));
}

Value PipelineOutputs::find(const PipelineNode& inside, const Reference& reference) {
  PipelineNode* step = inside.step(reference.step);
  if (step == nullptr) {
    std::vector<std::string_view> names;
    for (const auto& [key, node] : inside.by_key) names.push_back(key);
    fault(reference.place, unknown_name(fmt::format("there is no step '{}' (in '{}')",
                                                    reference.step, reference.whole),
                                        reference.step, names));
    return {};
  }
  if (!has_output(*step, reference.name)) {
    if (!step->has_ports) return {};
    std::string message = fmt::format("{} has no output '{}' (in '{}')", step->shown(),
                                      reference.name, reference.whole);
    if (step->outputs.empty())
      message += fmt::format("; write outputs: {{{}: }} in it", reference.name);
    fault(reference.place, unknown_name(message, reference.name, outputs_of(*step)));
    return {};
  }
  return follow(step, reference.name);
}

// Follows the output into pipelines, down to the step that writes it.
Value PipelineOutputs::follow(PipelineNode* node, std::string output) {
  while (node->kind == JobKind::pipeline) {
    const auto writer = writers_.find({node, output});
    if (writer == writers_.end()) return {};
    output = writer->second.output;
    node = writer->second.node;
  }
  OutputOfStep found;
  found.step = node;
  found.output = output;
  found.place = node->place;
  if (const BoundOutput* written = node->output(output)) {
    found.type = written->output.type.value_or(InputType::uri_folder);
    found.place = written->place;
    // the output of a step that could not be read
  } else if (output != kArtifacts || !node->has_ports) {
    return {};
  }
  return found;
}

std::vector<PipelineOutput> PipelineOutputs::of_root() {
  std::vector<PipelineOutput> outputs;
  for (const BoundOutput& output : tree_.root->outputs) {
    const Value value = follow(tree_.root.get(), output.output.name);
    if (const auto* written = std::get_if<OutputOfStep>(&value))
      outputs.push_back({output.output.name, written->step->name, written->output});
  }
  return outputs;
}

}  // namespace lockstep::spec
