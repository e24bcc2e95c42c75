#pragma once
// The use of nodes and their parts, as agents reported it: the newest report of each node, and
// coarse samples of the last minutes. It is only in memory and bounded, and no decision depends on
// it: after a restart of the launcher it fills again within seconds. No socket, no clock.
//
// An agent may report only its own node and the parts that are assigned to it: own_use() removes
// the rest.

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/domain/messages/agent_protocol.h"
#include "common/domain/targets/metrics.h"
#include "launcher/state/state.h"

namespace lockstep::launcher {

inline constexpr Duration kUseKeptFor = minutes(10);
inline constexpr Duration kUseSampleEvery = seconds(10);
inline constexpr std::size_t kUseSamples = kUseKeptFor / kUseSampleEvery;

// Removes from the report entries that the node may not report: attempts without a part on it,
// ranks of other parts, and repeated ranks and parts. `left_out` counts them.
UsageReport own_use(const State& state, NodeId node, UsageReport report, std::size_t* left_out);

class UsageStore {
 public:
  void take(Instant now, NodeId node, UsageReport report);
  // Forgets nodes that were removed.
  void keep_only(const State& state);
  std::optional<MeasuredNode> of_node(Instant now, NodeId node, bool history) const;
  // The use of a part; nullopt also if the node's newest report does not name the attempt.
  std::optional<MeasuredPart> of_part(Instant now, NodeId node, const AttemptId& attempt) const;
  std::size_t nodes() const { return nodes_.size(); }

 private:
  struct Sample {  // 32 bytes: 60 for each of 5,000 nodes are 10 MB
    Instant at;
    std::uint32_t cpu_milli = 0;
    std::uint32_t memory_mib = 0;
    std::uint32_t received_kib = 0, sent_kib = 0;  // per second
    std::int8_t gpu_percent = -1;
  };
  struct Node {
    UsageReport newest;
    Instant at;
    std::vector<Sample> ring;  // at most kUseSamples
    std::size_t next = 0;      // the position of the next sample
  };
  static bool is_stale(Instant now, const Node& node);
  static std::vector<UseSample> history_of(Instant now, const Node& node);

  std::map<NodeId, Node> nodes_;
};

}  // namespace lockstep::launcher
