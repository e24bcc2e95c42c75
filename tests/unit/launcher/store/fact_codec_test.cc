#include "launcher/store/fact_codec.h"

#include <gmock/gmock.h>

#include "common/domain/why/reason.h"
#include "proto/journal.pb.h"
#include "tests/unit/common/wire/fill.h"

namespace lockstep::launcher {
namespace {

using testing::HasSubstr;

TEST(FactCodec, EveryFactSurvivesARoundTripWithEveryFieldSet) {
  test::for_each_alternative<Fact>([](const Fact& fact) {
    const auto read = decode_fact(encode_fact(fact));
    ASSERT_TRUE(read) << "kind " << fact.index() << ": " << read.error().message;
    EXPECT_TRUE(*read == fact) << "kind " << fact.index() << " lost a field";
  });
}

TEST(FactCodec, APipelineSurvivesARoundTripWithEveryFieldSet) {
  JobSubmitted submitted = test::filled<JobSubmitted>();
  submitted.spec = test::pipeline_job();
  const auto read = decode_fact(encode_fact(submitted));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_TRUE(*read == Fact(submitted)) << "it lost a field";
}

TEST(FactCodec, WhyAnAttemptWasPlacedIsATextInEarlierJournals) {
  const std::string was = "node rank 0: n1 (4 cpus, 8.0 GiB memory, 0 gpus)";
  const AttemptPlaced now = test::filled<AttemptPlaced>();
  pb::Fact wire;
  ASSERT_TRUE(wire.ParseFromString(encode_fact(now)));
  EXPECT_TRUE(wire.attempt_placed().why().empty()) << "the new field has it";
  wire.mutable_attempt_placed()->clear_why_data();
  wire.mutable_attempt_placed()->add_why(was);
  const auto read = decode_fact(wire.SerializeAsString());
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(std::get<AttemptPlaced>(*read).why, std::vector<Why>{told(was)});
}

TEST(FactCodec, WhyATargetWasChosenIsATextInEarlierJournals) {
  JobSubmitted submitted = test::filled<JobSubmitted>();
  const Why chosen = TargetWasChosen{{"lab"}, {}};
  for (const Why& why : {told("target lab was chosen: free now"), chosen, Why()}) {
    submitted.spec.compute_why = why;
    pb::Fact wire;
    ASSERT_TRUE(wire.ParseFromString(encode_fact(submitted)));
    const auto& spec = wire.job_submitted().spec();
    EXPECT_EQ(spec.has_compute_why_data(), why == chosen);
    EXPECT_EQ(spec.compute_why().empty(), !why.is<Told>());
    const auto read = decode_fact(wire.SerializeAsString());
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(std::get<JobSubmitted>(*read).spec.compute_why, why);
  }
}

TEST(FactCodec, WhyAStepWasSkippedInAnEarlierVersionIsTold) {
  const std::string step_skipped =
      "\x9a\x07\x12\x0a\x01p\x12\x01s\x1a\x0a"
      "it is late";
  const auto read = decode_fact(step_skipped);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_TRUE(*read == Fact(StepSkipped{JobId("p"), "s", told("it is late")}));
}

TEST(FactCodec, RefusesWhatIsNoFact) {
  EXPECT_THAT(decode_fact("").error().message, HasSubstr("body"));
  EXPECT_EQ(decode_fact("\xff\xff").error().code, ErrorCode::corrupt);
}

TEST(FactCodec, EveryPrefixAndFlippedByteIsReadOrRefusedWithoutHarm) {
  const auto bytes = encode_fact(test::filled<AttemptPlaced>());
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    (void)decode_fact(std::string_view(bytes).substr(0, i));
    auto spoiled = bytes;
    spoiled[i] = static_cast<char>(spoiled[i] ^ 0xff);
    const auto read = decode_fact(spoiled);
    EXPECT_TRUE(!read || decode_fact(encode_fact(*read)));
  }
}

}  // namespace
}  // namespace lockstep::launcher
