#pragma once
// NVIDIA GPUs, read through NVML. The library is loaded at run time, and we declare the few
// functions that we use after NVIDIA's documentation, so that one build works on nodes with and
// without GPUs.

#include <string>
#include <vector>

#include "common/domain/targets/node.h"

namespace lockstep::agent {

struct GpuProbe {
  std::vector<GpuDevice> gpus;  // the GPUs in PCI order
  std::string cuda;             // newest CUDA version that the driver supports: "12.4"; "" = none
  std::string limitation;       // "", or why GPUs that seem to exist cannot be offered
};

// `library`: "" = $LOCKSTEP_NVML_LIBRARY, or libnvidia-ml.so.1 if that is not set. If it cannot be
// loaded, there are no GPUs; `limitation` reports that only if the variable names the library.
GpuProbe probe_gpus(const std::string& library = "", const std::string& sys = "/sys");

}  // namespace lockstep::agent
