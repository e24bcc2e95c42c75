// Packages of channels that are slow, silent or broken.

#include "tests/unit/envs/conda_fixture.h"
#include "tests/unit/envs/http_server.h"

namespace lockstep::envs {
namespace {

using testing::HasSubstr;
using testing::Not;

class CondaDownload : public CondaTest {
 protected:
  void SetUp() override {
    CondaTest::SetUp();
    more["CONDA_REMOTE_READ_TIMEOUT_SECS"] = "2";
    channel("channel", R"([{"name": "alpha", "version": "1", "files": {"share/a": "a"}},
        {"name": "beta", "version": "1", "files": {"share/b": "b"}, "format": ".tar.bz2"},
        {"name": "gamma", "version": "1", "files": {"share/c": "c"}}])");
  }
  CondaEnvironment of(std::vector<std::string> names) {
    return asks_for(std::move(names), {server.url("channel")});
  }
  Lock locked(const CondaEnvironment& definition) {
    const Told told = solve(definition);
    EXPECT_TRUE(told.last().lock) << told.log;
    return told.last().lock.value_or(Lock{});
  }
  Program building(const CondaEnvironment& definition, const Lock& lock, const std::string& name) {
    return Program({Order::What::build, definition, lock, site(name)}, more);
  }
  long times_asked(const std::string& text) {
    std::istringstream lines(io::read_file(dir / "asked").value_or(""));
    long count = 0;
    for (std::string line; std::getline(lines, line);) count += line.find(text) != line.npos;
    return count;
  }
  void faults(const std::string& lines) {  // at once: one that holds on stays
    ASSERT_TRUE(io::write_file_atomically(dir / "faults", lines, 0644, false));
  }
  std::vector<std::string> archives() {  // and those that are on their way
    std::vector<std::string> names = *io::list_directory(dir / "cache/conda/archives");
    std::erase_if(names, [](const std::string& name) { return name.starts_with("lock-"); });
    return names;
  }

  HttpServer server{dir.path()};
};

TEST_F(CondaDownload, ThatIsSlowHoldsNoOtherBuild) {
  more.erase("CONDA_REMOTE_READ_TIMEOUT_SECS");
  const CondaEnvironment slow = of({"alpha", "gamma"}), fast = of({"beta", "gamma"});
  const Lock slow_lock = locked(slow), fast_lock = locked(fast);
  faults("held alpha-1\n");
  Program waiting = building(slow, slow_lock, "slow");
  ASSERT_TRUE(comes_true([&] { return times_asked("alpha-1") == 1; }));
  const Told built = build(fast, fast_lock, site("fast"));
  ASSERT_TRUE(built.last().activation) << built.all();
  EXPECT_EQ(dir.read("fast/share/b"), "b");
  faults("");
  const Told late = waiting.wait();
  ASSERT_TRUE(late.last().activation) << late.all();
  EXPECT_EQ(dir.read("slow/share/a"), "a");
  EXPECT_EQ(times_asked("gamma-1"), 1);
  EXPECT_THAT(archives(), testing::IsEmpty());
}

TEST_F(CondaDownload, ThatTwoBuildsNeedIsDoneOnce) {
  more.erase("CONDA_REMOTE_READ_TIMEOUT_SECS");
  const CondaEnvironment both = of({"alpha", "beta"});
  const Lock lock = locked(both);
  faults("held alpha-1\n");
  Program first = building(both, lock, "one");
  ASSERT_TRUE(comes_true([&] { return times_asked("alpha-1") == 1; }));
  Program second = building(both, lock, "two");
  ASSERT_TRUE(comes_true([&] {
    return second.log().find("another build fetches alpha: waiting") != std::string::npos;
  }));
  // It is said once, however long that lasts: here as long as a server is silent.
  more["CONDA_REMOTE_READ_TIMEOUT_SECS"] = "2";
  faults("held alpha-1\nsilent repodata\n");
  ASSERT_TRUE(io::remove_tree(dir / "cache/conda/index"));
  expect_failure(solve(both), ErrorCode::unavailable, "has sent nothing for 2 s");
  faults("");
  const Told one = first.wait(), two = second.wait();
  const std::string line = "another build fetches alpha: waiting";
  EXPECT_EQ(two.log.find(line), two.log.rfind(line)) << two.log;
  ASSERT_TRUE(one.last().activation) << one.all();
  ASSERT_TRUE(two.last().activation) << two.all();
  EXPECT_EQ(dir.read("two/share/a") + dir.read("two/share/b"), "ab");
  EXPECT_EQ(times_asked("alpha-1"), 1);
  EXPECT_EQ(times_asked("beta-1"), 1);
  // And it is in the cache for those that come later.
  const Told third = build(both, lock, site("three"));
  ASSERT_TRUE(third.last().activation) << third.all();
  EXPECT_THAT(third.log, Not(HasSubstr("fetching")));
  EXPECT_EQ(times_asked("alpha-1") + times_asked("beta-1"), 2);
}

TEST_F(CondaDownload, ThatWasCutOrDamagedIsTriedAgain) {
  const CondaEnvironment both = of({"alpha", "beta"});
  const Lock lock = locked(both);
  faults("cut-once alpha-1\ncorrupt-once beta-1\n");
  const Told built = build(both, lock, site("one"));
  ASSERT_TRUE(built.last().activation) << built.all();
  EXPECT_EQ(dir.read("one/share/a") + dir.read("one/share/b"), "ab");
  EXPECT_THAT(built.log,
              HasSubstr("asking again: the package " + lock.conda[0].url + " was cut short"));
  EXPECT_THAT(built.log, HasSubstr("beta-1-0.tar.bz2 arrived damaged: fetching it again"));
  EXPECT_EQ(times_asked("alpha-1") + times_asked("beta-1"), 4);
}

TEST_F(CondaDownload, ThatIsCutEachTimeFailsAndSaysSo) {
  const CondaEnvironment one = of({"alpha"});
  const Lock lock = locked(one);
  faults("cut alpha-1\n");
  const Told told = build(one, lock, site("one"));
  expect_failure(told, ErrorCode::unavailable,
                 lock.conda[0].url + " was cut short (asked 4 times)");
  EXPECT_EQ(times_asked("alpha-1"), 4);
}

TEST_F(CondaDownload, ThatIsRefusedAtFirstIsTriedAgain) {
  const CondaEnvironment all = of({"alpha", "beta"});
  const Lock lock = locked(all);
  faults("refused-once alpha-1\n503-once beta-1\n");
  const Told built = build(all, lock, site("one"));
  ASSERT_TRUE(built.last().activation) << built.all();
  EXPECT_EQ(times_asked("alpha-1") + times_asked("beta-1"), 4);
}

// The pauses between tries are longer than the timeout.
TEST_F(CondaDownload, ThatGetsAnAnswerEachTimeIsNotCalledSilent) {
  const CondaEnvironment one = of({"alpha"});
  const Lock lock = locked(one);
  faults("503 alpha-1\n429 repodata\n");
  const Told built = build(one, lock, site("one"));
  expect_failure(built, ErrorCode::unavailable, "503 Service Unavailable");
  EXPECT_EQ(times_asked("alpha-1"), 4);
  static_cast<void>(io::remove_tree(dir / "cache/conda/index"));
  expect_failure(solve(one), ErrorCode::unavailable, "429 Too Many Requests");
}

TEST_F(CondaDownload, ThatFailsLeavesWhatCameWholeForTheNextTry) {
  const CondaEnvironment both = of({"alpha", "beta"});
  const Lock lock = locked(both);
  faults("half beta-1\n");
  expect_failure(build(both, lock, site("one")), ErrorCode::unavailable, "has sent nothing");
  EXPECT_THAT(archives(), testing::Contains(lock.conda[0].sha256));
  faults("corrupt beta-1\n");
  const Told damaged = build(both, lock, site("two"));
  expect_failure(damaged, ErrorCode::corrupt, "beta-1-0.tar.bz2 is not the package that was asked");
  EXPECT_THAT(damaged.last().failed->message, HasSubstr(", not " + lock.conda[1].sha256));
  EXPECT_EQ(times_asked("beta-1"), 3);
  faults("");
  const Told built = build(both, lock, site("three"));
  ASSERT_TRUE(built.last().activation) << built.all();
  EXPECT_EQ(times_asked("alpha-1"), 1);
  EXPECT_THAT(archives(), testing::IsEmpty());
}

TEST_F(CondaDownload, ThatAnEarlierBuildLeftDamagedIsDoneAgain) {
  const CondaEnvironment one = of({"alpha"});
  const Lock lock = locked(one);
  const std::string& hash = lock.conda[0].sha256;
  const std::string whole = dir.read("channel/" + subdir() + "/alpha-1-0.conda");
  const std::string left = "cache/conda/archives/" + hash + "/alpha-1-0.conda";
  std::string other = dir.read("channel/" + subdir() + "/gamma-1-0.conda");
  long asked = 0;
  for (const std::string& text : {whole.substr(0, whole.size() / 2), std::string(), other}) {
    const std::string name = std::to_string(++asked);
    static_cast<void>(io::remove_tree(dir / "cache/conda/packages"));
    dir.file(left, text);
    const Told built = build(one, lock, site(name));
    ASSERT_TRUE(built.last().activation) << built.all();
    EXPECT_THAT(built.log, HasSubstr("alpha is damaged in the cache: fetching it again"));
    EXPECT_EQ(dir.read(name + "/share/a"), "a");
    EXPECT_EQ(times_asked("alpha-1"), asked);
    EXPECT_THAT(archives(), testing::IsEmpty());
  }
  // What is whole is not fetched.
  static_cast<void>(io::remove_tree(dir / "cache/conda/packages"));
  dir.file(left, whole);
  const Told reused = build(one, lock, site("reused"));
  ASSERT_TRUE(reused.last().activation) << reused.all();
  EXPECT_EQ(times_asked("alpha-1"), asked);
}

TEST_F(CondaDownload, OfWhatWasLeftDamagedFailsWhereItsChannelHasNoOther) {
  const CondaEnvironment one = of({"alpha"});
  const Lock lock = locked(one);
  dir.file("cache/conda/archives/" + lock.conda[0].sha256 + "/alpha-1-0.conda", "x");
  faults("corrupt alpha-1\n");
  expect_failure(build(one, lock, site("one")), ErrorCode::corrupt,
                 server.url("channel/" + subdir() + "/alpha-1-0.conda") + " is not the package");
}

TEST_F(CondaDownload, OfWhatACacheHasNoLongerWholeIsDoneByRebuild) {
  const CondaEnvironment both = of({"alpha", "beta"});
  const Lock lock = locked(both);
  ASSERT_TRUE(build(both, lock, site("one")).last().activation);
  const std::vector<std::string> names = *io::list_directory(dir / "cache/conda/packages");
  for (const std::string& name : names)
    if (name.starts_with("alpha-1-0-") && !name.ends_with(".lock")) {
      const std::string file = dir / ("cache/conda/packages/" + name + "/share/a");
      ASSERT_TRUE(io::write_file_atomically(file, "x", 0644, false));
    }
  Site anew = site("two");
  anew.is_rebuild = true;
  const Told built = build(both, lock, anew);
  ASSERT_TRUE(built.last().activation) << built.all();
  EXPECT_THAT(built.log, HasSubstr("alpha is damaged in the cache: fetching it again"));
  EXPECT_EQ(dir.read("two/share/a"), "a");
  EXPECT_EQ(times_asked("alpha-1"), 2);
  EXPECT_EQ(times_asked("beta-1"), 1);
}

TEST_F(CondaDownload, OfAnIndexIsNotWaitedForWithoutEnd) {
  faults("silent repodata\n");
  const Told told = solve(of({"alpha"}));
  expect_failure(told, ErrorCode::unavailable,
                 "the conda channel " + server.url("channel") + "/ has sent nothing for 2 s");
}

TEST_F(CondaDownload, OfAPackageIsNotWaitedForWithoutEnd) {
  const CondaEnvironment one = of({"alpha"});
  const Lock lock = locked(one);
  for (const std::string kind : {"silent", "half"}) {
    faults(kind + " alpha-1\n");
    const Told told = build(one, lock, site(kind));
    expect_failure(told, ErrorCode::unavailable, "alpha-1-0.conda has sent nothing for 2 s");
    EXPECT_THAT(told.last().failed->message, HasSubstr(server.url("channel")));
  }
  CondaEnvironment listed;
  listed.locked = {{"", {lock.conda[0].url + "#sha256:" + lock.conda[0].sha256}}};
  expect_failure(solve(listed), ErrorCode::unavailable, "alpha-1-0.conda has sent nothing for 2 s");
}

}  // namespace
}  // namespace lockstep::envs
