#pragma once
// The facts about attempts and their parts: see fact.h.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/base/ids.h"
#include "common/base/table.h"
#include "common/base/time.h"
#include "common/domain/runners/assignment.h"
#include "common/domain/messages/views.h"
#include "common/domain/why/why.h"

namespace lockstep::launcher {

struct PartPlacement {
  NodeId node;
  Allotment allotment;
  std::uint64_t revision = 0;  // first revision of the node's desired state with it; 0: the next
  // The part takes the whole node. Absent in journals of up to 0.5: see old_facts.h.
  std::optional<bool> whole = {};
  static void table(auto& s, auto&& see) {
    see(field<1>, "node", s.node);
    see(field<2>, "allotment", s.allotment);
    see(field<3>, "revision", s.revision);
    see(field<4>, "whole", s.whole);
  }
  friend bool operator==(const PartPlacement&, const PartPlacement&) = default;
};
struct AttemptPlaced {  // index in parts = node rank
  static constexpr int kBody = 12;
  AttemptId attempt;
  std::vector<PartPlacement> parts;
  std::vector<Why> why;
  std::optional<CheckpointSource> checkpoint = {};  // the checkpoint from which its ranks start
  // The virtual packages that all these nodes had then, for a conda definition (EnvironmentPlan).
  std::vector<std::string> virtual_packages = {};
  static void table(auto& s, auto&& see) {
    see(field<1>, "attempt", s.attempt);
    see(field<2>, "parts", s.parts, {.count = kMaxNodesPerJob});
    see(reason_or_old_text<3, 810>, "why", s.why, {.count = 1'000'000});
    see(field<4>, "checkpoint", s.checkpoint);
    see(field<5>, "virtual_packages", s.virtual_packages, {.count = kMaxVirtualPackages});
  }
  friend bool operator==(const AttemptPlaced&, const AttemptPlaced&) = default;
};
struct GangFormed {  // All parts are prepared, and run.
  static constexpr int kBody = 13;
  AttemptId attempt;
  GangTable gang;
  // The table's digest_of(), if it goes down the gang's tree. Absent: a runner of the gang does not
  // know that, so each node is given the whole table.
  std::optional<Digest> rows = {};
  static void table(auto& s, auto&& see) {
    see(field<1>, "attempt", s.attempt);
    see(field<2>, "gang", s.gang);
    see(field<750>, "rows", s.rows);
  }
  friend bool operator==(const GangFormed&, const GangFormed&) = default;
};
struct PartChanged {  // the part's state moved forward
  static constexpr int kBody = 14;
  AttemptId attempt;
  NodeId node;
  PartReport report;
  static void table(auto& s, auto&& see) {
    see(field<1>, "attempt", s.attempt);
    see(field<2>, "node", s.node);
    see(field<3>, "report", s.report);
  }
  friend bool operator==(const PartChanged&, const PartChanged&) = default;
};
struct PartGone {
  static constexpr int kBody = 15;
  AttemptId attempt;
  NodeId node;
  Cause cause = Cause::runner_lost;
  Why why;
  Instant fenced_until = {};  // the end of the lease of its ranks; ns = 0: no fence
  bool revoked = false;       // the node was revoked: the retry is not charged
  static void table(auto& s, auto&& see) {
    see(field<1>, "attempt", s.attempt);
    see(field<2>, "node", s.node);
    see(field<3>, "cause", s.cause);
    see(reason_or_old_text<4, 800>, "why", s.why);
    see(field<5>, "fenced_until", s.fenced_until);
    see(field<6>, "revoked", s.revoked);
  }
  friend bool operator==(const PartGone&, const PartGone&) = default;
};
struct AttemptDoomed {  // the first failure is known: the other parts must be stopped
  static constexpr int kBody = 16;
  AttemptId attempt;
  ExitReport report;
  StopReason reason = StopReason::gang_failed;
  std::optional<Duration> grace = {};  // the grace of its ranks; none: CoreConfig::stop_grace
  static void table(auto& s, auto&& see) {
    see(field<1>, "attempt", s.attempt);
    see(field<2>, "report", s.report);
    see(field<3>, "reason", s.reason);
    see(field<306>, "grace", s.grace);
  }
  friend bool operator==(const AttemptDoomed&, const AttemptDoomed&) = default;
};
struct AttemptEnded {  // all its parts have ended
  static constexpr int kBody = 17;
  AttemptId attempt;
  ExitReport report;
  static void table(auto& s, auto&& see) {
    see(field<1>, "attempt", s.attempt);
    see(field<2>, "report", s.report);
  }
  friend bool operator==(const AttemptEnded&, const AttemptEnded&) = default;
};
struct PartReleased {  // the part's logs are durable (or lost): the node may forget it
  static constexpr int kBody = 19;
  AttemptId attempt;
  NodeId node;
  bool logs_lost = false;        // given up: some of its logs did not arrive
  std::uint64_t lost_bytes = 0;  // log bytes for which the launcher had no space
  static void table(auto& s, auto&& see) {
    see(field<1>, "attempt", s.attempt);
    see(field<2>, "node", s.node);
    see(field<3>, "logs_lost", s.logs_lost);
    see(field<4>, "lost_bytes", s.lost_bytes);
  }
  friend bool operator==(const PartReleased&, const PartReleased&) = default;
};
struct CheckpointSaved {  // saved by a running part; the blobs are in the blob store
  static constexpr int kBody = 25;
  AttemptId attempt;
  NodeId node;
  CollectedOutput checkpoint;
  static void table(auto& s, auto&& see) {
    see(field<1>, "attempt", s.attempt);
    see(field<2>, "node", s.node);
    see(field<3>, "checkpoint", s.checkpoint);
  }
  friend bool operator==(const CheckpointSaved&, const CheckpointSaved&) = default;
};
// The outputs that a running part has sent until now, without its checkpoint. Kept for the case
// that its node is lost; the end of the part replaces them.
struct OutputsSoFar {
  static constexpr int kBody = 600;
  AttemptId attempt;
  NodeId node;
  std::vector<CollectedOutput> outputs;
  static void table(auto& s, auto&& see) {
    see(field<1>, "attempt", s.attempt);
    see(field<2>, "node", s.node);
    see(field<3>, "outputs", s.outputs, {.count = kMaxCollectedOutputs});
  }
  friend bool operator==(const OutputsSoFar&, const OutputsSoFar&) = default;
};
// The findings about a gang's ranks have changed: other kinds, verdicts or ranks. Their numbers are
// of this moment.
struct FoundChanged {
  static constexpr int kBody = 700;
  AttemptId attempt;
  NodeId node;      // the node of node rank 0, which compared them
  FoundList found;  // all findings that hold
  static void table(auto& s, auto&& see) {
    see(field<1>, "attempt", s.attempt);
    see(field<2>, "node", s.node);
    see(by_hand<3>, "found", s.found);
  }
  friend bool operator==(const FoundChanged&, const FoundChanged&) = default;
};
struct FenceLifted {  // proof that a part that was given up has stopped
  static constexpr int kBody = 26;
  AttemptId attempt;
  NodeId node;
  Why why;
  static void table(auto& s, auto&& see) {
    see(field<1>, "attempt", s.attempt);
    see(field<2>, "node", s.node);
    see(reason_or_old_text<3, 800>, "why", s.why);
  }
  friend bool operator==(const FenceLifted&, const FenceLifted&) = default;
};

}  // namespace lockstep::launcher
