// A real lockstepd over real CURVE sockets: what users ask, who is let in, and what a restart
// keeps.

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "common/io/file_system.h"
#include "common/io/process.h"
#include "common/wire/messages/control.h"
#include "tests/unit/launcher/daemon/daemon_process.h"

namespace lockstep {
namespace {

using test::DaemonProcess;
using test::Peer;
using test::small_job;
using testing::HasSubstr;

class DaemonTest : public testing::Test {
 protected:
  void start(std::vector<std::string> flags = {"--allow-root"}) {
    ASSERT_TRUE(daemon_.start(std::move(flags))) << daemon_.log();
  }
  // The number that `name` has in /proc/PID/status, in kB.
  std::uint64_t status_kb(const std::string& name) {
    const auto text = io::read_file("/proc/" + std::to_string(daemon_.pid()) + "/status").value();
    return std::stoull(text.substr(text.find(name) + name.size()));
  }
  DaemonProcess daemon_;
  io::KeyPair user_ = test::authorized_user(daemon_);
};

TEST_F(DaemonTest, SubmitShowListExplain) {
  start();
  Peer ann(daemon_.endpoint(), user_);
  const auto submitted = ann.ask_for<SubmitReply>(Submit{"one", small_job("first")});
  ASSERT_TRUE(submitted) << daemon_.log();
  EXPECT_EQ(submitted->job, JobId("first"));
  const auto shown = ann.ask_for<JobReply>(ShowJob{JobId("first")});
  ASSERT_TRUE(shown);
  EXPECT_EQ(shown->job.status, JobStatus::queued);
  EXPECT_EQ(shown->job.spec.submitter, "ann") << "the key says who submitted";
  EXPECT_FALSE(shown->job.reason.empty());
  const auto listed = ann.ask_for<JobsReply>(ListJobs{});
  ASSERT_TRUE(listed);
  EXPECT_EQ(listed->jobs.size(), 1u);
  EXPECT_TRUE(ann.ask_for<ExplainReply>(ExplainJob{JobId("first")}));
  const auto missing = ann.ask_for<Refused>(ShowJob{JobId("second")});
  ASSERT_TRUE(missing);
  EXPECT_EQ(missing->code, ErrorCode::not_found);
}

TEST_F(DaemonTest, ASubmissionThatIsRepeatedIsOneJob) {
  start();
  Peer ann(daemon_.endpoint(), user_);
  const auto first = ann.ask_for<SubmitReply>(Submit{"same", small_job()});
  const auto again = ann.ask_for<SubmitReply>(Submit{"same", small_job()});
  ASSERT_TRUE(first && again);
  EXPECT_EQ(first->job, again->job);
  EXPECT_THAT(first->job.value, testing::MatchesRegex("[a-z]+_[a-z]+_[a-z]{10}"));
  EXPECT_EQ(ann.ask_for<JobsReply>(ListJobs{})->jobs.size(), 1u);
}

TEST_F(DaemonTest, WatchersHearOfChanges) {
  start();
  Peer ann(daemon_.endpoint(), user_);
  Peer other(daemon_.endpoint(), user_);
  ASSERT_TRUE(ann.ask_for<SubmitReply>(Submit{"w", small_job("watched")}));
  const auto now = other.ask_for<JobReply>(WatchJob{JobId("watched")});
  ASSERT_TRUE(now);
  EXPECT_EQ(now->job.status, JobStatus::queued);
  ASSERT_TRUE(ann.ask_for<Done>(CancelJob{JobId("watched")}));
  EXPECT_TRUE(other.next<JobUpdate>(
      [](const JobUpdate& update) { return update.job.status == JobStatus::canceled; }));
}

TEST_F(DaemonTest, WatchersOfAQuietJobAreToldThatTheyStillWatch) {
  start();
  Peer ann(daemon_.endpoint(), user_);
  ASSERT_TRUE(ann.ask_for<SubmitReply>(Submit{"q", small_job("quiet")}));
  ASSERT_TRUE(ann.ask_for<JobReply>(WatchJob{JobId("quiet")}));
  const auto still = ann.next<StillWatching>();
  ASSERT_TRUE(still) << daemon_.log();
  EXPECT_EQ(still->job, JobId("quiet"));
  const auto status = ann.ask_for<StatusReply>(GetStatus{});
  ASSERT_TRUE(status);
  EXPECT_EQ(still->launcher_started, status->status.started);
}

TEST_F(DaemonTest, AnUnknownKeyIsNotLetIn) {
  start();
  Peer stranger(daemon_.endpoint());
  EXPECT_FALSE(stranger.ask(GetStatus{}, milliseconds(500)));
}

TEST_F(DaemonTest, AUserWhoIsAddedIsLetInAndOneWhoIsRemovedIsOut) {
  start();
  const auto bob_keys = test::authorized_user(daemon_, "bob");
  Peer bob(daemon_.endpoint(), bob_keys);
  ASSERT_TRUE(bob.ask_for<StatusReply>(GetStatus{}));
  ASSERT_TRUE(io::write_file_atomically(daemon_.home().authorized_users(),
                                        "ann " + user_.public_key.value + "\n", 0600));
  const auto refused = bob.ask_for<Refused>(GetStatus{});
  ASSERT_TRUE(refused) << "his connection is still open";
  EXPECT_EQ(refused->code, ErrorCode::permission_denied);
}

TEST_F(DaemonTest, AUserMayNotSpeakAsANode) {
  start();
  Peer ann(daemon_.endpoint(), user_);
  for (const AgentMessage& message : {AgentMessage(Heartbeat{NodeId(1), SessionId(2), 0, 0}),
                                      AgentMessage(Observed{NodeId(1), SessionId(2), 1, {}, {}})}) {
    const auto refused = ann.ask_for<Refused>(message);
    ASSERT_TRUE(refused);
    EXPECT_EQ(refused->code, ErrorCode::permission_denied);
  }
  EXPECT_EQ(ann.ask_for<Refused>(Done{"I answer myself"})->code, ErrorCode::invalid_argument);
}

TEST_F(DaemonTest, AnotherProtocolVersionIsRefusedWithBothNamed) {
  start();
  Peer ann(daemon_.endpoint(), user_);
  Envelope<ClientRequest> envelope;
  envelope.version = 99;
  envelope.sequence = 41;
  envelope.body = GetStatus{};
  ann.send_raw(wire::encode(envelope));
  const auto refused = ann.next<Refused>();
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->code, ErrorCode::unsupported);
  EXPECT_THAT(refused->message, HasSubstr("99"));
  EXPECT_THAT(refused->message, HasSubstr("speaks version 1"));
}

TEST_F(DaemonTest, NoiseIsRefusedAndTheNextRequestIsServed) {
  start();
  Peer ann(daemon_.endpoint(), user_);
  ann.send_raw("\xff\xfe noise");
  EXPECT_EQ(ann.next<Refused>()->code, ErrorCode::corrupt);
  EXPECT_TRUE(ann.ask_for<StatusReply>(GetStatus{}));
}

TEST_F(DaemonTest, RootJobsAreRefusedUnlessAllowed) {
  start({});
  Peer ann(daemon_.endpoint(), user_);
  auto spec = small_job("rooted");
  spec.run_as = "root";
  const auto refused = ann.ask_for<Refused>(Submit{"r", spec});
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->code, ErrorCode::permission_denied);
  EXPECT_THAT(refused->message, HasSubstr("--allow-root"));
  ASSERT_TRUE(ann.ask_for<SubmitReply>(Submit{"a", small_job("anns")}));
  EXPECT_EQ(ann.ask_for<JobReply>(ShowJob{JobId("anns")})->job.spec.run_as, "ann");
}

TEST_F(DaemonTest, AKeyRunsJobsAsTheUserItWasAuthorisedAs) {
  start();
  Peer bob(daemon_.endpoint(), test::authorized_user(daemon_, "bob"));
  for (const char* other : {"ann", "root"}) {
    auto spec = small_job("stolen");
    spec.run_as = other;
    const auto refused = bob.ask_for<Refused>(Submit{other, spec});
    ASSERT_TRUE(refused) << other;
    EXPECT_EQ(refused->code, ErrorCode::permission_denied);
    EXPECT_THAT(refused->message, HasSubstr("jobs of bob run as bob and not as"));
  }
  auto own = small_job("own");
  own.run_as = "bob";
  EXPECT_TRUE(bob.ask_for<SubmitReply>(Submit{"own", own}));
  ASSERT_TRUE(bob.ask_for<SubmitReply>(Submit{"unsaid", small_job("unsaid")}));
  EXPECT_EQ(bob.ask_for<JobReply>(ShowJob{JobId("unsaid")})->job.spec.run_as, "bob");
}

TEST_F(DaemonTest, WhoRunsTheLauncherMayChooseAnAccount) {
  start();
  Peer owner(daemon_.endpoint(), test::authorized_user(daemon_, io::current_user().value().name));
  auto spec = small_job("for-ann");
  spec.run_as = "ann";
  ASSERT_TRUE(owner.ask_for<SubmitReply>(Submit{"f", spec})) << daemon_.log();
  EXPECT_EQ(owner.ask_for<JobReply>(ShowJob{JobId("for-ann")})->job.spec.run_as, "ann");
}

TEST_F(DaemonTest, OnAllInterfacesItTellsAnAddressThatCanBeDialled) {
  start({"--listen", "tcp://0.0.0.0:*"});
  EXPECT_EQ(daemon_.endpoint().control.find("0.0.0.0"), std::string::npos);
  EXPECT_EQ(daemon_.endpoint().local_control.rfind("tcp://127.0.0.1:", 0), 0u);
  auto here = daemon_.endpoint();
  here.control = here.local_control;
  EXPECT_TRUE(Peer(here, user_).ask_for<StatusReply>(GetStatus{}));
  EXPECT_TRUE(Peer(daemon_.endpoint(), user_).ask_for<StatusReply>(GetStatus{}));
  daemon_.signal(SIGTERM);
  start({"--listen", "tcp://0.0.0.0:*", "--advertise", "gate.example"});
  EXPECT_EQ(daemon_.endpoint().control.rfind("tcp://gate.example:", 0), 0u);
  EXPECT_EQ(daemon_.endpoint().join.rfind("tcp://gate.example:", 0), 0u);
  here = daemon_.endpoint();
  here.control = here.local_control;
  const auto token = Peer(here, user_).ask_for<TokenReply>(CreateToken{minutes(1), 1});
  ASSERT_TRUE(token);
  EXPECT_EQ(wire::decode_join_token(token->token)->bulk_endpoint, daemon_.endpoint().bulk);
}

TEST_F(DaemonTest, ItLeavesWordOfHowItWasStartedAndWhenItLeft) {
  start({"--stop-grace", "7s"});
  const auto running = io::read_file(daemon_.home().started()).value();
  EXPECT_THAT(running, HasSubstr("\"7s\""));
  EXPECT_THAT(running, HasSubstr("\"by_lockstep\": false"));
  EXPECT_THAT(running, HasSubstr("\"ended\": \"\""));
  daemon_.signal(SIGTERM);
  EXPECT_THAT(io::read_file(daemon_.home().started()).value(), HasSubstr("\"ended\": \"20"));
}

TEST_F(DaemonTest, AfterAKillTheJobsAreStillThereOnTheSamePorts) {
  start();
  const auto before = daemon_.endpoint();
  Peer ann(daemon_.endpoint(), user_);
  for (int i = 0; i < 20; ++i)
    ASSERT_TRUE(
        ann.ask_for<SubmitReply>(Submit{std::to_string(i), small_job("job" + std::to_string(i))}));
  ASSERT_TRUE(ann.ask_for<Done>(CancelJob{JobId("job7")}));
  daemon_.signal(SIGKILL);
  start();
  EXPECT_EQ(daemon_.endpoint().control, before.control);
  EXPECT_EQ(daemon_.endpoint().public_key, before.public_key);
  // The same connection object: the socket dials again by itself.
  const auto listed = ann.ask_for<JobsReply>(ListJobs{});
  ASSERT_TRUE(listed) << daemon_.log();
  EXPECT_EQ(listed->jobs.size(), 20u);
  EXPECT_EQ(listed->jobs.front().spec.name, "job19") << "newest first";
  EXPECT_EQ(ann.ask_for<JobReply>(ShowJob{JobId("job7")})->job.status, JobStatus::canceled);
  EXPECT_EQ(ann.ask_for<SubmitReply>(Submit{"3", small_job("job3")})->job, JobId("job3"))
      << "a repeated submission is known after the restart too";
}

TEST_F(DaemonTest, TwoDaemonsOnOneHomeAreRefused) {
  start();
  const int first = daemon_.pid();
  const std::string command = std::string(LOCKSTEPD) + " --home " + daemon_.home().path() + " 2>&1";
  FILE* pipe = popen(command.c_str(), "r");
  std::string output(4096, '\0');
  output.resize(fread(output.data(), 1, output.size(), pipe));
  EXPECT_EQ(WEXITSTATUS(pclose(pipe)), 3);
  EXPECT_THAT(output, HasSubstr("another lockstepd (pid " + std::to_string(first) + ")"));
}

TEST_F(DaemonTest, ASignalEndsItCleanly) {
  start();
  daemon_.signal(SIGTERM);
  EXPECT_EQ(daemon_.exit_code(), 0) << daemon_.log();
}

TEST_F(DaemonTest, ShutdownIsRefusedWhileJobsRunAndGrantedWithCancel) {
  start();
  Peer ann(daemon_.endpoint(), user_);
  ASSERT_TRUE(ann.ask_for<SubmitReply>(Submit{"x", small_job("waiting")}));
  EXPECT_EQ(ann.ask_for<Refused>(Shutdown{false})->code, ErrorCode::conflict);
  ann.send(Shutdown{true});
  daemon_.signal(0);  // waits for its end
  EXPECT_EQ(daemon_.exit_code(), 0) << daemon_.log();
}

TEST_F(DaemonTest, OnlyAnAdminEndsIt) {
  start();
  Peer bob(daemon_.endpoint(), test::authorized_user(daemon_, "bob"));
  EXPECT_EQ(bob.ask_for<Refused>(Shutdown{true})->code, ErrorCode::permission_denied);
  EXPECT_TRUE(bob.ask_for<StatusReply>(GetStatus{})) << "it is still there";
}

mode_t mode_of(const std::string& path) {
  struct stat info {};
  EXPECT_EQ(::stat(path.c_str(), &info), 0) << path;
  return info.st_mode & 07777;
}

TEST_F(DaemonTest, AHomeThatOthersCouldReadIsMended) {
  start();
  daemon_.signal(SIGTERM);
  const std::string home = daemon_.home().path(), journal = daemon_.home().journal();
  ASSERT_EQ(::chmod(home.c_str(), 0755), 0);
  ASSERT_EQ(::chmod(journal.c_str(), 0644), 0);
  start();
  EXPECT_EQ(mode_of(home), 0700u);
  for (const char* suffix : {"", "-wal", "-shm"})
    EXPECT_EQ(mode_of(journal + suffix), 0600u) << suffix;
  EXPECT_THAT(daemon_.log(),
              HasSubstr("changed the mode of the home " + home + " from 0755 to 0700"));
}

TEST_F(DaemonTest, AHomeThatOthersMayWriteToIsRefused) {
  start();
  daemon_.signal(SIGTERM);
  ASSERT_EQ(::chmod(daemon_.home().path().c_str(), 0770), 0);
  EXPECT_FALSE(daemon_.start());
  EXPECT_EQ(daemon_.exit_code(), 4);
  EXPECT_THAT(daemon_.log(), HasSubstr("chmod 0700 " + daemon_.home().path()));
}

TEST_F(DaemonTest, ADamagedJournalIsRefusedByName) {
  start();
  daemon_.signal(SIGTERM);
  ASSERT_TRUE(io::write_file_atomically(daemon_.home().journal(), std::string(8'192, 'x')));
  EXPECT_FALSE(daemon_.start());
  EXPECT_EQ(daemon_.exit_code(), 4);
  EXPECT_THAT(daemon_.log(), HasSubstr(daemon_.home().journal()));
}

// An empty launcher would remove all logs, as of jobs that were deleted.
TEST_F(DaemonTest, ALostJournalIsNotBegunAnewAndNothingIsRemoved) {
  start();
  Peer ann(daemon_.endpoint(), user_);
  ASSERT_TRUE(ann.ask_for<SubmitReply>(Submit{"kept", small_job("kept")}));
  daemon_.signal(SIGKILL);
  const std::string journal = daemon_.home().journal(), log = daemon_.home().logs() + "/kept/1";
  ASSERT_TRUE(io::make_directories(log));
  for (const char* end : {"-wal", ""}) {
    SCOPED_TRACE(end);
    ASSERT_EQ(rename((journal + end).c_str(), (journal + end + ".away").c_str()), 0);
    EXPECT_FALSE(daemon_.start());
    EXPECT_EQ(daemon_.exit_code(), 4);
    EXPECT_THAT(daemon_.log(), HasSubstr(journal + end));
    EXPECT_THAT(daemon_.log(), HasSubstr("restore a backup"));
    EXPECT_TRUE(io::exists(log));
    ASSERT_EQ(rename((journal + end + ".away").c_str(), (journal + end).c_str()), 0);
  }
  start();
  EXPECT_TRUE(ann.ask_for<JobReply>(ShowJob{JobId("kept")})) << daemon_.log();
}

TEST_F(DaemonTest, LogsThatNoDeletionExplainsAreKeptAndSaid) {
  start();
  Peer ann(daemon_.endpoint(), user_);
  ASSERT_TRUE(ann.ask_for<SubmitReply>(Submit{"gone", small_job("gone")}));
  ASSERT_TRUE(ann.ask_for<Done>(CancelJob{JobId("gone")}));
  DeleteJobs request;
  request.jobs = {JobId("gone")};
  ASSERT_TRUE(ann.ask(request));
  daemon_.signal(SIGTERM);
  const std::string logs = daemon_.home().logs();
  ASSERT_TRUE(io::make_directories(logs + "/gone/1") && io::make_directories(logs + "/ghost/1"));
  start();
  EXPECT_TRUE(ann.wait([&] { return !io::exists(logs + "/gone"); })) << daemon_.log();
  EXPECT_TRUE(io::exists(logs + "/ghost/1"));
  EXPECT_THAT(daemon_.log(),
              HasSubstr("removing the logs that deleted jobs left in " + logs + ": gone/1"));
  EXPECT_THAT(daemon_.log(), HasSubstr("these logs are kept: ghost/1;"));
}

TEST_F(DaemonTest, AFailedCommitAnswersNothingAndEndsWithItsOwnCode) {
  start();
  Peer ann(daemon_.endpoint(), user_);
  ASSERT_TRUE(ann.ask_for<SubmitReply>(Submit{"kept", small_job("kept")}));
  const rlimit none{0, 0};  // no file may grow, its own log included
  ASSERT_EQ(prlimit(daemon_.pid(), RLIMIT_FSIZE, &none, nullptr), 0);
  ann.send(Submit{"lost", small_job("lost")});
  daemon_.signal(0);  // waits for its end
  EXPECT_EQ(daemon_.exit_code(), 6) << daemon_.log();
  start();
  const auto jobs = ann.ask_for<JobsReply>(ListJobs{});
  ASSERT_TRUE(jobs) << daemon_.log();
  ASSERT_EQ(jobs->jobs.size(), 1u);
  EXPECT_EQ(jobs->jobs[0].spec.name, "kept");
}

TEST_F(DaemonTest, SecretsAreForTheOwnerOnly) {
  start();
  for (const auto& path : {daemon_.home().endpoint(), daemon_.home().launcher_key()}) {
    struct stat info {};
    ASSERT_EQ(stat(path.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0600u) << path;
  }
}

TEST_F(DaemonTest, AtRestItIsSmall) {
#ifdef LOCKSTEP_SANITIZED
  GTEST_SKIP() << "sanitizers take memory of their own";
#endif
  start();
  Peer ann(daemon_.endpoint(), user_);
  ASSERT_TRUE(ann.ask_for<StatusReply>(GetStatus{}));
  EXPECT_LT(status_kb("VmRSS:"), 30u * 1024);
}

TEST_F(DaemonTest, WithoutNodesNothingWakesIt) {
  start();
  Peer ann(daemon_.endpoint(), user_);
  ASSERT_TRUE(ann.ask_for<StatusReply>(GetStatus{}));
  const auto before = status_kb("\nvoluntary_ctxt_switches:");
  ASSERT_FALSE(ann.wait([] { return false; }, milliseconds(1'500)));
  EXPECT_LE(status_kb("\nvoluntary_ctxt_switches:") - before, 10u);
}

}  // namespace
}  // namespace lockstep
