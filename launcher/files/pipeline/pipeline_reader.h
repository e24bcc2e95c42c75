#pragma once
// Turns the tree of a pipeline's file into a PipelineSpec, and names the files that each step needs
// (docs/decisions/051-pipelines.md, "Reading").

#include <vector>

#include "common/domain/job/pipeline.h"
#include "launcher/files/job/reader.h"
#include "launcher/files/pipeline/component_reader.h"

namespace lockstep::spec {

struct ReadPipeline {
  ReadJob job;  // the pipeline itself; its spec does not have the steps yet
  PipelineSpec pipeline;
  std::vector<ReadJob> steps;  // in the order of pipeline.steps, without their specs
};

// Reads a pipeline. `components` outlives the places in the result. Every fault is added to
// `faults`; then the result has the parts that could be read beside them, with the steps in the
// file's order.
ReadPipeline read_pipeline(const Source& source, YamlNode root, ComponentReader& components,
                           const ReadText& read_text, Faults& faults);

// Reads a command job that names a component, as Azure's SDK writes it: the component's keys with
// the job's over them.
ReadJob read_component_job(const Source& source, YamlNode root, ComponentReader& components,
                           const ReadText& read_text, Faults& faults);

}  // namespace lockstep::spec
