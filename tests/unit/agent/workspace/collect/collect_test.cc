// What ranks left, collected from real directories: plain ones and overlays with whiteouts.

#include "agent/workspace/collect/collect.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "agent/workspace/collect/rank_folders.h"
#include "tests/unit/agent/workspace/collect/collecting.h"

namespace lockstep::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

bool whiteout(const std::string& path) {
  return ::mknod(path.c_str(), S_IFCHR | 0600, makedev(0, 0)) == 0;
}

TEST(Collect, NothingLeftCostsNothing) {
  Collecting f("copy");
  f.job.spec.outputs = {{"model", OutputType::uri_folder, OutputMode::upload}};
  f.stage({});
  EXPECT_FALSE(is_anything_left(f.job, f.attempt()));
  const auto all = f.collect();
  ASSERT_TRUE(all);
  EXPECT_TRUE(all->empty());
  EXPECT_EQ(f.sink.pushes, 0);
}

TEST(Collect, AnAttemptThatWasNeverStagedLeftNothing) {
  Collecting f("copy");
  f.job = f.assignment({});
  EXPECT_FALSE(is_anything_left(f.job, f.attempt()));
  EXPECT_TRUE(f.collect()->empty());
}

TEST(Collect, EveryKindOfOutputComesBackAsItIs) {
  Collecting f("copy");
  snapshot::TempDir source;
  source.file("train.py", "x");
  source.file(".gitignore", "*.bin\noutputs/");
  f.job = f.assignment({});
  const Digest root = f.capture_and_store(source);
  f.job.spec.snapshot = root;
  f.stage(root);
  f.job.spec.outputs = {{"model", OutputType::uri_folder, OutputMode::rw_mount}};
  f.write("outputs/a/b.bin", "one");
  f.write("outputs/.git/HEAD", "two");
  f.write("outputs/.gitignore", "*");
  f.write("logs/log.txt", "three");
  f.write(named_output_folder("model") + "/weights", "four");
  ASSERT_EQ(::chmod((f.written + "/outputs/a/b.bin").c_str(), 0755), 0);
  ASSERT_EQ(::symlink("/etc/passwd", (f.written + "/outputs/link").c_str()), 0);
  ASSERT_EQ(::mkdir((f.written + "/outputs/empty").c_str(), 0755), 0);
  EXPECT_TRUE(is_anything_left(f.job, f.attempt()));

  const CollectedOutput outputs = f.must_collect(OutputKind::outputs, "o");
  EXPECT_EQ(outputs.files, 3u);
  EXPECT_EQ(outputs.size.count, 7u);
  EXPECT_TRUE(outputs.problems.empty());
  EXPECT_EQ(*io::read_file(f.dir / "o/a/b.bin"), "one");
  EXPECT_EQ(*io::read_file(f.dir / "o/.git/HEAD"), "two");
  struct stat info {};
  ASSERT_EQ(::stat((f.dir / "o/a/b.bin").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0755u);
  ASSERT_EQ(::lstat((f.dir / "o/link").c_str(), &info), 0);
  EXPECT_TRUE(S_ISLNK(info.st_mode));
  EXPECT_TRUE(io::exists(f.dir / "o/empty"));
  EXPECT_EQ(f.must_collect(OutputKind::logs).files, 1u);
  const CollectedOutput model = f.must_collect(OutputKind::named, "m");
  EXPECT_EQ(model.name, "model");
  EXPECT_EQ(*io::read_file(f.dir / "m/weights"), "four");
}

TEST(Collect, AFileOutputThatIsNoFileIsNamedAndKept) {
  const auto problems = [](const std::string& written) {
    Collecting f("copy");
    f.job = f.assignment({});
    f.stage({});
    f.job.spec.outputs = {{"report", OutputType::uri_file, OutputMode::rw_mount}};
    f.write(named_output_folder("report") + "/" + written, "text");
    const CollectedOutput output = f.must_collect(OutputKind::named);
    EXPECT_TRUE(output.tree) << "what was written is kept";
    return output.problems;
  };
  EXPECT_TRUE(problems("report").empty());
  const auto folder = problems("report/part-0");
  ASSERT_EQ(folder.size(), 1u);
  EXPECT_THAT(folder[0], HasSubstr("its type is uri_file, but the job wrote a folder at its path"));
  const auto beside = problems("report.txt");
  ASSERT_EQ(beside.size(), 1u);
  EXPECT_THAT(beside[0], HasSubstr("there is no file at its path; its folder holds report.txt"));
}

TEST(Collect, ANameCannotForgeALine) {
  Collecting f("copy");
  f.stage({});
  ASSERT_EQ(::mkfifo((f.written + "/outputs/x\nproblem: y").c_str(), 0644), 0);
  const auto problems = f.must_collect(OutputKind::outputs).problems;
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_THAT(problems[0], StartsWith("\"x\\nproblem: y\" was left out: "));
}

TEST(Collect, WhatFindsNoSpaceIsAProblemOfThatOutputAlone) {
  Collecting f("copy");
  f.stage({});
  f.write("outputs/a", "1");
  f.write("logs/b", "2");
  f.sink.answers = {make_error(ErrorCode::resource_exhausted, "was not kept"), Status()};
  const auto all = f.collect();
  ASSERT_TRUE(all);
  ASSERT_EQ(all->size(), 2u);
  EXPECT_FALSE(all->at(0).tree);
  EXPECT_THAT(all->at(0).problems, ElementsAre("was not kept"));
  EXPECT_TRUE(all->at(1).tree);
}

TEST(Collect, WhatCannotBeKeptIsNamedAndTheRestIsKept) {
  Collecting f("copy");
  f.stage({});
  f.write("outputs/good", "1");
  ASSERT_EQ(::mkfifo((f.written + "/outputs/pipe").c_str(), 0644), 0);
  const int sock = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{AF_UNIX, {}};
  const std::string path = f.written + "/outputs/s";
  ASSERT_LT(path.size(), sizeof address.sun_path);
  path.copy(address.sun_path, path.size());
  ASSERT_EQ(::bind(sock, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ::close(sock);
  const CollectedOutput outputs = f.must_collect(OutputKind::outputs, "o");
  EXPECT_EQ(outputs.files, 1u);
  EXPECT_EQ(outputs.problems,
            (std::vector<std::string>{"pipe was left out: a fifo", "s was left out: a socket"}));
  EXPECT_EQ(*io::read_file(f.dir / "o/good"), "1");
}

// Makes 25 nested folders of 200 characters below `folder`, with a file at the end of them.
std::string put_deep(const std::string& folder) {
  const std::string name(200, 'p');
  std::string path;
  io::Fd at(::open(folder.c_str(), O_RDONLY | O_DIRECTORY));
  for (int i = 0; i < 25; ++i) {
    EXPECT_EQ(::mkdirat(at.get(), name.c_str(), 0755), 0);
    at = io::Fd(::openat(at.get(), name.c_str(), O_RDONLY | O_DIRECTORY));
    path += name + "/";
  }
  const io::Fd file(::openat(at.get(), "deep", O_WRONLY | O_CREAT, 0644));
  EXPECT_EQ(::write(file.get(), "deep", 4), 4);
  return path + "deep";
}

TEST(Collect, APathLongerThanTheSystemTakesIsKeptAsWell) {
  Collecting f("copy");
  f.stage({});
  f.write("outputs/model.pt", "1");
  f.write(std::string(kCheckpointFolder) + "/step", "2");
  const std::string deep = put_deep(f.written + "/outputs");
  put_deep(f.written + "/" + std::string(kCheckpointFolder));
  for (const OutputKind kind : {OutputKind::outputs, OutputKind::checkpoint}) {
    const std::string into = kind == OutputKind::outputs ? "o" : "c";
    const CollectedOutput output = f.must_collect(kind, into);
    EXPECT_EQ(output.files, 2u);
    EXPECT_TRUE(output.problems.empty());
    const io::Fd root(::open((f.dir / into).c_str(), O_RDONLY | O_DIRECTORY));
    const io::Fd file = snapshot::open_entry(root.get(), deep, O_RDONLY);
    char content[5] = {};
    EXPECT_EQ(::read(file.get(), content, 4), 4);
    EXPECT_STREQ(content, "deep");
  }
}

TEST(Collect, WhatLiesTooDeepForATreeIsNamedAndTheRestIsKept) {
  Collecting f("copy");
  f.stage({});
  f.write("outputs/model.pt", "1");
  std::string folder = "outputs";
  for (int i = 0; i <= snapshot::kMaxTreeDepth; ++i) folder += "/d";
  f.write(folder + "/x", "2");
  const CollectedOutput outputs = f.must_collect(OutputKind::outputs, "o");
  EXPECT_EQ(outputs.files, 1u);
  ASSERT_EQ(outputs.problems.size(), 1u);
  EXPECT_NE(outputs.problems[0].find("d/ was left out: it is more than 256 folders deep"),
            std::string::npos)
      << outputs.problems[0];
  EXPECT_EQ(*io::read_file(f.dir / "o/model.pt"), "1");
}

TEST(Collect, UnreadableFilesAndFoldersAreNamed) {
  // Root reads with the rights of the job's user, who cannot read these.
  Collecting f("copy");
  f.job = f.assignment({}, 1, ::geteuid() == 0 ? "nobody" : "");
  ASSERT_EQ(std::system(("chmod -R a+rwX " + (f.dir / "launcher")).c_str()), 0);
  const WorkspacePlan plan = f.must_stage(f.job);
  Collecting::put(f.attempt().workspace(), wire::encode(plan));
  f.written = f.attempt().code();
  f.write("outputs/good", "1");
  f.write("outputs/secret", "2");
  f.write("outputs/hidden/x", "3");
  ASSERT_EQ(::chmod((f.written + "/outputs/secret").c_str(), 0), 0);
  ASSERT_EQ(::chmod((f.written + "/outputs/hidden").c_str(), 0), 0);
  const CollectedOutput outputs = f.must_collect(OutputKind::outputs);
  EXPECT_EQ(outputs.files, 1u);
  EXPECT_EQ(outputs.problems, (std::vector<std::string>{"hidden/ was left out: permission denied",
                                                        "secret was left out: permission denied"}));
  ASSERT_EQ(::chmod((f.written + "/outputs/hidden").c_str(), 0755), 0);
}

TEST(Collect, NoSymlinkLeadsOutOfTheWorkingDirectory) {
  Collecting f("copy");
  f.stage({});
  f.job.spec.outputs = {{"model", OutputType::uri_folder, OutputMode::rw_mount}};
  ASSERT_EQ(::rmdir((f.written + "/outputs").c_str()), 0);
  ASSERT_EQ(::mkfifo((f.written + "/fifo").c_str(), 0600), 0);
  ASSERT_EQ(::symlink("fifo", (f.written + "/outputs").c_str()), 0);
  ASSERT_EQ(::symlink("/", (f.written + "/.lockstep").c_str()), 0);
  const CollectedOutput outputs = f.must_collect(OutputKind::outputs);
  EXPECT_FALSE(outputs.tree);
  ASSERT_EQ(outputs.problems.size(), 1u);
  EXPECT_EQ(outputs.problems[0],
            "outputs is a symlink to fifo, which is not a folder: nothing in it is kept; make it a "
            "folder, or link to a folder of the job's user");
  EXPECT_FALSE(f.must_collect(OutputKind::named).tree);
}

TEST(Collect, AFileThatChangesMeanwhileIsCapturedAgain) {
  Collecting f("copy");
  f.stage({});
  f.write("outputs/a", "1");
  f.sink.answers = {make_error(ErrorCode::conflict, "a changed"), Status()};
  EXPECT_TRUE(f.must_collect(OutputKind::outputs).tree);
  EXPECT_EQ(f.sink.pushes, 2);
  const Error changed = make_error(ErrorCode::conflict, "a changed");
  f.sink.answers = {changed, changed, changed};
  const CollectedOutput lost = f.must_collect(OutputKind::outputs);
  EXPECT_FALSE(lost.tree);
  EXPECT_EQ(lost.problems, std::vector<std::string>{"a changed"});
}

std::vector<CollectedOutput> so_far(Collecting& f, SoFarMemory& memory) {
  auto captured = f.workspace->capture_so_far(f.job, f.attempt(), f.launcher, f.sink, memory);
  EXPECT_TRUE(captured) << captured.error().message;
  return captured ? *std::move(captured) : std::vector<CollectedOutput>();
}

void rest() { std::this_thread::sleep_for(std::chrono::milliseconds(1'100)); }

TEST(Collect, WhatAnAttemptThatRunsHasWrittenIsCapturedWhenItRests) {
  Collecting f("copy");
  f.job = f.assignment({});
  f.stage({});
  f.job.spec.outputs = {{"model", OutputType::uri_folder, OutputMode::rw_mount}};
  SoFarMemory memory;
  EXPECT_TRUE(so_far(f, memory).empty()) << "all are empty";
  f.write("outputs/a", "1");
  f.write("logs/l", "1");
  f.write(named_output_folder("model") + "/w", "1");
  EXPECT_TRUE(so_far(f, memory).empty()) << "they were touched just now";
  rest();
  f.sink.answers = {make_error(ErrorCode::unavailable, "away")};
  EXPECT_FALSE(f.workspace->capture_so_far(f.job, f.attempt(), f.launcher, f.sink, memory));
  const auto first = so_far(f, memory);
  ASSERT_EQ(first.size(), 3u) << "what did not arrive is sent again";
  EXPECT_EQ(first[0].kind, OutputKind::outputs);
  EXPECT_EQ(first[2].name, "model");
  for (const CollectedOutput& output : first) {
    EXPECT_EQ(output.files, 1u);
    EXPECT_TRUE(f.launcher.store->missing_from(*output.tree)->empty());
  }
  EXPECT_TRUE(so_far(f, memory).empty()) << "nothing changed";
}

// ---- folders that are symlinks ---------------------------------------------------------------

struct Linked : Collecting {
  explicit Linked(const std::string& mode = "copy") : Collecting(mode) { stage({}); }
  void link_outputs(const std::string& target) {
    static_cast<void>(::rmdir((written + "/outputs").c_str()));
    ::unlink((written + "/outputs").c_str());
    ASSERT_EQ(::symlink(target.c_str(), (written + "/outputs").c_str()), 0);
  }
  std::string problem() {
    SoFarMemory memory;
    const auto now = so_far(*this, memory);
    const CollectedOutput end = must_collect(OutputKind::outputs);
    EXPECT_FALSE(end.tree);
    if (now.size() != 1 || end.problems.size() != 1) return "";
    EXPECT_EQ(now[0].problems, end.problems) << "it is said while the job runs";
    EXPECT_TRUE(so_far(*this, memory).empty()) << "once";
    return end.problems[0];
  }
};

TEST(Collect, AFolderOfTheUsersThatOutputsLeadToIsKept) {
  Linked f;
  snapshot::TempDir scratch;
  scratch.file("deep/model", "weights");
  f.link_outputs(scratch.path());
  rest();
  SoFarMemory memory;
  const auto now = so_far(f, memory);
  ASSERT_EQ(now.size(), 1u);
  EXPECT_EQ(now[0].files, 1u);
  EXPECT_TRUE(f.must_collect(OutputKind::outputs, "o").problems.empty());
  EXPECT_EQ(*io::read_file(f.dir / "o/deep/model"), "weights");
}

TEST(Collect, ALinkInTheWorkingDirectoryIsFollowedHoweverItIsWritten) {
  for (const std::string& target :
       {std::string("./results"), std::string("x/../results"), std::string("WD/results")}) {
    Linked f;
    f.write("results/model", "weights");
    f.write("x/y", "");
    f.link_outputs(target.starts_with("WD") ? f.attempt().code() + target.substr(2) : target);
    EXPECT_TRUE(f.must_collect(OutputKind::outputs, "o").problems.empty()) << target;
    EXPECT_EQ(*io::read_file(f.dir / "o/model"), "weights");
    EXPECT_TRUE(!f.not_kept || f.not_kept->names == std::vector<std::string>{"x/"})
        << "it is kept once";
  }
}

TEST(Collect, WhatOutputsCannotLeadToIsSaidByName) {
  Linked f;
  const auto leads = [&](const std::string& target) {
    f.link_outputs(target);
    return f.problem();
  };
  EXPECT_THAT(leads("/nowhere/at/all"), HasSubstr("outputs is a symlink to /nowhere/at/all, which "
                                                  "does not exist on this node"));
  EXPECT_THAT(leads("/dev/null"), HasSubstr("which is not a folder"));
  EXPECT_THAT(leads("."), HasSubstr("contains the job's own working directory"));
  EXPECT_THAT(leads(".."), HasSubstr("contains the job's own working directory"));
  EXPECT_THAT(leads("outputs"), HasSubstr("leads in a circle"));
  EXPECT_THAT(leads("/proc/self/fd/1"), HasSubstr("is a symlink to /proc/self/fd/1, which "));
  EXPECT_THAT(leads("/proc/self/cwd"), HasSubstr("through a link of the kernel"));
  EXPECT_THAT(leads("/proc/self"), HasSubstr("is a symlink to /proc/self, which "));
  ASSERT_EQ(::mkfifo((f.written + "/fifo").c_str(), 0600), 0);
  EXPECT_THAT(leads("fifo"), HasSubstr("which is not a folder"));
  ASSERT_EQ(::unlink((f.written + "/outputs").c_str()), 0);
  f.write("outputs", "a file");
  EXPECT_EQ(f.problem(), "outputs is not a folder; only a folder is kept");
}

TEST(Collect, AFolderOfSomebodyElsesIsNotFollowed) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root gives folders away";
  Linked f;
  snapshot::TempDir other;
  other.file("secret", "x");
  ASSERT_EQ(::chown(other.path().c_str(), 12345, 12345), 0);
  f.link_outputs(other.path());
  EXPECT_THAT(f.problem(), HasSubstr("does not belong to the job's user"));
}

TEST(Collect, ALauncherThatIsAwayIsNoVerdict) {
  Collecting f("copy");
  f.stage({});
  f.write("outputs/a", "1");
  f.sink.answers = {make_error(ErrorCode::unavailable, "no answer")};
  const auto all = f.collect();
  ASSERT_FALSE(all);
  EXPECT_EQ(all.error().code, ErrorCode::unavailable);
}

void fill_outputs(const snapshot::TempDir& source) {
  source.file("outputs/kept", "kept");
  source.file("outputs/gone", "gone");
  source.file("outputs/changed", "old");
  source.file("outputs/sub/kept", "kept");
  source.file("outputs/sub/deep/kept", "kept");
  source.file("outputs/replaced/old", "old");
  source.file("outputs/file_then_folder", "x");
  source.file("logs/untouched", "as it was");
}

TEST(Collect, AnOverlayIsCompletedFromTheSourceTreeBelow) {
  Collecting f("overlay");
  snapshot::TempDir source;
  fill_outputs(source);
  const Digest root = f.capture_and_store(source);
  f.stage(root);
  f.write("outputs/changed", "new");
  f.write("outputs/sub/made", "made");
  if (!whiteout(f.written + "/outputs/gone")) GTEST_SKIP() << "this kernel makes no whiteouts";
  f.write("outputs/replaced/new", "new");
  const bool opaque =
      ::setxattr((f.written + "/outputs/replaced").c_str(),
                 ::geteuid() == 0 ? "trusted.overlay.opaque" : "user.overlay.opaque", "y", 1,
                 0) == 0;
  ASSERT_TRUE(opaque);
  f.write("outputs/file_then_folder/x", "1");

  const CollectedOutput outputs = f.must_collect(OutputKind::outputs, "o");
  EXPECT_EQ(*io::list_directory(f.dir / "o"),
            (std::vector<std::string>{"changed", "file_then_folder", "kept", "replaced", "sub"}));
  EXPECT_EQ(*io::read_file(f.dir / "o/changed"), "new");
  EXPECT_EQ(*io::list_directory(f.dir / "o/replaced"), std::vector<std::string>{"new"});
  EXPECT_EQ(*io::list_directory(f.dir / "o/sub"),
            (std::vector<std::string>{"deep", "kept", "made"}));
  EXPECT_EQ(outputs.files, 7u);
  EXPECT_TRUE(outputs.problems.empty());
  // Nobody touched it: it needs no reading and no sending.
  const CollectedOutput logs = f.must_collect(OutputKind::logs, "l");
  EXPECT_EQ(*io::read_file(f.dir / "l/untouched"), "as it was");
  EXPECT_EQ(logs.files, 1u);
}

TEST(Collect, AFolderThatTheJobRemovedIsNotBroughtBack) {
  Collecting f("overlay");
  snapshot::TempDir source;
  fill_outputs(source);
  f.stage(f.capture_and_store(source));
  if (!whiteout(f.written + "/logs")) GTEST_SKIP() << "this kernel makes no whiteouts";
  const auto all = f.collect();
  ASSERT_TRUE(all);
  for (const auto& output : *all) EXPECT_NE(output.kind, OutputKind::logs);
}

// What overlayfs itself shows, over operations of every kind, is what is collected.
TEST(Collect, ARealOverlayIsCollectedAsItsRanksSawIt) {
  if (::geteuid() != 0) GTEST_SKIP() << "mounting needs root";
  Collecting f("overlay");
  snapshot::TempDir source;
  fill_outputs(source);
  const Digest root = f.capture_and_store(source);
  f.stage(root);
  const WorkspacePlan plan = *wire::decode_workspace_plan(*io::read_file(f.attempt().workspace()));
  const pid_t child = ::fork();
  if (child == 0) {
    const std::string options =
        fmt::format("lowerdir={},upperdir={},workdir={},redirect_dir=off,metacopy=off", plan.tree,
                    f.attempt().upper(), f.attempt().overlay_work());
    const std::string code = f.attempt().code();
    if (::unshare(CLONE_NEWNS) != 0) ::_exit(1);
    if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) ::_exit(2);
    if (::mount("overlay", code.c_str(), "overlay", 0, options.c_str()) != 0) ::_exit(3);
    const std::string work =
        "cd " + code + "/outputs && echo new > changed && rm gone && rm -r replaced && " +
        "mkdir replaced && echo n > replaced/new && mv sub/deep moved && chmod 600 kept && " +
        "rm file_then_folder && mkdir file_then_folder && ln -s kept link && " +
        "rm -r sub && mkdir sub && echo again > sub/kept && cp -a . " + (f.dir / "seen");
    ::_exit(std::system(work.c_str()) == 0 ? 0 : 4);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_EQ(WEXITSTATUS(status), 0);
  const CollectedOutput outputs = f.must_collect(OutputKind::outputs);
  io::Fd seen(::open((f.dir / "seen").c_str(), O_RDONLY | O_DIRECTORY));
  const auto wanted = snapshot::capture_tree(std::move(seen), "seen", {});
  ASSERT_TRUE(wanted);
  EXPECT_EQ(outputs.tree, wanted->root);
  EXPECT_EQ(outputs.files, wanted->files.size());
}

}  // namespace
}  // namespace lockstep::agent
