#pragma once
// How the runners of a gang probe the network between their nodes before ranks start (decision
// 086). Each node offers its addresses to node rank 0, which gives each a plan of peers to dial;
// each reports what it met; node rank 0 chooses, and tells all. Plain values, encoded by
// common/wire.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/domain/targets/fabric.h"

namespace lockstep {

// One address that ranks of a node could use.
struct ProbeCandidate {
  std::string interface, address;
  int mtu = 0;
  friend bool operator==(const ProbeCandidate&, const ProbeCandidate&) = default;
};

// node -> node rank 0: it listens.
struct ProbeOffer {
  int node_rank = 0;
  std::string fingerprint;  // of the node's boot, interfaces and routes: kProbeFingerprintBytes
  std::vector<ProbeCandidate> candidates;
  std::uint16_t port = 0;  // one that the kernel chose, as most libraries have theirs
  std::vector<std::uint16_t> rank_ports;  // where ranks of this node will listen
  friend bool operator==(const ProbeOffer&, const ProbeOffer&) = default;
};

// A node to dial, at each of its candidates.
struct ProbePeer {
  ProbeOffer offer;
  bool tested = true;  // false: only its rank ports are dialled
  bool burst = false;  // so much data that its speed can be told
  friend bool operator==(const ProbePeer&, const ProbePeer&) = default;
};

// node rank 0 -> one node, or every node: the key alone goes first and to all, in one small
// message, so that nodes can answer where large packets do not come through. Then each node gets
// its peers.
struct ProbePlan {
  std::string key;  // kProbeKeyBytes random bytes of this attempt; "": has come before
  std::vector<ProbePeer> peers;
  friend bool operator==(const ProbePlan&, const ProbePlan&) = default;
};

// What dialling one address of a peer met.
enum class PathState {
  reached,
  no_route,
  refused,
  timed_out,
  large_packets_lost,
  other_host,  // what answers there is not the peer
};

struct PathFinding {
  int peer = 0;              // node rank
  int candidate = 0;         // index of the peer's
  std::uint16_t port = 0;    // that was dialled
  int source = -1;           // index of our own candidate that the kernel took; -1: none of them
  std::string from_address;  // of that source, and where it is none, of the kernel's choice
  PathState state = PathState::timed_out;
  Duration round_trip{0};        // the shortest of some; zero: not measured
  std::int64_t speed_mbps = -1;  // -1: not measured
  int mtu = 0;                   // the largest packet that came through; 0: not looked for
  friend bool operator==(const PathFinding&, const PathFinding&) = default;
};

// node -> node rank 0. A path that is missing was not finished when others had long been.
struct ProbeFindings {
  int node_rank = 0;
  std::vector<PathFinding> paths;
  friend bool operator==(const ProbeFindings&, const ProbeFindings&) = default;
};

// node rank 0 -> every node: the end of the probe. Without a chosen path there was none.
struct ProbeOutcome {
  ProbeResult result;
  int failed_on = -1;  // the node rank that ends the gang's start for it; -1: all is well
  friend bool operator==(const ProbeOutcome&, const ProbeOutcome&) = default;
};

inline constexpr int kAllPairsUpTo = 32;  // nodes; of more, each dials some of the others
inline constexpr std::size_t kProbeKeyBytes = 32;
inline constexpr std::size_t kProbeFingerprintBytes = 32;
inline constexpr std::size_t kMaxProbeCandidates = 8;
inline constexpr std::size_t kMaxProbeRankPorts = 2;
inline constexpr std::size_t kMaxProbePeers = 64;
inline constexpr std::size_t kMaxProbePaths =
    kMaxProbePeers * kMaxProbeCandidates * (1 + kMaxProbeRankPorts);

}  // namespace lockstep
