#include "agent/usage/gpu_sampler.h"

#include <spdlog/spdlog.h>
#include <string.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

namespace lockstep::agent {

using SteadyClock = std::chrono::steady_clock;

struct GpuSampler::Shared {
  std::vector<GpuDevice> gpus;
  Duration every;
  std::string library;
  std::mutex mutex;
  std::condition_variable changed;
  bool stopping = false;  // guarded by the mutex, like the members below
  std::vector<GpuUse> newest;
  SteadyClock::time_point at;
};

namespace {

// NVML's handles of these GPUs. NVML may number them in another order.
std::map<int, NvmlDeviceHandle> handles_of(const Nvml& nvml, const std::vector<GpuDevice>& gpus) {
  std::map<int, NvmlDeviceHandle> handles;
  unsigned count = 0;
  if (nvml.count(&count) != kNvmlSuccess) return handles;
  for (unsigned i = 0; i < count; ++i) {
    NvmlDeviceHandle device = nullptr;
    NvmlPciInfo pci{};
    if (nvml.by_index(i, &device) != kNvmlSuccess || nvml.pci(device, &pci) != kNvmlSuccess)
      continue;
    const std::string bus_id(pci.bus_id, ::strnlen(pci.bus_id, sizeof pci.bus_id));
    for (const GpuDevice& gpu : gpus)
      if (gpu.pci_bus_id == bus_id) handles[gpu.index] = device;
  }
  return handles;
}

std::vector<GpuUse> look_at(const Nvml& nvml, const std::map<int, NvmlDeviceHandle>& handles) {
  std::vector<GpuUse> all;
  for (const auto& [index, device] : handles) {
    NvmlUtilization busy{};
    NvmlMemoryInfo memory{};
    if (nvml.utilization(device, &busy) != kNvmlSuccess ||
        nvml.memory(device, &memory) != kNvmlSuccess)
      continue;
    all.push_back({index, static_cast<int>(std::min(busy.gpu, 100U)), Bytes{memory.used}});
  }
  return all;
}

}  // namespace

GpuSampler::GpuSampler(std::vector<GpuDevice> gpus, Duration every, std::string library) {
  if (gpus.empty() || every == Duration::zero()) return;
  shared_ = std::make_shared<Shared>();
  shared_->gpus = std::move(gpus);
  shared_->every = every;
  shared_->library = std::move(library);
  std::thread([shared = shared_] { work(shared); }).detach();
}

GpuSampler::~GpuSampler() {
  if (!shared_) return;
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->stopping = true;
  }
  shared_->changed.notify_one();
}

void GpuSampler::work(const std::shared_ptr<Shared>& shared) {
  const Nvml nvml(shared->library);
  if (!nvml.present() || !nvml.missing().empty() || nvml.utilization == nullptr ||
      nvml.init() != kNvmlSuccess) {
    spdlog::warn("the use of GPUs is not shown: {} does not report it", shared->library);
    return;
  }
  const auto handles = handles_of(nvml, shared->gpus);
  std::unique_lock lock(shared->mutex);
  while (!shared->stopping) {
    lock.unlock();
    std::vector<GpuUse> found = look_at(nvml, handles);
    lock.lock();
    shared->newest = std::move(found);
    shared->at = SteadyClock::now();
    shared->changed.wait_for(lock, shared->every, [&] { return shared->stopping; });
  }
  lock.unlock();
  nvml.shutdown();
}

std::vector<GpuUse> GpuSampler::newest() const {
  if (!shared_) return {};
  const std::lock_guard lock(shared_->mutex);
  if (SteadyClock::now() - shared_->at > 3 * shared_->every) return {};
  return shared_->newest;
}

}  // namespace lockstep::agent
