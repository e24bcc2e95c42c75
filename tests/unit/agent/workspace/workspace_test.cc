#include "agent/workspace/workspace.h"

#include <fcntl.h>
#include <grp.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "common/io/process.h"
#include "tests/unit/agent/workspace/fixture.h"

namespace lockstep::agent {
namespace {

using Mode = WorkspacePlan::Mode;
using snapshot::TempDir;

struct stat stat_of(const std::string& path) {
  struct stat info {};
  EXPECT_EQ(::lstat(path.c_str(), &info), 0) << path;
  return info;
}

TEST(Workspace, FetchesWritesAndLaysOut) {
  Fixture f("overlay");
  TempDir source;
  source.file("train.py", "print(1)");
  source.file("lib/x.py", "x", 0755);
  const Digest root = f.capture_and_store(source);
  const WorkspacePlan plan = f.must_stage(f.assignment(root));
  EXPECT_EQ(plan.mode, Mode::overlay);
  EXPECT_EQ(plan.tree, f.dir / "cache/trees/" + root.hex());
  EXPECT_EQ(plan.mount_point, io::code_mount_point(JobId("some_job")));
  EXPECT_EQ(f.dir.read("cache/trees/" + root.hex() + "/train.py"), "print(1)");
  for (const char* name : {"upper", "overlay-work", "code", "tmp", "logs"}) {
    EXPECT_TRUE(S_ISDIR(stat_of(f.attempt().path() + "/" + name).st_mode)) << name;
  }
  EXPECT_EQ(f.told, (std::vector<std::string>{"fetching 3.0/12.0 MiB", "writing the source tree"}));
}

TEST(Workspace, ASecondAttemptFetchesAndWritesNothing) {
  Fixture f("overlay");
  TempDir source;
  source.file("a", "a");
  const Digest root = f.capture_and_store(source);
  const WorkspacePlan first = f.must_stage(f.assignment(root, 1));
  f.told.clear();
  const WorkspacePlan second = f.must_stage(f.assignment(root, 2));
  EXPECT_EQ(first.tree, second.tree);
  EXPECT_EQ(first.mount_point, second.mount_point) << "checkpoints may hold it";
  EXPECT_EQ(f.launcher.fetches, 1);
  EXPECT_TRUE(f.told.empty());
  // Also for an agent that starts again.
  f.workspace.reset();
  f.workspace = *Workspace::open({f.dir / "cache", "overlay"});
  EXPECT_EQ(f.must_stage(f.assignment(root, 3)).tree, first.tree);
  EXPECT_EQ(f.launcher.fetches, 1);
}

TEST(Workspace, AttemptsOfOneSnapshotAtOnceFetchOnce) {
  Fixture f("overlay");
  TempDir source;
  for (int i = 0; i < 200; ++i) source.file(std::to_string(i), std::to_string(i));
  const Digest root = f.capture_and_store(source);
  std::vector<std::thread> workers;
  std::atomic<int> good{0};
  for (std::uint32_t n = 1; n <= 6; ++n) {
    workers.emplace_back([&, n] {
      if (f.workspace->stage(f.assignment(root, n), f.attempt(n), f.launcher, {})) ++good;
    });
  }
  for (std::thread& worker : workers) worker.join();
  EXPECT_EQ(good, 6);
  EXPECT_EQ(f.launcher.fetches, 1);
}

TEST(Workspace, WithoutASnapshotTheDirectoryIsEmpty) {
  Fixture overlay("overlay");
  EXPECT_EQ(overlay.must_stage(overlay.assignment(std::nullopt)).tree, "");
  Fixture copy("copy");
  const WorkspacePlan plan = copy.must_stage(copy.assignment(std::nullopt));
  EXPECT_EQ(plan.mode, Mode::ready);
  EXPECT_TRUE(io::list_directory(copy.attempt().code())->empty());
}

TEST(Workspace, ACopyIsPrivateAndStagingItAgainStartsOver) {
  Fixture f("copy");
  TempDir source;
  source.file("d/a", "original");
  source.link("d/a", "link");
  const Digest root = f.capture_and_store(source);
  const WorkspacePlan plan = f.must_stage(f.assignment(root));
  EXPECT_EQ(plan.mode, Mode::ready);
  const std::string code = f.attempt().code();
  EXPECT_EQ(snapshot::capture(code, {})->root, root);
  EXPECT_EQ(stat_of(code + "/d/a").st_nlink, 1u);
  std::ofstream(code + "/d/a") << "changed";
  EXPECT_EQ(f.dir.read("cache/trees/" + root.hex() + "/d/a"), "original");
  f.dir.file("attempts/some_job.1/code.part/junk", "x");
  f.must_stage(f.assignment(root));
  EXPECT_EQ(snapshot::capture(code, {})->root, root);
  EXPECT_FALSE(io::exists(code + ".part"));
}

TEST(Workspace, ForAContainerItIsACopyAtTheCommonPath) {
  for (const char* mode : {"overlay", "copy"}) {
    Fixture f(mode);
    TempDir source;
    source.file("d/a", "original");
    const Digest root = f.capture_and_store(source);
    Assignment assignment = f.assignment(root);
    assignment.spec.environment.emplace().definition = DockerEnvironment{"debian:12", {}, {}};
    const WorkspacePlan plan = f.must_stage(assignment);
    EXPECT_EQ(plan.mode, Mode::ready) << mode;
    EXPECT_EQ(plan.mount_point, io::code_mount_point(assignment.attempt.job)) << mode;
    const std::string code = f.attempt().code();
    EXPECT_EQ(snapshot::capture(code, {})->root, root);
    std::ofstream(code + "/d/a") << "changed";
    EXPECT_EQ(f.dir.read("cache/trees/" + root.hex() + "/d/a"), "original");
    EXPECT_FALSE(io::exists(f.attempt().upper()));
  }
}

TEST(Workspace, AnotherUsersDirectoriesAreTheirs) {
  if (::geteuid() != 0) GTEST_SKIP() << "giving files away needs root";
  for (const char* mode : {"overlay", "copy"}) {
    Fixture f(mode);
    TempDir source;
    source.file("d/a", "a");
    const Digest root = f.capture_and_store(source);
    const io::User nobody = *io::find_user("nobody");
    f.must_stage(f.assignment(root, 1, "nobody"));
    std::vector<std::string> theirs = {"tmp", "code"};
    if (std::string(mode) == "overlay") theirs.push_back("upper");
    if (std::string(mode) == "copy") theirs.insert(theirs.end(), {"code/d", "code/d/a"});
    for (const std::string& name : theirs) {
      EXPECT_EQ(stat_of(f.attempt().path() + "/" + name).st_uid, nobody.uid) << mode << " " << name;
    }
    EXPECT_EQ(stat_of(f.attempt().logs()).st_uid, 0u);
    EXPECT_EQ(stat_of(f.attempt().logs()).st_mode & 07777, 0700u);
    EXPECT_EQ(stat_of(f.attempt().tmp()).st_mode & 07777, 0700u);
    // All of it is reached only by us and by the group of the ranks.
    EXPECT_EQ(stat_of(f.attempt().path()).st_uid, 0u);
    EXPECT_EQ(stat_of(f.attempt().path()).st_gid, nobody.gid);
    EXPECT_EQ(stat_of(f.attempt().path()).st_mode & 07777, 0710u);
  }
}

// What a process of that user and group can open, of these paths.
std::vector<std::string> opened_by(uid_t uid, gid_t gid, const std::vector<std::string>& paths) {
  int ends[2];
  EXPECT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    if (::setgroups(0, nullptr) != 0 || ::setgid(gid) != 0 || ::setuid(uid) != 0) ::_exit(9);
    std::string seen;
    for (const std::string& path : paths) {
      const bool opens = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC) >= 0;
      seen.push_back(opens ? '1' : '0');
    }
    ::_exit(::write(ends[1], seen.data(), seen.size()) == ssize_t(seen.size()) ? 0 : 8);
  }
  ::close(ends[1]);
  std::string seen(paths.size(), '0');
  EXPECT_EQ(::read(ends[0], seen.data(), seen.size()), ssize_t(paths.size()));
  ::close(ends[0]);
  ::waitpid(child, nullptr, 0);
  std::vector<std::string> opened;
  for (std::size_t i = 0; i < paths.size(); ++i)
    if (seen[i] == '1') opened.push_back(paths[i]);
  return opened;
}

TEST(Workspace, OthersOfTheUsersGroupReachNothing) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root: it acts as two users of one group";
  constexpr uid_t kAnother = 61002;
  const io::User nobody = *io::find_user("nobody");
  for (const char* mode : {"overlay", "copy"}) {
    Fixture f(mode);
    ASSERT_EQ(::chmod((f.dir / "").c_str(), 0711), 0);
    TempDir source;
    source.file("train.py", "x", 0644);
    const Digest root = f.capture_and_store(source);
    const WorkspacePlan plan = f.must_stage(f.assignment(root, 1, "nobody"));
    const std::string attempt = f.attempt().path();
    const std::string written =
        std::string(mode) == "overlay" ? f.attempt().upper() : f.attempt().code();
    ASSERT_TRUE(io::write_file_atomically(written + "/model.bin", "weights", 0644, false));
    std::vector<std::string> theirs = {written, written + "/model.bin", f.attempt().tmp()};
    if (std::string(mode) == "copy") theirs.push_back(written + "/train.py");
    EXPECT_EQ(opened_by(nobody.uid, nobody.gid, theirs), theirs) << mode;
    theirs.insert(theirs.end(), {attempt, f.attempt().code(), f.attempt().logs(), plan.tree,
                                 plan.tree + "/train.py"});
    EXPECT_EQ(opened_by(kAnother, nobody.gid, theirs), std::vector<std::string>()) << mode;
    EXPECT_EQ(opened_by(kAnother, kAnother, theirs), std::vector<std::string>()) << mode;
  }
}

TEST(Workspace, SaysThatItsCacheWasTakenAway) {
  Fixture f("overlay");
  TempDir source;
  source.file("a", "a");
  const Digest root = f.capture_and_store(source);
  ASSERT_TRUE(io::remove_tree(f.dir / "cache"));
  const auto staged = f.workspace->stage(f.assignment(root), f.attempt(), f.launcher, {});
  ASSERT_FALSE(staged);
  EXPECT_NE(staged.error().message.find("was removed while this agent runs: restart the agent"),
            std::string::npos)
      << staged.error().message;
}

TEST(Workspace, SaysWhatIsWrong) {
  EXPECT_FALSE(Workspace::open({"/tmp/snap-test-never-made", "nfs"}));
  Fixture f("overlay");
  const auto missing =
      f.workspace->stage(f.assignment(sha256("none")), f.attempt(), f.launcher, {});
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().message.find("cannot fetch the source tree"), std::string::npos);
  const auto nobody = f.workspace->stage(f.assignment(std::nullopt, 1, "no-such-user-here"),
                                         f.attempt(), f.launcher, {});
  ASSERT_FALSE(nobody);
  EXPECT_NE(nobody.error().message.find("no-such-user-here"), std::string::npos);
  const auto second = Workspace::open({f.dir / "cache", "overlay"});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::conflict);
}

TEST(Workspace, ADamagedCacheIsMendedFromTheLauncher) {
  Fixture f("overlay");
  TempDir source;
  source.file("a", std::string(3000, 'a') + "end");
  const Digest root = f.capture_and_store(source);
  f.must_stage(f.assignment(root, 1));
  f.workspace.reset();
  ASSERT_TRUE(io::remove_tree(f.dir / "cache/trees/" + root.hex()));
  std::string pack = f.dir.read("cache/blobs/packs/1.pack");
  // As if it had been synced: a mark behind the last record is not there, so damage cuts the tail.
  pack[pack.size() - 3] = static_cast<char>(pack[pack.size() - 3] ^ 1);
  f.dir.file("cache/blobs/packs/1.pack", pack, 0600);
  f.workspace = *Workspace::open({f.dir / "cache", "overlay"});
  f.must_stage(f.assignment(root, 2));
  EXPECT_EQ(f.launcher.fetches, 2);
  EXPECT_EQ(f.dir.read("cache/trees/" + root.hex() + "/a").size(), 3003u);
}

}  // namespace
}  // namespace lockstep::agent
