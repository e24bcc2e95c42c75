#pragma once
// How the GPUs of this node reach each other and where they are: NVLink and peer-to-peer access by
// NVML, PCI paths by /sys. A driver that lacks a function tells less.

#include <string>
#include <vector>

#include "common/domain/targets/fabric.h"
#include "common/domain/targets/node.h"

namespace lockstep::agent {

// Probes `gpus`, which probe_gpus found, at most kMaxFabricGpus. `library`: as for probe_gpus.
std::vector<FabricGpu> probe_fabric_gpus(const std::vector<GpuDevice>& gpus,
                                         const std::string& library = "",
                                         const std::string& sys = "/sys");

}  // namespace lockstep::agent
