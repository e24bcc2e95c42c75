// Names and versions of environments, and what people see of those that jobs have.

#include "tests/unit/launcher/core/launcher_fixture.h"

namespace lockstep::launcher {
namespace {

RegisteredEnvironment named(std::string version, std::string interpreter) {
  return {{"tools", std::move(version), HostEnvironment{std::move(interpreter)}}, "", {}};
}

std::string create(TestLauncher& launcher, RegisteredEnvironment environment) {
  launcher.send(
      CreateEnvironmentInput{launcher.next_reply(), std::move(environment), "", UserCaller{"ada"}});
  const auto refused = launcher.take<ReplyRefused>();
  if (!refused.empty()) return refused.front().message;
  return launcher.expect_one<ReplyEnvironment>().version;
}

TEST(EnvironmentNames, AVersionIsCountedWhereNoneIsGiven) {
  TestLauncher launcher;
  EXPECT_EQ(create(launcher, named("", "a")), "1");
  EXPECT_EQ(create(launcher, named("", "b")), "2");
  EXPECT_EQ(create(launcher, named("7", "c")), "7");
  EXPECT_EQ(create(launcher, named("beta", "d")), "beta");
  EXPECT_EQ(create(launcher, named("", "e")), "8");
}

TEST(EnvironmentNames, TheNewestAgainIsItself) {
  TestLauncher launcher;
  EXPECT_EQ(create(launcher, named("", "a")), "1");
  EXPECT_EQ(create(launcher, named("", "a")), "1");
  EXPECT_EQ(launcher.facts<EnvironmentRegistered>().size(), 1U);
  EXPECT_EQ(create(launcher, named("", "b")), "2");
  EXPECT_EQ(create(launcher, named("", "a")), "3") << "what is older was replaced on purpose";
}

TEST(EnvironmentNames, AVersionNeverChanges) {
  TestLauncher launcher;
  EXPECT_EQ(create(launcher, named("1", "a")), "1");
  EXPECT_EQ(create(launcher, named("1", "a")), "1");
  EXPECT_EQ(create(launcher, named("1", "b")),
            "environment tools:1 already exists with another definition, and a version cannot be "
            "changed; choose another version, or leave the version out to get the next one");
  EXPECT_EQ(launcher.facts<EnvironmentRegistered>().size(), 1U);
}

// ---- archive and texts --------------------------------------------------------------------------

std::string archive_tools(TestLauncher& launcher, const std::string& version, bool archived = true,
                          const std::string& user = "ada") {
  launcher.send(ArchiveEnvironmentInput{
      launcher.next_reply(), {"tools", version, archived}, UserCaller{user}});
  const auto refused = launcher.take<ReplyRefused>();
  if (!refused.empty()) return refused.front().message;
  return launcher.expect_one<ReplyDone>().message;
}

std::string newest_tools(const TestLauncher& launcher) {
  const EnvironmentVersion* found = launcher.core->state().registered("tools", "");
  return found == nullptr ? "none" : found->environment.spec.version;
}

TEST(EnvironmentNames, AnArchivedVersionIsNotTheLatest) {
  TestLauncher launcher;
  create(launcher, named("", "a"));
  create(launcher, named("", "b"));
  EXPECT_EQ(archive_tools(launcher, "2"),
            "environment tools:2: archived; jobs that name a version still get it");
  EXPECT_EQ(newest_tools(launcher), "1");
  EXPECT_NE(launcher.core->state().registered("tools", "2"), nullptr) << "a job that names it";
  EXPECT_EQ(archive_tools(launcher, "2"), "environment tools:2: already archived");
  EXPECT_THAT(archive_tools(launcher, "9"), ::testing::HasSubstr("has no version '9'"));
  EXPECT_EQ(create(launcher, named("", "b")), "3") << "what is archived is not given out again";
  EXPECT_THAT(archive_tools(launcher, ""),
              ::testing::HasSubstr("all versions of environment tools: archived"));
  EXPECT_EQ(newest_tools(launcher), "none");
  EXPECT_EQ(archive_tools(launcher, "", false), "all versions of environment tools: restored");
  EXPECT_EQ(newest_tools(launcher), "3");
}

TEST(EnvironmentNames, TextsOfAVersionChangeLater) {
  TestLauncher launcher;
  create(launcher, named("", "a"));
  AnnotateVersion ask{NameKind::environment, "tools", "1"};
  ask.description = "for tests";
  ask.set_tags["team"] = "vision";
  launcher.send(AnnotateVersionInput{launcher.next_reply(), ask, UserCaller{"ada"}});
  EXPECT_EQ(launcher.expect_one<ReplyDone>().message, "environment tools:1 is updated");
  const auto& known = launcher.core->state().registered("tools", "1")->environment;
  EXPECT_EQ(known.description, "for tests");
  EXPECT_EQ(known.tags.at("team"), "vision");
  EXPECT_EQ(create(launcher, named("", "a")), "1") << "its definition is the same";
}

// ---- projects ----------------------------------------------------------------------------------

std::string create_as(TestLauncher& launcher, const std::string& user, const std::string& name,
                      const std::string& project = "") {
  RegisteredEnvironment environment = named("", user);
  environment.spec.name = name;
  launcher.send(
      CreateEnvironmentInput{launcher.next_reply(), environment, project, UserCaller{user}});
  const auto refused = launcher.take<ReplyRefused>();
  if (!refused.empty()) return refused.front().message;
  return launcher.expect_one<ReplyEnvironment>().version;
}

struct EnvironmentProjects : ::testing::Test {
  TestLauncher launcher;
  EnvironmentProjects() {
    ask(CreateProject{"vision"});
    ask(CreateProject{"speech"});
    ask(AddUser{"alice", "", {}, {Role::submitter, "default"}});
    ask(AddUser{"bob", "", {}, {Role::submitter, "default"}});
    ask(AddUser{"eve", "", {}, {Role::submitter, "vision"}});
    ask(AddUser{"both", "", {}, {Role::submitter, "vision"}});
    ask(ChangeRole{"both", {Role::submitter, "speech"}, false});
  }
  void ask(PrincipalInput::Ask ask) {
    launcher.send(PrincipalInput{launcher.next_reply(), std::move(ask)});
    launcher.expect_one<ReplyDone>();
  }
  std::string project_of(const std::string& name) {
    return launcher.core->state().registered(name, "")->project;
  }
};

TEST_F(EnvironmentProjects, OnlyItsOwnerAddsVersionsToAName) {
  EXPECT_EQ(create_as(launcher, "alice", "tools"), "1");
  EXPECT_EQ(create_as(launcher, "bob", "tools"),
            "user 'bob' may not add versions to this name: it belongs to user 'alice' (project "
            "default); alice or an admin may allow it with `lockstep environment share tools "
            "--with bob`");
  EXPECT_EQ(create_as(launcher, "alice", "tools"), "1") << "the same again";
  EXPECT_EQ(launcher.core->state().registered("tools", "")->by, "alice");
  EXPECT_EQ(project_of("tools"), "default");
}

TEST_F(EnvironmentProjects, ANewNameIsOfTheOnlyProjectThatOneSubmitsInto) {
  EXPECT_EQ(create_as(launcher, "eve", "eyes"), "1");
  EXPECT_EQ(project_of("eyes"), "vision");
  EXPECT_THAT(create_as(launcher, "both", "ears"),
              testing::HasSubstr("may not create environments, data or models in project default"));
  EXPECT_EQ(create_as(launcher, "both", "ears", "speech"), "1");
  EXPECT_EQ(project_of("ears"), "speech");
  EXPECT_EQ(create_as(launcher, "ada", "of-an-admin"), "1");
  EXPECT_EQ(project_of("of-an-admin"), "default");
}

TEST_F(EnvironmentProjects, OfAHiddenNameOneLearnsOnlyThatItIsTaken) {
  EXPECT_EQ(create_as(launcher, "alice", "tools"), "1");
  const std::string why = create_as(launcher, "eve", "tools");
  EXPECT_THAT(why, testing::HasSubstr("the name 'tools' is taken"));
  for (const char* hidden : {"alice", "default"})
    EXPECT_EQ(why.find(hidden), std::string::npos) << why;
  EXPECT_EQ(launcher.facts<EnvironmentRegistered>().size(), 1U);
}

TEST_F(EnvironmentProjects, ANameStaysInItsProjectAndAProjectMustBeThere) {
  EXPECT_EQ(create_as(launcher, "ada", "tools", "vision"), "1");
  EXPECT_THAT(create_as(launcher, "ada", "tools", "speech"),
              testing::HasSubstr("belongs to project vision and cannot move to another one"));
  EXPECT_THAT(create_as(launcher, "eve", "tools"), testing::HasSubstr("belongs to user 'ada'"));
  EXPECT_THAT(create_as(launcher, "ada", "other", "nowhere"),
              testing::HasSubstr("there is no project 'nowhere'"));
  EXPECT_THAT(create_as(launcher, "eve", "other", "speech"),
              testing::HasSubstr("may not create environments, data or models in project speech"));
}

TEST(EnvironmentViews, APartShowsWhatItAskedForAndThenWhatItHas) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  JobSpec spec = job_spec("job");
  spec.environment = EnvironmentSpec{"tools", "1", VenvEnvironment{"python3", {}, {"six"}, {}}};
  const JobId job = launcher.submit(spec);
  const auto shown = [&] { return launcher.view(job).attempts.at(0).parts.at(0).environment; };
  EXPECT_EQ(shown(), std::nullopt);

  PartReport staging = report(attempt(job), PartState::staging);
  launcher.observe(n1, staging);
  launcher.drop_notices();
  staging.environment = EnvironmentReport{};
  staging.environment->platform = "linux-x86_64-python3.11";
  launcher.observe(n1, staging);
  launcher.drop_notices();
  ASSERT_TRUE(shown());
  EXPECT_EQ(shown()->step, EnvironmentReport::Step::wants_lock);
  EXPECT_EQ(shown()->platform, "linux-x86_64-python3.11");

  PartReport running = report(attempt(job), PartState::running);
  running.environment = EnvironmentReport{EnvironmentReport::Step::ready,
                                          0,
                                          "linux-x86_64-python3.11",
                                          sha256("lock"),
                                          sha256("key"),
                                          "built in 12.3 s"};
  launcher.observe(n1, running);
  launcher.drop_notices();
  EXPECT_EQ(shown(), running.environment);

  PartReport end = running;
  end.state = PartState::finished;
  end.exit = node_exit({rank_exit(0)});
  launcher.observe(n1, end);
  launcher.drop_notices();
  EXPECT_EQ(shown(), running.environment) << "kept, for who asks later";
}

}  // namespace
}  // namespace lockstep::launcher
