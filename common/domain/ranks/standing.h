#pragma once
// The standing of one rank: what it does, since when nothing of it has moved, and the numbers by
// which ranks are compared. A runner's RankWatch (runner/watch) makes one per rank of its node with
// each sample; the comparison of the gang reads those of all nodes. All values are plain. All times
// are on the clock of the rank's own node, until a runner that takes them has moved them to its
// own.
//
// Moving and doing are separate. A rank that waits in MPI spins and burns a whole cpu, so cpu time
// of the rank's own process does not count as movement. A rank moves when one of these changes:
// bytes of its log; bytes to and from peers, without the rendezvous's store and keep-alives; bytes
// read and written; page faults; cpu time of its other processes (workers, compilers) and which of
// them there are; collective counts; PMIx connects, fences and its end. Only its stack tells
// whether a spinning rank computes or waits: `by_stack` says that the stack was read
// (runner/watch/stack_ask.h), and nothing has moved since.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/table.h"
#include "common/base/time.h"
#include "common/domain/ranks/bounds.h"

namespace lockstep {

inline constexpr std::size_t kMaxStandingTextBytes = 256;  // the longest text of a standing
inline constexpr std::size_t kMaxCollectiveCounts = 32;    // the most collective counts of one rank
inline constexpr Rule kStandingTextRule{.bytes = kMaxStandingTextBytes, .cut = Cut::head};
inline constexpr Rule kManyRule{.low = 0, .high = 1 << 30};  // the range of the numbers of threads
                                                             // and processes

enum class Doing {
  starts,      // has not been looked at twice, or has not reached MPI_Init or the rendezvous yet
  computes,    // a thread runs, and its stack, if it was asked, is in no library that waits
  waits_peer,  // is in a call of MPI, NCCL, gloo or c10d, or blocked on a socket to a peer
  reads,       // blocked on a file, a pipe, a child process or a socket to somebody else
  locks,       // blocked on a lock without a time-out (futex), as are all threads that count
  sleeps,      // blocked on a timer alone
  serves,      // blocked in accept or poll on a socket that listens
  stopped,     // the rank is stopped (state T)
  device,      // state D over the whole window
  exited,      // has ended, or its end was reported
};
// The activity in one word: "starts", "computes", "waits", "reads", "locks", "sleeps", "serves",
// "stopped", "device", "exited".
Word describe(Doing doing);
std::string_view to_string(Doing doing);

// How often a rank has launched a collective in one communicator, by NCCL's RAS.
struct CollectiveCount {
  std::string communicator;  // the communicator's hash
  std::string name;          // "AllReduce"
  std::int64_t count = 0;
  static void table(auto& s, auto&& see) {
    see(field<1>, "communicator", s.communicator, kStandingTextRule);
    see(field<2>, "name", s.name, kStandingTextRule);
    see(field<3>, "count", s.count, {.low = -kMostOfRank, .high = kMostOfRank, .cut = Cut::end});
  }
  friend bool operator==(const CollectiveCount&, const CollectiveCount&) = default;
};

// The things that may slow a rank, measured over the last window.
struct Hindrances {
  std::int64_t throttled_milli = 0;  // the cgroup's cpu quota stopped it; thousandths of the window
  std::int64_t queued_milli = 0;     // ready to run, but other processes had the cpus
  std::int64_t disk_wait_milli = 0;  // the main thread waited for block devices
  std::int64_t major_faults = 0;
  std::int64_t cpu_mhz = 0;  // the clock now, of the cpu on which the rank ran last; 0: unknown
  std::int64_t cpu_mhz_at_most = 0;  // 0: unknown
  std::string gpu_held;              // "thermal", "power": what holds down the clocks of its GPUs
  static void table(auto& s, auto&& see) {
    see(field<1>, "throttled_milli", s.throttled_milli, kMeasureRule);
    see(field<2>, "queued_milli", s.queued_milli, kMeasureRule);
    see(field<3>, "disk_wait_milli", s.disk_wait_milli, kMeasureRule);
    see(field<4>, "major_faults", s.major_faults, kMeasureRule);
    see(field<5>, "cpu_mhz", s.cpu_mhz, kMeasureRule);
    see(field<6>, "cpu_mhz_at_most", s.cpu_mhz_at_most, kMeasureRule);
    see(field<7>, "gpu_held", s.gpu_held, kStandingTextRule);
  }
  friend bool operator==(const Hindrances&, const Hindrances&) = default;
};

struct Versions {  // The versions of the libraries in its memory; "": not loaded.
  std::string mpi, nccl, torch;
  friend bool operator==(const Versions&, const Versions&) = default;
};

struct RankStanding {
  int rank = 0;
  int node_rank = 0;
  int pid = 0;  // the pid of the process that `doing` is about, as ranks of this node see it
  Doing doing = Doing::starts;
  std::string call;  // the system call in which it is blocked: "connect"; "": none, or not known
  std::string on;  // the target of that call's descriptor: "10.0.0.4:29500", "/data/a.bin", "pipe"
  std::string own_end;  // the near end of a connection, if `on` is the far end
  std::string at;       // the top of its stack that is the user's: "eval.py:88"; "": not asked
  std::string within;   // the library call around the activity: "MPI_Barrier"; "": none, not asked
  bool by_stack = false;  // `doing`, `at` and `within` follow from its stack, asked at `stack_at`
  Instant stack_at;
  // The call ends by itself after a while, or another thread may go on and end it.
  bool has_timeout = false;
  bool traced = false;  // a debugger or a profiler holds it: nothing follows from its state

  Instant taken;        // when this sample was taken
  Instant since;        // since when nothing has moved
  Instant doing_since;  // since when it does the same (`doing`, and `on` where it is blocked)
  Duration window{0};   // between this sample and the one before; zero: there was none
  Duration still() const { return taken > since ? taken - since : Duration::zero(); }
  Duration doing_for() const {
    return taken > doing_since ? taken - doing_since : Duration::zero();
  }

  // Whether it has reached MPI_Init or the rendezvous; nullopt: this job has neither.
  std::optional<bool> has_met;
  // whether it has connected to PMIx or PMI-1, and finalized
  bool connected = false, finalized = false;
  std::int64_t fences = 0;  // the fences that all ranks of its node have entered; equal on all in
                            // step
  bool in_fence = false;    // a fence has begun and has not ended
  int exit_code = 0;        // set if it has exited; 128 + the number of a signal
  int claims = 1;           // processes that claim this rank

  std::int64_t cpu_milli = 0;  // thousandths of a core over the window, of all its processes
  int threads = 0, threads_running = 0, threads_in_device = 0;  // the threads of all its processes
  int processes = 0;
  int shells = 0;  // the processes that only wait for the process that `doing` is about
  // For a rank that has met others: at the moment of the sample it was blocked on a peer or a lock,
  // whatever it did over the window. Many samples show how long it waits for others between its
  // steps.
  bool pauses = false;
  // The bytes of its sockets to peers since they were opened; closed sockets still count.
  std::int64_t peer_sockets = 0, acked = 0, received = 0;
  std::int64_t unread = 0;       // bytes that have come and that it has not read, now
  std::int64_t unacked = 0;      // segments that are on their way now
  std::string unacked_by;        // the address of the peer that has most of these; "": nobody
  std::int64_t retransmits = 0;  // segments since the sockets were opened
  std::optional<Duration> last_received;  // the time since TCP last received, on the newest socket;
                                          // nullopt: no socket to a peer
  std::int64_t log_bytes = 0, log_lines = 0;
  Hindrances hindrances;
  // The newest counts, and the time of RAS's answer with them (Instant{}: never). If that was more
  // than a window before `taken`, they do not show the rank's present activity.
  std::vector<CollectiveCount> collectives;
  Instant counted;
  Instant counts_since;  // all answers since then had the same counts
  Versions versions;

  static void table(auto& s, auto&& see) {
    see(field<1>, "rank", s.rank, kRankRule);
    see(field<2>, "node_rank", s.node_rank, kNodeRankRule);
    see(field<3>, "pid", s.pid);
    see(field<4>, "doing", s.doing);
    see(field<5>, "call", s.call, kStandingTextRule);
    see(field<6>, "on", s.on, kStandingTextRule);
    see(field<7>, "own_end", s.own_end, kStandingTextRule);
    see(field<8>, "at", s.at, kStandingTextRule);
    see(field<9>, "within", s.within, kStandingTextRule);
    see(field<10>, "by_stack", s.by_stack);
    see(field<11>, "stack_at", s.stack_at);
    see(field<12>, "has_timeout", s.has_timeout);
    see(field<13>, "traced", s.traced);
    see(field<14>, "taken", s.taken);
    see(field<15>, "since", s.since);
    see(field<16>, "doing_since", s.doing_since);
    see(field<17>, "window", s.window);
    see(field<18>, "has_met", s.has_met);
    see(field<19>, "connected", s.connected);
    see(field<20>, "finalized", s.finalized);
    see(field<21>, "fences", s.fences, kMeasureRule);
    see(field<22>, "in_fence", s.in_fence);
    see(field<23>, "exit_code", s.exit_code);
    see(field<24>, "claims", s.claims, {.low = 0, .high = 1 << 20});
    see(field<25>, "cpu_milli", s.cpu_milli, kMeasureRule);
    see(field<26>, "threads", s.threads, kManyRule);
    see(field<27>, "threads_running", s.threads_running, kManyRule);
    see(field<28>, "threads_in_device", s.threads_in_device, kManyRule);
    see(field<29>, "processes", s.processes, kManyRule);
    see(field<47>, "shells", s.shells, kManyRule);
    see(field<48>, "pauses", s.pauses);
    see(field<30>, "peer_sockets", s.peer_sockets, kMeasureRule);
    see(field<31>, "acked", s.acked);
    see(field<32>, "received", s.received);
    see(field<45>, "unread", s.unread);
    see(field<33>, "unacked", s.unacked);
    see(field<46>, "unacked_by", s.unacked_by, kStandingTextRule);
    see(field<34>, "retransmits", s.retransmits);
    see(field<35>, "last_received", s.last_received);
    see(field<36>, "log_bytes", s.log_bytes);
    see(field<37>, "log_lines", s.log_lines);
    see(field<38>, "hindrances", s.hindrances);
    see(field<39>, "collectives", s.collectives, {.count = kMaxCollectiveCounts, .cut = Cut::end});
    see(field<40>, "counted", s.counted);
    see(field<41>, "counts_since", s.counts_since);
    see(field<42>, "mpi", s.versions.mpi, kStandingTextRule);
    see(field<43>, "nccl", s.versions.nccl, kStandingTextRule);
    see(field<44>, "torch", s.versions.torch, kStandingTextRule);
  }
  friend bool operator==(const RankStanding&, const RankStanding&) = default;
};
using RankStandings = std::vector<RankStanding>;  // The standings of ranks, by rank.

inline constexpr Duration kWatchEvery = seconds(5);

}  // namespace lockstep
