// What every audit log promises the service (launcher/api/ports/audit_trail.h).

#include "launcher/api/ports/audit_trail.h"

#include <gmock/gmock.h>

#include <optional>

#include "launcher/daemon/ports/auditor.h"
#include "tests/fakes/api/audit_trail.h"
#include "tests/fakes/api/clock_and_random.h"
#include "tests/fakes/disk/faults.h"
#include "tests/unit/support/temp_dir.h"

namespace lockstep::launcher {
namespace {

class AuditTrailContract : public testing::TestWithParam<bool> {
 protected:
  AuditTrail& trail() {
    if (GetParam()) return auditor_;
    return fake_;
  }
  void record(const std::string& object, AuditOutcome outcome = AuditOutcome::done) {
    AuditEntry entry;
    entry.who = "ann";
    entry.address = "10.0.0.3";
    entry.what = "cancel job";
    entry.object = object;
    entry.outcome = outcome;
    trail().record(std::move(entry));
  }
  // What the log answers, on the loop.
  template <typename Reply, typename Ask>
  Reply answer(const Ask& ask) {
    std::optional<ClientReply> reply;
    ask([&](ClientReply said) { reply = std::move(said); });
    for (int i = 0; i < 1'000 && !reply; ++i) loop_.turn(milliseconds(50));
    EXPECT_TRUE(reply && std::holds_alternative<Reply>(*reply));
    return reply ? std::get<Reply>(*reply) : Reply{};
  }
  AuditReply page(const QueryAudit& query) {
    return answer<AuditReply>([&](auto then) { trail().query(query, then); });
  }
  std::vector<std::string> objects(const AuditReply& reply) {
    std::vector<std::string> all;
    for (const AuditEntry& entry : reply.entries) all.push_back(entry.object);
    return all;
  }

  const test::TempDir directory_{test::quick_directory()};
  test::FakeClockAndRandom clock_;
  io::EventLoop loop_;
  Auditor auditor_{loop_, *AuditLog::open(directory_ / "audit", {}, clock_.time),
                   [this] { return clock_.time; }};
  test::FakeAuditTrail fake_{clock_};
};

INSTANTIATE_TEST_SUITE_P(Of, AuditTrailContract, testing::Bool(), [](const auto& of) {
  return std::string(of.param ? "Auditor" : "TheFake");
});

TEST_P(AuditTrailContract, NumbersEntriesAndNotesTheirTime) {
  const Instant first = clock_.time;
  record("job a");
  clock_.time = first + seconds(1);
  record("job b", AuditOutcome::refused);
  const AuditReply reply = page({});
  ASSERT_EQ(reply.entries.size(), 2U);
  EXPECT_EQ(objects(reply), (std::vector<std::string>{"job a", "job b"}));
  EXPECT_EQ(reply.entries[0].number + 1, reply.entries[1].number);
  EXPECT_EQ(reply.entries[0].at, first);
  EXPECT_EQ(reply.entries[1].at, first + seconds(1));
  EXPECT_EQ(reply.entries[1].outcome, AuditOutcome::refused);
}

TEST_P(AuditTrailContract, PagesFromTheNewestOn) {
  for (int i = 0; i < 5; ++i) record("job " + std::to_string(i));
  QueryAudit query;
  query.limit = 2;
  const AuditReply newest = page(query);
  EXPECT_EQ(objects(newest), (std::vector<std::string>{"job 3", "job 4"}));
  ASSERT_NE(newest.before, 0U);
  query.before = newest.before;
  const AuditReply next = page(query);
  EXPECT_EQ(objects(next), (std::vector<std::string>{"job 1", "job 2"}));
  query.before = next.before;
  const AuditReply last = page(query);
  EXPECT_EQ(objects(last), (std::vector<std::string>{"job 0"}));
  EXPECT_EQ(last.before, 0U);
}

TEST_P(AuditTrailContract, IsIntactAndTakesChanges) {
  for (int i = 0; i < 3; ++i) record("job " + std::to_string(i));
  EXPECT_EQ(trail().is_stuck(), "");
  const auto verified =
      answer<AuditVerified>([&](auto then) { trail().verify(VerifyAudit{}, then); });
  EXPECT_EQ(verified.problem, "");
  EXPECT_EQ(verified.entries, 3U);
  EXPECT_EQ(verified.first, page({}).entries.front().number);
  EXPECT_EQ(verified.last.number, page({}).entries.back().number);
}

}  // namespace
}  // namespace lockstep::launcher
