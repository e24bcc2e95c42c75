#include <gtest/gtest.h>

#include <algorithm>

#include "launcher/compute/slurm/jobs.h"
#include "launcher/compute/slurm/settings.h"

namespace lockstep::compute::slurm {
namespace {

Request request() {
  Request request;
  request.launcher = "a1b2";
  request.target = "gpu";
  return request;
}

TEST(SlurmJobs, TheOneThatLivesCountsElseTheNewest) {
  const Jobs jobs = jobs_from(request(),
                              "7|RUNNING|None|n1|1:00|0:45|lockstep a1b2 gpu vm1\n"
                              "9|CANCELLED|None||1:00|0:45|lockstep a1b2 gpu vm1\n"
                              "8|PENDING|Resources||1:00|0:45|lockstep a1b2 gpu vm2\n"
                              "3|TIMEOUT|TimeLimit|n2|1:00|0:45|lockstep a1b2 gpu vm3\n"
                              "10|PREEMPTED|None|n2|1:00|0:45|lockstep a1b2 gpu vm3\n"
                              "11|COMPLETING|None|n2|1:00|0:45|lockstep a1b2 gpu vm4\n"
                              "12|RUNNING|None|n1|1:00|0:45|lockstep a1b2 gpus vm5\n"
                              "13|RUNNING|None|n1|1:00|0:45|lockstep a1b2 gpu \n"
                              "14|RUNNING|None|n1|1:00|0:45|lockstep a1b2 gpu a b\n"
                              "15|RUNNING|None|n1|1:00|0:45|(null)\nnonsense\n");
  ASSERT_EQ(jobs.size(), 4u);
  EXPECT_EQ(jobs.at("vm1"),
            (Job{"7", Job::State::running, "RUNNING", "RUNNING", "n1", seconds(60), seconds(45)}));
  EXPECT_EQ(jobs.at("vm2"),
            (Job{"8", Job::State::pending, "PENDING", "Resources", "", seconds(60), seconds(45)}));
  EXPECT_EQ(jobs.at("vm3").id, "10");
  EXPECT_EQ(jobs.at("vm3").reason, "PREEMPTED");
  EXPECT_EQ(jobs.at("vm4").state, Job::State::ended);
}

TEST(SlurmJobs, OneWithoutALimitEndsAtNoKnownTime) {
  const Jobs jobs = jobs_from(request(),
                              "7|RUNNING|None|n1|UNLIMITED|UNLIMITED|lockstep a1b2 gpu vm1\n"
                              "8|RUNNING|None|n1|2-00:00:00|1-23:59:01|lockstep a1b2 gpu vm2\n");
  EXPECT_FALSE(jobs.at("vm1").left.has_value());
  EXPECT_EQ(jobs.at("vm2").limit, minutes(2 * 24 * 60));
  EXPECT_EQ(jobs.at("vm2").left, minutes(2 * 24 * 60) - seconds(59));
}

TEST(SlurmJobs, AMachineIsAWholeNodeUnlessTheOptionsSayHowMuch) {
  const auto has = [](const std::string& settings, const std::string& word) {
    const auto read = settings_from(settings);
    EXPECT_TRUE(read) << read.error().message;
    const auto words = sbatch_words(request(), *read, "vm1", "/shared/log.%j");
    return std::find(words.begin(), words.end(), word) != words.end();
  };
  EXPECT_TRUE(has(R"({"directory": "/shared"})", "--exclusive"));
  EXPECT_TRUE(has(R"({"directory": "/shared"})", "--comment=lockstep a1b2 gpu vm1"));
  EXPECT_FALSE(has(R"({"directory": "/shared", "options": ["--cpus-per-task=4"]})", "--exclusive"));
  EXPECT_TRUE(has(R"({"directory": "/shared", "options": ["--gres=gpu:4"]})", "--gres=gpu:4"));
  EXPECT_TRUE(has(R"({"directory": "/s", "qos": "high", "time": "1-00:00:00"})", "--qos=high"));
}

TEST(SlurmJobs, WhatSlurmSaysBecomesAFailure) {
  const auto code = [](const char* errors) { return slurm_failure("s", errors).code; };
  EXPECT_EQ(code("slurm_load_jobs error: Unable to contact slurm controller (connect failure)"),
            Failure::unreachable);
  EXPECT_EQ(code("sbatch: error: Batch job submission failed: Invalid partition name specified"),
            Failure::unsupported);
  EXPECT_EQ(code("sbatch: error: Munge encode failed: Failed to access \"/run/munge.socket\""),
            Failure::unauthenticated);
  EXPECT_EQ(code("sbatch: error: Batch job submission failed: Access/permission denied"),
            Failure::no_permission);
  EXPECT_EQ(code("something new"), Failure::failed);
}

}  // namespace
}  // namespace lockstep::compute::slurm
