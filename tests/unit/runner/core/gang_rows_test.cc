// A gang's table on its way from parent to child, by values alone.
#include "runner/core/gang_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lockstep::runner {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const AttemptId kAttempt{JobId("job"), 2};

GangTable numbered(int nodes) {
  GangTable table;
  table.master_port = 6105;
  for (int i = 0; i < nodes; ++i) {
    GangMember member;
    member.hostname = "n" + std::to_string(i);
    member.runner_key = PublicKey("key-" + std::to_string(i));
    table.members.push_back(member);
  }
  return table;
}

TableRelay lacking(const GangTable& table, int node_rank = 1, int radix = 2) {
  return {kAttempt, node_rank, {}, share_of(table, node_rank, radix, digest_of(kAttempt, table))};
}

Why refusal(TableRelay& relay, GangRows rows) { return relay.take(std::move(rows)); }

// Of a gang of seven.
Why refused(TableFault fault, int parent = 0) {
  return GangTableRefused{parent, fault, "", 0, 0, 7};
}

TEST(GangRows, ATableIsCutIntoMessagesInOrder) {
  const auto messages = cut_into_rows(kAttempt, numbered(7), 3);
  ASSERT_EQ(messages.size(), 3U);
  EXPECT_EQ(messages[0].first, 0);
  EXPECT_EQ(messages[1].first, 3);
  EXPECT_EQ(messages[2].first, 6);
  EXPECT_EQ(messages[0].rows.size(), 3U);
  EXPECT_EQ(messages[2].rows.size(), 1U);
  EXPECT_EQ(messages[2].rows[0].hostname, "n6");
  EXPECT_EQ(messages[2].master_port, 6105);
  EXPECT_EQ(cut_into_rows(kAttempt, numbered(6), 3).size(), 2U);
  EXPECT_EQ(cut_into_rows(kAttempt, numbered(1)).size(), 1U);
}

TEST(GangRows, ATableThatCameInRowsIsTheOneThatWasCut) {
  GangTable table = numbered(7);
  table.fabric.emplace().subnet = "fe80::";
  for (const std::size_t at_most : {1, 2, 3, 7, 100}) {
    TableRelay relay = lacking(table);
    for (GangRows& rows : cut_into_rows(kAttempt, table, at_most)) {
      EXPECT_FALSE(relay.whole());
      EXPECT_EQ(refusal(relay, std::move(rows)), Why());
    }
    ASSERT_TRUE(relay.whole()) << at_most;
    EXPECT_EQ(*relay.whole(), table);
  }
}

TEST(GangRows, AChildGetsTheTableOnceItIsThereAndOnlyOnce) {
  const GangTable table = numbered(7);
  TableRelay relay = lacking(table);
  relay.ask(3);
  EXPECT_THAT(relay.due(), IsEmpty());
  EXPECT_EQ(refusal(relay, cut_into_rows(kAttempt, table).front()), Why());
  relay.ask(4);
  EXPECT_THAT(relay.due(), ElementsAre(3, 4));
  relay.ask(3);
  EXPECT_THAT(relay.due(), IsEmpty()) << "a child that asks again and again";
}

TEST(GangRows, WhoHasTheWholeTableServesItAndTakesNoOther) {
  const GangTable table = numbered(3);
  TableRelay relay(kAttempt, 0, table, {});
  EXPECT_EQ(relay.share().nodes, 3);
  EXPECT_EQ(relay.share().radix, kGangTreeRadix);
  EXPECT_EQ(relay.share().children.size(), 2U);
  EXPECT_FALSE(relay.share().parent);
  EXPECT_EQ(refusal(relay, cut_into_rows(kAttempt, numbered(2)).front()), Why());
  EXPECT_EQ(*relay.whole(), table);
  relay.ask(1);
  EXPECT_THAT(relay.due(), ElementsAre(1));
}

TEST(GangRows, RowsOutOfOrderAreRefused) {
  const GangTable table = numbered(7);
  const auto messages = cut_into_rows(kAttempt, table, 3);
  TableRelay relay = lacking(table);
  EXPECT_EQ(refusal(relay, messages[0]), Why());
  EXPECT_EQ(refusal(relay, messages[2]),
            Why(GangTableRefused{0, TableFault::out_of_order, "", 6, 3, 7}));
  EXPECT_EQ(refusal(relay, messages[1]), Why()) << "nothing more is taken";
  EXPECT_FALSE(relay.whole());
}

TEST(GangRows, DoubledRowsAreRefused) {
  const GangTable table = numbered(7);
  const auto messages = cut_into_rows(kAttempt, table, 3);
  TableRelay relay = lacking(table);
  EXPECT_EQ(refusal(relay, messages[0]), Why());
  EXPECT_EQ(refusal(relay, messages[0]),
            Why(GangTableRefused{0, TableFault::out_of_order, "", 0, 3, 7}));
}

TEST(GangRows, MoreRowsThanNodesAreRefused) {
  TableRelay relay = lacking(numbered(7));
  EXPECT_EQ(refusal(relay, cut_into_rows(kAttempt, numbered(8)).front()),
            refused(TableFault::wrong_count));
}

TEST(GangRows, AMessageWithoutRowsIsRefused) {
  TableRelay relay = lacking(numbered(7));
  GangRows none;
  none.attempt = kAttempt;
  EXPECT_EQ(refusal(relay, none), refused(TableFault::wrong_count));
}

TEST(GangRows, ATableThatAParentChangedIsRefusedAndGoesNoFurther) {
  const GangTable table = numbered(7);
  GangTable forged = table;
  forged.members[5].address = "10.6.6.6";
  TableRelay relay = lacking(table, 4);
  relay.ask(9);
  EXPECT_EQ(refusal(relay, cut_into_rows(kAttempt, forged).front()),
            refused(TableFault::altered, 1));
  EXPECT_FALSE(relay.whole());
  EXPECT_THAT(relay.due(), IsEmpty());
  forged = table;
  forged.master_port = 1;
  TableRelay other = lacking(table);
  EXPECT_EQ(refusal(other, cut_into_rows(kAttempt, forged).front()), refused(TableFault::altered));
}

TEST(GangRows, TheTableOfAnOlderAttemptIsRefused) {
  const GangTable table = numbered(7);
  const AttemptId older{kAttempt.job, 1};
  TableRelay relay = lacking(table);
  EXPECT_EQ(refusal(relay, cut_into_rows(older, table).front()),
            Why(GangTableRefused{0, TableFault::other_attempt, "job.1", 0, 0, 7}));
  TableRelay renamed = lacking(numbered(7));
  GangTable old = numbered(7);
  old.members[0].runner_port = 9;
  EXPECT_EQ(refusal(renamed, cut_into_rows(kAttempt, old).front()), refused(TableFault::altered));
}

}  // namespace
}  // namespace lockstep::runner
