#pragma once
// One runner's part in the watch over its gang: it sends its parent the changes of the ranks here
// and below (telling.h), answers looks, and on node rank 0 compares the ranks of all nodes
// (comparison.h), publishes its findings at a bounded rate, and reports once that the gang hangs.
// It owns no connection and no thread; its caller carries messages, and brings samples.

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/domain/runners/assignment.h"
#include "common/domain/runners/runner_protocol.h"
#include "runner/watch/compare/comparison.h"
#include "runner/watch/compare/telling.h"

namespace lockstep::runner {

// the shortest interval between two publications
inline constexpr Duration kPublishEvery = seconds(5);

class GangWatch {
 public:
  struct Callbacks {
    std::function<void(const GangMessage&)> send_up;    // sends to the parent
    std::function<void(const GangMessage&)> broadcast;  // sends to every other node
    // Takes the present stacks of these ranks of this node.
    std::function<void(const std::vector<int>& ranks)> take_stacks;
    std::function<void()> keep_stacks;  // whole stacks of the ranks here, into the job's logs
    std::function<void()> ask_counts;   // the answer comes with take_counts(); only on node rank 0
    std::function<void()> published;    // called when found() has changed
    // called once; the caller then acts as lockstep.on_hang asks
    std::function<void(const Found&)> hangs;
  };

  // Begins the watch. `radix`: the radix of the gang's tree.
  GangWatch(const Assignment& assignment, const GangTable& gang, Callbacks callbacks,
            int radix = kGangTreeRadix);

  // Addresses that the gang's probe chose. Nodes are recognised by them too.
  void add_addresses(const std::vector<ChosenPath>& chosen);

  // The standings of all ranks of this node, called for each sample.
  void sampled(Instant now, const RankStandings& standings);
  void take(Instant now, const GangStandings& told);
  void take(Instant now, const GangLook& look);
  void take(Instant now, const GangSeen& seen);
  void neighbour_lost(Instant now, int node_rank);
  void node_done(Instant now, int node_rank);
  void take_counts(Instant now, const std::map<int, std::vector<CollectiveCount>>& counts);
  // A process of the gang's ranks, as its node reported it; on node rank 0 only.
  struct Process {
    int rank = 0, node_rank = 0, pid = 0;
  };
  std::vector<Process> processes() const;

  // The last findings that were published. Empty on nodes other than node rank 0.
  const FoundList& found() const { return published_; }
  // Whether it now holds, published or not, that ranks which have left are waited for.
  bool finds_left() const;
  // Asks all nodes to keep the stacks of their ranks. On node rank 0.
  void keep_all_stacks(Instant now);

  void expire(Instant now);
  Instant next_deadline() const;

 private:
  bool is_root() const { return assignment_.node_rank == 0; }
  void send(Instant now);
  void compare(Instant now);
  void publish(Instant now);
  void ask(Instant now, const GangLook& look);
  bool is_of(const RankStanding& standing) const;

  const Assignment assignment_;
  const Callbacks callbacks_;
  Telling telling_;
  std::optional<Comparison> comparison_;  // set on node rank 0
  Instant compare_at_ = Instant::never();
  FoundList found_, published_;
  Instant published_at_;
  bool has_hung_ = false;
  std::uint64_t last_own_look_ = 0;
};

}  // namespace lockstep::runner
