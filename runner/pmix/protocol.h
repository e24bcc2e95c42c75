#pragma once
// The messages between lockstep-runner and its PMIx server, lockstep-pmix, over a pair of sockets:
// frames of a u32 little-endian length and that many bytes. Orders go to the server, reports come
// from it. The server parses what ranks send, so the runner trusts no report: decode_report()
// accepts only output of encode(), within the limits here, and Client checks its meaning. This file
// only computes.

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "common/base/result.h"

namespace lockstep::pmix {

// The version in the first report: after an upgrade, a runner that was forked from an older
// template may start a newer server.
inline constexpr std::uint32_t kProtocol = 1;
inline constexpr int kSocketFd = 3;  // the server's descriptor of the socket
inline constexpr std::size_t kHeaderBytes = 4;
inline constexpr std::size_t kMaxOrderBytes = 256u << 20;
inline constexpr std::size_t kMaxReportBytes = 64u << 20;
// The limit for an error, an abort's message, a variable.
inline constexpr std::size_t kMaxText = 4096;
inline constexpr std::size_t kMaxVariables = 64;
inline constexpr std::size_t kMaxRanks = 1'000'000;  // the most ranks of a fence

using Variables = std::map<std::string, std::string>;

// ---- orders ------------------------------------------------------------------------------------

// The job as its ranks see it. All nodes have the same number of ranks.
struct Job {
  std::string name;                // the job's namespace in PMIx; unique per attempt
  std::vector<std::string> nodes;  // the nodes' names, all different
  int node_rank = 0;
  int ranks_per_node = 0;
  friend bool operator==(const Job&, const Job&) = default;
};
// Starts the library, and registers the job, if it has ranks. `directory`: for the library's files
// and the ranks' sessions (Directories); it exists.
struct Start {
  std::uint64_t id = 0;
  std::string directory;
  Job job;
  friend bool operator==(const Start&, const Start&) = default;
};
struct RegisterRank {  // with the ids that the rank will claim, in a container the ids inside
  std::uint64_t id = 0;
  int rank = 0;
  std::uint32_t uid = 0, gid = 0;
  friend bool operator==(const RegisterRank&, const RegisterRank&) = default;
};
struct Fetch {  // asks for the data that a rank of this node has put, once it commits them
  std::uint64_t id = 0;
  int rank = 0;
  friend bool operator==(const Fetch&, const Fetch&) = default;
};
struct Answer {  // answers a Fence or a Modex: the union of all contributions, or the rank's data
  std::uint64_t id = 0;
  bool found = false;
  std::string data;
  friend bool operator==(const Answer&, const Answer&) = default;
};
using Order = std::variant<Start, RegisterRank, Fetch, Answer>;

// ---- reports -----------------------------------------------------------------------------------

struct Hello {
  std::uint32_t protocol = kProtocol;
  std::string library;  // "OpenPMIx 4.2.2"
  friend bool operator==(const Hello&, const Hello&) = default;
};
// Answers a Start or a RegisterRank. `variables`: with which the rank finds this server.
struct Done {
  std::uint64_t id = 0;
  std::string error;  // "": it succeeded
  Variables variables;
  friend bool operator==(const Done&, const Done&) = default;
};
struct Fetched {
  std::uint64_t id = 0;
  bool found = false;
  std::string data;
  friend bool operator==(const Fetched&, const Fetched&) = default;
};
struct Connected {
  int rank = 0;
  friend bool operator==(const Connected&, const Connected&) = default;
};
struct Finalized {
  int rank = 0;
  friend bool operator==(const Finalized&, const Finalized&) = default;
};
struct Aborted {
  int rank = 0;
  int code = 0;
  std::string message;
  friend bool operator==(const Aborted&, const Aborted&) = default;
};
struct Fence {  // all ranks of this node that take part have called
  std::uint64_t id = 0;
  bool whole_job = false;  // the clients named the whole namespace instead of ranks
  std::set<int> ranks;     // the ranks; empty if whole_job
  std::string data;
  friend bool operator==(const Fence&, const Fence&) = default;
};
struct Modex {  // a rank here wants the data of a rank of another node
  std::uint64_t id = 0;
  int rank = 0;
  friend bool operator==(const Modex&, const Modex&) = default;
};
struct Refused {  // a call that is not served: "MPI_Comm_spawn"
  int rank = 0;
  std::string what;
  friend bool operator==(const Refused&, const Refused&) = default;
};
struct TurnedAway {  // connections of others than the run-as user so far, and why the last one was
  std::uint64_t count = 0;
  std::string why;
  friend bool operator==(const TurnedAway&, const TurnedAway&) = default;
};
using Report = std::variant<Hello, Done, Fetched, Connected, Finalized, Aborted, Fence, Modex,
                            Refused, TurnedAway>;

// ---- bytes -------------------------------------------------------------------------------------

// Encodes an order, without the length. Texts beyond kMaxText are cut.
std::string encode(const Order& order);
std::string encode(const Report& report);
// Reads an order. Returns corrupt if the frame is not one, or is beyond its limits.
Result<Order> decode_order(std::string_view frame);
Result<Report> decode_report(std::string_view frame);

}  // namespace lockstep::pmix
