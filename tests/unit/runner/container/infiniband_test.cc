// The RDMA devices that containers get.

#include "runner/container/infiniband.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runner/container/plan.h"
#include "tests/unit/support/temp_dir.h"

namespace lockstep::runner::testing {
namespace {

using test::TempDir;
using Names = std::vector<std::string>;

TEST(InfinibandDevices, AreThoseThatLibrariesOpen) {
  const TempDir dev;
  EXPECT_EQ(infiniband_devices(dev.path()), Names());
  for (const char* name : {"uverbs1", "uverbs0", "rdma_cm", "umad0", "issm0"})
    dev.file(std::string("infiniband/") + name, "");
  EXPECT_EQ(
      infiniband_devices(dev.path()),
      (Names{dev / "infiniband/rdma_cm", dev / "infiniband/uverbs0", dev / "infiniband/uverbs1"}));
}

TEST(InfinibandDevices, WithoutVerbsThereAreNone) {
  const TempDir dev;
  dev.file("infiniband/rdma_cm", "");
  EXPECT_EQ(infiniband_devices(dev.path()), Names());
}

TEST(InfinibandDevices, ARootlessEngineGetsThoseOfItsUser) {
  const TempDir dev;
  dev.file("infiniband/uverbs0", "");
  dev.file("infiniband/uverbs1", "");
  ASSERT_EQ(::chmod((dev / "infiniband/uverbs1").c_str(), 0), 0);
  const Names all = infiniband_devices(dev.path());
  EXPECT_EQ(ours_of(all), geteuid() == 0 ? all : Names{dev / "infiniband/uverbs0"});
}

class DevicesOfPlan : public ::testing::Test {
 protected:
  DevicesOfPlan() {
    assignment_.attempt = {JobId("train"), 2};
    assignment_.allotment.cpus = {0};
    workspace_.activation.emplace().container.emplace().engine = "/usr/bin/docker";
    user_ = {"ada", 1000, 100, "/home/ada", "/bin/sh", {100}};
  }
  Names devices() const {
    PlanRequest request{directory_, assignment_, workspace_, user_, "/libexec/lockstep-spawn",
                        "n7",       77};
    request.rdma_devices = {"/dev/infiniband/uverbs0"};
    return plan_container(request)->devices;
  }

  const io::AttemptDir directory_{"/srv/lockstep/attempts/train.2"};
  Assignment assignment_;
  WorkspacePlan workspace_;
  io::User user_;
};

TEST_F(DevicesOfPlan, AreForJobsOfSeveralNodesAndThoseThatAskForRdma) {
  EXPECT_EQ(devices(), Names());
  assignment_.spec.resources.rdma = Rdma::preferred;
  EXPECT_EQ(devices(), Names{"/dev/infiniband/uverbs0"});
  assignment_.spec.resources.rdma = Rdma::off;
  assignment_.spec.resources.instance_count = 2;
  EXPECT_EQ(devices(), Names{"/dev/infiniband/uverbs0"});
}

}  // namespace
}  // namespace lockstep::runner::testing
