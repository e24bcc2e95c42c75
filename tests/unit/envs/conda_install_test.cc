// Packages that are not what they should be, once they are in the cache.

#include <signal.h>

#include <algorithm>
#include <cerrno>

#include "common/base/digest.h"
#include "common/io/file_system.h"
#include "tests/unit/envs/conda_fixture.h"
#include "tests/unit/envs/http_server.h"

namespace lockstep::envs {
namespace {

using testing::HasSubstr;
using testing::Not;

class CondaInstall : public CondaTest {
 protected:
  Told installed(const std::string& packages, std::vector<std::string> names) {
    channel("channel", packages);
    const CondaEnvironment definition = asks_for(std::move(names));
    const Told told = solve(definition);
    EXPECT_TRUE(told.last().lock) << told.log;
    return build(definition, told.last().lock.value_or(Lock{}), site("env"));
  }
};

TEST_F(CondaInstall, FailsWithAPostLinkScriptAndNamesItsPackage) {
  const Told told = installed(R"([{"name": "alpha", "version": "1", "files": {"share/a": "a"}},
      {"name": "beta", "version": "1", "depends": ["alpha"], "files": {"bin/.beta-post-link.sh":
       "#!/bin/sh\necho no licence here > $PREFIX/.messages.txt\nexit 3\n"}}])",
                              {"beta"});
  expect_failure(told, ErrorCode::invalid_argument,
                 "the post-link script of beta failed: no licence here");
  EXPECT_THAT(told.log, HasSubstr("beta: no licence here"));
}

TEST_F(CondaInstall, FailsWithWhatAScriptPrintedThatLeftNoMessage) {
  const Told told = installed(R"([{"name": "beta", "version": "1",
      "files": {"bin/.beta-post-link.sh": "#!/bin/sh\necho no disk >&2\nexit 3\n"}}])",
                              {"beta"});
  expect_failure(told, ErrorCode::invalid_argument, "the post-link script of beta failed: no disk");
}

TEST_F(CondaInstall, RunsPostLinkScriptsInAnEnvironmentWithWhatTheirPackagesNeed) {
  const Told told = installed(R"([
      {"name": "zeta", "version": "1", "activate": "export OF_ZETA=it",
       "files": {"bin/.zeta-post-link.sh": "echo $PKG_NAME >> $PREFIX/order"}},
      {"name": "alpha", "version": "2.5", "build_number": 7, "depends": ["zeta"], "files": {
       "bin/.alpha-post-link.sh":
       "echo $PKG_NAME $PKG_VERSION $PKG_BUILDNUM $OF_ZETA ${PATH%%:*} $CONDA_PREFIX >> $PREFIX/order"}}])",
                              {"alpha"});
  ASSERT_TRUE(told.last().activation) << told.all();
  const std::string prefix = dir / "env";
  EXPECT_EQ(dir.read("env/order"), "zeta\nalpha 2.5 7 it " + prefix + "/bin " + prefix + "\n");
}

TEST_F(CondaInstall, DoesNotWaitForWhatAScriptLeftInTheBackground) {
  const Told told = installed(R"([{"name": "beta", "version": "1", "files": {
      "bin/.beta-post-link.sh": "sleep 3600 &\necho $! > $PREFIX/pid\n"}}])",
                              {"beta"});
  ASSERT_TRUE(told.last().activation) << told.all();
  EXPECT_EQ(::kill(std::stoi(dir.read("env/pid")), 0), -1);
  EXPECT_EQ(errno, ESRCH);
}

TEST_F(CondaInstall, HoldsNoOtherBuildWhileAScriptRuns) {
  channel("channel", R"([{"name": "alpha", "version": "1", "files": {"share/a": "a"}},
      {"name": "slow", "version": "1", "files": {"bin/.slow-post-link.sh":
       "for i in $(seq 600); do [ -e $PREFIX/go ] && exit 0; sleep 0.1; done; exit 3\n"}}])");
  const auto locked = [&](const char* name) { return *solve(asks_for({name})).last().lock; };
  const Lock slow = locked("slow"), alpha = locked("alpha");
  Program waiting({Order::What::build, asks_for({"slow"}), slow, site("slow")}, more);
  ASSERT_TRUE(comes_true(
      [&] { return waiting.log().find("the post-link script of slow") != std::string::npos; }));
  const Told built = build(asks_for({"alpha"}), alpha, site("alpha"));
  ASSERT_TRUE(built.last().activation) << built.all();
  dir.file("slow/go", "");
  const Told late = waiting.wait();
  EXPECT_TRUE(late.last().activation) << late.all();
}

TEST_F(CondaInstall, ThatWaitsForAnotherBuildToLinkSaysSo) {
  channel("channel", R"([{"name": "alpha", "version": "1", "files": {"share/a": "a"}}])");
  const Lock lock = *solve(asks_for({"alpha"})).last().lock;
  auto other = io::FileLock::try_acquire(dir / "cache/conda/linking.lock");
  ASSERT_TRUE(other && *other);
  Program waiting({Order::What::build, asks_for({"alpha"}), lock, site("alpha")}, more);
  ASSERT_TRUE(comes_true(
      [&] { return waiting.log().find("waiting: another build links") != std::string::npos; }));
  other->reset();
  const Told late = waiting.wait();
  ASSERT_TRUE(late.last().activation) << late.all();
  const auto tells = [](const Event& event) {
    return event.progress == "waiting: another build links";
  };
  EXPECT_TRUE(std::any_of(late.events.begin(), late.events.end(), tells)) << late.log;
}

TEST_F(CondaInstall, TakesWhatAScriptLeavesForPeopleFromAFileAlone) {
  dir.file("private", "s3cr3t\n");
  const Told told = installed(R"([
      {"name": "alpha", "version": "1", "files": {"bin/.alpha-post-link.sh":
       "mkdir $PREFIX/.messages.txt\n"}},
      {"name": "beta", "version": "1", "depends": ["alpha"], "files": {"bin/.beta-post-link.sh":
       "ln -s )" + (dir / "private") +
                                  R"( $PREFIX/.messages.txt\n"}},
      {"name": "gamma", "version": "1", "depends": ["beta"], "files": {"bin/.gamma-post-link.sh":
       "head -c 1000000 /dev/zero | tr '\\0' x > $PREFIX/.messages.txt\nkill -SEGV $$\n"}}])",
                              {"gamma"});
  expect_failure(told, ErrorCode::invalid_argument, "the post-link script of gamma failed: xxx");
  EXPECT_LT(told.last().failed->message.size(), 1'000U);
  EXPECT_LT(told.log.size(), 10'000U);
  EXPECT_THAT(told.log, Not(HasSubstr("s3cr3t")));
}

TEST_F(CondaInstall, NamesTheSignalThatEndedAScript) {
  const Told told = installed(R"([{"name": "beta", "version": "1",
      "files": {"bin/.beta-post-link.sh": "kill -SEGV $$\n"}}])",
                              {"beta"});
  expect_failure(told, ErrorCode::invalid_argument,
                 "the post-link script of beta failed: it was killed by SIGSEGV");
}

TEST_F(CondaInstall, ThatAScriptRemovesIsAnErrorWithoutAStackTrace) {
  const Told told = installed(R"([{"name": "beta", "version": "1",
      "files": {"bin/.beta-post-link.sh": "rm -rf $PREFIX\n"}}])",
                              {"beta"});
  ASSERT_TRUE(told.last().failed) << told.log;
  EXPECT_THAT(told.log + told.last().failed->message, HasSubstr("No such file or directory"));
  EXPECT_THAT(told.log + told.last().failed->message, Not(HasSubstr("Traceback")));
}

TEST_F(CondaInstall, ShowsWhatAPostLinkScriptSaysToPeople) {
  const Told told = installed(R"([{"name": "beta", "version": "1", "files": {
      "bin/.beta-post-link.sh": "#!/bin/sh\necho remember to register > $PREFIX/.messages.txt\n"}}])",
                              {"beta"});
  ASSERT_TRUE(told.last().activation) << told.all();
  EXPECT_THAT(told.log, HasSubstr("beta: remember to register"));
}

TEST_F(CondaInstall, ThatPanicsIsOneErrorThatNamesThePackage) {
  const Told told = installed(R"([{"name": "alpha", "version": "1", "files": {"share/a": "a"}},
      {"name": "beta", "version": "1", "files": {"/tmp/of-beta": "b"}}])",
                              {"beta"});
  expect_failure(told, ErrorCode::corrupt,
                 "py-rattler crashed while it linked beta: All inserted paths must be relative");
  EXPECT_THAT(told.last().failed->message, Not(HasSubstr("alpha")));
  EXPECT_THAT(told.log, Not(HasSubstr("rust_begin_unwind")));
}

TEST_F(CondaInstall, OfPackagesThatHaveTheSameFileSaysWhoseCounts) {
  const Told told = installed(R"([
      {"name": "alpha", "version": "1", "files": {"share/both": "a", "share/a": "a"}},
      {"name": "beta", "version": "1", "files": {"share/both": "b", "share/b": "b"}}])",
                              {"alpha", "beta"});
  ASSERT_TRUE(told.last().activation) << told.all();
  const std::string winner = dir.read("env/share/both") == "a" ? "alpha" : "beta";
  EXPECT_THAT(told.log, HasSubstr("both have share/both; that of " + winner + " is installed"));
}

TEST_F(CondaInstall, OfAFileInThePlaceOfAFolderSaysWhoseCounts) {
  const Told told = installed(R"([
      {"name": "alpha", "version": "1", "files": {"share/both": "a"}},
      {"name": "beta", "version": "1", "files": {"share/both/inner": "b"}}])",
                              {"alpha", "beta"});
  ASSERT_TRUE(told.last().activation) << told.all();
  EXPECT_EQ(dir.read("env/share/both"), "a");
  EXPECT_THAT(told.log, HasSubstr("beta and alpha both have share/both; that of alpha is"));
}

TEST_F(CondaInstall, OfAFileInThePlaceOfRecordsNamesItsPackage) {
  const Told told = installed(R"([{"name": "alpha", "version": "1", "files": {"share/a": "a"}},
      {"name": "beta", "version": "1", "files": {"conda-meta/zz.json": "not json"}}])",
                              {"alpha", "beta"});
  expect_failure(told, ErrorCode::corrupt, "the package beta contains conda-meta/zz.json");
}

TEST_F(CondaInstall, OfWhatIsNoArchiveIsCorrupt) {
  HttpServer server(dir.path());
  dir.file("channel/linux-64/alpha-1-0.conda", "text");
  const std::string url = server.url("channel/linux-64/alpha-1-0.conda");
  const std::string hash = sha256("text").hex();
  Lock lock;
  lock.provider = "conda";
  lock.platform = site("one").platform;
  lock.conda = {{"alpha", "1", "0", url, hash, 4,
                 R"({"name": "alpha", "version": "1", "build": "0", "build_number": 0,
                     "depends": [], "subdir": "linux-64", "channel": "http://127.0.0.1/channel/"})"}};
  expect_failure(build(asks_for({"alpha"}), lock, site("one")), ErrorCode::corrupt,
                 url + " cannot be unpacked: ");
}

}  // namespace
}  // namespace lockstep::envs
