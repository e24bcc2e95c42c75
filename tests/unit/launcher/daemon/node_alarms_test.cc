// What the operator is told of nodes that are not heard.

#include "launcher/daemon/node_alarms.h"

#include <gmock/gmock.h>

#include "common/domain/why/nodes/losses.h"

namespace lockstep::launcher {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class Alarms : public ::testing::Test {
 protected:
  NodeNews news(std::uint64_t id, Liveness liveness, Why why = {}) {
    return {NodeId(id), "n" + std::to_string(id), liveness, std::move(why)};
  }
  // The lines of `time` in which nothing else happens.
  std::vector<std::string> after(Duration time) {
    warned.clear();
    for (const Instant end = now + time; now < end; now = now + seconds(1))
      if (alarms.next_deadline() <= now) alarms.remind(now, [this](NodeId) { return is_there; });
    return warned;
  }

  Instant now{1'700'000'000'000'000'000};
  bool is_there = true;
  std::vector<std::string> warned, informed;
  std::vector<AuditEntry> entries;
  NodeAlarms alarms{{[this](const std::string& line) { warned.push_back(line); },
                     [this](const std::string& line) { informed.push_back(line); },
                     [this](AuditEntry entry) { entries.push_back(std::move(entry)); }}};
};

TEST_F(Alarms, ALostNodeIsToldAtOnceAndInTheAuditLog) {
  alarms.take(now, {news(2, Liveness::unknown, NodeNotHeard{seconds(3)})});
  EXPECT_THAT(warned, ElementsAre(AllOf(HasSubstr("node n2 is UNKNOWN"), HasSubstr("for 3.0s"))));
  EXPECT_THAT(entries, IsEmpty());
  alarms.take(now + seconds(7), {news(2, Liveness::lost, NodeNotHeard{seconds(10)})});
  EXPECT_THAT(warned.back(), AllOf(HasSubstr("node n2 is LOST"), HasSubstr("for 10.0s")));
  ASSERT_THAT(entries, SizeIs(1));
  EXPECT_EQ(entries[0].what, "lose node");
  EXPECT_EQ(entries[0].object, "node n2");
  EXPECT_EQ(entries[0].detail, "it has not reported for 10.0s");
}

TEST_F(Alarms, ItIsToldAgainAfterGrowingPauses) {
  alarms.take(now,
              {news(2, Liveness::lost, told("silence")), news(3, Liveness::lost, told("silence"))});
  EXPECT_THAT(after(seconds(59)), IsEmpty());
  EXPECT_THAT(after(seconds(2)), ElementsAre(AllOf(HasSubstr("n2, n3"), HasSubstr("still LOST"))));
  EXPECT_THAT(after(seconds(110)), IsEmpty());
  EXPECT_THAT(after(seconds(20)), SizeIs(1));
  EXPECT_THAT(after(minutes(24 * 60)),
              SizeIs(::testing::AllOf(::testing::Ge(7u), ::testing::Le(12u))));
}

// Of a node that was LOST before the launcher's restart no line said so any more.
TEST_F(Alarms, NodesThatWereLostBeforeAreToldOnceAtTheStartAndThenAfterGrowingPauses) {
  std::map<NodeId, Node> nodes;
  for (const std::uint64_t id : {2U, 3U, 4U}) {
    nodes[NodeId(id)].name = "n" + std::to_string(id);
    if (id != 4) nodes[NodeId(id)].lost = told("silence");
  }
  nodes[NodeId(2)].history = {{now - minutes(180), "Lost", told("silence")}, {now, "Labelled"}};
  alarms.begin(now, nodes);
  EXPECT_THAT(after(seconds(59)), ElementsAre("still LOST, the first for " +
                                              format_duration(minutes(180)) + ": nodes n2, n3"));
  EXPECT_THAT(entries, IsEmpty()) << "the audit log has it from then";
  EXPECT_THAT(after(seconds(2)), SizeIs(1));
  alarms.take(now, {news(2, Liveness::alive), news(3, Liveness::alive)});
  EXPECT_THAT(informed.front(), HasSubstr("node n2 reports again after 3h"));
  EXPECT_EQ(alarms.next_deadline(), Instant::never());
}

TEST_F(Alarms, ANodeThatReportsAgainIsToldWithItsAbsence) {
  alarms.take(now, {news(2, Liveness::unknown, NodeNotHeard{seconds(3)})});
  alarms.take(now + seconds(2), {news(2, Liveness::alive)});
  EXPECT_THAT(informed, ElementsAre("node n2 reports again after " + format_duration(seconds(2))));
  EXPECT_THAT(entries, IsEmpty());
  alarms.take(now, {news(3, Liveness::lost, told("silence"))});
  alarms.take(now + minutes(2), {news(3, Liveness::alive)});
  EXPECT_EQ(informed.back(), "node n3 reports again after " + format_duration(minutes(2)));
  ASSERT_THAT(entries, SizeIs(2));
  EXPECT_EQ(entries[1].what, "hear node again");
  EXPECT_EQ(alarms.next_deadline(), Instant::never());
}

TEST_F(Alarms, ANodeThatWasRemovedIsToldNoMore) {
  alarms.take(now, {news(2, Liveness::lost, told("silence"))});
  is_there = false;
  EXPECT_THAT(after(minutes(10)), IsEmpty());
  EXPECT_EQ(alarms.next_deadline(), Instant::never());
}

}  // namespace
}  // namespace lockstep::launcher
