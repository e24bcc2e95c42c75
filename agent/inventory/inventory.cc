#include "agent/inventory/inventory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "agent/inventory/cpu.h"
#include "agent/inventory/disk.h"
#include "agent/inventory/engine_probe.h"
#include "agent/inventory/fabric.h"
#include "agent/inventory/gpu.h"
#include "agent/inventory/isolation.h"
#include "agent/inventory/memory.h"
#include "agent/inventory/network.h"
#include "agent/inventory/os.h"
#include "agent/inventory/rdma.h"
#include "agent/inventory/workdir.h"
#include "common/base/version.h"
#include "common/io/process.h"

namespace lockstep::agent {
namespace {

void add_limitation(Inventory& inventory, const std::string& text) {
  if (!text.empty()) inventory.limitations.push_back(text);
}

struct Fraction {
  int part = 1, of = 1;  // parts are counted from 1
};

Result<Fraction> fraction_of(const std::string& text) {
  Fraction fraction;
  char rest = 0;
  if (text.empty()) return fraction;
  if (std::sscanf(text.c_str(), "%d/%d%c", &fraction.part, &fraction.of, &rest) == 2 &&
      fraction.part >= 1 && fraction.part <= fraction.of && fraction.of <= 1'000)
    return fraction;
  return make_error(
      ErrorCode::invalid_argument,
      fmt::format("--share '{}' does not name a part of a machine: write I/N, as in 1/2 for "
                  "the first and 2/2 for the second of two",
                  text));
}

// The part as `select` counts it, from 0; "" for the whole machine.
std::string part_of(const Fraction& fraction) {
  return fraction.of == 1 ? "" : fmt::format("{}/{}", fraction.part - 1, fraction.of);
}

// Divides a share. An amount that is given beside the share takes precedence.
Result<Share> divided(Share share) {
  if (share.part.empty()) return share;
  TRY_ASSIGN(const Fraction fraction, fraction_of(share.part));
  if (share.cpus.empty()) share.cpus = part_of(fraction);
  if (share.gpus.empty()) share.gpus = part_of(fraction);
  if (!share.memory)
    share.memory = Bytes{probe_memory().usable.count / static_cast<std::uint64_t>(fraction.of)};
  return share;
}

Status add_cpus(const Share& share, Inventory& inventory) {
  const CpuProbe probe = probe_cpus();
  // A count may exceed the quota, since several nodes may share one quota.
  const auto& available = share.cpus.empty() ? probe.cpus : probe.affinity;
  TRY_ASSIGN(inventory.cpus, select(available, share.cpus, "cpus"));
  if (inventory.cpus.empty()) {
    return make_error(ErrorCode::invalid_argument, "a node needs at least one cpu (--cpus)");
  }
  inventory.sockets = probe.sockets;
  inventory.numa_nodes = probe.numa_nodes;
  add_limitation(inventory, probe.limitation);
  return {};
}

void add_memory(const Share& share, Inventory& inventory) {
  const MemoryProbe probe = probe_memory();
  inventory.memory = std::min(share.memory.value_or(probe.usable), probe.usable);
  add_limitation(inventory, probe.limitation);
  if (share.memory && *share.memory > probe.usable) {
    add_limitation(inventory,
                   fmt::format("{} of memory were requested, but the node has and offers only {}",
                               to_string(*share.memory), to_string(probe.usable)));
  }
}

Status add_gpus(const Share& share, Inventory& inventory) {
  if (share.gpus == "none") return {};
  GpuProbe probe = probe_gpus();
  add_limitation(inventory, probe.limitation);
  std::vector<int> indexes;
  for (const GpuDevice& gpu : probe.gpus) indexes.push_back(gpu.index);
  TRY_ASSIGN(const std::vector<int> chosen, select(indexes, share.gpus, "gpus"));
  for (const int index : chosen) {
    // The index stays the machine's, because CUDA_VISIBLE_DEVICES counts by it.
    inventory.gpus.push_back(std::move(probe.gpus[static_cast<std::size_t>(index)]));
  }
  if (!inventory.gpus.empty()) inventory.cuda = probe.cuda;
  return {};
}

// Replaces a detected version by a variable, as conda does; "" hides it.
void override_version(const char* variable, Inventory& inventory, std::string& version) {
  const char* value = std::getenv(variable);
  if (value == nullptr) return;
  if (*value == '\0' || version_numbers(value))
    version = value;
  else
    add_limitation(inventory, fmt::format("ignoring {}: '{}' is not a version", variable, value));
}

void add_network(const InventoryRequest& request, Inventory& inventory) {
  inventory.interfaces = probe_interfaces();
  inventory.rdma_ports = probe_rdma();
  inventory.fabric = probe_fabric(inventory.gpus);
  inventory.address =
      request.advertise.empty() ? route_address(request.launcher_endpoint) : request.advertise;
  inventory.address_is_loopback = is_loopback_address(inventory.address);
  inventory.network = request.network;
}

}  // namespace

Result<Inventory> take_inventory(const InventoryRequest& request) {
  Inventory inventory;
  inventory.hostname = io::host_name();
  inventory.host_id = io::current_host_id();
  const OsProbe os = probe_os();
  inventory.os = os.name;
  inventory.kernel = os.kernel;
  inventory.architecture = os.architecture;
  TRY_ASSIGN(const Share share, divided(request.share));
  TRY(add_cpus(share, inventory));
  add_memory(share, inventory);
  TRY(add_gpus(share, inventory));
  inventory.glibc = probe_glibc();
  override_version("CONDA_OVERRIDE_GLIBC", inventory, inventory.glibc);
  override_version("CONDA_OVERRIDE_CUDA", inventory, inventory.cuda);
  inventory.container_engine = probe_container_engine();
  add_network(request, inventory);
  inventory.disk_free = probe_disk(request.home);
  TRY_ASSIGN(const io::User user, io::current_user());
  inventory.user = user.name;
  if (user.uid != 0) {
    inventory.limitations.push_back("the agent is not root: jobs run as " + user.name + " only");
  }
  const IsolationProbe isolation = probe_isolation();
  inventory.isolation = isolation.kind;
  inventory.unenforced = isolation.unenforced;
  for (const auto& text : isolation.limitations) add_limitation(inventory, text);
  const WorkdirProbe workdir = probe_workdir(request.home);
  inventory.workdir_mode = workdir.mode;
  for (const auto& text : workdir.limitations) add_limitation(inventory, text);
  return inventory;
}

Inventory with_network_now(Inventory inventory) {
  inventory.interfaces = probe_interfaces();
  inventory.rdma_ports = probe_rdma();
  if (inventory.fabric) inventory.fabric = with_network_now(*std::move(inventory.fabric));
  return inventory;
}

}  // namespace lockstep::agent
