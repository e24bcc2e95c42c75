// Long lists are answered in pages that fit into a message, whatever the jobs hold.

#include "launcher/api/queries/queries.h"

#include <gtest/gtest.h>

#include <chrono>

#include "common/domain/why/all/redact.h"
#include "common/domain/why/jobs/waits.h"
#include "common/domain/why/nodes/fit.h"
#include "common/wire/messages/control.h"
#include "launcher/core/core.h"
#include "launcher/words/why.h"
#include "tests/unit/support/print_why.h"

namespace lockstep::launcher {
namespace {

class Jobs {
 public:
  Jobs() { core_.recovered(now_); }
  void submit(int i, const std::string& command) {
    JobSpec spec;
    spec.name = "job" + std::to_string(i);
    spec.command = ShellCommand{command};
    spec.run_as = "ada";
    core_.handle(now_, SubmitInput{{}, "s" + std::to_string(i), spec, "", false, LauncherItself{}});
  }
  static Instant submitted(int i) { return Instant{1'700'000'000'000'000'000} + seconds(i); }
  void submit(const JobSpec& spec, int i) {
    core_.handle(submitted(i),
                 SubmitInput{{}, "s" + std::to_string(i), spec, "", false, LauncherItself{}});
  }
  JobsReply list(ListJobs question) const {
    const Caller caller = LauncherItself{};
    return std::get<JobsReply>(answer(core_, {}, Viewer(core_.state(), caller), question));
  }
  // Every page of it; `largest` is told the encoded size of the largest one.
  std::vector<std::string> all(std::size_t& largest) const {
    std::vector<std::string> names;
    ListJobs question;
    for (bool more = true; more;) {
      const JobsReply page = list(question);
      for (const auto& job : page.jobs) names.push_back(job.spec.name);
      more = page.more > 0;
      if (!page.jobs.empty()) question.after = JobId(names.back());
      Envelope<ClientReply> envelope;
      envelope.body = page;
      largest = std::max(largest, wire::encode(envelope).size());
    }
    return names;
  }
  Core& core() { return core_; }

 private:
  Core core_{CoreConfig{}};
  Instant now_{1'700'000'000'000'000'000};
};

TEST(ListJobsQuestion, ThousandsComeInPagesNewestFirst) {
  constexpr int kJobs = 10'000;
  Jobs jobs;
  for (int i = 1; i <= kJobs; ++i) jobs.submit(i, "python train.py --lr 0.1");
  const JobsReply few = jobs.list({true, 50, {}});
  ASSERT_EQ(few.jobs.size(), 50u);
  EXPECT_EQ(few.jobs.front().spec.name, "job10000");
  EXPECT_EQ(few.jobs.front().queue_position, kJobs);
  EXPECT_EQ(few.more, kJobs - 50);
  const JobsReply next = jobs.list({true, 50, JobId(few.jobs.back().spec.name)});
  ASSERT_EQ(next.jobs.size(), 50u);
  EXPECT_EQ(next.jobs.front().spec.name, "job9950");
  EXPECT_EQ(next.jobs.front().queue_position, kJobs - 50);
  EXPECT_EQ(next.more, kJobs - 100);

  std::size_t largest = 0;
  const auto start = std::chrono::steady_clock::now();
  const auto names = jobs.all(largest);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  ASSERT_EQ(names.size(), static_cast<std::size_t>(kJobs));
  for (int i = 0; i < kJobs; ++i)
    EXPECT_EQ(names[static_cast<std::size_t>(i)], "job" + std::to_string(kJobs - i));
  EXPECT_LT(largest, 2u << 20);
  RecordProperty("largest_page_bytes", static_cast<int>(largest));
  RecordProperty("all_pages_ms", static_cast<int>(took.count() * 1000));
}

TEST(ListJobsQuestion, APageOfLargeJobsStaysSmallToo) {
  Jobs jobs;
  for (int i = 1; i <= 300; ++i) jobs.submit(i, "echo " + std::string(100'000, 'x'));
  const JobsReply page = jobs.list({});
  EXPECT_LT(page.jobs.size(), 100u);
  EXPECT_EQ(page.more, 300 - static_cast<std::int64_t>(page.jobs.size()));
  std::size_t largest = 0;
  EXPECT_EQ(jobs.all(largest).size(), 300u);
  EXPECT_LT(largest, 2 * kMaxPageBytes);
}

TEST(ListJobsQuestion, OnlyUnfinishedOnesAreCountedWhenAskedSo) {
  Jobs jobs;
  for (int i = 1; i <= 4; ++i) jobs.submit(i, "true");
  jobs.core().handle(Instant{1'700'000'000'000'000'001},
                     CancelInput{{}, JobId("job2"), LauncherItself{}});
  ASSERT_TRUE(is_final(jobs.core().job_view(JobId("job2"))->status));
  const JobsReply page = jobs.list({false, 2, {}});
  ASSERT_EQ(page.jobs.size(), 2u);
  EXPECT_EQ(page.more, 1);
  EXPECT_EQ(jobs.list({false, 0, JobId("job3")}).jobs.size(), 1u);
}

// Counting takes time, and a person does not mind.
TEST(ListJobsQuestion, OfManyOlderJobsSomeAreCounted) {
  Jobs jobs;
  for (int i = 1; i <= 10'200; ++i) jobs.submit(i, "true");
  const JobsReply many = jobs.list({true, 50, {}});
  EXPECT_EQ(many.more, 10'000);
  EXPECT_TRUE(many.more_at_least);
  const JobsReply fewer = jobs.list({true, 200, JobId("job10200")});
  EXPECT_EQ(fewer.more, 9'999);
  EXPECT_FALSE(fewer.more_at_least);
}

TEST(StatusQuestion, CountsJobsByTheirStates) {
  Jobs jobs;
  for (int i = 1; i <= 5; ++i) jobs.submit(i, "true");
  const auto counts = [&] {
    const Caller caller = LauncherItself{};
    const auto reply = answer(jobs.core(), {}, Viewer(jobs.core().state(), caller), GetStatus{});
    return std::get<StatusReply>(reply).status.jobs;
  };
  using Counts = std::map<std::string, int>;
  EXPECT_EQ(counts(), (Counts{{"Queued", 5}}));
  for (const char* job : {"job2", "job4"})
    jobs.core().handle(jobs.submitted(9), CancelInput{{}, JobId(job), LauncherItself{}});
  EXPECT_EQ(counts(), (Counts{{"Queued", 3}, {"Canceled", 2}}));
  jobs.core().handle(jobs.submitted(10),
                     DeleteInput{{}, {JobId("job2")}, false, {}, LauncherItself{}});
  EXPECT_EQ(counts(), (Counts{{"Queued", 3}, {"Canceled", 1}}));
}

// What a filter asks for is counted and paged as if there were no other jobs.
TEST(ListJobsQuestion, FilteredJobsComeInPagesToo) {
  Jobs jobs;
  for (int i = 1; i <= 100; ++i) {
    JobSpec spec;
    spec.name = "job" + std::to_string(i);
    spec.command = ShellCommand{"true"};
    spec.run_as = "ada";
    spec.experiment_name = i % 2 == 0 ? "even" : "odd";
    spec.tags = {{"tens", std::to_string(i / 10)}};
    if (i == 42) spec.tags["answer"] = "";
    jobs.submit(spec, i);
  }
  const auto names = [&](JobFilter filter, int limit, JobId after = {}) {
    const JobsReply reply = jobs.list({true, limit, after, filter});
    std::string text;
    for (const auto& job : reply.jobs) text += job.spec.name.substr(3) + " ";
    return text + "+" + std::to_string(reply.more);
  };
  JobFilter even;
  even.experiment = "even";
  EXPECT_EQ(names(even, 3), "100 98 96 +47");
  EXPECT_EQ(names(even, 3, JobId("job96")), "94 92 90 +44");
  even.tags = {{"tens", "4"}};
  EXPECT_EQ(names(even, 0), "48 46 44 42 40 +0");
  even.tags.push_back({"answer", std::nullopt});
  EXPECT_EQ(names(even, 0), "42 +0");
  even.tags.back().value = "yes";
  EXPECT_EQ(names(even, 0), "+0");

  JobFilter newest;
  newest.since = jobs.submitted(98);
  EXPECT_EQ(names(newest, 0), "100 99 98 +0");

  jobs.core().handle(jobs.submitted(200), CancelInput{{}, JobId("job7"), LauncherItself{}});
  JobFilter ended;
  ended.statuses = {JobStatus::canceled, JobStatus::failed};
  EXPECT_EQ(names(ended, 0), "7 +0");

  JobFilter of_user;
  of_user.user = "eve";
  EXPECT_EQ(names(of_user, 0), "+0");
  of_user.user = jobs.core().job_view(JobId("job1"))->spec.submitter;
  EXPECT_EQ(names(of_user, 1), "100 +99");
  JobFilter mine;
  mine.mine = true;
  EXPECT_EQ(names(mine, 1), of_user.user == name_of(LauncherItself{}) ? "100 +99" : "+0");
}

TEST(ListJobsQuestion, ArchivedJobsAreLeftOutUnlessAskedFor) {
  Jobs jobs;
  for (int i = 1; i <= 4; ++i) jobs.submit(i, "true");
  for (const char* job : {"job2", "job3"})
    jobs.core().handle(jobs.submitted(9), ArchiveJobInput{{}, {JobId(job)}, LauncherItself{}});
  const auto names = [&](ArchivedToo archived) {
    ListJobs question;
    question.filter.archived = archived;
    question.limit = 2;
    const JobsReply reply = jobs.list(question);
    std::string text;
    for (const auto& job : reply.jobs) text += job.spec.name.substr(3) + " ";
    return text + "+" + std::to_string(reply.more);
  };
  EXPECT_EQ(names(ArchivedToo::no), "4 1 +0");
  EXPECT_EQ(names(ArchivedToo::yes), "4 3 +2");
  EXPECT_EQ(names(ArchivedToo::only), "3 2 +0");
}

TEST(ListJobsQuestion, AnUnknownPlaceIsRefused) {
  Jobs jobs;
  jobs.submit(1, "true");
  const Caller caller = LauncherItself{};
  const auto reply = answer(jobs.core(), {}, Viewer(jobs.core().state(), caller),
                            ListJobs{true, 0, JobId("nobody")});
  EXPECT_EQ(std::get<Refused>(reply).code, ErrorCode::not_found);
}

// Of jobs in projects that the caller is not a member of, not even the names.
TEST(WhatWaits, NamesNoJobThatTheCallerMayNotSee) {
  Core core{CoreConfig{}};
  const auto feed = [&](const Input& input) { core.handle(Instant{1}, input); };
  feed(PrincipalInput{{}, CreateProject{"other"}, LauncherItself{}});
  for (const auto& [name, project] : {std::pair("ann", "default"), std::pair("bob", "other")})
    feed(PrincipalInput{{}, AddUser{name, "", {}, {Role::submitter, project}}, LauncherItself{}});
  for (const auto& [user, name] : {std::pair("bob", "secret-name"), std::pair("ann", "mine")}) {
    JobSpec spec;
    spec.name = name;
    spec.command = ShellCommand{"true"};
    SubmitInput input{{}, name, spec, "", false, UserCaller{user}};
    feed(input);
  }
  const Caller ann = UserCaller{"ann"}, bob = UserCaller{"bob"};
  const std::string held = "n1 has 0 free (secret-name.12 runs there), and no secret-name";
  EXPECT_EQ(Viewer(core.state(), ann).cut(held),
            "n1 has 0 free (a job of another project runs there), and no secret-name");
  EXPECT_EQ(Viewer(core.state(), bob).cut(held), held);
  const std::string behind = "waits behind job 'secret-name', which needs 1 node with 2 cpus";
  EXPECT_EQ(Viewer(core.state(), ann).cut(behind),
            "waits behind a job of another project, which needs 1 node with 2 cpus");
  EXPECT_EQ(Viewer(core.state(), bob).cut(behind), behind);
  // An attempt sees no other job of its project: what it may not see is not said to be of another.
  const Caller attempt = AttemptCaller{{JobId("mine"), 1}, "ann", "default"};
  EXPECT_EQ(Viewer(core.state(), attempt).cut("local-0 is held as a whole by job 'secret-name'"),
            "local-0 is held as a whole by another job");
  EXPECT_EQ(Viewer(core.state(), attempt).cut(behind),
            "waits behind another job, which needs 1 node with 2 cpus");
  const Why waits = WaitsBehindJob{JobId("secret-name"), HeldAsAWhole{JobId("secret-name")}};
  EXPECT_EQ(words::text_of(Viewer(core.state(), ann).cut(waits)),
            "waits behind a job of another project: is held as a whole by a job of another "
            "project");
  EXPECT_EQ(words::text_of(Viewer(core.state(), attempt).cut(waits)),
            "waits behind another job: is held as a whole by another job");
  EXPECT_EQ(Viewer(core.state(), bob).cut(waits), waits);
  NodeView node;
  node.attempts = {{JobId("secret-name"), 1}, {JobId("mine"), 1}};
  EXPECT_EQ(Viewer(core.state(), ann).cut(node).attempts.size(), 1u);
  node.why = NodeUsedBy{JobId("secret-name")};
  const NodeView shown = Viewer(core.state(), ann).cut(node);
  EXPECT_EQ(shown.why, Why(NodeUsedBy{hidden(HiddenJob::of_another_project)}));
  EXPECT_EQ(shown.reason,
            "is used by a job of another project, but the job asks for the whole node");
  EXPECT_EQ(Viewer(core.state(), bob).cut(node).why, node.why);
}

}  // namespace
}  // namespace lockstep::launcher
