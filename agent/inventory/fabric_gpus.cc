#include "agent/inventory/fabric_gpus.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <map>

#include "agent/inventory/nvml.h"
#include "agent/inventory/pci.h"

namespace lockstep::agent {
namespace {

using Handles = std::map<std::string, NvmlDeviceHandle>;  // handles by PCI bus id

// A bus id in the kernel's form "0000:01:00.0"; NVML writes "00000000:01:00.0".
std::string as_in_sys(const std::string& bus_id) {
  constexpr std::size_t kUsual = 12;
  std::string id = bus_id.size() > kUsual ? bus_id.substr(bus_id.size() - kUsual) : bus_id;
  std::transform(id.begin(), id.end(), id.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return id;
}

Handles handles_of(const Nvml& nvml) {
  Handles handles;
  unsigned count = 0;
  if (nvml.count(&count) != kNvmlSuccess) return handles;
  for (unsigned index = 0; index < count && index < kMaxFabricGpus; ++index) {
    NvmlDeviceHandle device = nullptr;
    NvmlPciInfo pci{};
    if (nvml.by_index(index, &device) != kNvmlSuccess) continue;
    if (nvml.pci(device, &pci) != kNvmlSuccess) continue;
    handles[std::string(pci.bus_id, ::strnlen(pci.bus_id, sizeof pci.bus_id))] = device;
  }
  return handles;
}

bool is_mig(const Nvml& nvml, NvmlDeviceHandle device) {
  unsigned current = 0, pending = 0;
  return nvml.mig_mode != nullptr && nvml.mig_mode(device, &current, &pending) == kNvmlSuccess &&
         current == kNvmlFeatureEnabled;
}

bool reach(const Nvml& nvml, NvmlDeviceHandle a, NvmlDeviceHandle b, int how) {
  int status = -1;
  return nvml.p2p_status != nullptr && nvml.p2p_status(a, b, how, &status) == kNvmlSuccess &&
         status == kNvmlP2pOk;
}

void connect_gpus(const Nvml& nvml, const std::vector<GpuDevice>& gpus,
                  std::vector<FabricGpu>& out) {
  const Handles handles = handles_of(nvml);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const auto mine = handles.find(gpus[i].pci_bus_id);
    if (mine == handles.end()) continue;
    out[i].mig = is_mig(nvml, mine->second);
    for (std::size_t j = 0; j < out.size(); ++j) {
      const auto other = handles.find(gpus[j].pci_bus_id);
      if (i == j || other == handles.end()) continue;
      if (reach(nvml, mine->second, other->second, kNvmlP2pNvlink))
        out[i].nvlink_peers.push_back(out[j].index);
      if (reach(nvml, mine->second, other->second, kNvmlP2pRead))
        out[i].p2p_peers.push_back(out[j].index);
    }
  }
}

}  // namespace

std::vector<FabricGpu> probe_fabric_gpus(const std::vector<GpuDevice>& gpus,
                                         const std::string& library, const std::string& sys) {
  std::vector<FabricGpu> all;
  for (const GpuDevice& gpu : gpus) {
    if (all.size() >= kMaxFabricGpus) break;
    const DevicePlace place = device_place(sys + "/bus/pci/devices/" + as_in_sys(gpu.pci_bus_id));
    FabricGpu one;
    one.index = gpu.index;
    one.pci = place.pci.empty() ? as_in_sys(gpu.pci_bus_id) : place.pci;
    one.numa_node = place.exists ? place.numa_node : gpu.numa_node;
    all.push_back(std::move(one));
  }
  if (all.empty()) return all;
  const Nvml nvml(library.empty() ? nvml_library() : library);
  if (!nvml.present() || !nvml.missing().empty() || nvml.init() != kNvmlSuccess) return all;
  connect_gpus(nvml, gpus, all);
  nvml.shutdown();
  return all;
}

}  // namespace lockstep::agent
