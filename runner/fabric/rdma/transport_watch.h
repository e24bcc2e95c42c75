#pragma once
// Looks, while the ranks of this node run, for evidence of the network that they use, and gives it
// to runner/fabric/transport_check: NCCL's debug logs in the attempt's tmp/, RDMA devices that the
// ranks' processes hold, and counters of the node's RDMA ports. It only reads, through descriptors,
// since the ranks own that folder; unreadable files are ignored. It makes no decisions.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/base/time.h"
#include "runner/fabric/rdma/port_traffic.h"
#include "runner/fabric/transport_check.h"

namespace lockstep::runner {

class TransportWatch {
 public:
  struct Where {
    std::string log_folder;      // "": there are no logs
    std::string sys = "/sys";    // /sys, or a fake of it
    std::string proc = "/proc";  // /proc, or a fake of it
    int most_files = 65'536;     // files of all processes of the ranks that one look reads
  };
  // Counts from now on; the first look is some seconds later, when libraries have connected.
  TransportWatch(Where where, TransportFacts facts, Instant now);

  Instant next_look() const { return next_; }

  struct Look {
    int spawn_pid = -1;          // the parent of the ranks, as we know it; -1: unknown
    std::int64_t tcp_bytes = 0;  // bytes of the ranks' sockets to peers, in both directions
    bool in_mpi = false;         // an MPI job, and all ranks here are in MPI
  };
  // The present finding. Looks become rarer with time, and end when RDMA was seen.
  TransportFinding look(Instant now, const Look& look);

 private:
  std::vector<NcclLog> read_logs() const;
  void look_at_processes(int spawn_pid, TransportCounts& counts) const;

  const Where where_;
  const TransportFacts facts_;
  const std::vector<PortTraffic> before_;
  Instant next_;
  std::size_t looks_ = 0;
};

inline constexpr std::size_t kMaxNcclLogs = 64;  // logs of a node that are read
// Bytes of each log that are read, from its beginning.
inline constexpr std::size_t kMaxNcclLogBytes = 256u << 10;
inline constexpr std::size_t kMaxNcclLogEndBytes = 64u << 10;  // bytes that are read from its end
inline constexpr std::size_t kMaxLookedAtProcesses = 1'024;

}  // namespace lockstep::runner
