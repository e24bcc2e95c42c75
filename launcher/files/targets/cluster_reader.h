#pragma once
// The keys of a compute file of types amlcompute and kubernetes: Azure's (size, tier,
// min_instances, …), and below `lockstep` the settings of its node source. Part of compute_file.cc.

#include <optional>
#include <string>
#include <string_view>

#include "common/domain/targets/compute.h"
#include "launcher/files/yaml/faults.h"
#include "launcher/files/yaml/tree.h"

namespace lockstep::spec {

// Reads a cluster's size, scale and settings; for another type, refuses these keys.
void read_cluster(const Source& source, const YamlNode& root, ComputeSpec& spec, Faults& faults);

// The node source that the file implies by a section of its settings, as `lockstep.docker`; none:
// it has no such section.
NodeSource implied_source(const YamlNode& root);

// Sets one key of a cluster from a text: "min_instances" and "2". Returns why the value is wrong;
// "": it was set. nullopt: a cluster does not have the key.
std::optional<std::string> assign_to_cluster(std::string_view key, const std::string& text,
                                             ComputeSpec& spec);

}  // namespace lockstep::spec
