#include "common/io/attempt/attempt_dir.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include "common/io/attempt/short_path.h"
#include "common/io/file_system.h"
#include "common/io/files/places.h"
#include "tests/unit/support/temp_dir.h"

namespace lockstep::io {
namespace {

TEST(AttemptDirTest, NamesAndParsesAttempts) {
  const AttemptId id{JobId("gray_pig-1"), 12};
  EXPECT_EQ(AttemptDir::name_of(id), "gray_pig-1.12");
  EXPECT_EQ(AttemptDir::attempt_of("gray_pig-1.12"), id);
  for (const char* bad :
       {"gray_pig", "gray_pig.", ".1", "gray_pig.0", "gray_pig.01", "gray_pig.-1", "gray_pig.1x",
        "gray pig.1", "gray_pig.4294967296", "", ".", "gray_pig.1-", "gray_pig.1-0",
        "gray_pig.1-07", "gray_pig.0-7", "gray_pig.1-7-8"}) {
    EXPECT_FALSE(AttemptDir::attempt_of(bad)) << bad;
  }
}

TEST(AttemptDirTest, AnEraIsPartOfTheName) {
  const AttemptId id{JobId("gray_pig-1"), 12, 1'795'312'345'678};
  EXPECT_EQ(AttemptDir::name_of(id), "gray_pig-1.12-1795312345678");
  EXPECT_EQ(AttemptDir::attempt_of("gray_pig-1.12-1795312345678"), id);
}

TEST(AttemptDirTest, NamesAndParsesLogs) {
  const AttemptDir dir("/a");
  EXPECT_EQ(dir.log(3, LogStream::out), "/a/logs/rank_3.stdout");
  EXPECT_EQ(dir.log(0, LogStream::err), "/a/logs/rank_0.stderr");
  EXPECT_EQ(AttemptDir::parse_log_name("rank_3.stdout"), std::pair(3, LogStream::out));
  EXPECT_EQ(AttemptDir::parse_log_name("rank_0.stderr"), std::pair(0, LogStream::err));
  EXPECT_EQ(dir.log(12, LogStream::environment), "/a/logs/node_12.environment");
  EXPECT_EQ(AttemptDir::parse_log_name("node_12.environment"),
            std::pair(12, LogStream::environment));
  for (const char* bad :
       {"rank_.stdout", "rank_03.stdout", "rank_-1.stdout", "rank_3.stdlog", "rank_3",
        "xrank_3.stdout", "rank_3.stdout.tmp-1-1", "", "node_.environment", "node_01.environment",
        "node_-1.environment", "rank_1.environment", "node_1.stdout", "node_1.environment.times",
        "node_99999999999.environment", ".environment"}) {
    EXPECT_FALSE(AttemptDir::parse_log_name(bad)) << bad;
  }
}

TEST(AttemptDirTest, ReadsWhenItStarted) {
  const test::TempDir home;
  const AttemptDir dir(home.path());
  EXPECT_EQ(read_started(dir), Instant{});
  ASSERT_TRUE(write_file_atomically(dir.started(), "1795312345678901234", 0644, false));
  EXPECT_EQ(read_started(dir), Instant{1795312345678901234});
}

TEST(AttemptDirTest, ReadsByHowMuchTheClockWasSet) {
  const test::TempDir home;
  const AttemptDir dir(home.path());
  EXPECT_EQ(read_clock_set(dir), Duration{0});
  ASSERT_TRUE(write_file_atomically(dir.clock_set(), "-1500000000", 0644, false));
  EXPECT_EQ(read_clock_set(dir), -milliseconds(1'500));
  ASSERT_TRUE(write_file_atomically(dir.clock_set(), "soon", 0644, false));
  EXPECT_EQ(read_clock_set(dir), Duration{0});
}

TEST(AttemptDirTest, MountPointIsTheSameForEveryAttemptAndNodeOfAUser) {
  const std::string parent = jobs_folder();
  if (::geteuid() == 0) {
    EXPECT_EQ(parent, "/run/lockstep/jobs");
  }
  EXPECT_EQ(code_mount_point(JobId("j")), parent.empty() ? "" : parent + "/j");
  EXPECT_EQ(former_mount_point({JobId("j"), 2}), parent.empty() ? "" : parent + "/j.2");
}

TEST(AttemptDirTest, ALongNameLeavesRoomForASocketsPath) {
  EXPECT_EQ(job_folder_name(JobId("mighty_arm_s7kq2v9m4x")), "mighty_arm_s7kq2v9m4x");
  const std::string most(kMostFolderName, 'a'), more = most + "b", other = most + "c";
  EXPECT_EQ(job_folder_name(JobId(most)), most);
  EXPECT_EQ(job_folder_name(JobId(more)).size(), kMostFolderName);
  EXPECT_NE(job_folder_name(JobId(more)), job_folder_name(JobId(other)));
  const std::string same = job_folder_name(JobId(more));
  EXPECT_NE(job_folder_name(JobId(same)), same) << "another job can have this name";
  EXPECT_EQ(job_folder_name(JobId(same)).size(), kMostFolderName);
  const std::string form = "experiment-2026-";
  EXPECT_NE(job_folder_name(JobId(form + "0123456789ab")), form + "0123456789ab");
  EXPECT_EQ(job_folder_name(JobId(form + "0123456789aB")), form + "0123456789aB");
  EXPECT_LE(("/run/lockstep/jobs/" + job_folder_name(JobId(std::string(240, 'x')))).size(), 47u);
}

TEST(ShortPath, LeavesRoomForASocketsPathWhateverTheName) {
  const AttemptDir directory("/srv/a/long/home/of/an/agent/attempts/" + std::string(240, 'x') +
                             ".1");
  const AttemptDir other("/srv/a/long/home/of/an/agent/attempts/" + std::string(240, 'x') + ".2");
  EXPECT_NE(short_path_in_container(directory), short_path_in_container(other));
  const AttemptDir inside(short_path_in_container(directory));
  EXPECT_LE(inside.tmp().size(), 47u) << inside.tmp();
  const std::string path = short_path(directory);
  if (path.empty()) return;  // an account without a folder for it
  EXPECT_LE(AttemptDir(path).tmp().size(), 47u);
  EXPECT_EQ(short_path_in_container(directory), path);
  if (::geteuid() == 0) {
    EXPECT_LE((AttemptDir(path).client_home() + "/endpoint.json").size(), 47u);
  }
}

TEST(ShortPath, IsALinkWhereNothingCanBeMounted) {
  const test::TempDir home;
  const AttemptDir directory(home.path());
  if (short_path(directory).empty()) GTEST_SKIP() << "an account without a folder for it";
  home.file("tmp/x", "1");
  ASSERT_TRUE(link_short_path(directory));
  ASSERT_TRUE(link_short_path(directory)) << "again, after a crash";
  EXPECT_TRUE(exists(AttemptDir(short_path(directory)).tmp() + "/x"));
  unlink_short_path(directory);
  EXPECT_FALSE(exists(short_path(directory)));
  unlink_short_path(directory);
}

}  // namespace
}  // namespace lockstep::io
