// What people are shown of a schedule, with the reason why it does not fire.

#include "launcher/schedules/schedule_view.h"

#include <gtest/gtest.h>

#include "tests/unit/launcher/schedules/schedule_world.h"

namespace lockstep::launcher {
namespace {

using test::cron_trigger;
using test::in_utc;
using test::machine_zones;
using test::schedule_of;
using test::ScheduleWorld;

ScheduleView shown(const ScheduleWorld& world, const std::string& now) {
  return view_of(world.schedule(), in_utc(now), machine_zones());
}

TEST(ScheduleView, SaysWhenItFiresNext) {
  ScheduleWorld world;
  world.set(in_utc("2026-03-28T12:00:00"),
            schedule_of(cron_trigger("30 2 * * *", "Europe/Berlin")));
  const ScheduleView view = shown(world, "2026-03-28T12:00:00");
  EXPECT_EQ(view.owner, "ann");
  EXPECT_EQ(view.reason, "");
  EXPECT_EQ(view.next, in_utc("2026-03-29T01:00:00"));
  EXPECT_EQ(view.next_local, "2026-03-29T03:00:00 Europe/Berlin");
}

TEST(ScheduleView, SaysWhatItDid) {
  ScheduleWorld world;
  world.set(in_utc("2026-01-31T07:30:00"), schedule_of(cron_trigger("0 * * * *"), Overlap::forbid));
  world.look(in_utc("2026-01-31T10:10:00"));
  EXPECT_EQ(shown(world, "2026-01-31T10:30:00").reason, "");
  EXPECT_EQ(shown(world, "2026-01-31T11:30:00").reason, "'retrain-20260131T100000Z' has not ended");
  world.end_first(in_utc("2026-01-31T11:40:00"));
  world.look(in_utc("2026-01-31T11:40:00"));
  world.refuses = "no such compute target";
  world.look(in_utc("2026-01-31T12:00:00"));
  const ScheduleView view = shown(world, "2026-01-31T12:00:00");
  ASSERT_EQ(view.recent.size(), 3u);
  EXPECT_EQ(view.recent[0].run, 1u);
  EXPECT_EQ(view.recent[0].missed, 2u);
  EXPECT_EQ(view.recent[0].ended, JobStatus::completed);
  EXPECT_EQ(view.recent[0].job, JobId("retrain-20260131T100000Z"));
  EXPECT_EQ(view.recent[1].why_none, "run 'retrain-20260131T100000Z' had not ended");
  EXPECT_EQ(view.recent[2].why_none, "the job was refused: no such compute target");
  EXPECT_EQ(view.runs, 1u);
  EXPECT_EQ(view.passed, 2u);
  EXPECT_EQ(view.missed, 2u);
  EXPECT_TRUE(view.open.empty());
}

TEST(ScheduleView, SaysWhyItDoesNotFire) {
  ScheduleWorld world;
  JobSchedule text = schedule_of(cron_trigger("0 * * * *"), Overlap::queue);
  world.set(in_utc("2026-01-31T07:30:00"), text);
  world.look(in_utc("2026-01-31T08:00:00"));
  EXPECT_EQ(shown(world, "2026-01-31T09:10:00").reason,
            "a run is due, and waits for the end of 'retrain-20260131T080000Z'");
  world.apply(in_utc("2026-01-31T09:20:00"), SchedulePaused{"retrain", true, "oli"});
  EXPECT_EQ(shown(world, "2026-01-31T09:30:00").reason, "it is paused by oli");
  EXPECT_EQ(shown(world, "2026-01-31T09:30:00").next, std::nullopt);
  world.apply(in_utc("2026-01-31T09:40:00"), ScheduleSwitched{"retrain", false, "ann"});
  EXPECT_EQ(shown(world, "2026-01-31T09:50:00").reason, "it is disabled");

  ScheduleWorld over;
  text.trigger.end_time = parse_local_time("2026-01-31T08:00").value();
  over.set(in_utc("2026-01-31T07:30:00"), text);
  over.look(in_utc("2026-01-31T08:00:00"));
  EXPECT_EQ(shown(over, "2026-01-31T09:00:00").reason, "no time is left before its end");

  ScheduleWorld ahead;
  ahead.set(in_utc("2026-01-31T07:30:00"), schedule_of(cron_trigger("0 * * * *")));
  ahead.look(in_utc("2026-01-31T12:00:00"));
  EXPECT_EQ(shown(ahead, "2026-01-31T08:00:00").reason,
            "it has fired for 2026-01-31T12:00:00 UTC, so the launcher's clock was set back since; "
            "it goes on after that time, or when it is disabled and enabled again");

  ScheduleWorld nowhere;
  nowhere.set(in_utc("2026-01-31T07:30:00"),
              schedule_of(cron_trigger("0 * * * *", "Mars/Olympus")));
  EXPECT_TRUE(shown(nowhere, "2026-01-31T08:00:00")
                  .reason.starts_with("the launcher's machine does not know its time zone"));

  ScheduleWorld many;
  many.set(in_utc("2026-01-31T00:00:00"), schedule_of(cron_trigger("* * * * *")));
  for (std::size_t i = 1; i <= kMaxOpenRuns + 1; ++i)
    many.look(in_utc("2026-01-31T00:00:00") + minutes(i));
  EXPECT_EQ(shown(many, "2026-01-31T02:00:00").reason,
            "100 runs have not ended, the most possible");
}

}  // namespace
}  // namespace lockstep::launcher
