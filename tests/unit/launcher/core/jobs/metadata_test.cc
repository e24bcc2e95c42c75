// Archived jobs, and changes of a job's texts and tags.

#include "launcher/core/jobs/metadata.h"

#include <algorithm>

#include "launcher/state/compact.h"
#include "tests/unit/launcher/core/launcher_fixture.h"

namespace lockstep::launcher {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

AnnotateJob note(const JobId& job) {
  AnnotateJob ask;
  ask.job = job;
  return ask;
}

struct Metadata : ::testing::Test {
  TestLauncher launcher;
  JobId job;

  Metadata() {
    add("alice", Role::submitter);
    add("bob", Role::submitter);
    add("olga", Role::operator_);
    JobSpec spec = job_spec("job");
    spec.description = "first";
    spec.tags = {{"model", "small"}, {"owner", "alice"}};
    job = submit(spec);
  }
  void add(const std::string& name, Role role) {
    const std::string project = is_of_project(role) ? "default" : "";
    launcher.send(PrincipalInput{launcher.next_reply(), AddUser{name, "", {}, {role, project}}});
    launcher.expect_one<ReplyDone>();
  }
  JobId submit(const JobSpec& spec) {
    SubmitInput submit;
    submit.reply = launcher.next_reply();
    submit.spec = spec;
    submit.caller = UserCaller{"alice"};
    launcher.send(submit);
    launcher.drop_notices();
    return launcher.expect_one<ReplySubmitted>().job;
  }
  std::string answer() {
    launcher.drop_notices();
    const auto refused = launcher.take<ReplyRefused>();
    return refused.empty() ? launcher.expect_one<ReplyDone>().message : refused.front().message;
  }
  std::string archive(const JobId& which, bool archived = true, const std::string& by = "alice") {
    launcher.send(
        ArchiveJobInput{launcher.next_reply(), ArchiveJob{which, archived}, UserCaller{by}});
    return answer();
  }
  std::string annotate(const AnnotateJob& ask, const std::string& by = "alice") {
    launcher.send(AnnotateJobInput{launcher.next_reply(), ask, UserCaller{by}});
    return answer();
  }
  std::string set_tag(const std::string& key, const std::string& value) {
    AnnotateJob ask = note(job);
    ask.set_tags[key] = value;
    return annotate(ask);
  }
  template <typename T>
  std::size_t kept() const {
    const auto facts = compact(launcher.all_facts());
    return static_cast<std::size_t>(std::count_if(
        facts.begin(), facts.end(),
        [](const StampedFact& stamped) { return std::holds_alternative<T>(stamped.fact); }));
  }
};

TEST_F(Metadata, AJobIsArchivedInAnyStateAndRestored) {
  EXPECT_EQ(archive(job), "job 'job' is archived; it is Queued, and goes on");
  EXPECT_TRUE(launcher.view(job).archived);
  EXPECT_EQ(archive(job), "job 'job' is archived already");
  launcher.restart();
  launcher.drop_notices();
  EXPECT_TRUE(launcher.view(job).archived) << "the journal knows it";
  EXPECT_EQ(archive(job, false), "job 'job' is restored");
  EXPECT_FALSE(launcher.view(job).archived);
  EXPECT_EQ(archive(job, false), "job 'job' is not archived");
  EXPECT_EQ(launcher.facts<JobArchived>().size(), 2U);
  launcher.cancel(job, "alice");
  launcher.drop_notices();
  EXPECT_EQ(archive(job), "job 'job' is archived");
}

TEST_F(Metadata, AnArchivedJobRunsAndEndsAsOthersDo) {
  archive(job);
  FakeNode n1 = launcher.join("n1");
  launcher.drop_notices();
  launcher.run_solo(n1, attempt(job), node_exit({rank_exit(0)}));
  launcher.drop_notices();
  EXPECT_EQ(launcher.status(job), JobStatus::completed);
  EXPECT_EQ(launcher.core->state().ended().size(), 1U) << "retention counts it";
}

TEST_F(Metadata, TheTextsAndTagsOfAJobAreChangedAndTheOthersStay) {
  AnnotateJob ask = note(job);
  ask.display_name = "Digits";
  ask.experiment_name = "handwriting";
  ask.set_tags = {{"model", "large"}, {"seed", "1"}};
  ask.remove_tags = {"owner", "never-there"};
  EXPECT_EQ(annotate(ask), "job 'job' is updated");
  EXPECT_EQ(annotate(ask), "job 'job' is unchanged: it has these texts and tags already");
  launcher.restart();
  launcher.drop_notices();
  const JobSpec spec = launcher.view(job).spec;
  EXPECT_EQ(spec.display_name, "Digits");
  EXPECT_EQ(spec.description, "first");
  EXPECT_EQ(spec.experiment_name, "handwriting");
  EXPECT_THAT(spec.tags, ElementsAre(Pair("model", "large"), Pair("seed", "1")));
  ask = note(job);
  ask.description = "";
  ask.clear_tags = true;
  ask.set_tags["only"] = "this";
  EXPECT_EQ(annotate(ask), "job 'job' is updated");
  EXPECT_EQ(launcher.view(job).spec.description, "");
  EXPECT_THAT(launcher.view(job).spec.tags, ElementsAre(Pair("only", "this")));
  EXPECT_EQ(launcher.facts<JobAnnotated>().size(), 2U);
}

TEST_F(Metadata, IsItsOwnersAndTheAdmins) {
  for (const char* user : {"bob", "olga"}) {
    EXPECT_THAT(archive(job, true, user), HasSubstr("may not archive this job")) << user;
    EXPECT_THAT(annotate(note(job), user), HasSubstr("change its texts and tags")) << user;
  }
  EXPECT_TRUE(launcher.facts<JobArchived>().empty());
  EXPECT_THAT(archive(job, true, "ada"), HasSubstr("is archived")) << "an admin";
  const std::string none = "there is no job 'other'; `lockstep job list` shows all";
  EXPECT_EQ(archive(JobId("other")), none);
  EXPECT_EQ(annotate(note(JobId("other"))), none);
}

TEST_F(Metadata, TextsAndTagsHaveABound) {
  AnnotateJob ask = note(job);
  ask.description = std::string(kMaxAnnotationBytes, 'x');
  EXPECT_THAT(annotate(ask), HasSubstr("and 1,048,576 are possible"));
  ask = note(job);
  for (std::size_t i = 0; i < kMaxJobTags - 1; ++i) ask.set_tags[std::to_string(i)] = "";
  EXPECT_THAT(annotate(ask), HasSubstr("would have 1001 tags, and 1000 are possible"));
  ask.remove_tags = {"owner"};
  EXPECT_EQ(annotate(ask), "job 'job' is updated");
  EXPECT_THAT(set_tag("", "x"), HasSubstr("a tag needs a key"));
  EXPECT_EQ(launcher.facts<JobAnnotated>().size(), 1U);
}

TEST_F(Metadata, TheBoundHoldsOfASubmissionAndOfStepsToo) {
  JobSpec spec = job_spec("many");
  for (std::size_t i = 0; i <= kMaxJobTags; ++i) spec.tags[std::to_string(i)] = "";
  EXPECT_EQ(launcher.submit_refused(spec).message, "tags: are 1,001; at most 1,000 are possible");
  JobSpec whole = job_spec("whole");
  PipelineSpec pipeline;
  pipeline.steps.emplace_back();
  pipeline.steps.back().name = "one";
  pipeline.steps.back().spec = spec;
  pipeline.steps.back().spec.name.clear();
  whole.pipeline = pipeline;
  EXPECT_THAT(launcher.submit_refused(whole).message, HasSubstr("tags: are 1,001"));
  spec.tags.erase("0");
  launcher.submit(spec);
  JobSpec long_text = job_spec("long");
  long_text.description = std::string(kMaxAnnotationBytes + 1, 'x');
  EXPECT_THAT(launcher.submit_refused(long_text).message, HasSubstr("at most 1,048,576"));
  JobSpec nameless = job_spec("nameless");
  nameless.tags[""] = "x";
  EXPECT_THAT(launcher.submit_refused(nameless).message, HasSubstr("a tag needs a key"));
  JobSpec inputs = job_spec("inputs");
  for (std::size_t i = 0; i <= kMaxJobInputs; ++i) inputs.inputs["i" + std::to_string(i)] = "";
  EXPECT_THAT(launcher.submit_refused(inputs).message, HasSubstr("inputs: are 10,001"));
}

TEST_F(Metadata, GrowthCountsAgainstTheQuotaOfTexts) {
  const QuotaHolder alice{QuotaHolder::Kind::user, "alice"};
  launcher.send(PrincipalInput{launcher.next_reply(),
                               SetQuota{alice, {{QuotaLimit::spec_bytes, 10'000}}, {}}});
  launcher.expect_one<ReplyDone>();
  AnnotateJob ask = note(job);
  ask.description = std::string(12'000, 'x');
  EXPECT_EQ(annotate(ask), "job 'job' is updated");
  ask.description = std::string(20'000, 'x');
  EXPECT_THAT(annotate(ask), HasSubstr("quota: "));
  ask.description = "";
  EXPECT_EQ(annotate(ask), "job 'job' is updated") << "it may always shrink";
  ask.description = std::string(14'000, 'x');
  EXPECT_EQ(annotate(ask), "job 'job' is updated");
}

TEST_F(Metadata, CompactionKeepsTheLastOfEachJob) {
  for (int i = 0; i < 3; ++i) {
    archive(job);
    archive(job, false);
    set_tag("try", std::to_string(i));
  }
  EXPECT_EQ(kept<JobArchived>(), 0U);
  EXPECT_EQ(kept<JobAnnotated>(), 1U);
  archive(job);
  EXPECT_EQ(kept<JobArchived>(), 1U);
}

TEST_F(Metadata, ANewJobOfTheNameHasNoneOfIt) {
  archive(job);
  set_tag("try", "1");
  launcher.cancel(job, "alice");
  launcher.drop_notices();
  launcher.send(DeleteInput{launcher.next_reply(), {job}, false, {}, UserCaller{"alice"}});
  launcher.expect_one<ReplyDeleted>();
  launcher.take<ForgetJob>();
  launcher.drop_notices();
  submit(job_spec("job"));
  EXPECT_FALSE(launcher.view(job).archived);
  EXPECT_TRUE(launcher.view(job).spec.tags.empty());
}

TEST_F(Metadata, StepsFollowTheirPipeline) {
  launcher.cancel(job, "alice");
  launcher.drop_notices();
  launcher.join("n1");
  launcher.drop_notices();
  JobSpec spec = job_spec("p");
  PipelineSpec whole;
  whole.steps.emplace_back();
  whole.steps.back().name = "train";
  whole.steps.back().spec.command = ShellCommand{"true"};
  spec.pipeline = std::move(whole);
  const JobId pipeline = submit(spec), step("p_train");
  EXPECT_EQ(archive(step),
            "job 'p_train' is step 'train' of pipeline 'p', and is archived with that: lockstep "
            "job archive p");
  EXPECT_THAT(archive(pipeline), HasSubstr("job 'p' is archived; it is "));
  EXPECT_TRUE(launcher.view(step).archived);
  EXPECT_THAT(archive(step, false), HasSubstr("is restored with that: lockstep job restore p"));
  EXPECT_EQ(launcher.facts<JobArchived>().size(), 1U);
  archive(pipeline, false);
  EXPECT_FALSE(launcher.view(step).archived);
  AnnotateJob ask = note(step);
  ask.set_tags["good"] = "yes";
  EXPECT_EQ(annotate(ask), "job 'p_train' is updated") << "a step's texts are its own";
}

}  // namespace
}  // namespace lockstep::launcher
