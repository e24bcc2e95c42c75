#pragma once
// What happened, for ever: the launcher's state is the fold of its facts. Facts record results, not
// requests; no field ever changes its meaning. Every state change, live or in recovery, is one
// State::apply(fact). Each fact is stamped with the Instant of the input that caused it.

#include <string>
#include <variant>
#include <vector>

#include "common/domain/assignment.h"
#include "common/domain/views.h"

namespace lockstep::launcher {

struct TokenCreated { Digest secret_hash; Instant expires; int uses = 1; };
struct NodeJoined { NodeId node; std::string name; PublicKey key; Digest token; };
struct NodeSessionStarted {     // a session was accepted
  NodeId node; BootId boot; SessionId session; Inventory inventory;
};
struct NodeLost { NodeId node; std::string reason; };  // timeout, or proof of a reboot
struct NodeDrainChanged { NodeId node; bool draining = false; std::string reason; };

struct JobSubmitted { JobId job; std::string submission; JobSpec spec; };
struct CancelRequested { JobId job; std::string by; };
struct PartPlacement { NodeId node; Allotment allotment; };
struct AttemptPlaced {          // index in parts = node rank
  AttemptId attempt; std::vector<PartPlacement> parts; std::vector<std::string> why;
};
struct GangFormed { AttemptId attempt; GangTable gang; };  // all parts prepared: run
struct PartChanged { AttemptId attempt; NodeId node; PartReport report; };  // state moved forward
struct PartGone { AttemptId attempt; NodeId node; Cause cause = Cause::runner_lost; std::string why; };
struct AttemptDoomed {          // the first failure is known: the others are to be stopped
  AttemptId attempt; ExitReport report; StopReason reason = StopReason::gang_failed;
};
struct AttemptEnded { AttemptId attempt; ExitReport report; };  // nothing of it runs any more
struct JobRequeued { JobId job; AttemptId after; bool charged = true; std::string why; };
struct PartReleased { AttemptId attempt; NodeId node; };  // logs durable (or lost): node may forget it
struct JobFinished { JobId job; JobStatus status = JobStatus::completed; ExitReport report; };

using Fact = std::variant<TokenCreated, NodeJoined, NodeSessionStarted, NodeLost, NodeDrainChanged,
                          JobSubmitted, CancelRequested, AttemptPlaced, GangFormed, PartChanged,
                          PartGone, AttemptDoomed, AttemptEnded, JobRequeued, PartReleased,
                          JobFinished>;

struct StampedFact {
  Instant at;
  Fact fact;
};

}  // namespace lockstep::launcher
