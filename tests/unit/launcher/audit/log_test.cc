// The writing end: nothing that write() took is lost by a kill, and nothing at all on a disk that
// says no, at every call that would change it.

#include "launcher/audit/log.h"

#include <sys/stat.h>

#include "tests/unit/launcher/audit/audit_files.h"

namespace lockstep::launcher {
namespace {

using testing::HasSubstr;

class Log : public AuditFiles {
 protected:
  // What the files hold of "job N", in their order.
  std::vector<std::string> jobs() const {
    std::vector<std::string> found;
    for (const auto& path : paths())
      for (const auto& line : lines_of(path))
        if (const auto entry = audit_entry(line); entry && entry->object.starts_with("job "))
          found.push_back(entry->object);
    return found;
  }
};

TEST_F(Log, KeepsEveryFieldAndIsClosedToOthers) {
  AuditEntry entry = entry_of("ann\n\"x\"", "cancel job", "job a\tb", AuditOutcome::refused);
  entry.key = "lskeyabc";
  entry.address = "10.0.0.3";
  entry.detail = "it belongs to user 'bob' — \xc3\xa9";
  AuditLog log = open();
  log.add(entry);
  ASSERT_TRUE(log.write(kThen));
  entry.number = 1;
  const auto lines = lines_of(paths().front());
  ASSERT_EQ(lines.size(), 1u) << "one line, whatever is in it";
  EXPECT_EQ(audit_entry(lines[0]), entry);
  struct stat info {};
  ASSERT_EQ(::stat(paths().front().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  ASSERT_EQ(::stat(folder_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700u);
}

TEST_F(Log, ATextThatIsTooLongOrNotUtf8IsWrittenAsFarAsItGoes) {
  AuditLog log = open();
  log.add(entry_of(std::string(10'000, 'a'), "\xff\xfe", std::string(100'000, '"')));
  ASSERT_TRUE(log.write(kThen));
  const auto entry = audit_entry(lines_of(paths().front())[0]);
  ASSERT_TRUE(entry);
  EXPECT_LE(entry->who.size(), kMaxAuditText + 8);
  EXPECT_EQ(problem(), "");
}

// As kill -9 leaves it: no sync, no head, nothing closed.
TEST_F(Log, WhatWasWrittenSurvivesAKill) {
  {
    AuditLog log = open();
    for (int i = 1; i <= 100; ++i) {
      log.add(entry_of("ann", "cancel job", "job " + std::to_string(i)));
      if (i % 7 != 0) continue;
      ASSERT_TRUE(log.write(kThen));
    }
    EXPECT_EQ(log.waiting(), 2u);
  }
  EXPECT_EQ(jobs().size(), 98u);
  AuditLog log = open();
  EXPECT_TRUE(log.findings().empty());
  fill(log, 101, 101);
  EXPECT_EQ(verified().entries, 99u);
  EXPECT_EQ(problem(), "");
}

TEST_F(Log, OnADiskThatSaysNoEntriesWaitAndNoneIsLost) {
  const int runs = test::each_fault([&](test::DiskFaults& faults, const std::string& name) {
    ASSERT_TRUE(io::remove_tree(folder_));
    std::vector<std::string> written;
    auto log = AuditLog::open(folder_, {kibibytes(1), 64}, kThen);
    ASSERT_TRUE(log);
    {
      const io::disk::InFront in_front(faults);
      for (int i = 1; i <= 12; ++i) {
        written.push_back("job " + std::to_string(i));
        log->add(entry_of("ann", "cancel job", written.back()));
        (void)log->write(kThen);
        const auto sync = log->take_sync();
        if (!sync) continue;
        if (const auto done = sync->run(); !done) log->sync_failed(done.error().message, kThen);
      }
    }
    ASSERT_TRUE(log->write(kThen)) << name;
    EXPECT_EQ(log->waiting(), 0u) << name;
    EXPECT_EQ(jobs(), written) << name;
    EXPECT_EQ(problem(), "") << name;
    const auto again = AuditLog::open(folder_, {kibibytes(1), 64}, kThen);
    ASSERT_TRUE(again) << name;
    EXPECT_TRUE(again->findings().empty()) << name;
  });
  EXPECT_GT(runs, 50);
}

// A launcher starts on a full disk, since jobs have to end; its log waits.
TEST_F(Log, BeginsOnAFullDisk) {
  ASSERT_TRUE(io::make_directories(folder_, 0700));
  test::DiskFaults faults({"full", ENOSPC, true, true, test::growing_calls()}, 1);
  std::optional<AuditLog> log;
  {
    const io::disk::InFront in_front(faults);
    auto opened = AuditLog::open(folder_, {}, kThen);
    ASSERT_TRUE(opened) << opened.error().message;
    log = *std::move(opened);
    log->add(entry_of("ann", "cancel job", "job 1"));
    const Status done = log->write(kThen);
    ASSERT_FALSE(done);
    EXPECT_THAT(done.error().message, HasSubstr(folder_));
    EXPECT_EQ(log->waiting(), 1u);
    EXPECT_FALSE(log->take_sync());
  }
  ASSERT_TRUE(log->write(kThen));
  EXPECT_EQ(jobs(), std::vector<std::string>{"job 1"});
}

TEST_F(Log, SaysAtItsStartWhatIsMissing) {
  {
    AuditLog log = open();
    fill(log, 1, 9);
  }
  const auto lines = lines_of(paths().front());
  put(paths().front(), {lines[0], lines[1]});
  AuditLog log = open();
  ASSERT_EQ(log.findings().size(), 1u);
  EXPECT_THAT(log.findings()[0], HasSubstr("entries 3 to 9 were on disk but are missing now"));
  fill(log, 10, 10);
  EXPECT_THAT(problem(), HasSubstr("entries 3 to 9 are missing before this one"));
}

TEST(AuditLimits, DivideWhatIsKept) {
  EXPECT_EQ(audit_limits(kDefaultAudit).segments, 64u);
  EXPECT_EQ(audit_limits(kDefaultAudit).segment, mebibytes(16));
  EXPECT_EQ(audit_limits(kLeastAudit).segments, 4u);
  EXPECT_EQ(audit_limits(gibibytes(10)).segments, 640u);
}

}  // namespace
}  // namespace lockstep::launcher
