#pragma once
// How the runners of a gang probe the network between their nodes before ranks start (decision
// 086). Each node offers its addresses to node rank 0, which gives each a plan of peers to dial;
// each reports what it met; node rank 0 chooses, and tells all. Plain values, encoded by
// common/wire.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/base/table.h"
#include "common/base/time.h"
#include "common/domain/ranks/bounds.h"
#include "common/domain/targets/fabric.h"

namespace lockstep {

inline constexpr int kAllPairsUpTo = 32;  // nodes; of more, each dials some of the others
inline constexpr std::size_t kProbeKeyBytes = 32;
inline constexpr std::size_t kProbeFingerprintBytes = 32;
inline constexpr std::size_t kMaxProbeCandidates = 8;
inline constexpr std::size_t kMaxProbeRankPorts = 2;
inline constexpr std::size_t kMaxProbePeers = 64;
inline constexpr std::size_t kMaxProbePaths =
    kMaxProbePeers * kMaxProbeCandidates * (1 + kMaxProbeRankPorts);
inline constexpr Rule kProbeTextRule{.bytes = kMaxFabricTextBytes};
inline constexpr Rule kProbeMtuRule{.low = 0, .high = 1 << 20, .cut = Cut::end};
inline constexpr std::int64_t kMaxProbeSpeedMbps = std::int64_t{1} << 40;

// An address that ranks of a node could use.
struct ProbeCandidate {
  std::string interface, address;
  int mtu = 0;
  static void table(auto& s, auto&& see) {
    see(field<1>, "interface", s.interface, kProbeTextRule);
    see(field<2>, "address", s.address, kProbeTextRule);
    see(field<3>, "mtu", s.mtu, kProbeMtuRule);
  }
  friend bool operator==(const ProbeCandidate&, const ProbeCandidate&) = default;
};

// node -> node rank 0: the addresses on which a node listens for the probe.
struct ProbeOffer {
  static constexpr int kBody = 40;
  int node_rank = 0;
  std::string fingerprint;  // of the node's boot, interfaces and routes; kProbeFingerprintBytes
  std::vector<ProbeCandidate> candidates;
  std::uint16_t port = 0;  // a port that the kernel chose, as it does for most libraries
  std::vector<std::uint16_t> rank_ports;  // the ports on which ranks of this node will listen
  static void table(auto& s, auto&& see) {
    see(field<1>, "node_rank", s.node_rank, kNodeRankRule);
    see(field<2>, "fingerprint", s.fingerprint, {.bytes = kProbeFingerprintBytes});
    see(field<3>, "candidates", s.candidates, {.count = kMaxProbeCandidates});
    see(field<4>, "port", s.port);
    see(field<5>, "rank_ports", s.rank_ports, {.count = kMaxProbeRankPorts});
  }
  friend bool operator==(const ProbeOffer&, const ProbeOffer&) = default;
};

// A node to dial, at each of its candidates.
struct ProbePeer {
  ProbeOffer offer;
  bool tested = true;  // false: only its rank ports are dialled
  bool burst = false;  // whether to send enough data to measure the speed
  static void table(auto& s, auto&& see) {
    see(field<1>, "offer", s.offer);
    see(field<2>, "tested", s.tested);
    see(field<3>, "burst", s.burst);
  }
  friend bool operator==(const ProbePeer&, const ProbePeer&) = default;
};

// node rank 0 -> one node, or every node: the key alone goes first and to all, in one small
// message, so that nodes can answer where large packets do not come through. Then each node gets
// its peers.
struct ProbePlan {
  static constexpr int kBody = 41;
  std::string key;  // kProbeKeyBytes random bytes of this attempt; "": has come before
  std::vector<ProbePeer> peers;
  static void table(auto& s, auto&& see) {
    see(field<1>, "key", s.key, {.bytes = kProbeKeyBytes});
    see(field<2>, "peers", s.peers, {.count = kMaxProbePeers});
  }
  friend bool operator==(const ProbePlan&, const ProbePlan&) = default;
};

// What happened when one address of a peer was dialled.
enum class PathState {
  reached,
  no_route,
  refused,
  timed_out,
  large_packets_lost,
  other_host,  // another host than the peer answers there
};
Word describe(PathState state);

struct PathFinding {
  int peer = 0;            // the peer's node rank
  int candidate = 0;       // the index of the peer's candidate
  std::uint16_t port = 0;  // the port that was dialled
  int source = -1;         // the index of our own candidate that the kernel took; -1: none of them
  std::string from_address;  // the address of that source; of the kernel's choice if `source` is -1
  PathState state = PathState::timed_out;
  Duration round_trip{0};        // the shortest measured; zero: not measured
  std::int64_t speed_mbps = -1;  // -1: not measured
  int mtu = 0;                   // the largest packet that came through; 0: not looked for
  static void table(auto& s, auto&& see) {
    see(field<1>, "peer", s.peer, kNodeRankRule);
    see(field<2>, "candidate", s.candidate, {.low = 0, .high = kMaxProbeCandidates - 1});
    see(field<3>, "port", s.port);
    see(field<4>, "source", shifted<1>(s.source), {.low = 0, .high = kMaxProbeCandidates});
    see(field<5>, "from_address", s.from_address, kProbeTextRule);
    see(field<6>, "state", s.state);
    see(field<7>, "round_trip", s.round_trip);
    see(field<8>, "speed_mbps", s.speed_mbps, {.low = -1, .high = kMaxProbeSpeedMbps});
    see(field<9>, "mtu", s.mtu, kProbeMtuRule);
  }
  friend bool operator==(const PathFinding&, const PathFinding&) = default;
};

// node -> node rank 0: the findings. A path that is missing was not finished when others had long
// been.
struct ProbeFindings {
  static constexpr int kBody = 42;
  int node_rank = 0;
  std::vector<PathFinding> paths;
  static void table(auto& s, auto&& see) {
    see(field<1>, "node_rank", s.node_rank, kNodeRankRule);
    see(field<2>, "paths", s.paths, {.count = kMaxProbePaths});
  }
  friend bool operator==(const ProbeFindings&, const ProbeFindings&) = default;
};

// node rank 0 -> every node: the end of the probe. Without a chosen path there was none.
struct ProbeOutcome {
  static constexpr int kBody = 43;
  ProbeResult result;
  int failed_on = -1;  // the node rank that ends the gang's start for it; -1: all is well
  static void table(auto& s, auto&& see) {
    see(field<1>, "result", s.result);
    see(field<2>, "failed_on", shifted<1>(s.failed_on), {.low = 0, .high = kMaxNodesPerJob});
  }
  friend bool operator==(const ProbeOutcome&, const ProbeOutcome&) = default;
};

}  // namespace lockstep
