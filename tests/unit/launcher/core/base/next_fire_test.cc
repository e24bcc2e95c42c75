// When schedules fire: cron and recurrence, over changes of clocks, ends of months and leap years.
// The zones are the machine's.

#include "launcher/core/base/next_fire.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "common/domain/targets/cron.h"
#include "common/io/zones/machine_zones.h"

namespace lockstep::launcher {
namespace {

const TimeZones& zones() {
  static const std::shared_ptr<const TimeZones> kZones = io::system_time_zones();
  return *kZones;
}

// "2026-03-29T00:30:00" in UTC.
Instant utc(const std::string& text) {
  return Instant{} + seconds(parse_local_time(text).value().seconds);
}
std::string text_of(std::optional<Instant> time) {
  if (!time) return "never";
  const std::string text = to_string(*time);
  return text.ends_with(".000Z") ? text.substr(0, text.size() - 5) : text;
}

Trigger cron(const std::string& expression, const std::string& zone = "") {
  return {CronTrigger{expression}, {}, {}, zone};
}
Trigger every(Recurrence recurrence, const std::string& start, const std::string& zone = "") {
  return {std::move(recurrence),
          start.empty() ? std::nullopt : std::optional(parse_local_time(start).value()),
          {},
          zone};
}
// The times at which it fires, in UTC, "; " between them.
std::string fires(const Trigger& trigger, const std::string& after, int count,
                  const std::string& anchor = "2020-01-01T00:00:00") {
  std::string text;
  std::optional<Instant> time = utc(after);
  for (int i = 0; i < count && time; ++i) {
    time = next_fire(trigger, utc(anchor), *time, zones());
    text += (i == 0 ? "" : "; ") + text_of(time);
  }
  return text;
}

int semicolons(const char* text) {
  return static_cast<int>(std::count(text, text + std::strlen(text), ';'));
}

struct CronCase {
  const char *expression, *zone, *after, *times;
};

TEST(Cron, FiresAsVixieCronDoes) {
  const CronCase cases[] = {
      {"* * * * *", "", "2026-01-31T23:59:00", "2026-02-01T00:00:00; 2026-02-01T00:01:00"},
      {"* * * * *", "", "2026-01-31T23:59:30", "2026-02-01T00:00:00; 2026-02-01T00:01:00"},
      {"*/20 * * * *", "", "2026-01-01T10:20:00", "2026-01-01T10:40:00; 2026-01-01T11:00:00"},
      {"10-30/10 8,18 * * *", "", "2026-01-01T08:20:00",
       "2026-01-01T08:30:00; 2026-01-01T18:10:00"},
      {"0 8 * * mon-fri", "", "2026-11-27T08:00:00", "2026-11-30T08:00:00; 2026-12-01T08:00:00"},
      {"0 8 * * 7", "", "2026-11-27T08:00:00", "2026-11-29T08:00:00; 2026-12-06T08:00:00"},
      {"0 8 * * Fri-Sun", "", "2026-11-26T08:00:00", "2026-11-27T08:00:00; 2026-11-28T08:00:00"},
      {"0 0 1 JAN *", "", "2026-01-01T00:00:00", "2027-01-01T00:00:00; 2028-01-01T00:00:00"},
      {"0 0 29 2 *", "", "2026-01-01T00:00:00", "2028-02-29T00:00:00; 2032-02-29T00:00:00"},
      {"0 0 29 2 *", "", "2097-01-01T00:00:00", "2104-02-29T00:00:00; 2108-02-29T00:00:00"},
      {"0 0 31 * *", "", "2026-01-31T00:00:00", "2026-03-31T00:00:00; 2026-05-31T00:00:00"},
      // Both day fields: one of them has to match.
      {"0 0 13 * 5", "", "2026-11-01T00:00:00", "2026-11-06T00:00:00; 2026-11-13T00:00:00"},
      {"0 0 13 * 1", "", "2026-11-09T00:00:00", "2026-11-13T00:00:00; 2026-11-16T00:00:00"},
      // A field that begins with * does not count as restricted, so both have to match.
      {"0 0 */2 * 1", "", "2026-11-01T00:00:00", "2026-11-09T00:00:00; 2026-11-23T00:00:00"},
      // 8:00 in winter and summer.
      {"0 8 * * *", "Europe/Berlin", "2026-03-28T00:00:00",
       "2026-03-28T07:00:00; 2026-03-29T06:00:00"},
      {"0 8 * * *", "W. Europe Standard Time", "2026-03-28T00:00:00",
       "2026-03-28T07:00:00; 2026-03-29T06:00:00"},
      {"0 18 * * *", "Pacific Standard Time", "2026-01-01T00:00:00",
       "2026-01-01T02:00:00; 2026-01-02T02:00:00"},
      {"30 9 * * *", "Asia/Kolkata", "2026-01-01T00:00:00",
       "2026-01-01T04:00:00; 2026-01-02T04:00:00"},
      // 2:30 is skipped on 29 March: at the moment of the change, 3:00.
      {"30 2 * * *", "Europe/Berlin", "2026-03-28T00:00:00",
       "2026-03-28T01:30:00; 2026-03-29T01:00:00; 2026-03-30T00:30:00"},
      // All that is skipped fires once.
      {"*/10 2 * * *", "Europe/Berlin", "2026-03-28T01:50:00",
       "2026-03-29T01:00:00; 2026-03-30T00:00:00"},
      // 3:00 is that moment, too.
      {"0,30 2,3 * * *", "Europe/Berlin", "2026-03-28T02:30:00",
       "2026-03-29T01:00:00; 2026-03-29T01:30:00; 2026-03-30T00:00:00"},
      // 2:30 comes twice on 25 October: the first time only.
      {"30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00",
       "2026-10-25T00:30:00; 2026-10-26T01:30:00"},
      // Looked at between the two.
      {"30 2 * * *", "Europe/Berlin", "2026-10-25T01:10:00", "2026-10-26T01:30:00"},
      {"*/30 * * * *", "Europe/Berlin", "2026-10-25T00:00:00",
       "2026-10-25T00:30:00; 2026-10-25T02:00:00; 2026-10-25T02:30:00"},
      {"30 2 * * *", "America/New_York", "2026-03-07T12:00:00",
       "2026-03-08T07:00:00; 2026-03-09T06:30:00"},
      {"30 1 * * *", "America/New_York", "2026-10-31T12:00:00",
       "2026-11-01T05:30:00; 2026-11-02T06:30:00"},
      // Samoa had no 30 December 2011.
      {"0 12 30 12 *", "Pacific/Apia", "2011-12-01T00:00:00",
       "2011-12-30T10:00:00; 2012-12-29T22:00:00"},
  };
  for (const CronCase& one : cases) {
    SCOPED_TRACE(std::string(one.expression) + " after " + one.after);
    const auto count = semicolons(one.times);
    EXPECT_EQ(fires(cron(one.expression, one.zone), one.after, count + 1, "2010-01-01T00:00:00"),
              one.times);
  }
}

TEST(Cron, NamesTheFieldThatIsWrong) {
  const std::pair<const char*, const char*> cases[] = {
      {"",
       "'' has 0 fields; there must be five: minute, hour, day of month, month and day of week, "
       "such as '0 8 * * 1-5'"},
      {"@daily",
       "'@daily' has 1 fields; there must be five: minute, hour, day of month, month and "
       "day of week, such as '0 8 * * 1-5'"},
      {"0 0 8 * * *",
       "'0 0 8 * * *' has 6 fields; there must be five: minute, hour, day of month, "
       "month and day of week, such as '0 8 * * 1-5'"},
      {"60 * * * *", "minute: '60' is not a number from 0 to 59"},
      {"0 24 * * *", "hour: '24' is not a number from 0 to 23"},
      {"0 8 0 * *", "day of month: '0' is not a number from 1 to 31"},
      {"0 8 * 13 *", "month: '13' is not a number from 1 to 12 or a name such as feb"},
      {"0 8 * * 8", "day of week: '8' is not a number from 0 to 7 or a name such as mon"},
      {"0 8 * * moon", "day of week: 'moon' is not a number from 0 to 7 or a name such as mon"},
      {"-1 8 * * *", "minute: '' is not a number from 0 to 59"},
      {"1, 8 * * *", "minute: there is nothing before or after a comma"},
      {"5/10 8 * * *", "minute: '5/10' has a step without a range; write 5-59/10 or */10"},
      {"*/0 8 * * *", "minute: '0' is not a step from 1 to 59"},
      {"*/x 8 * * *", "minute: 'x' is not a step from 1 to 59"},
      {"0 22-6 * * *", "hour: '22-6' ends before it begins; write two ranges"},
      {"0 0 30 2 *", "'0 0 30 2 *' never fires: none of its months has such a day"},
      {"0 0 31 2,4,6,9,11 *",
       "'0 0 31 2,4,6,9,11 *' never fires: none of its months has such a day"},
  };
  for (const auto& [expression, message] : cases) {
    const auto cron = parse_cron(expression);
    ASSERT_FALSE(cron) << expression;
    EXPECT_EQ(cron.error().message, message);
  }
  EXPECT_FALSE(parse_cron(std::string(1000, '*')));
  EXPECT_TRUE(parse_cron("0 0 31 2 1"));  // on Mondays
}

struct RecurrenceCase {
  const char* name;
  Recurrence recurrence;
  const char *start, *zone, *after, *times;
};

TEST(Recurrence, CountsFromItsStart) {
  using F = Frequency;
  const RecurrenceCase cases[] = {
      {"20 minutes",
       {F::minute, 20, {}, {}, {}, {}},
       "2026-01-01T08:05:00",
       "",
       "2026-01-01T00:00:00",
       "2026-01-01T08:05:00; 2026-01-01T08:25:00; 2026-01-01T08:45:00"},
      {"at a time of its own",
       {F::minute, 20, {}, {}, {}, {}},
       "2026-01-01T08:05:00",
       "",
       "2026-01-01T08:25:00",
       "2026-01-01T08:45:00"},
      {"3 hours over a change of clocks",
       {F::hour, 3, {}, {}, {}, {}},
       "2026-03-28T23:00:00",
       "Europe/Berlin",
       "2026-03-28T00:00:00",
       "2026-03-28T22:00:00; 2026-03-29T01:00:00; 2026-03-29T04:00:00"},
      {"a day, at the start's time",
       {F::day, 1, {}, {}, {}, {}},
       "2026-03-27T08:15:30",
       "Europe/Berlin",
       "2026-03-27T12:00:00",
       "2026-03-28T07:15:30; 2026-03-29T06:15:30"},
      {"2 days at 8 and 18",
       {F::day, 2, {18, 8}, {}, {}, {}},
       "2026-01-01T09:15:00",
       "",
       "2026-01-01T00:00:00",
       "2026-01-01T18:00:00; 2026-01-03T08:00:00; 2026-01-03T18:00:00"},
      {"hours and minutes",
       {F::day, 1, {8}, {0, 30}, {}, {}},
       "2026-01-01T00:00:00",
       "",
       "2026-01-01T08:00:00",
       "2026-01-01T08:30:00; 2026-01-02T08:00:00"},
      {"minutes of the start's hour",
       {F::day, 1, {}, {10, 50}, {}, {}},
       "2026-01-01T07:33:00",
       "",
       "2026-01-01T00:00:00",
       "2026-01-01T07:50:00; 2026-01-02T07:10:00"},
      {"weekdays",
       {F::week, 1, {8}, {}, {1, 3, 5}, {}},
       "2026-11-26T00:00:00",
       "",
       "2026-11-26T00:00:00",
       "2026-11-27T08:00:00; 2026-11-30T08:00:00; 2026-12-02T08:00:00"},
      // 26 November is a Thursday; the next week that counts begins on 7 December.
      {"2 weeks",
       {F::week, 2, {8}, {}, {0, 1}, {}},
       "2026-11-26T00:00:00",
       "",
       "2026-11-26T00:00:00",
       "2026-11-29T08:00:00; 2026-12-07T08:00:00; 2026-12-13T08:00:00"},
      {"a week, the start's day",
       {F::week, 1, {}, {}, {}, {}},
       "2026-11-26T08:00:00",
       "",
       "2026-11-26T08:00:00",
       "2026-12-03T08:00:00"},
      {"a month from the 31st",
       {F::month, 1, {}, {}, {}, {}},
       "2026-01-31T08:00:00",
       "",
       "2026-01-31T08:00:00",
       "2026-02-28T08:00:00; 2026-03-31T08:00:00; 2026-04-30T08:00:00"},
      {"the 31st in a leap year",
       {F::month, 1, {}, {}, {}, {}},
       "2028-01-31T08:00:00",
       "",
       "2028-01-31T08:00:00",
       "2028-02-29T08:00:00"},
      {"days of the month",
       {F::month, 1, {8}, {}, {}, {30, 31, 1}},
       "2026-02-01T00:00:00",
       "",
       "2026-02-01T08:00:00",
       "2026-02-28T08:00:00; 2026-03-01T08:00:00; 2026-03-30T08:00:00"},
      {"a quarter",
       {F::month, 3, {0}, {}, {}, {15}},
       "2026-11-20T00:00:00",
       "",
       "2026-11-20T00:00:00",
       "2027-02-15T00:00:00; 2027-05-15T00:00:00"},
      {"skipped in spring",
       {F::day, 1, {2}, {30}, {}, {}},
       "2026-03-28T00:00:00",
       "Europe/Berlin",
       "2026-03-28T02:00:00",
       "2026-03-29T01:00:00; 2026-03-30T00:30:00"},
      {"twice in autumn",
       {F::day, 1, {1}, {30}, {}, {}},
       "2026-10-31T00:00:00",
       "America/New_York",
       "2026-10-31T12:00:00",
       "2026-11-01T05:30:00; 2026-11-02T06:30:00"},
      {"from when it was set",
       {F::day, 1, {}, {}, {}, {}},
       "",
       "",
       "2026-01-01T00:00:00",
       "2026-01-02T00:00:00"},
  };
  for (const RecurrenceCase& one : cases) {
    SCOPED_TRACE(one.name);
    const auto count = semicolons(one.times);
    EXPECT_EQ(fires(every(one.recurrence, one.start, one.zone), one.after, count + 1), one.times);
  }
}

TEST(Trigger, HasAFirstAndALastTime) {
  Trigger trigger = cron("0 8 * * *", "Europe/Berlin");
  trigger.start_time = parse_local_time("2026-01-05T08:00:00").value();
  trigger.end_time = parse_local_time("2026-01-06T08:00").value();
  EXPECT_EQ(fires(trigger, "2026-01-01T00:00:00", 3),
            "2026-01-05T07:00:00; 2026-01-06T07:00:00; never");
  // What was due before it was set never happens.
  EXPECT_EQ(fires(trigger, "2026-01-01T00:00:00", 2, "2026-01-05T12:00:00"),
            "2026-01-06T07:00:00; never");
  EXPECT_EQ(text_of(next_fire(cron("* * * * *", "Mars/Olympus"), {}, {}, zones())), "never");
  EXPECT_EQ(text_of(next_fire(cron("* * * * *", "../../etc/passwd"), {}, {}, zones())), "never");
}

TEST(Trigger, TellsTheLastTimeThatWasMissed) {
  const auto last = [](const Trigger& trigger, const std::string& after, const std::string& until) {
    return text_of(last_fire(trigger, utc("2020-01-01T00:00:00"), utc(after), utc(until), zones()));
  };
  EXPECT_EQ(last(cron("0 8 * * *"), "2026-01-01T08:00:00", "2026-01-02T07:59:59"), "never");
  EXPECT_EQ(last(cron("0 8 * * *"), "2026-01-01T08:00:00", "2026-01-02T08:00:00"),
            "2026-01-02T08:00:00");
  EXPECT_EQ(last(cron("0 8 * * *"), "2026-01-01T08:00:00", "2026-06-02T07:00:00"),
            "2026-06-01T08:00:00");
  EXPECT_EQ(last(cron("* * * * *"), "2020-01-01T00:00:00", "2026-06-02T07:00:30"),
            "2026-06-02T07:00:00");
  EXPECT_EQ(last(cron("0 0 29 2 *"), "2020-03-01T00:00:00", "2026-06-02T07:00:30"),
            "2024-02-29T00:00:00");
  EXPECT_EQ(last(every({Frequency::month, 1, {}, {}, {}, {31}}, ""), "2026-01-01T00:00:00",
                 "2026-03-01T00:00:00"),
            "2026-02-28T00:00:00");
}

TEST(TimeZones, KnowWindowsNamesAndNoPaths) {
  for (const std::string& name : zones().names()) EXPECT_TRUE(zones().has(name)) << name;
  EXPECT_GT(zones().names().size(), 500u);
  for (const char* name : {"", "/etc/localtime", "../UTC", "europe/berlin", "CEST"})
    EXPECT_FALSE(zones().has(name)) << name;
  EXPECT_TRUE(zones().has("UTC"));
  EXPECT_TRUE(OnlyUtc().has("UTC"));
  EXPECT_EQ(OnlyUtc().local("UTC", utc("2026-01-31T08:00:00") + milliseconds(900)).seconds,
            parse_local_time("2026-01-31 08:00:00").value().seconds);
}

TEST(LocalTime, IsReadAndWritten) {
  for (const char* text : {"1970-01-01T00:00:00", "2024-02-29T23:59:59", "2100-12-31T12:30:00"})
    EXPECT_EQ(to_string(parse_local_time(text).value()), text);
  EXPECT_EQ(to_string(parse_local_time("2026-01-31 08:00").value()), "2026-01-31T08:00:00");
  for (const char* text :
       {"", "2026", "2026-1-31T08:00:00", "2026-02-30T08:00:00", "2026-01-31T24:00:00",
        "2026-01-31T08:00:00Z", "2026-01-31T08:00:00+01:00", "1969-12-31T00:00:00",
        "2101-01-01T00:00:00", "2026-01-31T08:00:0", "2026-01-31T08:00:60", "31.01.2026 08:00"})
    EXPECT_FALSE(parse_local_time(text)) << text;
}

}  // namespace
}  // namespace lockstep::launcher
