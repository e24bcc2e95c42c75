#pragma once
// Asks NVML at intervals what slows down the clocks of GPUs: heat or power. It does so on a thread
// of its own: if the driver hangs, only this thread waits, and its values become too old to be
// used. NVML is loaded at run time; its few functions are declared here after NVIDIA's reference
// manual. It starts no thread without GPUs.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/base/time.h"

namespace lockstep::runner {

// "thermal", "power", "hardware", or several with commas; "": no reason that slows a busy GPU.
// `reasons`: the bits of nvmlDeviceGetCurrentClocksThrottleReasons.
std::string held_by(unsigned long long reasons);

// The library's path: $LOCKSTEP_NVML_LIBRARY; if it is not set, libnvidia-ml.so.1.
std::string nvml_for_clocks();

class GpuClocks {
 public:
  // `gpus`: indexes in PCI order, as the node's inventory has them.
  GpuClocks(std::vector<int> gpus, Duration every, std::string library = nvml_for_clocks());
  ~GpuClocks();  // does not wait for a call into the driver
  GpuClocks(const GpuClocks&) = delete;
  GpuClocks& operator=(const GpuClocks&) = delete;

  // Reasons by GPU index; empty if the newest values are older than three intervals.
  std::map<int, std::string> newest() const;

 private:
  struct Shared;
  static void work(const std::shared_ptr<Shared>& shared);

  std::shared_ptr<Shared> shared_;  // null: there is nothing to ask
};

}  // namespace lockstep::runner
