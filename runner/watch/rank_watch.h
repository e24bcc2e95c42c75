#pragma once
// Looks at the ranks of this node, one look per live rank and sample, and makes a RankStanding of
// each. It keeps what it needs of the look before. It reads /proc, /sys and the kernel's sockets;
// it starts nothing, and decides nothing about ranks. It has no thread of its own, and may block
// while a process holds its memory in the kernel: WatchThread calls it away from the loop.
//
// The cost of a sample is bounded: RankReader has its own limits, a rank's threads are looked at
// only while it does not move, and the sockets of a node that has very many are read less often.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/base/time.h"
#include "common/domain/ranks/standing.h"
#include "runner/attach/stacks.h"
#include "runner/watch/rank_reader.h"
#include "runner/watch/rank_track.h"
#include "runner/watch/sockets/socket_reader.h"

namespace lockstep::runner {

// The inputs of a sample.
struct WatchLook {
  RankReader::Place place;
  PeerFacts peers;
  NodeFacts node;
  std::vector<RankFacts> ranks;  // the ranks that were started
  // the time after which a rank that does not move gets its stack taken; 0: never
  Duration stacks_after{0};
  std::vector<int> stacks_now;  // ranks whose stack is taken whether they move or not
};

struct WatchResult {
  Instant taken;
  RankStandings standings;
  std::vector<TracedProcess> stacks_wanted;
  std::string unseen;    // why nothing is seen of the sockets; "": they are seen
  Duration cpu_time{0};  // the cpu time that the sample took
};

class RankWatch {
 public:
  // `root`: "", or the root directory of a fake machine.
  explicit RankWatch(std::string root = "") : reader_(root), sockets_(std::move(root)) {}

  WatchResult sample(Instant now, const WatchLook& look);
  // The answer to an order of stacks_wanted. `top`: nullopt if no stack could be taken.
  void take_stack(int rank, const std::optional<StackTop>& top, Instant at);
  void take_counts(int rank, std::vector<CollectiveCount> counts, Instant at);

 private:
  struct Rank {
    explicit Rank(int rank) : track(rank) {}
    RankTrack track;
    PeerCounter counter;
    Instant first_seen;
    int samples = 0;
    int versions_read = 0;  // times
    bool waits_for_stack = false;
    Instant stack_asked;
    int pmix_connections = 0;
    bool at_store = false;
  };
  Rank& rank_of(int rank, Instant now);
  void read_sockets(Instant now, const WatchLook& look, WatchResult* result);
  void look_at(Instant now, const RankFacts& facts, const WatchLook& look);
  void read_versions_of(Instant now, int rank, Rank& one);
  void want_stack(Instant now, const WatchLook& look, int rank, Rank& one, WatchResult* result);

  RankReader reader_;
  SocketReader sockets_;
  SocketOwners owners_;
  std::optional<SocketTable> table_;  // the table of the last reading
  bool is_fresh_ = false;             // true: table_ is from this sample
  // Sockets to peers by rank; they point into table_.
  std::map<int, std::vector<const TcpSocket*>> peers_;
  std::map<int, int> claims_;
  std::set<int> at_store_;
  Instant read_sockets_at_;  // sockets are not read before this time
  int versions_left_ = 0;    // how many may still be read in this sample
  std::map<int, Rank> ranks_;
};

}  // namespace lockstep::runner
