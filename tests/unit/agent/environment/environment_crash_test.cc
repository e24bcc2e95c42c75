// What is left when a build is killed, an agent starts again, two share a cache, or it gets full.

#include <fcntl.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <fmt/format.h>

#include "common/domain/why/ranks/parts.h"
#include "tests/unit/agent/environment/environment_support.h"

namespace lockstep::agent {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

class EnvironmentCrash : public EnvironmentTest {
 protected:
  static std::string name_of(const Keeping& node, const Assignment& job) {
    return io::read_environment(node.home.attempt(job.attempt));
  }
  static std::string entry(const Keeping& node, const std::string& name) {
    return node.home.environments() + "/" + std::to_string(::geteuid()) + "/" + name;
  }
  // Ready since `ago`, and used last then.
  static void used(const Keeping& node, const std::string& name, Duration ago) {
    timespec now{};
    ::clock_gettime(CLOCK_REALTIME, &now);
    const timespec then[] = {{now.tv_sec - ago / seconds(1), 0},
                             {now.tv_sec - ago / seconds(1), 0}};
    ASSERT_EQ(::utimensat(AT_FDCWD, entry(node, name).c_str(), then, 0), 0);
  }
  // Ready, and its size noted, which nobody waits for and which counts as a use.
  static void prepare_whole(Keeping& node, const Assignment& job) {
    ASSERT_TRUE(node.prepare(job).is_ready());
    const std::string built = entry(node, name_of(node, job)) + "/built.json";
    ASSERT_TRUE(node.until(
        [&] { return io::read_file(built).value_or("").find("\"bytes\"") != std::string::npos; }));
  }
  // A host environment of its own, for each number.
  HostEnvironment host(int number) {
    const std::string path = dir / ("python" + std::to_string(number));
    static_cast<void>(::symlink("/usr/bin/python3", path.c_str()));
    return {path};
  }
  static void remove_attempt(const Keeping& node, const Assignment& job) {
    ASSERT_TRUE(io::remove_tree(node.home.attempt(job.attempt).path()));
  }
};

TEST_F(EnvironmentCrash, ABuildThatIsKilledIsBegunAnew) {
  wheel("inner", "1.0");
  Keeping node(dir / "home", locks);
  const Assignment job = node.staged("j", asks_for({"inner"}));
  const EnvironmentReport solved = lock_of("inner", "1.0");
  node.environments->prepare(Keeping::locked(job, solved));
  auto& said = node.said[job.attempt];
  ASSERT_TRUE(node.until([&] { return node.log_of(job).find("-m venv") != std::string::npos; }));
  const auto tools = io::descendants_of(::getpid());
  ASSERT_EQ(Keeping::programs().size(), 1U);
  ::kill(Keeping::programs().front().pid, SIGKILL);
  ASSERT_TRUE(node.until([&] { return said.is_over(); }));
  ASSERT_TRUE(said.failed);
  EXPECT_EQ(said.failed->cause, Cause::start_failed);
  EXPECT_THAT(said.failed->error.message, HasSubstr("was killed by signal 9"));
  for (const auto& tool : tools) EXPECT_FALSE(io::is_alive(tool));
  EXPECT_THAT(node.built(), IsEmpty());

  const Assignment again = node.staged("again", asks_for({"inner"}));
  ASSERT_TRUE(node.build(again, solved).is_ready()) << node.log_of(again);
  EXPECT_EQ(version_in(node.activation_of(again), "inner"), "1.0\n");
}

// In a process of its own, which is killed as an agent may be.
TEST_F(EnvironmentCrash, AnAgentThatIsKilledTakesTheBuildWithIt) {
  const pid_t agent = ::fork();
  if (agent == 0) {
    Keeping node(dir / "home", locks);
    Assignment job = node.staged("j", never());
    job.environment.solve = true;
    node.environments->prepare(job);
    for (;;) node.loop.turn(seconds(1));
  }
  std::vector<io::ProcessIdentity> tools;
  const auto is_at_work = [&] {
    tools = io::descendants_of(agent);
    return tools.size() >= 2;  // lockstep-env, and what it started
  };
  ASSERT_TRUE(turn_until([] { ::usleep(10'000); }, is_at_work));
  ::kill(agent, SIGKILL);
  ::waitpid(agent, nullptr, 0);
  const auto are_gone = [&] { return std::none_of(tools.begin(), tools.end(), io::is_alive); };
  EXPECT_TRUE(turn_until([] { ::usleep(10'000); }, are_gone));
  Keeping next(dir / "home", locks);
  const std::string folder = dir / "home/environments/" + std::to_string(::geteuid());
  EXPECT_TRUE(next.until([&] {
    const auto names = io::list_directory(folder).value_or(std::vector<std::string>());
    return std::none_of(names.begin(), names.end(), [](const auto& name) {
      return !name.ends_with(".lock") && (name.starts_with("solve-") || name.starts_with("work-"));
    });
  }));
}

TEST_F(EnvironmentCrash, ALogWithoutEndIsCut) {
  dir.file("endless",
           "#!/bin/sh\nhead -c 70000000 /dev/zero | tr '\\0' x\n"
           "echo '{\"failed\": {\"code\": \"invalid_argument\", \"message\": \"m\"}}' >&3\n",
           0755);
  Keeping node(dir / "home", locks, {}, dir / "endless");
  const Assignment job = node.staged("j", HostEnvironment{});
  const auto& said = node.prepare(job);
  ASSERT_TRUE(said.failed);
  EXPECT_EQ(said.failed->error.message, "m");
  EXPECT_THAT(node.log_of(job), HasSubstr("[this log is cut here: it has reached 64 MiB]"));
  EXPECT_LT(said.log_bytes, kMaxEnvironmentLogBytes + 1000);
}

TEST_F(EnvironmentCrash, AnAgentThatLeavesTakesTheBuildWithItAndTheNextOneBuilds) {
  wheel("inner", "1.0");
  Keeping node(dir / "home", locks);
  Assignment job = node.staged("j", asks_for({"inner"}));
  job.environment.solve = true;
  node.environments->prepare(job);
  ASSERT_TRUE(node.until([&] { return node.log_of(job).find("-m venv") != std::string::npos; }));
  node.stop();
  EXPECT_THAT(io::descendants_of(::getpid()), IsEmpty());
  node.start();
  EXPECT_FALSE(node.solve(job).failed) << node.log_of(job);
}

TEST_F(EnvironmentCrash, EnvironmentsAndFailuresAreFoundAgainAndTheRestIsRemoved) {
  wheel("inner", "1.0");
  Keeping node(dir / "home", locks);
  const EnvironmentReport solved = lock_of("inner", "1.0");
  const auto ready = node.build(node.staged("good", asks_for({"inner"})), solved);
  ASSERT_TRUE(ready.is_ready());
  ASSERT_TRUE(node.prepare(node.staged("bad", asks_for({"nothing"}))).failed);
  const std::string half = entry(node, sha256("half").hex());
  put(half + "/env/bin/python", "");
  put(entry(node, "gone-1-1") + "/env/bin/python", "");
  node.stop();
  node.start();
  EXPECT_TRUE(
      node.until([&] { return !io::exists(half) && !io::exists(entry(node, "gone-1-1")); }));
  const Assignment again = node.staged("again", asks_for({"inner"}));
  EXPECT_THAT(node.build(again, solved).reports.back().how, StartsWith("was ready since"));
  const auto& failed = node.prepare(node.staged("worse", asks_for({"nothing"})));
  ASSERT_TRUE(failed.failed);
  EXPECT_TRUE(failed.failed->why.is<EnvironmentFailedBefore>());
}

TEST_F(EnvironmentCrash, TwoAgentsOnOneCacheBuildOnce) {
  wheel("inner", "1.0");
  Keeping one(dir / "home", locks), other(dir / "home", locks);
  Assignment first = one.staged("first", asks_for({"inner"}));
  const EnvironmentReport solved = lock_of("inner", "1.0");
  Assignment second = other.staged("second", asks_for({"inner"}));
  one.environments->prepare(Keeping::locked(first, solved));
  other.environments->prepare(Keeping::locked(second, solved));
  ASSERT_TRUE(one.until([&] {
    other.loop.turn(milliseconds(1));
    return one.said[first.attempt].is_over() && other.said[second.attempt].is_over();
  }));
  const std::string a = one.said[first.attempt].reports.back().how,
                    b = other.said[second.attempt].reports.back().how;
  EXPECT_NE(a.starts_with("built in"), b.starts_with("built in")) << a << "; " << b;
  // Also the log of the other's build.
  EXPECT_THAT(one.log_of(first), HasSubstr("pip install --no-deps"));
  EXPECT_THAT(other.log_of(second), HasSubstr("pip install --no-deps"));
}

TEST_F(EnvironmentCrash, WhatWasNotUsedForLongestGoesButNeverWhatIsInUse) {
  Keeping node(dir / "home", locks, Bytes{1});  // nothing fits
  const Assignment used_one = node.staged("used", host(0)), idle = node.staged("idle", host(1));
  ASSERT_TRUE(node.prepare(used_one).is_ready());
  ASSERT_TRUE(node.prepare(idle).is_ready());
  const std::string stays = name_of(node, used_one), goes = name_of(node, idle);
  used(node, stays, minutes(10));  // the oldest
  remove_attempt(node, idle);
  const Assignment third = node.staged("third", host(2));
  ASSERT_TRUE(node.prepare(third).is_ready());
  // Its lock goes last.
  EXPECT_TRUE(node.until([&] { return !io::exists(entry(node, goes) + ".lock"); }));
  EXPECT_FALSE(io::exists(entry(node, goes)));
  EXPECT_TRUE(io::exists(entry(node, stays) + "/activation.json"));
  EXPECT_TRUE(io::exists(entry(node, name_of(node, third)) + "/activation.json"));
}

TEST_F(EnvironmentCrash, TheLeastRecentlyUsedGoesFirstAndOnlyAsMuchAsIsNeeded) {
  Keeping node(dir / "home", locks);
  std::vector<std::string> names;
  for (int i = 0; i < 3; ++i) {
    const Assignment job = node.staged("j" + std::to_string(i), host(i));
    prepare_whole(node, job);
    names.push_back(name_of(node, job));
    remove_attempt(node, job);
    put(entry(node, names.back()) + "/built.json", R"({"at_ns": 1, "job": "j", "bytes": 400000})");
    used(node, names.back(), minutes(30 - i));
  }
  used(node, names[0], minutes(1));  // it was used again
  node.stop();
  node.start(mebibytes(1));
  ASSERT_TRUE(node.prepare(node.staged("last", host(9))).is_ready());
  EXPECT_TRUE(node.until([&] { return !io::exists(entry(node, names[1])); }));
  EXPECT_TRUE(io::exists(entry(node, names[0])));
  EXPECT_TRUE(io::exists(entry(node, names[2])));
}

TEST_F(EnvironmentCrash, PruningRemovesWhatNobodyUsedSince) {
  Keeping node(dir / "home", locks);
  const Assignment old = node.staged("old", host(0)), recent = node.staged("recent", host(1)),
                   held = node.staged("held", host(2));
  for (const Assignment* job : {&old, &recent, &held}) prepare_whole(node, *job);
  const std::string goes = name_of(node, old), young = name_of(node, recent),
                    named = name_of(node, held);
  used(node, goes, minutes(60));
  used(node, named, minutes(60));
  remove_attempt(node, old);
  remove_attempt(node, recent);
  node.environments->prune(io::SystemClock().now() - minutes(30));
  EXPECT_TRUE(node.until([&] { return !io::exists(entry(node, goes)); }));
  EXPECT_TRUE(io::exists(entry(node, young)));
  EXPECT_TRUE(io::exists(entry(node, named)));
  // It goes when its attempt does.
  remove_attempt(node, held);
  Instant at = io::SystemClock().now();
  EXPECT_TRUE(node.until([&] {
    node.environments->tick(at = at + minutes(2));
    return !io::exists(entry(node, named));
  }));
  EXPECT_TRUE(io::exists(entry(node, young)));
}

TEST_F(EnvironmentCrash, AgentsThatSharePackagesFetchOnceAndPruneForAll) {
  wheel("inner", "1.0");
  const EnvironmentReport solved = lock_of("inner", "1.0");
  Keeping one(dir / "one", locks), other(dir / "other", locks);
  one.share(dir / "packages");
  other.share(dir / "packages");
  const Assignment first = one.staged("first", asks_for({"inner"}));
  ASSERT_TRUE(one.build(first, solved).is_ready()) << one.log_of(first);
  ASSERT_TRUE(io::remove_tree(dir / "wheels"));
  const Assignment second = other.staged("second", asks_for({"inner"}));
  ASSERT_TRUE(other.build(second, solved).is_ready()) << other.log_of(second);
  EXPECT_EQ(version_in(other.activation_of(second), "inner"), "1.0\n");
  const std::string packages = dir / "packages/" + std::to_string(::geteuid()) + "/packages";
  EXPECT_TRUE(io::exists(packages));
  for (const char* home : {"one", "other"})
    EXPECT_FALSE(
        io::exists(fmt::format("{}/{}/environments/{}/packages", dir.path(), home, ::geteuid())));
  const EnvironmentCache cache(dir / "other/environments", dir / "packages");
  const auto listed = cache.list();
  const auto item = std::find_if(listed.begin(), listed.end(),
                                 [](const auto& each) { return each.entry.name() == "packages"; });
  ASSERT_NE(item, listed.end());
  other.environments->prune(io::SystemClock().now() + minutes(1));
  EXPECT_TRUE(
      other.until([&] { return !io::exists(packages) && !io::exists(item->entry.lock_file()); }));
  // Of two that prune at once the second finds it gone, and has nothing to complain of.
  const auto again = cache.remove(*item, [](const std::string&) { return false; });
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_FALSE(*again);
  EXPECT_FALSE(io::exists(item->entry.lock_file()));
}

// A file system of its own, for what must get full.
class EnvironmentFullDisk : public EnvironmentCrash {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "mounting needs root";
    EnvironmentCrash::SetUp();
    dir.folder("home/environments");
    const std::string place = dir / "home/environments";
    ASSERT_EQ(::mount("lockstep-test", place.c_str(), "tmpfs", 0, "size=8m,mode=0711"), 0);
  }
  void TearDown() override { ::umount2((dir / "home/environments").c_str(), MNT_DETACH); }
};

TEST_F(EnvironmentFullDisk, InMidBuildItIsSaidAndWhatWasReadyStays) {
  wheel("inner", "1.0");
  Keeping node(dir / "home", locks);
  ASSERT_TRUE(node.prepare(node.staged("small", host(0))).is_ready());
  for (const char* name : {"large", "again"}) {
    const Assignment large = node.staged(name, asks_for({"inner"}));
    const auto& said = node.build(large, lock_of("inner", "1.0"));
    ASSERT_TRUE(said.failed) << node.log_of(large);
    EXPECT_EQ(said.failed->cause, Cause::start_failed);
    EXPECT_EQ(said.failed->error.code, ErrorCode::resource_exhausted);
    EXPECT_THAT(said.failed->error.message, HasSubstr("the disk is full"));
    EXPECT_THAT(said.failed->error.message, HasSubstr("--environments-size"));
    EXPECT_THAT(said.failed->error.message,
                HasSubstr("`lockstep environment prune --unused-for 0s`"));
  }
  const Assignment after = node.staged("after", host(0));
  ASSERT_TRUE(node.prepare(after).is_ready());
  EXPECT_THAT(node.said[after.attempt].reports.back().how, StartsWith("was ready since"));
}

TEST_F(EnvironmentCrash, StateFilesThatAreDamagedAreAsIfTheyWereNotThere) {
  Keeping node(dir / "home", locks);
  const Assignment first = node.staged("first", host(0));
  ASSERT_TRUE(node.prepare(first).is_ready());
  const std::string name = name_of(node, first);
  for (const char* text : {"", "{", "[]", R"({"interpreter": 1})"}) {
    put(entry(node, name) + "/activation.json", text);
    put(entry(node, name) + "/failure.json", R"({"message": 3, "at_ns": "x"})");
    put(entry(node, name) + "/built.json", "[1]");
    const Assignment job = node.staged("again", host(0));
    const auto& said = node.prepare(job);
    ASSERT_TRUE(said.is_ready() || said.failed) << text;
    EXPECT_TRUE(said.is_ready()) << said.failed->error.message;
    EXPECT_THAT(said.reports.back().how, StartsWith("built in")) << text;
  }
}

TEST_F(EnvironmentCrash, AnInterpreterThatWasReplacedIsAskedAgain) {
  Keeping node(dir / "home", locks);
  const std::string path = dir / "python";
  const auto says = [&](const std::string& version) {
    ASSERT_TRUE(io::write_file_atomically(path, "#!/bin/sh\necho " + version + "\n", 0755, false));
  };
  says("3.11.2");
  const Assignment first = node.staged("first", HostEnvironment{path});
  ASSERT_TRUE(node.prepare(first).is_ready());
  says("3.12.1");
  const Assignment second = node.staged("second", HostEnvironment{path});
  ASSERT_TRUE(node.prepare(second).is_ready());
  EXPECT_THAT(node.said[first.attempt].reports.back().platform, HasSubstr("python3.11.2"));
  EXPECT_THAT(node.said[second.attempt].reports.back().platform, HasSubstr("python3.12.1"));
  EXPECT_EQ(node.activation_of(second).version, "3.12.1");
}

TEST_F(EnvironmentCrash, AProgramThatIsNotLockstepEnvIsAnErrorOfThisNode) {
  Keeping node(dir / "home", locks, {}, "/bin/true");
  const auto& said = node.prepare(node.staged("j", HostEnvironment{"/usr/bin/python3"}));
  ASSERT_TRUE(said.failed);
  EXPECT_EQ(said.failed->cause, Cause::start_failed);
  EXPECT_THAT(said.failed->error.message, HasSubstr("exited with code 0 before it was done"));
}

}  // namespace
}  // namespace lockstep::agent
