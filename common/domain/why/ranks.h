#pragma once
// How a rank ended, or why it never started, as its runner knows it.

#include <string>
#include <string_view>

#include "common/domain/exit_report.h"
#include "common/domain/why/list.h"
#include "common/domain/why/why.h"

namespace lockstep {

// What lockstep-spawn does to start a program; `start`: unknown.
enum class StartStep { start, fork, directory, user, rlimits, cpus, cgroups, stdio, exec };
std::string_view to_string(StartStep step);
constexpr StartStep last_enumerator(StartStep) { return StartStep::exec; }

struct RankNotStarted {
  static constexpr std::string_view kCode = "rank_not_started";
  StartStep step = StartStep::start;
  std::string program;
  bool may_lack_interpreter = false;  // execve says the same where that of a script is missing
  std::string said;                   // by the kernel: "No such file or directory"
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("step", self.step);
    see("program", self.program);
    see("may_lack_interpreter", self.may_lack_interpreter);
    see("said", self.said);
  }
  friend bool operator==(const RankNotStarted&, const RankNotStarted&) = default;
};

struct StartsGivenUp {  // the ranks of this node were being ended
  static constexpr std::string_view kCode = "starts_given_up";
  template <class Self, class See>
  static void fields(Self&, See&&) {}
  friend bool operator==(const StartsGivenUp&, const StartsGivenUp&) = default;
};

struct SpawnIsGone {  // nobody is left to start a rank
  static constexpr std::string_view kCode = "spawn_is_gone";
  template <class Self, class See>
  static void fields(Self&, See&&) {}
  friend bool operator==(const SpawnIsGone&, const SpawnIsGone&) = default;
};

struct KilledForMemory {
  static constexpr std::string_view kCode = "killed_for_memory";
  template <class Self, class See>
  static void fields(Self&, See&&) {}
  friend bool operator==(const KilledForMemory&, const KilledForMemory&) = default;
};

struct KilledByUser {  // with `lockstep job signal`
  static constexpr std::string_view kCode = "killed_by_user";
  template <class Self, class See>
  static void fields(Self&, See&&) {}
  friend bool operator==(const KilledByUser&, const KilledByUser&) = default;
};

struct KilledFromOutside {  // by neither Lockstep nor a user of it
  static constexpr std::string_view kCode = "killed_from_outside";
  std::string said;  // by the kernel's log; "": nothing
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("said", self.said);
  }
  friend bool operator==(const KilledFromOutside&, const KilledFromOutside&) = default;
};

struct NotFinalized {  // it exited with 0 after MPI_Init
  static constexpr std::string_view kCode = "not_finalized";
  template <class Self, class See>
  static void fields(Self&, See&&) {}
  friend bool operator==(const NotFinalized&, const NotFinalized&) = default;
};

struct NeverJoinedMpi {  // although other ranks did: it saw itself as rank 0 of 1
  static constexpr std::string_view kCode = "never_joined_mpi";
  template <class Self, class See>
  static void fields(Self&, See&&) {}
  friend bool operator==(const NeverJoinedMpi&, const NeverJoinedMpi&) = default;
};

struct CalledMpiAbort {
  static constexpr std::string_view kCode = "called_mpi_abort";
  int abort_code = 0;
  std::string said;  // by the rank
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("abort_code", self.abort_code);
    see("said", self.said);
  }
  friend bool operator==(const CalledMpiAbort&, const CalledMpiAbort&) = default;
};

struct MpiInitFailed {  // it never reached the runner
  static constexpr std::string_view kCode = "mpi_init_failed";
  bool is_mpich = false;  // its MPI library is MPICH or one of its family
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("is_mpich", self.is_mpich);
  }
  friend bool operator==(const MpiInitFailed&, const MpiInitFailed&) = default;
};

struct CrashedIn {  // the innermost frame of the thread that failed
  static constexpr std::string_view kCode = "crashed_in";
  std::string function;
  std::string file;  // without its folder; "": unknown
  int line = 0;      // 0: unknown
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("function", self.function);
    see("file", self.file);
    see("line", self.line);
  }
  friend bool operator==(const CrashedIn&, const CrashedIn&) = default;
};

// The kernel refused processes and threads to this rank.
struct WasRefusedForks {
  static constexpr std::string_view kCode = "was_refused_forks";
  long long refused = 0;
  long long limit = 0;
  bool is_of_all_jobs = false;  // the limit is of all jobs of the node together
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("refused", self.refused);
    see("limit", self.limit);
    see("is_of_all_jobs", self.is_of_all_jobs);
  }
  friend bool operator==(const WasRefusedForks&, const WasRefusedForks&) = default;
};

// The whole of a rank's end, where no RankExit of it is at hand.
struct RankEnded {
  static constexpr std::string_view kCode = "rank_ended";
  int rank = 0;
  Cause cause = Cause::exit_code;
  int exit_code = 0;
  int signal = 0;
  bool started = true;
  Why why;  // see RankExit
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("rank", self.rank);
    see("cause", self.cause);
    see("exit_code", self.exit_code);
    see("signal", self.signal);
    see("started", self.started);
    see("why", self.why);
  }
  friend bool operator==(const RankEnded&, const RankEnded&) = default;
};

using RankReasons = List<RankNotStarted, StartsGivenUp, SpawnIsGone, KilledForMemory, KilledByUser,
                         KilledFromOutside, NotFinalized, NeverJoinedMpi, CalledMpiAbort,
                         MpiInitFailed, CrashedIn, WasRefusedForks, RankEnded>;

}  // namespace lockstep
