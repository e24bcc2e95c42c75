#include "common/fabric/setting_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <vector>

#include "common/base/trimmed.h"
#include "common/fabric/socket_interface.h"
#include "common/grammar/ip_network.h"

namespace lockstep {
namespace {

constexpr std::size_t kMostNamed = 6;  // the most interfaces and ports that one warning names

std::vector<std::string> words_of_list(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const auto comma = text.find(',');
    const std::string_view word = trimmed(text.substr(0, comma));
    if (!word.empty()) words.emplace_back(word);
    text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
  }
  return words;
}

// ---- what the node has -------------------------------------------------------------------------

std::string interfaces_there(const NodeFabric& fabric) {
  std::vector<std::string_view> names;
  for (const FabricInterface& one : fabric.interfaces)
    if (!one.loopback && !one.addresses.empty() && names.size() < kMostNamed)
      names.push_back(one.name);
  return names.empty() ? "it has none with an address"
                       : fmt::format("it has {}", fmt::join(names, ", "));
}

std::string ports_there(const NodeFabric& fabric) {
  std::vector<std::string> names;
  for (const FabricPort& port : fabric.ports)
    if (names.size() < kMostNamed) names.push_back(name_of(port));
  return names.empty() ? "it has none" : fmt::format("it has {}", fmt::join(names, ", "));
}

const FabricPort* port_called(const NodeFabric& fabric, const std::string& name) {
  for (const FabricPort& port : fabric.ports)
    if (name == port.device || name == name_of(port)) return &port;
  return nullptr;
}

// Whether RDMA would be used here, or the job wants it.
bool rdma_counts(const CheckedNode& node) {
  return !node.rdma.ports.empty() || node.wanted != Rdma::off;
}

std::string against_rdma(const CheckedNode& node, std::string_view what) {
  if (node.wanted == Rdma::required)
    return fmt::format("{}, but the job has lockstep.rdma: required", what);
  if (node.wanted == Rdma::preferred)
    return fmt::format("{}, but the job has lockstep.rdma: preferred", what);
  return fmt::format("{}, though this node has {}", what, node.rdma.why);
}

// ---- names of interfaces -----------------------------------------------------------------------

bool is_bridge_of_containers(const FabricInterface& interface) {
  return interface.is_virtual && interface.driver == "bridge";
}

std::string trouble_of(const FabricInterface& interface, const CheckedNode& node) {
  const std::string& name = interface.name;
  if (!interface.up)
    return fmt::format("{} is down on this node{}", name,
                       node.several_hosts ? " and reaches no other node" : "");
  if (interface.addresses.empty()) return fmt::format("{} has no address on this node", name);
  if (!node.several_hosts) return "";
  if (interface.loopback) return fmt::format("{} reaches no other machine", name);
  if (is_bridge_of_containers(interface))
    return fmt::format("{} is a bridge inside of this machine and reaches no other", name);
  if (node.probe == nullptr) return "";
  for (const PathFailure& failure : node.probe->failures)
    if (failure.from == node.node_rank && failure.from_interface == name)
      return fmt::format("the probe did not reach {} over {}: {}", failure.to_address, name,
                         to_string(failure.trouble));
  return "";
}

std::string check_exact_interface(const std::string& name, const CheckedNode& node) {
  if (const FabricInterface* found = interface_named(node.fabric, name))
    return trouble_of(*found, node);
  return fmt::format("this node has no interface {}; {}", name, interfaces_there(node.fabric));
}

// Checks names of interfaces. gloo and TensorPipe accept names only; Open MPI accepts networks,
// too.
std::string check_interfaces(const std::string& value, const CheckedNode& node, bool networks) {
  for (const std::string& word : words_of_list(value)) {
    if (word.front() == '=')
      return fmt::format("'=' before a name is NCCL's; write {}", word.substr(1));
    if (const auto network = networks ? parse_ip_network(word) : std::nullopt) {
      const bool is_there =
          std::any_of(node.fabric.interfaces.begin(), node.fabric.interfaces.end(),
                      [&](const FabricInterface& one) {
                        return std::any_of(one.addresses.begin(), one.addresses.end(),
                                           [&](const FabricAddress& address) {
                                             return has_address(*network, address.address);
                                           });
                      });
      if (!is_there) return fmt::format("no interface of this node has an address in {}", word);
      continue;
    }
    if (std::string why = check_exact_interface(word, node); !why.empty()) return why;
  }
  return "";
}
std::string check_plain_names(const std::string& value, const CheckedNode& node) {
  return check_interfaces(value, node, false);
}
std::string check_names_or_networks(const std::string& value, const CheckedNode& node) {
  return check_interfaces(value, node, true);
}

// "eth" is a prefix, "=eth0" a name, "^docker" excludes.
std::string check_nccl_names(const std::string& value, const CheckedNode& node) {
  if (value.starts_with('^')) return "";
  const bool exact = value.starts_with('=');
  const auto words = words_of_list(std::string_view(value).substr(exact ? 1 : 0));
  for (const std::string& word : words) {
    if (exact) {
      if (std::string why = check_exact_interface(word, node); !why.empty()) return why;
      continue;
    }
    std::vector<std::string_view> matched;
    for (const FabricInterface& one : node.fabric.interfaces)
      if (one.name.starts_with(word)) matched.push_back(one.name);
    if (matched.empty())
      return fmt::format("no interface of this node begins with {}; {}", word,
                         interfaces_there(node.fabric));
    const bool is_name = interface_named(node.fabric, word) != nullptr;
    if (is_name && matched.size() > 1)
      return fmt::format("NCCL takes every interface that begins with {} ({}); write ={}", word,
                         fmt::join(matched, ", "), word);
    if (matched.size() == 1)
      if (std::string why = check_exact_interface(std::string(matched.front()), node); !why.empty())
        return why;
  }
  return "";
}

// ---- RDMA --------------------------------------------------------------------------------------

std::string check_ib_disable(const std::string& value, const CheckedNode& node) {
  if (number_in(value) <= 0 || !rdma_counts(node)) return "";
  return against_rdma(node, "NCCL uses no RDMA");
}

std::string check_nccl_net(const std::string& value, const CheckedNode& node) {
  if (value != "Socket" || !rdma_counts(node)) return "";
  return against_rdma(node, "NCCL uses sockets");
}

std::string check_hca(const std::string& value, const CheckedNode& node) {
  if (value.starts_with('^')) return "";
  const bool exact = value.starts_with('=');
  for (const std::string& word : words_of_list(std::string_view(value).substr(exact ? 1 : 0))) {
    const bool has_port = word.find(':') != std::string::npos;
    const FabricPort* found = port_called(node.fabric, word);
    for (const FabricPort& port : node.fabric.ports)
      if (found == nullptr && !exact && !has_port && port.device.starts_with(word)) found = &port;
    if (found == nullptr)
      return fmt::format("this node has no RDMA port {}; {}", word, ports_there(node.fabric));
    if (!found->active())
      return fmt::format("{} is {} on this node", name_of(*found), found->state);
  }
  return "";
}

std::string check_gid_index(const std::string& value, const CheckedNode& node) {
  if (value.starts_with('-')) return "";  // a negative index lets the library choose
  const int index = number_in(value);
  if (index < 0) return fmt::format("'{}' is not a number", value);
  for (const FabricPort* port : node.rdma.ports) {
    if (port->gids.empty() || port->gids.size() >= kMaxFabricGids) continue;
    const auto found = std::find_if(port->gids.begin(), port->gids.end(),
                                    [&](const FabricGid& gid) { return gid.index == index; });
    const FabricGid* better = is_roce(*port) ? routable_gid(*port) : nullptr;
    const std::string instead =
        better == nullptr || better->index == index
            ? ""
            : fmt::format("; {} is {} of an IP address", better->index, better->type);
    if (found == port->gids.end())
      return fmt::format("{} has no GID {}{}", name_of(*port), index, instead);
    if (instead.empty()) continue;
    const bool is_link_local_gid = found->gid.starts_with("fe80:");
    if (found->type != better->type || is_link_local_gid)
      return fmt::format("GID {} of {} is {}, which no router passes on{}", index, name_of(*port),
                         found->type != better->type ? found->type : "link-local", instead);
  }
  return "";
}

// Checks the GID index: over soft-RoCE only the link's own GID works (settings.cc says why).
std::string check_ucx_gid_index(const std::string& value, const CheckedNode& node) {
  if (value == "auto") return "";
  const int index = number_in(value);
  const auto is_soft = [](const FabricPort* port) {
    return is_software(*port) && link_local_gid(*port) != nullptr;
  };
  const PortList& ports = node.rdma.ports;
  const auto soft = std::find_if(ports.begin(), ports.end(), is_soft);
  if (soft == ports.end() || index < 0) return check_gid_index(value, node);
  const FabricGid& works = *link_local_gid(**soft);
  if (index == works.index) return "";
  return fmt::format("UCX's datagrams get through {} (soft-RoCE) only with the link's IPv6 GID, {}",
                     name_of(**soft), works.index);
}

std::string check_ucx_pkey(const std::string& value, const CheckedNode& node) {
  const int pkey = number_in(value);
  if (pkey < 0) return "";  // the value is not a number, such as "auto"
  for (const FabricPort* port : node.rdma.ports) {
    if (is_roce(*port) || port->pkeys.empty()) continue;
    const int partition = pkey & ~kFullMember;
    if (pkey_index(*port, partition) >= 0) continue;
    const bool is_limited =
        std::find(port->pkeys.begin(), port->pkeys.end(), partition) != port->pkeys.end();
    return is_limited ? fmt::format(
                            "{} is only a limited member of partition 0x{:04x}, and "
                            "limited members do not reach each other",
                            name_of(*port), partition)
                      : fmt::format("{} is not in partition 0x{:04x}", name_of(*port), partition);
  }
  return "";
}

std::string check_nccl_pkey(const std::string& value, const CheckedNode& node) {
  const int index = number_in(value);
  if (index < 0) return fmt::format("'{}' is not an index in the table of partitions", value);
  for (const FabricPort* port : node.rdma.ports) {
    if (is_roce(*port) || port->pkeys.empty()) continue;
    const auto place = static_cast<std::size_t>(index);
    if (place >= port->pkeys.size() || port->pkeys[place] == 0)
      return fmt::format("{} has no partition at place {}", name_of(*port), index);
  }
  return "";
}

std::string check_ucx_tls(const std::string& value, const CheckedNode& node) {
  constexpr std::array<std::string_view, 8> kOfRdma = {"all", "ib",  "rc",  "ud",
                                                       "dc",  "rc_", "ud_", "dc_"};
  if (!rdma_counts(node)) return "";
  const bool excludes = value.starts_with('^');
  const auto words = words_of_list(std::string_view(value).substr(excludes ? 1 : 0));
  const bool names_rdma = std::any_of(words.begin(), words.end(), [&](const std::string& word) {
    return std::any_of(kOfRdma.begin(), kOfRdma.end(), [&](std::string_view one) {
      return one.ends_with('_') ? word.starts_with(one) : word == one;
    });
  });
  const bool excludes_all = excludes && std::find(words.begin(), words.end(), "ib") != words.end();
  if (excludes ? !excludes_all : names_rdma) return "";
  return against_rdma(node, "UCX uses no RDMA transport");
}

std::string check_ucx_devices(const std::string& value, const CheckedNode& node) {
  bool has_port = false;
  for (const std::string& word : words_of_list(value)) {
    if (word == "all" || word.front() == '^') return "";
    const FabricPort* port = port_called(node.fabric, word);
    if (port == nullptr && interface_named(node.fabric, word) == nullptr)
      return fmt::format("this node has neither an RDMA port nor an interface {}", word);
    if (port != nullptr && !port->active())
      return fmt::format("{} is {} on this node", name_of(*port), port->state);
    has_port = has_port || port != nullptr;
  }
  if (has_port || !rdma_counts(node)) return "";
  return against_rdma(node, "UCX uses no RDMA port");
}

std::string check_ompi_pml(const std::string& value, const CheckedNode& node) {
  if (value != "ob1" || !rdma_counts(node)) return "";
  return against_rdma(node, "Open MPI uses TCP between nodes with pml ob1");
}

// ---- others ------------------------------------------------------------------------------------

std::string check_traffic_class(const std::string& value, const CheckedNode&) {
  constexpr int kLast = 255;
  const int number = number_in(value);
  if (number >= 0 && number <= kLast) return "";
  return fmt::format("'{}' is not a traffic class, a number from 0 to {}", value, kLast);
}

std::string check_gdr_level(const std::string& value, const CheckedNode&) {
  constexpr std::array<std::string_view, 5> kWords = {"LOC", "PIX", "PXB", "PHB", "SYS"};
  const int number = number_in(value);
  if (number >= 0 && number <= 5) return "";
  if (std::find(kWords.begin(), kWords.end(), value) != kWords.end()) return "";
  return fmt::format("'{}' is not a level of NCCL: 0 to 5, or {}", value, fmt::join(kWords, ", "));
}

std::string check_p2p_disable(const std::string& value, const CheckedNode& node) {
  if (number_in(value) <= 0) return "";
  const bool has_nvlink = std::any_of(node.fabric.gpus.begin(), node.fabric.gpus.end(),
                                      [](const auto& gpu) { return !gpu.nvlink_peers.empty(); });
  return has_nvlink ? "GPUs of this node do not use their NVLink" : "";
}

std::string check_shm_disable(const std::string& value, const CheckedNode&) {
  return number_in(value) > 0 ? "ranks of one node talk through the network" : "";
}

// The warning if both lists are set, with which Open MPI fails.
std::string refused_pair(const std::string& name, const VariableMap& all) {
  constexpr std::string_view kInclude = "_if_include", kExclude = "_if_exclude";
  if (!name.starts_with("OMPI_MCA_")) return "";
  for (const auto& [mine, other] : {std::pair(kInclude, kExclude), std::pair(kExclude, kInclude)}) {
    if (!name.ends_with(mine)) continue;
    const std::string twin = name.substr(0, name.size() - mine.size()) + std::string(other);
    if (all.count(twin) > 0)
      return fmt::format("Open MPI refuses this together with {}; leave one of them out", twin);
  }
  return "";
}

struct Check {
  std::string_view name;
  std::string (*find)(const std::string& value, const CheckedNode& node);
  bool needs_interfaces = false;  // the check is skipped if the node's interfaces are unknown
};

constexpr std::array<Check, 23> kChecks = {{
    {"NCCL_SOCKET_IFNAME", check_nccl_names, true},
    {"NCCL_OOB_NET_IFNAME", check_nccl_names, true},
    {"GLOO_SOCKET_IFNAME", check_plain_names, true},
    {"TP_SOCKET_IFNAME", check_plain_names, true},
    {"FI_TCP_IFACE", check_plain_names, true},
    {"FI_SOCKETS_IFACE", check_plain_names, true},
    {"OMPI_MCA_btl_tcp_if_include", check_names_or_networks, true},
    {"OMPI_MCA_oob_tcp_if_include", check_names_or_networks, true},
    {"NCCL_IB_DISABLE", check_ib_disable},
    {"NCCL_NET", check_nccl_net},
    {"NCCL_IB_HCA", check_hca, true},
    {"NCCL_IB_GID_INDEX", check_gid_index, true},
    {"UCX_IB_GID_INDEX", check_ucx_gid_index, true},
    {"NCCL_IB_PKEY", check_nccl_pkey, true},
    {"UCX_IB_PKEY", check_ucx_pkey, true},
    {"UCX_TLS", check_ucx_tls},
    {"UCX_NET_DEVICES", check_ucx_devices, true},
    {"OMPI_MCA_pml", check_ompi_pml},
    {"NCCL_IB_TC", check_traffic_class},
    {"UCX_IB_TRAFFIC_CLASS", check_traffic_class},
    {"NCCL_NET_GDR_LEVEL", check_gdr_level},
    {"NCCL_P2P_DISABLE", check_p2p_disable},
    {"NCCL_SHM_DISABLE", check_shm_disable},
}};

}  // namespace

int number_in(std::string_view text) {
  text = trimmed(text);
  const bool hex = text.starts_with("0x") || text.starts_with("0X");
  if (hex) text.remove_prefix(2);
  int number = -1;
  const char* const end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, number, hex ? 16 : 10);
  return failure == std::errc{} && stop == end && number >= 0 ? number : -1;
}

std::string warning_for(const std::string& name, const std::string& value, const VariableMap& all,
                        const CheckedNode& node) {
  if (std::string why = refused_pair(name, all); !why.empty()) return why;
  // A value with a secret or a path in it is not known here.
  if (value.find("${{") != std::string::npos || trimmed(value).empty()) return "";
  for (const Check& check : kChecks) {
    if (check.name != name) continue;
    if (check.needs_interfaces && node.fabric.interfaces.empty()) return "";
    return check.find(value, node);
  }
  return "";
}

}  // namespace lockstep
