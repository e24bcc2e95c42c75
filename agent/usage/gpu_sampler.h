#pragma once
// Samples the GPUs' utilisation and memory through NVML, on a thread of its own: if the driver
// hangs, only this thread waits, and its values become too old to be used. It starts no thread if
// the node offers no GPU.

#include <memory>
#include <string>
#include <vector>

#include "agent/inventory/nvml.h"
#include "common/base/time.h"
#include "common/domain/targets/metrics.h"
#include "common/domain/targets/node.h"

namespace lockstep::agent {

class GpuSampler {
 public:
  GpuSampler(std::vector<GpuDevice> gpus, Duration every, std::string library = nvml_library());
  ~GpuSampler();  // does not wait for a call into the driver
  GpuSampler(const GpuSampler&) = delete;
  GpuSampler& operator=(const GpuSampler&) = delete;

  // The newest values, unless they are older than three intervals: then none.
  std::vector<GpuUse> newest() const;

 private:
  struct Shared;
  static void work(const std::shared_ptr<Shared>& shared);

  std::shared_ptr<Shared> shared_;  // null: the node has no GPUs
};

}  // namespace lockstep::agent
