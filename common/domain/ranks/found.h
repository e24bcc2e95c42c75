#pragma once
// The findings about the ranks of a gang: which ranks wait, for whom, and which are stopped, slow
// or gone. The runner of node rank 0 compares the ranks of all nodes and makes the findings; the
// launcher keeps the newest, and launcher/words turns each into text. A finding has numbers and
// names only: a node makes no sentences.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/fields.h"
#include "common/base/result.h"
#include "common/base/table.h"
#include "common/base/time.h"
#include "common/domain/ranks/bounds.h"

namespace lockstep {

enum class FoundKind {
  not_started,         // has not reached MPI_Init, or the rendezvous, while others have
  waits,               // ranks wait for `ranks`, which do something else (compute, read, sleep)
  cycle,               // ranks wait for each other, and nothing moves
  stopped,             // a rank is stopped (state T)
  device_wait,         // a rank is in state D
  peer_gone,           // ranks wait for one that has exited, or whose node cannot be reached
  unequal_counts,      // collective counts of the ranks differ and do not move
  missed_fence,        // some ranks are in a fence that others can never enter
  two_claims,          // two processes claim one rank
  left_early,          // a rank exited with 0 while others wait for it
  slow,                // a rank is slower than the median
  different_versions,  // the ranks have different versions of MPI, NCCL or torch
};
Word describe(FoundKind kind);
std::string_view to_string(FoundKind kind);
constexpr FoundKind last_enumerator(FoundKind) { return FoundKind::different_versions; }

// `waits` is neutral: nothing is ever done for it. Only `hangs` is an alarm, and lets
// lockstep.on_hang act.
enum class FoundVerdict { notice, waits, hangs };
Word describe(FoundVerdict verdict);
std::string_view to_string(FoundVerdict verdict);
constexpr FoundVerdict last_enumerator(FoundVerdict) { return FoundVerdict::hangs; }

// The subject of Found::fact, where the text depends on it.
enum class FoundAbout {
  named,       // `fact` is a name, or empty
  rendezvous,  // not_started: the rendezvous, where the ranks of a PyTorch gang meet first
  lock,        // cycle: threads of one rank wait for a lock
};
Word describe(FoundAbout about);
std::string_view to_string(FoundAbout about);
constexpr FoundAbout last_enumerator(FoundAbout) { return FoundAbout::lock; }

inline constexpr std::size_t kMaxFound = 32;
inline constexpr std::size_t kMaxFoundRanks = 16;
inline constexpr std::size_t kMaxFoundWaiting = 4'096;
inline constexpr std::size_t kMaxFoundTextBytes = 256;  // the longest text of a finding

// The rule of a text. A sender may have more than these limits: a text from a rank never makes a
// message unreadable.
inline constexpr Rule kFoundTextRule{.bytes = kMaxFoundTextBytes, .cut = Cut::head};

// The state of one rank at the moment of the finding.
struct FoundRank {
  int rank = 0;
  int node_rank = 0;
  std::string doing;  // the activity in one word: to_string(Doing)
  std::string call;   // the system call in which it is blocked: "connect"; "": none
  std::string on;     // the target of that call's descriptor: "10.0.0.4:29500", "/data/a.bin"
  std::string at;     // the top of its stack that is the user's: "eval.py:88"; "": not known
  std::int64_t cpu_milli = 0;  // thousandths of a core, over the window of the finding
  static void table(auto& s, auto&& see) {
    see(field<1>, "rank", s.rank, kRankRule);
    see(field<2>, "node_rank", s.node_rank, kNodeRankRule);
    see(field<3>, "doing", s.doing, kFoundTextRule);
    see(field<4>, "call", s.call, kFoundTextRule);
    see(field<5>, "on", s.on, kFoundTextRule);
    see(field<6>, "at", s.at, kFoundTextRule);
    see(field<7>, "cpu_milli", s.cpu_milli, kMeasureRule);
  }
  LOCKSTEP_FIELDS(FoundRank, rank, node_rank, doing, call, on, at, cpu_milli);
};

struct Found {
  FoundKind kind = FoundKind::waits;
  FoundVerdict verdict = FoundVerdict::notice;
  std::vector<FoundRank> ranks;  // the ranks that differ, the named one first; at most
                                 // kMaxFoundRanks
  std::vector<int> waiting;      // the ranks that wait for them, sorted; at most kMaxFoundWaiting
  Duration lasting{0};           // the time that it had lasted when it was found
  Instant since;                 // the beginning, on node rank 0's clock
  std::string fact;  // a name that goes with the kind: a collective, a version, a reason
  std::int64_t here = 0, elsewhere = 0;  // the numbers that differ: counts, milli of the median
  FoundAbout about = FoundAbout::named;
  static void table(auto& s, auto&& see) {
    see(field<1>, "kind", s.kind);
    see(field<2>, "verdict", s.verdict);
    see(field<3>, "ranks", s.ranks, {.count = kMaxFoundRanks, .cut = Cut::end});
    see(field<4>, "waiting", s.waiting,
        {.low = 0, .high = kMaxRankNumber, .count = kMaxFoundWaiting, .cut = Cut::end});
    see(field<5>, "lasting", s.lasting);
    see(field<6>, "since", s.since);
    see(field<7>, "fact", s.fact, kFoundTextRule);
    see(field<8>, "here", s.here);
    see(field<9>, "elsewhere", s.elsewhere);
    see(by_hand<10>, "about", s.about);
  }
  friend bool operator==(const Found&, const Found&) = default;
};
// All findings that hold now; the next list replaces them, and an empty one means that nothing
// holds any more.
using FoundList = std::vector<Found>;

enum class OnHang { report, stacks, fail, retry };
Word describe(OnHang what);
std::string_view to_string(OnHang what);
std::optional<OnHang> on_hang_from(std::string_view word);

// The file in the job's folder of logs that has the stacks of a node's ranks, with OnHang::stacks.
std::string stacks_file(std::uint32_t attempt, int node_rank);

struct HangPolicy {
  Duration after = seconds(120);  // lockstep.hang_after; zero: never look
  OnHang on = OnHang::report;     // lockstep.on_hang
  friend bool operator==(const HangPolicy&, const HangPolicy&) = default;
};
// The least hang_after: shorter times would find many pauses. Zero means never.
inline constexpr Duration kLeastHangAfter = seconds(10);
inline constexpr Duration kMostHangAfter = minutes(7 * 24 * 60);
// Reads a time, or "off". Returns invalid_argument for any other text.
Result<Duration> hang_after_from(const std::string& text);
// Checks the policy. Errors begin with the key: "lockstep.hang_after: ".
Status validate(const HangPolicy& policy);

}  // namespace lockstep
