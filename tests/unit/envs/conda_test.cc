#include <signal.h>
#include <sys/stat.h>

#include "common/io/programs/process_table.h"
#include "tests/unit/envs/conda_fixture.h"

namespace lockstep::envs {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::Pair;

constexpr const char* kTwo = R"([
  {"name": "alpha", "version": "1.0", "depends": ["beta >=1"],
   "files": {"bin/alpha": {"text": "#!/bin/sh\necho of @PREFIX@\n", "executable": true},
             "bin/.alpha-post-link.sh": "#!/bin/sh\necho yes > $PREFIX/linked\n"},
   "activate": "export ALPHA_HOME=$CONDA_PREFIX/alpha PATH=$CONDA_PREFIX/alpha/bin:$PATH\necho hello\nfalse\n",
   "env_vars": {"ALPHA_MODE": "it's $HOME"}},
  {"name": "beta", "version": "1.0", "format": ".tar.bz2", "noarch": "generic",
   "files": {"share/beta": "1.0\n"}},
  {"name": "beta", "version": "2.0", "noarch": "generic", "files": {"share/beta": "2.0\n"}}])";

TEST_F(CondaTest, PackagesThatNeedEachOtherAreSolvedInstalledAndActivated) {
  channel("channel", kTwo);
  CondaEnvironment asked = asks_for({"alpha"});
  asked.variables["MINE"] = "a 'b'";
  const Told solved = solve(asked);
  ASSERT_EQ(versions(solved), "alpha 1.0, beta 2.0") << solved.log;
  const Lock lock = *solved.last().lock;
  EXPECT_EQ(lock.provider, "conda");
  EXPECT_EQ(lock.platform, site("").platform);
  EXPECT_EQ(lock.solver, "py-rattler 0.28.0");
  EXPECT_THAT(solved.log, HasSubstr("fetching the index of file://" + (dir / "channel")));
  EXPECT_THAT(solved.log, HasSubstr("solved: 2 conda packages, 0 pip packages\n  alpha 1.0 0 "
                                    "(conda)\n  beta 2.0 0 (conda)\n"));

  // Another environment around the agent is not seen.
  more = {{"CONDA_PREFIX", "/opt/other"}, {"CONDA_SHLVL", "3"}, {"CONDA_DEFAULT_ENV", "other"}};
  const Told built = build(asked, lock, site("one"));
  ASSERT_TRUE(built.last().activation) << built.all();
  const Activation& got = *built.last().activation;
  const std::string prefix = dir / "one";
  EXPECT_EQ(got.interpreter, "");
  EXPECT_EQ(got.version, "");
  EXPECT_THAT(got.path, ElementsAre(prefix + "/alpha/bin", prefix + "/bin"));
  const std::map<std::string, std::string> expected{
      {"CONDA_PREFIX", prefix},          {"CONDA_DEFAULT_ENV", prefix}, {"CONDA_SHLVL", "1"},
      {"ALPHA_HOME", prefix + "/alpha"}, {"ALPHA_MODE", "it's $HOME"},  {"MINE", "a 'b'"},
      {"PYTHONNOUSERSITE", "1"}};
  EXPECT_EQ(got.variables, expected);
  EXPECT_THAT(built.log, HasSubstr("activation: alpha.sh\nhello\n"));
  EXPECT_EQ(dir.read("one/share/beta"), "2.0\n");
  EXPECT_EQ(dir.read("one/linked"), "yes\n");
  const auto meta = nlohmann::json::parse(dir.read("one/conda-meta/beta-2.0-0.json"));
  EXPECT_EQ(meta["url"], lock.conda[1].url);
  EXPECT_EQ(io::run_program({prefix + "/bin/alpha"}, seconds(30))->text, "of " + prefix + "\n");
  EXPECT_FALSE(io::exists(prefix + "/.lockstep"));
  const bool tells = std::any_of(built.events.begin(), built.events.end(), [](const Event& event) {
    return event.progress == "link 2/2 packages";
  });
  EXPECT_TRUE(tells) << built.log;
}

TEST_F(CondaTest, WhatWasFetchedIsInstalledWithoutItsChannel) {
  channel("channel", kTwo);
  const CondaEnvironment asked = asks_for({"alpha", "beta=1"});
  const Told solved = solve(asked);
  ASSERT_EQ(versions(solved), "alpha 1.0, beta 1.0") << solved.log;
  const Lock lock = *solved.last().lock;
  ASSERT_TRUE(build(asked, lock, site("one")).last().activation);
  ASSERT_TRUE(io::remove_tree(dir / "channel"));
  const Told again = build(asked, lock, site("two"));
  ASSERT_TRUE(again.last().activation) << again.all();
  EXPECT_EQ(dir.read("two/share/beta"), "1.0\n");
  // A node that has not, cannot.
  Site bare = site("three");
  bare.cache = dir / "other";
  dir.folder("other");
  dir.link(dir / "cache/tools", "other/tools");
  expect_failure(build(asked, lock, bare), ErrorCode::not_found, "there is no package file://");
}

TEST_F(CondaTest, APackageThatChangedSinceItWasLockedIsRefused) {
  channel("channel", kTwo);
  const CondaEnvironment asked = asks_for({"beta=1"});
  const Told solved = solve(asked);
  ASSERT_EQ(versions(solved), "beta 1.0") << solved.log;
  const Lock lock = *solved.last().lock;
  const auto now = channel("channel", R"([{"name": "beta", "version": "1.0",
    "format": ".tar.bz2", "noarch": "generic", "files": {"share/beta": "another\n"}}])");
  const Told built = build(asked, lock, site("one"));
  expect_failure(built, ErrorCode::corrupt, "noarch/beta-1.0-0.tar.bz2 is not the package");
  EXPECT_THAT(built.last().failed->message, HasSubstr(lock.conda[0].sha256));
  EXPECT_THAT(built.last().failed->message, HasSubstr(now[0]["sha256"].get<std::string>()));
  EXPECT_FALSE(io::exists(dir / "one/share/beta"));
}

TEST_F(CondaTest, AfterAFetchThatFailedAnOlderPackageIsNotTakenForIt) {
  channel("channel", kTwo);
  const CondaEnvironment asked = asks_for({"beta=1"});
  const Told solved = solve(asked);
  ASSERT_EQ(versions(solved), "beta 1.0") << solved.log;
  Lock lock = *solved.last().lock;
  ASSERT_TRUE(build(asked, lock, site("one")).last().activation);
  // Of that name, version and build, but another; its server is down.
  lock.conda[0].sha256 = std::string(64, 'a');
  lock.conda[0].url = "http://127.0.0.1:9/noarch/beta-1.0-0.tar.bz2";
  for (const char* name : {"two", "three"})
    expect_failure(build(asked, lock, site(name)), ErrorCode::unavailable,
                   lock.conda[0].url + " could not be fetched");
}

TEST_F(CondaTest, WhatCannotBeSolvedIsExplained) {
  channel("channel", R"([{"name": "alpha", "version": "1", "depends": ["beta >=3"]},
                         {"name": "beta", "version": "2"}])");
  const Told none = solve(asks_for({"alpha"}));
  expect_failure(none, ErrorCode::invalid_argument, "the environment cannot be solved");
  EXPECT_THAT(none.last().failed->message, HasSubstr("beta >=3, for which no candidates"));
  expect_failure(solve(asks_for({"gamma"})), ErrorCode::invalid_argument, "gamma");
  expect_failure(solve(asks_for({"beta=>1"})), ErrorCode::invalid_argument, "'beta=>1' is no");
  expect_failure(solve(asks_for({"beta"}, {})), ErrorCode::invalid_argument,
                 "no conda channel is named");
}

TEST_F(CondaTest, ChannelsThatAreDownOrNotThereAreNamed) {
  channel("channel", kTwo);
  const Told down = solve(asks_for({"beta"}, {"channel", "http://ann:s3cr3t@127.0.0.1:9/down"}));
  expect_failure(down, ErrorCode::unavailable, "127.0.0.1:9/down/ was not reached");
  EXPECT_THAT(down.last().failed->message + down.log, Not(HasSubstr("s3cr3t")));
  expect_failure(solve(asks_for({"beta"}, {"channel", "gone"})), ErrorCode::not_found,
                 "there is no conda channel file://" + (dir / "gone"));
  // Names are of the operator's mirror.
  CondaEnvironment named = asks_for({"beta"});
  named.channels = {"channel", "nodefaults"};
  more["CONDA_CHANNEL_ALIAS"] = "file://" + dir.path();
  EXPECT_EQ(versions(solve(named)), "beta 2.0");
}

TEST_F(CondaTest, TheLowestCLibraryOfTheNodesDecides) {
  channel("channel", R"([{"name": "old", "version": "1", "depends": ["__glibc >=2.17"]},
                         {"name": "new", "version": "1", "depends": ["__glibc >=2.38"]},
                         {"name": "gpu", "version": "1", "depends": ["__cuda >=12"]},
                         {"name": "any", "version": "1", "depends": ["__unix", "__linux"]}])");
  EXPECT_EQ(versions(solve(asks_for({"old", "any"}))), "any 1, old 1");
  expect_failure(solve(asks_for({"new"})), ErrorCode::invalid_argument, "__glibc >=2.38");
  EXPECT_EQ(versions(solve(asks_for({"new"}), site("solve", "__glibc=2.38"))), "new 1");
  expect_failure(solve(asks_for({"gpu"})), ErrorCode::invalid_argument, "__cuda >=12");
  EXPECT_EQ(versions(solve(asks_for({"gpu"}), site("solve", "__cuda=12.4 __glibc=2.36"))), "gpu 1");
}

TEST_F(CondaTest, TheFirstChannelThatHasItDecidesUnlessPriorityIsOff) {
  channel("one", R"([{"name": "alpha", "version": "1"}])");
  channel("two", R"([{"name": "alpha", "version": "2"}])");
  EXPECT_EQ(versions(solve(asks_for({"alpha"}, {"one", "two"}))), "alpha 1");
  EXPECT_EQ(versions(solve(asks_for({"alpha"}, {"two", "one"}))), "alpha 2");
  CondaEnvironment any = asks_for({"alpha"}, {"one", "two"});
  any.strict_priority = false;
  EXPECT_EQ(versions(solve(any)), "alpha 2");
  // A channel that only a package names.
  const std::string named = "file://" + (dir / "two") + "::alpha";
  EXPECT_EQ(versions(solve(asks_for({named}, {"one"}))), "alpha 2");
}

TEST_F(CondaTest, ALockFileIsTakenAsItIs) {
  const auto written = channel("channel", kTwo);
  ASSERT_EQ(written.size(), 3U);
  const auto entry = [&](int i, const char* hash) {
    return written[i]["url"].get<std::string>() + "#" + hash + ":" +
           written[i][hash].get<std::string>();
  };
  CondaEnvironment asked;
  asked.locked = {{subdir(), {entry(1, "md5"), entry(0, "sha256")}}, {"osx-64", {}}};
  const Told solved = solve(asked);
  ASSERT_EQ(versions(solved), "alpha 1.0, beta 1.0") << solved.log;
  const Lock lock = *solved.last().lock;
  EXPECT_EQ(lock.conda[1].sha256, written[1]["sha256"]);
  EXPECT_EQ(nlohmann::json::parse(lock.conda[0].record)["depends"][0], "beta >=1");
  const Told built = build(asked, lock, site("one"));
  ASSERT_TRUE(built.last().activation) << built.all();
  EXPECT_EQ(dir.read("one/share/beta"), "1.0\n");

  asked.locked = {{"", {written[1]["url"].get<std::string>() + "#md5:" + std::string(32, 'a')}}};
  const Told changed = solve(asked);
  expect_failure(changed, ErrorCode::corrupt, "its MD5 is " + written[1]["md5"].get<std::string>());
  EXPECT_THAT(changed.last().failed->message, HasSubstr("the lock file that names it"));
  asked.locked = {{"osx-64", {}}};
  expect_failure(solve(asked), ErrorCode::invalid_argument, "only for osx-64");
}

TEST_F(CondaTest, AnActivationScriptThatEndsTheShellIsTold) {
  channel("channel", R"([{"name": "bad", "version": "1", "activate": "echo oh\nexit 3\n"}])");
  const Told solved = solve(asks_for({"bad"}));
  ASSERT_TRUE(solved.last().lock) << solved.log;
  const Told built = build(asks_for({"bad"}), *solved.last().lock, site("one"));
  expect_failure(built, ErrorCode::invalid_argument, "ended the shell with exit code 3");
  EXPECT_THAT(built.last().failed->message, HasSubstr("activation: bad.sh\noh\n"));
}

}  // namespace
}  // namespace lockstep::envs
