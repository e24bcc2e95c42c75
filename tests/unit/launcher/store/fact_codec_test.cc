#include "launcher/store/fact_codec.h"

#include <gmock/gmock.h>

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
