#include "agent/inventory/gpu.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "common/io/file_system.h"

namespace lockstep::agent {
namespace {

// NVML's binary interface, as its reference manual gives it.
using Device = struct NvmlDevice*;
constexpr int kSuccess = 0;
constexpr unsigned kNameBytes = 96;
struct PciInfo {  // nvmlPciInfo_t of nvmlDeviceGetPciInfo_v3
  char bus_id_legacy[16];
  unsigned domain, bus, device, pci_device_id, pci_subsystem_id;
  char bus_id[32];
};
struct MemoryInfo {  // nvmlMemory_t
  unsigned long long total, free, used;
};

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
  int (*by_index)(unsigned, Device*) = nullptr;
  int (*name)(Device, char*, unsigned) = nullptr;
  int (*uuid)(Device, char*, unsigned) = nullptr;
  int (*pci)(Device, PciInfo*) = nullptr;
  int (*memory)(Device, MemoryInfo*) = nullptr;
  int (*cuda_version)(int*) = nullptr;  // null: the driver is too old to say

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

// NVML writes the domain with 8 digits ("00000000:01:00.0"), sysfs with 4.
int numa_node_of(const std::string& bus_id, const std::string& sys) {
  std::string id = bus_id.size() > 12 ? bus_id.substr(bus_id.size() - 12) : bus_id;
  for (char& c : id) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  const auto text = io::read_file(sys + "/bus/pci/devices/" + id + "/numa_node");
  int node = -1;
  if (text) std::sscanf(text->c_str(), "%d", &node);
  return node;
}

// NVML writes 12.4 as 12040.
std::string cuda_of(const Nvml& nvml) {
  int version = 0;
  if (nvml.cuda_version == nullptr || nvml.cuda_version(&version) != kSuccess || version <= 0)
    return "";
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

Result<GpuDevice> describe(const Nvml& nvml, unsigned index, const std::string& sys) {
  Device device = nullptr;
  PciInfo pci{};
  MemoryInfo memory{};
  char text[kNameBytes] = {};
  int code = nvml.by_index(index, &device);
  if (code == kSuccess) code = nvml.pci(device, &pci);
  if (code == kSuccess) code = nvml.memory(device, &memory);
  if (code != kSuccess) {
    return make_error(ErrorCode::unavailable,
                      fmt::format("GPU {} cannot be used: {}", index, nvml.words(code)));
  }
  GpuDevice gpu;
  gpu.pci_bus_id.assign(pci.bus_id, ::strnlen(pci.bus_id, sizeof pci.bus_id));
  gpu.memory = Bytes{memory.total};
  gpu.numa_node = numa_node_of(gpu.pci_bus_id, sys);
  if (nvml.name(device, text, sizeof text) == kSuccess) gpu.name = text;
  if (nvml.uuid(device, text, sizeof text) == kSuccess) gpu.uuid = text;
  return gpu;
}

void list_devices(const Nvml& nvml, const std::string& sys, GpuProbe& probe) {
  unsigned count = 0;
  if (const int code = nvml.count(&count); code != kSuccess) {
    probe.limitation = "GPUs cannot be counted: " + nvml.words(code);
    return;
  }
  for (unsigned index = 0; index < count; ++index) {
    auto gpu = describe(nvml, index, sys);
    if (gpu)
      probe.gpus.push_back(*std::move(gpu));
    else
      probe.limitation += (probe.limitation.empty() ? "" : "; ") + gpu.error().message;
  }
  std::sort(probe.gpus.begin(), probe.gpus.end(),
            [](const auto& a, const auto& b) { return a.pci_bus_id < b.pci_bus_id; });
  for (std::size_t i = 0; i < probe.gpus.size(); ++i) probe.gpus[i].index = static_cast<int>(i);
}

}  // namespace

GpuProbe probe_gpus(const std::string& library, const std::string& sys) {
  std::string path = library;
  const char* named = std::getenv("LOCKSTEP_NVML_LIBRARY");
  const bool is_named = library.empty() && named && *named;
  if (is_named) path = named;
  if (path.empty()) path = "libnvidia-ml.so.1";
  GpuProbe probe;
  const Nvml nvml(path);
  if (!nvml.present()) {
    if (is_named)
      probe.limitation = fmt::format(
          "GPUs are not offered: LOCKSTEP_NVML_LIBRARY names {}, which cannot be loaded ({})", path,
          nvml.why_absent());
    return probe;
  }
  if (!nvml.missing().empty()) {
    probe.limitation =
        fmt::format("GPUs are not offered: {} is too old: it lacks {}; update the NVIDIA driver",
                    path, nvml.missing());
    return probe;
  }
  if (const int code = nvml.init(); code != kSuccess) {
    probe.limitation = "GPUs are not offered: NVML reports: " + nvml.words(code);
    return probe;
  }
  list_devices(nvml, sys, probe);
  probe.cuda = cuda_of(nvml);
  nvml.shutdown();
  return probe;
}

}  // namespace lockstep::agent
