#include "runner/watch/gpu_clocks.h"

#include <dlfcn.h>
#include <spdlog/spdlog.h>
#include <string.h>

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

namespace lockstep::runner {
namespace {

using SteadyClock = std::chrono::steady_clock;
using ClockDevice = struct NvmlClockDevice*;

struct PciPlace {  // nvmlPciInfo_t, as nvmlDeviceGetPciInfo_v3 fills it
  char bus_id_legacy[16];
  unsigned domain, bus, device, pci_device_id, pci_subsystem_id;
  char bus_id[32];
};

struct ReasonBits {
  unsigned long long bits;
  const char* word;
};
// The reasons of nvmlClocksThrottleReason…; those that slow nothing are left out: an idle GPU,
// clocks that a person set.
constexpr ReasonBits kReasons[] = {
    {0x20 | 0x40, "thermal"},  // SwThermalSlowdown, HwThermalSlowdown
    {0x04 | 0x80, "power"},    // SwPowerCap, HwPowerBrakeSlowdown
    {0x08, "hardware"},        // HwSlowdown
};

// The library is never unloaded, because a thread of its own may run.
class ClockLibrary {
 public:
  explicit ClockLibrary(const std::string& path) {
    void* const library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (library == nullptr) return;
    find(library, "nvmlInit_v2", init_);
    find(library, "nvmlDeviceGetCount_v2", count_);
    find(library, "nvmlDeviceGetHandleByIndex_v2", by_index_);
    find(library, "nvmlDeviceGetPciInfo_v3", pci_);
    find(library, "nvmlDeviceGetCurrentClocksThrottleReasons", reasons_);
  }
  bool begin() const { return is_whole_ && init_ != nullptr && init_() == 0; }

  // The devices in PCI order; NVML's order may differ.
  std::vector<ClockDevice> devices() const {
    std::map<std::string, ClockDevice> by_place;
    unsigned count = 0;
    if (count_(&count) != 0) return {};
    for (unsigned i = 0; i < count; ++i) {
      ClockDevice device = nullptr;
      PciPlace place{};
      if (by_index_(i, &device) != 0 || pci_(device, &place) != 0) continue;
      by_place[std::string(place.bus_id, ::strnlen(place.bus_id, sizeof place.bus_id))] = device;
    }
    std::vector<ClockDevice> devices;
    for (const auto& [place, device] : by_place) devices.push_back(device);
    return devices;
  }
  unsigned long long reasons(ClockDevice device) const {
    unsigned long long bits = 0;
    return reasons_(device, &bits) == 0 ? bits : 0;
  }

 private:
  template <typename Function>
  void find(void* library, const char* symbol, Function& into) {
    into = reinterpret_cast<Function>(::dlsym(library, symbol));
    is_whole_ = is_whole_ && into != nullptr;
  }
  bool is_whole_ = true;
  int (*init_)() = nullptr;
  int (*count_)(unsigned*) = nullptr;
  int (*by_index_)(unsigned, ClockDevice*) = nullptr;
  int (*pci_)(ClockDevice, PciPlace*) = nullptr;
  int (*reasons_)(ClockDevice, unsigned long long*) = nullptr;
};

}  // namespace

struct GpuClocks::Shared {
  std::vector<int> gpus;
  Duration every;
  std::string library;
  std::mutex mutex;
  std::condition_variable changed;
  bool is_stopping = false;  // guarded by the mutex, like the members below
  std::map<int, std::string> newest;
  SteadyClock::time_point at;
};

std::string held_by(unsigned long long reasons) {
  std::string words;
  for (const ReasonBits& each : kReasons)
    if ((reasons & each.bits) != 0) words += (words.empty() ? "" : ", ") + std::string(each.word);
  return words;
}

std::string nvml_for_clocks() {
  const char* named = std::getenv("LOCKSTEP_NVML_LIBRARY");
  return named != nullptr && *named != '\0' ? named : "libnvidia-ml.so.1";
}

GpuClocks::GpuClocks(std::vector<int> gpus, Duration every, std::string library) {
  if (gpus.empty() || every <= Duration::zero()) return;
  shared_ = std::make_shared<Shared>();
  shared_->gpus = std::move(gpus);
  shared_->every = every;
  shared_->library = std::move(library);
  try {
    std::thread([shared = shared_] {
      try {
        work(shared);
      } catch (const std::exception&) {  // out of memory: clocks are not reported any more
      }
    }).detach();
  } catch (const std::system_error& error) {  // the limit of threads is reached
    spdlog::warn("the clocks of GPUs are not looked at: {}", error.what());
    shared_.reset();
  }
}

GpuClocks::~GpuClocks() {
  if (!shared_) return;
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->is_stopping = true;
  }
  shared_->changed.notify_one();
}

void GpuClocks::work(const std::shared_ptr<Shared>& shared) {
  const ClockLibrary nvml(shared->library);
  if (!nvml.begin()) return;
  const std::vector<ClockDevice> devices = nvml.devices();
  std::unique_lock lock(shared->mutex);
  while (!shared->is_stopping) {
    lock.unlock();
    std::map<int, std::string> found;
    for (const int gpu : shared->gpus)
      if (gpu >= 0 && static_cast<std::size_t>(gpu) < devices.size())
        found[gpu] = held_by(nvml.reasons(devices[static_cast<std::size_t>(gpu)]));
    lock.lock();
    shared->newest = std::move(found);
    shared->at = SteadyClock::now();
    shared->changed.wait_for(lock, shared->every, [&] { return shared->is_stopping; });
  }
}

std::map<int, std::string> GpuClocks::newest() const {
  if (!shared_) return {};
  const std::lock_guard lock(shared_->mutex);
  if (SteadyClock::now() - shared_->at > 3 * shared_->every) return {};
  return shared_->newest;
}

}  // namespace lockstep::runner
