#include <gtest/gtest.h>

#include <set>

#include "common/domain/why/all/convert.h"
#include "common/wire/job/job_codec.h"
#include "common/wire/why_codec.h"
#include "tests/unit/support/every_reason.h"

namespace lockstep {
namespace {

Result<Why> through_the_wire(const Why& why) {
  pb::Why sent, received;
  pb::to_wire(why, &sent);
  EXPECT_TRUE(received.ParseFromString(sent.SerializeAsString()));
  Why read;
  TRY(pb::from_wire(received, &read));
  return read;
}

TEST(WhyCodec, EveryReasonArrivesAsItWas) {
  for (const Why& why : testing::every_reason()) {
    const auto read = through_the_wire(why);
    ASSERT_TRUE(read) << to_data(why).code << ": " << read.error().message;
    EXPECT_EQ(*read, why) << to_data(why).code;
  }
  const auto none = through_the_wire(Why());
  ASSERT_TRUE(none);
  EXPECT_FALSE(*none);
}

TEST(WhyCodec, CodesAndFieldsHaveNamesOfTheirOwn) {
  std::set<std::string> codes;
  for (const Why& why : testing::every_reason()) {
    const WhyData data = to_data(why);
    EXPECT_TRUE(codes.insert(data.code).second) << data.code;
    std::set<std::string> names;
    for (const WhyField& field : data.fields)
      EXPECT_TRUE(field.name != "code" && names.insert(field.name).second)
          << data.code << "." << field.name;
  }
}

TEST(WhyCodec, AReasonOfALaterVersionIsKept) {
  WhyData later{"of_tomorrow", {{"count", {std::int64_t{7}}}, {"what", {std::string("text")}}}};
  const auto why = why_of(later);
  ASSERT_TRUE(why);
  ASSERT_TRUE(why->is<Unknown>());
  const auto read = through_the_wire(*why);
  ASSERT_TRUE(read);
  EXPECT_EQ(to_data(*read), later);
}

TEST(WhyCodec, FieldsOfLaterAndEarlierVersionsDoNotMatter) {
  const auto why = why_of({"told", {{"text", {std::string("a")}}, {"new", {true}}}});
  ASSERT_TRUE(why);
  EXPECT_EQ(*why, told("a"));
  const auto without = why_of({"told", {}});
  ASSERT_TRUE(without);
  EXPECT_TRUE(without->is<Told>());
}

TEST(WhyCodec, AFieldOfAnotherKindIsRefused) {
  const auto why = why_of({"told", {{"text", {std::int64_t{1}}}}});
  ASSERT_FALSE(why);
  EXPECT_EQ(why.error().code, ErrorCode::corrupt);
}

// A node that is newer than its launcher.
TEST(WhyCodec, AReasonWithAWordOfALaterVersionIsKept) {
  for (const Why& known : testing::every_reason()) {
    WhyData later = to_data(known);
    for (WhyField& field : later.fields)
      if (auto* word = std::get_if<std::string>(&field.value.value)) *word = "a word of tomorrow";
    const auto read = why_of(later);
    ASSERT_TRUE(read) << later.code << ": " << read.error().message;
    EXPECT_EQ(to_data(*read), later) << later.code;
  }
}

// Else what was written could not be read again.
TEST(WhyCodec, WhatExceedsTheBoundsIsShortenedWhenItIsWritten) {
  WhyList wide(3 * kMostWhyValues, WhyValue{true});
  WhyValue deep{std::int64_t{1}};
  for (int i = 0; i < 3 * kMostWhyDepth; ++i) deep = {WhyList{deep}};
  const std::string long_text(3 * kMostWhyBytes, 'a');
  for (const WhyValue& value : {WhyValue{wide}, deep, WhyValue{WhyList(20, {long_text})}}) {
    const auto read = through_the_wire(
        Why(Unknown{{"of_tomorrow", {{"count", {std::int64_t{7}}}, {"what", value}}}}));
    ASSERT_TRUE(read) << read.error().message;
    const WhyData data = to_data(*read);
    EXPECT_EQ(data.code, "of_tomorrow");
    ASSERT_FALSE(data.fields.empty());
    EXPECT_EQ(data.fields[0].value, WhyValue{std::int64_t{7}});
  }
}

TEST(WhyCodec, WhatIsTooDeepOrTooLargeIsRefused) {
  pb::Why deep;
  pb::Why* at = &deep;
  for (int i = 0; i < 10'000; ++i) {
    at->set_code("told");
    at = at->add_fields()->mutable_value()->mutable_record();
  }
  Why read;
  EXPECT_FALSE(pb::from_wire(deep, &read));
  pb::Why wide;
  wide.set_code("told");
  auto* list = wide.add_fields()->mutable_value()->mutable_list();
  for (std::size_t i = 0; i <= kMostWhyValues; ++i) list->add_values()->set_flag(true);
  EXPECT_FALSE(pb::from_wire(wide, &read));
  pb::Why empty;
  empty.set_code("told");
  empty.add_fields();
  EXPECT_FALSE(pb::from_wire(empty, &read));
}

// What runners and agents of earlier versions say in texts.
TEST(WhyCodec, TextsOfEarlierVersionsAreTold) {
  pb::NodeExitReport sent;
  sent.set_cause(pb::CAUSE_START_FAILED);
  sent.set_message("it could not");
  sent.add_notes("it runs without a limit");
  sent.add_limits("its limit was reached");
  pb::RankExit* rank = sent.add_ranks();
  rank->set_cause(pb::CAUSE_SIGNAL);
  rank->set_detail("in crash");
  sent.mutable_aborted_by()->mutable_first()->set_cause(pb::CAUSE_SIGNAL);
  sent.mutable_aborted_by()->set_message("rank 1 was killed");
  NodeExitReport read;
  ASSERT_TRUE(pb::from_wire(sent, &read));
  EXPECT_EQ(read.why, told("it could not"));
  EXPECT_EQ(read.notes, std::vector<Why>{told("it runs without a limit")});
  EXPECT_EQ(read.limits, std::vector<Why>{told("its limit was reached")});
  EXPECT_EQ(read.ranks.at(0).why, told("in crash"));
  EXPECT_EQ(read.aborted_by->why, told("rank 1 was killed"));
}

}  // namespace
}  // namespace lockstep
