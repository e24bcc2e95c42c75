// A build that takes all the memory or all the processes that it can get: it ends at the limits of
// the job that asked for it, and the job is told which one it was.

#include <fmt/format.h>

#include "agent/environment/build_cgroup.h"
#include "tests/unit/agent/environment/environment_support.h"

namespace lockstep::agent {
namespace {

using testing::HasSubstr;

class BuildHog : public EnvironmentTest {
 protected:
  void SetUp() override {
    EnvironmentTest::SetUp();
    io::CgroupRequest request;
    request.name = fmt::format("unit-hog.{}", ::getpid());
    request.memory = mebibytes(64);
    request.record = dir / "cgroups";
    auto made = io::Cgroups::create(request);
    if (!made) GTEST_SKIP() << "needs a writable memory cgroup: " << made.error().message;
    const bool has_pids = made->limits_pids();
    EXPECT_TRUE(made->remove());
    if (!has_pids) GTEST_SKIP() << "needs a writable pids cgroup";
  }
  // A source package whose build runs these lines of Python.
  void source_package(const std::string& lines) {
    dir.folder("hog-1");
    dir.file("hog-1/PKG-INFO", "Metadata-Version: 2.1\nName: hog\nVersion: 1\n");
    dir.file("hog-1/pyproject.toml",
             "[build-system]\nrequires = []\nbuild-backend = 'backend'\nbackend-path = ['.']\n");
    dir.file("hog-1/backend.py", "import os, time\ndef build_wheel(folder, *rest):\n" + lines +
                                     "    raise SystemExit(3)\n");
    const auto packed = io::run_program(
        {"tar", "-C", dir.path(), "-czf", dir / "wheels/hog-1.tar.gz", "hog-1"}, seconds(30));
    ASSERT_TRUE(packed && packed->exit_code == 0);
  }
  std::string failure(const std::function<void(Assignment&)>& limit) {
    Keeping node(dir / "home", locks);
    Assignment job = node.staged("job", asks_for({"hog"}));
    limit(job);
    const auto& said = node.prepare(job);
    EXPECT_TRUE(said.failed) << node.log_of(job);
    return said.failed ? said.failed->error.message : "";
  }
};

TEST_F(BuildHog, OfMemoryIsEndedAtTheJobsLimitAndThatIsSaid) {
  source_package(
      "    held = []\n    while True: held.append(bytearray(os.urandom(1 << 20) * 16))\n");
  EXPECT_THAT(failure([](Assignment& job) {
                job.spec.resources.memory = job.allotment.memory = mebibytes(64);
              }),
              HasSubstr("needs more memory than this job's builds may have (1.0 GiB); ask for more "
                        "(--memory; lockstep.resources.memory in a job file)"));
}

TEST_F(BuildHog, OfProcessesIsRefusedMoreAtTheJobsLimitAndThatIsSaid) {
  source_package(
      "    for i in range(200):\n        if os.fork() == 0: time.sleep(5); os._exit(0)\n");
  EXPECT_THAT(failure([](Assignment& job) { job.spec.limits.pids = 60; }),
              HasSubstr("this job's builds may have at most 60; ask for more (--pids-limit; "));
  EXPECT_TRUE(Keeping::programs().empty());
}

}  // namespace
}  // namespace lockstep::agent
