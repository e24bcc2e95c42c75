// Compute files of type computeinstance: what is read, and that each bad one is refused with its
// place.

#include "launcher/files/targets/instance_reader.h"

#include <gtest/gtest.h>

#include "launcher/files/targets/compute_file.h"
#include "tests/unit/launcher/files/bad_input.h"

namespace lockstep::spec {
namespace {

const std::string kHead =
    "name: ci1\ntype: ComputeInstance\nlockstep: {docker: {image: 'debian:12'}}\n";
// Its first line is line 6 of a file with kHead.
const std::string kList = "schedules:\n  compute_start_stop:\n";

TEST(InstanceReader, ReadsAFileOfAzures) {
  const auto spec = parse_compute("compute.yml", kHead +
                                                     "size: Standard_D2\n"
                                                     "idle_time_before_shutdown: PT1H30M\n" +
                                                     kList +
                                                     "    - action: stop\n"
                                                     "      state: disabled\n"
                                                     "      trigger:\n"
                                                     "        type: cron\n"
                                                     "        expression: 0 18 * * MON-FRI\n"
                                                     "        start_time: '2026-03-10T21:21:07'\n"
                                                     "        end_time: 2026-12-31 00:00\n"
                                                     "        time_zone: W. Europe Standard Time\n"
                                                     "    - action: start\n"
                                                     "      trigger:\n"
                                                     "        type: recurrence\n"
                                                     "        frequency: week\n"
                                                     "        interval: 2\n"
                                                     "        schedule:\n"
                                                     "          week_days: [Monday, fri]\n"
                                                     "          hours: [8]\n"
                                                     "          minutes: 30\n");
  ASSERT_TRUE(spec) << spec.error().message;
  EXPECT_EQ(spec->type, ComputeType::computeinstance);
  EXPECT_EQ(spec->source, NodeSource::docker);
  EXPECT_EQ(spec->size, "Standard_D2");
  EXPECT_EQ(spec->instance.idle_time, minutes(90));
  InstanceSchedule stop{InstanceAction::stop, false, {}};
  stop.trigger = {CronTrigger{"0 18 * * MON-FRI"}, parse_local_time("2026-03-10T21:21:07").value(),
                  parse_local_time("2026-12-31T00:00:00").value(), "W. Europe Standard Time"};
  InstanceSchedule start{InstanceAction::start, true, {}};
  start.trigger.when = Recurrence{Frequency::week, 2, {8}, {30}, {1, 5}, {}};
  EXPECT_EQ(spec->instance.schedules, (std::vector<InstanceSchedule>{stop, start}));
}

TEST(InstanceReader, KnowsBothSpellingsOfTheIdleTime) {
  for (const char* line :
       {"idle_time_before_shutdown_minutes: 30", "idle_time_before_shutdown: 30m",
        "idle_time_before_shutdown: PT30M", "idle_time_before_shutdown: 1800"}) {
    const auto spec = parse_compute("compute.yml", kHead + line + "\n");
    ASSERT_TRUE(spec) << spec.error().message;
    EXPECT_EQ(spec->instance.idle_time, minutes(30)) << line;
  }
  EXPECT_EQ(parse_iso_duration("P1DT2H3M4S"), seconds(93'784));
  EXPECT_EQ(parse_iso_duration("P1W"), seconds(7 * 86'400));
  for (const char* text : {"", "P", "PT", "P1", "PT1", "P1H", "PT1D", "PT-1M", "P1DT", "PTM", "1H"})
    EXPECT_LT(parse_iso_duration(text), Duration::zero()) << text;
  EXPECT_EQ(to_iso(minutes(90)), "PT1H30M");
  EXPECT_EQ(to_iso({}), "PT0S");
}

TEST(InstanceReader, OneHostIsAnInstanceToo) {
  const auto spec =
      parse_compute("compute.yml", "name: ci1\ntype: computeinstance\nlockstep: {hosts: [vm1]}\n");
  ASSERT_TRUE(spec) << spec.error().message;
  EXPECT_EQ(spec->source, NodeSource::ssh);
}

TEST(InstanceReader, UpdatesTakeTheSameValues) {
  ComputeSpec spec;
  EXPECT_EQ(assign_to_instance("idle_time_before_shutdown", "1h", spec),
            "is of a target of type computeinstance");
  spec.type = ComputeType::computeinstance;
  EXPECT_EQ(assign_to_instance("idle_time_before_shutdown", "1h", spec), "");
  EXPECT_EQ(spec.instance.idle_time, minutes(60));
  EXPECT_EQ(assign_to_instance("size", "x", spec), std::nullopt);
  EXPECT_EQ(assign_to_instance("schedules",
                               "{compute_start_stop: [{action: stop, trigger: {type: cron, "
                               "expression: 0 18 * * *}}]}",
                               spec),
            "");
  EXPECT_EQ(spec.instance.schedules.size(), 1u);
  EXPECT_NE(assign_to_instance("schedules", "{compute_start_stop: [{}]}", spec), "");
  EXPECT_EQ(spec.instance.schedules.size(), 1u);
  EXPECT_EQ(assign_to_instance("schedules", "{compute_start_stop: []}", spec), "");
  EXPECT_TRUE(spec.instance.schedules.empty());
}

std::vector<BadInput> bad_instances() {
  const auto one = [](const std::string& trigger) {
    return kHead + kList + "    - {action: stop, trigger: {" + trigger + "}}\n";
  };
  const std::string path = "'schedules.compute_start_stop[0]";
  return {
      {"no_source",
       "name: ci1\ntype: computeinstance\n",
       {},
       "compute.yml:2:7: a target of this type needs something that makes its machines; node "
       "sources: "
       "docker, ssh, slurm, command. In a file, for example `lockstep: {docker: {image: IMAGE}}`; "
       "in "
       "a command --node-source docker --image IMAGE"},
      {"two_hosts",
       "name: ci1\ntype: computeinstance\nlockstep: {hosts: [vm1, vm2]}\n",
       {},
       "compute.yml:1:1: a computeinstance is one machine, and 2 hosts are named; leave all but "
       "one "
       "out, or choose the type amlcompute"},
      {"instances",
       kHead + "max_instances: 2\n",
       {},
       "compute.yml:4:1: 'max_instances' is of a target of type amlcompute or kubernetes; leave it "
       "out"},
      {"of_a_cluster",
       "name: lab\ntype: amlcompute\nlockstep: {docker: {image: 'debian:12'}}\n"
       "idle_time_before_shutdown: PT1H\n",
       {},
       "compute.yml:4:1: 'idle_time_before_shutdown' is of a target of type computeinstance; leave "
       "it "
       "out"},
      {"idle_time",
       kHead + "idle_time_before_shutdown: soon\n",
       {},
       "compute.yml:4:28: 'idle_time_before_shutdown': 'soon' is not a time of at most 30 days; "
       "write "
       "PT30M or 30m, or 0 for never"},
      {"idle_minutes",
       kHead + "idle_time_before_shutdown_minutes: PT1H\n",
       {},
       "compute.yml:4:36: 'idle_time_before_shutdown_minutes': 'PT1H' is not a number of minutes "
       "from "
       "0 (never) to 43200"},
      {"both_idle_times",
       kHead + "idle_time_before_shutdown: PT1H\nidle_time_before_shutdown_minutes: 60\n",
       {},
       "compute.yml:5:1: both 'idle_time_before_shutdown' and 'idle_time_before_shutdown_minutes' "
       "are "
       "given; leave one out"},
      {"schedules",
       kHead + "schedules: []\n",
       {},
       "compute.yml:4:12: 'schedules' must be a mapping of keys to values, not a list"},
      {"start_stop",
       kHead + "schedules: {compute_start_stop: 1}\n",
       {},
       "compute.yml:4:33: 'schedules.compute_start_stop' must be a list, not a value"},
      {"misspelt",
       kHead + "schedules: {compute_stop_start: []}\n",
       {},
       "compute.yml:4:13: unknown key 'schedules.compute_stop_start'; there are "
       "compute_start_stop"},
      {"no_action",
       kHead + kList + "    - {trigger: {type: cron, expression: '0 8 * * *'}}\n",
       {},
       "compute.yml:6:7: " + path + ".action' must be start or stop"},
      {"state",
       kHead + kList +
           "    - {action: stop, state: on, trigger: {type: cron, expression: "
           "'0 8 * * *'}}\n",
       {},
       "compute.yml:6:29: " + path + ".state': 'on' is not enabled or disabled"},
      {"no_trigger",
       kHead + kList + "    - {action: stop}\n",
       {},
       "compute.yml:6:7: " + path + "' needs a 'trigger' of type cron or recurrence"},
      {"type",
       one("type: daily"),
       {},
       "compute.yml:6:38: " + path + ".trigger.type' must be cron or recurrence"},
      {"misspelt_trigger",
       one("type: cron, expression: '0 8 * * *', timezone: UTC"),
       {},
       "compute.yml:6:69: unknown key " + path + ".trigger.timezone'; did you mean 'time_zone'?"},
      {"cron",
       one("type: cron, expression: '0 25 * * *'"),
       {},
       "compute.yml:6:56: " + path +
           ".trigger.expression': hour: '25' is not a number from 0 to 23"},
      {"no_cron",
       one("type: cron"),
       {},
       "compute.yml:6:31: " + path +
           ".trigger.expression': '' has 0 fields; there must be five: minute, hour, day of month, "
           "month and day of week, such as '0 8 * * 1-5'"},
      {"cron_with_frequency",
       one("type: cron, expression: '0 8 * * *', frequency: day"),
       {},
       "compute.yml:6:69: " + path +
           ".trigger.frequency' is of a trigger of type recurrence; leave it out"},
      {"recurrence_with_cron",
       one("type: recurrence, frequency: day, expression: '0 8 * * *'"),
       {},
       "compute.yml:6:66: " + path +
           ".trigger.expression' is of a trigger of type cron; leave it out"},
      {"frequency",
       one("type: recurrence, frequency: year"),
       {},
       "compute.yml:6:61: " + path +
           ".trigger.frequency' must be minute, hour, day, week or month"},
      {"interval",
       one("type: recurrence, frequency: day, interval: -1"),
       {},
       "compute.yml:6:76: " + path + ".trigger.interval': -1 is not a number from 1 to 1000"},
      {"hours",
       one("type: recurrence, frequency: day, schedule: {hours: [8, noon]}"),
       {},
       "compute.yml:6:88: " + path + ".trigger.schedule.hours' must be whole numbers"},
      {"hour",
       one("type: recurrence, frequency: day, schedule: {hours: [24]}"),
       {},
       "compute.yml:6:84: " + path + ".trigger.schedule.hours': 24 is not a number from 0 to 23"},
      {"days_of_days",
       one("type: recurrence, frequency: day, schedule: {week_days: [monday]}"),
       {},
       "compute.yml:6:88: " + path +
           ".trigger.schedule.week_days': is for the frequency week; the recurrence's is day"},
      {"week_days",
       one("type: recurrence, frequency: week, schedule: {week_days: [1]}"),
       {},
       "compute.yml:6:90: " + path + ".trigger.schedule.week_days' must be days such as monday"},
      {"hours_of_hours",
       one("type: recurrence, frequency: hour, schedule: {hours: [1]}"),
       {},
       "compute.yml:6:77: " + path +
           ".trigger.schedule': hours and minutes are for the frequencies day, week and month; "
           "the recurrence's frequency is hour"},
      {"start_time",
       one("type: cron, expression: '0 8 * * *', start_time: 2026-01-31T08:00:00Z"),
       {},
       "compute.yml:6:81: " + path +
           ".trigger.start_time': '2026-01-31T08:00:00Z' has more than a date and time (no "
           "fraction, "
           "no offset); write a local time such as 2026-01-31T08:00:00, and its zone as time_zone"},
      {"ends_first",
       one("type: cron, expression: '0 8 * * *', start_time: 2026-01-31T08:00, end_time: "
           "2026-01-30T08:00"),
       {},
       "compute.yml:6:109: " + path + ".trigger.end_time': is before start_time"},
      {"setup_scripts",
       kHead + "setup_scripts: {startup: x}\n",
       {},
       "compute.yml:4:1: 'setup_scripts' is not supported yet",
       ErrorCode::unsupported},
      {"behalf",
       kHead + "create_on_behalf_of: {user_object_id: x}\n",
       {},
       "compute.yml:4:1: 'create_on_behalf_of' is not supported yet",
       ErrorCode::unsupported},
  };
}

class BadInstances : public testing::TestWithParam<BadInput> {};

TEST_P(BadInstances, IsRefusedWithItsPlace) {
  const auto spec = parse_compute("compute.yml", GetParam().text, GetParam().overrides);
  ASSERT_FALSE(spec);
  EXPECT_EQ(spec.error().message, GetParam().message);
  EXPECT_EQ(spec.error().code, GetParam().code);
}

INSTANTIATE_TEST_SUITE_P(All, BadInstances, testing::ValuesIn(bad_instances()),
                         [](const auto& input) { return std::string(input.param.name); });

}  // namespace
}  // namespace lockstep::spec
