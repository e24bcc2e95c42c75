// What follows from the times of a schedule: runs, times that get none, and what a stop of the
// launcher, a switch or a change of the text makes of them.

#include "launcher/schedules/firing.h"

#include <gtest/gtest.h>

#include "tests/unit/launcher/schedules/schedule_world.h"

namespace lockstep::launcher {
namespace {

using test::cron_trigger;
using test::in_utc;
using test::machine_zones;
using test::schedule_of;
using test::ScheduleWorld;
using test::utc_text;

Instant at(const std::string& hour) { return in_utc("2026-01-31T" + hour + ":00"); }

ScheduleWorld hourly(Overlap overlap) {
  ScheduleWorld world;
  world.set(at("07:30"), schedule_of(cron_trigger("0 * * * *"), overlap));
  return world;
}

TEST(Firing, StartsARunAtEachTime) {
  ScheduleWorld world = hourly(Overlap::allow);
  world.look(at("07:59"));
  EXPECT_EQ(world.entries(), "");
  EXPECT_EQ(world.next(at("07:59")), "2026-01-31T08:00:00");
  world.look(at("08:00"));
  world.look(at("08:00"));
  world.look(at("08:59"));
  EXPECT_EQ(world.entries(), "08:00");
  world.look(at("09:00") + milliseconds(20));
  EXPECT_EQ(world.entries(), "08:00, 09:00");
  EXPECT_EQ(world.schedule().runs, 2u);
  EXPECT_EQ(world.schedule().open.size(), 2u);
  EXPECT_EQ(world.table.of_run(JobId("retrain-20260131T080000Z")), &world.schedule());
  EXPECT_EQ(wrong_with(world.table), "");
}

TEST(Firing, MissedTimesMakeOneRun) {
  ScheduleWorld world = hourly(Overlap::allow);
  world.look(at("08:00"));
  // The launcher is stopped from 8:10 to 12:30.
  EXPECT_EQ(world.next(at("12:30")), "2026-01-31T12:30:00");
  world.look(at("12:30"));
  EXPECT_EQ(world.entries(), "08:00, 12:00 +3");
  EXPECT_EQ(world.schedule().missed, 3u);
  EXPECT_EQ(world.next(at("12:30")), "2026-01-31T13:00:00");
}

TEST(Firing, CountsMissedTimesUpToALimit) {
  ScheduleWorld world;
  world.set(at("00:00"), schedule_of(cron_trigger("* * * * *")));
  const Instant later = at("00:00") + minutes(kMaxCountedMisses + 1);
  const auto due = due_time(world.schedule(), later, machine_zones());
  ASSERT_TRUE(due);
  EXPECT_EQ(due->missed, kMaxCountedMisses);
  EXPECT_FALSE(due->missed_more);
  // After a year it is as quick.
  const Instant year = at("00:00") + minutes(365 * 24 * 60);
  world.look(year);
  ASSERT_EQ(world.schedule().recent.size(), 1u);
  EXPECT_EQ(world.schedule().recent[0].due, (DueTime{year, kMaxCountedMisses, true}));
}

TEST(Firing, ForbidPassesOverTimesDuringARun) {
  ScheduleWorld world = hourly(Overlap::forbid);
  world.look(at("08:00"));
  EXPECT_EQ(world.next(at("08:01")), "never");  // the run's end comes first
  world.look(at("09:00"));
  world.look(at("10:15"));
  EXPECT_EQ(world.entries(), "08:00");
  world.end_first(at("10:20"));
  EXPECT_EQ(world.next(at("10:20")), "2026-01-31T10:20:00");
  world.look(at("10:20"));
  EXPECT_EQ(world.entries(), "08:00, none 10:00 +1");
  EXPECT_EQ(std::get<RunGoesOn>(std::get<WhyPassed>(world.schedule().recent[1].what)).job,
            JobId("retrain-20260131T080000Z"));
  EXPECT_EQ(world.schedule().passed, 2u);
  EXPECT_EQ(world.schedule().missed, 0u);
  world.look(at("11:00"));
  EXPECT_EQ(world.entries(), "08:00, none 10:00 +1, 11:00");
}

TEST(Firing, ForbidTellsWhatPassedDuringTheRunFromWhatPassedAfterIt) {
  ScheduleWorld world = hourly(Overlap::forbid);
  world.look(at("08:00"));
  world.end_first(at("10:20"));
  // Nobody looked until then.
  world.look(at("12:10"));
  EXPECT_EQ(world.entries(), "08:00, none 10:00 +1, 12:00 +1");
}

TEST(Firing, QueueStartsOneRunAfterTheOther) {
  ScheduleWorld world = hourly(Overlap::queue);
  world.look(at("08:00"));
  world.look(at("09:00"));
  world.look(at("10:00"));
  EXPECT_EQ(world.entries(), "08:00");
  world.end_first(at("10:20"));
  world.look(at("10:20"));
  EXPECT_EQ(world.entries(), "08:00, 10:00 +1");
  world.end_first(at("10:40"));
  world.look(at("10:40"));
  EXPECT_EQ(world.entries(), "08:00, 10:00 +1");
  world.look(at("11:00"));
  EXPECT_EQ(world.entries(), "08:00, 10:00 +1, 11:00");
}

TEST(Firing, AllowHasALimitOfOpenRuns) {
  ScheduleWorld world;
  world.set(at("00:00"), schedule_of(cron_trigger("* * * * *")));
  Instant now = at("00:00");
  for (std::size_t i = 0; i < kMaxOpenRuns + 20; ++i) world.look(now = now + minutes(1));
  EXPECT_EQ(world.schedule().open.size(), kMaxOpenRuns);
  EXPECT_EQ(world.next(now), "never");
  const auto asked = asked_run(world.schedule(), now, "ann");
  ASSERT_FALSE(asked);
  EXPECT_EQ(asked.error().message,
            "schedule 'retrain' has 100 runs that have not ended, the most possible; wait for one, "
            "or cancel one");
  world.end_first(now);
  world.look(now);
  EXPECT_TRUE(std::holds_alternative<TooManyRuns>(
      std::get<WhyPassed>(world.schedule().recent.back().what)));
  EXPECT_EQ(world.schedule().recent.back().due.missed, 19u);
  world.look(now + minutes(1));
  EXPECT_EQ(world.schedule().open.size(), kMaxOpenRuns);
  EXPECT_EQ(wrong_with(world.table), "");
}

TEST(Firing, SwitchedOffItMissesNothing) {
  ScheduleWorld world = hourly(Overlap::allow);
  world.apply(at("07:45"), ScheduleSwitched{"retrain", false, "ann"});
  EXPECT_EQ(world.next(at("08:00")), "never");
  world.look(at("08:00"));
  world.look(at("10:00"));
  world.apply(at("10:10"), ScheduleSwitched{"retrain", true, "ann"});
  world.look(at("10:10"));
  EXPECT_EQ(world.entries(), "");
  world.look(at("11:00"));
  EXPECT_EQ(world.entries(), "11:00");
  EXPECT_EQ(world.schedule().missed, 0u);
}

TEST(Firing, SwitchingOnTwiceChangesNothing) {
  ScheduleWorld world = hourly(Overlap::allow);
  world.look(at("08:00"));
  // The launcher was stopped; the person's order comes before the first look.
  world.apply(at("10:10"), ScheduleSwitched{"retrain", true, "ann"});
  world.look(at("10:10"));
  EXPECT_EQ(world.entries(), "08:00, 10:00 +1");
}

TEST(Firing, APauseOfAnOperatorHoldsUntilItIsResumed) {
  ScheduleWorld world = hourly(Overlap::allow);
  world.apply(at("07:40"), SchedulePaused{"retrain", true, "oli"});
  world.apply(at("07:50"), ScheduleSwitched{"retrain", false, "ann"});
  world.apply(at("07:55"), ScheduleSwitched{"retrain", true, "ann"});
  world.look(at("08:00"));
  EXPECT_EQ(world.entries(), "");
  const auto asked = asked_run(world.schedule(), at("08:10"), "ann");
  ASSERT_FALSE(asked);
  EXPECT_EQ(asked.error().code, ErrorCode::conflict);
  EXPECT_EQ(asked.error().message,
            "schedule 'retrain' is paused by oli; an operator resumes it: lockstep schedule resume "
            "retrain");
  world.apply(at("08:30"), SchedulePaused{"retrain", false, "oli"});
  world.look(at("09:00"));
  EXPECT_EQ(world.entries(), "09:00");
}

TEST(Firing, APersonMayAskForARun) {
  ScheduleWorld world = hourly(Overlap::forbid);
  world.apply(at("07:40"), ScheduleSwitched{"retrain", false, "ann"});
  EXPECT_TRUE(world.ask(at("07:50")));  // of a disabled one, too
  const auto again = asked_run(world.schedule(), at("07:51"), "ann");
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().message,
            "run 'retrain-20260131T075000Z' of schedule 'retrain' has not ended, and its overlap "
            "is forbid; wait for it, or cancel it");
  world.apply(at("07:55"), ScheduleSwitched{"retrain", true, "ann"});
  world.look(at("08:00"));
  EXPECT_EQ(world.entries(), "asked 07:50");
  world.end_first(at("08:20"));
  world.look(at("08:20"));
  world.look(at("09:00"));
  EXPECT_EQ(world.entries(), "asked 07:50, none 08:00, 09:00");
}

TEST(Firing, TwoRunsOfOneSecondHaveTwoNames) {
  ScheduleWorld world = hourly(Overlap::allow);
  world.look(at("08:00"));
  EXPECT_TRUE(world.ask(at("08:00")));
  EXPECT_EQ(world.schedule().open.at(1), JobId("retrain-20260131T080000Z"));
  EXPECT_EQ(world.schedule().open.at(2), JobId("retrain-20260131T080000Z-2"));
}

TEST(Firing, ARefusedRunIsRemembered) {
  ScheduleWorld world = hourly(Overlap::allow);
  world.refuses = "user 'ann' is at the quota queued-jobs\n" + std::string(2'000, 'x');
  world.look(at("10:10"));
  EXPECT_EQ(world.entries(), "none 10:00 +2");
  EXPECT_EQ(world.schedule().runs, 0u);
  EXPECT_EQ(world.schedule().passed, 3u);
  const auto& why = std::get<RunRefused>(std::get<WhyPassed>(world.schedule().recent.back().what));
  EXPECT_EQ(why.code, ErrorCode::resource_exhausted);
  EXPECT_LE(why.message.size(), kMaxRefusalBytes + 3);
  world.refuses = "";
  world.look(at("11:00"));
  EXPECT_EQ(world.entries(), "none 10:00 +2, 11:00");
}

TEST(Firing, ARecurrenceThatLeavesAllOpenFiresWhenItIsCreated) {
  Recurrence every_day;
  ScheduleWorld world;
  world.set(in_utc("2026-01-31T08:15:20"), schedule_of({every_day, {}, {}, ""}));
  EXPECT_EQ(world.next(at("08:16")), "2026-01-31T08:16:00");
  world.look(in_utc("2026-01-31T08:15:20"));
  EXPECT_EQ(world.entries(), "08:15");
  EXPECT_EQ(world.next(at("09:00")), "2026-02-01T08:15:20");
  // A new text of the same trigger counts on from its beginning, one of another does not fire now.
  JobSchedule text = world.schedule().text;
  text.description = "nightly";
  world.set(at("10:00"), text);
  EXPECT_EQ(world.next(at("10:00")), "2026-02-01T08:15:20");
  text.trigger.when = Recurrence{Frequency::hour, 2, {}, {}, {}, {}};
  world.set(at("11:00"), text);
  world.look(at("11:00"));
  EXPECT_EQ(world.entries(), "08:15");
  EXPECT_EQ(world.next(at("11:00")), "2026-01-31T13:00:00");
}

TEST(Firing, AFirstTimeThatWasMissedIsTheSameAsAnother) {
  ScheduleWorld world;
  world.set(at("08:00"), schedule_of({Recurrence{Frequency::hour, 1, {}, {}, {}, {}}, {}, {}, ""}));
  world.look(at("10:30"));
  EXPECT_EQ(world.entries(), "10:00 +2");  // of 8:00, 9:00 and 10:00
}

TEST(Firing, EndsAtItsEnd) {
  ScheduleWorld world;
  JobSchedule text = schedule_of(cron_trigger("0 * * * *"));
  text.trigger.end_time = parse_local_time("2026-01-31T09:00").value();
  world.set(at("07:30"), text);
  world.look(at("12:00"));
  EXPECT_EQ(world.entries(), "09:00 +1");
  EXPECT_EQ(world.next(at("12:00")), "never");
}

TEST(Firing, AChangedTextKeepsWhatPassedDuringARun) {
  ScheduleWorld world = hourly(Overlap::forbid);
  world.look(at("08:00"));
  JobSchedule text = world.schedule().text;
  text.overlap = Overlap::allow;
  world.set(at("10:10"), text);
  world.look(at("10:10"));
  world.look(at("11:00"));
  EXPECT_EQ(world.entries(), "08:00, none 10:00 +1, 11:00");
}

TEST(Firing, ARemovedScheduleLeavesItsRunsAlone) {
  ScheduleWorld world = hourly(Overlap::allow);
  world.look(at("08:00"));
  EXPECT_EQ(world.table.count_of("ann"), 1u);
  world.apply(at("08:10"), ScheduleRemoved{"retrain", "ann"});
  EXPECT_EQ(world.table.find("retrain"), nullptr);
  EXPECT_EQ(world.table.of_run(JobId("retrain-20260131T080000Z")), nullptr);
  EXPECT_EQ(world.table.count_of("ann"), 0u);
  EXPECT_EQ(world.clock.next(), Instant::never());
  world.end(at("08:20"), JobId("retrain-20260131T080000Z"));
  EXPECT_EQ(world.table, ScheduleTable());
  // The next one of this name begins anew, and its submissions differ.
  const std::string before = "schedule:retrain:";
  world.set(at("09:30"), schedule_of(cron_trigger("0 * * * *")));
  EXPECT_EQ(world.schedule().runs, 0u);
  EXPECT_TRUE(submission_of_run(world.schedule()).starts_with(before));
  EXPECT_NE(submission_of_run(world.schedule()),
            submission_of_run(*hourly(Overlap::allow).table.find("retrain")));
}

TEST(Firing, AClockThatWasSetBackFiresNothingTwice) {
  ScheduleWorld world = hourly(Overlap::allow);
  world.look(at("10:00"));
  world.look(at("08:30"));  // after a restart, by a clock that was two hours ahead before
  world.look(at("10:00"));
  EXPECT_EQ(world.entries(), "10:00 +2");
  EXPECT_EQ(world.next(at("08:30")), "2026-01-31T11:00:00");
  world.look(at("11:00"));
  EXPECT_EQ(world.entries(), "10:00 +2, 11:00");
}

TEST(Firing, SwitchedOffAndOnItForgetsTimesOfAWrongClock) {
  ScheduleWorld world = hourly(Overlap::allow);
  world.look(in_utc("2099-01-01T00:00:00"));
  EXPECT_EQ(world.next(at("08:30")), "2099-01-01T01:00:00");
  world.apply(at("08:31"), ScheduleSwitched{"retrain", false, "ann"});
  world.apply(at("08:32"), ScheduleSwitched{"retrain", true, "ann"});
  EXPECT_EQ(world.next(at("08:32")), "2026-01-31T09:00:00");
  EXPECT_EQ(wrong_with(world.table), "");
}

TEST(Firing, DoesNothingInAZoneThatIsNotThere) {
  ScheduleWorld world;
  world.set(at("08:00"), schedule_of(cron_trigger("* * * * *", "Mars/Olympus")));
  world.look(at("10:00"));
  EXPECT_EQ(world.entries(), "");
  EXPECT_EQ(world.next(at("10:00")), "never");
}

TEST(Firing, OverAChangeOfClocksFiresAsItsTextSays) {
  ScheduleWorld world;
  world.set(in_utc("2025-03-29T12:00:00"),
            schedule_of(cron_trigger("30 2 * * *", "Europe/Berlin")));
  for (Instant now = in_utc("2025-03-29T12:00:00"); now < in_utc("2025-04-01T00:00:00");
       now = now + minutes(10))
    world.look(now);
  EXPECT_EQ(world.entries(), "01:00, 00:30");  // on the 30th when the clock skips, on the 31st
  ScheduleWorld autumn;
  autumn.set(in_utc("2025-10-25T12:00:00"),
             schedule_of(cron_trigger("30 2 * * *", "Europe/Berlin")));
  for (Instant now = in_utc("2025-10-25T12:00:00"); now < in_utc("2025-10-27T12:00:00");
       now = now + minutes(10))
    autumn.look(now);
  EXPECT_EQ(autumn.entries(), "00:30, 01:30");
}

TEST(Firing, ALauncherStoppedOverAChangeOfClocksFiresOnce) {
  ScheduleWorld world;
  world.set(in_utc("2025-10-25T12:00:00"),
            schedule_of(cron_trigger("*/30 2 * * *", "Europe/Berlin")));
  world.look(in_utc("2025-10-26T03:00:00"));  // 2:00 and 2:30 came twice meanwhile
  EXPECT_EQ(world.entries(), "00:30 +1");
}

TEST(Clock, KnowsWhichScheduleIsDueFirst) {
  ScheduleTable table;
  ScheduleClock clock;
  const std::pair<const char*, const char*> schedules[] = {
      {"noon", "0 12 * * *"}, {"ten", "0 10 * * *"}, {"also-ten", "0 10 * * *"}};
  for (const auto& [name, expression] : schedules) {
    JobSchedule text = schedule_of(cron_trigger(expression));
    text.name = name;
    table.apply(at("09:00"), ScheduleSet{text, "ann", "ann", false});
    clock.changed(name, table.find(name), at("09:00"), machine_zones());
  }
  EXPECT_EQ(clock.next(), at("10:00"));
  EXPECT_TRUE(clock.due(at("09:59")).empty());
  EXPECT_EQ(clock.due(at("10:00")), (std::vector<std::string>{"also-ten", "ten"}));
  EXPECT_EQ(clock.due(at("13:00")).back(), "noon");
  clock.changed("ten", nullptr, at("10:00"), machine_zones());
  EXPECT_EQ(clock.due(at("10:00")), (std::vector<std::string>{"also-ten"}));
}

TEST(RefusedTimes, AreThoseThatNeverCome) {
  const auto refusal = [](const Trigger& trigger) {
    const auto error = refused_times(schedule_of(trigger), at("08:00"), machine_zones());
    return error ? error->message : "";
  };
  EXPECT_EQ(refusal(cron_trigger("0 8 * * *")), "");
  EXPECT_EQ(refusal(cron_trigger("0 8 * * *", "Europe/Berlni")),
            "trigger.time_zone: there is no time zone 'Europe/Berlni'; did you mean "
            "'Europe/Berlin'?");
  EXPECT_EQ(refusal(cron_trigger("0 8 * * *", "Mars/Olympus")),
            "trigger.time_zone: there is no time zone 'Mars/Olympus'; write a name of IANA such as "
            "Europe/Berlin, or of Windows such as 'W. Europe Standard Time'");
  Trigger over = cron_trigger("0 8 * * *", "Europe/Berlin");
  over.end_time = parse_local_time("2026-01-30T08:00").value();
  EXPECT_EQ(refusal(over),
            "trigger.end_time: there is no time between now (2026-01-31T09:00:00 Europe/Berlin) "
            "and 2026-01-30T08:00:00, so it would never fire");
  Trigger at_once{Recurrence{}, {}, parse_local_time("2026-01-31T08:00").value(), ""};
  EXPECT_EQ(refusal(at_once), "");  // now, and never again
  at_once.end_time = parse_local_time("2026-01-31T07:59").value();
  EXPECT_NE(refusal(at_once), "");
}

}  // namespace
}  // namespace lockstep::launcher
