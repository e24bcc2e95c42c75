#pragma once
// How a rank ended, or why it never started, as its runner knows it.

#include <string>
#include <string_view>

#include "common/base/fields.h"
#include "common/domain/ranks/exit_report.h"
#include "common/domain/why/list.h"
#include "common/domain/why/why.h"

namespace lockstep {

// The step in which lockstep-spawn failed to start a program; `start`: unknown.
enum class StartStep { start, fork, directory, user, rlimits, cpus, cgroups, stdio, exec };
std::string_view to_string(StartStep step);
constexpr StartStep last_enumerator(StartStep) { return StartStep::exec; }

struct RankNotStarted {
  static constexpr std::string_view kCode = "rank_not_started";
  StartStep step = StartStep::start;
  std::string program;
  bool may_lack_interpreter = false;  // execve gives the same error if a script's interpreter is
                                      // missing
  std::string said;                   // the kernel's words: "No such file or directory"
  LOCKSTEP_FIELDS(RankNotStarted, step, program, may_lack_interpreter, said);
};

struct StartsGivenUp {  // the ranks of this node were being ended
  static constexpr std::string_view kCode = "starts_given_up";
  LOCKSTEP_FIELDS(StartsGivenUp);
};

struct SpawnIsGone {  // nobody is left to start a rank
  static constexpr std::string_view kCode = "spawn_is_gone";
  LOCKSTEP_FIELDS(SpawnIsGone);
};

struct KilledForMemory {
  static constexpr std::string_view kCode = "killed_for_memory";
  LOCKSTEP_FIELDS(KilledForMemory);
};

struct KilledByUser {  // A user ended it with `lockstep job signal`.
  static constexpr std::string_view kCode = "killed_by_user";
  LOCKSTEP_FIELDS(KilledByUser);
};

struct KilledFromOutside {  // Neither Lockstep nor a user of it sent the signal.
  static constexpr std::string_view kCode = "killed_from_outside";
  std::string said;  // the line of the kernel's log; "": nothing
  LOCKSTEP_FIELDS(KilledFromOutside, said);
};

struct NotFinalized {  // The rank exited with 0 after MPI_Init, without MPI_Finalize.
  static constexpr std::string_view kCode = "not_finalized";
  LOCKSTEP_FIELDS(NotFinalized);
};

struct NeverJoinedMpi {  // Other ranks joined: this one saw itself as rank 0 of 1.
  static constexpr std::string_view kCode = "never_joined_mpi";
  LOCKSTEP_FIELDS(NeverJoinedMpi);
};

struct CalledMpiAbort {
  static constexpr std::string_view kCode = "called_mpi_abort";
  int abort_code = 0;
  std::string said;  // the words that the rank gave
  LOCKSTEP_FIELDS(CalledMpiAbort, abort_code, said);
};

struct MpiInitFailed {  // The rank's MPI_Init never reached the runner.
  static constexpr std::string_view kCode = "mpi_init_failed";
  bool is_mpich = false;  // the MPI library is MPICH or one of its family
  LOCKSTEP_FIELDS(MpiInitFailed, is_mpich);
};

struct CrashedIn {  // the innermost frame of the thread that failed
  static constexpr std::string_view kCode = "crashed_in";
  std::string function;
  std::string file;  // the file's name without its folder; "": unknown
  int line = 0;      // 0: unknown
  LOCKSTEP_FIELDS(CrashedIn, function, file, line);
};

// The kernel refused processes and threads to this rank.
struct WasRefusedForks {
  static constexpr std::string_view kCode = "was_refused_forks";
  long long refused = 0;
  long long limit = 0;
  bool is_of_all_jobs = false;  // the limit is of all jobs of the node together
  LOCKSTEP_FIELDS(WasRefusedForks, refused, limit, is_of_all_jobs);
};

// The whole end of a rank, for places without its RankExit.
struct RankEnded {
  static constexpr std::string_view kCode = "rank_ended";
  int rank = 0;
  Cause cause = Cause::exit_code;
  int exit_code = 0;
  int signal = 0;
  bool started = true;
  Why why;  // see RankExit
  LOCKSTEP_FIELDS(RankEnded, rank, cause, exit_code, signal, started, why);
};

using RankReasons = List<RankNotStarted, StartsGivenUp, SpawnIsGone, KilledForMemory, KilledByUser,
                         KilledFromOutside, NotFinalized, NeverJoinedMpi, CalledMpiAbort,
                         MpiInitFailed, CrashedIn, WasRefusedForks, RankEnded>;

}  // namespace lockstep
