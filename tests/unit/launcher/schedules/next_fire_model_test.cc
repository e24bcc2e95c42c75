// next_fire() and last_fire() agree with a model that walks every minute, around all changes of the
// clocks of many zones, for random triggers.

#include <gtest/gtest.h>

#include "launcher/schedules/next_fire.h"
#include "tests/unit/launcher/schedules/minute_model.h"
#include "tests/unit/launcher/schedules/zones.h"

namespace lockstep::launcher {
namespace {

using test::in_utc;
using test::machine_zones;
using test::minutes_between;
using test::ModelMinute;
using test::ModelTrigger;
using test::utc_text;

struct Window {
  const char *zone, *around;  // a day on which its clock is set
};

constexpr Window kWindows[] = {
    {"Europe/Berlin", "2025-03-30"},
    {"Europe/Berlin", "2025-10-26"},
    {"Europe/London", "2025-03-30"},
    {"Europe/London", "2025-10-26"},
    {"Europe/Dublin", "2025-03-30"},
    {"Europe/Dublin", "2025-10-26"},
    {"Europe/Athens", "2025-03-30"},
    {"Europe/Athens", "2025-10-26"},
    {"Atlantic/Azores", "2025-03-30"},
    {"Atlantic/Azores", "2025-10-26"},
    {"Antarctica/Troll", "2025-03-30"},
    {"Antarctica/Troll", "2025-10-26"},
    {"America/New_York", "2025-03-09"},
    {"America/New_York", "2025-11-02"},
    {"America/Chicago", "2024-03-10"},
    {"America/Chicago", "2024-11-03"},
    {"America/Los_Angeles", "2025-03-09"},
    {"America/Los_Angeles", "2025-11-02"},
    {"America/St_Johns", "2025-03-09"},
    {"America/St_Johns", "2025-11-02"},
    {"America/Havana", "2025-03-09"},
    {"America/Havana", "2025-11-02"},
    {"America/Santiago", "2025-04-06"},
    {"America/Santiago", "2025-09-07"},
    {"America/Nuuk", "2025-03-30"},
    {"America/Nuuk", "2025-10-26"},
    {"Africa/Cairo", "2025-04-25"},
    {"Africa/Cairo", "2025-10-31"},
    {"Africa/Casablanca", "2025-02-23"},
    {"Africa/Casablanca", "2025-04-06"},
    {"Asia/Jerusalem", "2025-03-28"},
    {"Asia/Jerusalem", "2025-10-26"},
    {"Asia/Beirut", "2025-03-30"},
    {"Asia/Beirut", "2025-10-26"},
    {"Australia/Sydney", "2025-04-06"},
    {"Australia/Sydney", "2025-10-05"},
    {"Australia/Adelaide", "2025-04-06"},
    {"Australia/Adelaide", "2025-10-05"},
    {"Australia/Lord_Howe", "2025-04-06"},
    {"Australia/Lord_Howe", "2025-10-05"},
    {"Pacific/Auckland", "2025-04-06"},
    {"Pacific/Auckland", "2025-09-28"},
    {"Pacific/Chatham", "2025-04-06"},
    {"Pacific/Chatham", "2025-09-28"},
    {"Pacific/Norfolk", "2025-04-06"},
    {"Pacific/Norfolk", "2025-10-05"},
    {"Pacific/Easter", "2025-04-06"},
    {"Pacific/Easter", "2025-09-07"},
    // Zones that were moved for good: a day was skipped; half an hour; three hours; an hour back.
    {"Pacific/Apia", "2011-12-30"},
    {"Asia/Pyongyang", "2018-05-05"},
    {"America/Caracas", "2016-05-01"},
    {"Europe/Volgograd", "2020-12-27"},
    {"Europe/Istanbul", "2016-09-07"},
    {"Asia/Kolkata", "2025-02-28"},
    {"Asia/Tokyo", "2024-02-29"},
    {"UTC", "2025-12-31"},
};

class AgainstTheModel : public testing::TestWithParam<Window> {};

TEST_P(AgainstTheModel, FiresAtTheSameTimes) {
  const std::string zone = GetParam().zone;
  const Instant noon = in_utc(std::string(GetParam().around) + "T12:00:00");
  const Instant begin = noon - std::chrono::hours(60), end = noon + std::chrono::hours(60);
  const std::vector<ModelMinute> minutes = minutes_between(machine_zones(), zone, begin, end);
  std::mt19937 random(7);
  for (int i = 0; i < 12; ++i) {
    const ModelTrigger model =
        test::random_trigger(random, zone, machine_zones().local(zone, begin));
    SCOPED_TRACE(zone + " " + lockstep::to_string(model.trigger));
    const Instant start = model.trigger.start_time
                              ? machine_zones().instant(zone, *model.trigger.start_time)
                              : in_utc("2000-01-01T00:00:00");
    const Instant anchor = in_utc("2000-01-01T00:00:00");
    const std::vector<Instant> expected =
        test::times_of(model, minutes, start, begin - std::chrono::minutes(1));
    Instant time = begin - std::chrono::minutes(1);
    for (const Instant wanted : expected) {
      const auto next = next_fire(model.trigger, anchor, time, machine_zones());
      ASSERT_EQ(utc_text(next), utc_text(wanted)) << "after " << utc_text(time);
      time = wanted;
    }
    const auto later = next_fire(model.trigger, anchor, time, machine_zones());
    ASSERT_TRUE(!later || *later >= end) << utc_text(later);
    // The last one of some stretches.
    std::uniform_int_distribution<std::size_t> any(0, minutes.size() - 1);
    for (int stretch = 0; stretch < 10; ++stretch) {
      const Instant from = minutes[any(random)].at, until = minutes[any(random)].at;
      std::optional<Instant> wanted;
      for (const Instant one : expected)
        if (one > from && one <= until) wanted = one;
      EXPECT_EQ(utc_text(last_fire(model.trigger, anchor, from, until, machine_zones())),
                utc_text(wanted))
          << utc_text(from) << " to " << utc_text(until);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Zones, AgainstTheModel, testing::ValuesIn(kWindows),
                         [](const auto& window) {
                           std::string name =
                               std::string(window.param.zone) + "_" + window.param.around;
                           for (char& c : name)
                             if (c == '/' || c == '-') c = '_';
                           return name;
                         });

TEST(Model, KnowsWhatClocksSkipAndRepeat) {
  const auto minutes =
      minutes_between(machine_zones(), "Europe/Berlin", in_utc("2025-03-30T00:58:00"),
                      in_utc("2025-03-30T01:02:00"));
  ASSERT_EQ(minutes.size(), 4u);
  EXPECT_EQ(minutes[1].shown - minutes[1].after, 1);
  EXPECT_EQ(minutes[2].shown - minutes[2].after, 61);  // 2:00 to 3:00
  const auto again = minutes_between(machine_zones(), "Europe/Berlin",
                                     in_utc("2025-10-26T00:58:00"), in_utc("2025-10-26T02:02:00"));
  int without = 0;
  for (const ModelMinute& minute : again) without += minute.shown == minute.after ? 1 : 0;
  EXPECT_EQ(without, 60);
}

}  // namespace
}  // namespace lockstep::launcher
