#pragma once
// A look at one rank at one moment: its processes, what their threads are blocked on, and counters
// that only grow. Plain values, which RankReader fills and RankTrack evaluates.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/base/time.h"
#include "runner/watch/proc/proc_texts.h"
#include "runner/watch/proc/thread_look.h"
#include "runner/watch/sockets/peer_sockets.h"

namespace lockstep::runner {

struct ProcessLook {
  ThreadStat stat;
  int own_pid = 0;  // the pid that the ranks of its node see
  int tracer = 0;   // 0: no process traces it, or it was not examined
  ThreadLook main;  // the first thread of the process
  friend bool operator==(const ProcessLook&, const ProcessLook&) = default;
};

// Counts of the threads of all examined processes; helper threads of NCCL and CUDA are only in
// `all`. `at_timers`: threads that sleep. Loops of libraries that wait for an event of their own
// process are in `at_locks`, whatever their time-out.
struct ThreadCounts {
  int all = 0, running = 0, device = 0;
  int at_peers = 0, at_store = 0, at_locks = 0, at_timers = 0, at_listeners = 0, at_others = 0;
  // True if something beside these threads may release a lock: a signal handler, or another
  // process.
  bool may_be_freed = false;
  ThreadLook at_peer;  // one thread that waits for a peer
  friend bool operator==(const ThreadCounts&, const ThreadCounts&) = default;
};

struct RankLook {
  Instant taken;
  std::vector<ProcessLook> processes;  // the rank's own process first; empty: the rank was not seen
  std::optional<ThreadCounts> threads;  // nullopt: they were not looked at one by one
  std::optional<PeerTotals> peers;      // nullopt: the sockets were not read
  int pmix_connections = 0;
  bool at_store = false;
  std::optional<CallBytes> bytes;  // for the rank's own process
  std::optional<Duration> queued, throttled;
  std::int64_t cpu_mhz = 0, cpu_mhz_at_most = 0;
  std::int64_t log_bytes = 0, log_lines = 0;
};

}  // namespace lockstep::runner
