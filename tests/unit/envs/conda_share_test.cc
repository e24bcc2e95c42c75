// Files of conda packages that nodes take from each other.

#include <signal.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "tests/unit/envs/conda_fixture.h"
#include "tests/unit/envs/http_server.h"

namespace lockstep::envs {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

class CondaShare : public CondaTest {
 protected:
  void solve_both(const std::string& address) {
    written = channel("channel", R"([
      {"name": "alpha", "version": "1!1.0", "files": {"share/a": "a @PREFIX@"}},
      {"name": "beta", "version": "1.0", "format": ".tar.bz2", "files": {"share/b": "b"}}])");
    asked = asks_for({"alpha", "beta"}, {address});
    const Told told = solve(asked);
    ASSERT_TRUE(told.last().lock) << told.log;
    lock = *told.last().lock;
  }
  Site shared(const std::string& name) {
    Site where = site(name);
    for (const char* folder : {"archives", "wanted", "fetched"}) dir.folder(folder);
    where.shared = {dir / "archives", dir / "wanted", dir / "fetched"};
    return where;
  }
  std::vector<std::string> missing(const std::string& name) {
    const Told told = Program({Order::What::missing, asked, lock, shared(name)}, more).wait();
    EXPECT_TRUE(told.last().missing) << told.log;
    return told.last().missing.value_or(std::vector<std::string>{"?"});
  }
  std::string hash(std::size_t package) { return written[package]["sha256"]; }
  std::string file(std::size_t package) {
    std::string path = written[package]["url"].get<std::string>().substr(7);
    if (const auto epoch = path.find("%21"); epoch != path.npos) path.replace(epoch, 3, "!");
    return path;
  }
  // As an agent that has it from another node.
  void put_archive(std::size_t package) {
    const std::string name = std::filesystem::path(file(package)).filename();
    dir.folder("archives/" + hash(package));
    std::filesystem::copy_file(file(package), dir / ("archives/" + hash(package) + "/" + name));
  }

  std::unique_ptr<HttpServer> server = std::make_unique<HttpServer>(dir.path());
  std::vector<nlohmann::json> written;
  CondaEnvironment asked;
  Lock lock;
};

TEST_F(CondaShare, WhatCameFromElsewhereIsInstalledWithoutItsChannel) {
  ASSERT_NO_FATAL_FAILURE(solve_both(server->url("channel")));
  EXPECT_THAT(missing("one"), UnorderedElementsAre(hash(0), hash(1)));
  put_archive(0);
  EXPECT_THAT(missing("one"), ElementsAre(hash(1)));
  put_archive(1);
  EXPECT_THAT(missing("one"), ElementsAre());
  server.reset();
  const Told built = build(asked, lock, shared("one"));
  ASSERT_TRUE(built.last().activation) << built.all();
  EXPECT_EQ(dir.read("one/share/a"), "a " + (dir / "one"));
  EXPECT_EQ(dir.read("one/share/b"), "b");
  // Where it came from is what the channel says, and not our folder.
  for (const auto& entry : std::filesystem::directory_iterator(dir / "one/conda-meta"))
    if (entry.path().extension() == ".json") {
      const std::string meta = dir.read("one/conda-meta/" + entry.path().filename().string());
      EXPECT_THAT(meta, HasSubstr("http://127.0.0.1:"));
      EXPECT_THAT(meta, testing::Not(HasSubstr(dir / "archives")));
    }
  // It is in the cache then, and its archive is needed no more.
  std::filesystem::remove_all(dir / "archives");
  EXPECT_THAT(missing("two"), ElementsAre());
  EXPECT_TRUE(build(asked, lock, shared("two")).last().activation);
}

TEST_F(CondaShare, WhatTheChannelGaveIsNotLacked) {
  ASSERT_NO_FATAL_FAILURE(solve_both(server->url("channel")));
  ASSERT_TRUE(build(asked, lock, site("one")).last().activation);
  EXPECT_THAT(missing("two"), ElementsAre());
}

TEST_F(CondaShare, AChannelOfThisMachineIsNobodyElses) {
  ASSERT_NO_FATAL_FAILURE(solve_both("file://" + (dir / "channel")));
  EXPECT_THAT(missing("one"), ElementsAre());
}

// As long as it takes: what is fetched is there, whole.
bool appears(const std::string& path) {
  for (int i = 0; i < 6'000; ++i) {
    if (io::exists(path)) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

TEST_F(CondaShare, WhatIsWantedIsFetchedWhenItIsWanted) {
  ASSERT_NO_FATAL_FAILURE(solve_both(server->url("channel")));
  const Site where = shared("one");
  Program fetching({Order::What::fetch, asked, lock, where}, more);
  dir.file("wanted/" + hash(0), "");
  dir.file("wanted/" + std::string(64, '0'), "");  // nobody's
  ASSERT_TRUE(appears(dir / ("fetched/" + hash(0))));
  EXPECT_EQ(io::read_file(dir / ("fetched/" + hash(0))).value(), io::read_file(file(0)).value());
  EXPECT_FALSE(io::exists(dir / ("fetched/" + hash(1))));
  dir.file("wanted/" + hash(1), "");
  EXPECT_TRUE(appears(dir / ("fetched/" + hash(1))));
  ::kill(fetching.pid(), SIGTERM);
  const Told told = fetching.wait();
  ASSERT_FALSE(told.events.empty());
  EXPECT_TRUE(told.last().failed) << "it was stopped";
}

TEST_F(CondaShare, WhatCannotBeFetchedEndsIt) {
  ASSERT_NO_FATAL_FAILURE(solve_both(server->url("channel")));
  std::filesystem::remove(file(0));
  Program fetching({Order::What::fetch, asked, lock, shared("one")}, more);
  dir.file("wanted/" + hash(0), "");
  expect_failure(fetching.wait(), ErrorCode::not_found, "there is no package");
}

}  // namespace
}  // namespace lockstep::envs
