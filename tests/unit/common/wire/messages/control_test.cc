// The control codec: every message with every field set survives a round trip; what is out of
// range, of another version or cut short is refused with words.

#include "common/wire/messages/control.h"

#include <gmock/gmock.h>

#include "common/domain/why/all/convert.h"
#include "common/wire/messages/bulk.h"
#include "proto/control.pb.h"
#include "tests/unit/common/wire/fill.h"

namespace lockstep {
namespace {

using test::filled;
using testing::HasSubstr;

template <typename Body>
Envelope<Body> envelope_of(Body body) {
  return {kProtocolVersion, 7, 5, 1'500, std::move(body)};
}
Envelope<AgentMessage> of_agent(AgentMessage body) { return envelope_of(std::move(body)); }
Envelope<AgentReply> to_agent(AgentReply body) { return envelope_of(std::move(body)); }
Envelope<ClientRequest> of_client(ClientRequest body) { return envelope_of(std::move(body)); }
Envelope<ClientReply> to_client(ClientReply body) { return envelope_of(std::move(body)); }

template <typename Body>
Result<Envelope<Body>> there(const Envelope<Body>& sent) {
  return wire::decode_envelope<Body>(wire::encode(sent));
}

template <typename Body>
class Protocol : public testing::Test {};
using Protocols =
    testing::Types<AgentMessage, AgentReply, ClientRequest, ClientReply, JoinMessage, JoinReply>;
TYPED_TEST_SUITE(Protocol, Protocols);

TYPED_TEST(Protocol, EveryMessageSurvivesARoundTripWithEveryFieldSet) {
  std::size_t kinds = 0;
  test::for_each_alternative<TypeParam>([&](const TypeParam& body) {
    const auto sent = envelope_of(body);
    const auto received = there(sent);
    ASSERT_TRUE(received) << "kind " << body.index() << ": " << received.error().message;
    EXPECT_TRUE(*received == sent) << "kind " << body.index() << " lost a field";
    ++kinds;
  });
  EXPECT_EQ(kinds, std::variant_size_v<TypeParam>);
}

TEST(ControlCodec, APipelineSurvivesARoundTripWithEveryFieldSet) {
  const auto sent = of_client(Submit{"submission", test::pipeline_job(), false});
  const auto received = there(sent);
  ASSERT_TRUE(received) << received.error().message;
  EXPECT_TRUE(*received == sent) << "it lost a field";
}

TEST(ControlCodec, APipelineInAPipelineIsNotRead) {
  JobSpec spec = test::pipeline_job();
  PipelineSpec outer = *spec.pipeline;
  outer.steps.front().spec = spec;
  spec.pipeline = std::move(outer);
  const auto received = there(of_client(Submit{"submission", std::move(spec), false}));
  ASSERT_FALSE(received);
  EXPECT_THAT(received.error().message, testing::HasSubstr("step.spec"));
}

TEST(ControlCodec, EveryChangeOfUsersSurvivesARoundTrip) {
  using Change = decltype(ChangePrincipals::change);
  std::size_t kinds = 0;
  test::for_each_alternative<Change>([&](const Change& change) {
    const auto sent = of_client(ChangePrincipals{change});
    const auto received = there(sent);
    ASSERT_TRUE(received) << "kind " << change.index() << ": " << received.error().message;
    EXPECT_TRUE(*received == sent) << "kind " << change.index() << " lost a field";
    ++kinds;
  });
  EXPECT_EQ(kinds, std::variant_size_v<Change>);
}

template <typename Other, typename Body>
void expect_unread(const Body& body) {
  const auto read = wire::decode_envelope<Other>(wire::encode(envelope_of(body)));
  ASSERT_FALSE(read) << "kind " << body.index();
  if constexpr (std::is_same_v<Other, JoinReply>) {
    EXPECT_EQ(read.error().code, ErrorCode::corrupt) << "who asked has the wrong address";
    EXPECT_THAT(read.error().message, testing::HasSubstr("another port of the launcher"));
  } else {
    EXPECT_THAT(read.error().code,
                testing::AnyOf(ErrorCode::permission_denied, ErrorCode::invalid_argument));
  }
}

// Refused is the one message that agents and clients both hear.
TYPED_TEST(Protocol, NoOtherProtocolReadsItsMessages) {
  test::for_each_alternative<TypeParam>([](const TypeParam& body) {
    if constexpr (!std::is_same_v<TypeParam, AgentMessage>) expect_unread<AgentMessage>(body);
    if constexpr (!std::is_same_v<TypeParam, ClientRequest>) expect_unread<ClientRequest>(body);
    if constexpr (!std::is_same_v<TypeParam, JoinMessage>) expect_unread<JoinMessage>(body);
    if constexpr (!std::is_same_v<TypeParam, JoinReply>) expect_unread<JoinReply>(body);
  });
}

// A text that is too long would have the whole message refused, each time that it is sent again.
TEST(ControlCodec, WhatIsSaidToPeopleIsShortenedWhereItIsWritten) {
  const std::string text(1 << 20, 'x');
  auto observed = filled<Observed>();
  ASSERT_FALSE(observed.parts.empty());
  PartReport& part = observed.parts.front();
  part.progress = text;
  part.exit = filled<NodeExitReport>();
  part.exit->why = told(text);
  ASSERT_FALSE(part.exit->ranks.empty());
  part.exit->ranks.front().why = told(text);
  part.exit->ranks.front().stderr_tail = text;
  part.environment = filled<EnvironmentReport>();
  part.environment->how = text;
  part.environment->why = told(text);
  const auto received = there(of_agent(observed));
  ASSERT_TRUE(received) << received.error().message;
  const PartReport& got = std::get<Observed>(received->body).parts.front();
  const auto is_shortened = [&](const std::string& said) {
    return said.size() < 65 << 10 && said.size() > 60 << 10 && said.starts_with("xx") &&
           said.ends_with("xx") && said.find("bytes left out") != std::string::npos;
  };
  EXPECT_TRUE(is_shortened(got.progress));
  EXPECT_TRUE(is_shortened(log_text(got.exit->why)));
  EXPECT_TRUE(is_shortened(log_text(got.exit->ranks.front().why)));
  EXPECT_TRUE(is_shortened(got.exit->ranks.front().stderr_tail));
  EXPECT_TRUE(is_shortened(got.environment->how));
  EXPECT_TRUE(is_shortened(log_text(got.environment->why)));

  auto view = filled<JobView>();
  view.reason = text;
  view.why = told(text);
  ASSERT_TRUE(view.report);
  view.report->message = text;
  const auto shown = there(to_client(JobReply{view}));
  ASSERT_TRUE(shown) << shown.error().message;
}

TEST(ControlCodec, EveryKindOfEnvironmentSurvivesARoundTrip) {
  int kinds = 0;
  test::for_each_alternative<EnvironmentDefinition>([&](const EnvironmentDefinition& definition) {
    CreateEnvironment create = filled<CreateEnvironment>();
    create.environment.spec.definition = definition;
    const auto received = there(of_client(create));
    ASSERT_TRUE(received) << provider_of(definition) << ": " << received.error().message;
    EXPECT_TRUE(std::get<CreateEnvironment>(received->body) == create) << provider_of(definition);
    ++kinds;
  });
  EXPECT_EQ(kinds, 4);
  CreateEnvironment create;
  create.environment.spec.definition = CondaEnvironment{};  // nothing but what is so by itself
  const auto received = there(of_client(create));
  EXPECT_TRUE(std::get<CreateEnvironment>(received->body) == create);
}

// Two nodes of a gang, and one whose assignments have none.
TEST(ControlCodec, DesiredStatesOfManyNodesAreReadAsIfEachWasEncodedAlone) {
  wire::DesiredEncoder encoder;
  auto desired = filled<Desired>();
  auto solo = desired;
  for (Assignment& assignment : solo.desired.assignments) assignment.gang = {};
  for (const Desired& body : {desired, solo, desired, Desired{}}) {
    const auto sent = to_agent(body);
    const auto received = wire::decode_envelope<AgentReply>(encoder.encode(sent));
    ASSERT_TRUE(received) << received.error().message;
    EXPECT_TRUE(*received == sent);
    desired.desired.revision += 1;
  }
}

TEST(ControlCodec, EveryMessageSurvivesARoundTripWithEveryFieldAtItsDefault) {
  JobSpec spec;
  spec.command = ShellCommand{""};
  const auto survives = [](const auto& sent) {
    const auto received = there(sent);
    ASSERT_TRUE(received) << received.error().message;
    EXPECT_TRUE(*received == sent);
  };
  survives(of_client(Submit{"s", spec}));
  survives(of_client(ListJobs{}));
  survives(of_agent(Heartbeat{}));
  survives(to_client(Done{}));
  survives(to_client(Refused{}));
  survives(to_agent(Refused{}));
  survives(envelope_of(JoinMessage(JoinRequest{})));
}

TEST(ControlCodec, OfALauncherThatSendsNoReasonsTheTextIsTold) {
  auto view = filled<JobView>();
  view.why = {};
  view.reason = "waits";
  ASSERT_FALSE(view.steps.empty());
  view.steps[0].why = {};
  view.steps[0].reason = "";
  const auto received = there(to_client(JobReply{view}));
  ASSERT_TRUE(received) << received.error().message;
  const JobView& got = std::get<JobReply>(received->body).job;
  EXPECT_TRUE(got.why == told("waits"));
  EXPECT_FALSE(got.steps[0].why);
}

TEST(ControlCodec, OptionalFieldsStayAbsent) {
  Submit submit{"s", filled<JobSpec>()};
  submit.spec.resources.cpus.reset();
  submit.spec.resources.memory.reset();
  submit.spec.resources.gpus.reset();
  submit.spec.timeout.reset();
  submit.spec.snapshot.reset();
  const auto received = there(of_client(submit));
  ASSERT_TRUE(received);
  EXPECT_TRUE(std::get<Submit>(received->body) == submit);
}

TEST(ControlCodec, EveryEnumValueSurvives) {
  for (int i = 0; i <= static_cast<int>(Cause::node_lost); ++i) {
    auto view = filled<JobView>();
    view.report->cause = static_cast<Cause>(i);
    view.status = static_cast<JobStatus>(i % 9);
    const auto received = there(to_client(JobReply{view}));
    ASSERT_TRUE(received);
    EXPECT_TRUE(std::get<JobReply>(received->body).job == view);
  }
  for (int i = 0; i <= static_cast<int>(kLastErrorCode); ++i) {
    const Refused refused{static_cast<ErrorCode>(i), "why"};
    const auto received = there(to_client(refused));
    ASSERT_TRUE(received);
    EXPECT_TRUE(std::get<Refused>(received->body) == refused);
  }
}

TEST(ControlCodec, AnotherVersionIsRefusedAndBothAreNamed) {
  auto envelope = of_client(GetStatus{});
  envelope.version = 7;
  const auto bytes = wire::encode(envelope);
  const auto received = wire::decode_envelope<ClientRequest>(bytes);
  ASSERT_FALSE(received);
  EXPECT_EQ(received.error().code, ErrorCode::unsupported);
  EXPECT_THAT(received.error().message, HasSubstr("version 7"));
  EXPECT_THAT(received.error().message, HasSubstr("speaks version 1"));
  EXPECT_EQ(wire::peek_sequence(bytes), 7u);
}

// An earlier client refused the whole list of users because of one role.
TEST(ControlCodec, ARoleThatEarlierPeersDoNotKnowIsInAListThatTheySkip) {
  UserView user;
  user.name = user.account = "ann";
  user.grants = {{Role::submitter, "default"}, {Role::priority, "default"}};
  const UsersReply reply{{user}};
  const auto bytes = wire::encode(Envelope<ClientReply>{kProtocolVersion, 7, 5, 0, reply});
  pb::Envelope wire;
  ASSERT_TRUE(wire.ParseFromString(bytes));
  ASSERT_EQ(wire.users_reply().users_size(), 1);
  ASSERT_EQ(wire.users_reply().users(0).grants_size(), 1);
  EXPECT_EQ(wire.users_reply().users(0).grants(0).role(), 2);
  const auto received = wire::decode_envelope<ClientReply>(bytes);
  ASSERT_TRUE(received) << received.error().message;
  EXPECT_TRUE(std::get<UsersReply>(received->body) == reply);
}

TEST(ControlCodec, ALimitThatEarlierPeersDoNotKnowIsInAListThatTheySkip) {
  QuotaView quota;
  quota.holder.name = "ann";
  for (const QuotaLimit limit : kQuotaLimits) quota.lines.push_back({limit, 8, false, 3});
  const QuotasReply reply{{quota}};
  const auto bytes = wire::encode(Envelope<ClientReply>{kProtocolVersion, 7, 5, 0, reply});
  pb::Envelope wire;
  ASSERT_TRUE(wire.ParseFromString(bytes));
  for (const pb::QuotaLine& line : wire.quotas_reply().quotas(0).lines())
    EXPECT_LE(line.limit(), 58);
  auto received = wire::decode_envelope<ClientReply>(bytes);
  ASSERT_TRUE(received) << received.error().message;
  EXPECT_TRUE(std::get<QuotasReply>(received->body) == reply);

  wire.mutable_quotas_reply()->mutable_quotas(0)->add_later_lines()->set_limit(1'000);
  received = wire::decode_envelope<ClientReply>(wire.SerializeAsString());
  ASSERT_TRUE(received) << "a later launcher's limit is passed over: " << received.error().message;
  EXPECT_TRUE(std::get<QuotasReply>(received->body) == reply);
}

TEST(ControlCodec, ARefusalHasACodeThatEarlierPeersKnow) {
  const ClientReply reply = Refused{ErrorCode::unsatisfiable, "no node can take it"};
  const auto bytes = wire::encode(Envelope<ClientReply>{kProtocolVersion, 7, 5, 0, reply});
  pb::Envelope wire;
  ASSERT_TRUE(wire.ParseFromString(bytes));
  EXPECT_EQ(wire.refused().code(), pb::ERROR_CODE_INVALID_ARGUMENT);
  const auto received = wire::decode_envelope<ClientReply>(bytes);
  ASSERT_TRUE(received) << received.error().message;
  EXPECT_EQ(std::get<Refused>(received->body).code, ErrorCode::unsatisfiable);
}

TEST(ControlCodec, WhatAnotherPortAnswersIsSaidToBeNoAnswer) {
  const auto request = wire::encode(of_client(WhoAmI{}));
  for (const std::string& why : {wire::decode_envelope<ClientReply>(request).error().message,
                                 wire::decode_envelope<AgentReply>(request).error().message,
                                 wire::decode_envelope<JoinReply>(request).error().message})
    EXPECT_THAT(why, HasSubstr("the address may be that of another port of the launcher"));
  const auto of_bulk = wire::decode_envelope<ClientReply>(
      wire::encode(BulkEnvelope{.sequence = 1, .reply_to = 1, .body = BulkRefused{"no", false}}));
  ASSERT_FALSE(of_bulk);
  EXPECT_THAT(of_bulk.error().message, testing::Not(HasSubstr("may send")));
}

TEST(ControlCodec, AMissingBodyIsRefused) {
  pb::Envelope wire;
  wire.set_version(kProtocolVersion);
  const auto received = wire::decode_envelope<ClientRequest>(wire.SerializeAsString());
  ASSERT_FALSE(received);
  EXPECT_EQ(received.error().code, ErrorCode::corrupt);
  EXPECT_THAT(received.error().message, HasSubstr("body"));
}

// One thing wrong at a time, in an otherwise good message.
struct Case {
  const char* name;
  void (*spoil)(pb::Envelope&);
  const char* field;
};

class Spoiled : public testing::TestWithParam<Case> {};

TEST_P(Spoiled, IsRefusedAndTheFieldIsNamed) {
  pb::Envelope wire;
  ASSERT_TRUE(wire.ParseFromString(wire::encode(to_agent(filled<SessionAccepted>()))));
  GetParam().spoil(wire);
  const auto received = wire::decode_envelope<AgentReply>(wire.SerializeAsString());
  ASSERT_FALSE(received);
  EXPECT_EQ(received.error().code, ErrorCode::corrupt);
  EXPECT_THAT(received.error().message, HasSubstr(GetParam().field));
}

pb::Assignment& first_assignment(pb::Envelope& wire) {
  return *wire.mutable_session_accepted()->mutable_desired()->mutable_assignments(0);
}

INSTANTIATE_TEST_SUITE_P(
    ControlCodec, Spoiled,
    testing::Values(
        Case{"unknown_phase",
             [](pb::Envelope& w) { first_assignment(w).set_phase(pb::WantedPhase(9)); },
             "assignment.phase"},
        Case{"no_phase", [](pb::Envelope& w) { first_assignment(w).clear_phase(); },
             "assignment.phase"},
        Case{"job_name_with_slash",
             [](pb::Envelope& w) { first_assignment(w).mutable_attempt()->set_job("../etc"); },
             "attempt_id.job"},
        Case{"attempt_zero",
             [](pb::Envelope& w) { first_assignment(w).mutable_attempt()->set_number(0); },
             "attempt_id.number"},
        Case{"node_rank_outside", [](pb::Envelope& w) { first_assignment(w).set_node_rank(2); },
             "assignment.node_rank"},
        Case{"gang_too_small",
             [](pb::Envelope& w) { first_assignment(w).mutable_gang()->clear_members(); },
             "assignment.gang"},
        Case{"port_too_high",
             [](pb::Envelope& w) { first_assignment(w).mutable_gang()->set_master_port(70'000); },
             "gang_table.master_port"},
        Case{"short_key",
             [](pb::Envelope& w) {
               first_assignment(w).mutable_gang()->mutable_members(0)->set_runner_key("abc");
             },
             "gang_member.runner_key"},
        Case{"short_digest_of_a_table",
             [](pb::Envelope& w) { first_assignment(w).mutable_share()->set_digest("abc"); },
             "gang_share.digest"},
        Case{"share_of_another_place",
             [](pb::Envelope& w) { first_assignment(w).mutable_share()->clear_parent(); },
             "assignment.share"},
        Case{"no_command",
             [](pb::Envelope& w) { first_assignment(w).mutable_spec()->clear_command(); },
             "command"},
        Case{"short_digest",
             [](pb::Envelope& w) { first_assignment(w).mutable_spec()->set_snapshot("abc"); },
             "snapshot"},
        Case{"no_nodes",
             [](pb::Envelope& w) {
               first_assignment(w).mutable_spec()->mutable_resources()->set_instance_count(0);
             },
             "resource_request.instance_count"},
        Case{"too_many_ranks",
             [](pb::Envelope& w) {
               first_assignment(w).mutable_spec()->mutable_distribution()->set_processes_per_node(
                   5'000);
             },
             "distribution.processes_per_node"},
        Case{"negative_grace", [](pb::Envelope& w) { first_assignment(w).set_grace_ns(-1); },
             "assignment.grace"},
        Case{"variable_twice",
             [](pb::Envelope& w) {
               auto* variables =
                   first_assignment(w).mutable_spec()->mutable_environment_variables();
               *variables->Add() = variables->Get(0);
             },
             "environment_variables"},
        Case{"negative_deadline", [](pb::Envelope& w) { w.set_deadline_ms(-1); }, "deadline_ms"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(ControlCodec, EveryPrefixAndEveryFlippedByteIsReadOrRefusedWithoutHarm) {
  const auto bytes = wire::encode(of_agent(filled<SessionOpen>()));
  int refused = 0;
  for (std::size_t length = 0; length < bytes.size(); ++length)
    refused += !wire::decode_envelope<AgentMessage>(std::string_view(bytes).substr(0, length));
  EXPECT_GT(refused, 0);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    auto spoiled = bytes;
    spoiled[i] = static_cast<char>(spoiled[i] ^ 0xff);
    const auto read = wire::decode_envelope<AgentMessage>(spoiled);
    EXPECT_TRUE(!read || there(*read));
  }
}

TEST(ControlCodec, PeekSequenceOfNoiseIsNothing) {
  EXPECT_EQ(wire::peek_sequence("\xff\xff\xff"), std::nullopt);
}

}  // namespace
}  // namespace lockstep
