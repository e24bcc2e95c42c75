// Each finding in English: the cause and its place, then what to do.

#include "launcher/words/found/say_found.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/launcher/words/gang_of_four.h"

namespace lockstep::words {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string what(const Found& found) { return say(found, kTrain).what; }
std::string remedy(const Found& found) { return say(found, kTrain).remedy; }

TEST(FoundWords, ARankThatHasNotStarted) {
  Found found = finding(FoundKind::not_started,
                        {rank_that(3, "starts", "", "connect", "10.0.0.4:29500")}, seconds(30));
  found.fact = "MPI_Init";
  EXPECT_EQ(what(found),
            "rank 3 on n3 has not reached MPI_Init for 30 s; it is in connect() to 10.0.0.4:29500");
  EXPECT_THAT(remedy(found), HasSubstr("n3 may reach 10.0.0.4:29500"));
  found.fact.clear();
  found.ranks = {rank_that(2, "computes", "setup.py:9"), rank_that(3, "computes")};
  EXPECT_EQ(what(found),
            "ranks 2–3 on n2 and n3 have not reached MPI_Init or the rendezvous for 30 s; rank 2 "
            "computes in setup.py:9");
  EXPECT_EQ(remedy(found),
            "the others wait for them there: move what rank 2 does before that call to after it, "
            "or remove "
            "it; `lockstep job stacks train --rank 2` shows where the first is; `lockstep job "
            "cancel train` ends the job");
  found.fact = "the rendezvous";
  found.about = FoundAbout::rendezvous;
  found.ranks = {rank_that(3, "sleeps", "train.py:2", "nanosleep")};
  EXPECT_EQ(what(found),
            "rank 3 on n3 has not reached the rendezvous (torch's init_process_group) for 30 s; it "
            "is in nanosleep(), at train.py:2");
  EXPECT_THAT(remedy(found),
              HasSubstr("move what rank 3 does before init_process_group to after it"));
}

TEST(FoundWords, AWaitNamesWhatTheOtherDoesAndIsNoAlarm) {
  Found found =
      finding(FoundKind::waits, {rank_that(3, "computes", "eval.py:88")}, seconds(130), {0, 1, 2});
  found.verdict = FoundVerdict::waits;
  EXPECT_EQ(what(found),
            "ranks 0–2 have waited 130 s for rank 3 on n3, which computes in eval.py:88");
  EXPECT_EQ(remedy(found),
            "it may go on, so nothing is done about it; `lockstep job stacks train --rank 3` shows "
            "where it is");
  found.waiting = {0};
  found.ranks = {rank_that(3, "reads", "dataset.py:41", "read", "/data/a.bin")};
  EXPECT_EQ(what(found),
            "rank 0 has waited 130 s for rank 3 on n3, which reads, in read() on /data/a.bin, at "
            "dataset.py:41");
  EXPECT_THAT(
      remedy(found),
      HasSubstr("; look at the file system of /data/a.bin on n3, or at what should write to "
                "the file; if that is only slow, wait; else `lockstep job cancel train` "
                "ends the job"));
  found.ranks = {rank_that(3, "reads", "train.py:7", "read", "a pipe to process 71")};
  EXPECT_THAT(remedy(found), HasSubstr("; look at what should write to the pipe (a data-loader"));
  found.ranks = {rank_that(3, "reads", "train.py:7", "read", "10.0.0.9:443")};
  EXPECT_THAT(remedy(found), HasSubstr("; look at what should send on 10.0.0.9:443; if that is"));
  found.ranks = {rank_that(3, "reads", "train.py:7", "flock", "/shared/lock")};
  EXPECT_THAT(remedy(found),
              HasSubstr("; `lslocks` on n3 shows who holds the lock of /shared/lock"));
  found.ranks = {rank_that(3, "reads", "train.py:7", "read", "/dev/pts/1")};
  EXPECT_THAT(remedy(found), HasSubstr("; it waits for what is typed at its terminal; `lockstep"));
}

TEST(FoundWords, AWaitByTheCountsOfCollectivesSaysThem) {
  Found found = finding(FoundKind::waits, {rank_that(3, "computes")}, seconds(130), {0, 1, 2});
  found.verdict = FoundVerdict::waits;
  found.fact = "AllReduce";
  found.here = 17;
  found.elsewhere = 18;
  EXPECT_EQ(what(found),
            "ranks 0–2 have waited 130 s for rank 3 on n3, which computes; it has launched 17 of "
            "AllReduce, the others 18");
  found.ranks.push_back(rank_that(4, "computes"));
  EXPECT_THAT(what(found), HasSubstr("; rank 3 has launched 17 of AllReduce, the others 18"));
}

TEST(FoundWords, OnlyAHangBeginsWithIt) {
  Found found = finding(FoundKind::stopped, {rank_that(3, "stopped")}, seconds(130), {0, 1, 2});
  EXPECT_EQ(what(found),
            "rank 3 on n3 has been stopped for 130 s (SIGSTOP, Ctrl-Z or a debugger); ranks 0–2 "
            "wait for it");
  found.verdict = FoundVerdict::hangs;
  EXPECT_THAT(what(found), HasSubstr("hang: rank 3 on n3"));
  EXPECT_THAT(say_cause(found, kTrain), Not(HasSubstr("hang: ")));
  EXPECT_EQ(remedy(found), "let it go on with `lockstep job signal train --rank 3 CONT`");
  found.ranks.push_back(rank_that(2, "stopped"));
  EXPECT_EQ(remedy(found),
            "let them go on with `lockstep job signal train CONT`, which goes to all ranks");
}

TEST(FoundWords, AHangSaysWhereItsStacksAreKept) {
  Found found = finding(FoundKind::stopped, {rank_that(3, "stopped")}, seconds(130), {0, 1, 2});
  About keeps = kTrain;
  keeps.stacks_of_attempt = 2;
  EXPECT_THAT(say(found, keeps).remedy, Not(HasSubstr("stacks"))) << "they are taken of a hang";
  found.verdict = FoundVerdict::hangs;
  EXPECT_EQ(say(found, keeps).remedy,
            "let it go on with `lockstep job signal train --rank 3 CONT`; the stacks of all ranks "
            "are kept: `lockstep job files train` lists them, `lockstep job cat train "
            "logs/stacks_of_hang_2_node_0.jsonl` prints those of n0");
  EXPECT_EQ(say_kept_stacks(kTrain), "");
}

TEST(FoundWords, ACircleNamesAllOfItAndWhereTheFirstAre) {
  Found found =
      finding(FoundKind::cycle, {rank_that(0, "waits", "a.py:3"), rank_that(1, "waits", "a.py:9")},
              seconds(130), {2, 3});
  found.verdict = FoundVerdict::hangs;
  found.fact = "MPI_Recv";
  EXPECT_EQ(
      what(found),
      "hang: ranks 0–3 wait for each other in MPI_Recv, and nothing has moved for 130 s: rank 0 on "
      "n0 is at a.py:3; rank 1 on n1 is at a.py:9");
  found.verdict = FoundVerdict::hangs;
  EXPECT_THAT(remedy(found), HasSubstr("look for an `if` on the rank near a.py:3; "));
  EXPECT_THAT(remedy(found),
              HasSubstr("--on-hang fail (lockstep.on_hang in a job file) ends such a job"));
  found.ranks[1].at = "a.py:3";
  EXPECT_THAT(what(found), HasSubstr(": rank 0 on n0 waits for a peer at a.py:3; rank 1 on n1 "
                                     "waits for a peer at a.py:3"));
  EXPECT_THAT(remedy(found), Not(HasSubstr("an `if` on the rank")));
  found.verdict = FoundVerdict::waits;  // they spin on shared memory, where no movement is seen
  EXPECT_THAT(what(found), HasSubstr("ranks 0–3 all wait in MPI_Recv, and nothing has moved"));
  EXPECT_THAT(remedy(found), Not(HasSubstr("--on-hang")));
  EXPECT_THAT(remedy(found), HasSubstr("nothing is done about it"));
  Found locked =
      finding(FoundKind::cycle, {rank_that(2, "locks", "pool.py:12")}, seconds(130), {0});
  locked.fact = "lock";
  locked.about = FoundAbout::lock;
  EXPECT_EQ(what(locked),
            "rank 2 on n2 has waited 130 s at pool.py:12 for a lock that nobody releases: no "
            "thread of it "
            "runs; rank 0 waits for it");
}

TEST(FoundWords, PeersThatAreGone) {
  Found exited = finding(FoundKind::peer_gone, {rank_that(3, "exited")}, seconds(40), {0, 1});
  EXPECT_EQ(what(exited), "ranks 0–1 have waited 40 s for rank 3 on n3, which has exited");
  EXPECT_THAT(remedy(exited), HasSubstr("`lockstep job logs train --rank 3`"));
  Found lost = finding(FoundKind::peer_gone, {rank_that(3, "waits")}, seconds(40), {0, 1});
  lost.fact = "12 retransmits";
  EXPECT_EQ(what(lost),
            "ranks 0–1 have waited 40 s for rank 3 on n3, whose node cannot be reached (12 "
            "retransmits)");
  EXPECT_THAT(remedy(lost), HasSubstr("`lockstep node show n3`"));
  Found early = finding(FoundKind::left_early, {rank_that(3, "exited")}, seconds(12), {0, 1, 2});
  EXPECT_EQ(what(early), "rank 3 on n3 exited with code 0 12 s ago, while ranks 0–2 wait for it");
  EXPECT_THAT(remedy(early), HasSubstr("see why it left (`lockstep job logs train --rank 3`): "));
  EXPECT_THAT(remedy(early),
              HasSubstr("--on-hang fail (lockstep.on_hang in a job file) ends a job that hangs"));
  About ends = kTrain;
  ends.ends_on_hang = true;
  EXPECT_THAT(say(early, ends).remedy, Not(HasSubstr("--on-hang")));
}

TEST(FoundWords, NumbersThatDiffer) {
  Found counts = finding(FoundKind::unequal_counts, {rank_that(3, "waits")}, seconds(130), {0, 1});
  counts.fact = "AllReduce";
  counts.here = 41;
  counts.elsewhere = 42;
  EXPECT_EQ(what(counts),
            "rank 3 on n3 has launched 41 of AllReduce, the others 42, and none has moved for 130 "
            "s");
  Found slow = finding(FoundKind::slow, {rank_that(1, "computes")}, seconds(60));
  slow.here = 1'800;
  slow.elsewhere = 1'000;
  slow.fact = "cpu quota 40 %";
  EXPECT_EQ(what(slow),
            "rank 1 on n1 is slower than the others: 1.8 times the median of all ranks for 60 s; "
            "cpu quota 40 %");
  Found versions = finding(FoundKind::different_versions, {rank_that(1, "computes")}, seconds(0));
  versions.fact = "NCCL 2.21.5 (the others 2.19.3)";
  EXPECT_EQ(what(versions),
            "the ranks use different versions: rank 1 on n1 has NCCL 2.21.5 (the others 2.19.3)");
}

TEST(FoundWords, OtherTroublesHaveASentenceAndARemedy) {
  for (const FoundKind kind : {FoundKind::device_wait, FoundKind::missed_fence,
                               FoundKind::two_claims, FoundKind::left_early}) {
    const Found found =
        finding(kind, {rank_that(3, "device", "", "read", "/mnt/a")}, seconds(9), {0});
    EXPECT_THAT(what(found), HasSubstr("rank 3 on n3")) << to_string(kind);
    EXPECT_FALSE(remedy(found).empty()) << to_string(kind);
    EXPECT_FALSE(say_over(found, kTrain).empty()) << to_string(kind);
  }
}

TEST(FoundWords, WhatIsOver) {
  EXPECT_EQ(say_over(finding(FoundKind::stopped, {rank_that(3, "stopped")}, seconds(9)), kTrain),
            "rank 3 on n3 goes on again");
  EXPECT_EQ(
      say_over(finding(FoundKind::waits, {rank_that(3, "computes")}, seconds(9), {0, 1}), kTrain),
      "ranks 0–1 no longer wait for rank 3 on n3");
}

// A node that makes up what it finds.
TEST(FoundWords, HostileTextsStayInTheirLine) {
  Found found = finding(FoundKind::waits,
                        {rank_that(3, "dances\x1b[2J", "a\nb", std::string(5'000, 'c'), "\x07")},
                        Duration::max(), {0});
  found.fact = std::string(5'000, 'f');
  for (int kind = 0; kind <= static_cast<int>(FoundKind::different_versions); ++kind) {
    found.kind = static_cast<FoundKind>(kind);
    for (const std::string& line : {what(found), remedy(found), say_over(found, kTrain)}) {
      EXPECT_EQ(line.find_first_of("\n\x1b\x07"), std::string::npos) << line;
      EXPECT_LT(line.size(), 2'000u);
    }
  }
  found.ranks.clear();
  for (int kind = 0; kind <= static_cast<int>(FoundKind::different_versions); ++kind) {
    found.kind = static_cast<FoundKind>(kind);
    EXPECT_FALSE(what(found).empty());
  }
}

TEST(FoundDifference, OnlyKindVerdictAndRanksCount) {
  Found waits = finding(FoundKind::waits, {rank_that(3, "computes")}, seconds(130), {0, 1});
  Found later = waits;
  later.lasting = seconds(300);
  later.ranks[0].at = "other.py:1";
  later.waiting = {0, 1, 2};
  EXPECT_TRUE(say_the_same({waits}, {later}));
  EXPECT_TRUE(difference_of({waits}, {later}).fresh.empty());
  Found alarm = waits;
  alarm.verdict = FoundVerdict::hangs;
  const FoundDifference worse = difference_of({waits}, {alarm});
  EXPECT_EQ(worse.fresh, FoundList{alarm});
  EXPECT_TRUE(worse.over.empty()) << "it did not end: it became an alarm";
  const FoundDifference none = difference_of({waits}, {});
  EXPECT_EQ(none.over, FoundList{waits});
  Found other = waits;
  other.ranks[0].rank = 2;
  EXPECT_EQ(difference_of({waits}, {other}).over, FoundList{waits});
}

// "ranks 0–1 no longer wait for rank 3" beside "hang: ranks 0–1 have waited for rank 3".
TEST(FoundDifference, AWaitForWhichAnotherReasonIsFoundIsNotOver) {
  const Found waits =
      finding(FoundKind::waits, {rank_that(3, "computes")}, seconds(130), {0, 1, 2});
  const Found gone = finding(FoundKind::peer_gone, {rank_that(3, "exited")}, seconds(140), {0, 1});
  const Found cycle = finding(FoundKind::cycle, {rank_that(0, "waits"), rank_that(1, "waits")},
                              seconds(140), {2, 3});
  const Found stopped =
      finding(FoundKind::stopped, {rank_that(3, "stopped")}, seconds(140), {0, 1, 2});
  for (const Found& now : {gone, cycle, stopped}) {
    EXPECT_EQ(difference_of({waits}, {now}).fresh, FoundList{now}) << to_string(now.kind);
    EXPECT_TRUE(difference_of({waits}, {now}).over.empty()) << to_string(now.kind);
  }
  Found alone = stopped;
  alone.waiting.clear();
  EXPECT_EQ(difference_of({waits}, {alone}).over, FoundList{waits});
  EXPECT_EQ(difference_of({stopped}, {waits}).over, FoundList{stopped}) << "it goes on again";
}

}  // namespace
}  // namespace lockstep::words
