#include "launcher/files/pipeline/step_tree.h"

#include <fmt/format.h>

#include <algorithm>

namespace lockstep::spec {

PipelineInput* PipelineNode::input(std::string_view wanted) {
  for (PipelineInput& one : inputs)
    if (one.name == wanted) return &one;
  return nullptr;
}

BoundOutput* PipelineNode::output(std::string_view wanted) {
  for (BoundOutput& one : outputs)
    if (one.output.name == wanted) return &one;
  return nullptr;
}

PipelineNode* PipelineNode::step(std::string_view wanted) const {
  const auto found =
      std::lower_bound(by_key.begin(), by_key.end(), wanted,
                       [](const auto& entry, std::string_view word) { return entry.first < word; });
  return found != by_key.end() && found->first == wanted ? found->second : nullptr;
}

std::string PipelineNode::shown() const {
  if (parent == nullptr) return "the pipeline";
  return fmt::format("{} '{}'", kind == JobKind::pipeline ? "pipeline" : "step", name);
}

}  // namespace lockstep::spec
