// Holds what we declare of NVML (agent/inventory/nvml.h) against NVIDIA's own header, where a CUDA
// toolkit is there at build time. It is compiled and never run.

#include <nvml.h>

#include <cstddef>

#include "agent/inventory/nvml.h"
#include "tests/fakes/nvml/same_shape.h"

namespace lockstep::agent {
namespace {

using test::kSameShape;

static_assert(kSameShape<decltype(Nvml::init), decltype(&nvmlInit_v2)>);
static_assert(kSameShape<decltype(Nvml::shutdown), decltype(&nvmlShutdown)>);
static_assert(kSameShape<decltype(Nvml::error_string), decltype(&nvmlErrorString)>);
static_assert(kSameShape<decltype(Nvml::count), decltype(&nvmlDeviceGetCount_v2)>);
static_assert(kSameShape<decltype(Nvml::by_index), decltype(&nvmlDeviceGetHandleByIndex_v2)>);
static_assert(kSameShape<decltype(Nvml::name), decltype(&nvmlDeviceGetName)>);
static_assert(kSameShape<decltype(Nvml::uuid), decltype(&nvmlDeviceGetUUID)>);
static_assert(kSameShape<decltype(Nvml::pci), decltype(&nvmlDeviceGetPciInfo_v3)>);
static_assert(kSameShape<decltype(Nvml::memory), decltype(&nvmlDeviceGetMemoryInfo)>);
static_assert(kSameShape<decltype(Nvml::utilization), decltype(&nvmlDeviceGetUtilizationRates)>);
static_assert(
    kSameShape<decltype(Nvml::cuda_version), decltype(&nvmlSystemGetCudaDriverVersion_v2)>);
static_assert(kSameShape<decltype(Nvml::mig_mode), decltype(&nvmlDeviceGetMigMode)>);
static_assert(kSameShape<decltype(Nvml::p2p_status), decltype(&nvmlDeviceGetP2PStatus)>);

static_assert(offsetof(NvmlPciInfo, bus) == offsetof(nvmlPciInfo_t, bus));
static_assert(offsetof(NvmlPciInfo, bus_id) == offsetof(nvmlPciInfo_t, busId));
static_assert(sizeof(NvmlPciInfo::bus_id) == sizeof(nvmlPciInfo_t::busId));
static_assert(offsetof(NvmlMemoryInfo, free) == offsetof(nvmlMemory_t, free));
static_assert(offsetof(NvmlMemoryInfo, used) == offsetof(nvmlMemory_t, used));
static_assert(offsetof(NvmlUtilization, memory) == offsetof(nvmlUtilization_t, memory));

static_assert(kNvmlSuccess == static_cast<int>(NVML_SUCCESS));
static_assert(kNvmlFeatureEnabled == static_cast<unsigned>(NVML_DEVICE_MIG_ENABLE));
static_assert(kNvmlP2pRead == static_cast<int>(NVML_P2P_CAPS_INDEX_READ));
static_assert(kNvmlP2pNvlink == static_cast<int>(NVML_P2P_CAPS_INDEX_NVLINK));
static_assert(kNvmlP2pOk == static_cast<int>(NVML_P2P_STATUS_OK));

// As runner/watch/gpu_clocks.cc has them. Newer headers have another name beside this one.
#ifdef nvmlClocksThrottleReasonHwSlowdown
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
static_assert(kSameShape<int (*)(void*, unsigned long long*),
                         decltype(&nvmlDeviceGetCurrentClocksThrottleReasons)>);
static_assert(nvmlClocksThrottleReasonSwThermalSlowdown == 0x20);
static_assert(nvmlClocksThrottleReasonHwThermalSlowdown == 0x40);
static_assert(nvmlClocksThrottleReasonSwPowerCap == 0x04);
static_assert(nvmlClocksThrottleReasonHwPowerBrakeSlowdown == 0x80);
static_assert(nvmlClocksThrottleReasonHwSlowdown == 0x08);
#endif

}  // namespace
}  // namespace lockstep::agent
