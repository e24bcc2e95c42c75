#pragma once
// Finds the step that writes each output of a pipeline.

#include <map>
#include <string>
#include <utility>

#include "launcher/files/pipeline/step_tree.h"

namespace lockstep::spec {

class PipelineOutputs {
 public:
  PipelineOutputs(const Source& source, PipelineTree& tree, Faults& faults)
      : source_(source), tree_(tree), faults_(faults) {}

  // Binds all outputs. A step's output without a type gets the type of the pipeline's output.
  void bind();

  // The output of a command step to which `reference` leads; faulty without a fault if the fault is
  // reported already. `node` has the reference; `inside`: it is one of the node's own steps.
  Value find(const PipelineNode& inside, const Reference& reference);

  // The outputs of the outermost pipeline.
  std::vector<PipelineOutput> of_root();

 private:
  struct Writer {
    PipelineNode* node = nullptr;
    std::string output;
    Place place;
  };
  using Name = std::pair<const PipelineNode*, std::string>;

  void fault(const Place& place, const std::string& message);
  void bind_inside(PipelineNode& pipeline);
  void bind_to_parent(PipelineNode& node, BoundOutput& output);
  void add_writer(PipelineNode& pipeline, BoundOutput& output, Writer writer);
  Value follow(PipelineNode* node, std::string output);

  const Source& source_;
  PipelineTree& tree_;
  Faults& faults_;
  std::map<Name, Writer> writers_;
};

// The fault of a name that is not among `known`: "there is no step 'a'; did you mean 'b'?".
std::string unknown_name(const std::string& message, std::string_view name,
                         const std::vector<std::string_view>& known);

}  // namespace lockstep::spec
