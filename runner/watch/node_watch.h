#pragma once
// The watch over the ranks of this node, as the runner has it: it takes the runner's facts about
// them, looks at them every kWatchEvery on a thread of its own, takes the stacks of those that do
// not move, and tells a RankStanding of each. It decides nothing about ranks. If threads,
// descriptors or rights are missing, it reports that once in the runner's log, and goes on.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/domain/ranks/standing.h"
#include "common/io/clock.h"
#include "common/io/event_loop.h"
#include "runner/attach/place.h"
#include "runner/watch/gpu_clocks.h"
#include "runner/watch/rank_watch.h"
#include "runner/watch/ras/ras_client.h"
#include "runner/watch/stack_ask.h"
#include "runner/watch/watch_thread.h"

namespace lockstep::runner {

class NodeWatch {
 public:
  // Values that stay the same while ranks run.
  struct Settings {
    int node_rank = 0;
    bool meets_at_pmix = false;   // true for an MPI job
    bool meets_at_store = false;  // a job with a rendezvous on MASTER_PORT
    PeerFacts peers;
    int pmix_pid = -1;
    // Stacks are taken from shortly before this time, lockstep.hang_after. Zero: never.
    Duration stacks_after{0};
    std::optional<std::uint16_t> ras_port;  // the port of NCCL's RAS; nullopt: RAS is not asked
    // The GPUs of each rank, by their indexes on this node.
    std::map<int, std::vector<int>> gpus;
  };
  struct Callbacks {
    // The directory of a rank's memory cgroup; "": none.
    std::function<std::string(int rank)> cgroup;
    // Bytes and lines in a rank's logs.
    std::function<std::pair<std::int64_t, std::int64_t>(int rank)> logged;
    std::function<void(const RankStandings&)> told;  // called after each look
  };

  NodeWatch(io::EventLoop& loop, io::Clock& clock, AttachPlace& place, AttachFacts facts,
            Settings settings, Callbacks callbacks);
  NodeWatch(const NodeWatch&) = delete;
  NodeWatch& operator=(const NodeWatch&) = delete;

  // Tells of a started or ended rank. `pid` as lockstep-spawn has it. `code`: for a signal 128 +
  // its number.
  void rank_started(int rank, int pid);
  void rank_exited(int rank, int code);
  void rank_connected(int rank);
  void rank_finalized(int rank);
  // Tells that all ranks of this node have entered a fence of PMIx, or that the fence is over.
  void fence_entered();
  void fence_over();

  // Takes the stacks of these ranks now, whether they move or not.
  void take_stacks(const std::vector<int>& ranks);
  // Asks NCCL's RAS here, which answers for the whole job. False: it cannot be asked now.
  bool ask_ras(RasClient::Told told);
  // Counts from RAS's answer; `at` is a time of our clock.
  void take_counts(int rank, std::vector<CollectiveCount> counts, Instant at);

  const RankStandings& standings() const { return standings_; }  // the standings of the last look

  // Called by lockstep-spawn for ids from kFirstWatchId on.
  void tool_failed(int id, int error, spawn::SpawnStage stage) { stacks_.failed(id, error, stage); }
  void tool_exited(int id, int wait_status) { stacks_.exited(id, wait_status); }
  void spawn_lost() { stacks_.spawn_lost(); }
  void end();  // the part ends: nothing is looked at any more

  Instant next_deadline() const;
  void expire(Instant now);

 private:
  WatchLook look() const;
  std::string gpu_held(int rank, const std::map<int, std::string>& held) const;
  void take(WatchResult result);
  void say_once(const std::string& what);

  io::Clock& clock_;
  AttachPlace& place_;
  const Settings settings_;
  const Callbacks callbacks_;
  std::map<int, RankFacts> ranks_;
  NodeFacts node_;
  int open_fences_ = 0;
  RankStandings standings_;
  std::vector<int> stacks_ordered_;  // ranks whose stack was ordered and is not taken yet
  Instant next_ = Instant::never();
  Instant busy_since_ = Instant::never();  // a look that is not done
  std::vector<std::string> said_;
  StackAsk stacks_;
  RasClient ras_;
  const GpuClocks gpu_clocks_;
  WatchThread thread_;  // the last: it ends first
};

}  // namespace lockstep::runner
