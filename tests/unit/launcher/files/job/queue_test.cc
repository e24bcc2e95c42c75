// queue_settings, lockstep.after and lockstep.not_before of a job file.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "launcher/files/job_file.h"

namespace lockstep::spec {
namespace {

Result<JobFile> parsed(const std::string& more) {
  return parse_job("job.yml", "command: x\n" + more);
}

QueueSettings good(const std::string& more) {
  const auto file = parsed(more);
  EXPECT_TRUE(file) << file.error().message;
  return file ? file->spec.queue : QueueSettings{};
}

TEST(Queue, PriorityAndTierAreAzures) {
  EXPECT_EQ(good("queue_settings: {}\n"), QueueSettings{});
  EXPECT_EQ(good("queue_settings: {priority: High}\n").priority, Priority::high);
  EXPECT_EQ(good("queue_settings:\n  priority: low\n  job_tier: Spot\n").tier, JobTier::spot);
  const auto file = parsed("queue_settings: {job_tier: Premium}\n");
  ASSERT_TRUE(file);
  EXPECT_THAT(file->notes, ::testing::ElementsAre(
                               "job.yml:2:28: queue_settings.job_tier 'premium' is not used: only "
                               "spot has a meaning here (low-priority nodes will do); "
                               "queue_settings.priority says which jobs go first"));
}

TEST(Queue, JobsBeforeAreNamesOrMappings) {
  const std::vector<After> one = {{JobId("prep"), AfterWhen::completed}};
  EXPECT_EQ(good("lockstep: {after: prep}\n").after, one);
  EXPECT_EQ(good("lockstep: {after: [prep]}\n").after, one);
  EXPECT_EQ(good("lockstep: {after: {job: prep}}\n").after, one);
  const std::vector<After> two = {{JobId("a"), AfterWhen::ended}, {JobId("b"), AfterWhen::ended}};
  EXPECT_EQ(good("lockstep: {after: ['a:ended', {job: b, when: ended}]}\n").after, two);
}

TEST(Queue, ATimeIsADurationOrATimeStamp) {
  EXPECT_EQ(good("lockstep: {not_before: 2h}\n").delay, minutes(120));
  EXPECT_EQ(good("lockstep: {not_before: \"2026-11-26T18:00:00Z\"}\n").not_before.ns,
            1'795'716'000'000'000'000);
}

TEST(Queue, BadInput) {
  const std::pair<const char*, const char*> kTable[] = {
      {"queue_settings: {priority: urgent}\n",
       "job.yml:2:28: 'queue_settings.priority': unknown word 'urgent'; it must be low, medium "
       "or high"},
      {"queue_settings: {priority: mediun}\n",
       "job.yml:2:28: 'queue_settings.priority': unknown word 'mediun'; it must be low, medium or "
       "high; did you mean 'medium'?"},
      {"queue_settings: {tier: spot}\n", "job.yml:2:18: unknown key 'queue_settings.tier'"},
      {"queue_settings: high\n",
       "job.yml:2:17: 'queue_settings' must be a mapping of keys to values, not a value"},
      {"lockstep: {after: 'no such'}\n",
       "job.yml:2:19: 'lockstep.after': name: 'no such' is not a job name: 1 to 240 letters, "
       "digits, '_' or '-', starting with a letter or a digit"},
      {"lockstep: {after: ['a:failed']}\n",
       "job.yml:2:20: 'lockstep.after': 'a:failed': write NAME or NAME:completed (it must have "
       "Completed), or NAME:ended (it must have ended in any way)"},
      {"lockstep: {after: [{name: a}]}\n",
       "job.yml:2:21: 'lockstep.after': unknown key 'name'; the known keys are job and when"},
      {"lockstep: {after: [{when: ended}]}\n",
       "job.yml:2:20: 'lockstep.after': needs the key job, with a job's name"},
      {"lockstep: {after: [a, a]}\n", "job.yml:2:19: lockstep.after: names job 'a' twice"},
      {"lockstep: {not_before: noon}\n",
       "job.yml:2:24: 'lockstep.not_before': 'noon' is neither a time from now, such as 90s, 5m or "
       "2h, nor a time stamp with a zone, such as 2026-11-26T18:00:00Z or 2026-11-26T18:00+01:00"},
      {"lockstep: {not_before: 9000d}\n",
       "job.yml:2:24: lockstep.not_before: must be at most 8784h00m from now"},
  };
  for (const auto& [text, message] : kTable) {
    const auto file = parsed(text);
    ASSERT_FALSE(file) << text;
    EXPECT_EQ(file.error().message, message);
  }
}

}  // namespace
}  // namespace lockstep::spec
