#pragma once
// The health of the nodes, from the launcher's point of view: what it heard from each, and when.
// Not part of State: after a restart everything here begins again, with every node UNKNOWN. Two
// things live here: the polled clock, and one NodeWatch per node. Decides ALIVE and UNKNOWN; that a
// node is LOST is a fact, and node_health.h's to record.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "common/base/ids.h"
#include "common/base/time.h"
#include "common/domain/node.h"
#include "common/domain/outputs.h"

namespace lockstep::launcher {

// The time during which the launcher itself polled. When handle() is called much later than
// requested, the launcher was stalled, and that time does not count towards any node's timeout.
class PolledClock {
 public:
  explicit PolledClock(Duration poll_interval) : interval_(poll_interval) {}

  // `now` never goes back. Returns the polled time.
  Instant advance(Instant now);
  Instant polled() const { return last_ - stalled_; }
  Instant last() const { return last_; }
  // The real instant at which `polled` will be reached if nothing stalls.
  Instant real(Instant polled) const;
  // When the next poll is due while clocks run.
  Instant next_poll() const { return last_ + interval_; }

 private:
  Duration interval_;
  std::optional<Instant> first_;
  Instant last_;
  Duration stalled_{0};
  bool stalled_before_ = false;  // the last gap was a stall
};

// A session that was replaced by a newer one and yet goes on talking.
struct StaleTalk {
  Instant since;  // polled: when it was first heard after it was replaced
  Instant last;   // polled: when it was last heard
  int messages = 0;
};

struct NodeWatch {
  Liveness liveness = Liveness::unknown;
  Instant heard;                  // polled time of the last word (or of the start of watching)
  Instant last_heard;             // real time of the last word; ns = 0: none since this start
  std::optional<SessionId> live;  // the session accepted since this launcher start
  std::map<SessionId, StaleTalk> stale_talk;
  std::map<SessionId, std::string> refused;  // cloned images: session -> reason
  // Attempts that are not assigned to the node but, by its own full report, may still run there.
  // The node gets no new work before they are gone.
  std::set<AttemptId> leftovers;
  // The number of the outstanding question to the node; 0: none. `leftovers` may come from a
  // delayed copy of SessionOpen and name parts that the node has removed since, so the node is
  // asked to open its session again; so it is when `must_answer` is set. An opening that quotes
  // this number was written after the question.
  std::uint64_t question = 0;
  // The node was LOST and continues the same session. Its SessionOpen may be a delayed copy,
  // written before the parts that were given up there had started, so the node gets no new work
  // until it has answered `question`.
  bool must_answer = false;
  std::map<AttemptId, std::string> progress;  // of parts that have not finished, in words
  std::uint64_t words_of = 0;                 // sequence of the newest Observed of this session
  std::map<AttemptId, std::vector<CollectedOutput>> logs_so_far;  // ./logs of parts that run
  std::map<AttemptId, std::vector<std::string>> limits;           // that parts that run met
  struct Refused {
    std::uint64_t episode = 0;
    Instant since;  // polled time
  };
  std::map<AttemptId, Refused> logs_refused;  // of canceled jobs, for lack of space
  std::uint64_t sent_revision = 0;
  std::string low_disk;     // why it takes no new part, as it told last; "": it does
  Duration clock_ahead{0};  // of ours, when it last told
  std::string unread;       // why its last message could not be read; "": it could
};
inline constexpr std::size_t kMaxStaleSessions = 16;

class NodeWatches {
 public:
  NodeWatch& at(NodeId node) { return watches_[node]; }
  void forget(NodeId node) { watches_.erase(node); }
  const std::map<NodeId, NodeWatch>& all() const { return watches_; }
  const NodeWatch* find(NodeId node) const {
    const auto it = watches_.find(node);
    return it == watches_.end() ? nullptr : &it->second;
  }
  Liveness liveness(NodeId node) const {
    const NodeWatch* watch = find(node);
    return watch == nullptr ? Liveness::unknown : watch->liveness;
  }

 private:
  std::map<NodeId, NodeWatch> watches_;
};

}  // namespace lockstep::launcher
