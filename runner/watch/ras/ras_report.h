#pragma once
// Reads NCCL RAS's report on a job: its communicators, how many collectives each rank of them has
// launched, and which processes do not answer. Pure. Formats: ras.rst of NCCL's documentation, and
// the output of NCCL 2.24 to 2.30: JSON if `SET FORMAT json` is known, else a text that names only
// the ranks that differ. RAS runs in the ranks' processes, so its output may be anything, and
// everything is bounded.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/domain/ranks/standing.h"

namespace lockstep::runner {

inline constexpr std::size_t kMaxRasBytes = 32u << 20;
inline constexpr std::size_t kMaxRasCommunicators = 4'096;
inline constexpr std::size_t kMaxRasRanks = 200'000;  // ranks of all communicators together
inline constexpr std::size_t kMaxRasCounts = 16;      // the most kinds of collectives
inline constexpr std::size_t kMaxRasTextBytes = 64;   // the limit for a name, a host, a hash
inline constexpr std::int64_t kMaxRasCount = std::int64_t{1} << 53;

// Counts by the name of the collective; "" where all kinds are counted together.
using RasCounts = std::map<std::string, std::int64_t>;

struct RasRank {
  int rank = -1;     // the rank in its communicator, which may differ from the job's
  std::string host;  // the address of the process's host
  int pid = 0;       // the pid that the process itself sees
  RasCounts counts;
  bool finalizes = false, aborts = false;
  int async_error = 0;
  friend bool operator==(const RasRank&, const RasRank&) = default;
};
struct RasMissing {
  int rank = -1;  // -1: the report does not tell it
  std::string host;
  int pid = 0;
  bool dead = false;  // the process is dead; otherwise it only does not answer now
  friend bool operator==(const RasMissing&, const RasMissing&) = default;
};
struct RasCommunicator {
  std::string hash;  // hexadecimal, without "0x"
  int size = 0;      // 0: the report does not tell it
  std::vector<RasRank> ranks;
  std::vector<RasMissing> missing;
  // The counts of the ranks that a text does not name.
  RasCounts others;
  friend bool operator==(const RasCommunicator&, const RasCommunicator&) = default;
};
struct RasReport {
  std::string nccl_version;
  std::vector<RasCommunicator> communicators;
  std::vector<RasMissing> dead;  // processes, of no communicator in particular
  int timeouts = 0;
  friend bool operator==(const RasReport&, const RasReport&) = default;
};

// Reads a report. Returns corrupt if the text has another form, or is beyond a limit.
Result<RasReport> parse_ras_json(std::string_view text);
Result<RasReport> parse_ras_text(std::string_view text);

// A process of the job, by which a RAS rank becomes a rank of the job.
struct RasProcess {
  int rank = 0;
  int pid = 0;                         // the pid that the ranks of its node see
  std::vector<std::string> addresses;  // the node's addresses; empty: unknown
};
// The collectives that each rank of the job has launched in each communicator, by rank, of the
// kinds that any of its ranks has launched. If several nodes have the same pid, the host tells them
// apart.
std::map<int, std::vector<CollectiveCount>> counts_by_rank(
    const RasReport& report, const std::vector<RasProcess>& processes);
// Ranks of the job that RAS calls dead, or that do not answer it.
std::vector<int> unanswering_ranks(const RasReport& report,
                                   const std::vector<RasProcess>& processes);

}  // namespace lockstep::runner
