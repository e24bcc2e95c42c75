#include "launcher/cli/job/filter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lockstep::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr Instant kNow{1'800'000'000'000'000'000};

TEST(JobFilterWords, SayWhatTheLauncherIsAskedFor) {
  JobFilterWords words;
  EXPECT_EQ(read_job_filter(words, kNow).value(), JobFilter{});
  words.mine = true;
  words.statuses = {"failed,RUNNING", "CancelRequested"};
  words.experiment = "digits";
  words.user = "ada";
  words.tags = {"model", "note=a=b", "empty="};
  words.since = "2h";
  const JobFilter filter = read_job_filter(words, kNow).value();
  EXPECT_TRUE(filter.mine);
  EXPECT_THAT(filter.statuses,
              ElementsAre(JobStatus::failed, JobStatus::running, JobStatus::cancel_requested));
  EXPECT_EQ(filter.experiment, "digits");
  EXPECT_EQ(filter.user, "ada");
  EXPECT_THAT(filter.tags, ElementsAre(JobFilter::Tag{"model", std::nullopt},
                                       JobFilter::Tag{"note", "a=b"}, JobFilter::Tag{"empty", ""}));
  EXPECT_EQ(filter.since, kNow - minutes(120));
}

TEST(JobFilterWords, ArchivedJobsAreAskedForByName) {
  EXPECT_EQ(read_job_filter({}, kNow)->archived, ArchivedToo::no);
  JobFilterWords words;
  words.include_archived = true;
  EXPECT_EQ(read_job_filter(words, kNow)->archived, ArchivedToo::yes);
  words = {};
  words.archived_only = true;
  EXPECT_EQ(read_job_filter(words, kNow)->archived, ArchivedToo::only);
}

TEST(JobFilterWords, AnUnknownStatusIsAnsweredWithAllThatThereAre) {
  for (const char* status : {"Done", "", "Failed,", "Failed Running"}) {
    JobFilterWords words;
    words.statuses = {status};
    const auto filter = read_job_filter(words, kNow);
    ASSERT_FALSE(filter) << status;
    EXPECT_THAT(filter.error().message,
                HasSubstr("a job's status is one of Queued, Preparing, Starting, Running, "
                          "Finalizing, CancelRequested, Completed, Failed, Canceled"));
  }
}

TEST(JobFilterWords, WhatIsNoTagOrTimeIsNamed) {
  JobFilterWords words;
  words.tags = {"=small"};
  EXPECT_THAT(read_job_filter(words, kNow).error().message, HasSubstr("--tag '=small' has no key"));
  words.tags.clear();
  words.since = "yesterday";
  EXPECT_THAT(read_job_filter(words, kNow).error().message, HasSubstr("--since 'yesterday'"));
}

}  // namespace
}  // namespace lockstep::cli
