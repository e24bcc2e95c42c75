#pragma once
// Finds the value of each input of a pipeline: a literal, files, or an output of a step. It checks
// that the values fit the types that components declare. It does not recurse, because a chain of
// steps may be long.

#include "launcher/files/pipeline/step_outputs.h"
#include "launcher/files/pipeline/step_tree.h"

namespace lockstep::spec {

// Fills `value` of all inputs of all nodes. Every fault is added to `faults`; its node is no longer
// good.
void find_values(const Source& source, PipelineTree& tree, PipelineOutputs& outputs,
                 Faults& faults);

// Replaces the expressions of the parent in a scalar by their literals; `node` is a step whose
// inputs have been found. False behind a fault.
bool put_in_literals(const Source& source, const PipelineNode& node, YamlNode& scalar,
                     Faults& faults);

}  // namespace lockstep::spec
