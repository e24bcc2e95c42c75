#include "common/wire/messages/bulk.h"

#include <gmock/gmock.h>

#include "proto/bulk.pb.h"
#include "tests/unit/common/wire/fill.h"

namespace lockstep {
namespace {

using test::filled;
using testing::HasSubstr;

TEST(BulkCodec, EveryMessageSurvivesARoundTripWithEveryFieldSet) {
  test::for_each_alternative<BulkMessage>([&](const BulkMessage& body) {
    const BulkEnvelope sent{wire::kBulkVersion, 3, 4, body};
    const auto received = wire::decode_bulk(wire::encode(sent));
    ASSERT_TRUE(received) << "kind " << body.index() << ": " << received.error().message;
    EXPECT_TRUE(*received == sent) << "kind " << body.index() << " lost a field";
  });
}

TEST(BulkCodec, TheAttemptThatFilesAreSentForSurvives) {
  for (const BulkMessage& body : {BulkMessage(MissingBlobs{{sha256("a")}}),
                                  BulkMessage(PutBlobs{{{sha256("a"), 1, 0, false, "a"}}})}) {
    const BulkEnvelope sent{wire::kBulkVersion, 3, 4, body, AttemptId{JobId("train"), 2, 7}, true};
    const auto received = wire::decode_bulk(wire::encode(sent));
    ASSERT_TRUE(received) << received.error().message;
    EXPECT_TRUE(*received == sent);
  }
}

TEST(BulkCodec, AFollowWithoutFiltersSurvives) {
  const BulkEnvelope sent{wire::kBulkVersion, 1, 0,
                          LogFollow{JobId("j"), 0, {}, {}, {}, -1, false, 1, {}}};
  const auto received = wire::decode_bulk(wire::encode(sent));
  ASSERT_TRUE(received);
  EXPECT_TRUE(*received == sent);
}

TEST(BulkCodec, AnotherVersionIsRefusedAndBothAreNamed) {
  const auto received = wire::decode_bulk(wire::encode(BulkEnvelope{9, 1, 0, LogCredit{1}}));
  ASSERT_FALSE(received);
  EXPECT_EQ(received.error().code, ErrorCode::unsupported);
  EXPECT_THAT(received.error().message, HasSubstr("version 9"));
  EXPECT_THAT(received.error().message, HasSubstr("version 1"));
}

struct Case {
  const char* name;
  void (*build)(pb::BulkEnvelope&);
  const char* field;
};
class SpoiledBulk : public testing::TestWithParam<Case> {};

TEST_P(SpoiledBulk, IsRefusedAndTheFieldIsNamed) {
  pb::BulkEnvelope wire;
  wire.set_version(wire::kBulkVersion);
  GetParam().build(wire);
  const auto received = wire::decode_bulk(wire.SerializeAsString());
  ASSERT_FALSE(received);
  EXPECT_THAT(received.error().message, HasSubstr(GetParam().field));
}

void set_key(pb::LogKey* key, const char* job) {
  key->mutable_attempt()->set_job(job);
  key->mutable_attempt()->set_number(1);
  key->set_stream(pb::LOG_STREAM_OUT);
}

INSTANTIATE_TEST_SUITE_P(
    BulkCodec, SpoiledBulk,
    testing::Values(
        Case{"no_body", [](pb::BulkEnvelope&) {}, "body"},
        Case{"half_a_digest",
             [](pb::BulkEnvelope& w) { w.mutable_missing_blobs()->set_digests("0123"); },
             "digests"},
        Case{"too_many_digests",
             [](pb::BulkEnvelope& w) {
               w.mutable_missing_blobs()->set_digests(
                   std::string((kMaxDigestsPerRequest + 1) * 32, 'x'));
             },
             "digests"},
        Case{"path_in_log_key",
             [](pb::BulkEnvelope& w) { set_key(w.mutable_log_append()->mutable_key(), "../x"); },
             "attempt.job"},
        Case{"long_log_chunk",
             [](pb::BulkEnvelope& w) {
               set_key(w.mutable_log_append()->mutable_key(), "j");
               w.mutable_log_append()->set_data(std::string(kMaxLogChunkBytes + 1, 'x'));
             },
             "log_append.data"},
        Case{"huge_offset",
             [](pb::BulkEnvelope& w) {
               set_key(w.mutable_log_append()->mutable_key(), "j");
               w.mutable_log_append()->set_offset(UINT64_MAX);
             },
             "log_append.offset"},
        Case{"piece_beyond_its_blob",
             [](pb::BulkEnvelope& w) {
               auto* piece = w.mutable_put_blobs()->add_pieces();
               piece->set_digest(std::string(32, 'd'));
               piece->set_total_size(3);
               piece->set_data("four");
             },
             "piece.data"},
        Case{"get_in_the_middle_of_a_piece",
             [](pb::BulkEnvelope& w) { w.mutable_get_blobs()->set_offset(5); }, "offset"},
        Case{"tail_below_minus_one",
             [](pb::BulkEnvelope& w) { w.mutable_log_follow()->set_tail_lines(-2); },
             "tail_lines"}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace lockstep
