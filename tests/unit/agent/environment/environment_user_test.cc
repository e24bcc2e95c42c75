// What lockstep-env is started with: which user, which variables, which descriptors.

#include <pwd.h>
#include <sys/stat.h>

#include "envs/env_process.h"
#include "tests/unit/agent/environment/environment_support.h"

namespace lockstep::agent {
namespace {

using testing::HasSubstr;
using testing::Not;

io::User me() { return *io::current_user(); }

// A program in the place of lockstep-env, which all users may run.
std::string program(const TempDir& dir, const std::string& script) {
  dir.file("program", "#!/bin/sh\n" + script, 0755);
  EXPECT_EQ(::chmod(dir.path().c_str(), 0755), 0);
  return dir / "program";
}

struct Ran {
  std::string log;
  Result<envs::Event> said = make_error(ErrorCode::internal, "");
};

Ran run(
    const std::string& program, const io::User& user,
    std::function<bool()> go_on = [] { return true; }) {
  Ran ran;
  envs::EnvironmentOrder order{program, user, {{"PATH", "/usr/bin:/bin"}, {"WORD", "a b"}}, {}};
  order.order.definition = HostEnvironment{};
  order.on_log = [&](std::string_view bytes) { ran.log += bytes; };
  order.go_on = std::move(go_on);
  ran.said = envs::run_lockstep_env(order);
  return ran;
}

TEST(EnvProcess, ItsEnvironmentIsTheOneThatIsGivenAndItsOrderIsItsInput) {
  TempDir dir;
  const Ran got = run(
      program(dir,
              "echo \"[$WORD] [$HOME]\"; cat; ls /proc/self/fd; echo '{\"progress\": \"p\"}' >&3\n"
              "echo '{\"failed\": {\"code\": \"not_found\", \"message\": \"m\"}}' >&3\n"),
      me());
  EXPECT_THAT(got.log, HasSubstr("[a b] []\n"));
  EXPECT_THAT(got.log, HasSubstr("\"provider\":\"host\""));
  ASSERT_FALSE(got.said);
  EXPECT_EQ(got.said.error().message, "m");
}

TEST(EnvProcess, AnErrorOfAnyLengthIsInTheLogAndItsTwoEndsAreTold) {
  TempDir dir;
  const Ran got =
      run(program(dir,
                  "middle=$(head -c 400000 /dev/zero | tr '\\0' x)\n"
                  "echo '{\"failed\": {\"code\": \"unsupported\", \"message\": \"first '"
                  "$middle' last\"}}' >&3\n"),
          me());
  ASSERT_FALSE(got.said);
  EXPECT_EQ(got.said.error().code, ErrorCode::unsupported);
  EXPECT_LE(got.said.error().message.size(), envs::kMaxErrorBytes);
  EXPECT_THAT(got.said.error().message, HasSubstr("first xxx"));
  EXPECT_THAT(got.said.error().message, HasSubstr("xxx last"));
  EXPECT_EQ(got.log, "first " + std::string(400'000, 'x') + " last\n");
}

TEST(EnvProcess, NothingThatItStartedOutlivesIt) {
  TempDir dir;
  const Ran got = run(program(dir, "sleep 1000 & echo $!\n"), me());
  EXPECT_FALSE(got.said);
  const auto left = io::identify(std::stoi(got.log));
  EXPECT_FALSE(left && io::is_alive(*left));
}

TEST(EnvProcess, WhatDoesNotHeedTheEndIsKilled) {
  TempDir dir;
  io::SystemClock clock;
  const Instant began = clock.now();
  const Ran got =
      run(program(dir, "trap '' TERM; while :; do sleep 0.1; done\n"), me(), [] { return false; });
  EXPECT_EQ(got.said.error().code, ErrorCode::conflict);
  EXPECT_GT(clock.now() - began, seconds(4));
  EXPECT_LT(clock.now() - began, seconds(30));
}

TEST(EnvProcess, WhatIsNoEventEndsIt) {
  TempDir dir;
  const Ran got = run(program(dir, "echo nonsense >&3; sleep 1000\n"), me());
  ASSERT_FALSE(got.said);
  EXPECT_THAT(got.said.error().message, HasSubstr("an invalid event"));
}

TEST(EnvProcess, AProgramThatIsNotThereIsSaid) {
  const Ran got = run("/nope/lockstep-env", me());
  ASSERT_FALSE(got.said);
  EXPECT_THAT(got.said.error().message, HasSubstr("could not run /nope/lockstep-env"));
  EXPECT_THAT(got.log, HasSubstr("No such file"));
}

TEST(EnvProcess, ToolsSeeWhatTheyNeedOfOurEnvironmentAndNoMore) {
  const std::map<std::string, std::string> ours{
      {"PATH", "/opt/bin"},   {"HOME", "/root"},       {"LC_ALL", "C"},
      {"PIP_INDEX_URL", "u"}, {"UV_INDEX", "v"},       {"https_proxy", "p"},
      {"NO_PROXY", "q"},      {"SSL_CERT_FILE", "c"},  {"SECRET", "s"},
      {"PYTHONPATH", "x"},    {"LD_PRELOAD", "y"},     {"REQUESTS_CA_BUNDLE", "r"},
      {"TMPDIR", "/t"},       {"VIRTUAL_ENV", "/venv"}};
  io::User user;
  user.name = "ada";
  user.home = "/home/ada";
  const std::map<std::string, std::string> expected{{"PATH", "/opt/bin"},
                                                    {"HOME", "/home/ada"},
                                                    {"USER", "ada"},
                                                    {"LOGNAME", "ada"},
                                                    {"LC_ALL", "C"},
                                                    {"PIP_INDEX_URL", "u"},
                                                    {"UV_INDEX", "v"},
                                                    {"https_proxy", "p"},
                                                    {"NO_PROXY", "q"},
                                                    {"SSL_CERT_FILE", "c"},
                                                    {"REQUESTS_CA_BUNDLE", "r"},
                                                    {"TMPDIR", "/scratch"}};
  EXPECT_EQ(envs::tool_environment(ours, user, "/scratch"), expected);
}

// The node's tests run as root where users can be told apart at all.
class OtherUser : public EnvironmentTest {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can run as others";
    EnvironmentTest::SetUp();
    ASSERT_EQ(::chmod(dir.path().c_str(), 0755), 0);
  }
};

TEST_F(OtherUser, ItRunsAsTheUserAlone) {
  TempDir program_dir;
  const io::User nobody = *io::find_user("nobody");
  const Ran got = run(
      program(program_dir, "id -u; id -g; id -G; cat /proc/self/status | grep -E '^(Uid|Gid)'\n"),
      nobody);
  EXPECT_THAT(got.log, testing::StartsWith("65534\n65534\n65534\n")) << got.log;
  EXPECT_THAT(got.log, Not(HasSubstr("\t0")));
}

TEST_F(OtherUser, AnEnvironmentBelongsToItsUserAndOthersHaveTheirOwn) {
  Keeping node(dir / "home", locks);
  Assignment theirs = node.staged("theirs", HostEnvironment{"/usr/bin/python3"});
  theirs.spec.run_as = "nobody";
  const auto& said = node.prepare(theirs);
  ASSERT_TRUE(said.is_ready()) << node.log_of(theirs);
  const std::string folder = node.activation_of(theirs).path.front();
  struct stat info {};
  ASSERT_EQ(::stat(folder.c_str(), &info), 0);
  EXPECT_EQ(info.st_uid, 65534U);
  const std::string prefix = folder.substr(0, folder.rfind('/'));
  ASSERT_EQ(::stat(prefix.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0700U);
  // What decides that it is ready is not the user's.
  const std::string entry = prefix.substr(0, prefix.rfind('/'));
  ASSERT_EQ(::stat(entry.c_str(), &info), 0);
  EXPECT_EQ(info.st_uid, 0U);
  EXPECT_EQ(info.st_mode & 07777, 0711U);

  const Assignment ours = node.staged("ours", HostEnvironment{"/usr/bin/python3"});
  ASSERT_TRUE(node.prepare(ours).is_ready());
  EXPECT_THAT(node.said[ours.attempt].reports.back().how, testing::StartsWith("built in"));
  EXPECT_NE(node.activation_of(ours).path.front(), folder);
}

}  // namespace
}  // namespace lockstep::agent
