// What a head keeps from other users while it is unknown when it can start: docs/decisions/080.

#include "launcher/core/queue/reservation.h"
#include "launcher/words/why.h"
#include "tests/unit/launcher/core/launcher_fixture.h"

namespace lockstep::launcher {
namespace {

using std::chrono::hours;
using ::testing::HasSubstr;

// Days pass in these tests.
CoreConfig patient() {
  CoreConfig config;
  config.heartbeat_interval = minutes(30);
  config.node_lost_timeout = hours(12);
  config.prepare_timeout = hours(10'000);
  return config;
}

struct OpenHead : ::testing::Test {
  TestLauncher launcher{patient()};
  FakeNode n1 = launcher.join("n1"), n2 = launcher.join("n2");

  JobId submit(const std::string& name, const std::string& user, int nodes = 1,
               std::optional<Duration> timeout = {}) {
    JobSpec spec = job_spec(name, nodes);
    spec.submitter = user;
    spec.timeout = timeout;
    return launcher.submit(spec);
  }
  bool runs(const JobId& job) const { return launcher.status(job) == JobStatus::preparing; }
  void pass(Duration time) { launcher.pass(time, {&n1, &n2}); }
  void end(const JobId& job) {
    FakeNode& node = launcher.placed_on(attempt(job)).front() == n1.id ? n1 : n2;
    launcher.run_solo(node, attempt(job), node_exit({rank_exit(0)}));
    launcher.drop_notices();
  }
  std::string why(const JobId& job) const {
    return words::text_of(launcher.core->state().attempt(attempt(job))->why.back());
  }
  // The head that the job waits behind.
  JobId behind(const JobId& job) const {
    const auto why = launcher.why(job);
    const auto* waits = why.as<WaitsBehindJob>();
    return waits == nullptr ? JobId() : waits->job;
  }
  std::string explained(const JobId& job) const {
    std::string text;
    const ExplainView reply = launcher.explain(job);
    for (const std::string& line : reply.lines) text += line + "\n";
    return text;
  }
};

TEST_F(OpenHead, AHeadThatWaitsForItsOwnUsersJobHoldsBackNobodyElse) {
  const JobId hold = submit("hold", "bob"), head = submit("head", "bob", 2);
  const JobId alice = submit("alice", "alice");
  EXPECT_TRUE(runs(alice));
  EXPECT_THAT(why(alice), HasSubstr("went before job 'head'"));
  EXPECT_THAT(why(alice), HasSubstr("waits for others of its own user"));
  EXPECT_THAT(explained(head), HasSubstr("no node is kept from other users"));
  end(alice);
  const JobId second = submit("second", "bob");
  EXPECT_FALSE(runs(second)) << "bob's own jobs go in their order";
  EXPECT_EQ(behind(second), head);
  const JobId carol = submit("carol", "carol");
  EXPECT_TRUE(runs(carol));
  end(hold);
  const JobId late = submit("late", "alice");
  EXPECT_FALSE(runs(late)) << "the head waits for carol now, and its nodes are kept";
  end(carol);
  EXPECT_TRUE(runs(head));
}

TEST_F(OpenHead, ItsTurnToKeepNodesBeginsWhenItsOwnUsersJobsHaveEnded) {
  const JobId hold = submit("hold", "bob"), head = submit("head", "bob", 2);
  const JobId alice = submit("alice", "alice");
  pass(hours(30));
  end(hold);
  const JobId carol = submit("carol", "carol");
  EXPECT_FALSE(runs(carol));
  EXPECT_EQ(launcher.facts<JobAtHead>().size(), 2U);
  end(alice);
  EXPECT_TRUE(runs(head));
}

// Or small jobs would go before that gang for ever.
TEST_F(OpenHead, TheNextThatHasToWaitIsTheHeadOfAll) {
  FakeNode n3 = launcher.join("n3");
  submit("hold", "bob");
  const JobId trio = submit("trio", "bob", 3), small = submit("small", "carol");
  const JobId pair = submit("pair", "alice", 2), dave = submit("dave", "dave");
  EXPECT_TRUE(runs(small));
  EXPECT_FALSE(runs(trio) || runs(pair));
  EXPECT_FALSE(runs(dave)) << "n3 is kept for alice's pair";
  EXPECT_EQ(behind(dave), pair);
  end(small);
  EXPECT_TRUE(runs(pair));
}

TEST_F(OpenHead, AnEndFarAheadCountsAsUnknownForItsOwnUserAlone) {
  const JobId month = submit("month", "bob", 1, hours(720));
  const JobId head = submit("head", "bob", 2);
  const JobId alice = submit("alice", "alice");
  EXPECT_TRUE(runs(alice));
  end(alice);
  launcher.cancel(head, "bob");
  launcher.drop_notices();
  const JobId of_carol = submit("of-carol", "carol", 2), late = submit("late", "alice");
  EXPECT_FALSE(runs(of_carol) || runs(late)) << "carol's gang waits for another's job";
}

TEST_F(OpenHead, AnEndThatIsNearIsWaitedFor) {
  submit("hold", "bob", 1, hours(2));
  submit("head", "bob", 2);
  EXPECT_FALSE(runs(submit("alice", "alice")));
}

TEST_F(OpenHead, ItsNodesAreOpenInTurnsWhileOthersKeepItWaiting) {
  const JobId service = submit("service", "carol"), pair = submit("pair", "bob", 2);
  const JobId alice = submit("alice", "alice");
  EXPECT_THAT(explained(pair), HasSubstr("its nodes are kept until"));
  pass(hours(23));
  EXPECT_FALSE(runs(alice));
  pass(hours(2));
  EXPECT_TRUE(runs(alice)) << "nothing else happened: its time came";
  EXPECT_THAT(why(alice), HasSubstr("open to other users until"));
  end(alice);
  const JobId dave = submit("dave", "dave");
  EXPECT_TRUE(runs(dave));
  EXPECT_FALSE(runs(submit("own", "bob")));
  pass(hours(24));
  end(dave);
  const JobId erin = submit("erin", "erin");
  EXPECT_FALSE(runs(erin)) << "a second turn, of two days";
  EXPECT_TRUE(runs(submit("short", "erin", 1, minutes(30)))) << "an hour is always free to take";
  end(JobId("short"));
  end(service);
  EXPECT_TRUE(runs(pair));
}

// Others' jobs of 40 hours without a limit, one after another on each node: the turns grow until
// one is longer than what they run.
TEST_F(OpenHead, AGangStartsAtLastAmongSmallJobsOfUnknownEnd) {
  std::vector<JobId> small{submit("small-0", "user-0")};
  std::map<JobId, Instant> ends;
  std::optional<JobId> gang;
  int hour = 0;
  for (; hour < 130 && !(gang && runs(*gang)); ++hour) {
    if (hour == 15)
      for (int i = 1; i < 30; ++i)
        small.push_back(submit("small-" + std::to_string(i), "user-" + std::to_string(i % 3)));
    if (hour == 16) gang = submit("gang", "carol", 2);
    for (const JobId& job : small)
      if (runs(job)) ends.try_emplace(job, launcher.now + hours(40));
    pass(hours(1));
    for (const JobId& job : small)
      if (runs(job) && ends.count(job) != 0 && ends.at(job) <= launcher.now) end(job);
  }
  ASSERT_TRUE(gang);
  EXPECT_TRUE(runs(*gang)) << "after " << hour << " hours";
  EXPECT_GE(ends.size(), 3U) << "others had the nodes meanwhile";
}

// Nodes would be kept from others for ever.
TEST_F(OpenHead, AnotherHeadOfTheUserGoesOnWithTheTurnsOfTheCanceledOne) {
  submit("service", "carol");
  const JobId first = submit("first", "bob", 2), second = submit("second", "bob", 2);
  const JobId alice = submit("alice", "alice");
  pass(hours(20));
  launcher.cancel(first, "bob");
  EXPECT_FALSE(runs(alice)) << "bob's second is older, and neither of them holds anything";
  EXPECT_EQ(behind(alice), second);
  pass(hours(5));
  EXPECT_TRUE(runs(alice)) << "25 hours after the first";
}

TEST_F(OpenHead, AnotherPriorityDoesNotBeginTheTurnsAnew) {
  submit("service", "carol");
  const JobId pair = submit("pair", "bob", 2), alice = submit("alice", "alice");
  pass(hours(20));
  for (const Priority priority : {Priority::high, Priority::medium}) {
    launcher.send(UpdateJobInput{launcher.next_reply(), pair, priority, LauncherItself{}});
    launcher.expect_one<ReplyDone>();
    launcher.drop_notices();
    EXPECT_FALSE(runs(alice));
  }
  pass(hours(5));
  EXPECT_TRUE(runs(alice));
}

TEST_F(OpenHead, LeavesItsUsersOtherJobsFreeWhenItIsCanceled) {
  submit("hold", "bob");
  const JobId head = submit("head", "bob", 2), next = submit("next", "bob");
  EXPECT_FALSE(runs(next));
  launcher.cancel(head, "bob");
  launcher.drop_notices();
  EXPECT_TRUE(runs(next));
}

TEST(Turns, EachLastsTwiceAsLongAsTheOneBefore) {
  const Instant since{1'700'000'000'000'000'000};
  struct Case {
    int hour;
    bool is_open;
    int until;
  };
  for (const Case& at : {Case{0, false, 24}, Case{23, false, 24}, Case{24, true, 48},
                         Case{48, false, 96}, Case{96, true, 144}, Case{144, false, 240}}) {
    Reservation reservation;
    reservation.take_turns(since, since + hours(at.hour));
    EXPECT_EQ(reservation.is_open, at.is_open) << at.hour;
    EXPECT_EQ(reservation.changes_at, since + hours(at.until)) << at.hour;
  }
  Reservation known;
  known.at = since + hours(1'000);
  known.take_turns(since, since + hours(30));
  EXPECT_FALSE(known.is_open);
  EXPECT_EQ(known.changes_at, Instant::never());
}

}  // namespace
}  // namespace lockstep::launcher
