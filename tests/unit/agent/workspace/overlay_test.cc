// Real mounts over what a workspace staged, as the runner makes them: by root for another user, and
// by an ordinary user in a user namespace. Each in a child with a mount namespace of its own.

#include <fmt/format.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "common/io/process.h"
#include "tests/unit/agent/workspace/fixture.h"

namespace lockstep::agent {
namespace {

constexpr unsigned kNobody = 65534;

// What a rank may expect of its working directory; 0 = all of it, else the number of the failure.
int use_as_rank(const std::string& code) {
  const auto write = [&](const std::string& name, const std::string& text) {
    std::ofstream out(code + "/" + name, std::ios::trunc);
    out << text;
    out.close();
    return out.good();
  };
  const auto read = [&](const std::string& name) {
    std::ifstream in(code + "/" + name);
    std::stringstream all;
    all << in.rdbuf();
    return all.str();
  };
  if (read("train.py") != "print(1)") return 1;
  if (!write("new", "new") || read("new") != "new") return 2;
  if (!write("sub/new", "new")) return 3;
  if (!write("sub/deep/old", "changed") || read("sub/deep/old") != "changed") return 4;
  if (::unlink((code + "/train.py").c_str()) != 0) return 5;
  if (::rename((code + "/sub/run.sh").c_str(), (code + "/run.sh").c_str()) != 0) return 6;
  return 0;
}

int mount_overlay(const WorkspacePlan& plan, const io::AttemptDir& directory, bool userns) {
  const std::string options =
      fmt::format("lowerdir={},upperdir={},workdir={}{}", plan.tree, directory.upper(),
                  directory.overlay_work(), userns ? ",userxattr" : "");
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return -1;
  return ::mount("overlay", directory.code().c_str(), "overlay", 0, options.c_str());
}

int exit_code_of(pid_t child) {
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void fill(const snapshot::TempDir& source) {
  source.file("train.py", "print(1)");
  source.file("sub/run.sh", "#!/bin/sh", 0755);
  source.file("sub/deep/old", "original", 0640);
}

TEST(Overlay, RootMountsAndAnotherUserWorksInIt) {
  if (::geteuid() != 0) GTEST_SKIP() << "mounting needs root";
  Fixture f("overlay");
  snapshot::TempDir source;
  fill(source);
  const Digest root = f.capture_and_store(source);
  const WorkspacePlan plan = f.must_stage(f.assignment(root, 1, "nobody"));
  const pid_t child = ::fork();
  if (child == 0) {
    if (::unshare(CLONE_NEWNS) != 0 || mount_overlay(plan, f.attempt(), false) != 0) ::_exit(100);
    if (::setgid(kNobody) != 0 || ::setuid(kNobody) != 0) ::_exit(101);
    // The tree itself stays out of reach.
    if (::access(plan.tree.c_str(), F_OK) == 0) ::_exit(102);
    ::_exit(use_as_rank(f.attempt().code()));
  }
  EXPECT_EQ(exit_code_of(child), 0);
  EXPECT_EQ(snapshot::capture(plan.tree, {})->root, root);
  EXPECT_TRUE(io::exists(f.attempt().upper() + "/sub/new"));
  // The mount went with its namespace: nothing is left in the way of the removal.
  EXPECT_TRUE(io::list_directory(f.attempt().code())->empty());
  EXPECT_TRUE(io::remove_tree(f.attempt().path()));
}

bool write_text(const char* path, const std::string& text) {
  std::ofstream out(path);
  out << text;
  out.close();
  return out.good();
}

// All of it as an ordinary user: cache, staging, mount and removal.
int whole_life_as_user(const std::string& home, const std::string& launcher, const Digest& root) {
  const unsigned uid = ::getuid(), gid = ::getgid();
  FakeSource source(launcher);
  auto workspace = Workspace::open({home + "/cache", "overlay-userns"});
  if (!workspace) return 100;
  Assignment assignment;
  assignment.attempt = {JobId("j"), 1};
  assignment.spec.snapshot = root;
  const io::AttemptDir directory(home + "/attempts/j.1");
  const auto plan = (*workspace)->stage(assignment, directory, source, {});
  if (!plan) return 101;
  const pid_t rank = ::fork();
  if (rank == 0) {
    if (::unshare(CLONE_NEWNS | CLONE_NEWUSER) != 0) ::_exit(102);
    if (!write_text("/proc/self/setgroups", "deny") ||
        !write_text("/proc/self/uid_map", fmt::format("{} {} 1", uid, uid)) ||
        !write_text("/proc/self/gid_map", fmt::format("{} {} 1", gid, gid))) {
      ::_exit(103);
    }
    if (mount_overlay(*plan, directory, true) != 0) ::_exit(104);
    ::_exit(use_as_rank(directory.code()));
  }
  int status = 0;
  if (::waitpid(rank, &status, 0) != rank || !WIFEXITED(status)) return 105;
  if (WEXITSTATUS(status) != 0) return WEXITSTATUS(status);
  if (snapshot::capture(plan->tree, {})->root != root) return 106;
  return io::remove_tree(directory.path()) ? 0 : 107;
}

TEST(Overlay, AnOrdinaryUserMountsInAUserNamespace) {
  snapshot::TempDir dir, source;
  fill(source);
  const auto captured = snapshot::capture(source.path(), {});
  ASSERT_TRUE(captured);
  snapshot::store_all(*captured, **snapshot::BlobStore::open(dir / "launcher"));
  const pid_t child = ::fork();
  if (child == 0) {
    if (::geteuid() == 0) {
      const std::string give = "chown -R 65534:65534 " + dir.path();
      if (std::system(give.c_str()) != 0) ::_exit(90);
      if (::setgid(kNobody) != 0 || ::setuid(kNobody) != 0) ::_exit(91);
      // A change of user makes /proc/self root's; a user's own process has it.
      if (::prctl(PR_SET_DUMPABLE, 1) != 0) ::_exit(92);
    }
    ::_exit(whole_life_as_user(dir.path(), dir / "launcher", captured->root));
  }
  EXPECT_EQ(exit_code_of(child), 0);
}

}  // namespace
}  // namespace lockstep::agent
