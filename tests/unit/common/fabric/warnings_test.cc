// What looks like a mistake in a variable that a job sets: each has the place of the mistake and
// what would be right.

#include <gtest/gtest.h>

#include "common/fabric/setting_checks.h"
#include "common/fabric/settings.h"
#include "tests/unit/common/fabric/machine.h"

namespace lockstep::runner {
namespace {

using test::Machine;

struct Warned {
  const char* machine;
  const char* name;
  const char* value;
  const char* says;  // "": it looks right
  Rdma wanted = Rdma::off;
};

// All of a gang of two machines, on the machine of its first node.
std::string warning_of(const Warned& one) {
  const NodeFabric fabric = Machine(one.machine).fabric();
  JobSpec spec;
  spec.resources.instance_count = 2;
  spec.resources.rdma = one.wanted;
  spec.distribution = {Distribution::Kind::mpi, 1};
  spec.environment_variables[one.name] = one.value;
  ProbeResult probe;
  probe.failures = {
      {0, 1, "10.1.0.21", "eno1", "10.1.0.22", 41'999, PathTrouble::large_packets_lost, 1'400}};
  for (const NetworkSetting& setting :
       settings_for(fabric, &probe, OperatorSettings(), spec, RankPlace()))
    if (setting.name == one.name) return setting.warning;
  return "there is no such setting";
}

TEST(Warnings, NameTheMistakeAndWhatIsThere) {
  const Warned kCases[] = {
      // NCCL's lists of interfaces: prefixes, names, exclusions.
      {"roce-cluster", "NCCL_SOCKET_IFNAME", "=ens1", ""},
      {"roce-cluster", "NCCL_SOCKET_IFNAME", "ens", ""},
      {"roce-cluster", "NCCL_SOCKET_IFNAME", "^lo,docker", ""},
      {"roce-cluster", "NCCL_SOCKET_IFNAME", "=eth0",
       "this node has no interface eth0; it has eno1, ens1, ens2"},
      {"roce-cluster", "NCCL_SOCKET_IFNAME", "eth,ib",
       "no interface of this node begins with eth; it has eno1, ens1, ens2"},
      {"laptop", "NCCL_SOCKET_IFNAME", "=enp0s31f6",
       "enp0s31f6 is down on this node and reaches no other node"},
      {"azure-an", "NCCL_SOCKET_IFNAME", "=enP8170s1", "enP8170s1 has no address on this node"},
      {"plain-vm", "NCCL_SOCKET_IFNAME", "=docker0",
       "docker0 is a bridge inside of this machine and reaches no other"},
      {"plain-vm", "NCCL_SOCKET_IFNAME", "lo", "lo reaches no other machine"},
      {"roce-cluster", "NCCL_SOCKET_IFNAME", "=eno1",
       "the probe did not reach 10.1.0.22 over eno1: large packets lost"},
      {"azure-ndv4", "NCCL_SOCKET_IFNAME", "ib0", ""},
      {"dgx-a100", "NCCL_SOCKET_IFNAME", "=ib0", "ib0 has no address on this node"},
      // Plain names.
      {"roce-cluster", "GLOO_SOCKET_IFNAME", "=ens1", "'=' before a name is NCCL's; write ens1"},
      {"roce-cluster", "GLOO_SOCKET_IFNAME", "ens9",
       "this node has no interface ens9; it has eno1, ens1, ens2"},
      {"roce-cluster", "TP_SOCKET_IFNAME", "ens2", ""},
      {"roce-cluster", "OMPI_MCA_btl_tcp_if_include", "10.2.0.0/24", ""},
      {"roce-cluster", "OMPI_MCA_btl_tcp_if_include", "10.9.0.0/24",
       "no interface of this node has an address in 10.9.0.0/24"},
      // RDMA turned off.
      {"roce-cluster", "NCCL_IB_DISABLE", "0", "", Rdma::required},
      {"roce-cluster", "NCCL_IB_DISABLE", "1",
       "NCCL uses no RDMA, though this node has 2 active RoCE ports of 100 Gbit/s"},
      {"plain-vm", "NCCL_IB_DISABLE", "1", ""},
      {"plain-vm", "NCCL_IB_DISABLE", "1",
       "NCCL uses no RDMA, but the job has lockstep.rdma: preferred", Rdma::preferred},
      {"roce-cluster", "NCCL_NET", "Socket",
       "NCCL uses sockets, but the job has lockstep.rdma: required", Rdma::required},
      {"azure-hb", "OMPI_MCA_pml", "ob1",
       "Open MPI uses TCP between nodes with pml ob1, though this node has 1 active InfiniBand "
       "port of 200 Gbit/s"},
      {"azure-hb", "UCX_TLS", "tcp,sm,self",
       "UCX uses no RDMA transport, though this node has 1 active InfiniBand port of 200 Gbit/s"},
      {"azure-hb", "UCX_TLS", "rc_x,sm", ""},
      {"azure-hb", "UCX_TLS", "all", ""},
      {"azure-hb", "UCX_TLS", "^tcp", ""},
      {"plain-vm", "UCX_TLS", "tcp", ""},
      {"azure-hb", "UCX_NET_DEVICES", "eth0",
       "UCX uses no RDMA port, though this node has 1 active InfiniBand port of 200 Gbit/s"},
      {"azure-hb", "UCX_NET_DEVICES", "mlx5_0:1",
       "this node has neither an RDMA port nor an interface mlx5_0:1"},
      {"dgx-a100", "UCX_NET_DEVICES", "mlx5_5:1", "mlx5_5:1 is DOWN on this node"},
      {"azure-hb", "UCX_NET_DEVICES", "mlx5_ib0:1", ""},
      // Ports, GIDs and partitions.
      {"dgx-a100", "NCCL_IB_HCA", "mlx5", ""},
      {"dgx-a100", "NCCL_IB_HCA", "=mlx5_0:1,mlx5_5:1", "mlx5_5:1 is DOWN on this node"},
      {"azure-hb", "NCCL_IB_HCA", "=mlx4_0",
       "this node has no RDMA port mlx4_0; it has mlx5_ib0:1"},
      {"roce-cluster", "NCCL_IB_GID_INDEX", "3", ""},
      {"roce-cluster", "NCCL_IB_GID_INDEX", "-1", ""},
      {"roce-cluster", "NCCL_IB_GID_INDEX", "7",
       "mlx5_0:1 has no GID 7; 3 is RoCE v2 of an IP address"},
      {"roce-cluster", "NCCL_IB_GID_INDEX", "2",
       "GID 2 of mlx5_0:1 is IB/RoCE v1, which no router passes on; 3 is RoCE v2 of an IP address"},
      {"roce-cluster", "NCCL_IB_GID_INDEX", "1",
       "GID 1 of mlx5_0:1 is link-local, which no router passes on; 3 is RoCE v2 of an IP address"},
      {"roce-cluster", "NCCL_IB_GID_INDEX", "three", "'three' is not a number"},
      {"roce-cluster", "UCX_IB_GID_INDEX", "auto", ""},
      {"roce-cluster", "UCX_IB_GID_INDEX", "7",
       "mlx5_0:1 has no GID 7; 3 is RoCE v2 of an IP address"},
      {"soft-roce", "UCX_IB_GID_INDEX", "0", ""},
      {"soft-roce", "UCX_IB_GID_INDEX", "three", "'three' is not a number"},
      {"soft-roce", "UCX_IB_GID_INDEX", "1",
       "UCX's datagrams get through rxe0:1 (soft-RoCE) only with the link's IPv6 GID, 0"},
      {"soft-roce", "NCCL_IB_GID_INDEX", "0",
       "GID 0 of rxe0:1 is link-local, which no router passes on; 1 is RoCE v2 of an IP address"},
      {"azure-nc24rs-v3", "UCX_IB_PKEY", "0x0007", ""},
      {"azure-nc24rs-v3", "UCX_IB_PKEY", "0x7fff",
       "mlx5_ib0:1 is only a limited member of partition 0x7fff, and limited members do not reach "
       "each other"},
      {"azure-nc24rs-v3", "UCX_IB_PKEY", "0x0009", "mlx5_ib0:1 is not in partition 0x0009"},
      {"azure-nc24rs-v3", "UCX_IB_PKEY", "auto", ""},
      {"azure-nc24rs-v3", "NCCL_IB_PKEY", "1", ""},
      {"azure-nc24rs-v3", "NCCL_IB_PKEY", "2", "mlx5_ib0:1 has no partition at place 2"},
      // Numbers, words, and what turns faster ways off.
      {"roce-cluster", "NCCL_IB_TC", "300", "'300' is not a traffic class, a number from 0 to 255"},
      {"dgx-a100", "NCCL_NET_GDR_LEVEL", "PXB", ""},
      {"dgx-a100", "NCCL_NET_GDR_LEVEL", "FAR",
       "'FAR' is not a level of NCCL: 0 to 5, or LOC, PIX, PXB, PHB, SYS"},
      {"dgx-a100", "NCCL_P2P_DISABLE", "1", "GPUs of this node do not use their NVLink"},
      {"plain-vm", "NCCL_P2P_DISABLE", "1", ""},
      {"plain-vm", "NCCL_SHM_DISABLE", "1", "ranks of one node talk through the network"},
      // What is not known here, or means nothing to us.
      {"plain-vm", "NCCL_SOCKET_IFNAME", "${{secrets.INTERFACE}}", ""},
      {"plain-vm", "GLOO_SOCKET_IFNAME", " ", ""},
      {"plain-vm", "NCCL_DEBUG", "INFO", ""},
  };
  for (const Warned& one : kCases)
    EXPECT_EQ(warning_of(one), one.says) << one.machine << ": " << one.name << "=" << one.value;
}

TEST(Warnings, OfANameThatIsAPrefixOfOthers) {
  NodeFabric fabric = Machine("plain-vm").fabric();
  FabricInterface other;
  other.name = "eth01";
  fabric.interfaces.push_back(other);
  const RdmaChoice none;
  EXPECT_EQ(warning_for("NCCL_SOCKET_IFNAME", "eth0", {}, {fabric, none}),
            "NCCL takes every interface that begins with eth0 (eth0, eth01); write =eth0");
  EXPECT_EQ(warning_for("NCCL_SOCKET_IFNAME", "=eth0", {}, {fabric, none}), "");
}

TEST(Warnings, OfTwoListsThatOpenMpiRefusesTogether) {
  const NodeFabric fabric;
  const RdmaChoice none;
  const VariableMap both = {{"OMPI_MCA_btl_tcp_if_include", "eth0"},
                            {"OMPI_MCA_btl_tcp_if_exclude", "lo"}};
  EXPECT_EQ(warning_for("OMPI_MCA_btl_tcp_if_include", "eth0", both, {fabric, none}),
            "Open MPI refuses this together with OMPI_MCA_btl_tcp_if_exclude; leave one of them "
            "out");
  EXPECT_EQ(warning_for("OMPI_MCA_btl_tcp_if_exclude", "lo", both, {fabric, none}),
            "Open MPI refuses this together with OMPI_MCA_btl_tcp_if_include; leave one of them "
            "out");
}

TEST(Warnings, AreNotGivenWhereTheFabricIsNotKnown) {
  const NodeFabric fabric;
  const RdmaChoice none;
  for (const char* name : {"NCCL_SOCKET_IFNAME", "GLOO_SOCKET_IFNAME", "NCCL_IB_HCA",
                           "UCX_NET_DEVICES", "NCCL_IB_GID_INDEX"})
    EXPECT_EQ(warning_for(name, "x1", {}, {fabric, none}), "") << name;
}

TEST(Warnings, ReadNumbersAsNcclAndUcxDo) {
  EXPECT_EQ(number_in("3"), 3);
  EXPECT_EQ(number_in(" 0x8001 "), 0x8001);
  for (const char* bad : {"", "-1", "3x", "0x", "auto", "99999999999"})
    EXPECT_EQ(number_in(bad), -1) << bad;
}

}  // namespace
}  // namespace lockstep::runner
