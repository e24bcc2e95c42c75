#pragma once
// Why a node takes no work at all: it is not there, something is wrong with it, or somebody said
// so; and what is wrong with what it offers.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/bytes.h"
#include "common/base/ids.h"
#include "common/base/time.h"
#include "common/domain/why/list.h"
#include "common/domain/why/why.h"

namespace lockstep {

// What a node has of, and a job asks for.
enum class NodeAmount { cpus, gpus, memory };
constexpr std::string_view to_string(NodeAmount amount) {
  switch (amount) {
    case NodeAmount::cpus: return "cpus";
    case NodeAmount::gpus: return "gpus";
    case NodeAmount::memory: return "memory";
  }
  return "";
}
constexpr NodeAmount last_enumerator(NodeAmount) { return NodeAmount::memory; }

// ---- the node itself ----------------------------------------------------------------------------

struct NodeAwaitsApproval {
  static constexpr std::string_view kCode = "node_awaits_approval";
  std::string node;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("node", self.node);
  }
  friend bool operator==(const NodeAwaitsApproval&, const NodeAwaitsApproval&) = default;
};

struct NodeNeverReported {  // since it joined
  static constexpr std::string_view kCode = "node_never_reported";
  template <class Self, class See>
  static void fields(Self&, See&&) {}
  friend bool operator==(const NodeNeverReported&, const NodeNeverReported&) = default;
};

struct NodeIsLost {
  static constexpr std::string_view kCode = "node_is_lost";
  Why why;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("why", self.why);
  }
  friend bool operator==(const NodeIsLost&, const NodeIsLost&) = default;
};

struct NodeTakenAway {  // its machine is, then
  static constexpr std::string_view kCode = "node_taken_away";
  Instant at;
  Why why;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("at", self.at);
    see("why", self.why);
  }
  friend bool operator==(const NodeTakenAway&, const NodeTakenAway&) = default;
};

struct NodeDraining {
  static constexpr std::string_view kCode = "node_draining";
  std::string node;
  std::string text;  // what the person who drains it said; "": nothing
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("node", self.node);
    see("text", self.text);
  }
  friend bool operator==(const NodeDraining&, const NodeDraining&) = default;
};

struct NodeNotUnderstood {  // its last message could not be decoded
  static constexpr std::string_view kCode = "node_not_understood";
  std::string said;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("said", self.said);
  }
  friend bool operator==(const NodeNotUnderstood&, const NodeNotUnderstood&) = default;
};

struct NodeUnheard {  // UNKNOWN
  static constexpr std::string_view kCode = "node_unheard";
  template <class Self, class See>
  static void fields(Self&, See&&) {}
  friend bool operator==(const NodeUnheard&, const NodeUnheard&) = default;
};

struct NodeSilent {
  static constexpr std::string_view kCode = "node_silent";
  Why why;  // it takes no work
  Duration silent_for{0};
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("why", self.why);
    see("silent_for", self.silent_for);
  }
  friend bool operator==(const NodeSilent&, const NodeSilent&) = default;
};

struct NodeStopsOldAttempt {  // of before it was LOST
  static constexpr std::string_view kCode = "node_stops_old_attempt";
  AttemptId attempt;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("attempt", self.attempt);
  }
  friend bool operator==(const NodeStopsOldAttempt&, const NodeStopsOldAttempt&) = default;
};

struct NodeAskedWhatRuns {  // it was LOST
  static constexpr std::string_view kCode = "node_asked_what_runs";
  template <class Self, class See>
  static void fields(Self&, See&&) {}
  friend bool operator==(const NodeAskedWhatRuns&, const NodeAskedWhatRuns&) = default;
};

struct NodeTakesNoWork {  // it says so itself
  static constexpr std::string_view kCode = "node_takes_no_work";
  Why why;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("why", self.why);
  }
  friend bool operator==(const NodeTakesNoWork&, const NodeTakesNoWork&) = default;
};

struct NodeCloned {  // two agents have its identity
  static constexpr std::string_view kCode = "node_cloned";
  std::string node;
  NodeId id;
  std::uint64_t session = 0;
  std::optional<std::uint64_t> live;  // the other one, if both are alive
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("node", self.node);
    see("id", self.id);
    see("session", self.session);
    see("live", self.live);
  }
  friend bool operator==(const NodeCloned&, const NodeCloned&) = default;
};

struct NodeFull {
  static constexpr std::string_view kCode = "node_full";
  int attempts = 0;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("attempts", self.attempts);
  }
  friend bool operator==(const NodeFull&, const NodeFull&) = default;
};

// ---- its target's size --------------------------------------------------------------------------

struct NodeHasFewerThanSize {
  static constexpr std::string_view kCode = "node_has_fewer_than_size";
  NodeAmount what = NodeAmount::cpus;
  int has = 0;
  std::string size;
  int size_has = 0;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("what", self.what);
    see("has", self.has);
    see("size", self.size);
    see("size_has", self.size_has);
  }
  friend bool operator==(const NodeHasFewerThanSize&, const NodeHasFewerThanSize&) = default;
};

struct NodeHasLessMemoryThanSize {
  static constexpr std::string_view kCode = "node_has_less_memory_than_size";
  Bytes has;
  std::string size;
  Bytes size_has;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("has", self.has);
    see("size", self.size);
    see("size_has", self.size_has);
  }
  friend bool operator==(const NodeHasLessMemoryThanSize&,
                         const NodeHasLessMemoryThanSize&) = default;
};

struct NodeLacksRdmaOfSize {
  static constexpr std::string_view kCode = "node_lacks_rdma_of_size";
  Why why;
  std::string size;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("why", self.why);
    see("size", self.size);
  }
  friend bool operator==(const NodeLacksRdmaOfSize&, const NodeLacksRdmaOfSize&) = default;
};

// ---- its machine --------------------------------------------------------------------------------

// How a machine is told from others.
struct MachineRef {
  std::string boot_id;
  std::string machine_id;  // "": unknown
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("boot_id", self.boot_id);
    see("machine_id", self.machine_id);
  }
  friend bool operator==(const MachineRef&, const MachineRef&) = default;
};

struct NodeOffersAnothersDevice {
  static constexpr std::string_view kCode = "node_offers_anothers_device";
  NodeAmount what = NodeAmount::cpus;  // cpus or gpus
  int index = 0;
  std::string other;  // the node that offers it too
  MachineRef machine;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("what", self.what);
    see("index", self.index);
    see("other", self.other);
    see("machine", self.machine);
  }
  friend bool operator==(const NodeOffersAnothersDevice&,
                         const NodeOffersAnothersDevice&) = default;
};

struct NodeOffersTooMuchMemory {
  static constexpr std::string_view kCode = "node_offers_too_much_memory";
  Bytes offers;
  MachineRef machine;
  std::string first;  // of the earlier nodes of the machine
  Bytes earlier;      // what these offer
  Bytes whole;        // what the machine has
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("offers", self.offers);
    see("machine", self.machine);
    see("first", self.first);
    see("earlier", self.earlier);
    see("whole", self.whole);
  }
  friend bool operator==(const NodeOffersTooMuchMemory&, const NodeOffersTooMuchMemory&) = default;
};

struct NodeClaimsAnothersMachine {
  static constexpr std::string_view kCode = "node_claims_anothers_machine";
  std::string node;
  Instant since;
  std::string other;  // whose machine it is
  std::string host;   // boot and network namespace
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("node", self.node);
    see("since", self.since);
    see("other", self.other);
    see("host", self.host);
  }
  friend bool operator==(const NodeClaimsAnothersMachine&,
                         const NodeClaimsAnothersMachine&) = default;
};

// Why an agent may not join.
struct MachineIsANode {
  static constexpr std::string_view kCode = "machine_is_a_node";
  MachineRef machine;
  std::string node, target;
  int cpus = 0;  // that the node offers
  Bytes memory;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("machine", self.machine);
    see("node", self.node);
    see("target", self.target);
    see("cpus", self.cpus);
    see("memory", self.memory);
  }
  friend bool operator==(const MachineIsANode&, const MachineIsANode&) = default;
};

using NodeReasons =
    List<NodeAwaitsApproval, NodeNeverReported, NodeIsLost, NodeTakenAway, NodeDraining,
         NodeNotUnderstood, NodeUnheard, NodeSilent, NodeStopsOldAttempt, NodeAskedWhatRuns,
         NodeTakesNoWork, NodeCloned, NodeFull, NodeHasFewerThanSize, NodeHasLessMemoryThanSize,
         NodeLacksRdmaOfSize, NodeOffersAnothersDevice, NodeOffersTooMuchMemory,
         NodeClaimsAnothersMachine, MachineIsANode>;

}  // namespace lockstep
