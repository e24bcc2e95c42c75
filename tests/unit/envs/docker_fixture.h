#pragma once
// Tests of images: lockstep-env with real engines, namely the test program's own Docker daemon, and
// podman with its own store. Images contain the static busybox.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/io/programs/run_program.h"
#include "envs/docker/record.h"
#include "tests/unit/envs/program.h"
#include "tests/unit/support/docker_daemon.h"
#include "tests/unit/support/temp_dir.h"

namespace lockstep::envs {

// The configuration and folders that `podman` needs in a test, without a registry.
class Podman {
 public:
  static std::string why_not() {
    return ::geteuid() != 0 || ::access("/usr/bin/podman", X_OK) != 0 ? "needs podman, and root"
                                                                      : "";
  }
  Podman() {
    folder_.file("storage.conf", "[storage]\ndriver = \"overlay\"\nrunroot = \"" +
                                     (folder_ / "run") + "\"\ngraphroot = \"" + (folder_ / "data") +
                                     "\"\n");
    folder_.file("containers.conf",
                 "[engine]\nruntime = \"runc\"\ncgroup_manager = \"cgroupfs\"\n"
                 "events_logger = \"none\"\n[containers]\n"
                 "default_ulimits = [\"nofile=20000:20000\", \"nproc=4096:4096\"]\n");
  }
  ~Podman() {
    words({"rm", "--all", "--force"});
    ::umount2((folder_ / "data/overlay").c_str(), MNT_DETACH);
  }
  std::map<std::string, std::string> variables() const {
    return {{"LOCKSTEP_CONTAINER_ENGINE", "podman"},
            {"CONTAINERS_STORAGE_CONF", folder_ / "storage.conf"},
            {"CONTAINERS_CONF", folder_ / "containers.conf"}};
  }
  std::string words(std::vector<std::string> arguments) const {
    std::vector<std::string> all{"/usr/bin/env"};
    for (const auto& [name, value] : variables()) all.push_back(name + "=" + value);
    all.emplace_back("/usr/bin/podman");
    all.insert(all.end(), arguments.begin(), arguments.end());
    const auto output = io::run_program(all, minutes(1));
    if (!output) return output.error().message;
    EXPECT_EQ(output->exit_code, 0) << output->errors;
    return output->text.substr(0, output->text.find_last_not_of('\n') + 1);
  }

 private:
  const test::TempDir folder_;
};

class DockerTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (test::DockerDaemon::why_not().empty()) daemon_ = std::make_unique<test::DockerDaemon>();
  }
  static void TearDownTestSuite() { daemon_.reset(); }
  void SetUp() override {
    if (!daemon_) GTEST_SKIP() << test::DockerDaemon::why_not();
    more = {{"DOCKER_HOST", daemon_->host()}};
    for (const char* folder : {"cache", "tmp", "context"}) dir.folder(folder);
    // A fake lockstep-spawn, which prints what the real one prints about its image.
    dir.file("spawn",
             "#!/bin/sh\n"
             "[ \"$1\" = --probe ] || exit 3\n"
             "[ -x /bin/bash ] && echo bash yes || echo bash no\n"
             "[ -x /bin/sh ] && echo sh yes || echo sh no\n"
             "echo glibc $(cat /etc/glibc 2>/dev/null || echo -)\n"
             "[ -e /etc/slow ] && sleep 600\n"
             "memlock=$(ulimit -l)\n"
             "[ \"$memlock\" = unlimited ] && echo memlock unlimited || "
             "echo memlock $((memlock * 1024))\n",
             0755);
    ::chmod(dir.path().c_str(), 0755);
  }
  void TearDown() override {
    if (!daemon_) return;
    EXPECT_EQ(daemon_->words({"ps", "--all", "--quiet"}), "");
  }

  const test::DockerDaemon& docker() const { return *daemon_; }
  Site site(const std::string& name) {
    dir.folder(name);
    Site where{dir / (name + "/env"), dir / "cache", false, "linux-x86_64"};
    where.image = {dir / "home",           dir / "spawn",
                   "lockstep/env:" + name, dir / (name + "/image.json"),
                   dir / "context",        ""};
    return where;
  }
  Site sharing(const std::string& name) {
    Site where = site(name);
    where.image.tree = dir / (name + "/image");
    return where;
  }
  Told run(const Order& order, std::map<std::string, std::string> variables) {
    variables.emplace("TMPDIR", dir / "tmp");
    return Program(order, variables).wait();
  }
  Told solve(const DockerEnvironment& definition, const Site& where) {
    return run({Order::What::solve, definition, {}, where}, more);
  }
  Told build(const Lock& lock, const Site& where) {
    return run({Order::What::build, DockerEnvironment{"x", {}, {}}, lock, where}, more);
  }
  DockerEnvironment dockerfile(const std::string& text) {
    dir.file("context/Dockerfile", text);
    return {"", ImageBuild{sha256(text), "Dockerfile"}, {}};
  }
  static Lock lock_of(const Told& told) {
    EXPECT_TRUE(told.last().lock) << told.log;
    return told.last().lock.value_or(Lock{});
  }
  static Container container_of(const Told& told) {
    EXPECT_TRUE(told.last().activation && told.last().activation->container)
        << told.log << (told.last().failed ? told.last().failed->message : "");
    return told.last().activation.value_or(Activation{}).container.value_or(Container{});
  }
  static void expect_failure(const Told& told, ErrorCode code, const std::string& text) {
    ASSERT_FALSE(told.events.empty()) << told.log;
    ASSERT_TRUE(told.last().failed) << told.log;
    EXPECT_EQ(told.last().failed->code, code) << told.last().failed->message;
    EXPECT_THAT(told.last().failed->message, testing::HasSubstr(text));
  }

  test::TempDir dir;
  std::map<std::string, std::string> more;  // additional variables for lockstep-env

 private:
  static inline std::unique_ptr<test::DockerDaemon> daemon_;
};

}  // namespace lockstep::envs
