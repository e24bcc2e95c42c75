// A root runner makes folders in a working directory that is its user's, who changes names in it
// between any two system calls.

#include "runner/node/working_directory.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <functional>

#include "tests/fakes/disk/swaps.h"
#include "tests/unit/support/temp_dir.h"

namespace lockstep::runner {
namespace {

constexpr uid_t kSomebody = 65534;

class WorkspaceOfAnother : public testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "only root can give folders away";
  }
  // As the agent leaves it.
  void stage() {
    ASSERT_TRUE(io::remove_tree(attempt_.path()));
    ASSERT_TRUE(io::make_directories(attempt_.code()));
    ASSERT_EQ(::chown(attempt_.code().c_str(), kSomebody, kSomebody), 0);
  }
  Status set_up() {
    OutputSpec output;
    output.name = "model";
    TRY_ASSIGN(const Workspace workspace,
               Workspace::prepare(WorkspacePlan{}, attempt_, kSomebody, kSomebody, {output}));
    return workspace.use_in_place();
  }
  uid_t owner_of(const std::string& name) {
    struct stat info {};
    EXPECT_EQ(::lstat((attempt_.code() + "/" + name).c_str(), &info), 0) << name;
    return info.st_uid;
  }

  const test::TempDir dir_;
  const io::AttemptDir attempt_{dir_ / "job.1"};
};

TEST_F(WorkspaceOfAnother, ItsFoldersAreTheUsers) {
  stage();
  const Status done = set_up();
  ASSERT_TRUE(done) << done.error().message;
  for (const char* name : {"outputs", "logs", ".lockstep", ".lockstep/checkpoint"})
    EXPECT_EQ(owner_of(name), kSomebody) << name;
  EXPECT_TRUE(set_up()) << "again";
}

TEST_F(WorkspaceOfAnother, NothingBeyondIsGivenAwayWhateverIsSwapped) {
  const test::Canary canary(dir_ / "canary");
  for (const std::string name : {"outputs", "logs", ".lockstep", ".lockstep/checkpoint"}) {
    const std::string path = attempt_.code() + "/" + name;
    bool done = false;
    const int calls =
        test::each_swap([&] { stage(); },
                        [&] {
                          ::rename(path.c_str(), (attempt_.code() + "/aside").c_str());
                          static_cast<void>(::symlink(canary.path().c_str(), path.c_str()));
                        },
                        [&] { done = set_up().has_value(); }, [&] { canary.is_untouched(); });
    EXPECT_GT(calls, 12) << name;
    EXPECT_TRUE(done) << "with nothing swapped";
  }
}

// The job runs; that nothing is kept of it is said when outputs are collected.
TEST_F(WorkspaceOfAnother, ASymlinkOfTheSnapshotStaysAsItIs) {
  stage();
  const test::Canary canary(dir_ / "canary");
  ASSERT_EQ(::symlink(canary.path().c_str(), (attempt_.code() + "/outputs").c_str()), 0);
  EXPECT_TRUE(set_up());
  canary.is_untouched();
  stage();
  ASSERT_EQ(::symlink(canary.path().c_str(), (attempt_.code() + "/.lockstep").c_str()), 0);
  const Status done = set_up();
  ASSERT_FALSE(done);
  EXPECT_NE(done.error().message.find("is reserved for Lockstep"), std::string::npos);
  canary.is_untouched();
}

// In a mount namespace of a child's own; 0: all was as it should be.
int in_own_mounts(const std::function<int()>& look) {
  const pid_t child = ::fork();
  if (child == 0) {
    const bool is_apart = ::unshare(CLONE_NEWNS) == 0 &&
                          ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
    ::_exit(is_apart ? look() : 99);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 98;
}

class Inputs : public WorkspaceOfAnother {
 protected:
  Result<Workspace> prepared() {
    stage();
    EXPECT_TRUE(io::make_directories(dir_ / "tree"));
    EXPECT_TRUE(io::write_file_atomically(dir_ / "tree/a", "first", 0644));
    WorkspacePlan plan;
    plan.inputs = {{"d", dir_ / "tree"}};
    return Workspace::prepare(plan, attempt_, kSomebody, kSomebody);
  }
  std::string target() const { return attempt_.code() + "/.lockstep/inputs/d"; }
};

TEST_F(Inputs, AreReadAndNotWritten) {
  const auto workspace = prepared();
  ASSERT_TRUE(workspace) << workspace.error().message;
  EXPECT_TRUE(workspace->must_mount());
  EXPECT_EQ(in_own_mounts([&] {
              if (!workspace->mount()) return 1;
              if (io::read_file(target() + "/a").value_or("") != "first") return 2;
              if (::open((target() + "/a").c_str(), O_WRONLY) >= 0 || errno != EROFS) return 3;
              return ::mkdir((target() + "/new").c_str(), 0700) == 0 || errno != EROFS ? 4 : 0;
            }),
            0);
  EXPECT_FALSE(io::exists(target() + "/a")) << "no other namespace sees the mount";
}

TEST_F(Inputs, AreNotMountedWhereALinkLeads) {
  const auto workspace = prepared();
  ASSERT_TRUE(workspace) << workspace.error().message;
  ASSERT_TRUE(io::make_directories(dir_ / "elsewhere"));
  ASSERT_TRUE(io::make_directories(attempt_.code() + "/.lockstep/inputs"));
  ASSERT_EQ(::symlink((dir_ / "elsewhere").c_str(), target().c_str()), 0);
  EXPECT_EQ(in_own_mounts([&] {
              if (workspace->mount()) return 1;
              return io::exists(dir_ / "elsewhere/a") ? 2 : 0;
            }),
            0);
}

// Files of a datastore's directory: a folder, a file, and one that may be changed.
class Placed : public WorkspaceOfAnother {
 protected:
  Result<Workspace> prepared() {
    stage();
    EXPECT_EQ(::chmod(dir_.path().c_str(), 0755), 0);
    EXPECT_TRUE(io::make_directories(dir_ / "store/set"));
    EXPECT_TRUE(io::write_file_atomically(dir_ / "store/set/a", "first", 0666));
    EXPECT_EQ(::chmod((dir_ / "store/set/a").c_str(), 0666), 0);
    EXPECT_EQ(::chmod((dir_ / "store/set").c_str(), 0777), 0);
    WorkspacePlan plan;
    plan.placed = {{"d", {"store", dir_ / "store", "set"}, false, ""},
                   {"f", {"store", dir_ / "store", "set/a"}, false, "a"},
                   {"w", {"store", dir_ / "store", "set"}, true, ""}};
    io::User reader;
    reader.name = "somebody";
    reader.uid = reader.gid = kSomebody;
    return Workspace::prepare(plan, attempt_, kSomebody, kSomebody, {}, reader);
  }
  std::string at(const std::string& name) const {
    return attempt_.code() + "/.lockstep/inputs/" + name;
  }
};

TEST_F(Placed, AreMountedAsTheyMayBeUsed) {
  const auto workspace = prepared();
  ASSERT_TRUE(workspace) << workspace.error().message;
  EXPECT_TRUE(workspace->must_mount());
  EXPECT_EQ(in_own_mounts([&] {
              if (const Status mounted = workspace->mount(); !mounted) {
                static_cast<void>(
                    ::write(2, mounted.error().message.data(), mounted.error().message.size()));
                return 1;
              }
              if (io::read_file(at("d/a")).value_or("") != "first") return 2;
              if (io::read_file(at("f/a")).value_or("") != "first") return 3;
              for (const char* file : {"d/a", "f/a"})
                if (::open(at(file).c_str(), O_WRONLY) >= 0 || errno != EROFS) return 4;
              if (::mkdir(at("d/new").c_str(), 0700) == 0) return 5;
              return ::mkdir(at("w/new").c_str(), 0700) == 0 ? 0 : 6;
            }),
            0);
  EXPECT_TRUE(io::exists(dir_ / "store/set/new"));
  EXPECT_FALSE(io::exists(at("d/a"))) << "no other namespace sees the mount";
}

TEST_F(Placed, AreNotMountedForAUserWhoMayNotReadThem) {
  const auto workspace = prepared();
  ASSERT_TRUE(workspace) << workspace.error().message;
  ASSERT_EQ(::chmod((dir_ / "store").c_str(), 0700), 0);
  EXPECT_EQ(in_own_mounts([&] { return workspace->mount() ? 1 : 0; }), 0);
}

TEST_F(Placed, AreNotMountedFromBeyondTheDirectory) {
  const auto workspace = prepared();
  ASSERT_TRUE(workspace) << workspace.error().message;
  ASSERT_EQ(::rename((dir_ / "store/set").c_str(), (dir_ / "store/aside").c_str()), 0);
  ASSERT_EQ(::symlink("/etc", (dir_ / "store/set").c_str()), 0);
  EXPECT_EQ(in_own_mounts([&] { return workspace->mount() ? 1 : 0; }), 0);
}

}  // namespace
}  // namespace lockstep::runner
