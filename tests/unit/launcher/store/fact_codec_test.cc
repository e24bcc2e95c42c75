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

template <typename F>
F read_as(const pb::Fact& wire) {
  const auto fact = decode_fact(wire.SerializeAsString());
  EXPECT_TRUE(fact) << fact.error().message;
  return fact ? std::get<F>(*fact) : F{};
}

// What earlier versions wrote as a text is a reason, and where a decision asks for more than the
// text, that is known of it.
TEST(FactCodec, TheTextsOfEarlierVersionsAreReasons) {
  pb::Fact wire;
  wire.mutable_node_lost()->set_node(1);
  wire.mutable_node_lost()->set_reason("it has not reported for 10.0s");
  EXPECT_EQ(read_as<NodeLost>(wire).why, told("it has not reported for 10.0s"));
  wire.mutable_cancel_requested()->set_job("job");
  wire.mutable_cancel_requested()->set_by("ann");
  EXPECT_EQ(read_as<CancelRequested>(wire).by, told("ann"));

  pb::AttemptDoomed* const doomed = wire.mutable_attempt_doomed();
  doomed->mutable_attempt()->set_job("job");
  doomed->mutable_attempt()->set_number(1);
  doomed->set_reason(pb::STOP_REASON_GANG_FAILED);
  pb::ExitReport* const report = doomed->mutable_report();
  report->set_cause(pb::CAUSE_START_FAILED);
  report->set_node_name("n1");
  report->set_message("node n1 stopped its ranks although nobody asked for it");
  EXPECT_FALSE(is_explained(read_as<AttemptDoomed>(wire).report));
  EXPECT_EQ(read_as<AttemptDoomed>(wire).report.message, "") << "it is in the reason";
  report->set_message("node n1 failed");
  EXPECT_TRUE(is_explained(read_as<AttemptDoomed>(wire).report));
  EXPECT_EQ(read_as<AttemptDoomed>(wire).report.why, told("node n1 failed"));
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
