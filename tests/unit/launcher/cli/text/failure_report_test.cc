#include <gtest/gtest.h>

#include "launcher/cli/text/view_text.h"
#include "tests/unit/launcher/cli/samples.h"

namespace lockstep::cli {
namespace {

JobView failed(Cause cause, int code, std::optional<int> rank = 1) {
  JobView job;
  job.spec.name = "j";
  job.status = JobStatus::failed;
  job.attempts.resize(1);
  ExitReport report;
  report.cause = cause;
  report.exit_code = code;
  report.rank = rank;
  report.node_name = "n2";
  report.message = "in one line";
  job.report = report;
  return job;
}

TEST(FailureReport, NamesTheFirstThatFailedAndWhatFollowed) {
  EXPECT_EQ(failure_report(sample_job()),
            "job gray_pig Failed\n"
            "  first failure: rank 3 on local-1 at 2030-01-01T12:00:11.000Z: exited with code 7\n"
            "  rank 3 on local-1 exited with code 7\n"
            "  its last lines on stderr:\n"
            "    | Traceback:\n"
            "    |   boom?[31m\n"
            "  then terminated: ranks 0–2\n"
            "  look at it with: lockstep job logs gray_pig --rank 3\n");
}

TEST(FailureReport, SaysHowForEachCauseOfARank) {
  const auto says = [](const JobView& job, const std::string& words) {
    return failure_report(job).find(words) != std::string::npos;
  };
  EXPECT_TRUE(says(failed(Cause::signal, 137), "killed by SIGKILL (exit code 137)"));
  EXPECT_TRUE(says(failed(Cause::signal, 128 + 34), "killed by signal 34"));
  EXPECT_TRUE(says(failed(Cause::out_of_memory, 137), "OOM"));
  EXPECT_TRUE(says(failed(Cause::mpi_abort, 42), "called MPI_Abort (exit code 42)"));
  EXPECT_TRUE(says(failed(Cause::exit_without_finalize, 1), "without calling MPI_Finalize"));
  EXPECT_TRUE(says(failed(Cause::never_connected, 1), "without connecting to its MPI server"));
  EXPECT_TRUE(says(failed(Cause::command_not_found, 127), "command not found"));
  EXPECT_TRUE(says(failed(Cause::command_not_executable, 126), "not executable"));
  EXPECT_TRUE(says(failed(Cause::node_lost, 125, std::nullopt), "  in one line\n"));
  EXPECT_TRUE(says(failed(Cause::timeout, 124), "  in one line\n"));
  EXPECT_TRUE(says(failed(Cause::environment_failed, 125, std::nullopt),
                   "  look at it with: lockstep environment log j\n"));
  EXPECT_TRUE(says(failed(Cause::node_lost, 125, std::nullopt), "lockstep job logs j\n"));
}

TEST(FailureReport, SaysWhatToWriteWhereThereIsNoPython) {
  const std::string advice =
      "  no `python` on the job's PATH; write python3, or pass your shell's with `--env PATH`\n";
  JobView job = failed(Cause::command_not_found, 127);
  job.spec.command = Argv{{"python", "train.py"}};
  EXPECT_NE(failure_report(job).find(advice), std::string::npos) << failure_report(job);
  job.spec.command = Argv{{"pyhton", "train.py"}};
  EXPECT_EQ(failure_report(job).find(advice), std::string::npos);
  JobView in_shell = failed(Cause::exit_code, 127);
  in_shell.spec.command = ShellCommand{"python train.py"};
  EXPECT_EQ(failure_report(in_shell).find(advice), std::string::npos);
  in_shell.report->stderr_tail = "bash: line 1: python: command not found\n";
  EXPECT_NE(failure_report(in_shell).find(advice), std::string::npos);
}

// The nodes' clocks differ, and two failed almost at once.
TEST(FailureReport, NamesBothWhoMayHaveBeenFirstAndTheClocksThatAreOff) {
  JobView job = sample_job();
  ExitReport& report = *job.report;
  report.message =
      "rank 3 on local-1 exited with code 7; or first rank 1 on local-0 exited with code 9: they "
      "failed within 0.4 ms, and the nodes' clocks are only known to 1.2 ms";
  report.also = {{Cause::exit_code, 1, NodeId(1), "local-0", report.time, {}, "rank 1 on local-0"}};
  report.clocks = {{"local-0", {milliseconds(-200), milliseconds(1)}},
                   {"local-1", {seconds(75), milliseconds(2)}}};
  EXPECT_EQ(failure_report(job),
            "job gray_pig Failed\n"
            "  one of the first failures: rank 3 on local-1 at 2030-01-01T12:00:11.000Z: exited "
            "with code 7\n"
            "  rank 3 on local-1 exited with code 7; or first rank 1 on local-0 exited with code "
            "9: they failed within 0.4 ms, and the nodes' clocks are only known to 1.2 ms\n"
            "  its last lines on stderr:\n"
            "    | Traceback:\n"
            "    |   boom?[31m\n"
            "  the clock of local-0 is 0.20 s behind the launcher's (± 1.0 ms); its times "
            "are corrected here, but not in what its programs print: `timedatectl set-ntp true` on "
            "local-0 "
            "sets it right\n"
            "  the clock of local-1 is 1m15s ahead of the launcher's (± 2.0 ms); its times "
            "are corrected here, but not in what its programs print: `timedatectl set-ntp true` on "
            "local-1 "
            "sets it right\n"
            "  then terminated: ranks 0–2\n"
            "  look at it with: lockstep job logs gray_pig --rank 3\n");
}

TEST(FailureReport, OutOfMemoryNamesTheLimitAndHowToRaiseIt) {
  JobView job = sample_job();
  job.report->cause = Cause::out_of_memory;
  job.report->exit_code = 137;
  job.report->message = "rank 3 (node local-1) was killed: its memory limit was reached";
  job.report->stderr_tail.clear();
  job.attempts.back().parts[0].allotment.memory = mebibytes(100);
  job.spec.resources.memory = mebibytes(100);
  EXPECT_EQ(failure_report(job),
            "job gray_pig Failed\n"
            "  first failure: rank 3 on local-1 at 2030-01-01T12:00:11.000Z: was killed because it "
            "ran out of memory (OOM; exit code 137)\n"
            "  rank 3 (node local-1) was killed: its memory limit was reached\n"
            "  then terminated: ranks 0–2\n"
            "  the job's memory limit is 100.0 MiB on each node, for all its ranks there: ask for "
            "more with "
            "--memory (lockstep.resources.memory in a job file)\n"
            "  look at it with: lockstep job logs gray_pig --rank 3\n");
  job.spec.resources.memory.reset();
  EXPECT_NE(failure_report(job).find(
                "  the job already had all memory of its node (100.0 MiB): use less memory (a "
                "smaller batch, fewer ranks per node), or nodes with more memory\n"),
            std::string::npos)
      << failure_report(job);
}

TEST(FailureReport, AMissingModuleSaysHowToAddIt) {
  JobView job = failed(Cause::exit_code, 1);
  job.report->stderr_tail =
      "  import cv2.aruco\nModuleNotFoundError: No module named 'cv2.aruco'\n";
  EXPECT_NE(
      failure_report(job).find(
          "  the node's Python has no module 'cv2': add it with --pip opencv-python-headless, "
          "--requirements FILE or --conda-file FILE (environment.conda_file in a job file); a "
          "module of your own must be in the source directory\n"),
      std::string::npos)
      << failure_report(job);
  job.spec.environment = EnvironmentSpec{"", "", VenvEnvironment{}};
  EXPECT_NE(failure_report(job).find(
                "  the job's environment has no module 'cv2': add its package "
                "('opencv-python-headless'?) there; a module of your own must be in the source "
                "directory\n"),
            std::string::npos)
      << failure_report(job);
  job.report->stderr_tail = "ImportError: cannot import name 'x'\n";
  EXPECT_EQ(failure_report(job).find("module"), std::string::npos);
}

TEST(FailureReport, AFullDiskIsNamedWithItsNode) {
  JobView job = failed(Cause::exit_code, 1);
  job.report->stderr_tail = "OSError: [Errno 28] No space left on device\n";
  EXPECT_NE(failure_report(job).find("  a disk of n2 was full: `lockstep node show n2` shows the "
                                     "free space; write less, or ask for a node with more\n"),
            std::string::npos)
      << failure_report(job);
}

TEST(FailureReport, TheTimeIsNoPartOfWhatIsSaid) {
  JobView job = failed(Cause::environment_failed, 125, std::nullopt);
  const auto says = [&](const std::string& message, const std::string& line) {
    job.report->time = kNoon;
    job.report->message = message;
    EXPECT_NE(failure_report(job).find("\n" + line + "\n"), std::string::npos)
        << failure_report(job);
  };
  says("lost the node n2", "  at 2030-01-01T12:00:00.000Z: lost the node n2");
  says("It is reported above.", "  at 2030-01-01T12:00:00.000Z: It is reported above.");
  says("cannot be solved:\nno such package",
       "  at 2030-01-01T12:00:00.000Z: cannot be solved:\n"
       "    no such package");
}

TEST(FailureReport, NamesTheEnvironmentsLogWhereNoRankStarted) {
  const std::string environment_log = "  look at it with: lockstep environment log j\n";
  const std::string ranks_logs = "  look at it with: lockstep job logs j\n";
  JobView job = failed(Cause::start_failed, 125, std::nullopt);
  const auto ends_with = [&](const std::string& line) {
    return failure_report(job).ends_with(line);
  };
  EXPECT_TRUE(ends_with(ranks_logs)) << "it has no environment";
  job.spec.environment = EnvironmentSpec{"", "", VenvEnvironment{}};
  EXPECT_TRUE(ends_with(environment_log));
  job.report->cause = Cause::canceled;
  EXPECT_TRUE(ends_with(environment_log));
  job.attempts.back().started = kNoon;
  EXPECT_TRUE(ends_with(ranks_logs));
}

TEST(FailureReport, IsEmptyWithoutAFailure) {
  JobView job = failed(Cause::completed, 0);
  job.status = JobStatus::completed;
  EXPECT_EQ(failure_report(job), "");
  job.status = JobStatus::running;
  EXPECT_EQ(failure_report(job), "");
}

TEST(FailureReport, WorksForAJobThatNeverStarted) {
  JobView job;
  job.spec.name = "j";
  job.status = JobStatus::canceled;
  job.reason = "canceled by ada";
  EXPECT_EQ(failure_report(job), "job j Canceled: canceled by ada\n");
}

TEST(FailureReport, ShowsOnlyTheLastOfManyLines) {
  JobView job = failed(Cause::exit_code, 7);
  job.report->stderr_tail = "cut\n";
  for (int i = 1; i <= 100; ++i) job.report->stderr_tail += "line " + std::to_string(i) + "\n";
  const std::string text = failure_report(job);
  EXPECT_EQ(text.find("cut"), std::string::npos);
  EXPECT_EQ(text.find("| line 80\n"), std::string::npos);
  EXPECT_NE(text.find("on stderr:\n    | line 81\n"), std::string::npos);
  EXPECT_NE(text.find("    | line 100\n  look"), std::string::npos);
  job.report->stderr_tail = "one\n\ntwo";
  EXPECT_NE(failure_report(job).find("    | one\n    | \n    | two\n"), std::string::npos);
}

TEST(ExitCode, IsTheJobsOwn) {
  EXPECT_EQ(exit_code_of(failed(Cause::exit_code, 7)), 7);
  EXPECT_EQ(exit_code_of(failed(Cause::signal, 137)), 137);
  EXPECT_EQ(exit_code_of(failed(Cause::timeout, 124)), 124);
  EXPECT_EQ(exit_code_of(failed(Cause::node_lost, 125)), 125);
  JobView job = failed(Cause::completed, 0);
  EXPECT_EQ(exit_code_of(job), 125) << "failed without a code: never 0";
  job.status = JobStatus::completed;
  EXPECT_EQ(exit_code_of(job), 0);
  job.status = JobStatus::canceled;
  EXPECT_EQ(exit_code_of(job), 130);
  job.report.reset();
  EXPECT_EQ(exit_code_of(job), 130);
}

}  // namespace
}  // namespace lockstep::cli
