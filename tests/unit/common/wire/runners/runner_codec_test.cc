#include "common/wire/runners/runner_codec.h"

#include <gmock/gmock.h>

#include "common/wire/job/found_codec.h"
#include "proto/runner.pb.h"
#include "tests/unit/common/wire/fill.h"

namespace lockstep {
namespace {

using test::filled;
using testing::HasSubstr;

TEST(RunnerCodec, EveryControlMessageSurvivesARoundTrip) {
  test::for_each_alternative<RunnerControl>([](const RunnerControl& sent) {
    const auto received = wire::decode_runner_control(wire::encode(sent));
    ASSERT_TRUE(received) << received.error().message;
    EXPECT_TRUE(*received == sent) << "kind " << sent.index() << " lost a field";
  });
}

TEST(RunnerCodec, EveryGangMessageSurvivesARoundTrip) {
  test::for_each_alternative<GangMessage>([](const GangMessage& sent) {
    const auto received = wire::decode_gang(wire::encode(sent));
    ASSERT_TRUE(received) << received.error().message;
    EXPECT_TRUE(*received == sent) << "kind " << sent.index() << " lost a field";
  });
}

TEST(RunnerCodec, AFenceCarriesBinaryAndEmptyContributions) {
  const GangMessage sent =
      FencePart{std::string("\0sig", 4), 1, {{0, ""}, {3, std::string("\0\xff", 2)}}};
  const auto received = wire::decode_gang(wire::encode(sent));
  ASSERT_TRUE(received);
  EXPECT_TRUE(*received == sent);
}

TEST(RunnerCodec, ADrainedNodeThatSaysNoIsNotOneThatSaysNothing) {
  for (const std::optional<bool> connected : {std::optional(false), std::optional<bool>()}) {
    const GangMessage sent = GangNodeDone{3, connected};
    const auto received = wire::decode_gang(wire::encode(sent));
    ASSERT_TRUE(received) << received.error().message;
    EXPECT_TRUE(*received == sent);
  }
}

// A runner from before there were standings says nothing of what it knows.
TEST(RunnerCodec, AnOlderRunnerKnowsNothing) {
  pb::GangMessage wire;
  wire.set_version(wire::kRunnerVersion);
  wire.mutable_ready()->set_node_rank(1);
  const auto received = wire::decode_gang(wire.SerializeAsString());
  ASSERT_TRUE(received);
  EXPECT_EQ(std::get<GangReady>(*received).knows, 0U);
}

TEST(RunnerCodec, StandingsAreBounded) {
  GangStandings many;
  many.standings.resize(kMaxStandingsOfMessage + 1);
  EXPECT_FALSE(wire::decode_gang(wire::encode(GangMessage(many))));
  many.standings.resize(kMaxStandingsOfMessage);
  EXPECT_TRUE(wire::decode_gang(wire::encode(GangMessage(many))));
  GangLook look;
  look.ranks.resize(kMaxRanksOfLook + 1);
  EXPECT_FALSE(wire::decode_gang(wire::encode(GangMessage(look))));
}

// Texts of ranks are cut where they are sent: none makes a message unreadable.
TEST(RunnerCodec, LongTextsOfRanksAreCut) {
  GangStandings sent;
  RankStanding& standing = sent.standings.emplace_back();
  standing.on = standing.at = standing.within = std::string(10'000, 'x');
  standing.collectives.resize(2 * kMaxCollectiveCounts);
  const auto received = wire::decode_gang(wire::encode(GangMessage(sent)));
  ASSERT_TRUE(received) << received.error().message;
  const RankStanding& read = std::get<GangStandings>(*received).standings.front();
  EXPECT_EQ(read.on.size(), kMaxStandingTextBytes);
  EXPECT_EQ(read.collectives.size(), kMaxCollectiveCounts);
}

TEST(RunnerCodec, AFindingsListIsCutToItsBounds) {
  PartReport report = filled<PartReport>();
  Found found = filled<Found>();
  found.ranks.resize(2 * kMaxFoundRanks, found.ranks.front());
  found.waiting.resize(2 * kMaxFoundWaiting, 3);
  found.fact = std::string(5'000, 'x');
  report.found.assign(2 * kMaxFound, found);
  const auto received =
      wire::decode_runner_control(wire::encode(RunnerControl(RunnerStatus{report})));
  ASSERT_TRUE(received) << received.error().message;
  const FoundList& read = std::get<RunnerStatus>(*received).report.found;
  ASSERT_EQ(read.size(), kMaxFound);
  EXPECT_EQ(read.front().ranks.size(), kMaxFoundRanks);
  EXPECT_EQ(read.front().waiting.size(), kMaxFoundWaiting);
  EXPECT_EQ(read.front().fact.size(), kMaxFoundTextBytes);
}

// Earlier runners have no field for it, and newer ones may know more.
TEST(RunnerCodec, WhatAFindingIsAboutIsReadFromItsTextOnlyOfAnEarlierRunner) {
  const auto read = [](FoundKind kind, const char* fact, int about) {
    pb::Found wire;
    wire.set_kind(static_cast<int>(kind) + 1);
    wire.set_verdict(1);
    wire.set_fact(fact);
    wire.set_about(about);
    Found found;
    EXPECT_TRUE(pb::from_wire(wire, &found));
    return found.about;
  };
  EXPECT_EQ(read(FoundKind::not_started, "the rendezvous", 0), FoundAbout::rendezvous);
  EXPECT_EQ(read(FoundKind::cycle, "lock", 0), FoundAbout::lock);
  EXPECT_EQ(read(FoundKind::waits, "lock", 0), FoundAbout::named) << "a collective of that name";
  EXPECT_EQ(read(FoundKind::cycle, "lock", 1), FoundAbout::named);
  EXPECT_EQ(read(FoundKind::cycle, "", 99), FoundAbout::named);
}

// A newer runner may find what an older launcher has no words for.
TEST(RunnerCodec, AFindingOfAnUnknownKindIsLeftOut) {
  pb::RunnerControl wire;
  wire.set_version(wire::kRunnerVersion);
  pb::PartReport* const part = wire.mutable_status();
  part->mutable_attempt()->set_job("job");
  part->mutable_attempt()->set_number(1);
  part->set_state(pb::PART_STATE_RUNNING);
  part->add_found()->set_kind(99);
  part->mutable_found(0)->set_verdict(1);
  part->add_found()->set_kind(2);
  part->mutable_found(1)->set_verdict(2);
  const auto received = wire::decode_runner_control(wire.SerializeAsString());
  ASSERT_TRUE(received) << received.error().message;
  const FoundList& read = std::get<RunnerStatus>(*received).report.found;
  ASSERT_EQ(read.size(), 1U);
  EXPECT_EQ(read.front().kind, FoundKind::waits);
  EXPECT_EQ(read.front().verdict, FoundVerdict::waits);
}

TEST(RunnerCodec, AJobFromBeforeThereWasAHangPolicyHasTheDefault) {
  pb::StoredAssignment wire;
  auto assignment = filled<Assignment>();
  assignment.spec.command = ShellCommand{"true"};
  ASSERT_TRUE(wire.ParseFromString(wire::encode(assignment)));
  wire.mutable_assignment()->mutable_spec()->clear_hang_after_ns();
  wire.mutable_assignment()->mutable_spec()->clear_on_hang();
  const auto read = wire::decode_assignment(wire.SerializeAsString());
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_TRUE(read->spec.hang == HangPolicy());
}

TEST(RunnerCodec, StoredFilesSurviveARoundTrip) {
  auto assignment = filled<Assignment>();
  assignment.secrets.reset();  // neither is ever in a file
  assignment.credential.clear();
  const auto report = filled<NodeExitReport>();
  const auto plan = filled<WorkspacePlan>();
  const auto fabric = filled<NodeFabric>();
  const auto read_assignment = wire::decode_assignment(wire::encode(assignment));
  const auto read_report = wire::decode_exit_report(wire::encode(report));
  const auto read_plan = wire::decode_workspace_plan(wire::encode(plan));
  const auto read_fabric = wire::decode_node_fabric(wire::encode(fabric));
  ASSERT_TRUE(read_assignment && read_report && read_plan && read_fabric);
  EXPECT_TRUE(*read_assignment == assignment);
  EXPECT_TRUE(*read_report == report);
  EXPECT_TRUE(*read_plan == plan);
  EXPECT_TRUE(*read_fabric == fabric);
}

TEST(RunnerCodec, SecretsGoToARunnerButToNoFile) {
  auto assignment = filled<Assignment>();
  assignment.secrets = SecretValues{{"TOKEN", "canary-in-a-file"}};
  assignment.credential = "canary-in-a-file-too";
  EXPECT_EQ(wire::encode(assignment).find("canary-in-a-file"), std::string::npos);
  const auto told =
      wire::decode_runner_control(wire::encode(RunnerControl(UpdateAssignment{assignment})));
  ASSERT_TRUE(told);
  EXPECT_EQ(std::get<UpdateAssignment>(*told).assignment.secrets, assignment.secrets);
}

TEST(RunnerCodec, AnAssignmentWithoutAGangSurvives) {
  auto assignment = filled<Assignment>();
  assignment.secrets.reset();
  assignment.credential.clear();
  assignment.gang = {};
  assignment.spec.command = ShellCommand{"echo hello"};
  const auto read = wire::decode_assignment(wire::encode(assignment));
  ASSERT_TRUE(read);
  EXPECT_TRUE(*read == assignment);
}

Assignment of_node(int node_rank) {
  GangTable table;
  for (int i = 0; i < 7; ++i) table.members.push_back(filled<GangMember>());
  auto assignment = filled<Assignment>();
  assignment.secrets.reset();
  assignment.credential.clear();
  assignment.gang = {};
  assignment.node_rank = node_rank;
  assignment.spec.resources.instance_count = 7;
  assignment.share = share_of(table, node_rank, 2, digest_of(assignment.attempt, table));
  return assignment;
}

TEST(RunnerCodec, ASharesKeysOfChildrenSurvive) {
  for (const int node_rank : {0, 1, 6}) {
    const Assignment sent = of_node(node_rank);
    EXPECT_EQ(sent.share->children.size(), node_rank == 6 ? 0U : 2U);
    const auto read = wire::decode_assignment(wire::encode(sent));
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_TRUE(*read == sent);
  }
}

TEST(RunnerCodec, AShareOfAnotherPlaceInTheTreeIsRefused) {
  const auto refused = [](const Assignment& assignment) {
    const auto read = wire::decode_assignment(wire::encode(assignment));
    return !read && read.error().message.find("share") != std::string::npos;
  };
  Assignment one = of_node(1);
  one.share->children.pop_back();
  EXPECT_TRUE(refused(one)) << "a child less";
  one = of_node(1);
  one.share->parent.reset();
  EXPECT_TRUE(refused(one)) << "no parent";
  one = of_node(0);
  one.share->parent = filled<GangMember>();
  EXPECT_TRUE(refused(one)) << "a parent of the root";
  one = of_node(1);
  one.share->nodes = 8;
  EXPECT_TRUE(refused(one)) << "another gang";
  for (const int radix : {0, -1, kMaxGangTreeRadix + 1}) {
    one = of_node(1);
    one.share->radix = radix;
    EXPECT_TRUE(refused(one)) << radix;
  }
}

TEST(RunnerCodec, RowsAreBounded) {
  auto rows = filled<GangRows>();
  rows.rows.clear();
  EXPECT_FALSE(wire::decode_gang(wire::encode(GangMessage(rows))));
  rows.rows.assign(kMaxRowsInMessage, filled<GangMember>());
  EXPECT_TRUE(wire::decode_gang(wire::encode(GangMessage(rows))));
  rows.rows.push_back(filled<GangMember>());
  EXPECT_FALSE(wire::decode_gang(wire::encode(GangMessage(rows))));
}

TEST(RunnerCodec, AnEmptyFileIsOfNoVersion) {
  for (const auto& error :
       {wire::decode_assignment("").error(), wire::decode_exit_report("").error(),
        wire::decode_workspace_plan("").error(), wire::decode_gang("").error(),
        wire::decode_runner_control("").error()}) {
    EXPECT_EQ(error.code, ErrorCode::unsupported);
    EXPECT_THAT(error.message, HasSubstr("version 0"));
  }
}

TEST(RunnerCodec, ANodeThatContributesTwiceIsRefused) {
  pb::GangMessage wire;
  wire.set_version(wire::kRunnerVersion);
  wire.mutable_fence_part()->add_blobs()->set_node_rank(4);
  wire.mutable_fence_part()->add_blobs()->set_node_rank(4);
  const auto received = wire::decode_gang(wire.SerializeAsString());
  ASSERT_FALSE(received);
  EXPECT_THAT(received.error().message, HasSubstr("fence_part.blobs"));
}

TEST(RunnerCodec, ANodeRankOutsideEveryGangIsRefused) {
  for (const int node_rank : {-1, kMaxNodesPerJob}) {
    const auto received = wire::decode_gang(wire::encode(GangMessage(GangReady{node_rank})));
    ASSERT_FALSE(received);
    EXPECT_THAT(received.error().message, HasSubstr("gang_ready.node_rank"));
  }
}

}  // namespace
}  // namespace lockstep
