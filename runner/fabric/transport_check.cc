#include "runner/fabric/transport_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <utility>

#include "common/base/cut.h"
#include "common/base/printable.h"
#include "common/base/trimmed.h"
#include "common/domain/why/ranks/rdma.h"

namespace lockstep::runner {
namespace {

bool has(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

// The text after `lead`; nullopt: `text` has no `lead`.
std::optional<std::string_view> behind(std::string_view text, std::string_view lead) {
  const auto at = text.find(lead);
  if (at == text.npos) return std::nullopt;
  return text.substr(at + lead.size());
}

std::string_view first_word(std::string_view text) {
  text = trimmed(text);
  return text.substr(0, text.find_first_of(" \t\r"));
}

std::string shown(std::string_view text) {
  return cut(in_one_line(trimmed(text.substr(0, 4 * kMaxTransportTextBytes))),
             kMaxTransportTextBytes - 4);
}

bool is_of_sockets(std::string_view network) { return network == "Socket"; }

// "NCCL_IB_DISABLE set by environment to 1."
void read_variable(std::string_view line, NcclLog& log) {
  const auto value = behind(line, " set by environment to ");
  if (!value) return;
  std::string text(trimmed(*value));
  if (text.ends_with('.')) text.pop_back();
  if (has(line, "NCCL_IB_DISABLE ") && text != "0")
    log.disabled_by = "NCCL_IB_DISABLE=" + shown(text);
  if (has(line, "NCCL_NET ") && is_of_sockets(text)) log.disabled_by = "NCCL_NET=" + shown(text);
  if (has(line, "NCCL_NET_PLUGIN ")) log.plugin = shown(text);
}

// Reads the network: until 2.27 "Using network IB", from 2.28 on "Assigned NET plugin IB to comm".
void read_network(std::string_view line, NcclLog& log) {
  if (const auto named = behind(line, "NCCL INFO Using network "))
    log.network = shown(trimmed(*named));
  if (const auto named = behind(line, "Assigned NET plugin "))
    log.network = shown(named->substr(0, named->rfind(" to comm")));
}

// "Channel 00/0 : 0[0] -> 1[0] [send] via NET/IB/0/GDRDMA", "… via P2P/IPC", "… via SHM/direct";
// before 2.5 "Ring 00 : 15 -> 0 [receive] via NET/Socket/0".
void read_channel(std::string_view line, NcclLog& log) {
  const auto way = behind(line, " via ");
  if (!way || (!has(line, "Channel ") && !has(line, "Ring ") && !has(line, "CollNet "))) return;
  if (way->starts_with("NET/Socket"))
    ++log.socket_channels;
  else if (way->starts_with("NET/") || way->starts_with("COLLNET/"))
    ++log.rdma_channels;
  else
    ++log.local_channels;
}

// "NCCL version 2.28.9+cuda13.0"
void read_version(std::string_view line, NcclLog& log) {
  const auto version = behind(line, "NCCL version ");
  if (!version || !log.version.empty()) return;
  const std::string_view word = first_word(*version);
  log.version = shown(word.substr(0, word.find('+')));
}

// "NET/Plugin: Could not find: libnccl-net-x.so", "NET/Plugin : Plugin load (libnccl-net-x.so)
// returned 2 : …", "NET/Plugin : No plugin found (libnccl-net-x.so)". A missing default plugin
// means nothing.
void read_plugin(std::string_view line, NcclLog& log) {
  const bool is_missing =
      has(line, "NET/Plugin") &&
      (has(line, "Could not find") || has(line, "Plugin load (") || has(line, "No plugin found"));
  if (is_missing && !log.plugin.empty() && has(line, log.plugin)) log.lacks_plugin = true;
}

// "Call to ibv_reg_mr failed with error Cannot allocate memory", "NET/IB: Got completion from peer
// 10.0.0.5<41000> with status=IBV_WC_RETRY_EXC_ERR(12) …"; older versions print "error 12".
void read_failure(std::string_view line, NcclLog& log) {
  if (!log.failed_call.empty() || has(line, ", retrying ")) return;
  if (const auto call = behind(line, "Call to ibv_")) {
    if (has(*call, " failed")) log.failed_call = shown("ibv_" + std::string(*call));
  } else if (const auto completion = behind(line, "Got completion from peer ")) {
    log.failed_call = shown("completion from peer " + std::string(*completion));
  }
}

void read_line(std::string_view line, NcclLog& log) {
  read_version(line, log);
  read_network(line, log);
  read_channel(line, log);
  read_variable(line, log);
  read_plugin(line, log);
  read_failure(line, log);
  if (has(line, "NET/IB : No device found")) log.found_no_device = true;
  if (has(line, "Failed to open libibverbs.so")) log.found_no_verbs = true;
}

// ---- causes ------------------------------------------------------------------------------------

struct NamedCause {
  SocketsCause cause = SocketsCause::unknown;
  std::string detail = {};
};

// The source of a setting like "NCCL_IB_DISABLE=1".
std::optional<SetBy> who_set(const TransportFacts& facts, const std::string& setting) {
  const auto found = facts.set_by.find(setting.substr(0, setting.find('=')));
  return found == facts.set_by.end() ? std::nullopt : std::optional(found->second);
}

void put_cause(NamedCause named, const TransportFacts& facts, TransportFinding& finding) {
  if (named.cause == SocketsCause::disabled) finding.set_by = who_set(facts, named.detail);
  finding.cause = named.cause;
  finding.detail = std::move(named.detail);
}

// The cause of a failed call: modify_qp sets the partition in the step to INIT, and the GID and the
// path in the step to RTR.
NamedCause cause_of_failure(const std::string& call) {
  if (has(call, "Cannot allocate memory") || has(call, "reg_mr"))
    return {SocketsCause::locked_memory, call};
  if (has(call, "next state INIT")) return {SocketsCause::wrong_pkey, call};
  if (has(call, "next state RTR")) return {SocketsCause::wrong_gid, call};
  if (has(call, "RETRY_EXC_ERR") || has(call, " error 12")) return {SocketsCause::no_answer, call};
  return {SocketsCause::unknown, call};
}

std::string value_of(const std::map<std::string, std::string>& variables, const char* name) {
  const auto found = variables.find(name);
  return found == variables.end() ? "" : found->second;
}

NamedCause cause_of(const NcclLog& log, const TransportFacts& facts) {
  if (!log.disabled_by.empty()) return {SocketsCause::disabled, log.disabled_by};
  if (log.found_no_verbs) return {SocketsCause::no_verbs_library};
  if (!log.failed_call.empty()) return cause_of_failure(log.failed_call);
  if (log.lacks_plugin) return {SocketsCause::no_plugin, log.plugin};
  if (!facts.has_device_files) return {SocketsCause::no_device_files};
  if (log.found_no_device) {
    const std::string devices = value_of(facts.variables, "NCCL_IB_HCA");
    return {SocketsCause::no_device, devices.empty() ? "" : "NCCL_IB_HCA=" + shown(devices)};
  }
  return {};
}

NamedCause cause_of_counts(const TransportCounts& counts, const TransportFacts& facts) {
  if (std::string variable = variable_against_rdma(facts.variables); !variable.empty())
    return {SocketsCause::disabled, std::move(variable)};
  if (!facts.has_device_files) return {SocketsCause::no_device_files};
  if (!facts.memory_is_locked_freely) return {SocketsCause::locked_memory};
  if (!counts.device_open) return {SocketsCause::not_opened};
  return {};
}

TransportFinding from_log(const NcclLog& log, const TransportFacts& facts) {
  TransportFinding finding;
  finding.library = log.version.empty() ? "NCCL" : "NCCL " + log.version;
  finding.is_certain = true;
  finding.in_container = facts.in_container;
  const bool uses_sockets = is_of_sockets(log.network) || log.socket_channels > 0;
  if (uses_sockets)
    finding.transport = Transport::sockets;
  else if (!log.network.empty() || log.rdma_channels > 0)
    finding.transport = Transport::rdma;
  else if (log.local_channels > 0)
    finding.transport = Transport::shared_memory;
  finding.has_failed = !uses_sockets && !log.failed_call.empty();
  if (!uses_sockets && !finding.has_failed) return finding;
  put_cause(finding.has_failed ? cause_of_failure(log.failed_call) : cause_of(log, facts), facts,
            finding);
  return finding;
}

// Concludes for libraries that do not log their choice. An open device proves nothing: a library
// opens all devices that it knows, and may then use another network. Transferred bytes are a proof.
TransportFinding from_counts(const TransportCounts& counts, const TransportFacts& facts) {
  TransportFinding finding;
  finding.library = counts.in_mpi ? "MPI" : "";
  finding.in_container = facts.in_container;
  const bool flows = counts.ports_count && counts.rdma_bytes >= kTellingRdmaBytes;
  if (flows && counts.device_open && counts.rdma_bytes >= counts.tcp_bytes / 4) {
    finding.transport = Transport::rdma;
    return finding;
  }
  if (counts.tcp_bytes < kTellingTcpBytes || !counts.device_known) return finding;
  // If the ports count nothing at all, their counters cannot contradict the device.
  if (counts.device_open && !counts.ports_count) return finding;
  finding.transport = Transport::sockets;
  finding.is_certain = counts.in_mpi && (!counts.device_open || !flows);
  put_cause(cause_of_counts(counts, facts), facts, finding);
  return finding;
}

// The weight of a finding, higher for findings that people should read first.
int weight(const TransportFinding& finding) {
  if (finding.has_failed) return 4;
  switch (finding.transport) {
    case Transport::sockets: return 3;
    case Transport::rdma: return 2;
    case Transport::shared_memory: return 1;
    case Transport::unknown: return 0;
  }
  return 0;
}

// Whether a word of the list `words` begins with a word of the list `leads`; both lists are
// comma-separated.
bool lists_any(std::string_view words, std::string_view leads) {
  const auto take = [](std::string_view& list) {
    const auto comma = list.find(',');
    const std::string_view word = trimmed(list.substr(0, comma));
    list = comma == list.npos ? std::string_view() : list.substr(comma + 1);
    return word;
  };
  while (!words.empty()) {
    const std::string_view word = take(words);
    for (std::string_view rest = leads; !rest.empty();)
      if (word.starts_with(take(rest))) return true;
  }
  return false;
}

}  // namespace

std::string_view to_string(Transport transport) {
  switch (transport) {
    case Transport::unknown: return "unknown";
    case Transport::shared_memory: return "shared memory";
    case Transport::sockets: return "sockets";
    case Transport::rdma: return "rdma";
  }
  return "unknown";
}

NcclLog read_nccl_log(std::string_view text) {
  NcclLog log;
  while (!text.empty()) {
    const auto end = text.find('\n');
    read_line(text.substr(0, end), log);
    if (end == text.npos) break;
    text.remove_prefix(end + 1);
  }
  return log;
}

// A variable that turns RDMA off. A list that begins with '^' excludes its entries. A variable of
// Open MPI, UCX, libfabric or Intel MPI is named if its list has nothing of RDMA.
std::string variable_against_rdma(const std::map<std::string, std::string>& variables) {
  struct Rule {
    const char* name;
    std::string_view rdma;
  };
  static constexpr Rule kRules[] = {
      {"OMPI_MCA_pml", "ucx,cm,yalla,monitoring"},
      {"UCX_TLS", "all,ib,rc,dc,ud,srd"},
      {"FI_PROVIDER", "verbs,psm,opx,efa,mlx,cxi,gni"},
      {"I_MPI_OFI_PROVIDER", "verbs,psm,opx,efa,mlx,cxi"},
  };
  for (const Rule& rule : kRules) {
    const std::string value = value_of(variables, rule.name);
    if (value.empty() || value.starts_with('^')) continue;
    if (!lists_any(value, rule.rdma)) return fmt::format("{}={}", rule.name, shown(value));
  }
  return "";
}

TransportFinding judge_transport(const std::vector<NcclLog>& logs, const TransportCounts& counts,
                                 const TransportFacts& facts) {
  TransportFinding heaviest;
  for (const NcclLog& log : logs) {
    TransportFinding finding = from_log(log, facts);
    if (weight(finding) > weight(heaviest)) heaviest = std::move(finding);
  }
  if (heaviest.transport != Transport::unknown || heaviest.has_failed) return heaviest;
  return from_counts(counts, facts);
}

Why why_no_rdma(const TransportFinding& finding) {
  if (!finding.has_failed && finding.transport != Transport::sockets) return {};
  RanksAvoidRdma why;
  why.cause = finding.cause;
  why.of = finding.detail;
  if (finding.set_by) {
    why.by = finding.set_by->source;
    why.set_for = finding.set_by->reason;
  }
  why.library = finding.library;
  why.has_failed = finding.has_failed;
  why.in_container = finding.in_container;
  return why;
}

}  // namespace lockstep::runner
