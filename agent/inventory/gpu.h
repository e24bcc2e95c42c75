#pragma once
// NVIDIA GPUs through NVML, which is loaded at run time (a few of its functions, declared here
// after NVIDIA's documentation of the library), so that one build serves nodes with and without
// GPUs.

#include <string>
#include <vector>

#include "common/domain/node.h"

namespace lockstep::agent {

struct GpuProbe {
  std::vector<GpuDevice> gpus;  // in PCI order
  std::string cuda;             // newest that the driver runs: "12.4"; "" = none
  std::string limitation;       // "" or why GPUs that seem to be there cannot be offered
};

// `library`: "" = $LOCKSTEP_NVML_LIBRARY, else libnvidia-ml.so.1. Without it: no GPUs, and no
// complaint unless the variable names it.
GpuProbe probe_gpus(const std::string& library = "", const std::string& sys = "/sys");

}  // namespace lockstep::agent
