#include "agent/inventory/gpu.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "agent/inventory/nvml.h"
#include "common/io/file_system.h"

namespace lockstep::agent {
namespace {

constexpr const char* kUsualLibrary = "libnvidia-ml.so.1";

// The NUMA node of a GPU. NVML writes the domain with 8 digits ("00000000:01:00.0"), sysfs with 4.
int numa_node_of(const std::string& bus_id, const std::string& sys) {
  std::string id = bus_id.size() > 12 ? bus_id.substr(bus_id.size() - 12) : bus_id;
  for (char& c : id) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  const auto text = io::read_file(sys + "/bus/pci/devices/" + id + "/numa_node");
  int node = -1;
  if (text) std::sscanf(text->c_str(), "%d", &node);
  return node;
}

// The version of CUDA; NVML writes 12.4 as 12040.
std::string cuda_of(const Nvml& nvml) {
  int version = 0;
  if (nvml.cuda_version == nullptr || nvml.cuda_version(&version) != kNvmlSuccess || version <= 0)
    return "";
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

Result<GpuDevice> describe(const Nvml& nvml, unsigned index, const std::string& sys) {
  NvmlDeviceHandle device = nullptr;
  NvmlPciInfo pci{};
  NvmlMemoryInfo memory{};
  char text[kNvmlNameBytes] = {};
  int code = nvml.by_index(index, &device);
  if (code == kNvmlSuccess) code = nvml.pci(device, &pci);
  if (code == kNvmlSuccess) code = nvml.memory(device, &memory);
  if (code != kNvmlSuccess) {
    return make_error(ErrorCode::unavailable,
                      fmt::format("GPU {} cannot be used: {}", index, nvml.words(code)));
  }
  GpuDevice gpu;
  gpu.pci_bus_id.assign(pci.bus_id, ::strnlen(pci.bus_id, sizeof pci.bus_id));
  gpu.memory = Bytes{memory.total};
  gpu.numa_node = numa_node_of(gpu.pci_bus_id, sys);
  if (nvml.name(device, text, sizeof text) == kNvmlSuccess) gpu.name = text;
  if (nvml.uuid(device, text, sizeof text) == kNvmlSuccess) gpu.uuid = text;
  return gpu;
}

void list_devices(const Nvml& nvml, const std::string& sys, GpuProbe& probe) {
  unsigned count = 0;
  if (const int code = nvml.count(&count); code != kNvmlSuccess) {
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

std::string nvml_library() {
  const char* named = std::getenv("LOCKSTEP_NVML_LIBRARY");
  return named != nullptr && *named != '\0' ? named : kUsualLibrary;
}

GpuProbe probe_gpus(const std::string& library, const std::string& sys) {
  const std::string path = library.empty() ? nvml_library() : library;
  const bool is_named = library.empty() && path != kUsualLibrary;
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
  if (const int code = nvml.init(); code != kNvmlSuccess) {
    probe.limitation = "GPUs are not offered: NVML reports: " + nvml.words(code);
    return probe;
  }
  list_devices(nvml, sys, probe);
  probe.cuda = cuda_of(nvml);
  nvml.shutdown();
  return probe;
}

}  // namespace lockstep::agent
