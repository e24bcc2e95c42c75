#pragma once
// Finds the network that the ranks of this node use between nodes, and why they use sockets if the
// job wants RDMA. The sources are the debug log of NCCL, with its choice, and for other libraries
// counts (device files that are open, bytes of RDMA ports, bytes of TCP). Pure; transport_watch.h
// collects them.
//
// The lines are written by NCCL 2.4 to 2.28 with NCCL_DEBUG=INFO. A rank writes them, so they may
// say anything: every text is cut, and only the notes of that job depend on them.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/domain/targets/fabric.h"
#include "common/domain/why/ranks/rdma.h"

namespace lockstep::runner {

enum class Transport { unknown, shared_memory, sockets, rdma };
std::string_view to_string(Transport transport);  // "unknown", "shared memory", "sockets", "rdma"

// The content of NCCL's log of one process.
struct NcclLog {
  std::string version;      // "2.28.9"; "": not said
  std::string network;      // chosen last: "IB", "Socket", the name of a plugin; "": not chosen
  int rdma_channels = 0;    // connections over that network, if it is not the one of sockets
  int socket_channels = 0;  // channels over sockets
  int local_channels = 0;   // channels through memory of one node
  bool found_no_device = false, found_no_verbs = false;
  std::string disabled_by;  // "NCCL_IB_DISABLE=1"
  std::string plugin;       // the plugin that NCCL_NET_PLUGIN names
  bool lacks_plugin = false;
  std::string failed_call;  // the first of RDMA that failed, with its reason
  friend bool operator==(const NcclLog&, const NcclLog&) = default;
};
// Reads a log. `text`: whole lines, or the beginning of a log.
NcclLog read_nccl_log(std::string_view text);
inline constexpr std::size_t kMaxTransportTextBytes = 256;  // the limit for each text of a log

// Counters of this node since its ranks started.
struct TransportCounts {
  bool device_open = false;     // a process of the ranks holds an RDMA device
  bool device_known = false;    // true: the descriptors of some process could all be read
  bool ports_count = false;     // the node's RDMA ports have counters that count
  std::int64_t rdma_bytes = 0;  // bytes through these ports, both ways, whoever sent them
  std::int64_t tcp_bytes = 0;   // bytes through the ranks' sockets to peers, both ways
  bool in_mpi = false;          // an MPI job, and all ranks here are in MPI
};

// The source of a variable's value, and the reason.
struct SetBy {
  SettingSource source = SettingSource::probe;
  std::string reason;  // see NetworkSetting
  friend bool operator==(const SetBy&, const SetBy&) = default;
};

// The facts beside the log from which a cause may follow.
struct TransportFacts {
  std::map<std::string, std::string> variables;  // the variables of the ranks
  std::map<std::string, SetBy> set_by = {};      // the variables that the job does not set itself
  bool has_device_files = true;                  // the ranks have the device files
  bool in_container = false;
  bool memory_is_locked_freely = true;  // no limit, or a high one
};

struct TransportFinding {
  Transport transport = Transport::unknown;
  SocketsCause cause = SocketsCause::unknown;  // why sockets are used, or why RDMA failed
  std::string detail;           // details of the cause: "NCCL_IB_DISABLE=1", a call with its reason
  std::optional<SetBy> set_by;  // the source of the variable in `detail`; absent: the job
  std::string library;          // "NCCL 2.28.9", "MPI"; "": not known
  bool has_failed = false;      // RDMA was chosen, and a call of it failed
  // The library reports it, or no other cause is possible; otherwise it is only likely.
  bool is_certain = false;
  bool in_container = false;
  friend bool operator==(const TransportFinding&, const TransportFinding&) = default;
};

// Concludes from all logs of this node and the counts. If one process uses sockets, all do.
TransportFinding judge_transport(const std::vector<NcclLog>& logs, const TransportCounts& counts,
                                 const TransportFacts& facts);

// Bytes over TCP that no library needs before it uses RDMA.
inline constexpr std::int64_t kTellingTcpBytes = 4 << 20;
// The bytes that prove RDMA: more than a port sends for its own sake.
inline constexpr std::int64_t kTellingRdmaBytes = 256 << 10;

// Turns a finding into a reason; none if it need not be reported.
Why why_no_rdma(const TransportFinding& finding);

// The beginning of the names of the files into which NCCL writes its log; nccl_log_variables()
// (runner/bootstrap/nccl_log.h) sets the variables for it.
inline constexpr char kNcclLogLead[] = "lockstep-nccl.";

// A variable of the job that keeps its library from RDMA, as NAME=VALUE; "": none does.
std::string variable_against_rdma(const std::map<std::string, std::string>& variables);

}  // namespace lockstep::runner
