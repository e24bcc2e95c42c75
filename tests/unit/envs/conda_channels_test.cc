// Which channel a package comes from.

#include "tests/unit/envs/conda_fixture.h"
#include "tests/unit/envs/http_server.h"

namespace lockstep::envs {
namespace {

using testing::HasSubstr;
using testing::Not;

class CondaChannels : public CondaTest {
 protected:
  void SetUp() override {
    CondaTest::SetUp();
    channel("one", R"([{"name": "alpha", "version": "1.0"}])");
    channel("two", R"([{"name": "alpha", "version": "2.0"},
                       {"name": "needs2", "version": "1", "depends": ["alpha >=2"]}])");
  }
  std::string solved(std::vector<std::string> dependencies,
                     const std::vector<std::string>& channels = {"one", "two"}) {
    return versions(solve(asks_for(std::move(dependencies), channels)));
  }
};

TEST_F(CondaChannels, TheFirstThatHasAPackageHasItInEveryVersion) {
  EXPECT_THAT(solved({"alpha=2"}), HasSubstr("strict channel priority"));
  EXPECT_THAT(solved({"alpha=2"}), HasSubstr("ask for CHANNEL::PACKAGE"));
  EXPECT_THAT(solved({"needs2"}), HasSubstr("strict channel priority"));
  EXPECT_THAT(solved({"needs2", "alpha>=2"}), HasSubstr("strict channel priority"));
  EXPECT_EQ(solved({"alpha=1"}), "alpha 1.0");
  EXPECT_EQ(solved({"alpha=2", "needs2"}, {"two", "one"}), "alpha 2.0, needs2 1");
  CondaEnvironment any = asks_for({"alpha=2"}, {"one", "two"});
  any.strict_priority = false;
  EXPECT_EQ(versions(solve(any)), "alpha 2.0");
}

TEST_F(CondaChannels, OneThatAPackageNamesIsAsItWasListed) {
  EXPECT_EQ(solved({"two::alpha", "needs2"}), "alpha 2.0, needs2 1");
  EXPECT_EQ(solved({"alpha[channel=two]"}), "alpha 2.0");
  EXPECT_EQ(solved({"two::alpha=2"}), "alpha 2.0");
  EXPECT_THAT(solved({"one::alpha=2"}), HasSubstr("the environment cannot be solved"));
}

TEST_F(CondaChannels, OneThatOnlyAPackageNamesIsOfTheMirror) {
  more["CONDA_CHANNEL_ALIAS"] = "file://" + dir.path();
  EXPECT_EQ(solved({"two::alpha"}, {"one"}), "alpha 2.0");
  EXPECT_EQ(solved({"two::alpha"}, {}), "alpha 2.0");
}

TEST_F(CondaChannels, DefaultsAreAnacondas) {
  for (const char* proxy : {"https_proxy", "HTTPS_PROXY"}) more[proxy] = "http://127.0.0.1:9";
  const Told told = solve(asks_for({"defaults::alpha"}, {"one"}));
  expect_failure(told, ErrorCode::unavailable,
                 "the conda channel https://repo.anaconda.com/pkgs/main/ was not reached");
}

TEST_F(CondaChannels, ThatHaveNoSuchPackageAreNamed) {
  expect_failure(solve(asks_for({"gamma"}, {"one", "two"})), ErrorCode::invalid_argument,
                 "the channels are file://" + (dir / "one") + "/, file://" + (dir / "two"));
}

TEST_F(CondaChannels, ThatMayNotBeReadAreAMatterOfCredentials) {
  for (const int status : {401, 403}) {
    const HttpServer server(dir.path(), status);
    expect_failure(solve(asks_for({"alpha"}, {server.url("one")})), ErrorCode::permission_denied,
                   "may not be read");
  }
}

TEST_F(CondaChannels, ThatArePrivateTakeTheCredentialsOfTheNode) {
  const HttpServer server(dir.path());
  dir.file("faults", "private two");
  const CondaEnvironment definition = asks_for({"alpha"}, {server.url("two")});
  expect_failure(solve(definition), ErrorCode::permission_denied, "may not be read");

  dir.file("credentials.json",
           R"({"127.0.0.1": {"BasicHTTP": {"username": "ann", "password": "s3cr3t"}}})", 0600);
  more["RATTLER_AUTH_FILE"] = dir / "credentials.json";
  EXPECT_EQ(versions(solve(definition)), "alpha 2.0");

  dir.file("credentials.json", R"({"127.0.0.1": {"BasicHTTP": "ann:s3cr3t"}})", 0600);
  const Told wrong = solve(definition);
  expect_failure(wrong, ErrorCode::permission_denied,
                 "failed to parse " + (dir / "credentials.json"));
  EXPECT_THAT(wrong.last().failed->message + wrong.log, Not(HasSubstr("s3cr3t")));
  more["RATTLER_AUTH_FILE"] = dir / "none.json";
  expect_failure(solve(definition), ErrorCode::permission_denied,
                 "RATTLER_AUTH_FILE names " + (dir / "none.json") + ", which does not exist");

  more = {{"HOME", dir.path()}};
  dir.file(".netrc", "machine 127.0.0.1\nlogin ann\npassword s3cr3t\n", 0600);
  const Told told = solve(definition);
  ASSERT_EQ(versions(told), "alpha 2.0");
  const Told built = build(definition, *told.last().lock, site("env"));
  EXPECT_TRUE(built.last().activation) << built.all();
  EXPECT_THAT(told.log + built.log + to_json(*told.last().lock), Not(HasSubstr("s3cr3t")));
}

TEST_F(CondaChannels, WhoseServersRedirectWithASignatureKeepItToThemselves) {
  const HttpServer server(dir.path());
  dir.file("faults", "signed repodata");
  const Told told = solve(asks_for({"alpha"}, {server.url("two")}));
  expect_failure(told, ErrorCode::permission_denied, "may not be read");
  EXPECT_THAT(told.last().failed->message, HasSubstr("?****"));
  EXPECT_THAT(told.last().failed->message + told.log, Not(HasSubstr("s3cr3t")));
}

TEST_F(CondaChannels, AMirrorOfNamesHasNoPasswordBecauseLocksWouldHaveIt) {
  for (const char* mirror :
       {"http://ann:s3cr3t@127.0.0.1:9", "http://ann%3As3cr3t@127.0.0.1:9",
        "http://s3cr3ts3cr3ts3cr3ts3cr3t@127.0.0.1:9/a", "http://127.0.0.1:9/t/s3cr3t/a"}) {
    more["CONDA_CHANNEL_ALIAS"] = mirror;
    const Told told = solve(asks_for({"alpha"}, {"one"}));
    expect_failure(told, ErrorCode::permission_denied, "CONDA_CHANNEL_ALIAS");
    EXPECT_THAT(told.last().failed->message + told.log, Not(HasSubstr("s3cr3t")));
  }
}

TEST_F(CondaChannels, WhoseIndexIsBrokenAreNotAskedAgain) {
  const HttpServer server(dir.path());
  dir.file("two/" + subdir() + "/repodata.json", "{\"packages\": {");
  const Told told = solve(asks_for({"alpha"}, {server.url("two")}));
  expect_failure(told, ErrorCode::corrupt,
                 "the conda channel " + server.url("two/") + " is broken: failed to parse");
  EXPECT_EQ(told.last().failed->message.find('\n'), std::string::npos);
}

TEST_F(CondaChannels, ThatHaveNoPackagesForAMachineAreNamed) {
  const HttpServer server(dir.path());
  channel("pure", R"([{"name": "gamma", "version": "1", "noarch": "generic"}])");
  ASSERT_TRUE(io::remove_tree(dir / ("pure/" + subdir())));
  for (const std::string& url : {"file://" + (dir / "pure"), server.url("pure")}) {
    const Told none = solve(asks_for({"delta"}, {"one", url}));
    expect_failure(none, ErrorCode::not_found, "the environment cannot be solved: ");
    const std::string why = "the channel " + url + "/ has no packages for " + subdir() +
                            ": there is no " + url + "/" + subdir() + "/repodata.json";
    EXPECT_THAT(none.last().failed->message, HasSubstr(why));
    // Where all is found there is nothing to say.
    const Told all = solve(asks_for({"alpha", "gamma"}, {"one", url}));
    EXPECT_EQ(versions(all), "alpha 1.0, gamma 1");
    EXPECT_THAT(all.log, testing::Not(HasSubstr("has no packages")));
  }
}

TEST_F(CondaChannels, ThatAnswerWithAPageAreBroken) {
  const HttpServer server(dir.path());
  for (const std::string file :
       {"repodata.json", "repodata.json.zst", "repodata_shards.msgpack.zst"}) {
    const std::string name = "of-" + file;
    channel(name, R"([{"name": "alpha", "version": "1"}])");
    dir.file(name + "/noarch/" + file, "");
    dir.file("faults", "html " + name + "/noarch/" + file + "\n");
    expect_failure(solve(asks_for({"alpha"}, {server.url(name)})), ErrorCode::corrupt,
                   "the conda channel " + server.url(name + "/") + " is broken: ");
  }
}

}  // namespace
}  // namespace lockstep::envs
