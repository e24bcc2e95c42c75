#include "agent/daemon/doctor.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include "agent/daemon/links/identity.h"
#include "tests/unit/agent/helpers.h"

namespace lockstep::agent {
namespace {

using testing::HasSubstr;

TEST(DoctorTest, AnRdmaDeviceThatIsDownOrCannotPinMemoryIsSaid) {
  const TempDir root;
  EXPECT_EQ(examine_rdma(root.path(), false).at(0).found, "no device");
  put(root / "sys/class/infiniband/mlx5_0/ports/1/state", "4: ACTIVE\n");
  EXPECT_EQ(examine_rdma(root.path(), true).size(), 1u);
  EXPECT_EQ(examine_rdma(root.path(), true)[0].verdict, Verdict::ok);
  const Findings limited = examine_rdma(root.path(), false);
  ASSERT_EQ(limited.size(), 2u);
  EXPECT_EQ(limited[1].verdict, Verdict::warning);
  EXPECT_THAT(limited[1].advice, HasSubstr("LimitMEMLOCK=infinity"));
  put(root / "sys/class/infiniband/mlx5_0/ports/1/state", "1: DOWN\n");
  EXPECT_EQ(examine_rdma(root.path(), true)[0].verdict, Verdict::warning);
}

TEST(DoctorTest, AGpuWithoutItsDriverIsAProblem) {
  const TempDir root;
  EXPECT_EQ(examine_gpus(root.path(), "/nonexistent.so").at(0).found, "none");
  put(root / "sys/bus/pci/devices/0000:01:00.0/vendor", "0x10de\n");
  put(root / "sys/bus/pci/devices/0000:01:00.0/class", "0x0c0330\n");  // its USB port
  EXPECT_EQ(examine_gpus(root.path(), "/nonexistent.so")[0].verdict, Verdict::ok);
  put(root / "sys/bus/pci/devices/0000:01:00.0/class", "0x030200\n");
  EXPECT_EQ(examine_gpus(root.path(), "/nonexistent.so")[0].verdict, Verdict::problem);
  EXPECT_EQ(examine_gpus(root.path(), FAKE_NVML)[0].verdict, Verdict::ok);
}

TEST(DoctorTest, ALimitThatCannotBeEnforcedIsNamedWithTheReason) {
  const Finding good = examine_isolation({"cgroup-v1", {}});
  EXPECT_EQ(good.verdict, Verdict::ok);
  EXPECT_EQ(good.found, "cgroup-v1");
  IsolationProbe twice{
      "cgroup-v1",
      {"a job's memory limit is not enforced here, and a job with one runs without "
       "cgroups: memory is mounted twice"}};
  twice.unenforced = {{"memory", "memory is mounted twice"}};
  const Finding memory = examine_isolation(twice);
  EXPECT_EQ(memory.verdict, Verdict::warning);
  EXPECT_THAT(memory.found, HasSubstr("a job's memory limit is not enforced here"));
  EXPECT_THAT(memory.found, HasSubstr("memory is mounted twice"));
  EXPECT_THAT(memory.found,
              HasSubstr("jobs with a limit of memory and `lockstep.limits: required`"));
  EXPECT_NE(memory.advice, "");
  // A machine without any cgroup that can be written to.
  const TempDir root;
  const Finding none = examine_isolation(probe_isolation(root.path()));
  EXPECT_EQ(none.verdict, Verdict::warning);
  EXPECT_THAT(none.found, HasSubstr("no cgroup is writable here: a job's memory is not limited"));
  EXPECT_THAT(none.found, HasSubstr("jobs with a limit of memory or pids and"));
}

TEST(DoctorTest, WhatProgramsOfTheMachineSayChangesNoScreen) {
  const TempDir root;
  put(root / "python3",
      "#!/bin/sh\nprintf '/opt/python3 3.12\\033]0;mine\\a\\302\\2332J ensurepip\\n'\n");
  put(root / "uv", "#!/bin/sh\nprintf 'uv 0.5\\342\\200\\256\\n'\n");
  for (const char* name : {"python3", "uv"}) ASSERT_EQ(::chmod((root / name).c_str(), 0755), 0);
  const std::string text = findings_text({examine_environments(root.path())});
  EXPECT_THAT(text, HasSubstr("/opt/python3"));
  for (const char* bad : {"\x1B", "\x07", "\xC2\x9B", "\xE2\x80\xAE"})
    EXPECT_EQ(text.find(bad), std::string::npos) << text;
}

TEST(DoctorTest, WhatEnvironmentsAreMadeWithIsLookedForOnThePath) {
  const TempDir root;
  EXPECT_EQ(examine_environments("/usr/bin:/bin").verdict, Verdict::ok);
  const Finding nothing = examine_environments(root.path());
  EXPECT_EQ(nothing.verdict, Verdict::warning);
  EXPECT_THAT(nothing.found, HasSubstr("no python3 on the PATH " + root.path()));
  // Debian without python3-venv.
  put(root / "python3", "#!/bin/sh\necho /opt/python3 3.12.1 ensurepip\n");
  ASSERT_EQ(::chmod((root / "python3").c_str(), 0755), 0);
  const Finding half = examine_environments(root.path());
  EXPECT_EQ(half.verdict, Verdict::warning);
  EXPECT_EQ(half.found, "/opt/python3 3.12.1, without ensurepip");
  EXPECT_THAT(half.advice, HasSubstr("python3-venv"));
  put(root / "uv", "#!/bin/sh\necho uv 0.5.9\n");
  ASSERT_EQ(::chmod((root / "uv").c_str(), 0755), 0);
  EXPECT_EQ(examine_environments(root.path()).found, "/opt/python3 3.12.1; uv 0.5.9");
}

TEST(DoctorTest, TheEngineOfContainersIsAskedWhatItCanDo) {
  const TempDir root;
  const auto program = [&](const std::string& name, const std::string& text) {
    put(root / name, "#!/bin/sh\n" + text);
    ASSERT_EQ(::chmod((root / name).c_str(), 0755), 0);
  };
  const Finding nothing = examine_containers(root.path(), "");
  EXPECT_EQ(nothing.verdict, Verdict::ok);
  EXPECT_THAT(nothing.found, HasSubstr("neither docker nor podman"));
  EXPECT_EQ(examine_containers(root.path(), "crio").verdict, Verdict::warning);
  program("docker", R"(echo '{"ServerErrors": ["permission denied on the socket"]}')");
  const Finding refused = examine_containers(root.path(), "");
  EXPECT_EQ(refused.verdict, Verdict::warning);
  EXPECT_THAT(refused.found, HasSubstr("permission denied"));
  EXPECT_THAT(refused.advice, HasSubstr("group docker"));
  program("podman", R"(echo '{"host": {"security": {"rootless": false},)"
                    R"( "cgroupControllers": ["memory"]}, "version": {"Version": "5.2.5"}}')");
  EXPECT_EQ(examine_containers(root.path(), "").found, "podman 5.2.5");
  program("podman", R"(echo '{"host": {"security": {"rootless": false},)"
                    R"( "cgroupControllers": ["memory"]}, "version": {"Version": "4.3.1"}}')");
  const Finding leaky = examine_containers(root.path(), "");
  EXPECT_EQ(leaky.verdict, Verdict::warning);
  EXPECT_THAT(leaky.found, HasSubstr("podman 4.3.1: its builds can reach files of this node"));
  EXPECT_THAT(leaky.advice, HasSubstr("podman 5.2.5"));
  EXPECT_EQ(examine_containers(root.path(), "docker").verdict, Verdict::warning);
  program("docker", R"(echo '{"ServerVersion": "20.10", "MemoryLimit": false,)"
                    R"( "SecurityOptions": ["name=rootless"]}')");
  const Finding rootless = examine_containers(root.path(), "");
  EXPECT_EQ(rootless.verdict, Verdict::warning);
  EXPECT_THAT(
      rootless.found,
      HasSubstr("docker 20.10, rootless: the engine cannot limit the memory of containers"));
}

TEST(NodeNameTest, WhatWouldBeChangedIsRefused) {
  for (const char* name : {"n1", "gpu-07.rack_2", "A"}) EXPECT_TRUE(check_node_name(name)) << name;
  for (const std::string name : {"my node", "n/1", "knöten", "17", ""})
    EXPECT_EQ(check_node_name(name).error().code, ErrorCode::invalid_argument) << name;
  EXPECT_TRUE(check_node_name(std::string(63, 'n')));
  EXPECT_FALSE(check_node_name(std::string(64, 'n')));
}

}  // namespace
}  // namespace lockstep::agent
