// How ends, retries and cancels are said, where one reason has several sentences.

#include "launcher/words/jobs/say_ends.h"

#include <gmock/gmock.h>

#include "common/domain/why/jobs/ends.h"
#include "common/domain/why/jobs/events.h"
#include "common/domain/why/jobs/named_found.h"
#include "common/domain/why/jobs/orders.h"
#include "common/domain/why/nodes/losses.h"
#include "common/domain/why/nodes/nodes.h"
#include "common/domain/why/ranks/parts.h"
#include "launcher/words/why.h"

namespace lockstep::words {
namespace {

using ::testing::HasSubstr;

struct Said {
  Why why;
  std::string text;
};

void expect_all(const std::vector<Said>& cases) {
  for (const Said& one : cases) EXPECT_EQ(text_of(one.why), one.text);
}

TEST(EndWords, OfARank) {
  expect_all({
      {RankFailed{3, "n2", Cause::exit_code, 7}, "rank 3 (node n2) exited with code 7"},
      {RankFailed{3, "n2", Cause::exit_code, 15, 0, told("MPI_Init failed")},
       "rank 3 (node n2) exited with code 15: MPI_Init failed"},
      {RankFailed{3, "n2", Cause::signal, 0, 9},
       "rank 3 (node n2) was killed by signal 9 (SIGKILL)"},
      {RankFailed{3, "n2", Cause::signal, 0, 60}, "rank 3 (node n2) was killed by signal 60"},
      {RankFailed{3, "n2", Cause::out_of_memory, 0, 9},
       "rank 3 (node n2) ran out of memory and was killed by the kernel"},
      {RankFailed{3, "n2", Cause::mpi_abort, 42, 0, told("MPI_Abort(42)")},
       "rank 3 (node n2) called MPI_Abort(42)"},
      {RankFailed{3, "n2", Cause::mpi_abort, 0}, "rank 3 (node n2) called MPI_Abort(0)"},
      {RankFailed{3, "n2", Cause::exit_without_finalize, 0, 0, told("it is said already")},
       "rank 3 (node n2) exited with code 0 without calling MPI_Finalize"},
      {RankFailed{2, "n2", Cause::never_connected},
       "rank 2 (node n2) ended without connecting to its MPI server although other ranks did: it "
       "ran as \"rank 0 of 1\"; check that it uses the job's MPI library"},
      {RankFailed{3, "n2", Cause::command_not_found, 127, 0,
                  told("trian.py: No such file or directory")},
       "rank 3 (node n2) could not start: command not found: trian.py: No such file or directory"},
      {RankFailed{3, "n2", Cause::command_not_executable, 126},
       "rank 3 (node n2) could not start: the command is not executable"},
      {RankFailed{3, "n2", Cause::start_failed, 0, 0, told("fork: no")},
       "rank 3 (node n2) could not be started: fork: no"},
  });
}

TEST(EndWords, InShortAreThoseOfARankAlone) {
  EXPECT_EQ(rank_end_in_short(Cause::exit_code, 7), "exited with code 7");
  EXPECT_EQ(rank_end_in_short(Cause::signal, 137), "was killed by SIGKILL (exit code 137)");
  EXPECT_EQ(rank_end_in_short(Cause::signal, 162), "was killed by signal 34 (exit code 162)");
  EXPECT_EQ(rank_end_in_short(Cause::out_of_memory, 137),
            "was killed because it ran out of memory (OOM; exit code 137)");
  EXPECT_EQ(rank_end_in_short(Cause::mpi_abort, 42), "called MPI_Abort (exit code 42)");
  EXPECT_EQ(rank_end_in_short(Cause::command_not_found, 127),
            "could not start: command not found (exit code 127)");
  EXPECT_EQ(rank_end_in_short(Cause::node_lost, 125), "");
}

TEST(EndWords, KnowTheNamesOfSignals) {
  EXPECT_EQ(signal_name(11), "SIGSEGV");
  EXPECT_EQ(signal_name(63), "");
}

TEST(EndWords, OfANode) {
  NodeFailed late{"n1", Cause::timeout};
  late.timeout = minutes(2);
  NodeFailed unknown{"n1", Cause::account_missing, told("no such user")};
  unknown.run_as = "bob";
  NodeFailed unsolved{"n2", Cause::start_failed, told("no network")};
  unsolved.before = {{"n1", told(std::string(1'000, 'x'))}, {"n3", told("nor here")}};
  unsolved.more_before = 2;
  expect_all({
      {NodeFailed{"n1", Cause::timeout, told("its runner says more")},
       "the job ran longer than limits.timeout"},
      {late, "the job ran longer than limits.timeout (2m00s)"},
      {NodeFailed{"n1", Cause::node_lost, NodeNotHeard{seconds(10)}},
       "node n1 was lost: it has not reported for 10.0s"},
      {NodeFailed{"n2", Cause::runner_lost, told("killed by signal 9")},
       "the runner on node n2 died, and its ranks with it: killed by signal 9"},
      {unknown, "node n1 cannot run jobs as bob: no such user"},
      {NodeFailed{"n1", Cause::start_failed, IncompleteReport{1, 2}},
       "the job could not be started on node n1: its final report has 1 of 2 ranks"},
      {StoppedUnasked{"n1"}, "node n1 stopped its ranks although nobody asked for it"},
      {NodeEndedRanks{"n1", told("rank 3 failed")},
       "node n1 ended its ranks because rank 3 failed"},
      {NotPrepared{"n2", minutes(30)}, "node n2 was not prepared within 30m00s"},
      {NotPrepared{"n2", minutes(30), "fetching 3.1/12.0 MiB"},
       "node n2 was not prepared within 30m00s (last: fetching 3.1/12.0 MiB)"},
      {NodePreempted{"n1", MachineEnds{seconds(60)}},
       "preempted: node n1 is taken away: its machine ends after 1m00s"},
  });
  const std::string text = text_of(unsolved);
  EXPECT_THAT(text, HasSubstr("on node n2: no network; node n1 reported before: xxx"));
  EXPECT_THAT(text, HasSubstr("; node n3 reported before: nor here; and 2 more"));
  EXPECT_LT(text.size(), 600U) << "what each said is cut";
}

TEST(EndWords, OfAHangAreTheFindings) {
  Found found;
  found.kind = FoundKind::stopped;
  found.verdict = FoundVerdict::hangs;
  found.ranks = {{3, 1, "stopped", "", "", "", 0}};
  found.waiting = {0, 1, 2};
  found.lasting = seconds(130);
  const auto name_of = [](int node_rank) { return "n" + std::to_string(node_rank + 1); };
  const NamedFound named = lockstep::named(found, "train", 1, name_of);
  expect_all({
      {RanksHang{}, "the ranks of the job hang"},
      {RanksHang{named},
       "the ranks hang: rank 3 on n2 has been stopped for 130 s (SIGSTOP, Ctrl-Z or a debugger); "
       "ranks 0–2 wait for it"},
  });
  EXPECT_THAT(text_of(RanksFound{named}),
              ::testing::AllOf(HasSubstr("hang: rank 3 on n2 has been stopped for 130 s"),
                               HasSubstr("; the stacks of all ranks are kept: "),
                               HasSubstr("prints those of n1")));
  EXPECT_EQ(text_of(RanksGoOn{named}), "rank 3 on n2 goes on again");
}

TEST(EndWords, OfWhatTheClocksDoNotTell) {
  const Why first = RankFailed{0, "n1", Cause::exit_code, 1};
  const Why other = RankFailed{2, "n2", Cause::exit_code, 3};
  const std::string both =
      "rank 0 (node n1) exited with code 1; or first rank 2 (node n2) exited with code 3";
  const std::string clocks =
      ": they failed within 4.0 ms, and the nodes' clocks are only known to 5.0 ms";
  expect_all({
      {FirstOfSeveral{first, other, 0, milliseconds(4), milliseconds(5)}, both + clocks},
      {FirstOfSeveral{first, other, 2, milliseconds(4), milliseconds(5)},
       both + " (or one of 2 more)" + clocks},
  });
}

TEST(EndWords, OfAJobSayWhatElseThereIs) {
  const Why failed = RankFailed{0, "n1", Cause::exit_code, 1};
  const Why lost = LogsWithoutSpace{Bytes{4096}, "n1"};
  const std::string said_lost =
      "the last 4.0 KiB of its logs on node n1 were not kept, since the job was canceled and the "
      "launcher had no space for them";
  expect_all({
      {EndedWith{failed, {GivenUpAfter{4}, lost}},
       "rank 0 (node n1) exited with code 1 (given up after 4 attempts); " + said_lost},
      {EndedWith{failed, {NorOnNodes{{"n1", "n2"}, 3}}},
       "rank 0 (node n1) exited with code 1 (nor on n1, n2 and 3 more)"},
      {EndedWith{AllRanksCompleted{}, {lost}}, said_lost},
      {EndedWith{AllRanksCompleted{}, {lost, LogsCameLate{"n2", 1}}},
       said_lost +
           "; its logs may lack their last lines: those of node n2 and 1 more did not all arrive "
           "in the time that the launcher waits for them (--logs-timeout)"},
      {MachinesEndTooEarly{seconds(60), 3, minutes(2), seconds(50)},
       "the machines of its target end after 1m00s, and the job did not end 3 times (it may run "
       "for 2m00s): give the machines more time, or let the job save checkpoints"},
      {MachinesEndTooEarly{seconds(60), 3, std::nullopt, milliseconds(50'700)},
       "the machines of its target end after 1m00s, and the job did not end 3 times (it was there "
       "for 50.0s the last time): give the machines more time, or let the job save checkpoints"},
  });
}

TEST(EndWords, OfACancel) {
  JobCanceled whole{AskedBy{"bob"}};
  whole.failed_before = RankFailed{0, "n1", Cause::exit_code, 3};
  whole.not_kept = NotKeptOutput{OutputKind::named, "model", "n1", "no room"};
  whole.more_not_kept = 2;
  expect_all({
      {JobCanceled{}, "canceled"},
      {JobCanceled{AskedBy{"bob"}, true}, "canceled by bob while it waited in the queue"},
      {JobCanceled{AskedByAttempt{{JobId("p"), 1}}}, "canceled by attempt p.1"},
      {JobCanceled{LauncherShutsDown{}}, "canceled by lockstep down"},
      {JobCanceled{ParentEnded{JobId("p"), 1}}, "canceled by job p, whose attempt 1 ended"},
      {JobCanceled{ParentCanceled{JobId("p")}}, "canceled by job p, which was canceled"},
      {JobCanceled{PipelineFailed{JobId("p"), "a"}},
       "canceled by pipeline p, because step 'a' failed"},
      {whole,
       "canceled by bob; it had failed before: rank 0 (node n1) exited with code 3; output 'model' "
       "of node n1: no room (and 2 more, see `lockstep job show`)"},
  });
}

TEST(EndWords, OfARetryOpenWithTheEnd) {
  expect_all({
      {RetriedAfter{told("boom"), ChargedRetry{1, 3}}, "boom; retry 1 of 3"},
      {RetriedAfter{told("boom"), UnchargedRetry{Uncharged::port_taken}},
       "boom; trying another port, which does not count as a retry"},
      {UnchargedRetry{Uncharged::low_priority},
       "its target is low_priority, so this does not count as a retry"},
  });
}

TEST(EndWords, OfADeletion) {
  expect_all({
      {DeletedBy{"ann"}, "deleted by ann"},
      {TooMuchKept{KeptWhat::jobs, 4, 2, "ann", 3},
       "4 jobs have ended, more than --keep-jobs 2; ann has most, 3"},
      {TooMuchKept{KeptWhat::logs, 135, 100, "ann", 130},
       "ended jobs have 135 B of logs, more than --keep-logs 100 B; ann has most, 130 B"},
      {QuotaOfKept{"alice", 3, 2}, "quota: user 'alice' has 3 ended jobs, and 2 are kept"},
  });
}

TEST(EventWords, OfOutputsAndSignals) {
  expect_all({
      {OutputsCollected{{{OutputKind::outputs, "", true, 3, mebibytes(2)},
                         {OutputKind::logs, "", true, 1, Bytes{12}, 1},
                         {OutputKind::named, "model", false}}},
       "./outputs: 3 files, 2.0 MiB; ./logs: 1 file, 12 B, 1 left out; output 'model': not "
       "collected"},
      {RanksSignaled{10, 3, "alice"}, "SIGUSR1 to rank 3, by alice"},
      {RanksSignaled{60, std::nullopt, "alice"}, "signal 60 to the ranks of the node, by alice"},
      {LastLogsLost{}, "its last logs did not arrive in time"},
      {JobIs{JobStatus::completed}, "Completed"},
      {JobIs{JobStatus::failed, told("boom")}, "Failed: boom"},
      {PlacedOn{{"n1", "n2"}, 3}, "on n1, n2 and 3 more"},
      {NodesAreReady{1}, "the node is ready"},
      {NodesAreReady{4}, "all 4 nodes are ready"},
  });
}

TEST(LossWords, OfAClone) {
  EXPECT_THAT(text_of(NodeCloned{"n1", NodeId(7), 0xc10e, 0xab}),
              HasSubstr("as node n1 (id 7): sessions c10e and ab are both alive; the machine's"));
  EXPECT_THAT(text_of(NodeCloned{"n1", NodeId(7), 0xc10e, std::nullopt}),
              HasSubstr("session c10e was replaced by a newer one; the machine's image"));
}

}  // namespace
}  // namespace lockstep::words
