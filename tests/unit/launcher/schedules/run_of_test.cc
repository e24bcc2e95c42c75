// The job of a run: its name, its submission, and what stands for Azure's expressions in it.

#include "launcher/schedules/run_of.h"

#include <gtest/gtest.h>

#include "common/domain/pipeline.h"
#include "tests/unit/launcher/schedules/schedule_world.h"

namespace lockstep::launcher {
namespace {

using test::cron_trigger;
using test::in_utc;
using test::schedule_of;
using test::ScheduleWorld;

TEST(RunOf, IsNamedAfterItsTimeInUtc) {
  EXPECT_EQ(run_name("retrain", in_utc("2026-03-29T00:30:05")), "retrain-20260329T003005Z");
  EXPECT_EQ(run_name("retrain", in_utc("2026-03-29T00:30:05") + milliseconds(999)),
            "retrain-20260329T003005Z");
  EXPECT_EQ(trigger_time(in_utc("2026-03-29T00:30:05")), "2026-03-29T00:30:05Z");
  // The longest names fit.
  ScheduleWorld world;
  JobSchedule text = schedule_of(cron_trigger("* * * * *"));
  text.name = std::string(kMaxScheduleNameBytes, 'x');
  world.table.apply(in_utc("2026-01-01T00:00:00"), ScheduleSet{text, "ann", "ann", false});
  Schedule schedule = *world.table.find(text.name);
  schedule.runs = UINT64_MAX - 1;
  const JobId name =
      free_run_name(schedule, in_utc("2026-01-01T00:01:00"), [](const JobId&) { return true; });
  EXPECT_LE(name.value.size(), kMaxJobNameBytes);
  EXPECT_TRUE(validate_job_name(name.value)) << name.value;
}

TEST(RunOf, PutsInWhatDiffersFromRunToRun) {
  ScheduleWorld world;
  JobSchedule text = schedule_of(cron_trigger("* * * * *"));
  text.job.command =
      ShellCommand{"train --as ${{name}} --at ${{creation_context.trigger_time}} ${{name}}"};
  text.job.environment_variables = {{"RUN", "${{name}}"}, {"X", "${{ name }}"}};
  text.job.inputs = {{"when", "${{creation_context.trigger_time}}"}};
  PipelineStep step;
  step.name = "prepare";
  step.spec.command = Argv{{"prepare", "--at=${{creation_context.trigger_time}}"}};
  text.job.pipeline = SharedPipeline(PipelineSpec{{step}, {}, true, "", 0});
  world.set(in_utc("2026-01-01T00:00:00"), text);
  const JobSpec job = job_of_run(world.schedule(), JobId("run-1"), in_utc("2026-01-31T08:00:00"));
  EXPECT_EQ(job.name, "run-1");
  EXPECT_EQ(std::get<ShellCommand>(job.command).text,
            "train --as run-1 --at 2026-01-31T08:00:00Z run-1");
  EXPECT_EQ(job.environment_variables.at("RUN"), "run-1");
  EXPECT_EQ(job.environment_variables.at("X"), "${{ name }}");  // the reader writes them plain
  EXPECT_EQ(job.inputs.at("when"), "2026-01-31T08:00:00Z");
  EXPECT_EQ(std::get<Argv>(job.pipeline->steps[0].spec.command).words[1],
            "--at=2026-01-31T08:00:00Z");
  // The schedule's own job stays as it is, and so do the steps that it shares.
  EXPECT_EQ(world.schedule().text, text);
}

TEST(RunOf, HasASubmissionOfItsOwn) {
  ScheduleWorld world;
  world.set(in_utc("2026-01-01T00:00:00"), schedule_of(cron_trigger("* * * * *")));
  const std::string first = submission_of_run(world.schedule());
  world.look(in_utc("2026-01-01T00:01:00"));
  EXPECT_NE(submission_of_run(world.schedule()), first);
  EXPECT_EQ(first, "schedule:retrain:1767225600000000000:1");
}

}  // namespace
}  // namespace lockstep::launcher
