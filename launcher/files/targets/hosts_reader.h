#pragma once
// Reads the machines of a compute target that are attached over ssh: `lockstep.hosts`,
// `lockstep.ssh`, `lockstep.tunnel`, and Azure's `ssh_settings` and `resource_id`. compute_file.cc
// reads all other keys.

#include "common/domain/targets/compute.h"
#include "launcher/files/yaml/faults.h"
#include "launcher/files/yaml/tree.h"

namespace lockstep::spec {

// Whether the file has hosts, or tells how to log in to them: its node source is then ssh.
bool names_hosts(const YamlNode& root);

// Fills the hosts and the tunnel of a target of source ssh.
void read_hosts(const Source& source, const YamlNode& root, ComputeSpec& spec, Faults& faults);

// Refuses each key about hosts, for a target of another source.
void refuse_hosts(const Source& source, const YamlNode& root, const ComputeSpec& spec,
                  Faults& faults);

}  // namespace lockstep::spec
