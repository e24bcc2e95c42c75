// Jobs that their owners share with their project.

#include <algorithm>

#include "launcher/core/access/users.h"
#include "launcher/state/compact.h"
#include "tests/unit/launcher/core/launcher_fixture.h"

namespace lockstep::launcher {
namespace {

using ::testing::HasSubstr;

struct Sharing : ::testing::Test {
  TestLauncher launcher;
  JobId job;

  Sharing() {
    add("alice", Role::submitter);
    add("bob", Role::submitter);
    add("vic", Role::viewer);
    SubmitInput submit;
    submit.reply = launcher.next_reply();
    submit.spec = job_spec("job");
    submit.caller = UserCaller{"alice"};
    launcher.send(submit);
    job = launcher.expect_one<ReplySubmitted>().job;
    launcher.drop_notices();
  }
  void add(const std::string& name, Role role) {
    launcher.send(PrincipalInput{launcher.next_reply(), AddUser{name, "", {}, {role, "default"}}});
    launcher.expect_one<ReplyDone>();
  }
  std::string share(const std::string& user, bool shared = true) {
    launcher.send(ShareInput{launcher.next_reply(), job, shared, UserCaller{user}});
    launcher.drop_notices();
    const auto refused = launcher.take<ReplyRefused>();
    return refused.empty() ? launcher.expect_one<ReplyDone>().message : refused.front().message;
  }
  bool may_read(const std::string& user, Permission permission = Permission::read_job) {
    const State& state = launcher.core->state();
    return is_allowed(state.principals(), UserCaller{user}, permission, object_of(*state.job(job)));
  }
};

TEST_F(Sharing, LetsTheProjectReadUntilItIsTakenBack) {
  EXPECT_FALSE(may_read("vic") || may_read("bob"));
  EXPECT_EQ(share("alice"), "job 'job' is shared with project default");
  EXPECT_TRUE(may_read("vic") && may_read("bob"));
  EXPECT_TRUE(may_read("vic", Permission::read_blobs));
  EXPECT_FALSE(may_read("bob", Permission::read_values) || may_read("bob", Permission::cancel_job));
  EXPECT_TRUE(launcher.view(job).shared);
  launcher.restart();
  EXPECT_TRUE(may_read("vic")) << "the journal knows it";
  EXPECT_EQ(share("alice", false), "job 'job' is no longer shared with project default");
  EXPECT_EQ(launcher.expect_one<ReadersChanged>().job, job);
  EXPECT_FALSE(may_read("vic") || may_read("bob"));
  EXPECT_FALSE(launcher.view(job).shared);
}

TEST_F(Sharing, IsItsOwnersAlone) {
  EXPECT_THAT(share("bob"), HasSubstr("may not share this job: it belongs to user 'alice'"));
  EXPECT_THAT(share("vic"), HasSubstr("may not share this job"));
  EXPECT_THAT(share("ada"), HasSubstr("may not share this job")) << "an admin";
  EXPECT_TRUE(launcher.facts<JobShared>().empty());
}

TEST_F(Sharing, IsOneFactHoweverOftenItIsAskedFor) {
  share("alice");
  share("alice");
  EXPECT_EQ(launcher.facts<JobShared>().size(), 1U);
  const std::string none = "there is no job 'other'; `lockstep job list` shows all";
  launcher.send(ShareInput{launcher.next_reply(), JobId("other"), true, UserCaller{"alice"}});
  EXPECT_EQ(launcher.expect_one<ReplyRefused>().message, none);
}

TEST_F(Sharing, ACompactionKeepsTheLastWordOfEachJob) {
  for (int i = 0; i < 3; ++i) {
    share("alice");
    share("alice", false);
    launcher.take<ReadersChanged>();
  }
  const auto kept = [&] {
    const auto facts = compact(launcher.all_facts());
    return std::count_if(facts.begin(), facts.end(), [](const StampedFact& stamped) {
      return std::holds_alternative<JobShared>(stamped.fact);
    });
  };
  EXPECT_EQ(kept(), 0);
  share("alice");
  EXPECT_EQ(kept(), 1);
}

TEST_F(Sharing, ANewJobOfTheNameIsNotShared) {
  share("alice");
  launcher.cancel(job, "alice");
  launcher.drop_notices();
  launcher.send(DeleteInput{launcher.next_reply(), {job}, false, {}, UserCaller{"alice"}});
  launcher.expect_one<ReplyDeleted>();
  launcher.take<ForgetJob>();
  launcher.drop_notices();
  EXPECT_FALSE(launcher.view(launcher.submit(job_spec("job"))).shared);
}

}  // namespace
}  // namespace lockstep::launcher
