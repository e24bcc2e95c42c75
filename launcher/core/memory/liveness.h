#pragma once
// Tracks the health of the nodes by when messages arrived from them. Not part of State: after a
// restart every node is UNKNOWN again. This file has the polled clock, and one NodeWatch per node.
// It decides ALIVE and UNKNOWN; LOST is a fact, which nodes/health.h records.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "common/base/ids.h"
#include "common/base/time.h"
#include "common/domain/data/outputs.h"
#include "common/domain/ranks/found.h"
#include "common/domain/targets/machine_part.h"
#include "common/domain/targets/node.h"
#include "common/domain/why/why.h"
#include "launcher/core/memory/clock_meter.h"
#include "launcher/core/memory/live_logs.h"

namespace lockstep::launcher {

// Counts the time during which the launcher itself polled. When handle() is called much later than
// requested, the launcher was stalled, and that time does not count towards any node's timeout.
class PolledClock {
 public:
  explicit PolledClock(Duration poll_interval) : interval_(poll_interval) {}

  // Moves on to `now`, which never goes back. Returns the polled time.
  Instant advance(Instant now);
  Instant polled() const { return last_ - stalled_; }
  Instant last() const { return last_; }
  // The real instant at which `polled` will be reached if nothing stalls.
  Instant real(Instant polled) const;
  // The latest time of the next poll, while deadlines in polled time are set.
  Instant next_poll() const { return last_ + interval_; }

 private:
  Duration interval_;
  std::optional<Instant> first_;
  Instant last_;
  Duration stalled_{0};
  bool stalled_before_ = false;  // the last gap between polls was a stall
};

// A session that was replaced by a newer one and still sends messages.
struct StaleTalk {
  Instant since;  // polled time of its first message after it was replaced
  Instant last;   // polled time of its newest message
  int messages = 0;
};

struct NodeWatch {
  Liveness liveness = Liveness::unknown;
  Instant heard;                  // polled time of the last message (or of the start of watching)
  Instant last_heard;             // real time of the last message; ns = 0: none since this start
  std::optional<SessionId> live;  // the session that was accepted since this launcher started
  std::uint64_t inventory_number = 0;  // SessionOpen::inventory_number of the inventory in use
  std::map<SessionId, StaleTalk> stale_talk;
  std::map<SessionId, Why> refused;  // sessions of cloned images, with the reason
  // Attempts that are not assigned to the node but may still run there, according to its full
  // report. The node gets no new part until they are gone.
  std::set<AttemptId> leftovers;
  // The number of the outstanding question to the node; 0: none. The node is asked to open its
  // session again, because `leftovers` may come from a delayed copy of SessionOpen and name parts
  // that the node has removed since, or because `must_answer` is set. A SessionOpen that quotes
  // this number was written after the question.
  std::uint64_t question = 0;
  // The node was LOST and continues the same session. Its SessionOpen may be a delayed copy,
  // written before the parts that were given up there had started, so the node gets no new work
  // until it has answered `question`.
  bool must_answer = false;
  // Texts about the progress of parts that have not finished.
  std::map<AttemptId, std::string> progress;
  std::uint64_t words_of = 0;  // the sequence of the newest Observed of this session
  // Outputs of running parts, without checkpoints, as the node reported them last.
  struct SoFar {
    std::vector<CollectedOutput> outputs;
    Instant kept = {};  // the time at which the outputs last became a fact
  };
  std::map<AttemptId, SoFar> so_far;
  std::map<AttemptId, std::vector<Why>> limits;     // the limits that running parts reached
  std::map<AttemptId, std::vector<RankEnd>> ended;  // ended ranks of running parts
  struct Settings {
    NetworkSettings first;
    SettingOverrides others;
  };
  std::map<AttemptId, Settings> settings;  // the settings of the ranks of running parts
  // The current findings about the ranks of gangs whose node rank 0 is this node. See
  // attempts/gang_findings.h.
  struct Findings {
    FoundList found;
    Instant began;  // the time of the first findings since the launcher's start
    int facts = 0;  // the number of facts since `began`
  };
  std::map<AttemptId, Findings> findings;
  struct Refused {
    std::uint64_t episode = 0;
    Instant since;  // in polled time
  };
  std::map<AttemptId, Refused> logs_refused;  // for canceled jobs: logs refused for lack of space
  // Why the launcher refused logs of these parts the last time, and when that was.
  struct LogsWait {
    std::string why;
    Instant at;    // the time of the last refusal
    Instant told;  // the time at which an event last reported it
  };
  std::map<AttemptId, LogsWait> logs_wait;
  // the time at which an event last reported the refusal
  std::map<AttemptId, Instant> outputs_refused;
  std::uint64_t sent_revision = 0;
  Why low_disk;  // why the agent takes no new parts because of its disk; none: it takes parts
  Duration clock_ahead{0};  // the node's clock minus ours, according to its last heartbeat
  ClockMeter clock;         // the same difference, measured over several heartbeats
  std::string unread;       // why its last message could not be decoded; "": it was decoded
};
inline constexpr std::size_t kMaxStaleSessions = 16;
// The time without a refusal after which logs count as accepted: a node sends refused logs again
// within a few seconds.
inline constexpr Duration kLogsWaitKnown = seconds(15);

class NodeWatches {
 public:
  NodeWatch& at(NodeId node) { return watches_[node]; }
  void forget(NodeId node) {
    watches_.erase(node);
    shortfalls_.erase(node);
    set_machine(node, {});
  }

  // The nodes whose agents see the same machine (shared_machine.h), by MachinePart::id.
  void set_machine(NodeId node, const MachinePart& machine) {
    if (const auto known = machine_of_.find(node); known != machine_of_.end()) {
      auto& nodes = on_machine_[known->second.id];
      nodes.erase(node);
      if (nodes.empty()) on_machine_.erase(known->second.id);
      machine_of_.erase(known);
    }
    if (machine.id.empty()) return;
    machine_of_[node] = machine;
    on_machine_[machine.id].insert(node);
  }
  MachinePart machine_of(NodeId node) const {
    const auto known = machine_of_.find(node);
    return known == machine_of_.end() ? MachinePart() : known->second;
  }
  std::set<NodeId> on_machine(const std::string& id) const {
    const auto known = on_machine_.find(id);
    return known == on_machine_.end() ? std::set<NodeId>() : known->second;
  }
  LiveLogs live_logs;
  const std::map<NodeId, NodeWatch>& all() const { return watches_; }
  const NodeWatch* find(NodeId node) const {
    const auto it = watches_.find(node);
    return it == watches_.end() ? nullptr : &it->second;
  }
  Liveness liveness(NodeId node) const {
    const NodeWatch* watch = find(node);
    return watch == nullptr ? Liveness::unknown : watch->liveness;
  }

  // The resource that the node lacks compared with its target's size; null: none (size_check.h).
  // Cheap, because placement calls it for every node.
  const Why* shortfall_of(NodeId node) const {
    if (shortfalls_.empty()) return nullptr;
    const auto it = shortfalls_.find(node);
    return it == shortfalls_.end() ? nullptr : &it->second;
  }
  void set_shortfall(NodeId node, Why why) {
    if (why)
      shortfalls_[node] = std::move(why);
    else
      shortfalls_.erase(node);
  }

 private:
  std::map<NodeId, NodeWatch> watches_;
  std::map<NodeId, Why> shortfalls_;
  std::map<NodeId, MachinePart> machine_of_;
  std::map<std::string, std::set<NodeId>> on_machine_;
};

}  // namespace lockstep::launcher
