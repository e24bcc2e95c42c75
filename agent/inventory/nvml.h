#pragma once
// NVML, NVIDIA's library about GPUs, loaded at run time; the few functions that we use are declared
// after NVIDIA's reference manual, so that one build works on nodes with and without GPUs.

#include <dlfcn.h>

#include <string>

namespace lockstep::agent {

using NvmlDeviceHandle = struct NvmlDevice*;
inline constexpr int kNvmlSuccess = 0;
inline constexpr unsigned kNvmlNameBytes = 96;
struct NvmlPciInfo {  // nvmlPciInfo_t of nvmlDeviceGetPciInfo_v3
  char bus_id_legacy[16];
  unsigned domain, bus, device, pci_device_id, pci_subsystem_id;
  char bus_id[32];
};
struct NvmlMemoryInfo {  // nvmlMemory_t
  unsigned long long total, free, used;
};

struct NvmlUtilization {  // nvmlUtilization_t, in percent of the time
  unsigned gpu, memory;
};

// The values that we use of nvmlEnableState_t, nvmlGpuP2PCapsIndex_t and nvmlGpuP2PStatus_t.
inline constexpr unsigned kNvmlFeatureEnabled = 1;
inline constexpr int kNvmlP2pRead = 0, kNvmlP2pNvlink = 2;
inline constexpr int kNvmlP2pOk = 0;

class Nvml {
 public:
  explicit Nvml(const std::string& path) : library_(::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (!library_) {
      why_absent_ = ::dlerror();
      return;
    }
    load("nvmlInit_v2", init);
    load("nvmlShutdown", shutdown);
    load("nvmlErrorString", error_string);
    load("nvmlDeviceGetCount_v2", count);
    load("nvmlDeviceGetHandleByIndex_v2", by_index);
    load("nvmlDeviceGetName", name);
    load("nvmlDeviceGetUUID", uuid);
    load("nvmlDeviceGetPciInfo_v3", pci);
    load("nvmlDeviceGetMemoryInfo", memory);
    load_if_there("nvmlSystemGetCudaDriverVersion_v2", cuda_version);
    load_if_there("nvmlDeviceGetUtilizationRates", utilization);
    load_if_there("nvmlDeviceGetMigMode", mig_mode);
    load_if_there("nvmlDeviceGetP2PStatus", p2p_status);
  }
  ~Nvml() {
    if (library_) ::dlclose(library_);
  }
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;
  bool present() const { return library_ != nullptr; }
  const std::string& why_absent() const { return why_absent_; }
  const std::string& missing() const { return missing_; }
  std::string words(int code) const { return error_string(code); }

  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  const char* (*error_string)(int) = nullptr;
  int (*count)(unsigned*) = nullptr;
  int (*by_index)(unsigned, NvmlDeviceHandle*) = nullptr;
  int (*name)(NvmlDeviceHandle, char*, unsigned) = nullptr;
  int (*uuid)(NvmlDeviceHandle, char*, unsigned) = nullptr;
  int (*pci)(NvmlDeviceHandle, NvmlPciInfo*) = nullptr;
  int (*memory)(NvmlDeviceHandle, NvmlMemoryInfo*) = nullptr;
  int (*utilization)(NvmlDeviceHandle, NvmlUtilization*) = nullptr;  // null: the driver is very old
  int (*cuda_version)(int*) = nullptr;  // null: the driver is too old for this call
  // Current and pending mode. Null: the driver is too old for MIG.
  int (*mig_mode)(NvmlDeviceHandle, unsigned*, unsigned*) = nullptr;
  // null: the driver is too old
  int (*p2p_status)(NvmlDeviceHandle, NvmlDeviceHandle, int, int*) = nullptr;

 private:
  template <typename Function>
  void load_if_there(const char* symbol, Function& into) {
    into = reinterpret_cast<Function>(::dlsym(library_, symbol));
  }
  template <typename Function>
  void load(const char* symbol, Function& into) {
    load_if_there(symbol, into);
    if (!into && missing_.empty()) missing_ = symbol;
  }
  void* library_;
  std::string why_absent_, missing_;
};

// The library's path: $LOCKSTEP_NVML_LIBRARY; if it is not set, libnvidia-ml.so.1.
std::string nvml_library();

}  // namespace lockstep::agent
