#include "common/wire/runner.h"

#include <gmock/gmock.h>

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
    const GangMessage sent = GangDrained{3, connected};
    const auto received = wire::decode_gang(wire::encode(sent));
    ASSERT_TRUE(received) << received.error().message;
    EXPECT_TRUE(*received == sent);
  }
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
  EXPECT_THAT(received.error().message, HasSubstr("fence.blobs"));
}

TEST(RunnerCodec, ANodeRankOutsideEveryGangIsRefused) {
  for (const int node_rank : {-1, kMaxNodesPerJob}) {
    const auto received = wire::decode_gang(wire::encode(GangMessage(GangReady{node_rank})));
    ASSERT_FALSE(received);
    EXPECT_THAT(received.error().message, HasSubstr("ready.node_rank"));
  }
}

}  // namespace
}  // namespace lockstep
