// Packages that are not what they should be, once they are in the cache.

#include "common/base/digest.h"
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

TEST_F(CondaInstall, fails_with_a_post_link_script_and_names_its_package) {
  const Told told = installed(R"([{"name": "alpha", "version": "1", "files": {"share/a": "a"}},
      {"name": "beta", "version": "1", "depends": ["alpha"], "files": {"bin/.beta-post-link.sh":
       "#!/bin/sh\necho no licence here > $PREFIX/.messages.txt\nexit 3\n"}}])",
                              {"beta"});
  expect_failure(told, ErrorCode::invalid_argument,
                 "the post-link script of beta failed: no licence here");
  EXPECT_THAT(told.log, HasSubstr("beta: no licence here"));
}

TEST_F(CondaInstall, says_where_a_script_that_fails_would_have_said_why) {
  const Told told = installed(R"([{"name": "beta", "version": "1",
      "files": {"bin/.beta-post-link.sh": "#!/bin/sh\necho lost\nexit 3\n"}}])",
                              {"beta"});
  expect_failure(told, ErrorCode::invalid_argument, "the post-link script of beta failed; what it");
}

TEST_F(CondaInstall, shows_what_a_post_link_script_says_to_people) {
  const Told told = installed(R"([{"name": "beta", "version": "1", "files": {
      "bin/.beta-post-link.sh": "#!/bin/sh\necho remember to register > $PREFIX/.messages.txt\n"}}])",
                              {"beta"});
  ASSERT_TRUE(told.last().activation) << told.log;
  EXPECT_THAT(told.log, HasSubstr("beta: remember to register"));
}

TEST_F(CondaInstall, that_panics_is_one_error_that_names_the_package) {
  const Told told = installed(R"([{"name": "alpha", "version": "1", "files": {"share/a": "a"}},
      {"name": "beta", "version": "1", "files": {"/tmp/of-beta": "b"}}])",
                              {"beta"});
  expect_failure(told, ErrorCode::corrupt,
                 "py-rattler broke down while it linked beta: All inserted paths must be relative");
  EXPECT_THAT(told.last().failed->message, Not(HasSubstr("alpha")));
  EXPECT_THAT(told.log, Not(HasSubstr("rust_begin_unwind")));
}

TEST_F(CondaInstall, of_packages_that_have_the_same_file_says_whose_counts) {
  const Told told = installed(R"([
      {"name": "alpha", "version": "1", "files": {"share/both": "a", "share/a": "a"}},
      {"name": "beta", "version": "1", "files": {"share/both": "b", "share/b": "b"}}])",
                              {"alpha", "beta"});
  ASSERT_TRUE(told.last().activation) << told.log;
  const std::string winner = dir.read("env/share/both") == "a" ? "alpha" : "beta";
  EXPECT_THAT(told.log, HasSubstr("both have share/both; that of " + winner + " is installed"));
}

TEST_F(CondaInstall, of_what_is_no_archive_is_corrupt) {
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
