#pragma once
// The keys of a job file that choose nodes: `resources.instance_type` and `resources.properties`,
// and below `lockstep:` isolated, rdma, labels and nodes.

#include "common/domain/job/spec.h"
#include "launcher/files/environment/environment_reader.h"
#include "launcher/files/yaml/faults.h"
#include "launcher/files/yaml/tree.h"

namespace lockstep::spec {

// Adds every fault to `faults`, and unused settings to `notes`. The shapes have been checked.
void read_placement(const Source& source, const YamlNode& root, Faults& faults,
                    ResourceRequest& resources, Notes& notes);

}  // namespace lockstep::spec
