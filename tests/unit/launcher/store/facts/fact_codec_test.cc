#include "launcher/store/facts/fact_codec.h"

#include <gmock/gmock.h>

#include "common/domain/why/nodes/placement.h"
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

// The fact with its reason, and what else is new, taken out, and a text instead.
template <class F>
F as_earlier(void (*change)(pb::Fact& wire)) {
  pb::Fact wire;
  EXPECT_TRUE(wire.ParseFromString(encode_fact(test::filled<F>())));
  change(wire);
  const auto read = decode_fact(wire.SerializeAsString());
  EXPECT_TRUE(read) << read.error().message;
  return read ? std::get<F>(*read) : F{};
}

TEST(FactCodec, ReasonsOfMachinesAreTextsInEarlierJournals) {
  const auto wanted = as_earlier<MachineWanted>([](pb::Fact& wire) {
    wire.mutable_machine_wanted()->clear_why_data();
    wire.mutable_machine_wanted()->set_why("job 'a' waits for it");
  });
  EXPECT_EQ(wanted.why, told("job 'a' waits for it"));
  const auto stopped = as_earlier<InstanceStopped>([](pb::Fact& wire) {
    wire.mutable_instance_stopped()->clear_why_data();
    wire.mutable_instance_stopped()->set_why("by ann");
  });
  EXPECT_EQ(stopped.why, told("by ann"));
  const auto unwritten = as_earlier<OutputNotWritten>([](pb::Fact& wire) {
    wire.mutable_output_not_written()->clear_why_data();
    wire.mutable_output_not_written()->set_why("no space");
  });
  EXPECT_EQ(unwritten.why, told("no space"));
}

TEST(FactCodec, TheFaultOfAMachineIsAWord) {
  const auto failed = as_earlier<MachineFailed>([](pb::Fact& wire) {
    wire.mutable_machine_failed()->clear_why_data();
    wire.mutable_machine_failed()->set_message("no answer");
    wire.mutable_machine_failed()->set_code("host_key");
  });
  EXPECT_EQ(failed.why, told("no answer"));
  EXPECT_EQ(failed.fault, MachineFault::host_key);
  const auto odd = as_earlier<MachineFailed>(
      [](pb::Fact& wire) { wire.mutable_machine_failed()->set_code("quota"); });
  EXPECT_EQ(odd.fault, MachineFault::failed);
}

TEST(FactCodec, EarlierJournalsHaveInTheFindingsThatAMachineIsHeld) {
  const auto tunnelled = as_earlier<MachineCreated>([](pb::Fact& wire) {
    wire.mutable_machine_created()->clear_is_held();
    auto* finding = wire.mutable_machine_created()->add_about();
    finding->set_name("tunnel");
    finding->set_value("true");
  });
  EXPECT_TRUE(tunnelled.is_held);
  const auto plain = as_earlier<MachineCreated>(
      [](pb::Fact& wire) { wire.mutable_machine_created()->clear_is_held(); });
  EXPECT_FALSE(plain.is_held);
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
