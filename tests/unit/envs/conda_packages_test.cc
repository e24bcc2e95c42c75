// Packages on their way into a node's cache.

#include <sys/file.h>

#include "tests/unit/envs/conda_fixture.h"
#include "tests/unit/envs/http_server.h"

namespace lockstep::envs {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

class CondaPackages : public CondaTest {
 protected:
  // Over HTTP, and where the archive lies.
  Lock solved(const std::string& package) {
    written = channel("channel", "[" + package + "]");
    archive = written[0]["url"].get<std::string>().substr(7);
    asked = asks_for({"alpha"}, {server.url("channel")});
    const Told told = solve(asked);
    EXPECT_TRUE(told.last().lock) << told.log;
    return told.last().lock.value_or(Lock{});
  }
  std::string packages() { return dir / "cache/conda/packages"; }

  HttpServer server{dir.path()};
  CondaEnvironment asked;
  std::vector<nlohmann::json> written;
  std::string archive;
};

constexpr const char* kAlpha = R"({"name": "alpha", "version": "1", "files": {"share/a": "a"}})";

TEST_F(CondaPackages, ThatWereHalfUnpackedAreRemovedByTheNextBuild) {
  const Lock lock = solved(kAlpha);
  dir.file("cache/conda/packages/.beta-1-0-0123Abcdef/info/index.json", "{}");
  dir.file("cache/conda/packages/.cache.lock", "");
  // Not while another build has the cache.
  const int other = ::open((dir / "cache/conda/packages.lock").c_str(), O_CREAT | O_RDWR, 0644);
  ASSERT_GE(other, 0);
  ASSERT_EQ(::flock(other, LOCK_SH), 0);
  const Told beside = build(asked, lock, site("one"));
  ASSERT_TRUE(beside.last().activation) << beside.all();
  EXPECT_THAT(*io::list_directory(packages()), Contains(".beta-1-0-0123Abcdef"));
  ::close(other);
  const Told alone = build(asked, lock, site("two"));
  ASSERT_TRUE(alone.last().activation) << alone.all();
  EXPECT_THAT(*io::list_directory(packages()), Not(Contains(".beta-1-0-0123Abcdef")));
  EXPECT_EQ(dir.read("two/share/a"), "a");
}

TEST_F(CondaPackages, OfALockFileAreNotAskedForWhereTheyAreKnown) {
  const Lock lock = solved(kAlpha);
  CondaEnvironment locked;
  const auto entry = [&](const std::string& kind, const std::string& hash) {
    locked.locked = {{"", {lock.conda[0].url + "#" + kind + ":" + hash}}};
    return versions(solve(locked));
  };
  ASSERT_TRUE(build(asked, lock, site("one")).last().activation);
  ASSERT_TRUE(io::remove_tree(dir / "channel"));
  EXPECT_EQ(entry("sha256", lock.conda[0].sha256), "alpha 1");
  EXPECT_EQ(entry("md5", written[0]["md5"]), "alpha 1");
  const Told again = solve(locked);
  ASSERT_TRUE(again.last().lock) << again.log;
  EXPECT_EQ(again.last().lock->conda[0].sha256, lock.conda[0].sha256);
  const Told built = build(locked, *again.last().lock, site("two"));
  ASSERT_TRUE(built.last().activation) << built.all();
  EXPECT_EQ(dir.read("two/share/a"), "a");
  // Of another hash, nothing is known.
  EXPECT_THAT(entry("sha256", std::string(64, 'a')), HasSubstr("there is no package"));
}

// SHA-256 is what a lock has: an archive has to be fetched to know it.
TEST_F(CondaPackages, WithoutAHashOfTheirOwnAreFetchedOnceForSolvingAndBuilding) {
  solved(kAlpha);
  const std::string url = server.url("channel/" + subdir() + "/alpha-1-0.conda");
  const std::string index = "channel/" + subdir() + "/repodata.json";
  nlohmann::json repodata = nlohmann::json::parse(dir.read(index));
  repodata["packages.conda"]["alpha-1-0.conda"].erase("sha256");
  dir.file(index, repodata.dump());
  CondaEnvironment listed;
  listed.locked = {{"", {url + "#md5:" + written[0]["md5"].get<std::string>()}}};
  for (const CondaEnvironment& each : {asked, listed}) {
    ASSERT_TRUE(io::remove_tree(dir / "cache/conda"));
    dir.file("asked", "");
    const Told told = solve(each);
    ASSERT_TRUE(told.last().lock) << told.log;
    EXPECT_EQ(told.last().lock->conda[0].sha256, written[0]["sha256"]);
    EXPECT_THAT(dir.read("asked"), HasSubstr("alpha-1-0.conda"));
    dir.file("asked", "");
    const Told built = build(each, *told.last().lock, site("env"));
    ASSERT_TRUE(built.last().activation) << built.all();
    EXPECT_EQ(dir.read("asked"), "");
    EXPECT_EQ(dir.read("env/share/a"), "a");
    EXPECT_FALSE(io::exists((dir / "cache/conda/archives/") + told.last().lock->conda[0].sha256));
    ASSERT_TRUE(io::remove_tree(dir / "env"));
  }
}

TEST_F(CondaPackages, ThatAreCutShortAreCorrupt) {
  const Lock lock = solved(kAlpha);
  const std::string whole = *io::read_file(archive);
  ASSERT_TRUE(io::write_file_atomically(archive, whole.substr(0, whole.size() / 2), 0644, false));
  const Told told = build(asked, lock, site("one"));
  expect_failure(told, ErrorCode::corrupt, ", not " + lock.conda[0].sha256);
  EXPECT_THAT(told.last().failed->message, HasSubstr("is not the package that was asked for"));
  EXPECT_THAT(told.last().failed->message, HasSubstr("solve the environment again with --rebuild"));
}

TEST_F(CondaPackages, WithFilesOutsideOfTheirPrefixAreCorrupt) {
  const Lock linked = solved(R"({"name": "alpha", "version": "1",
      "files": {"d": {"link": "/tmp"}, "d/outside": "x"}})");
  expect_failure(build(asked, linked, site("one")), ErrorCode::corrupt,
                 "alpha-1-0.conda has files outside of its prefix");
  const Lock above = solved(R"({"name": "alpha", "version": "2",
      "files": {"../../../outside": "x"}})");
  expect_failure(build(asked, above, site("two")), ErrorCode::corrupt,
                 "alpha-2-0.conda has files outside of its prefix");
}

TEST_F(CondaPackages, ThatCannotBeFetchedAreNamedWithTheCauseInOneLine) {
  Lock lock = solved(kAlpha);
  lock.conda[0].url = "http://127.0.0.1:9/noarch/alpha-1-0.conda";
  const Told built = build(asked, lock, site("one"));
  expect_failure(built, ErrorCode::unavailable, lock.conda[0].url + " could not be fetched");
  EXPECT_THAT(built.last().failed->message, HasSubstr("Connection refused"));
  EXPECT_EQ(built.last().failed->message.find('\n'), std::string::npos);
  EXPECT_THAT(built.log, HasSubstr("fetching 1 of them: alpha"));
  CondaEnvironment locked;
  for (const std::string& hash : {std::string(), "#sha256:" + lock.conda[0].sha256}) {
    locked.locked = {{"", {lock.conda[0].url + hash}}};
    const Told told = solve(locked);
    expect_failure(told, ErrorCode::unavailable, "Connection refused");
    EXPECT_THAT(told.log, HasSubstr("fetching " + lock.conda[0].url));
  }
}

TEST_F(CondaPackages, ThatAreSmallAreCountedInKilobytes) {
  const Told built = build(asked, solved(kAlpha), site("one"));
  ASSERT_TRUE(built.last().activation) << built.all();
  EXPECT_THAT(built.log, Not(HasSubstr("0/0")));
  const std::string kilobytes = std::to_string((written[0]["size"].get<long>() + 999) / 1000);
  EXPECT_THAT(built.log, HasSubstr("download " + kilobytes + "/" + kilobytes + " kB (alpha)"));
}

}  // namespace
}  // namespace lockstep::envs
