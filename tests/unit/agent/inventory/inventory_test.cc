#include "agent/inventory/inventory.h"

#include <gnu/libc-version.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>

#include "agent/inventory/cgroup_path.h"
#include "agent/inventory/cpu.h"
#include "agent/inventory/fabric_gpus.h"
#include "agent/inventory/gpu.h"
#include "agent/inventory/isolation.h"
#include "agent/inventory/memory.h"
#include "agent/inventory/network.h"
#include "agent/inventory/os.h"
#include "agent/inventory/rdma.h"
#include "agent/inventory/workdir.h"
#include "tests/unit/agent/helpers.h"

namespace lockstep::agent {
namespace {

TEST(CpuProbeTest, ParsesLists) {
  EXPECT_EQ(parse_list("0-3,8").value(), (std::vector<int>{0, 1, 2, 3, 8}));
  EXPECT_EQ(parse_list("5").value(), std::vector<int>{5});
  for (const char* bad : {"", "3-1", "a", "1,,2", "1-", "-1", "99999"}) {
    EXPECT_FALSE(parse_list(bad)) << bad;
  }
}

TEST(CpuProbeTest, SelectsACountOrExactlyAList) {
  const std::vector<int> available{2, 3, 6, 7};
  EXPECT_EQ(select(available, "", "cpus").value(), available);
  EXPECT_EQ(select(available, "2", "cpus").value(), (std::vector<int>{2, 3}));
  EXPECT_EQ(select(available, "6-7", "cpus").value(), (std::vector<int>{6, 7}));
  EXPECT_EQ(select(available, "0/2", "gpus").value(), (std::vector<int>{2, 3}));
  EXPECT_EQ(select(available, "1/2", "gpus").value(), (std::vector<int>{6, 7}));
  EXPECT_EQ(select({}, "1/2", "gpus").value(), std::vector<int>{});
  for (const char* bad : {"2/2", "x/2", "1/", "/", "1/0"})
    EXPECT_EQ(select(available, bad, "gpus").error().code, ErrorCode::invalid_argument) << bad;
  EXPECT_EQ(select(available, "5", "cpus").error().code, ErrorCode::invalid_argument);
  EXPECT_NE(select(available, "6,9", "cpus").error().message.find("number 9"), std::string::npos);
}

TEST(CpuProbeTest, CountsSocketsAndNumaNodesOfItsCpus) {
  const TempDir sys;
  const std::vector<int> mine = probe_cpus(sys.path()).cpus;
  ASSERT_FALSE(mine.empty());
  EXPECT_EQ(probe_cpus(sys.path()).sockets, 1) << "a machine that says nothing has one";
  for (const int cpu : mine) {
    const std::string id = cpu == mine.front() ? "0\n" : "1\n";
    put(sys / ("devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/physical_package_id"),
        id);
  }
  put(sys / "devices/system/node/node0/cpulist", "0-1023\n");
  put(sys / "devices/system/node/node1/cpulist", "5000-5001\n");
  const CpuProbe probe = probe_cpus(sys.path());
  EXPECT_EQ(probe.sockets, mine.size() > 1 ? 2 : 1);
  EXPECT_EQ(probe.numa_nodes, 1) << "node1 has no cpu of ours";
}

// A root directory in which a v2 cgroup of ours lies at /job.
void fake_v2(const TempDir& root) {
  put(root / "proc/self/cgroup", "0::/job\n");
  put(root / "proc/self/mountinfo",
      "29 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n");
  put(root / "sys/fs/cgroup/job/cgroup.procs", "");
}

void fake_v1(const TempDir& root) {
  put(root / "proc/self/cgroup", "4:memory:/job\n3:cpu,cpuacct:/job\n");
  put(root / "proc/self/mountinfo",
      "30 23 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
      "31 23 0:28 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n");
  put(root / "sys/fs/cgroup/memory/job/tasks", "");
  put(root / "sys/fs/cgroup/cpu,cpuacct/job/tasks", "");
}

TEST(CpuProbeTest, ReadsTheTightestQuotaOfV2) {
  const TempDir root;
  EXPECT_EQ(cpu_quota(root.path()), 0);
  fake_v2(root);
  put(root / "sys/fs/cgroup/job/cpu.max", "max 100000\n");
  EXPECT_EQ(cpu_quota(root.path()), 0);
  put(root / "sys/fs/cgroup/cpu.max", "250000 100000\n");
  EXPECT_EQ(cpu_quota(root.path()), 3) << "2.5 cpus need 3";
}

TEST(CpuProbeTest, ReadsTheQuotaOfV1) {
  const TempDir root;
  fake_v1(root);
  put(root / "sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "100000\n");
  put(root / "sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "50000\n");
  EXPECT_EQ(cpu_quota(root.path()), 2);
  put(root / "sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "-1\n");
  EXPECT_EQ(cpu_quota(root.path()), 0);
}

TEST(MemoryProbeTest, IsTheMachinesOrTheCgroups) {
  const TempDir root;
  put(root / "proc/meminfo", "MemTotal:       8388608 kB\nMemFree: 1 kB\n");
  EXPECT_EQ(probe_memory(root.path()).usable, gibibytes(8));
  fake_v1(root);
  put(root / "sys/fs/cgroup/memory/job/memory.limit_in_bytes", "2147483648\n");
  const MemoryProbe probe = probe_memory(root.path());
  EXPECT_EQ(probe.usable, gibibytes(2));
  EXPECT_NE(probe.limitation.find("2.0 GiB of 8.0 GiB"), std::string::npos) << probe.limitation;
  put(root / "sys/fs/cgroup/memory/job/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(probe_memory(root.path()).usable, gibibytes(8));
}

TEST(IsolationProbeTest, TakesV2WhereTheMemoryControllerIsDelegated) {
  const TempDir root;
  fake_v2(root);
  put(root / "sys/fs/cgroup/cgroup.controllers", "cpu memory pids\n");
  put(root / "sys/fs/cgroup/cgroup.subtree_control", "");
  EXPECT_EQ(probe_isolation(root.path()).kind, "cgroup-v2");
  put(root / "sys/fs/cgroup/cgroup.controllers", "hugetlb\n");
  EXPECT_NE(probe_isolation(root.path()).kind, "cgroup-v2") << "as in a hybrid hierarchy";
}

TEST(IsolationProbeTest, TakesNoV2WhoseTopHoldsProcessesAsInAContainer) {
  const TempDir root;
  fake_v2(root);
  put(root / "sys/fs/cgroup/cgroup.controllers", "cpu memory pids\n");
  put(root / "sys/fs/cgroup/cgroup.subtree_control", "");
  put(root / "sys/fs/cgroup/cgroup.type", "domain\n");
  put(root / "sys/fs/cgroup/cgroup.procs", "1\n17\n");
  EXPECT_NE(probe_isolation(root.path()).kind, "cgroup-v2");
  put(root / "sys/fs/cgroup/cgroup.subtree_control", "memory pids\n");
  EXPECT_EQ(probe_isolation(root.path()).kind, "cgroup-v2") << "it is handed on already";
  put(root / "sys/fs/cgroup/cgroup.subtree_control", "");
  put(root / "sys/fs/cgroup/cgroup.procs", "");
  EXPECT_EQ(probe_isolation(root.path()).kind, "cgroup-v2");
}

TEST(IsolationProbeTest, TakesV1ElseSaysWhatIsMissing) {
  const TempDir root;
  const IsolationProbe none = probe_isolation(root.path());
  EXPECT_TRUE(none.kind == "pid-namespace" || none.kind == "subreaper") << none.kind;
  EXPECT_FALSE(none.limitations.empty());
  fake_v1(root);
  EXPECT_EQ(probe_isolation(root.path()).kind, "cgroup-v1");
}

TEST(IsolationProbeTest, SaysWhereProcessesAreNotCounted) {
  const TempDir root;
  fake_v2(root);
  put(root / "sys/fs/cgroup/cgroup.subtree_control", "");
  put(root / "sys/fs/cgroup/cgroup.controllers", "cpu memory\n");
  const IsolationProbe without = probe_isolation(root.path());
  EXPECT_EQ(without.kind, "cgroup-v2");
  ASSERT_EQ(without.limitations.size(), 1U);
  EXPECT_NE(without.limitations[0].find("pids controller"), std::string::npos);
  put(root / "sys/fs/cgroup/cgroup.controllers", "cpu memory pids\n");
  EXPECT_TRUE(probe_isolation(root.path()).limitations.empty());
}

TEST(WorkdirProbeTest, FindsAModeAndLeavesNothingBehind) {
  const TempDir home;
  const WorkdirProbe probe = probe_workdir(home.path());
  const std::vector<std::string> known{"overlay", "overlay-userns", "reflink", "copy"};
  EXPECT_NE(std::find(known.begin(), known.end(), probe.mode), known.end()) << probe.mode;
  EXPECT_TRUE(io::list_directory(home.path())->empty());
}

TEST(OsProbeTest, ReadsThePrettyName) {
  const TempDir dir;
  put(dir / "os-release", "ID=debian\nPRETTY_NAME=\"Debian GNU/Linux 12\"\nVERSION=12\n");
  EXPECT_EQ(probe_os(dir / "os-release").name, "Debian GNU/Linux 12");
  EXPECT_EQ(probe_os(dir / "none").name, "Linux");
  EXPECT_FALSE(probe_os(dir / "none").kernel.empty());
}

TEST(GlibcProbeTest, IsWhatProgramsOfTheMachineAreLoadedWith) {
  const TempDir root;
  EXPECT_EQ(probe_glibc(root.path()), "") << "a machine without it";
  put(root / "lib64/ld-linux-x86-64.so.2", "");
  EXPECT_EQ(probe_glibc(root.path()), "") << "a loader alone says nothing";
  const std::string banner =
      "GNU C Library (Ubuntu GLIBC 2.31-0ubuntu9.16) stable release version 2.31.\nCopyright";
  put(root / "lib64/libc.so.6", std::string("ELF\0", 4) + banner + std::string(1, '\0'));
  EXPECT_EQ(probe_glibc(root.path()), "2.31");
  put(root / "lib64/libc.so.6",
      "GNU C Library (GNU libc) development release version 2.39.9000.\n");
  EXPECT_EQ(probe_glibc(root.path()), "2.39.9000");
  put(root / "lib64/libc.so.6", "GNU C Library (GNU libc) stable release version .\n");
  EXPECT_EQ(probe_glibc(root.path()), "");
}

TEST(GlibcProbeTest, FollowsTheLoaderToItsDirectory) {
  const TempDir root;
  put(root / "usr/lib/multiarch/ld-2.28.so", "");
  put(root / "usr/lib/multiarch/libc.so.6", "GNU C Library stable release version 2.28.\n");
  root.folder("lib64");
  std::filesystem::create_symlink(root / "usr/lib/multiarch/ld-2.28.so",
                                  root / "lib64/ld-linux-x86-64.so.2");
  EXPECT_EQ(probe_glibc(root.path()), "2.28");
}

TEST(GlibcProbeTest, ThisProgramWasLoadedWithIt) {
  EXPECT_EQ(probe_glibc(), ::gnu_get_libc_version());
}

TEST(NetworkProbeTest, KnowsTheLoopbackAndSpeeds) {
  const TempDir sys;
  put(sys / "class/net/lo/speed", "25000\n");
  const auto interfaces = probe_interfaces(sys.path());
  const auto lo = std::find_if(interfaces.begin(), interfaces.end(),
                               [](const auto& interface) { return interface.name == "lo"; });
  ASSERT_NE(lo, interfaces.end());
  EXPECT_TRUE(lo->loopback);
  EXPECT_EQ(lo->speed_mbps, 25000);
  EXPECT_NE(std::find(lo->addresses.begin(), lo->addresses.end(), "127.0.0.1"),
            lo->addresses.end());
  put(sys / "class/net/lo/speed", "-1\n");
  EXPECT_EQ(probe_interfaces(sys.path())[0].speed_mbps, -1);
}

TEST(NetworkProbeTest, TheAddressIsThatOfTheRoute) {
  EXPECT_EQ(route_address("tcp://127.0.0.1:4000"), "127.0.0.1");
  EXPECT_EQ(route_address("tcp://127.0.0.77:4000"), "127.0.0.1");
  EXPECT_EQ(route_address("ipc:///tmp/socket"), "127.0.0.1");
  EXPECT_EQ(route_address("tcp://no-such-host.invalid:1"), "127.0.0.1");
  EXPECT_TRUE(is_loopback_address("127.3.2.1"));
  EXPECT_TRUE(is_loopback_address("::1"));
  EXPECT_FALSE(is_loopback_address("10.0.0.1"));
}

class GpuProbeTest : public testing::Test {
 protected:
  ~GpuProbeTest() override {
    ::unsetenv("LOCKSTEP_FAKE_GPUS");
    ::unsetenv("LOCKSTEP_FAKE_MIG");
    ::unsetenv("LOCKSTEP_FAKE_NVML_ERROR");
    ::unsetenv("LOCKSTEP_NVML_LIBRARY");
  }
};

TEST_F(GpuProbeTest, AMachineWithoutTheLibraryHasNoneAndComplainsOfNothing) {
  const GpuProbe probe = probe_gpus("/nonexistent/libnvidia-ml.so.1");
  EXPECT_TRUE(probe.gpus.empty());
  EXPECT_EQ(probe.limitation, "");
}

TEST_F(GpuProbeTest, AnOverrideThatCannotBeLoadedIsALimitation) {
  ::setenv("LOCKSTEP_NVML_LIBRARY", "/nonexistent/nvml.so", 1);
  EXPECT_NE(probe_gpus().limitation.find("LOCKSTEP_NVML_LIBRARY names /nonexistent/nvml.so"),
            std::string::npos);
}

TEST_F(GpuProbeTest, ListsGpusInPciOrder) {
  const TempDir sys;
  put(sys / "bus/pci/devices/0000:11:00.0/numa_node", "1\n");
  ::setenv("LOCKSTEP_FAKE_GPUS", "3", 1);
  const GpuProbe probe = probe_gpus(FAKE_NVML, sys.path());
  ASSERT_EQ(probe.gpus.size(), 3u);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(probe.gpus[i].index, i);
  EXPECT_EQ(probe.gpus[0].pci_bus_id, "00000000:10:00.0");
  EXPECT_EQ(probe.gpus[0].numa_node, -1);
  EXPECT_EQ(probe.gpus[1].numa_node, 1);
  EXPECT_EQ(probe.gpus[2].uuid, "GPU-00000000-0000-0000-0000-000000000002");
  EXPECT_EQ(probe.gpus[2].memory, gibibytes(80));
  EXPECT_EQ(probe.gpus[2].name, "Fake GPU 80GB");
  EXPECT_EQ(probe.cuda, "12.4");
}

TEST_F(GpuProbeTest, GpusOfTheFabricHaveTheirPeersWhateverNvmlsOrderIs) {
  const TempDir sys;
  put(sys / "bus/pci/devices/0000:12:00.0/numa_node", "1\n");
  ::setenv("LOCKSTEP_FAKE_GPUS", "4", 1);
  ::setenv("LOCKSTEP_FAKE_MIG", "1", 1);
  std::vector<GpuDevice> offered = probe_gpus(FAKE_NVML, sys.path()).gpus;
  const auto all = probe_fabric_gpus(offered, FAKE_NVML, sys.path());
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(all[0].pci, "0000:10:00.0");
  EXPECT_EQ(all[0].nvlink_peers, std::vector<int>{1});
  EXPECT_EQ(all[2].nvlink_peers, std::vector<int>{3});
  EXPECT_EQ(all[2].p2p_peers, (std::vector<int>{0, 1, 3}));
  EXPECT_EQ(all[2].numa_node, 1);
  EXPECT_TRUE(all[3].mig && !all[2].mig);
  offered.erase(offered.begin(), offered.begin() + 3);  // of a share
  const auto some = probe_fabric_gpus(offered, FAKE_NVML, sys.path());
  ASSERT_EQ(some.size(), 1u);
  EXPECT_EQ(some[0].index, 3);
  EXPECT_TRUE(some[0].mig && some[0].p2p_peers.empty());
  EXPECT_TRUE(probe_fabric_gpus(offered, "/nonexistent/nvml", sys.path())[0].p2p_peers.empty());
}

TEST_F(GpuProbeTest, ADriverThatDoesNotAnswerIsALimitation) {
  ::setenv("LOCKSTEP_FAKE_NVML_ERROR", "9", 1);
  EXPECT_EQ(probe_gpus(FAKE_NVML).limitation,
            "GPUs are not offered: NVML reports: Driver Not Loaded");
}

TEST_F(GpuProbeTest, ALibraryThatIsTooOldIsALimitation) {
  EXPECT_NE(probe_gpus("libc.so.6").limitation.find("nvmlInit_v2"), std::string::npos);
}

TEST_F(GpuProbeTest, AShareKeepsTheMachinesIndexes) {
  const TempDir home;
  ::setenv("LOCKSTEP_NVML_LIBRARY", FAKE_NVML, 1);
  ::setenv("LOCKSTEP_FAKE_GPUS", "4", 1);
  InventoryRequest request;
  request.home = home.path();
  request.share.gpus = "2,3";
  const auto some = take_inventory(request);
  ASSERT_TRUE(some);
  ASSERT_EQ(some->gpus.size(), 2u);
  EXPECT_EQ(some->gpus[0].index, 2) << "CUDA_VISIBLE_DEVICES counts by it";
  EXPECT_EQ(some->cuda, "12.4");
  request.share.gpus = "none";
  EXPECT_TRUE(take_inventory(request)->gpus.empty());
  EXPECT_EQ(take_inventory(request)->cuda, "") << "ranks here have no use for it";
  request.share.gpus = "5";
  EXPECT_EQ(take_inventory(request).error().code, ErrorCode::invalid_argument);
}

TEST_F(GpuProbeTest, CondasVariablesCountInsteadOfWhatIsThere) {
  const TempDir home;
  ::setenv("LOCKSTEP_NVML_LIBRARY", FAKE_NVML, 1);
  InventoryRequest request;
  request.home = home.path();
  const auto taken = [&](const char* glibc, const char* cuda) {
    ::setenv("CONDA_OVERRIDE_GLIBC", glibc, 1);
    ::setenv("CONDA_OVERRIDE_CUDA", cuda, 1);
    auto inventory = take_inventory(request);
    ::unsetenv("CONDA_OVERRIDE_GLIBC");
    ::unsetenv("CONDA_OVERRIDE_CUDA");
    EXPECT_TRUE(inventory);
    return *inventory;
  };
  EXPECT_EQ(taken("2.17", "11.8").glibc, "2.17");
  EXPECT_EQ(taken("2.17", "11.8").cuda, "11.8");
  EXPECT_EQ(taken("2.17", "").cuda, "") << "none";
  EXPECT_EQ(taken("2.17", "").gpus.size(), 8u);
  const Inventory wrong = taken("2.17 evil", "twelve");
  EXPECT_EQ(wrong.glibc, probe_glibc());
  EXPECT_EQ(wrong.cuda, "12.4");
  const auto says = [&](const std::string& text) {
    return std::find(wrong.limitations.begin(), wrong.limitations.end(), text) !=
           wrong.limitations.end();
  };
  EXPECT_TRUE(says("ignoring CONDA_OVERRIDE_GLIBC: '2.17 evil' is not a version"));
  EXPECT_TRUE(says("ignoring CONDA_OVERRIDE_CUDA: 'twelve' is not a version"));
  request.share.gpus = "none";
  EXPECT_EQ(taken("2.17", "12.9").cuda, "12.9") << "to solve here for GPUs of elsewhere";
}

TEST(RdmaProbeTest, ReadsEveryPortOfTheKernelsTree) {
  const TempDir sys;
  EXPECT_TRUE(probe_rdma(sys.path()).empty()) << "most machines have none";
  const auto port = [&](const std::string& device, const std::string& number) {
    return sys / ("class/infiniband/" + device + "/ports/" + number);
  };
  put(port("mlx5_1", "1") + "/state", "1: DOWN\n");
  put(port("mlx5_1", "1") + "/link_layer", "Ethernet\n");
  put(port("mlx5_0", "1") + "/state", "4: ACTIVE\n");
  put(port("mlx5_0", "1") + "/rate", "200 Gb/sec (4X HDR)\n");
  put(port("mlx5_0", "1") + "/link_layer", "InfiniBand\n");
  put(port("mlx5_0", "1") + "/gids/0", "fe80:0000:0000:0000:0015:5dff:fe33:ff0e\n");
  put(port("mlx5_0", "1") + "/pkeys/0", "0x8001\n");
  put(port("mlx5_0", "1") + "/pkeys/1", "0x7fff\n");
  put(port("mlx5_0", "1") + "/pkeys/2", "0x0000\n");
  put(port("mlx5_0", "1") + "/pkeys/10", "0x8001\n");
  put(port("mlx5_0", "x") + "/state", "4: ACTIVE\n");
  const std::vector<RdmaPort> ports = probe_rdma(sys.path());
  ASSERT_EQ(ports.size(), 2U);
  EXPECT_EQ(
      ports[0],
      (RdmaPort{
          "mlx5_0", 1, "ACTIVE", 200, "InfiniBand", "fe80:0000:0000:0000", {0x8001, 0x7fff}}));
  EXPECT_EQ(ports[1], (RdmaPort{"mlx5_1", 1, "DOWN", 0, "Ethernet", "", {}}));
}

TEST(RdmaProbeTest, TakesNoMoreThanItMaySend) {
  const TempDir sys;
  for (int number = 0; number < 200; ++number)
    put(sys / ("class/infiniband/a/ports/" + std::to_string(number) + "/state"), "4: ACTIVE\n");
  for (int place = 0; place < 300; ++place)
    put(sys / ("class/infiniband/a/ports/0/pkeys/" + std::to_string(place)),
        "0x" + std::to_string(1000 + place) + "\n");
  const std::vector<RdmaPort> ports = probe_rdma(sys.path());
  EXPECT_EQ(ports.size(), kMaxRdmaPorts);
  EXPECT_EQ(ports.front().pkeys.size(), kMaxPkeys);
}

TEST(InventoryTest, OffersTheShareThatWasAskedFor) {
  const TempDir home;
  InventoryRequest request;
  request.home = home.path();
  request.advertise = "10.1.2.3";
  request.network = "rack-7";
  request.share.cpus = "1";
  request.share.memory = mebibytes(100);
  const auto inventory = take_inventory(request);
  ASSERT_TRUE(inventory) << inventory.error().message;
  EXPECT_EQ(inventory->cpus.size(), 1u);
  EXPECT_EQ(inventory->memory, mebibytes(100));
  EXPECT_EQ(inventory->address, "10.1.2.3");
  EXPECT_FALSE(inventory->address_is_loopback);
  EXPECT_EQ(inventory->network, "rack-7");
  EXPECT_FALSE(inventory->hostname.empty());
  EXPECT_FALSE(inventory->host_id.empty());
  EXPECT_GT(inventory->disk_free.count, 0u);
  request.share.memory = gibibytes(1u << 20);
  const auto most = take_inventory(request);
  ASSERT_TRUE(most);
  EXPECT_LT(most->memory, gibibytes(1u << 20));
  EXPECT_FALSE(most->limitations.empty());
  request.share.cpus = "20000";
  EXPECT_EQ(take_inventory(request).error().code, ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace lockstep::agent
