// Stands in for libnvidia-ml.so.1: as many GPUs as $LOCKSTEP_FAKE_GPUS says (8 where it is not set,
// as in daemons, whose environment is clean), 80 GiB each, listed by NVML index in the reverse of
// PCI order. Two neighbours (0 and 1, 2 and 3, … in PCI order) have NVLink, all have peer-to-peer
// access, and the last one is in MIG mode if LOCKSTEP_FAKE_MIG is set. LOCKSTEP_FAKE_NVML_ERROR
// makes nvmlInit_v2 fail with that code.

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "agent/inventory/nvml.h"
#include "tests/fakes/nvml/same_shape.h"

namespace {

constexpr int kSuccess = 0;
constexpr int kInvalidArgument = 2;

unsigned gpu_count() {
  const char* text = std::getenv("LOCKSTEP_FAKE_GPUS");
  return text ? static_cast<unsigned>(std::atoi(text)) : 8;
}

// A handle is the device's place in PCI order, plus one.
unsigned place_of(const void* device) {
  return static_cast<unsigned>(reinterpret_cast<std::size_t>(device)) - 1;
}

struct PciInfo {
  char bus_id_legacy[16];
  unsigned domain, bus, device, pci_device_id, pci_subsystem_id;
  char bus_id[32];
};

struct MemoryInfo {
  unsigned long long total, free, used;
};

}  // namespace

extern "C" {

int nvmlInit_v2() {
  const char* error = std::getenv("LOCKSTEP_FAKE_NVML_ERROR");
  return error ? std::atoi(error) : kSuccess;
}

int nvmlShutdown() { return kSuccess; }

const char* nvmlErrorString(int code) { return code == 9 ? "Driver Not Loaded" : "Unknown Error"; }

int nvmlSystemGetCudaDriverVersion_v2(int* version) {
  *version = 12040;
  return kSuccess;
}

int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = gpu_count();
  return kSuccess;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  if (index >= gpu_count()) return kInvalidArgument;
  *device = reinterpret_cast<void*>(static_cast<std::size_t>(gpu_count() - index));
  return kSuccess;
}

int nvmlDeviceGetName(void*, char* name, unsigned length) {
  std::snprintf(name, length, "Fake GPU 80GB");
  return kSuccess;
}

int nvmlDeviceGetUUID(void* device, char* uuid, unsigned length) {
  std::snprintf(uuid, length, "GPU-00000000-0000-0000-0000-%012u", place_of(device));
  return kSuccess;
}

int nvmlDeviceGetPciInfo_v3(void* device, PciInfo* info) {
  std::memset(info, 0, sizeof *info);
  info->bus = 0x10 + place_of(device);
  std::snprintf(info->bus_id, sizeof info->bus_id, "00000000:%02X:00.0", info->bus);
  return kSuccess;
}

struct Utilization {
  unsigned gpu, memory;
};

// Ten percent for each place in PCI order.
int nvmlDeviceGetUtilizationRates(void* device, Utilization* utilization) {
  utilization->gpu = 10 * (place_of(device) + 1);
  utilization->memory = 1;
  return kSuccess;
}

int nvmlDeviceGetMigMode(void* device, unsigned* current, unsigned* pending) {
  *current = *pending = std::getenv("LOCKSTEP_FAKE_MIG") && place_of(device) + 1 == gpu_count();
  return kSuccess;
}

// Read access (0) between all; NVLink (2) within a pair.
int nvmlDeviceGetP2PStatus(void* a, void* b, int how, int* status) {
  constexpr int kOk = 0, kNotSupported = 5, kRead = 0, kNvlink = 2;
  const bool is_pair = place_of(a) / 2 == place_of(b) / 2;
  *status = how == kRead || (how == kNvlink && is_pair) ? kOk : kNotSupported;
  return kSuccess;
}

// The second in PCI order is hot and short of power.
int nvmlDeviceGetCurrentClocksThrottleReasons(void* device, unsigned long long* reasons) {
  *reasons = place_of(device) == 1 ? 0x40 | 0x04 : 0x01;
  return kSuccess;
}

int nvmlDeviceGetMemoryInfo(void*, MemoryInfo* memory) {
  memory->total = 80ULL << 30;
  memory->free = memory->total;
  memory->used = 0;
  return kSuccess;
}
}

// As the agent calls them; real_header.cc holds that against NVIDIA's header.
namespace {

using lockstep::agent::Nvml;
using lockstep::test::kSameShape;

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

}  // namespace
