// Environments over a real lockstepd's sockets: who asks is who made it, and what a restart keeps.

#include <gmock/gmock.h>
#include <signal.h>

#include <fstream>

#include "common/snapshot/manifest.h"
#include "tests/unit/launcher/daemon/daemon_process.h"

namespace lockstep {
namespace {

using test::DaemonProcess;
using test::Peer;
using test::small_job;
using testing::HasSubstr;

RegisteredEnvironment tools(std::string version, std::string interpreter) {
  return {
      {"tools", std::move(version), HostEnvironment{std::move(interpreter)}}, "d", {{"a", "b"}}};
}

class DaemonEnvironments : public testing::Test {
 protected:
  void start() {
    ASSERT_TRUE(daemon_.start({"--allow-root"})) << daemon_.log();
    peer_.emplace(daemon_.endpoint(), user_);
  }
  DaemonProcess daemon_;
  io::KeyPair user_ = test::authorized_user(daemon_);
  std::optional<Peer> peer_;
};

TEST_F(DaemonEnvironments, OneIsMadeShownAndListedAndOutlivesARestart) {
  start();
  const auto made = peer_->ask_for<EnvironmentReply>(CreateEnvironment{tools("", "python3")});
  ASSERT_TRUE(made) << daemon_.log();
  EXPECT_EQ(made->environment.environment, tools("1", "python3"));
  EXPECT_EQ(made->environment.created_by, "ann") << "the key says who made it";
  EXPECT_NE(made->environment.created, Instant{});
  const auto again = peer_->ask_for<EnvironmentReply>(CreateEnvironment{tools("", "python3")});
  ASSERT_TRUE(again);
  EXPECT_EQ(again->environment, made->environment) << "asked twice, because the answer was lost";
  const auto next = peer_->ask_for<EnvironmentReply>(CreateEnvironment{tools("", "python4")});
  ASSERT_TRUE(next);
  EXPECT_EQ(next->environment.environment.spec.version, "2");
  const auto taken = peer_->ask_for<Refused>(CreateEnvironment{tools("1", "other")});
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->code, ErrorCode::already_exists);

  daemon_.signal(SIGKILL);
  start();
  const auto shown = peer_->ask_for<EnvironmentReply>(ShowEnvironment{"tools:1"});
  ASSERT_TRUE(shown);
  EXPECT_EQ(shown->environment, made->environment);
  const auto listed = peer_->ask_for<EnvironmentsReply>(ListEnvironments{"tools"});
  ASSERT_TRUE(listed);
  EXPECT_EQ(listed->environments.size(), 2U);
}

TEST_F(DaemonEnvironments, TheMapIsReadAnewForEachQuestion) {
  start();
  const std::string url = "azureml://registries/azureml/environments/e/labels/latest";
  const auto missing = peer_->ask_for<Refused>(ShowEnvironment{url});
  ASSERT_TRUE(missing);
  EXPECT_EQ(missing->code, ErrorCode::not_found);
  EXPECT_THAT(missing->message, HasSubstr(daemon_.home().environments_map()));
  std::ofstream(daemon_.home().environments_map()) << url << ": {interpreter: python3}\n";
  const auto found = peer_->ask_for<EnvironmentReply>(ShowEnvironment{url});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->environment.environment.spec.name, "e");
}

TEST_F(DaemonEnvironments, PruningIsTaken) {
  start();
  const auto pruned = peer_->ask_for<Done>(PruneEnvironments{minutes(5)});
  ASSERT_TRUE(pruned);
  EXPECT_THAT(pruned->message, HasSubstr("not used for 5m"));
}

TEST_F(DaemonEnvironments, AJobTakesItsDefinitionAlong) {
  start();
  JobSpec job = small_job("with");
  job.environment = EnvironmentSpec{"tools", "1", VenvEnvironment{"python3", {}, {"six"}, {}}};
  ASSERT_TRUE(peer_->ask_for<SubmitReply>(Submit{"once", job})) << daemon_.log();
  const auto view = peer_->ask_for<JobReply>(ShowJob{JobId("with")});
  ASSERT_TRUE(view);
  EXPECT_EQ(view->job.spec.environment, job.environment);
}

TEST_F(DaemonEnvironments, ABadOneIsRefusedAndTheNextGoodOneIsTaken) {
  start();
  RegisteredEnvironment bad = tools("1", "bin/python");
  const auto relative = peer_->ask_for<Refused>(CreateEnvironment{bad});
  ASSERT_TRUE(relative);
  EXPECT_THAT(relative->message, HasSubstr("'bin/python' is a relative path"));
  bad = tools("1", "python3");
  bad.spec.name = "../tools";
  EXPECT_TRUE(peer_->ask_for<Refused>(CreateEnvironment{bad}));
  bad.spec.name = "";
  EXPECT_TRUE(peer_->ask_for<Refused>(CreateEnvironment{bad}));
  EXPECT_TRUE(peer_->ask_for<EnvironmentReply>(CreateEnvironment{tools("1", "python3")}));
}

// ---- images that are built
// -----------------------------------------------------------------------

class DaemonBuilds : public DaemonEnvironments {
 protected:
  static DockerEnvironment built(const snapshot::Directory& context) {
    return {"", ImageBuild{sha256(encode(context)), "Dockerfile"}, {}};
  }
  void put(const std::string& blob) {
    peer_->send_bulk(PutBlobs{{{sha256(blob), blob.size(), 0, false, blob}}});
    ASSERT_TRUE(peer_->next_bulk<PutBlobsReply>()) << daemon_.log();
  }
  const std::string dockerfile_ = "FROM debian\n";
  const snapshot::Directory context_{{{"Dockerfile",
                                       snapshot::EntryKind::file,
                                       0644,
                                       dockerfile_.size(),
                                       sha256(dockerfile_),
                                       {}}}};
};

TEST_F(DaemonBuilds, AJobIsTakenWhenAllThatItsImageIsBuiltFromIsHere) {
  start();
  JobSpec job = small_job("built");
  job.environment = EnvironmentSpec{"", "", built(context_)};
  const auto submit = [&] { return peer_->ask_for<SubmitReply>(Submit{"once", job}); };
  auto reply = submit();
  ASSERT_TRUE(reply) << daemon_.log();
  EXPECT_TRUE(reply->snapshot_missing);
  put(encode(context_));
  EXPECT_TRUE(submit()->snapshot_missing) << "its Dockerfile is missing";
  put(dockerfile_);
  job.snapshot = sha256("no such tree");
  EXPECT_TRUE(submit()->snapshot_missing) << "its source is missing";
  job.snapshot.reset();
  reply = submit();
  ASSERT_TRUE(reply) << daemon_.log();
  EXPECT_FALSE(reply->snapshot_missing);
  JobSpec never = small_job("never");
  never.environment = EnvironmentSpec{"", "", DockerEnvironment{"", ImageBuild{}, {}}};
  EXPECT_TRUE(peer_->ask_for<SubmitReply>(Submit{"twice", never})->snapshot_missing);
}

TEST_F(DaemonBuilds, AnEnvironmentIsRegisteredWhenAllThatItIsBuiltFromIsHere) {
  start();
  RegisteredEnvironment environment;
  environment.spec = {"tools", "", built(context_)};
  const auto refused = peer_->ask_for<Refused>(CreateEnvironment{environment});
  ASSERT_TRUE(refused) << daemon_.log();
  EXPECT_EQ(refused->code, ErrorCode::not_found);
  EXPECT_THAT(refused->message, HasSubstr("does not have all files of the build folder"));
  put(encode(context_));
  put(dockerfile_);
  const auto made = peer_->ask_for<EnvironmentReply>(CreateEnvironment{environment});
  ASSERT_TRUE(made) << daemon_.log();
  EXPECT_EQ(made->environment.environment.spec.definition, environment.spec.definition);
  EXPECT_EQ(made->environment.created_by, "ann");
}

TEST_F(DaemonBuilds, WhoSeesANameMayRunWhatItIsBuiltFromAndNobodyElse) {
  const io::KeyPair bob = test::authorized_user(daemon_, "bob"), eve = io::generate_key_pair();
  start();
  ASSERT_TRUE(peer_->ask_for<Done>(ChangePrincipals{CreateProject{"vision"}})) << daemon_.log();
  ASSERT_TRUE(peer_->ask_for<Done>(
      ChangePrincipals{AddUser{"eve", "eve", eve.public_key, {Role::submitter, "vision"}}}))
      << daemon_.log();
  put(encode(context_));
  put(dockerfile_);
  RegisteredEnvironment environment;
  environment.spec = {"tools", "", built(context_)};
  ASSERT_TRUE(peer_->ask_for<EnvironmentReply>(CreateEnvironment{environment})) << daemon_.log();
  const auto submitted_by = [&](const io::KeyPair& key, const std::string& project) {
    JobSpec job = small_job("of-" + project);
    job.project = project;
    job.environment = EnvironmentSpec{"tools", "1", built(context_)};
    const auto reply = Peer(daemon_.endpoint(), key).ask_for<SubmitReply>(Submit{project, job});
    EXPECT_TRUE(reply) << daemon_.log();
    return reply && !reply->snapshot_missing;
  };
  EXPECT_TRUE(submitted_by(bob, "default"));
  EXPECT_FALSE(submitted_by(eve, "vision")) << "knowing its digest is no permission";
}

}  // namespace
}  // namespace lockstep
