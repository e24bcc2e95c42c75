// The values of a schedule: their checks and their words.

#include "common/domain/job_schedule.h"

#include <gtest/gtest.h>

namespace lockstep {
namespace {

JobSchedule good_schedule() {
  JobSchedule schedule;
  schedule.name = "retrain";
  schedule.trigger.when = CronTrigger{"0 8 * * *"};
  return schedule;
}

TEST(JobSchedule, IsCheckedByItsKeys) {
  EXPECT_TRUE(check(good_schedule()));
  const auto message = [](const auto& change) {
    JobSchedule schedule = good_schedule();
    change(schedule);
    const Status status = check(schedule);
    return status ? "" : status.error().message;
  };
  const std::string names =
      " cannot be the name of a schedule: it needs 1 to 200 letters, digits, '_' and '-', and "
      "begins with a letter or a digit";
  EXPECT_EQ(message([](auto& s) { s.name = ""; }), "name: ''" + names);
  EXPECT_EQ(message([](auto& s) { s.name = "-x"; }), "name: '-x'" + names);
  EXPECT_EQ(message([](auto& s) { s.name = "a b"; }), "name: 'a b'" + names);
  EXPECT_EQ(message([](auto& s) { s.name = std::string(201, 'a'); }),
            "name: '" + std::string(100, 'a') + "'" + names);
  EXPECT_EQ(message([](auto& s) { s.display_name = std::string(241, 'a'); }),
            "display_name: has 241 bytes; at most 240 are possible");
  EXPECT_EQ(message([](auto& s) { s.description = std::string(16'385, 'a'); }),
            "description: has 16385 bytes; at most 16384 are possible");
  EXPECT_EQ(message([](auto& s) { s.tags[""] = "x"; }),
            "tags: a key has 1 to 1024 bytes, and a value at most 1024; '' has others");
  EXPECT_EQ(message([](auto& s) { s.trigger.when = CronTrigger{"0 25 * * *"}; }),
            "trigger.expression: hour: '25' is not a number from 0 to 23");
  EXPECT_EQ(message([](auto& s) { s.trigger.time_zone = "a\nb"; }),
            "trigger.time_zone: is not the name of a time zone (at most 64 printable characters)");
}

TEST(JobSchedule, FiresWhenItIsCreatedIfNothingSaysWhen) {
  JobSchedule schedule = good_schedule();
  EXPECT_FALSE(fires_when_created(schedule));
  schedule.trigger.when = Recurrence{};
  EXPECT_TRUE(fires_when_created(schedule));
  schedule.trigger.when = Recurrence{Frequency::day, 1, {8}, {}, {}, {}};
  EXPECT_FALSE(fires_when_created(schedule));
  schedule.trigger.when = Recurrence{Frequency::week, 1, {}, {}, {1}, {}};
  EXPECT_FALSE(fires_when_created(schedule));
  schedule.trigger.when = Recurrence{};
  schedule.trigger.start_time = LocalTime{};
  EXPECT_FALSE(fires_when_created(schedule));
}

TEST(Replaced, LooksAtNothingThatWasPutIn) {
  const Replacements both{{"${{a}}", "${{b}}"}, {"${{b}}", "x"}, {"", "never"}};
  EXPECT_EQ(replaced("${{a}} ${{b}}${{b}}${{c}} ${{a", both), "${{b}} xx${{c}} ${{a");
  EXPECT_EQ(replaced("", both), "");
}

TEST(Overlaps, HaveWords) {
  for (const Overlap overlap : kOverlaps) EXPECT_EQ(overlap_from(to_string(overlap)), overlap);
  EXPECT_EQ(overlap_from("Allow"), std::nullopt);
}

}  // namespace
}  // namespace lockstep
