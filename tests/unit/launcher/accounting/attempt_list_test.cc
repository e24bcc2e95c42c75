// Attempts one by one, for people and for programs.

#include "launcher/accounting/attempt_list.h"

#include <gtest/gtest.h>

#include "tests/unit/launcher/accounting/uses.h"

namespace lockstep::launcher {
namespace {

using test::time_of;
using test::use_of_one;

TEST(SlurmTime, IsAsSlurmWritesIt) {
  EXPECT_EQ(slurm_time(Duration::zero()), "00:00:00");
  EXPECT_EQ(slurm_time(seconds(3'723) + milliseconds(900)), "01:02:03");
  EXPECT_EQ(slurm_time(seconds(86'399)), "23:59:59");
  EXPECT_EQ(slurm_time(seconds(93'784)), "1-02:03:04");
  EXPECT_EQ(slurm_time(seconds(-5)), "00:00:00");
}

TEST(AttemptList, ShowsWhatSacctShows) {
  AttemptUse ended = use_of_one("ann", "2026-01-31T08:00", "2026-01-31T09:30");
  ended.parts[0].used = HeldPart::Used{minutes(300), minutes(60), 10};
  AttemptUse runs = use_of_one("bob", "2026-01-31T09:00", "2026-01-31T09:00");
  runs.attempt = {JobId("other"), 2, 0};
  runs.ended.reset();
  runs.exit_code.reset();
  runs.outcome = Outcome::running;
  const std::vector<AttemptUse> attempts{ended, runs};
  EXPECT_EQ(table_text(attempt_table(attempts, time_of("2026-01-31T10:00"))),
            "ATTEMPT  USER  TARGET  STATE      EXIT  NODES  CPUS  GPUS   MEMORY    WAITED   ELAPSED"
            "  CPU-TIME\n"
            "job.1    ann   lab     Completed     0      1     4     1  8.0 GiB  00:10:00  01:30:00"
            "  05:00:00\n"
            "other.2  bob   lab     Running       -      1     4     1  8.0 GiB  00:10:00  01:00:00"
            "         -\n");
  EXPECT_EQ(csv_text(attempt_cells(attempts, time_of("2026-01-31T10:00"))),
            "job,attempt,user,project,target,state,exit_code,submitted,placed,ended,wait_seconds,"
            "elapsed_seconds,nodes,cpus,gpus,memory_bytes,used_cpu_seconds,used_gpu_seconds,"
            "used_memory_mib_seconds,price_per_hour\n"
            "job,1,ann,vision,lab,Completed,0,2026-01-31T07:50:00.000Z,2026-01-31T08:00:00.000Z,"
            "2026-01-31T09:30:00.000Z,600,5400,1,4,1,8589934592,18000,3600,10,0.9\n"
            "other,2,bob,vision,lab,Running,,2026-01-31T08:50:00.000Z,2026-01-31T09:00:00.000Z,,"
            "600,3600,1,4,1,8589934592,,,,0.9\n");
}

TEST(AttemptList, ShowsAJobThatNeverRan) {
  AttemptUse use = use_of_one("ann", "2026-01-31T08:00", "2026-01-31T09:00");
  use.attempt.number = 0;
  use.placed.reset();
  use.parts.clear();
  use.exit_code.reset();
  use.outcome = Outcome::canceled;
  const std::vector<AttemptUse> attempts{use};
  const Grid grid = attempt_cells(attempts, time_of("2026-01-31T10:00"));
  EXPECT_EQ(grid.rows[0][1], "");
  EXPECT_EQ(grid.rows[0][10], "4200");
  EXPECT_EQ(grid.rows[0][11], "0");
  EXPECT_EQ(grid.rows[0][16], "");
  for (const auto& row : grid.rows) EXPECT_EQ(row.size(), grid.columns.size());
  EXPECT_EQ(attempt_table(attempts, time_of("2026-01-31T10:00")).rows[0][0], "job");
}

}  // namespace
}  // namespace lockstep::launcher
