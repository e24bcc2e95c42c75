#pragma once
// Concludes from a standing whether a rank can continue by itself. Pure. The search for hangs uses
// only this: as long as one rank of a gang can continue by itself, the others may have good reason
// to wait for it.

#include <vector>

#include "common/domain/ranks/standing.h"

namespace lockstep::runner {

enum class Role {
  unknown,  // no standing has come
  moves,    // something of the rank has moved lately
  acts,     // nothing has moved, but it may go on by itself: it computes, reads, sleeps, starts or
            // serves, or a debugger or profiler holds it
  waits,    // the rank waits for a peer and for nothing else
  waits_gpu,  // the rank waits for a peer in a library that also waits for work of its own GPU
  on_gpu,     // the rank waits for its own GPU, which may compute or wait for a peer
  locked,     // all threads of the rank wait for locks of its own process
  stopped,
  device,  // blocked in the kernel, which may let it continue
  ended,
};

// The time without any movement after which a rank counts as stalled. It spans two samples or more.
inline constexpr Duration kStalledAfter = seconds(10);

Role role_of(const RankStanding& standing);

// Whether a rank continues only when another rank, or something outside the gang, acts.
bool is_stuck(Role role);
// Whether a rank waits for a peer, as far as can be seen.
bool is_waiting(Role role);

// How long it has been in this role without moving, if its node reported nothing since the standing
// was taken. Computing is not movement: a rank that has computed for an hour and is now blocked on
// a peer has waited only for a moment.
Duration still_for(const RankStanding& standing, Role role, Instant now);

// Whether a rank that waits would be seen to move if it did: it sleeps in the kernel, or talks to
// peers over TCP. One that spins on shared memory or on an RDMA device looks the same whether it is
// stuck or goes round in a loop of messages.
bool is_surely_still(const RankStanding& standing);

// One rank at the moment of a comparison.
struct RankNow {
  const RankStanding* standing = nullptr;  // nullptr: no standing has come
  Role role = Role::unknown;
  Duration still{0};
  bool is_lost = false;  // the rank's node is LOST
};
using GangNow = std::vector<RankNow>;  // The ranks of a gang now, by rank.

}  // namespace lockstep::runner
