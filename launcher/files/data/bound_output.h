#pragma once
// An output of a step, a component or a pipeline, and to which other output it is bound.

#include <optional>

#include "launcher/files/data/output_reader.h"
#include "launcher/files/yaml/bindings.h"

namespace lockstep::spec {

struct BoundOutput {
  ReadOutput output;
  Place place;                     // the place of its name
  std::optional<Reference> bound;  // ${{parent.outputs.NAME}}: of the pipeline around it
  std::optional<Reference> from;   // ${{parent.jobs.STEP.outputs.NAME}}: of a step inside it
};

// Reads a bound output. `entry` is null, an expression, or a mapping that may have one as its
// `path`. nullopt behind a fault.
std::optional<BoundOutput> read_bound_output(const Source& source, const YamlEntry& entry,
                                             Faults& faults);

}  // namespace lockstep::spec
