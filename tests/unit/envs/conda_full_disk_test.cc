// A disk that gets full while an environment is made.

#include <sys/mount.h>

#include "tests/unit/envs/conda_fixture.h"
#include "tests/unit/envs/http_server.h"

namespace lockstep::envs {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

class CondaFullDisk : public CondaTest {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "mounting needs root";
    CondaTest::SetUp();
    dir.file("large.bin", std::string(3'000'000, 'x'));
    channel("channel", R"([{"name": "alpha", "version": "1", "files": {"share/a": "a"}},
        {"name": "large", "version": "1", "files": {"share/large": {"from": ")" +
                           dir / "large.bin" + R"("}}}])");
    asked = asks_for({"alpha", "large"}, {server.url("channel")});
    const Told told = solve(asked);
    ASSERT_TRUE(told.last().lock) << told.log;
    lock = *told.last().lock;
  }
  void TearDown() override {
    for (const std::string& place : mounted) ::umount2((dir / place).c_str(), MNT_DETACH);
  }
  void mount(const std::string& place, const std::string& size) {
    dir.folder(place);
    ASSERT_EQ(::mount("lockstep-test", (dir / place).c_str(), "tmpfs", 0, ("size=" + size).c_str()),
              0);
    mounted.push_back(place);
  }
  void expect_full(const Told& told) {
    expect_failure(told, ErrorCode::resource_exhausted, "No space left on device");
  }
  // Neither archives nor what is half unpacked.
  std::vector<std::string> leftovers() {
    std::vector<std::string> left;
    const auto archives = io::list_directory(dir / "cache/conda/archives");
    for (const std::string& name : *archives)
      if (!name.starts_with("lock-")) left.push_back(name);
    const auto packages = io::list_directory(dir / "cache/conda/packages");
    for (const std::string& name : *packages)
      if ((name.starts_with("large") || name.starts_with(".")) && !name.ends_with(".lock"))
        left.push_back(name);
    return left;
  }

  HttpServer server{dir.path()};
  CondaEnvironment asked;
  Lock lock;
  std::vector<std::string> mounted;
};

TEST_F(CondaFullDisk, WhileItFetchesKeepsNothingOfIt) {
  mount("cache/conda", "2m");
  expect_full(build(asked, lock, site("one")));
  EXPECT_THAT(leftovers(), IsEmpty());
}

TEST_F(CondaFullDisk, WhileItUnpacksKeepsNothingOfIt) {
  mount("cache/conda", "5m");
  expect_full(build(asked, lock, site("one")));
  EXPECT_THAT(leftovers(), IsEmpty());
}

TEST_F(CondaFullDisk, WhileItLinksKeepsWhatIsWhole) {
  mount("one", "2m");
  expect_full(build(asked, lock, site("one")));
  const Told built = build(asked, lock, site("two"));
  ASSERT_TRUE(built.last().activation) << built.all();
  EXPECT_THAT(built.log, testing::Not(HasSubstr("fetching")));
}

TEST_F(CondaFullDisk, WhileItFetchesAnIndexIsSaid) {
  ASSERT_TRUE(io::remove_tree(dir / "cache/conda"));
  mount("cache/conda", "4k");
  expect_failure(solve(asked), ErrorCode::resource_exhausted, "");
}

}  // namespace
}  // namespace lockstep::envs
