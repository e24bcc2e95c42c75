#include "runner/watch/doing.h"

#include <algorithm>
#include <optional>

namespace lockstep::runner {
namespace {

// A process with this much less cpu time started the one that works.
constexpr std::uint64_t kMuchLessCpu = 20;
constexpr int kDeepestWrapper = 16;

// The activity of a thread of which only the wait channel is known: sockets to peers decide what is
// likely.
Doing doing_of_unknown(const RankLook& look, const ThreadLook& thread) {
  const bool has_peers = look.peers && look.peers->sockets > 0;
  const bool is_receiving = thread.call == "recvmsg" || thread.call == "poll" ||
                            thread.call == "select" || thread.call == "epoll_wait";
  return has_peers && is_receiving ? Doing::waits_peer : Doing::reads;
}

}  // namespace

// Shells and launchers only wait for the process that works, so they are skipped.
std::size_t working_process(const RankLook& look) {
  std::size_t at = 0;
  for (int level = 0; level < kDeepestWrapper; ++level) {
    const ProcessLook& process = look.processes[at];
    std::optional<std::size_t> best;
    for (std::size_t i = 0; i < look.processes.size(); ++i) {
      const ThreadStat& stat = look.processes[i].stat;
      if (stat.parent != process.stat.pid || i == at) continue;
      if (!best || stat.cpu_ticks > look.processes[*best].stat.cpu_ticks) best = i;
    }
    if (!best) return at;
    const bool is_wrapper =
        process.main.on == WaitsOn::child ||
        process.stat.cpu_ticks * kMuchLessCpu < look.processes[*best].stat.cpu_ticks;
    if (!is_wrapper || process.main.on == WaitsOn::nothing) return at;
    at = *best;
  }
  return at;
}

int shells_above(const RankLook& look, std::size_t working) {
  int shells = 0;
  int parent = look.processes[working].stat.parent;
  for (int level = 0; level < kDeepestWrapper; ++level) {
    const auto above =
        std::find_if(look.processes.begin(), look.processes.end(),
                     [parent](const ProcessLook& each) { return each.stat.pid == parent; });
    if (above == look.processes.end() || above->main.on != WaitsOn::child) break;
    ++shells;
    parent = above->stat.parent;
  }
  return shells;
}

bool may_have_workers(WaitsOn on) {
  switch (on) {
    case WaitsOn::pipe:
    case WaitsOn::child:
    case WaitsOn::lock:
    case WaitsOn::other:
    case WaitsOn::timer:  // a queue that is polled again and again
    case WaitsOn::unknown: return true;
    case WaitsOn::nothing:
    case WaitsOn::peer:
    case WaitsOn::store:
    case WaitsOn::listener:
    case WaitsOn::file:
    case WaitsOn::terminal:
    case WaitsOn::gpu:
    case WaitsOn::signal: return false;
  }
  return false;
}

Doing doing_at_lock(const ThreadLook& thread) {
  return thread.has_timeout ? Doing::sleeps : Doing::locks;
}

Doing doing_of(const RankLook& look, const ThreadLook& thread) {
  switch (thread.on) {
    case WaitsOn::nothing:
    case WaitsOn::gpu: return Doing::computes;
    case WaitsOn::peer:
    case WaitsOn::store: return Doing::waits_peer;
    case WaitsOn::listener: return Doing::serves;
    case WaitsOn::timer:
    case WaitsOn::signal: return Doing::sleeps;
    case WaitsOn::other:
    case WaitsOn::file:
    case WaitsOn::pipe:
    case WaitsOn::terminal:
    case WaitsOn::child: return Doing::reads;
    case WaitsOn::unknown: return doing_of_unknown(look, thread);
    case WaitsOn::lock: break;
  }
  if (!look.threads) return doing_at_lock(thread);
  if (look.threads->at_peers > 0) return Doing::waits_peer;
  if (look.threads->at_listeners > 0) return Doing::serves;
  return look.threads->at_others > 0 ? Doing::reads : doing_at_lock(thread);
}

}  // namespace lockstep::runner
