#pragma once
// Reads a job file's `distribution`, and `lockstep.binding`. A key that belongs to another type is
// a fault that names this type.

#include "common/domain/job/distribution.h"
#include "launcher/files/yaml/faults.h"
#include "launcher/files/yaml/tree.h"

namespace lockstep::spec {

// Reads a distribution. `section`: the value of `distribution`, whose shapes are checked. `nodes`:
// the job's, which worker_count defaults to.
Distribution read_distribution(const Source& source, const YamlNode& section, int nodes,
                               Faults& faults);

Binding read_binding(const Source& source, const YamlNode& node, Faults& faults);

}  // namespace lockstep::spec
