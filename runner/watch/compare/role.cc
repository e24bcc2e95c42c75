#include "runner/watch/compare/role.h"

#include <algorithm>
#include <string_view>

namespace lockstep::runner {
namespace {

constexpr std::int64_t kIdleCpu = 50;  // in thousandths of a core

bool has_moved_lately(const RankStanding& standing) { return standing.still() < kStalledAfter; }

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// Calls like cudaStreamSynchronize; in Python's frames, torch.cuda.synchronize.
bool waits_for_own_gpu(const RankStanding& standing) {
  const std::string_view within = standing.within;
  return within.starts_with("cu") || within.starts_with("hip") || within == "synchronize";
}

// Calls that wait for a GPU's stream. They end when earlier work is computed, not only when peers
// come. If NCCL is loaded, a call of torch counts as one of NCCL, unless a thread is blocked on a
// peer's socket, as in gloo.
bool waits_in_gpu_library(const RankStanding& standing) {
  const std::string_view within = standing.within;
  if (contains(within, "nccl") || contains(within, "NCCL")) return true;
  const bool is_of_hosts = within.starts_with("MPI_") || within.starts_with("mpi_") ||
                           contains(within, "gloo") || contains(within, "Gloo");
  if (is_of_hosts) return false;
  return !standing.collectives.empty() || (!standing.versions.nccl.empty() && standing.on.empty());
}

// The role of a waiting rank. One thread may spin in the library that waits; a second running
// thread computes. A call with a time-out is a timer. A call with an unknown descriptor may wait
// for anything, unless its stack shows that a library waits.
Role role_of_waiting(const RankStanding& standing) {
  if (standing.threads_running > 1) return Role::acts;
  if (!standing.by_stack && (standing.has_timeout || standing.on.empty())) return Role::acts;
  if (waits_for_own_gpu(standing)) return Role::on_gpu;
  return waits_in_gpu_library(standing) ? Role::waits_gpu : Role::waits;
}

// The role of a rank at a lock. Another process of the rank may hold the lock, unless that process
// is a shell which started this one.
Role role_of_locked(const RankStanding& standing) {
  const bool may_wake = standing.has_timeout || standing.threads_running > 0 ||
                        standing.processes - standing.shells > 1;
  return may_wake ? Role::acts : Role::locked;
}

}  // namespace

Role role_of(const RankStanding& standing) {
  if (standing.doing == Doing::exited) return Role::ended;
  if (standing.traced) return Role::acts;
  if (standing.doing == Doing::stopped) return Role::stopped;
  if (standing.doing == Doing::device) return Role::device;
  if (has_moved_lately(standing)) return Role::moves;
  switch (standing.doing) {
    case Doing::waits_peer: return role_of_waiting(standing);
    case Doing::locks: return role_of_locked(standing);
    case Doing::starts:
    case Doing::computes:
    case Doing::reads:
    case Doing::sleeps:
    case Doing::serves:
    case Doing::stopped:
    case Doing::device:
    case Doing::exited: break;
  }
  return Role::acts;
}

bool is_stuck(Role role) {
  switch (role) {
    case Role::waits:
    case Role::waits_gpu:
    case Role::on_gpu:
    case Role::locked:
    case Role::stopped: return true;
    case Role::unknown:
    case Role::moves:
    case Role::acts:
    case Role::device:
    case Role::ended: return false;
  }
  return false;
}

bool is_waiting(Role role) { return role == Role::waits || role == Role::waits_gpu; }

Duration still_for(const RankStanding& standing, Role role, Instant now) {
  const auto past = [now](Instant since) {
    return now > since ? Duration(now - since) : Duration::zero();
  };
  switch (role) {
    case Role::unknown:
    case Role::moves: return Duration::zero();
    case Role::stopped:
    case Role::device:
    case Role::ended: return past(standing.doing_since);
    case Role::waits:
    case Role::waits_gpu:
    case Role::on_gpu:
      // Stacks are taken late, and a stack that differs from the one before shows movement.
      if (standing.by_stack) return past(standing.since);
      break;
    case Role::acts:
    case Role::locked: break;
  }
  return past(std::max(standing.since, standing.doing_since));
}

bool is_surely_still(const RankStanding& standing) {
  const bool is_asleep = standing.threads_running == 0 && standing.cpu_milli < kIdleCpu;
  return is_asleep || standing.peer_sockets > 0;
}

}  // namespace lockstep::runner
