// What the audit log of a running launcher takes: bounded refusals that are counted, a read once a
// minute, every change; and what it does while the disk is full.

#include "launcher/daemon/ports/auditor.h"

#include <gmock/gmock.h>

#include "launcher/audit/page.h"
#include "tests/fakes/disk/faults.h"
#include "tests/unit/support/temp_dir.h"

namespace lockstep::launcher {
namespace {

using testing::HasSubstr;

class Auditing : public testing::Test {
 protected:
  static AuditEntry entry(AuditOutcome outcome, const std::string& object,
                          const std::string& address = "10.0.0.3") {
    AuditEntry made;
    made.who = "mallory";
    made.key = std::string(40, 'm');
    made.address = address;
    made.what = "cancel job";
    made.object = object;
    made.outcome = outcome;
    return made;
  }
  std::vector<AuditEntry> written() const {
    std::vector<AuditEntry> all;
    QueryAudit query;
    do {
      const auto page = audit_page(folder_, query);
      all.insert(all.begin(), page->entries.begin(), page->entries.end());
      query.before = page->before;
    } while (query.before != 0);
    return all;
  }

  const test::TempDir dir_{test::quick_directory()};
  const std::string folder_ = dir_ / "audit";
  Instant now_{1'700'000'000'000'000'000};
  io::EventLoop loop_;
  Auditor auditor_{loop_, *AuditLog::open(folder_, {}, now_), [this] { return now_; }};
};

TEST_F(Auditing, AFloodOfRefusalsIsBoundedAndCounted) {
  for (int i = 0; i < 5'000; ++i) {
    auditor_.record(entry(AuditOutcome::refused, "job " + std::to_string(i)));
    auditor_.record(entry(AuditOutcome::done, "mine"));
  }
  AuditEntry other = entry(AuditOutcome::refused, "job of another's", "10.0.0.4");
  other.key = std::string(40, 'o');
  auditor_.record(other);
  auditor_.write();
  now_ = now_ + minutes(2);
  auditor_.turn_end();
  int refused = 0, done = 0;
  for (const auto& one : written()) {
    refused += one.outcome == AuditOutcome::refused ? 1 : 0;
    done += one.outcome == AuditOutcome::done ? 1 : 0;
    EXPECT_THAT(one.key, testing::AnyOf(testing::IsEmpty(), testing::StartsWith("lskey"),
                                        testing::Eq(std::string(40, 'm')),
                                        testing::Eq(std::string(40, 'o'))));
  }
  EXPECT_EQ(done, 5'000) << "changes are never left out";
  EXPECT_EQ(refused, 51) << "what one key has at once, and another's";
  EXPECT_THAT(written().back().object, HasSubstr("4950 refusals since"));
  EXPECT_THAT(written().back().detail, HasSubstr("4950 of 10.0.0.3"));
}

TEST_F(Auditing, TheSameReadCountsOnceAMinute) {
  for (int i = 0; i < 100; ++i) auditor_.record(entry(AuditOutcome::read, "job a"));
  auditor_.record(entry(AuditOutcome::read, "job b"));
  now_ = now_ + seconds(61);
  auditor_.record(entry(AuditOutcome::read, "job a"));
  auditor_.write();
  EXPECT_EQ(written().size(), 3u);
}

TEST_F(Auditing, OnAFullDiskChangesWaitUntilTooManyDoAndNoneIsLost) {
  test::DiskFaults faults({"full", ENOSPC, true, true, test::growing_calls()}, 1);
  int taken = 0;
  {
    const io::disk::InFront in_front(faults);
    for (; auditor_.is_stuck().empty() && taken < 20'000; ++taken) {
      auditor_.record(entry(AuditOutcome::done, "job " + std::to_string(taken)));
      auditor_.write();
    }
    EXPECT_EQ(taken, 10'000);
    EXPECT_THAT(auditor_.is_stuck(), HasSubstr("free space there"));
    auditor_.record(entry(AuditOutcome::refused, "job x"));  // counted, and no more
  }
  now_ = now_ + seconds(2);
  auditor_.write();
  EXPECT_EQ(auditor_.is_stuck(), "");
  EXPECT_EQ(written().size(), 10'000u);
}

TEST_F(Auditing, AnswersOnTheLoop) {
  auditor_.record(entry(AuditOutcome::done, "job a"));
  std::optional<ClientReply> page, whole;
  auditor_.query({}, [&](ClientReply reply) { page = std::move(reply); });
  auditor_.verify({}, [&](ClientReply reply) { whole = std::move(reply); });
  for (int i = 0; i < 1'000 && (!page || !whole); ++i) loop_.turn(milliseconds(50));
  ASSERT_TRUE(page && whole);
  EXPECT_EQ(std::get<AuditReply>(*page).entries.size(), 1u);
  EXPECT_EQ(std::get<AuditVerified>(*whole).problem, "");
}

}  // namespace
}  // namespace lockstep::launcher
