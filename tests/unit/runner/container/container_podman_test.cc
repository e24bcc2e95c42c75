// Ranks in a container of podman's: what differs from Docker is the engine, not what is promised.

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/domain/why/all/convert.h"
#include "common/io/programs/run_program.h"
#include "tests/unit/runner/attach/attach_talk.h"
#include "tests/unit/support/temp_dir.h"

namespace lockstep::runner::testing {
namespace {

constexpr char kPodman[] = "/usr/bin/podman";
constexpr char kRunc[] = "/usr/sbin/runc";
constexpr char kBusybox[] = "/bin/busybox";

// Images and containers of the test's own.
class PodmanStore {
 public:
  static std::string why_not() {
    if (geteuid() != 0) return "needs root: rootless podman wants sub-uids";
    for (const char* program : {kPodman, kRunc, kBusybox})
      if (access(program, X_OK) != 0) return std::string("needs ") + program;
    return "";
  }
  PodmanStore() {
    folder_.file("storage.conf", "[storage]\ndriver = \"overlay\"\ngraphroot = \"" +
                                     folder_ / "images" + "\"\nrunroot = \"" + folder_ / "run" +
                                     "\"\n");
    // The limits that are podman's default are more than a container's own root may set.
    folder_.file("containers.conf",
                 "[containers]\ndefault_ulimits = [\"nofile=1024:1024\", \"nproc=1024:1024\"]\n"
                 "[engine]\nruntime = \"runc\"\ncgroup_manager = \"cgroupfs\"\n");
    folder_.folder("root/bin");
    folder_.folder("root/etc");
    folder_.folder("root/tmp", 01777);
    const std::string fill = "cp " + std::string(kBusybox) + " " + (folder_ / "root/bin/busybox") +
                             " && for name in sh echo id touch sleep ls setsid dd true; do ln -s "
                             "busybox " +
                             (folder_ / "root/bin") + "/$name; done && tar -C " +
                             (folder_ / "root") + " -cf " + (folder_ / "image.tar") + " .";
    EXPECT_EQ(std::system(fill.c_str()), 0);
    image = words({"import", "--quiet", folder_ / "image.tar", "lockstep-test:1"});
  }
  ~PodmanStore() {
    words({"rm", "--all", "--force"});
    umount2((folder_ / "images/overlay").c_str(), MNT_DETACH);
  }

  std::map<std::string, std::string> variables() const {
    return {{"PATH", "/usr/sbin:/usr/bin:/sbin:/bin"},
            {"HOME", folder_.path()},
            {"CONTAINERS_CONF", folder_ / "containers.conf"},
            {"CONTAINERS_STORAGE_CONF", folder_ / "storage.conf"}};
  }
  std::string words(const std::vector<std::string>& arguments) const {
    std::vector<std::string> all{"/usr/bin/env", "--ignore-environment"};
    for (const auto& [name, value] : variables()) all.push_back(name + "=" + value);
    all.emplace_back(kPodman);
    all.insert(all.end(), arguments.begin(), arguments.end());
    const auto ran = io::run_program(all, minutes(1));
    EXPECT_TRUE(ran && ran->exit_code == 0) << (ran ? ran->errors : ran.error().message);
    return ran ? ran->text.substr(0, ran->text.find_last_not_of('\n') + 1) : "";
  }

  std::string image;

 private:
  test::TempDir folder_;
};

class PodmanTest : public ::testing::Test {
 protected:
  void SetUp() override {
#ifdef LOCKSTEP_SPAWN_IS_DYNAMIC
    GTEST_SKIP() << "needs a static lockstep-spawn";
#endif
    const std::string why_not = PodmanStore::why_not();
    if (!why_not.empty()) GTEST_SKIP() << why_not;
    store_ = std::make_unique<PodmanStore>();
    attempt_.assignment.spec.run_as = "nobody";
    attempt_.workspace.mount_point = io::code_mount_point(attempt_.assignment.attempt.job);
    Activation& activation = attempt_.workspace.activation.emplace();
    activation.variables = {{"PATH", "/bin"}};
    Container& container = activation.container.emplace();
    container.engine = kPodman;
    container.is_podman = true;
    container.image = store_->image;
    container.shell = "/bin/sh";
    container.limits_memory = true;
    container.variables = store_->variables();
  }
  void TearDown() override {
    if (HasFailure()) std::fprintf(stderr, "runner.log:\n%s\n", attempt_.runner_log().c_str());
  }
  std::string containers() const { return store_->words({"ps", "--all", "--quiet"}); }
  NodeExitReport run_to_end() {
    EXPECT_EQ(attempt_.run(), 0);
    EXPECT_TRUE(attempt_.survivors().empty());
    EXPECT_EQ(containers(), "");
    return attempt_.report();
  }

  std::unique_ptr<PodmanStore> store_;
  Attempt attempt_;
};

TEST_F(PodmanTest, RanksAreTheUserInTheirWorkingDirectory) {
  attempt_.ranks(2).shell(
      "if [ $LOCKSTEP_RANK = 1 ]; then pwd; id -u; touch $HOME/a outputs/1; exec sleep 1000; fi; "
      "while ! [ -e outputs/1 ]; do sleep 0.01; done; exit 3");
  const auto report = run_to_end();
  EXPECT_EQ(report.cause, Cause::exit_code) << log_text(report.why);
  EXPECT_EQ(report.ranks.at(0).exit_code, 3);
  EXPECT_EQ(attempt_.out(1), attempt_.workspace.mount_point + "\n65534\n");
  struct stat info {};
  ASSERT_EQ(stat((attempt_.directory().code() + "/outputs/1").c_str(), &info), 0);
  EXPECT_EQ(info.st_uid, 65534U);
}

TEST_F(PodmanTest, ARunnerKilledByNineLeavesNoContainer) {
  attempt_.shell(
      "(setsid sh -c \"trap '' TERM HUP; echo daemon; while :; do sleep 1; done\" &); "
      "while :; do sleep 1; done");
  attempt_.start();
  ASSERT_TRUE(attempt_.printed("daemon"));
  EXPECT_NE(containers(), "");
  kill(attempt_.pid(), SIGKILL);
  EXPECT_EQ(attempt_.wait(), 128 + SIGKILL);
  EXPECT_TRUE(wait_until([&] { return attempt_.survivors().empty() && containers().empty(); }));
}

TEST_F(PodmanTest, AProgramIsAttachedInTheContainer) {
  attempt_.shell("echo up; exec sleep 1000").start();
  FakeAgent agent(attempt_);
  ASSERT_TRUE(attempt_.printed("up"));
  AttachTalk talk(agent, attempt_);
  ASSERT_TRUE(talk.open(program_order(
      {"sh", "-c", "id -u; [ -t 0 ] && echo tty; (setsid sleep 1000 &); exit 4"}, true)));
  EXPECT_EQ(talk.code(), 4);
  EXPECT_EQ(talk.output, "65534\r\ntty\r\n");
  EXPECT_EQ(attempt_.survivors().size(), 1u) << "the rank alone";
  attempt_.assignment.phase = WantedPhase::stop;
  agent.send(attempt_.assignment);
  EXPECT_EQ(attempt_.wait(), 0);
  EXPECT_TRUE(attempt_.survivors().empty());
  EXPECT_EQ(containers(), "");
}

TEST_F(PodmanTest, OutOfMemoryIsSaid) {
  attempt_.assignment.spec.resources.memory = mebibytes(64);
  attempt_.assignment.allotment.memory = mebibytes(64);
  attempt_.shell("dd if=/dev/zero of=/dev/null bs=200M; exit $?");
  EXPECT_EQ(run_to_end().cause, Cause::out_of_memory);
  EXPECT_FALSE(io::exists(attempt_.started_in() + "/oom")) << "conmon's, for its own folder";
}

TEST_F(PodmanTest, AnImageThatIsNotThereIsSaid) {
  attempt_.workspace.activation->container->image = "sha256:" + std::string(64, 'a');
  attempt_.shell("echo never");
  const auto report = run_to_end();
  EXPECT_EQ(report.cause, Cause::start_failed);
  EXPECT_NE(log_text(report.why).find("the container did not start"), std::string::npos);
  EXPECT_NE(log_text(report.why).find("aaaa"), std::string::npos) << log_text(report.why);
}

}  // namespace
}  // namespace lockstep::runner::testing
