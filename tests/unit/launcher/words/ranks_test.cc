// What the golden file does not show: each form of a sentence about the end of a rank.

#include "launcher/words/ranks/say_ranks.h"

#include <gmock/gmock.h>

#include "common/domain/why/ranks/ranks.h"
#include "launcher/words/why.h"

namespace lockstep::words {
namespace {

using ::testing::HasSubstr;

TEST(RankWords, AProgramThatDidNotStart) {
  EXPECT_EQ(say(RankNotStarted{StartStep::exec, "train.py", false, "Permission denied"}),
            "train.py: Permission denied");
  EXPECT_EQ(say(RankNotStarted{StartStep::exec, "./a", true, "No such file or directory"}),
            "./a (or the interpreter in its #! line): No such file or directory");
  EXPECT_EQ(say(RankNotStarted{StartStep::user, "", false, "Operation not permitted"}),
            "cannot become the run-as user: Operation not permitted");
}

TEST(RankWords, WhoSentTheSignal) {
  EXPECT_EQ(say(KilledFromOutside{"Out of memory: Killed process 7 (a)"}),
            "not sent by Lockstep; the kernel's log says: Out of memory: Killed process 7 (a)");
  EXPECT_EQ(say(KilledFromOutside{}),
            "not sent by Lockstep; a person or a service of that node sent it: see `journalctl` "
            "there, and run the job again");
}

TEST(RankWords, MpiAbortWithAndWithoutAMessage) {
  EXPECT_EQ(say(CalledMpiAbort{42, "bad input"}), "MPI_Abort(42): bad input");
  EXPECT_EQ(say(CalledMpiAbort{42, ""}), "MPI_Abort(42)");
}

TEST(RankWords, MpiInitIsExplainedByTheLibrary) {
  EXPECT_THAT(say(MpiInitFailed{true}), HasSubstr("descriptor 20 (PMI_FD)"));
  EXPECT_THAT(say(MpiInitFailed{true}), HasSubstr("MPIR_CVAR_PMI_VERSION=x"));
  EXPECT_THAT(say(MpiInitFailed{false}), HasSubstr("may be too old"));
}

TEST(RankWords, TheFrameInWhichItFailed) {
  EXPECT_EQ(say(CrashedIn{"solve", "solve.c", 12}), "in solve at solve.c:12");
  EXPECT_EQ(say(CrashedIn{"solve", "solve.c", 0}), "in solve at solve.c");
  EXPECT_EQ(say(CrashedIn{"solve", "", 0}), "in solve");
  EXPECT_EQ(say(CrashedIn{std::string(1'000, 'f'), "solve.c", 12}).size(), 203U);
}

TEST(RankWords, ForksThatTheKernelRefused) {
  EXPECT_EQ(say(WasRefusedForks{512, 4'096, false}),
            "it was refused 512 processes or threads: its limit is 4,096 (--pids-limit; "
            "lockstep.limits.pids in a job file)");
  EXPECT_EQ(say(WasRefusedForks{1, 28'672, true}),
            "it was refused 1 process or thread: all jobs of this node together may have 28,672");
}

TEST(RankWords, TheWholeOfAnEnd) {
  EXPECT_EQ(say(RankEnded{0, Cause::exit_code, 3, 0, true, {}}), "rank 0 exited with code 3");
  EXPECT_EQ(say(RankEnded{1, Cause::signal, 0, 9, true, KilledByUser{}}),
            "rank 1 was killed by signal 9: sent with `lockstep job signal`");
  EXPECT_EQ(say(RankEnded{2, Cause::mpi_abort, 42, 0, true, CalledMpiAbort{42, "bad input"}}),
            "rank 2 called MPI_Abort(42): bad input");
  EXPECT_EQ(say(RankEnded{3, Cause::start_failed, 125, 0, false, SpawnIsGone{}}),
            "rank 3 could not be started: lockstep-spawn is gone");
}

}  // namespace
}  // namespace lockstep::words
