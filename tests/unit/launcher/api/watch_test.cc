// Those who watch a job are told of each change, and in between that they still watch; who could
// not be sent something is told no more.

#include <gmock/gmock.h>

#include "launcher/api/service.h"
#include "tests/fakes/api/ports.h"

namespace lockstep::launcher {
namespace {

constexpr Duration kRound = kStillWatchingEvery / Watchers::kRounds;
const Instant kStarted{1'600'000'000'000'000'000};
const Grant kSubmitter{Role::submitter, "default"};

PublicKey key_of(const std::string& user) {
  return PublicKey((user + std::string(40, '0')).substr(0, 40));
}

class Watching : public testing::Test {
 protected:
  Watching() {
    core_.recovered(now_);
    ports_.process.about.started = kStarted;
    ports_.core.on_step = [this](const Step& step) { test::perform(step, service_); };
    const Grant viewer{Role::viewer, "default"};
    feed(PrincipalInput{{}, AddUser{"ann", "ann", key_of("ann"), kSubmitter}, LauncherItself{}});
    feed(PrincipalInput{{}, AddUser{"eve", "eve", key_of("eve"), viewer}, LauncherItself{}});
    SubmitInput submit;
    submit.submission = submit.spec.name = "j";
    submit.spec.command = ShellCommand{"true"};
    submit.spec.submitter = submit.spec.run_as = "ann";
    submit.spec.project = "default";
    submit.caller = LauncherItself{};
    feed(submit);
  }

  void feed(const Input& input) { ports_.core.feed(input); }
  void watch(const std::string& connection, const std::string& user = "ann",
             const std::string& job = "j") {
    Asker asker;
    asker.caller = UserCaller{user};
    asker.key = key_of(user);
    asker.connection = connection;
    service_.handle(asker, WatchJob{JobId(job)});
    service_.flush();
  }
  // As the daemon's loop does, until so much time has passed.
  void turn_for(Duration time) {
    for (const Instant end = now_ + time; now_ < end;) {
      now_ = std::min(end, now_ + std::min(service_.wait(), Duration(seconds(1))));
      service_.flush();
    }
  }
  // How many of these came over a connection since the last look.
  template <typename Reply>
  std::map<std::string, int> take() {
    std::map<std::string, int> counts;
    for (const auto& one : std::exchange(sent_, {}))
      if (std::holds_alternative<Reply>(one.reply)) ++counts[one.connection];
    return counts;
  }

  test::FakePorts ports_;
  Core& core_ = ports_.core.core();
  Instant& now_ = ports_.clock.time;
  std::vector<test::FakeReplies::Sent>& sent_ = ports_.replies.sent;
  Service service_{ports_.all()};
};

TEST_F(Watching, EachConnectionIsToldOnceAnIntervalAndFewInOneTurn) {
  for (int i = 0; i < 200; ++i) watch(std::to_string(i));
  EXPECT_EQ(take<JobReply>().size(), 200U);
  turn_for(kRound);
  EXPECT_EQ(take<StillWatching>().size(), 10U) << "not all at once";
  turn_for(kStillWatchingEvery - kRound);
  EXPECT_EQ(take<StillWatching>().size(), 190U);
  turn_for(kStillWatchingEvery);
  const auto told = take<StillWatching>();
  EXPECT_EQ(told.size(), 200U);
  for (const auto& [connection, times] : told) EXPECT_EQ(times, 1) << connection;
}

TEST_F(Watching, ItNamesTheJobAndThisLauncher) {
  watch("a");
  sent_.clear();
  turn_for(kStillWatchingEvery);
  ASSERT_EQ(sent_.size(), 1U);
  EXPECT_EQ(std::get<StillWatching>(sent_[0].reply), (StillWatching{JobId("j"), kStarted}));
}

TEST_F(Watching, NobodyWakesTheLoopWithoutWatchers) {
  EXPECT_EQ(service_.wait(), Duration::max());
  watch("a");
  EXPECT_LE(service_.wait(), kRound);
  service_.gone("a");
  EXPECT_EQ(service_.wait(), Duration::max());
}

// The outbox names a connection whose queue was full, or that is gone.
TEST_F(Watching, AConnectionThatSomethingWasLostToHearsNothingUntilItAsksAgain) {
  watch("full");
  watch("other");
  service_.gone("full");
  sent_.clear();
  turn_for(2 * kStillWatchingEvery);
  EXPECT_EQ(take<StillWatching>(), (std::map<std::string, int>{{"other", 2}}));
  watch("full");
  sent_.clear();
  turn_for(2 * kStillWatchingEvery);
  EXPECT_EQ(take<StillWatching>(), (std::map<std::string, int>{{"full", 2}, {"other", 2}}));
}

TEST_F(Watching, AfterTheJobsEndNobodyIsTold) {
  watch("a");
  feed(CancelInput{{}, JobId("j"), UserCaller{"ann"}});
  EXPECT_EQ(take<JobUpdate>().at("a"), 1);
  turn_for(2 * kStillWatchingEvery);
  EXPECT_TRUE(take<StillWatching>().empty());
}

TEST_F(Watching, AUserWhoMayNotSeeTheJobAnyMoreIsNotTold) {
  watch("a", "eve");
  turn_for(2 * kStillWatchingEvery);
  EXPECT_EQ(take<StillWatching>().at("a"), 2);
  feed(PrincipalInput{{}, RemoveUser{"eve"}, LauncherItself{}});
  turn_for(2 * kStillWatchingEvery);
  EXPECT_TRUE(take<StillWatching>().empty());
}

// A gang's view has all of its nodes, and each of them changes it.
TEST_F(Watching, OfALargeGangTheyAreToldNowAndThenAndOfAnotherStatusAtOnce) {
  constexpr int kNodes = 66;
  feed(CancelInput{{}, JobId("j"), UserCaller{"ann"}});
  const Digest token = sha256("token");
  feed(TokenInput{{}, token, now_ + minutes(60), kNodes, LauncherItself{}});
  Inventory inventory;
  inventory.cpus = {0, 1};
  inventory.memory = gibibytes(1);
  inventory.network = "local";
  const auto key = [](int i) { return PublicKey("key" + std::to_string(i)); };
  const auto session = [](int i) { return SessionId(static_cast<std::uint64_t>(i)); };
  const auto node = [](int i) { return NodeId(static_cast<std::uint64_t>(i)); };
  for (int i = 1; i <= kNodes; ++i) {
    feed(JoinInput{{}, token, key(i), "n" + std::to_string(i)});
    feed(SessionInput{key(i), {node(i), BootId("boot"), session(i), "", inventory, {}}});
  }
  SubmitInput submit;
  submit.submission = submit.spec.name = "g";
  submit.spec.command = ShellCommand{"true"};
  submit.spec.submitter = "ann";
  submit.spec.project = "default";
  submit.spec.resources.instance_count = kNodes;
  submit.caller = LauncherItself{};
  feed(submit);
  watch("a", "ann", "g");
  sent_.clear();
  const auto all_say = [&](PartState state, std::uint64_t sequence) {
    for (int i = 1; i <= kNodes; ++i) {
      PartReport report;
      report.attempt = {JobId("g"), 1};
      report.state = state;
      feed(ObservedInput{key(i), {node(i), session(i), sequence, {report}, {}}});
    }
  };
  all_say(PartState::staging, 1);
  EXPECT_EQ(take<JobUpdate>().at("a"), 1);
  turn_for(milliseconds(250));
  EXPECT_EQ(take<JobUpdate>().at("a"), 1) << "the rest, at once";
  all_say(PartState::prepared, 2);
  EXPECT_EQ(core_.job_view(JobId("g"))->status, JobStatus::starting);
  EXPECT_EQ(take<JobUpdate>().at("a"), 1) << "when the last of them changed its status";
}

TEST_F(Watching, ALoopThatWasHeldUpTellsEachConnectionOnce) {
  for (int i = 0; i < 40; ++i) watch(std::to_string(i));
  sent_.clear();
  now_ = now_ + minutes(60);
  service_.flush();
  const auto told = take<StillWatching>();
  EXPECT_EQ(told.size(), 40U);
  for (const auto& [connection, times] : told) EXPECT_EQ(times, 1) << connection;
}

}  // namespace
}  // namespace lockstep::launcher
