#pragma once
// Reads one command step of a pipeline whose inputs have been found: the component's keys with the
// step's over them.

#include <vector>

#include "launcher/files/job/reader.h"
#include "launcher/files/pipeline/step_tree.h"

namespace lockstep::spec {

struct ReadStep {
  ReadJob job;
  std::vector<StepBinding> bindings;
  std::vector<Place> places;  // the places of the bindings' inputs
  bool reuse = true;
};

// Reads a step. Every fault is added to `faults`; then the result is not usable.
ReadStep read_pipeline_step(const Source& source, const PipelineNode& node,
                            const ReadText& read_text, ReadEnvironments& environments,
                            Faults& faults);

}  // namespace lockstep::spec
