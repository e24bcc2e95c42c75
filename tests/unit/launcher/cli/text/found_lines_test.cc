#include "launcher/cli/text/found_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "launcher/cli/text/view_text.h"
#include "tests/unit/launcher/cli/samples.h"

namespace lockstep::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

Found stopped(FoundVerdict verdict = FoundVerdict::notice) {
  Found found;
  found.kind = FoundKind::stopped;
  found.verdict = verdict;
  found.ranks = {{3, 1, "stopped", "", "", "", 0}};
  found.waiting = {0, 1};
  found.lasting = seconds(130);
  return found;
}

JobView running(FoundList found = {}) {
  JobView job;
  job.spec.name = "train";
  job.status = JobStatus::running;
  AttemptView& attempt = job.attempts.emplace_back();
  attempt.number = 1;
  for (int node_rank = 0; node_rank < 2; ++node_rank) {
    PartView& part = attempt.parts.emplace_back();
    part.node_rank = node_rank;
    part.node_name = "n" + std::to_string(node_rank + 1);
  }
  attempt.found = std::move(found);
  return job;
}

TEST(FoundLines, AFindingIsSaidOnceAndItsEndOnce) {
  FoundLines lines;
  EXPECT_THAT(lines.on_job(running()), IsEmpty());
  EXPECT_THAT(lines.on_job(running({stopped()})),
              ElementsAre("train: rank 3 on n2 has been stopped for 130 s (SIGSTOP, Ctrl-Z or a "
                          "debugger); ranks 0–1 wait for it",
                          "  let it go on with `lockstep job signal train --rank 3 CONT`"));
  Found later = stopped();
  later.lasting = seconds(300);
  EXPECT_THAT(lines.on_job(running({later})), IsEmpty());
  EXPECT_THAT(lines.on_job(running({stopped(FoundVerdict::hangs)})),
              ElementsAre(HasSubstr("train: hang: rank 3 on n2"), HasSubstr("job signal")))
      << "an alarm is news";
  EXPECT_THAT(lines.on_job(running()), ElementsAre("train: rank 3 on n2 goes on again"));
}

TEST(FoundLines, WhatComesAndGoesIsNotSaidForEver) {
  FoundLines lines;
  std::size_t said = 0;
  for (int i = 0; i < 50; ++i) {
    said += lines.on_job(running({stopped()})).size();
    said += lines.on_job(running()).size();
  }
  EXPECT_LE(said, 9u);
}

TEST(FoundLines, ANewAttemptBeginsAnew) {
  FoundLines lines;
  lines.on_job(running({stopped()}));
  JobView next = running({stopped()});
  next.attempts[0].number = 2;
  EXPECT_EQ(lines.on_job(next).size(), 2u);
  next.status = JobStatus::failed;
  next.attempts[0].found.clear();
  EXPECT_THAT(lines.on_job(next), IsEmpty()) << "the report says it";
}

TEST(JobText, TellsFindingsOnTheFirstScreen) {
  const std::string text = job_text(running({stopped(FoundVerdict::hangs)}), kNoon);
  EXPECT_THAT(
      text,
      HasSubstr(
          "status:       Running\n"
          "hang:         rank 3 on n2 has been stopped for 130 s (SIGSTOP, Ctrl-Z or a debugger); "
          "ranks 0–1 wait for it\n"
          "              let it go on with `lockstep job signal train --rank 3 "
          "CONT`\n"));
  JobView failed = running({stopped(FoundVerdict::hangs)});
  failed.status = JobStatus::failed;
  const std::string after = job_text(failed, kNoon);
  EXPECT_THAT(after, HasSubstr("last found:   hang: rank 3 on n2 has been stopped for 130 s"));
  EXPECT_THAT(after, Not(HasSubstr("job signal"))) << "its ranks are gone";
  JobView done = running({stopped()});
  done.status = JobStatus::completed;
  EXPECT_THAT(job_text(done, kNoon), Not(HasSubstr("stopped")));
  EXPECT_THAT(job_table({running({stopped(FoundVerdict::hangs)})}, kNoon),
              HasSubstr("hang: rank 3 on n2"));
}

TEST(FailureReport, OfAHangSaysHowToLookAtIt) {
  JobView job = running();
  job.status = JobStatus::failed;
  ExitReport& report = job.report.emplace();
  report.cause = Cause::hang;
  report.exit_code = 124;
  report.message = "the ranks hang: rank 3 on n2 has been stopped for 130 s";
  report.hang = stopped(FoundVerdict::hangs);
  EXPECT_THAT(
      failure_report(job),
      HasSubstr(
          "the ranks hang: rank 3 on n2 has been stopped for 130 s\n"
          "  --on-hang (lockstep.on_hang) ended it: somebody or something stopped rank 3 (kill "
          "-STOP, Ctrl-Z, a debugger); find out who, and run the job again; with --on-hang report "
          "the job is not ended, and `lockstep job signal train --rank 3 CONT` lets the rank go "
          "on\n"));
  report.hang->kind = FoundKind::left_early;
  EXPECT_THAT(cause_lines(job, report),
              HasSubstr("ended it; run it with --on-hang report, and look at its ranks while they "
                        "hang: `lockstep job diagnose train`\n"));
}

TEST(FailureReport, OfACrashHasItsStackOrSaysHowToGetIt) {
  JobView job = sample_job();
  job.report->cause = Cause::signal;
  job.report->exit_code = 139;
  EXPECT_THAT(failure_report(job),
              HasSubstr("run it again with --core backtrace (lockstep.core in a job file)"));
  job.spec.core = CoreFile::backtrace;
  job.report->backtrace = "#0 crash at boom.c:3\n#1 main at boom.c:9\x1b[2J\n";
  const std::string text = failure_report(job);
  EXPECT_THAT(text, HasSubstr("  the stack of the thread that failed:\n"
                              "    | #0 crash at boom.c:3\n"
                              "    | #1 main at boom.c:9?[2J\n"));
  EXPECT_THAT(text, Not(HasSubstr("--core")));
}

TEST(FailureReport, ALostPeerIsToldAsOne) {
  JobView job = sample_job();
  job.report->lost_peer = LostPeer{"10.93.0.4", 1, RankEnd{2, 0, 0, true, false, false, {}}, false};
  EXPECT_THAT(failure_report(job),
              HasSubstr("rank 3 failed after a connection of its own was closed: 10.93.0.4 is "
                        "local-1, where rank 2 had exited with code 0\n"));
}

}  // namespace
}  // namespace lockstep::cli
