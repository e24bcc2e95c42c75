#include <gtest/gtest.h>

#include "runner/bootstrap/bootstrap.h"
#include "runner/bootstrap/mpi_settings.h"
#include "runner/bootstrap/nccl_watch.h"
#include "runner/bootstrap/network.h"
#include "runner/bootstrap/rank_variables.h"
#include "runner/bootstrap/ray_folder.h"
#include "runner/bootstrap/torchrun.h"

namespace lockstep::runner {
namespace {

GangContext make_gang(int nodes, int ranks_per_node, int node_rank) {
  GangContext gang;
  gang.assignment.attempt = {JobId("gray_pig"), 2};
  gang.assignment.experiment = "Default";
  gang.assignment.node_rank = node_rank;
  gang.assignment.spec.resources.instance_count = nodes;
  gang.assignment.spec.distribution = {Distribution::Kind::pytorch, ranks_per_node};
  gang.assignment.allotment.cpus = {0, 1, 2, 3};
  GangTable table;
  for (int node = 0; node < nodes; ++node) {
    GangMember member;
    member.hostname = "h";
    member.host_id = "one host";
    member.address = "127.0.0." + std::to_string(node + 1);
    table.members.push_back(member);
  }
  table.master_port = 6105;
  gang.assignment.gang = std::move(table);
  gang.tmp_directory = "/tmp/attempt/tmp";
  return gang;
}

// Of a bootstrap that answers at once.
std::map<std::string, std::string> variables_of(Bootstrap& bootstrap, int rank, int local_rank) {
  Result<Bootstrap::RankVariables> answer = make_error(ErrorCode::internal, "no answer came");
  bootstrap.environment(rank, local_rank, [&](auto prepared) { answer = std::move(prepared); });
  EXPECT_TRUE(answer) << answer.error().message;
  return answer ? *answer : Bootstrap::RankVariables{};
}

TEST(CommonEnvironment, EveryJob) {
  GangContext gang = make_gang(1, 2, 0);
  gang.assignment.spec.inputs["rate"] = "0.1";
  const auto all = common_environment(gang, 1, 1);
  EXPECT_EQ(all.at("AZUREML_RUN_ID"), "gray_pig");
  EXPECT_EQ(all.at("AZUREML_EXPERIMENT_ID"), "Default");
  EXPECT_EQ(all.at("AZUREML_PROCESS_NAME"), "rank_1");
  EXPECT_EQ(all.at("AZUREML_CR_NODE_RANK"), "0");
  EXPECT_EQ(all.at("AZ_BATCHAI_GPU_COUNT"), "0");
  EXPECT_EQ(all.at("AZURE_ML_INPUT_rate"), "0.1");
  EXPECT_EQ(all.at("LOCKSTEP_ATTEMPT"), "2");
  EXPECT_EQ(all.at("LOCKSTEP_WORLD_SIZE"), "2");
  EXPECT_EQ(all.at("CUDA_VISIBLE_DEVICES"), "");
  EXPECT_EQ(all.at("PYTHONUNBUFFERED"), "1");
  EXPECT_EQ(all.at("TMPDIR"), "/tmp/attempt/tmp");
  for (const char* name : {"AZ_BATCH_HOST_LIST", "AZUREML_NODE_COUNT", "NCCL_SOCKET_IFNAME",
                           "GLOO_SOCKET_IFNAME", "CUDA_DEVICE_ORDER"}) {
    EXPECT_EQ(all.count(name), 0u) << name;
  }
}

TEST(CommonEnvironment, SeveralNodes) {
  const auto all = common_environment(make_gang(3, 2, 1), 2, 0);
  EXPECT_EQ(all.at("AZ_BATCH_HOST_LIST"), "127.0.0.1,127.0.0.2,127.0.0.3");
  EXPECT_EQ(all.at("AZ_BATCH_NODE_LIST"), "127.0.0.1;127.0.0.2;127.0.0.3");
  EXPECT_EQ(all.at("AZ_BATCH_IS_CURRENT_NODE_MASTER"), "false");
  EXPECT_EQ(all.at("AZUREML_NODE_COUNT"), "3");
  EXPECT_EQ(all.at("NCCL_SOCKET_IFNAME"), "=lo");
  EXPECT_EQ(all.at("GLOO_SOCKET_IFNAME"), "lo");
  EXPECT_EQ(common_environment(make_gang(3, 2, 0), 0, 0).at("AZ_BATCH_IS_CURRENT_NODE_MASTER"),
            "true");
}

TEST(CommonEnvironment, TheUsersOwnSettingWins) {
  GangContext gang = make_gang(2, 1, 0);
  gang.assignment.spec.environment_variables = {
      {"NCCL_SOCKET_IFNAME", "ib0"}, {"CUDA_VISIBLE_DEVICES", "7"}, {"MASTER_PORT", "29500"}};
  const auto all = common_environment(gang, 0, 0);
  EXPECT_EQ(all.count("NCCL_SOCKET_IFNAME"), 0u);
  EXPECT_EQ(all.count("CUDA_VISIBLE_DEVICES"), 0u);
  EXPECT_EQ(all.at("GLOO_SOCKET_IFNAME"), "lo");
  const auto torch = make_torch_bootstrap(gang);
  EXPECT_EQ(variables_of(*torch, 0, 0).count("MASTER_PORT"), 0u);
}

TEST(CommonEnvironment, EveryRankSeesAllGpusOfTheJob) {
  GangContext gang = make_gang(1, 8, 0);
  gang.assignment.allotment.gpus = {0, 1, 2, 3, 4, 5, 6, 7};
  for (int local = 0; local < 8; ++local) {
    const auto all = common_environment(gang, local, local);
    EXPECT_EQ(all.at("CUDA_VISIBLE_DEVICES"),
              "0,1,2,3,4,5,6,7");  // set_device(LOCAL_RANK) is valid
    EXPECT_EQ(all.at("CUDA_DEVICE_ORDER"), "PCI_BUS_ID");
    EXPECT_EQ(all.at("AZ_BATCHAI_GPU_COUNT"), "8");
  }
}

TEST(CommonEnvironment, IsolatedGpusGiveOneEach) {
  GangContext gang = make_gang(1, 3, 0);
  gang.assignment.allotment.gpus = {4, 6};
  gang.assignment.spec.resources.isolate_gpus = true;
  EXPECT_EQ(common_environment(gang, 0, 0).at("CUDA_VISIBLE_DEVICES"), "4");
  EXPECT_EQ(common_environment(gang, 1, 1).at("CUDA_VISIBLE_DEVICES"), "6");
  EXPECT_EQ(common_environment(gang, 2, 2).at("CUDA_VISIBLE_DEVICES"), "");
}

TEST(CommonEnvironment, GpusCountFromZeroInAContainerThatHasThemAlone) {
  GangContext gang = make_gang(1, 2, 0);
  gang.assignment.allotment.gpus = {4, 6};
  gang.container = GangContext::Inside{};
  EXPECT_EQ(common_environment(gang, 0, 0).at("CUDA_VISIBLE_DEVICES"), "0,1");
  gang.assignment.spec.resources.isolate_gpus = true;
  EXPECT_EQ(common_environment(gang, 1, 1).at("CUDA_VISIBLE_DEVICES"), "1");
  gang.container->has_own_gpus = false;
  EXPECT_EQ(common_environment(gang, 1, 1).at("CUDA_VISIBLE_DEVICES"), "6");
}

TEST(OpenMpi, CopiesThroughSharedMemoryInAContainerUnlessTheJobSaysOtherwise) {
  constexpr char kName[] = "OMPI_MCA_btl_vader_single_copy_mechanism";
  GangContext gang = make_gang(1, 2, 0);
  const auto variables = [&] {
    Variables out(gang);
    set_open_mpi(gang, pmix::Directories::below(gang.tmp_directory), 0, 0, &out);
    return out.take();
  };
  EXPECT_EQ(variables().count(kName), 0U);
  gang.container = GangContext::Inside{};
  EXPECT_EQ(variables().at(kName), "none");
  gang.assignment.spec.environment_variables[kName] = "cma";
  EXPECT_EQ(variables().count(kName), 0U) << "it is among the job's own";
}

TEST(TorchBootstrap, NamesWhatTorchrunNames) {
  const GangContext gang = make_gang(2, 2, 1);
  const auto torch = make_torch_bootstrap(gang);
  bool begun = false;
  torch->begin([&](Status status) { begun = status.has_value(); });
  ASSERT_TRUE(begun);
  const auto all = variables_of(*torch, 3, 1);
  const std::map<std::string, std::string> expected = {
      {"MASTER_ADDR", "127.0.0.1"},
      {"MASTER_PORT", "6105"},
      {"WORLD_SIZE", "4"},
      {"RANK", "3"},
      {"LOCAL_RANK", "1"},
      {"LOCAL_WORLD_SIZE", "2"},
      {"NODE_RANK", "1"},
      {"GROUP_RANK", "1"},
      {"GROUP_WORLD_SIZE", "2"},
      {"ROLE_RANK", "3"},
      {"ROLE_WORLD_SIZE", "4"},
      {"TORCHELASTIC_RUN_ID", "gray_pig"},
      {"TORCHELASTIC_RESTART_COUNT", "1"},
      {"OMP_NUM_THREADS", "2"},
      {"JAX_COORDINATOR_ADDRESS", "127.0.0.1:6105"},
      {"OMPI_MCA_orte_hnp_uri", "1.0;tcp://127.0.0.1:1"},
      {"OMPI_COMM_WORLD_SIZE", "4"},
      {"OMPI_COMM_WORLD_RANK", "3"},
      {"OMPI_COMM_WORLD_LOCAL_RANK", "1"}};
  EXPECT_EQ(all, expected);
}

TEST(TorchBootstrap, SharesTheGpusAmongJaxsProcesses) {
  const auto devices = [](int ranks, bool isolated, int local_rank) {
    GangContext gang = make_gang(1, ranks, 0);
    gang.assignment.allotment.gpus = {0, 1, 2, 3};
    gang.assignment.spec.resources.isolate_gpus = isolated;
    return variables_of(*make_torch_bootstrap(gang), local_rank,
                        local_rank)["JAX_LOCAL_DEVICE_IDS"];
  };
  EXPECT_EQ(devices(1, false, 0), "0,1,2,3");
  EXPECT_EQ(devices(2, false, 1), "2,3");
  EXPECT_EQ(devices(4, false, 3), "3");
  EXPECT_EQ(devices(4, true, 3), "0");
}

TEST(NcclWatch, ARankWithGpusCanBeAskedWhatItsCollectivesDo) {
  GangContext gang = make_gang(2, 2, 1);
  gang.assignment.allotment.gpus = {0, 1};
  gang.ras_port = 6200;
  gang.nccl_dumps = nccl_dumps_below("/job");
  auto all = variables_of(*make_torch_bootstrap(gang), 3, 1);
  EXPECT_EQ(all["NCCL_RAS_ADDR"], "127.0.0.1:6200");
  EXPECT_EQ(all["TORCH_FR_BUFFER_SIZE"], "2000");
  EXPECT_EQ(all["TORCH_NCCL_TRACE_BUFFER_SIZE"], "2000");
  EXPECT_EQ(all["TORCH_NCCL_DUMP_ON_TIMEOUT"], "1");
  EXPECT_EQ(all["TORCH_FR_DUMP_TEMP_FILE"], "/job/logs/nccl_trace_rank_");
  EXPECT_EQ(all["TORCH_NCCL_DEBUG_INFO_TEMP_FILE"], "/job/logs/nccl_trace_rank_");
  gang.ras_port = 0;
  EXPECT_EQ(variables_of(*make_torch_bootstrap(gang), 3, 1).count("NCCL_RAS_ADDR"), 0u);
}

TEST(NcclWatch, TheUsersWordWins) {
  GangContext gang = make_gang(2, 2, 1);
  gang.assignment.allotment.gpus = {0, 1};
  gang.ras_port = 6200;
  gang.nccl_dumps = nccl_dumps_below("/job");
  auto& user = gang.assignment.spec.environment_variables;
  user = {{"NCCL_RAS_ADDR", "localhost:7000"},
          {"TORCH_NCCL_TRACE_BUFFER_SIZE", "0"},
          {"TORCH_NCCL_DEBUG_INFO_TEMP_FILE", "/scratch/t"}};
  auto all = variables_of(*make_torch_bootstrap(gang), 3, 1);
  for (const char* name : {"NCCL_RAS_ADDR", "TORCH_FR_BUFFER_SIZE", "TORCH_NCCL_TRACE_BUFFER_SIZE",
                           "TORCH_FR_DUMP_TEMP_FILE", "TORCH_NCCL_DEBUG_INFO_TEMP_FILE"})
    EXPECT_EQ(all.count(name), 0u) << name;
  EXPECT_EQ(ras_address(gang), "localhost:7000");
  user = {{"NCCL_RAS_ENABLE", "0"}};
  EXPECT_EQ(ras_address(gang), std::nullopt);
  EXPECT_EQ(variables_of(*make_torch_bootstrap(gang), 3, 1).count("NCCL_RAS_ADDR"), 0u);
}

// DeepSpeed takes AZUREML_EXPERIMENT_ID as a sign that it must set NCCL_SOCKET_IFNAME, unless all
// five are there.
TEST(Torchrun, HasTheFiveVariablesThatDeepSpeedLooksFor) {
  const GangContext gang = make_gang(2, 2, 1);
  Variables out(gang);
  set_torchrun(gang, 3, 1, &out);
  const auto all = out.take();
  for (const char* name : {"RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT"})
    EXPECT_EQ(all.count(name), 1u) << name;
}

// Lightning takes them for a Slurm job's.
TEST(CommonEnvironment, HasNothingOfSlurm) {
  for (const auto& [name, value] : common_environment(make_gang(2, 2, 1), 3, 1))
    EXPECT_NE(name.rfind("SLURM_", 0), 0u) << name;
}

TEST(Ray, FolderIsShortAndTheSameOnAllNodes) {
  const std::string folder = ray_folder(make_gang(2, 1, 0));
  EXPECT_EQ(folder, ray_folder(make_gang(2, 1, 1)));
  EXPECT_LE(folder.size(), 40u);
  GangContext other = make_gang(2, 1, 0);
  other.assignment.attempt.number = 3;
  EXPECT_NE(folder, ray_folder(other));
}

TEST(Pmi1Variables, ConnectMpichAndIntelMpi) {
  auto variables = pmi1_variables(make_gang(1, 4, 0), 3, 20);
  const std::map<std::string, std::string> expected = {{"PMI_FD", "20"},
                                                       {"PMI_RANK", "3"},
                                                       {"PMI_SIZE", "4"},
                                                       {"MPIR_CVAR_PMI_VERSION", "1"},
                                                       {"I_MPI_PMI", "pmi1"}};
  EXPECT_EQ(variables, expected);
}

TEST(CommonEnvironment, AnMpiJobOfOneMachineStaysOnItsLoopback) {
  GangContext gang = make_gang(2, 1, 0);
  gang.assignment.spec.distribution.kind = Distribution::Kind::mpi;
  FabricInterface lo;
  lo.name = "lo";
  lo.loopback = true;
  gang.fabric.interfaces = {lo};
  const auto all = common_environment(gang, 0, 0);
  EXPECT_EQ(all.at("FI_TCP_IFACE"), "lo");
  EXPECT_EQ(all.at("OMPI_MCA_btl_tcp_if_include"), "lo");
  EXPECT_EQ(all.at("OMPI_MCA_pml"), "ob1");
  EXPECT_EQ(all.at("OMPI_MCA_btl"), "self,vader,tcp");
  EXPECT_EQ(all.at("OMPI_MCA_osc"), "^ucx");
  EXPECT_EQ(all.count("UCX_NET_DEVICES"), 0u);
}

// What was decided for a gang holds for all of its ranks here.
TEST(CommonEnvironment, TheNetworkThatWasDecidedCounts) {
  GangContext gang = make_gang(2, 2, 0);
  gang.network = {{{"NCCL_SOCKET_IFNAME", "=eth1", SettingSource::probe, "", ""}}};
  EXPECT_EQ(common_environment(gang, 1, 1).at("NCCL_SOCKET_IFNAME"), "=eth1");
  gang.network.push_back(
      {{"NCCL_SOCKET_IFNAME", "=eth2", SettingSource::probe, "", ""},
       {"NCCL_DEBUG", "INFO", SettingSource::user, "", ""},
       {std::string(kMemlockSetting), "unlimited", SettingSource::fixed, "", ""}});
  const auto all = common_environment(gang, 1, 1);
  EXPECT_EQ(all.at("NCCL_SOCKET_IFNAME"), "=eth2");
  EXPECT_EQ(all.count("NCCL_DEBUG"), 0u) << "it is among the job's own";
  EXPECT_EQ(all.count(std::string(kMemlockSetting)), 0u) << "it is no variable";
}

// As where another machine passes on what comes to the node's address.
TEST(CommonEnvironment, WithoutAProbedInterfaceTheRouteCounts) {
  GangContext gang = make_gang(2, 2, 0);
  GangTable table = gang.gang();
  table.members[1].host_id = "another host";
  gang.assignment.gang = std::move(table);
  gang.probe.emplace().chosen.resize(2);
  gang.probe->chosen[1].node_rank = 1;
  gang.probe->chosen[1].interface = "eth9";
  EXPECT_EQ(common_environment(gang, 0, 0).at("NCCL_SOCKET_IFNAME"), "=lo") << "by 127.0.0.2";
  gang.probe->chosen[0].interface = "eth1";
  EXPECT_EQ(common_environment(gang, 0, 0).at("NCCL_SOCKET_IFNAME"), "=eth1");
}

TEST(Pmi1Variables, TheJobsOwnChoiceWins) {
  GangContext gang = make_gang(2, 1, 0);
  gang.assignment.spec.environment_variables = {{"I_MPI_PMI_LIBRARY", "/opt/libpmix.so.2"},
                                                {"MPIR_CVAR_PMI_VERSION", "x"},
                                                {"PMI_RANK", "7"}};
  const auto variables = pmi1_variables(gang, 0, 20);
  EXPECT_EQ(variables.at("I_MPI_PMI"), "pmix");
  EXPECT_EQ(variables.count("MPIR_CVAR_PMI_VERSION"), 0u);
  EXPECT_EQ(variables.at("PMI_RANK"), "0");  // but not a rank's identity
}

TEST(NoneBootstrap, AddsNothing) {
  const GangContext gang = make_gang(2, 2, 1);
  EXPECT_TRUE(variables_of(*make_none_bootstrap(gang), 2, 0).empty());
}

TEST(Network, FindsTheLoopback) {
  EXPECT_EQ(interface_of("127.0.0.1"), "lo");
  EXPECT_EQ(interface_of("127.1.2.3"), "lo");
  EXPECT_EQ(interface_of("203.0.113.77"), std::nullopt);
  EXPECT_EQ(source_address_towards("127.0.0.1"), "127.0.0.1");
  EXPECT_EQ(source_address_towards("no such host.invalid"), std::nullopt);
  EXPECT_EQ(gang_interface(make_gang(1, 1, 0)), std::nullopt);
}

// A node on another host that is reached over loopback (an address of ours): the route decides.
TEST(Network, TheRouteToAnotherHostDecides) {
  GangContext gang = make_gang(2, 1, 0);
  GangTable table = *gang.assignment.gang;
  table.members[1].host_id = "another host";
  table.members[0].address = "203.0.113.77";
  gang.assignment.gang = std::move(table);
  EXPECT_EQ(gang_interface(gang), "lo");
}

TEST(PmixNodeNames, AreUniqueAlsoOnOneHost) {
  GangTable gang;
  gang.members.resize(2);
  gang.members[0].hostname = "n1.cluster.example";
  gang.members[1].hostname = "n2.cluster.example";
  EXPECT_EQ(pmix_node_names(gang), (std::vector<std::string>{"n1", "n2"}));
  gang.members[1].hostname = "n1";
  EXPECT_EQ(pmix_node_names(gang), (std::vector<std::string>{"n1-0", "n1-1"}));
}

}  // namespace
}  // namespace lockstep::runner
