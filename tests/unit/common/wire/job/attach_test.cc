// The codec of attachments: every frame survives the bulk socket, the sockets of runners and the
// way from launcher to agent; what exceeds a limit of runners/attach_frames.h is refused, and the
// field is named.

#include <gmock/gmock.h>

#include "common/wire/messages/bulk.h"
#include "common/wire/messages/control.h"
#include "common/wire/runners/runner_codec.h"
#include "proto/bulk.pb.h"
#include "tests/unit/common/wire/fill.h"

namespace lockstep {
namespace {

using test::filled;
using testing::HasSubstr;

TEST(AttachCodec, EveryFrameSurvivesEachWayWithEveryFieldSet) {
  test::for_each_attach_frame([](const AttachFrame& frame) {
    const BulkEnvelope sent{wire::kBulkVersion, 3, 4, frame};
    const auto received = wire::decode_bulk(wire::encode(sent));
    ASSERT_TRUE(received) << received.error().message;
    EXPECT_TRUE(*received == sent) << "kind " << frame.body.index() << " lost a field";
    const RunnerControl control = frame;
    const auto told = wire::decode_runner_control(wire::encode(control));
    ASSERT_TRUE(told) << told.error().message;
    EXPECT_TRUE(*told == control) << "kind " << frame.body.index() << " lost a field";
    const Envelope<AgentReply> wanted{kProtocolVersion, 1, 0, 0, AttachWanted{frame}};
    const auto heard = wire::decode_envelope<AgentReply>(wire::encode(wanted));
    ASSERT_TRUE(heard) << heard.error().message;
    EXPECT_TRUE(*heard == wanted) << "kind " << frame.body.index() << " lost a field";
  });
}

TEST(AttachCodec, AFrameIsKnownByItsFirstBytes) {
  test::for_each_alternative<BulkMessage>([](const BulkMessage& body) {
    for (const std::uint64_t number : {std::uint64_t{0}, UINT64_MAX}) {
      const std::string bytes =
          wire::encode(BulkEnvelope{wire::kBulkVersion, number, number, body});
      EXPECT_EQ(wire::is_attach_frame(bytes), std::holds_alternative<AttachFrame>(body))
          << "kind " << body.index();
    }
  });
  for (const std::string& bytes : {std::string(), std::string(100, '\xff'), std::string("\x08")})
    EXPECT_FALSE(wire::is_attach_frame(bytes));
}

AttachFrame frame_of(AttachBody body) { return {filled<AttachId>(), std::move(body)}; }

Result<AttachFrame> there(const AttachFrame& frame) {
  auto received = wire::decode_bulk(wire::encode(BulkEnvelope{wire::kBulkVersion, 1, 0, frame}));
  if (!received) return received.error();
  return std::get<AttachFrame>(received->body);
}

TEST(AttachCodec, AnOpeningOfTheShellOfRankZeroSurvivesWithoutWhatTheLauncherAdds) {
  AttachOpen open;
  open.job = JobId("j");
  open.order = AttachProgram{};
  const auto received = there(frame_of(open));
  ASSERT_TRUE(received) << received.error().message;
  EXPECT_TRUE(*received == frame_of(open));
  const auto& read = std::get<AttachOpen>(received->body);
  EXPECT_FALSE(read.rank);
  EXPECT_EQ(read.node_rank, -1);
  EXPECT_EQ(read.attempt, AttemptId{});
}

TEST(AttachCodec, DataIsBinaryAndMayBeEmpty) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  while (all.size() < kMaxAttachData) all += all;
  for (const std::string& bytes : {std::string(), all.substr(0, kMaxAttachData)}) {
    const auto sent = frame_of(AttachData{AttachStream::input, 7, bytes, true});
    const auto received = there(sent);
    ASSERT_TRUE(received) << received.error().message;
    EXPECT_TRUE(*received == sent);
  }
}

AttachOpen opening(AttachOrder order) {
  AttachOpen open = filled<AttachOpen>();
  open.order = std::move(order);
  return open;
}
AttachOpen program(std::vector<std::string> argv, std::string term = "") {
  return opening(AttachProgram{std::move(argv), false, {}, std::move(term), false});
}

TEST(AttachCodec, ACommandAtItsLimitSurvives) {
  for (const auto& argv : {std::vector<std::string>(kMaxAttachWords, "x"),
                           std::vector<std::string>{std::string(kMaxAttachCommandBytes - 1, 'x')},
                           std::vector<std::string>{"printf", "", "\xff\n"}}) {
    const auto sent = frame_of(program(argv));
    const auto received = there(sent);
    ASSERT_TRUE(received) << received.error().message;
    EXPECT_TRUE(*received == sent);
  }
}

TEST(AttachCodec, WhatExceedsALimitIsRefusedAndNamed) {
  const auto with_rank = [](int rank, int node_rank) {
    AttachOpen open = filled<AttachOpen>();
    open.rank = rank;
    open.node_rank = node_rank;
    return open;
  };
  const auto of_job = [](const char* job) {
    AttachOpen open = filled<AttachOpen>();
    open.job = JobId(job);
    return open;
  };
  const std::uint64_t far = UINT64_MAX;
  const std::vector<std::pair<AttachBody, const char*>> cases = {
      {of_job("../x"), "attach_open.job"},
      {of_job(""), "attach_open.job"},
      {with_rank(-1, 0), "attach_open.rank"},
      {with_rank(INT32_MAX, 0), "attach_open.rank"},
      {with_rank(0, kMaxNodesPerJob), "attach_open.node_rank"},
      {program(std::vector<std::string>(kMaxAttachWords + 1, "x")), "argv"},
      {program({std::string(kMaxAttachCommandBytes, 'x')}), "bytes; at most 65536"},
      {program({std::string(40'000, 'x'), std::string(40'000, 'y')}), "write it to a file"},
      {program({""}), "first word is empty"},
      {program({std::string("a\0b", 3)}), "NUL"},
      {program({"x"}, "../../etc"), "TERM"},
      {program({"x"}, "a\nb"), "TERM"},
      {program({"x"}, "a b"), "TERM"},
      {program({"x"}, std::string(kMaxTermBytes + 1, 't')), "term"},
      {opening(AttachSignal{0}), "no signal 0"},
      {opening(AttachSignal{-9}), "no signal -9"},
      {opening(AttachSignal{65}), "no signal 65"},
      {AttachData{AttachStream::output, 0, std::string(kMaxAttachData + 1, 'x'), false},
       "attach_data.bytes"},
      {AttachData{AttachStream::output, far, "x", false}, "attach_data.offset"},
      {AttachData{static_cast<AttachStream>(0), 0, "x", false}, "attach_data.stream"},
      {AttachData{static_cast<AttachStream>(4), 0, "x", false}, "attach_data.stream"},
      {AttachTaken{AttachStream::input, far}, "attach_taken.offset"},
      {AttachTaken{static_cast<AttachStream>(9), 1}, "attach_taken.stream"},
      {AttachNotify{0}, "attach_notify.number"},
      {AttachNotify{65}, "attach_notify.number"},
      {AttachEnd{256, "", 0, 0}, "attach_end.code"},
      {AttachEnd{-1, "", 0, 0}, "attach_end.code"},
      {AttachEnd{0, "", far, 0}, "attach_end.output"},
      {AttachEnd{0, "", 0, far}, "attach_end.error"},
      {AttachOpened{AttemptId{}, 0, 0, "", 0}, "attempt"},
      {AttachOpened{AttemptId{JobId("j"), 1}, -1, 0, "", 0}, "attach_opened.rank"},
      {AttachOpened{AttemptId{JobId("j"), 1}, 0, -1, "", 0}, "attach_opened.node_rank"},
      {AttachOpened{AttemptId{JobId("j"), 1}, 0, 0, "", far}, "attach_opened.have_input"},
  };
  for (const auto& [body, words] : cases) {
    const auto received = there(frame_of(body));
    ASSERT_FALSE(received) << words;
    EXPECT_THAT(received.error().message, HasSubstr(words));
  }
}

TEST(AttachCodec, AnIdHasSixteenBytes) {
  for (const std::size_t size : {0u, 15u, 17u, 4'096u}) {
    const auto received = there({AttachId(std::string(size, 'i')), AttachAlive{}});
    ASSERT_FALSE(received) << size;
    EXPECT_THAT(received.error().message, HasSubstr("attach_frame.attachment"));
  }
}

Result<BulkEnvelope> read_of(void (*build)(pb::AttachFrame&)) {
  pb::BulkEnvelope wire;
  wire.set_version(wire::kBulkVersion);
  wire.mutable_attach()->set_attachment(std::string(kAttachIdBytes, 'i'));
  build(*wire.mutable_attach());
  return wire::decode_bulk(wire.SerializeAsString());
}

TEST(AttachCodec, AFrameAndAnOpeningOfALaterVersionAreRefusedWithWords) {
  const auto no_body = read_of([](pb::AttachFrame&) {});
  ASSERT_FALSE(no_body);
  EXPECT_THAT(no_body.error().message, HasSubstr("attach_frame.body"));
  const auto no_order = read_of([](pb::AttachFrame& frame) { frame.mutable_open()->set_job("j"); });
  ASSERT_FALSE(no_order);
  EXPECT_THAT(no_order.error().message, HasSubstr("attach_open.order"));
}

TEST(AttachCodec, ATerminalOfMoreThan65535LinesIsRefused) {
  const auto high = read_of(
      [](pb::AttachFrame& frame) { frame.mutable_resize()->mutable_size()->set_rows(65'536); });
  ASSERT_FALSE(high);
  EXPECT_THAT(high.error().message, HasSubstr("terminal_size.rows"));
  const auto wide = read_of([](pb::AttachFrame& frame) {
    frame.mutable_open()->set_job("j");
    frame.mutable_open()->mutable_main()->mutable_size()->set_columns(1u << 31);
  });
  ASSERT_FALSE(wide);
  EXPECT_THAT(wide.error().message, HasSubstr("terminal_size.columns"));
}

}  // namespace
}  // namespace lockstep
