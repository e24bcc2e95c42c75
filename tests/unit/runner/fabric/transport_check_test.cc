// Which network NCCL chose, by the lines that its versions write, and why it is not RDMA; and what
// follows for other libraries from what was counted.

#include "runner/fabric/transport_check.h"

#include <gtest/gtest.h>

#include "common/domain/why/ranks/rdma.h"

namespace lockstep::runner::testing {
namespace {

// Two hosts with InfiniBand, GPUDirect, NCCL 2.28.
constexpr char kOverIb[] = R"(
n1:812:812 [0] NCCL INFO Bootstrap: Using eth0:10.1.0.4<0>
n1:812:812 [0] NCCL INFO cudaDriverVersion 13000
n1:812:812 [0] NCCL INFO NCCL version 2.28.9+cuda13.0
n1:812:840 [0] NCCL INFO NET/Plugin: Could not find: libnccl-net.so
n1:812:840 [0] NCCL INFO NET/IB : Using [0]mlx5_ib0:1/IB [1]mlx5_ib1:1/IB [RO]; OOB eth0:10.1.0.4<0>
n1:812:840 [0] NCCL INFO Initialized NET plugin IB
n1:812:840 [0] NCCL INFO Assigned NET plugin IB to comm
n1:812:840 [0] NCCL INFO Channel 00/0 : 1[1] -> 2[0] [receive] via NET/IB/0/GDRDMA
n1:812:840 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM
n1:812:840 [0] NCCL INFO Channel 00/0 : 3[1] -> 0[0] [send] via NET/IB/0/GDRDMA
n1:812:840 [0] NCCL INFO Connected all rings, use ring PXN 0 GDR 1
)";

// A container without /dev/infiniband, NCCL 2.23.
constexpr char kNoDevice[] = R"(
n1:58239:58239 [0] NCCL INFO Bootstrap : Using eth0:172.26.190.235<0>
n1:58239:58239 [0] NCCL INFO NCCL version 2.23.4+cuda12.6
n1:58239:58245 [0] NCCL INFO NET/Plugin: Could not find: libnccl-net.so. Using internal network plugin.
n1:58239:58245 [0] NCCL INFO NET/IB : No device found.
n1:58239:58245 [0] NCCL INFO NET/Socket : Using [0]eth0:172.26.190.235<0>
n1:58239:58245 [0] NCCL INFO Using network Socket
n1:58239:58245 [0] NCCL INFO Channel 00/02 :    0   1
n1:58239:58250 [0] NCCL INFO Channel 00/0 : 1[0] -> 0[0] [receive] via NET/Socket/0
n1:58239:58250 [0] NCCL INFO Channel 01/0 : 0[0] -> 1[0] [send] via NET/Socket/0
)";

// Somebody's NCCL_IB_DISABLE, NCCL 2.19.
constexpr char kDisabled[] = R"(
axa:351578:351578 [0] NCCL INFO NCCL_SOCKET_IFNAME set by environment to en
axa:351578:351578 [0] NCCL INFO Bootstrap : Using enp225s0f1:10.10.10.2<0>
axa:351578:351578 [0] NCCL INFO NET/Plugin : Plugin load (libnccl-net.so) returned 2 : libnccl-net.so: cannot open shared object file: No such file or directory
axa:351578:351600 [0] NCCL INFO NCCL_IB_DISABLE set by environment to 1.
axa:351578:351600 [0] NCCL INFO NET/Socket : Using [0]enp225s0f1:10.10.10.2<0>
axa:351578:351600 [0] NCCL INFO Using network Socket
)";

TransportFacts facts_of(std::map<std::string, std::string> variables = {}) {
  TransportFacts facts;
  facts.variables = std::move(variables);
  return facts;
}

TransportFinding judge(const char* log, const TransportFacts& facts = {}) {
  return judge_transport({read_nccl_log(log)}, {}, facts);
}

Why reason(SocketsCause cause, std::string of, std::string library, bool in_container = false) {
  RanksAvoidRdma why;
  why.cause = cause;
  why.of = std::move(of);
  why.library = std::move(library);
  why.in_container = in_container;
  return why;
}

TEST(NcclLog, SaysWhatItChoseAndWithWhatItConnected) {
  const NcclLog log = read_nccl_log(kOverIb);
  EXPECT_EQ(log.version, "2.28.9");
  EXPECT_EQ(log.network, "IB");
  EXPECT_EQ(log.rdma_channels, 2);
  EXPECT_EQ(log.socket_channels, 0);
  EXPECT_EQ(log.local_channels, 1);
  EXPECT_FALSE(log.lacks_plugin) << "nobody asked for one";
  const TransportFinding finding = judge(kOverIb);
  EXPECT_EQ(finding.transport, Transport::rdma);
  EXPECT_EQ(why_no_rdma(finding), Why());
}

TEST(NcclLog, WithoutADeviceItUsesSockets) {
  const NcclLog log = read_nccl_log(kNoDevice);
  EXPECT_EQ(log.network, "Socket");
  EXPECT_EQ(log.socket_channels, 2);
  EXPECT_TRUE(log.found_no_device);
  TransportFinding finding = judge(kNoDevice);
  EXPECT_EQ(finding.transport, Transport::sockets);
  EXPECT_EQ(finding.cause, SocketsCause::no_device);
  EXPECT_TRUE(finding.is_certain);
  TransportFacts facts;
  facts.has_device_files = false;
  facts.in_container = true;
  finding = judge(kNoDevice, facts);
  EXPECT_EQ(finding.cause, SocketsCause::no_device_files);
  EXPECT_EQ(why_no_rdma(finding), reason(SocketsCause::no_device_files, "", "NCCL 2.23.4", true));
  finding = judge(kNoDevice, facts_of({{"NCCL_IB_HCA", "mlx5_9"}}));
  EXPECT_EQ(finding.detail, "NCCL_IB_HCA=mlx5_9");
}

TEST(NcclLog, AVariableThatDisablesIsNamedBeforeAllElse) {
  const TransportFinding finding = judge(kDisabled);
  EXPECT_EQ(finding.cause, SocketsCause::disabled);
  EXPECT_EQ(why_no_rdma(finding), reason(SocketsCause::disabled, "NCCL_IB_DISABLE=1", "NCCL"));
  TransportFacts facts;
  facts.set_by["NCCL_IB_DISABLE"] = {SettingSource::operator_file, "fabric.yml:7"};
  RanksAvoidRdma by_operator;
  by_operator.cause = SocketsCause::disabled;
  by_operator.of = "NCCL_IB_DISABLE=1";
  by_operator.by = SettingSource::operator_file;
  by_operator.set_for = "fabric.yml:7";
  by_operator.library = "NCCL";
  EXPECT_EQ(why_no_rdma(judge(kDisabled, facts)), Why(by_operator));
  EXPECT_EQ(judge("NCCL INFO NCCL_IB_DISABLE set by environment to 0.\n"
                  "NCCL INFO NET/IB : No device found.\nNCCL INFO Using network Socket\n")
                .cause,
            SocketsCause::no_device);
  EXPECT_EQ(judge("NCCL INFO NCCL_NET set by environment to Socket\n"
                  "NCCL INFO Assigned NET plugin Socket to comm\n")
                .detail,
            "NCCL_NET=Socket");
}

struct Line {
  const char* what;
  const char* line;
  SocketsCause cause;
};
const Line kLines[] = {
    {"NoLibrary", "n1:1:2 [0] NCCL INFO Failed to open libibverbs.so[.1]",
     SocketsCause::no_verbs_library},
    {"NoMemory",
     "[2026-06-01 10:00:00] n1:1:2 [0] misc/ibvwrap.cc:180 NCCL WARN Call to ibv_reg_mr_iova2 "
     "failed with error Cannot allocate memory",
     SocketsCause::locked_memory},
    {"NoMemoryForAQueue",
     "n1:1:2 [0] misc/ibvwrap.cc:300 NCCL WARN Call to ibv_create_qp failed with error Cannot "
     "allocate memory",
     SocketsCause::locked_memory},
    {"WrongGid",
     "n1:1:2 [0] misc/ibvwrap.cc:400 NCCL WARN Call to ibv_modify_qp failed with 22 Invalid "
     "argument, on dev mlx5_0:1, curr state INIT, next state RTR, local GID index 9, local GID "
     "::, remote GID ::",
     SocketsCause::wrong_gid},
    {"WrongPartition",
     "n1:1:2 [0] misc/ibvwrap.cc:400 NCCL WARN Call to ibv_modify_qp failed with 22 Invalid "
     "argument, on dev mlx5_0:1, curr state RESET, next state INIT, local GID index -1, local GID "
     "N/A, remote GID N/A",
     SocketsCause::wrong_pkey},
    {"NoAnswer",
     "n1:1:2 [0] transport/net_ib.cc:2000 NCCL WARN NET/IB: Got completion from peer "
     "10.1.0.5<41000> with status=IBV_WC_RETRY_EXC_ERR(12) opcode=IBV_WC_SEND(0) reqSize=0 "
     "vendor_err=129 req_type=Send hca mlx5_0",
     SocketsCause::no_answer},
    {"NoAnswerBefore",
     "n1:1:2 [0] transport/net_ib.cc:1100 NCCL WARN NET/IB : Got completion from peer "
     "10.1.0.5<41000> with error 12, opcode 0, len 0, vendor err 129",
     SocketsCause::no_answer},
};

class RdmaThatFails : public ::testing::TestWithParam<Line> {};
INSTANTIATE_TEST_SUITE_P(By, RdmaThatFails, ::testing::ValuesIn(kLines),
                         [](const auto& param) { return std::string(param.param.what); });

TEST_P(RdmaThatFails, NamesItsCause) {
  const std::string line = GetParam().line;
  const TransportFinding sockets = judge((line + "\nNCCL INFO Using network Socket\n").c_str());
  EXPECT_EQ(sockets.transport, Transport::sockets);
  EXPECT_EQ(sockets.cause, GetParam().cause);
  if (GetParam().cause == SocketsCause::no_verbs_library) return;  // then it never is RDMA
  const TransportFinding rdma = judge(("NCCL INFO Using network IB\n" + line + "\n").c_str());
  EXPECT_EQ(rdma.transport, Transport::rdma);
  EXPECT_TRUE(rdma.has_failed);
  EXPECT_EQ(rdma.cause, GetParam().cause);
  const Why why = why_no_rdma(rdma);
  ASSERT_TRUE(why.is<RanksAvoidRdma>());
  EXPECT_TRUE(why.as<RanksAvoidRdma>()->has_failed);
  EXPECT_EQ(why.as<RanksAvoidRdma>()->library, "NCCL");
}

TEST(NcclLog, ACallThatIsTriedAgainHasNotFailed) {
  const NcclLog log = read_nccl_log(
      "n1:1:2 [0] NCCL INFO Call to ibv_modify_qp failed with 110 Connection timed out, on dev "
      "mlx5_0:1, curr state INIT, next state RTR, local GID index 3, local GID ::ffff:10.1.0.4, "
      "remote GID ::ffff:10.1.0.5, retrying 1/34 after 100 msec of sleep\n");
  EXPECT_EQ(log.failed_call, "");
}

TEST(NcclLog, APluginThatIsAskedForAndMissingIsNamed) {
  const TransportFinding finding = judge(
      "NCCL INFO NCCL_NET_PLUGIN set by environment to libnccl-net-ofi.so\n"
      "NCCL INFO NET/Plugin: Could not find: libnccl-net-ofi.so\n"
      "NCCL INFO NET/IB : No device found.\nNCCL INFO Using network Socket\n");
  EXPECT_EQ(finding.cause, SocketsCause::no_plugin);
  EXPECT_EQ(why_no_rdma(finding), reason(SocketsCause::no_plugin, "libnccl-net-ofi.so", "NCCL"));
}

TEST(NcclLog, AnotherPluginIsRdma) {
  for (const char* name : {"AWS Libfabric", "IBext_v8", "UCX"})
    EXPECT_EQ(judge(("NCCL INFO Using network " + std::string(name) + "\n").c_str()).transport,
              Transport::rdma)
        << name;
}

TEST(NcclLog, ARankWithoutNetworkSharesMemory) {
  EXPECT_EQ(
      judge("n1:1:2 [0] NCCL INFO Channel 00 : 0[0] -> 1[1] via SHM/direct/direct\n").transport,
      Transport::shared_memory);
  EXPECT_EQ(judge("NCCL INFO Bootstrap : Using eth0\n").transport, Transport::unknown);
}

TEST(NcclLog, OneProcessOverSocketsIsNamedBeforeTheOthers) {
  const TransportFinding finding =
      judge_transport({read_nccl_log(kOverIb), read_nccl_log(kNoDevice)}, {}, {});
  EXPECT_EQ(finding.transport, Transport::sockets);
}

TEST(NcclLog, MayHoldAnything) {
  EXPECT_EQ(read_nccl_log(""), NcclLog());
  EXPECT_EQ(read_nccl_log("\n\n\n"), NcclLog());
  std::string hostile = "NCCL INFO Using network \x1b[31m" + std::string(100'000, 'x');
  hostile += "\nNCCL INFO NCCL_NET_PLUGIN set by environment to " + std::string(5'000, '\0');
  const NcclLog log = read_nccl_log(hostile);
  EXPECT_LE(log.network.size(), kMaxTransportTextBytes);
  EXPECT_EQ(log.network.find('\x1b'), std::string::npos);
  EXPECT_LE(log.plugin.size(), kMaxTransportTextBytes);
}

// ---- what was counted --------------------------------------------------------------------------

TransportCounts counts_of(bool device_open, std::int64_t rdma_bytes, std::int64_t tcp_bytes) {
  TransportCounts counts;
  counts.device_known = true;
  counts.device_open = device_open;
  counts.ports_count = true;
  counts.rdma_bytes = rdma_bytes;
  counts.tcp_bytes = tcp_bytes;
  counts.in_mpi = true;
  return counts;
}

constexpr std::int64_t kMuch = 1 << 30;

TEST(Counts, BytesOfThePortsByWhoHoldsTheDeviceAreRdma) {
  EXPECT_EQ(judge_transport({}, counts_of(true, kMuch, 1'000), {}).transport, Transport::rdma);
  EXPECT_EQ(judge_transport({}, counts_of(true, kMuch, kMuch), {}).transport, Transport::rdma)
      << "it may exchange other things over TCP";
}

TEST(Counts, BytesOverTcpWithoutADeviceAreSockets) {
  TransportFinding finding = judge_transport({}, counts_of(false, kMuch, kMuch), {});
  EXPECT_EQ(finding.transport, Transport::sockets) << "the ports serve another job";
  EXPECT_EQ(finding.cause, SocketsCause::not_opened);
  EXPECT_TRUE(finding.is_certain);
  EXPECT_EQ(why_no_rdma(finding), reason(SocketsCause::not_opened, "", "MPI"));
  finding = judge_transport({}, counts_of(false, 0, kMuch), facts_of({{"OMPI_MCA_pml", "ob1"}}));
  EXPECT_EQ(finding.detail, "OMPI_MCA_pml=ob1");
  TransportFacts limited;
  limited.memory_is_locked_freely = false;
  EXPECT_EQ(judge_transport({}, counts_of(true, 0, kMuch), limited).cause,
            SocketsCause::locked_memory);
}

TEST(Counts, OutsideOfMpiItIsOnlyLikely) {
  TransportCounts counts = counts_of(false, 0, kMuch);
  counts.in_mpi = false;
  const TransportFinding finding = judge_transport({}, counts, {});
  EXPECT_EQ(finding.transport, Transport::sockets);
  EXPECT_FALSE(finding.is_certain) << "it may begin with RDMA later";
}

TEST(Counts, LittleSaysNothing) {
  EXPECT_EQ(judge_transport({}, counts_of(false, 0, kTellingTcpBytes - 1), {}).transport,
            Transport::unknown);
  TransportCounts counts = counts_of(true, 0, kMuch);
  counts.ports_count = false;
  EXPECT_EQ(judge_transport({}, counts, {}).transport, Transport::unknown)
      << "a device that does not count";
  counts = counts_of(false, 0, kMuch);
  counts.device_known = false;
  EXPECT_EQ(judge_transport({}, counts, {}).transport, Transport::unknown)
      << "nobody could be looked at";
}

TEST(Counts, NcclsOwnWordComesFirst) {
  EXPECT_EQ(judge_transport({read_nccl_log(kOverIb)}, counts_of(false, 0, kMuch), {}).transport,
            Transport::rdma);
}

TEST(Variables, AgainstRdma) {
  const auto against = [](const char* name, const char* value) {
    return variable_against_rdma({{name, value}});
  };
  EXPECT_EQ(against("OMPI_MCA_pml", "ob1"), "OMPI_MCA_pml=ob1");
  EXPECT_EQ(against("OMPI_MCA_pml", "ucx"), "");
  EXPECT_EQ(against("OMPI_MCA_pml", "^ob1"), "") << "all others may be";
  EXPECT_EQ(against("UCX_TLS", "tcp,self,sm"), "UCX_TLS=tcp,self,sm");
  EXPECT_EQ(against("UCX_TLS", "self, rc_verbs"), "");
  EXPECT_EQ(against("UCX_TLS", ",,"), "UCX_TLS=,,");
  EXPECT_EQ(against("FI_PROVIDER", "tcp;ofi_rxm"), "FI_PROVIDER=tcp;ofi_rxm");
  EXPECT_EQ(against("FI_PROVIDER", "efa"), "");
  EXPECT_EQ(against("UCX_NET_DEVICES", "eth0"), "");
}

}  // namespace
}  // namespace lockstep::runner::testing
