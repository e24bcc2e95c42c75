// Schedule files: Azure's examples of the kinds, what `create_job` may be, and that each bad file
// is refused with its place.

#include "launcher/spec/schedule_file.h"

#include <gtest/gtest.h>

#include "common/domain/pipeline.h"
#include "tests/unit/launcher/spec/bad_environments.h"
#include "tests/unit/launcher/spec/bad_input.h"

namespace lockstep::spec {
namespace {

const std::string kDaily = "trigger: {type: cron, expression: '0 8 * * *'}\n";
const std::string kJob = "create_job: ./train.yml\n";
const std::string kGood = "name: nightly\n" + kDaily + kJob;  // three lines

Files job_files() {
  return {{"train.yml",
           "name: mine\ncommand: train --lr ${{inputs.lr}} --as ${{inputs.tag}}\n"
           "inputs: {lr: 0.1, tag: none}\ntags: {team: vision}\ncompute: cpu\n"},
          {"pipeline.yml",
           "type: pipeline\ninputs: {lr: 0.1, when: never}\n"
           "jobs:\n"
           "  train:\n"
           "    command: train ${{inputs.lr}} ${{inputs.when}}\n"
           "    inputs: {lr: '${{parent.inputs.lr}}', when: 'at ${{parent.inputs.when}}'}\n"},
          {"jobs/deep.yml", "command: x\n"},
          {"bad.yml", "command: x\ntype: comand\n"},
          {"no-yaml.yml", "command: \"x\nname: y\n"}};
}
Result<ScheduleFile> parse(const std::string& text,
                           const std::vector<std::string>& overrides = {}) {
  return parse_schedule("schedule.yml", text, overrides, from(job_files()));
}
ScheduleFile read_good(const std::string& text, const std::vector<std::string>& overrides = {}) {
  auto file = parse(text, overrides);
  EXPECT_TRUE(file) << file.error().message;
  return file ? *std::move(file) : ScheduleFile{};
}
std::string command_of(const JobSpec& job) { return std::get<ShellCommand>(job.command).text; }

TEST(ScheduleFile, ReadsARecurrenceOfAzures) {
  const ScheduleFile file = read_good(
      "$schema: https://azuremlschemas.azureedge.net/latest/schedule.schema.json\n"
      "name: simple_recurrence_job_schedule\n"
      "display_name: Simple recurrence job schedule\n"
      "description: a simple hourly recurrence job schedule\n"
      "\n"
      "trigger:\n"
      "  type: recurrence\n"
      "  frequency: day #can be minute, hour, day, week, month\n"
      "  interval: 1 #every day\n"
      "  schedule:\n"
      "    hours: [4,5,10,11,12]\n"
      "    minutes: [0,30]\n"
      "  start_time: \"2022-07-10T10:00:00\" # optional\n"
      "  time_zone: \"Pacific Standard Time\" # optional\n"
      "\n"
      "create_job: ./pipeline.yml\n");
  EXPECT_EQ(file.schedule.name, "simple_recurrence_job_schedule");
  EXPECT_EQ(file.schedule.display_name, "Simple recurrence job schedule");
  EXPECT_EQ(file.schedule.trigger,
            (Trigger{Recurrence{Frequency::day, 1, {4, 5, 10, 11, 12}, {0, 30}, {}, {}},
                     parse_local_time("2022-07-10T10:00:00").value(), std::nullopt,
                     "Pacific Standard Time"}));
  EXPECT_EQ(file.schedule.overlap, Overlap::allow);
  EXPECT_TRUE(file.schedule.enabled);
  ASSERT_TRUE(file.job);
  EXPECT_TRUE(file.job->spec.is_pipeline());
  EXPECT_EQ(file.job->spec.experiment_name, "simple_recurrence_job_schedule");
  EXPECT_EQ(file.where.at("trigger.time_zone"), "schedule.yml:14:14");
  EXPECT_EQ(
      with_place(make_error(ErrorCode::invalid_argument, "trigger.time_zone: is not there"), file)
          .message,
      "schedule.yml:14:14: 'trigger.time_zone': is not there");
  EXPECT_EQ(with_place(make_error(ErrorCode::internal, "anything else"), file).message,
            "anything else");
}

TEST(ScheduleFile, ReadsACronOfAzuresWithSettings) {
  const ScheduleFile file = read_good(
      "name: cron_with_settings_job_schedule\n"
      "trigger:\n"
      "  type: cron\n"
      "  expression: \"0 * * * *\"\n"
      "  start_time: \"2022-07-10T10:00:00\"\n"
      "  time_zone: \"Pacific Standard Time\"\n"
      "create_job:\n"
      "  type: pipeline\n"
      "  job: ./pipeline.yml\n"
      "  settings:\n"
      "    continue_on_step_failure: false\n"
      "  experiment_name: nights\n"
      "  inputs:\n"
      "    when: run ${{ name }} at ${{creation_context.trigger_time}}\n"
      "  tags:\n"
      "    schedule: cron_with_settings_schedule\n");
  ASSERT_TRUE(file.job);
  const JobSpec& job = file.job->spec;
  EXPECT_EQ(job.experiment_name, "nights");
  EXPECT_EQ(job.tags.at("schedule"), "cron_with_settings_schedule");
  EXPECT_FALSE(job.pipeline->continue_on_step_failure);
  // The other input of the job's file is still there; the expressions wait for a run.
  EXPECT_EQ(job.inputs.at("lr"), "0.1");
  EXPECT_EQ(command_of(job.pipeline->steps[0].spec),
            "train 0.1 at run ${{name}} at ${{creation_context.trigger_time}}");
}

TEST(ScheduleFile, ReadsSingleValuesAndEitherCase) {
  const ScheduleFile file = read_good(
      "name: weekly\n"
      "trigger:\n"
      "  type: Recurrence\n"
      "  schedule: {hours: 10, minutes: 15, week_days: Monday}\n"
      "  frequency: Week\n"
      "  interval: 1\n"
      "  start_time: 2022-05-10 10:15\n"
      "create_job: file:./train.yml\n");
  EXPECT_EQ(std::get<Recurrence>(file.schedule.trigger.when),
            (Recurrence{Frequency::week, 1, {10}, {15}, {1}, {}}));
}

TEST(ScheduleFile, AddsWhatItSaysToTheJobsFile) {
  const ScheduleFile file =
      read_good("name: nightly\n" + kDaily +
                "create_job:\n  job: ./train.yml\n  inputs: {tag: '${{name}}'}\n  compute: gpu\n"
                "  tags: {by: schedule}\n  limits: {timeout: 60}\n");
  ASSERT_TRUE(file.job);
  const JobSpec& job = file.job->spec;
  EXPECT_EQ(command_of(job), "train --lr 0.1 --as ${{name}}");
  EXPECT_EQ(job.inputs, (std::map<std::string, std::string>{{"lr", "0.1"}, {"tag", "${{name}}"}}));
  EXPECT_EQ(job.compute, "gpu");
  EXPECT_EQ(job.tags, (std::map<std::string, std::string>{{"team", "vision"}, {"by", "schedule"}}));
  EXPECT_EQ(job.timeout, seconds(60));
  EXPECT_EQ(job.name, "");
  ASSERT_FALSE(file.notes.empty());
  EXPECT_EQ(file.notes[0],
            "the job's name 'mine' has no effect: each run is named after the schedule and its "
            "time");
}

TEST(ScheduleFile, MayHaveTheJobInIt) {
  const ScheduleFile file = read_good("name: nightly\n" + kDaily +
                                      "create_job:\n  command: backup --to ${{inputs.to}}\n" +
                                      "  inputs: {to: '${{name}}'}\n");
  ASSERT_TRUE(file.job);
  EXPECT_EQ(command_of(file.job->spec), "backup --to ${{name}}");
  EXPECT_EQ(file.job->spec.experiment_name, "nightly");
}

TEST(ScheduleFile, MayNameAJobThatWasSubmittedBefore) {
  for (const char* job :
       {"azureml:gray_pig", "{job: 'azureml:gray_pig', type: pipeline}",
        "azureml:/subscriptions/0/resourceGroups/g/providers/Microsoft.MachineLearningServices/"
        "workspaces/w/jobs/gray_pig"}) {
    const ScheduleFile file = read_good("name: n\n" + kDaily + "create_job: " + job + "\n");
    EXPECT_EQ(file.copy_of, JobId("gray_pig")) << job;
    EXPECT_FALSE(file.job);
  }
}

TEST(ScheduleFile, TakesKeysOfOurs) {
  const ScheduleFile file =
      read_good(kGood +
                "lockstep: {overlap: Forbid}\nis_enabled: false\ntags: {a: b}\nversion: 3\n"
                "creation_context: {created_by: ann}\nproperties: {}\n");
  EXPECT_EQ(file.schedule.overlap, Overlap::forbid);
  EXPECT_FALSE(file.schedule.enabled);
  EXPECT_EQ(file.schedule.tags.at("a"), "b");
  EXPECT_EQ(file.notes, (Notes{"schedule.yml:7:1: 'version' has no effect",
                               "schedule.yml:8:1: 'creation_context' has no effect",
                               "the job's name 'mine' has no effect: each run is named after the "
                               "schedule and its time"}));
}

TEST(ScheduleFile, TakesOverrides) {
  const ScheduleFile file =
      read_good(kGood, {"trigger.expression=30 9 * * *", "create_job.inputs.lr=0.5",
                        "lockstep.overlap=queue", "name=mornings"});
  EXPECT_EQ(file.schedule.name, "mornings");
  EXPECT_EQ(std::get<CronTrigger>(file.schedule.trigger.when).expression, "30 9 * * *");
  EXPECT_EQ(file.schedule.overlap, Overlap::queue);
  EXPECT_EQ(command_of(file.job->spec), "train --lr 0.5 --as none");
  EXPECT_EQ(read_good(kGood, {"create_job=jobs/deep.yml"}).job->spec.experiment_name, "nightly");
}

TEST(ScheduleFile, NamesOfFilesAreRelativeToTheFileThatNamesThem) {
  const auto file = parse_schedule("schedules/nightly.yml",
                                   "name: n\n" + kDaily + "create_job: ../jobs/deep.yml\n", {},
                                   from(job_files()));
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(command_of(file->job->spec), "x");
}

std::vector<BadInput> bad_schedules() {
  const auto of_trigger = [](const std::string& trigger) {
    return "name: n\ntrigger: {" + trigger + "}\n" + kJob;
  };
  const auto of_job = [](const std::string& job) {
    return "name: n\n" + kDaily + "create_job: " + job + "\n";
  };
  const std::string in_cron = "type: cron, expression: '0 8 * * *', ";  // its next key: column 48
  const std::string daily = "type: recurrence, frequency: day, ";       // its next key: column 45
  const std::string five_fields =
      "there must be five: minute, hour, day of month, month and day of week, such as "
      "'0 8 * * 1-5'";
  return {
      // the file
      {"empty",
       "",
       {},
       "schedule.yml:1:1: is empty; a schedule file needs at least a 'name', a 'trigger' and a "
       "'create_job'"},
      {"list",
       "- name: n\n",
       {},
       "schedule.yml:1:1: a schedule file must be a mapping of keys to values, not a list"},
      {"two_documents",
       "name: n\n---\nname: m\n",
       {},
       "schedule.yml:2:1: a second document begins here; a schedule file must have only one"},
      {"unclosed",
       "name: n\ntags: {a: [b]\ncreate_job: y\n",
       {},
       "schedule.yml:2:7: bad YAML: this '{' is never closed"},
      {"job",
       "command: x\n",
       {},
       "schedule.yml:1:1: 'command' is a key of a job file, but this must be a schedule; name the "
       "job's file as its 'create_job', or submit it: lockstep job create -f schedule.yml"},
      {"monitor",
       "name: n\ncreate_monitor: {}\n",
       {},
       "schedule.yml:2:1: 'create_monitor' is not supported yet; a schedule here has a "
       "'create_job'",
       kNotYet},
      {"import",
       "name: n\nimport_data: {}\n",
       {},
       "schedule.yml:2:1: 'import_data' is not supported yet; a schedule here has a 'create_job'",
       kNotYet},
      {"no_name", kDaily + kJob, {}, "schedule.yml:1:1: a schedule needs a 'name'"},
      {"no_trigger",
       "name: n\n" + kJob,
       {},
       "schedule.yml:1:1: a schedule needs a 'trigger' of type cron or recurrence"},
      {"no_job",
       "name: n\n" + kDaily,
       {},
       "schedule.yml:1:1: a schedule needs a 'create_job': the file of the job that it submits, or "
       "azureml:NAME for a job that was submitted before"},
      {"unknown_key",
       kGood + "tag: {a: b}\n",
       {},
       "schedule.yml:4:1: unknown key 'tag'; did you mean 'tags'?"},
      {"unknown_key_far", kGood + "zzzzzzzz: 1\n", {}, "schedule.yml:4:1: unknown key 'zzzzzzzz'"},
      {"all_at_once",
       "name: n\ntrigger: {type: daily}\ncreate_job: ./missing.yml\nlockstep: {overlap: x}\n",
       {},
       "schedule.yml:2:17: 'trigger.type' must be cron or recurrence\n"
       "schedule.yml:3:13: 'create_job': there is no missing.yml\n"
       "schedule.yml:4:21: 'lockstep.overlap' must be allow, queue or forbid"},
      // its texts
      {"name",
       "name: my schedule\n" + kDaily + kJob,
       {},
       "schedule.yml:1:7: 'name': 'my schedule' cannot be the name of a schedule: it needs 1 to "
       "200 letters, digits, '_' and '-', and begins with a letter or a digit"},
      {"name_list",
       "name: [a]\n" + kDaily + kJob,
       {},
       "schedule.yml:1:7: 'name' must be a string, not a list"},
      {"display_name",
       kGood + "display_name: " + std::string(241, 'a') + "\n",
       {},
       "schedule.yml:4:15: 'display_name': has 241 bytes; at most 240 are possible"},
      {"tags",
       kGood + "tags: [a]\n",
       {},
       "schedule.yml:4:7: 'tags' must be a mapping of keys to "
       "values, not a list"},
      {"tag",
       kGood + "tags: {a: [b]}\n",
       {},
       "schedule.yml:4:8: 'tags.a' must be a string, not a list"},
      {"long_tag",
       kGood + "tags: {" + std::string(1'025, 'a') + ": b}\n",
       {},
       "schedule.yml:4:7: 'tags': a key has 1 to 1024 bytes, and a value at most 1024; '" +
           std::string(100, 'a') + "' has others"},
      {"is_enabled",
       kGood + "is_enabled: maybe\n",
       {},
       "schedule.yml:4:13: 'is_enabled': 'maybe' is neither true nor false"},
      {"ours",
       kGood + "lockstep: 1\n",
       {},
       "schedule.yml:4:11: 'lockstep' must be a mapping of keys to values, not a value"},
      {"unknown_of_ours",
       kGood + "lockstep: {overlaps: allow}\n",
       {},
       "schedule.yml:4:12: unknown key 'lockstep.overlaps'; there is 'lockstep.overlap'"},
      {"overlap",
       kGood + "lockstep: {overlap: replace}\n",
       {},
       "schedule.yml:4:21: 'lockstep.overlap' must be allow, queue or forbid"},
      {"overlap_list",
       kGood + "lockstep: {overlap: [queue]}\n",
       {},
       "schedule.yml:4:21: 'lockstep.overlap' must be allow, queue or forbid"},
      // the trigger
      {"trigger_value",
       "name: n\ntrigger: daily\n" + kJob,
       {},
       "schedule.yml:2:10: 'trigger' must be a mapping of keys to values, not a value"},
      {"no_type",
       of_trigger("expression: '0 8 * * *'"),
       {},
       "schedule.yml:2:10: 'trigger.type' must be cron or recurrence"},
      {"type",
       of_trigger("type: daily"),
       {},
       "schedule.yml:2:17: 'trigger.type' must be cron or recurrence"},
      {"timezone",
       of_trigger(in_cron + "timezone: UTC"),
       {},
       "schedule.yml:2:48: unknown key 'trigger.timezone'; did you mean 'time_zone'?"},
      {"pattern",
       of_trigger(daily + "pattern: {hours: 8}"),
       {},
       "schedule.yml:2:45: unknown key 'trigger.pattern'; there are type, expression, frequency, "
       "interval, schedule, start_time, end_time, time_zone"},
      {"hour_of_cron",
       of_trigger("type: cron, expression: '0 25 * * *'"),
       {},
       "schedule.yml:2:35: 'trigger.expression': hour: '25' is not a number from 0 to 23"},
      {"six_fields",
       of_trigger("type: cron, expression: '0 0 8 * * *'"),
       {},
       "schedule.yml:2:35: 'trigger.expression': '0 0 8 * * *' has 6 fields; " + five_fields},
      {"nickname",
       of_trigger("type: cron, expression: '@daily'"),
       {},
       "schedule.yml:2:35: 'trigger.expression': '@daily' has 1 fields; " + five_fields},
      {"never",
       of_trigger("type: cron, expression: '0 0 30 2 *'"),
       {},
       "schedule.yml:2:35: 'trigger.expression': '0 0 30 2 *' never fires: none of its months has "
       "such a day"},
      {"step_without_range",
       of_trigger("type: cron, expression: '5/10 * * * *'"),
       {},
       "schedule.yml:2:35: 'trigger.expression': minute: '5/10' has a step without a range; write "
       "5-59/10 or */10"},
      {"expression_list",
       of_trigger("type: cron, expression: [a]"),
       {},
       "schedule.yml:2:35: 'trigger.expression' must be a value, not a list"},
      {"no_expression",
       of_trigger("type: cron"),
       {},
       "schedule.yml:2:10: 'trigger.expression': '' has 0 fields; " + five_fields},
      {"cron_with_frequency",
       of_trigger(in_cron + "frequency: day"),
       {},
       "schedule.yml:2:48: 'trigger.frequency' is of a trigger of type recurrence; leave it out"},
      {"recurrence_with_expression",
       of_trigger(daily + "expression: '0 8 * * *'"),
       {},
       "schedule.yml:2:45: 'trigger.expression' is of a trigger of type cron; leave it out"},
      {"no_frequency",
       of_trigger("type: recurrence, interval: 1"),
       {},
       "schedule.yml:2:10: 'trigger.frequency' must be minute, hour, day, week or month"},
      {"frequency",
       of_trigger("type: recurrence, frequency: fortnight"),
       {},
       "schedule.yml:2:40: 'trigger.frequency' must be minute, hour, day, week or month"},
      {"interval",
       of_trigger(daily + "interval: 0"),
       {},
       "schedule.yml:2:55: 'trigger.interval': 0 is not a number from 1 to 1000"},
      {"hours",
       of_trigger(daily + "schedule: {hours: 24}"),
       {},
       "schedule.yml:2:63: 'trigger.schedule.hours': 24 is not a number from 0 to 23"},
      {"minutes",
       of_trigger(daily + "schedule: {hours: 8, minutes: half}"),
       {},
       "schedule.yml:2:75: 'trigger.schedule.minutes' must be whole numbers"},
      {"week_days_of_days",
       of_trigger(daily + "schedule: {week_days: monday}"),
       {},
       "schedule.yml:2:67: 'trigger.schedule.week_days': is for the frequency week; this one is "
       "day"},
      {"week_day",
       of_trigger("type: recurrence, frequency: week, schedule: {week_days: [moonday]}"),
       {},
       "schedule.yml:2:69: 'trigger.schedule.week_days' must be days such as monday"},
      {"month_day",
       of_trigger("type: recurrence, frequency: month, schedule: {month_days: [32]}"),
       {},
       "schedule.yml:2:70: 'trigger.schedule.month_days': 32 is not a number from 1 to 31"},
      {"hours_of_hours",
       of_trigger("type: recurrence, frequency: hour, schedule: {hours: 1}"),
       {},
       "schedule.yml:2:56: 'trigger.schedule': hours and minutes are for the frequencies day, week "
       "and month; this one is hour"},
      {"schedule_list",
       of_trigger(daily + "schedule: [8]"),
       {},
       "schedule.yml:2:55: 'trigger.schedule' must be a mapping of keys to values, not a list"},
      {"start_time_with_zone",
       of_trigger(in_cron + "start_time: '2026-01-31T08:00:00Z'"),
       {},
       "schedule.yml:2:60: 'trigger.start_time': '2026-01-31T08:00:00Z' has more than a date and "
       "time (no fraction, no offset); write a local time such as 2026-01-31T08:00:00, and its "
       "zone as time_zone"},
      {"start_time_of_no_calendar",
       of_trigger(in_cron + "start_time: '2026-02-30T08:00:00'"),
       {},
       "schedule.yml:2:60: 'trigger.start_time': '2026-02-30T08:00:00' is not in the calendar; "
       "write a local time such as 2026-01-31T08:00:00, and its zone as time_zone"},
      {"ends_first",
       of_trigger(in_cron + "start_time: 2026-01-31T08:00, end_time: 2026-01-30T08:00"),
       {},
       "schedule.yml:2:88: 'trigger.end_time': is before start_time"},
      {"time_zone",
       of_trigger(in_cron + "time_zone: \"a\\tb\""),
       {},
       "schedule.yml:2:59: 'trigger.time_zone': is not the name of a time zone (at most 64 "
       "printable characters)"},
      {"set_trigger",
       kGood,
       {"trigger.expression=0 25 * * *"},
       "--set trigger.expression=0 25 * * *: 'trigger.expression': hour: '25' is not a number from "
       "0 to 23"},
      // the job
      {"job_list",
       of_job("[a]"),
       {},
       "schedule.yml:3:13: 'create_job' must be a job's file, azureml:NAME, or a mapping with "
       "'job', not a list"},
      {"nothing_to_create",
       of_job("{type: pipeline, inputs: {a: 1}}"),
       {},
       "schedule.yml:3:13: 'create_job' needs a 'job': the job's file, or azureml:NAME for a job "
       "that was submitted before"},
      {"job_in_a_list",
       of_job("{job: [a]}"),
       {},
       "schedule.yml:3:19: 'create_job.job' must be a file or azureml:NAME, not a list"},
      {"missing_file",
       of_job("./missing.yml"),
       {},
       "schedule.yml:3:13: 'create_job': there is no missing.yml",
       ErrorCode::not_found},
      {"no_job_of_that_name",
       of_job("azureml:a/b"),
       {},
       "schedule.yml:3:13: 'create_job': 'azureml:a/b' names no job; write azureml:NAME"},
      {"change_of_an_old_job",
       of_job("{job: 'azureml:train', inputs: {a: 1}}"),
       {},
       "schedule.yml:3:36: 'create_job.inputs': a job that was submitted before is submitted as it "
       "was; name the job's file instead of azureml:train to change it",
       kNotYet},
      {"bad_job",
       of_job("./bad.yml"),
       {},
       "bad.yml:2:7: 'type': unknown word 'comand'; did you mean 'command'?"},
      {"bad_yaml_of_the_job",
       of_job("./no-yaml.yml"),
       {},
       "no-yaml.yml:1:10: bad YAML: this quote is never closed"},
      {"bad_job_in_the_file",
       of_job("{command: x, type: comand}"),
       {},
       "schedule.yml:3:32: 'type': unknown word 'comand'; did you mean 'command'?"},
      {"type_of_the_job",
       of_job("{type: spark, job: ./train.yml}"),
       {},
       "schedule.yml:3:20: type 'spark' is not supported yet; write a command that runs "
       "spark-submit",
       kNotYet},
      {"timeout_of_the_job",
       of_job("{job: ./train.yml, limits: {timeout: soon}}"),
       {},
       "schedule.yml:3:50: 'limits.timeout': 'soon' is not a time; write seconds, or 90s, 5m, 2h, "
       "1d"},
      {"set_of_the_job",
       kGood,
       {"create_job.limits.timeout=0"},
       "--set create_job.limits.timeout=0: limits.timeout: must be more than 0 seconds"},
      {"expression_of_the_job",
       of_job("{job: ./pipeline.yml, inputs: {when: '${{creation_context.now}}'}}"),
       {},
       "schedule.yml:3:50: '${{creation_context.now}}' is not an expression of a pipeline; write "
       "${{parent.inputs.NAME}}, ${{parent.jobs.STEP.outputs.NAME}} or ${{parent.outputs.NAME}}"},
  };
}

class BadSchedules : public testing::TestWithParam<BadInput> {};

TEST_P(BadSchedules, IsRefusedWithItsPlace) {
  const auto file = parse(GetParam().text, GetParam().overrides);
  ASSERT_FALSE(file) << "was accepted";
  EXPECT_EQ(file.error().message, GetParam().message);
  EXPECT_EQ(file.error().code, GetParam().code);
  EXPECT_TRUE(parse(kGood));
}

INSTANTIATE_TEST_SUITE_P(All, BadSchedules, testing::ValuesIn(bad_schedules()),
                         [](const auto& input) { return std::string(input.param.name); });

}  // namespace
}  // namespace lockstep::spec
