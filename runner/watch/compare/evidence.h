#pragma once
// Evidence from the standings of a gang at one moment: which ranks are waited for, and whether
// nobody can go on. Pure, without memory: Comparison (comparison.h) asks again with fresh samples
// before evidence becomes the verdict `hangs`.
//
// A hang needs evidence, each of one of these forms:
//   nobody can go on    every live rank of the gang waits for a peer, is stopped, or is locked up
//                       in itself; then some of them wait in a cycle, for a stopped one, or for
//                       one that has ended or whose node is lost
//   a cycle            ranks blocked on the sockets of each other
//   an unreachable peer bytes of a rank are not acknowledged by the peer's kernel
//   a missed fence      ranks are in a fence of PMIx that a finished rank can never enter
// Ranks that spin where no movement can be seen (shared memory, RDMA) do not prove a cycle: they
// are reported as waiting for each other, without an alarm. A rank that computes, reads, loads,
// compiles, evaluates or sleeps may go on: ranks that wait for it wait, and that is all.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/domain/ranks/found.h"
#include "runner/watch/compare/role.h"

namespace lockstep::runner {

// The properties of the gang that do not change.
struct GangShape {
  int ranks = 1;
  std::map<std::string, int, std::less<>> nodes;  // nodes by address; -1: several have the address
  // The place where ranks first wait for each other: "MPI_Init", "the rendezvous".
  std::string meeting;
  FoundAbout meets = FoundAbout::named;  // the kind of `meeting`
  // the port MASTER_PORT; 0: none. A rank that waits at the store waits for a value that any rank
  // may set.
  std::uint16_t store_port = 0;

  void add_address(const std::string& address, int node_rank);
};

struct Evidence {
  Found found;                // the finding, with the verdict that holds without confirmation
  bool may_hang = false;      // a hang, if two fresh looks at `look_at` find the same
  bool is_hidden = false;     // the evidence is not reported before that
  bool needs_stacks = false;  // the stacks of the named ranks would explain it
  std::vector<int> look_at;   // the ranks to look at; empty: all live ranks
  // The time of the oldest count that evidence about collectives uses; a later look needs newer
  // counts.
  Instant counted;
};
using EvidenceList = std::vector<Evidence>;

inline constexpr Duration kSayLeftAfter = seconds(10);  // a rank left, and the others wait
inline constexpr Duration kSayStoppedAfter = seconds(10);
inline constexpr Duration kSayDeviceAfter = seconds(30);
inline constexpr Duration kSayUnreachableAfter = seconds(30);
inline constexpr Duration kSayFenceAfter = seconds(30);

// Evidence that no rank can continue. `after`: the time in HangPolicy.
std::optional<Evidence> nobody_goes_on(const GangNow& gang, Duration after);
// Ranks have waited for others that may still continue.
std::optional<Evidence> some_wait(const GangNow& gang, Duration after);
// Evidence that some ranks lag, by the counts of NCCL, when ranks wait for their GPUs: some have
// launched a collective that others have not launched yet.
std::optional<Evidence> some_lag(const GangNow& gang, Duration after);
EvidenceList wait_cycles(const GangNow& gang, const GangShape& shape, Duration after);
EvidenceList unreachable_peers(const GangNow& gang, const GangShape& shape, Duration after);
std::optional<Evidence> missed_fence(const GangNow& gang, Duration after);

FoundRank found_rank(const RankStanding& standing);
// The first kMaxFoundRanks of the ranks.
std::vector<FoundRank> found_ranks(const GangNow& gang, const std::vector<int>& ranks);
// The node that has this address, which may have a port; -1: none, or several.
int node_of_address(const GangShape& shape, std::string_view text);

}  // namespace lockstep::runner
