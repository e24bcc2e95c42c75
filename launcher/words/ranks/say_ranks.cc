#include "launcher/words/ranks/say_ranks.h"

#include <fmt/format.h>

#include "common/base/utf8.h"
#include "common/domain/ranks/limits.h"
#include "launcher/words/why.h"

namespace lockstep::words {

namespace {

constexpr std::size_t kMostOfFrame = 200;

std::string_view step_text(StartStep step) {
  switch (step) {
    case StartStep::start: return "start";
    case StartStep::fork: return "fork";
    case StartStep::directory: return "enter the working directory";
    case StartStep::user: return "become the run-as user";
    case StartStep::rlimits: return "set limits";
    case StartStep::cpus: return "bind to cpus";
    case StartStep::cgroups: return "join cgroups";
    case StartStep::stdio: return "set up stdio";
    case StartStep::exec: return "exec";
  }
  return "start";
}

}  // namespace

std::string processes_text(long long count) {
  return fmt::format("{} {}", with_commas(count),
                     count == 1 ? "process or thread" : "processes or threads");
}

std::string refused_text(long long refused, long long limit, bool is_of_all_jobs) {
  if (is_of_all_jobs)
    return fmt::format("{}: all jobs of this node together may have {}", processes_text(refused),
                       with_commas(limit));
  return fmt::format("{}: its limit is {} (--pids-limit; lockstep.limits.pids in a job file)",
                     processes_text(refused), with_commas(limit));
}

std::string say(const RankNotStarted& reason) {
  if (reason.step != StartStep::exec)
    return fmt::format("cannot {}: {}", step_text(reason.step), reason.said);
  return fmt::format("{}{}: {}", reason.program,
                     reason.may_lack_interpreter ? " (or the interpreter in its #! line)" : "",
                     reason.said);
}

std::string say(const StartsGivenUp&) {
  return "it was not started, because the ranks of this node were being ended";
}

std::string say(const SpawnIsGone&) { return "lockstep-spawn is gone"; }

std::string say(const KilledForMemory&) {
  return "the kernel killed it because its memory limit was reached";
}

std::string say(const KilledByUser&) { return "sent with `lockstep job signal`"; }

std::string say(const KilledFromOutside& reason) {
  if (!reason.said.empty()) return "not sent by Lockstep; the kernel's log says: " + reason.said;
  return "not sent by Lockstep; a person or a service of that node sent it: see `journalctl` "
         "there, and run the job again";
}

std::string say(const NotFinalized&) {
  return "it exited with code 0 after MPI_Init but did not call MPI_Finalize";
}

std::string say(const NeverJoinedMpi&) {
  return "it ended without joining the job's MPI world although other ranks did: it saw itself as "
         "rank 0 of 1; check that all ranks run the same MPI library";
}

std::string say(const CalledMpiAbort& reason) {
  return fmt::format("MPI_Abort({}){}{}", reason.abort_code, reason.said.empty() ? "" : ": ",
                     reason.said);
}

std::string say(const MpiInitFailed& reason) {
  return std::string("MPI_Init failed before it reached the job's runner; ") +
         (reason.is_mpich
              ? "its MPI library is MPICH or one of its family: whatever starts the MPI "
                "program must leave descriptor 20 (PMI_FD) open, as Python's subprocess does "
                "with close_fds=False; a build with PMIx alone needs "
                "MPIR_CVAR_PMI_VERSION=x, and one with PMI-2 alone cannot join"
              : "its MPI library may be too old, too new or built without PMIx: use Open MPI "
                "4.1 or later, MPICH or Intel MPI");
}

std::string say(const CrashedIn& reason) {
  std::string frame = reason.function.empty() ? "??" : reason.function;
  if (!reason.file.empty()) frame += " at " + reason.file;
  if (!reason.file.empty() && reason.line > 0) frame += ":" + std::to_string(reason.line);
  return "in " + std::string(head(frame, kMostOfFrame));
}

std::string say(const WasRefusedForks& reason) {
  return "it was refused " + refused_text(reason.refused, reason.limit, reason.is_of_all_jobs);
}

std::string say(const RankEnded& reason) {
  const std::string why = text_of(reason.why);
  if (reason.cause == Cause::mpi_abort) return fmt::format("rank {} called {}", reason.rank, why);
  const std::string end = !reason.started ? "could not be started"
                          : reason.signal != 0
                              ? fmt::format("was killed by signal {}", reason.signal)
                              : fmt::format("exited with code {}", reason.exit_code);
  return fmt::format("rank {} {}{}{}", reason.rank, end, why.empty() ? "" : ": ", why);
}

}  // namespace lockstep::words
