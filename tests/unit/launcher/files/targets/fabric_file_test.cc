// The operator's fabric.yml: what it says of a node, and what is wrong in it.

#include "launcher/files/targets/fabric_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "common/io/file_system.h"
#include "tests/unit/support/temp_dir.h"

namespace lockstep::spec {
namespace {

using testing::HasSubstr;

constexpr char kRules[] =
    "rules:\n"
    "  - interface: eth0\n"
    "    environment_variables: {NCCL_IB_TC: 106, UCX_TLS: tcp}\n"
    "  - target: [gpus, spot-gpus]\n"
    "    size: standard_nd96asr_V4\n"
    "    network: [10.1.0.0/16, 'fd00::/8']\n"
    "    rdma: [mlx5_0, 'mlx5_1:1']\n"
    "    environment_variables:\n"
    "      NCCL_TOPO_FILE: /opt/microsoft/ndv4-topo.xml\n"
    "      NCCL_IB_TC: 41\n"
    "  - labels: {rack: r7, zone: ''}\n"
    "    rdma: none\n";

TEST(FabricFile, SetsForANodeWhatItsRulesSayTheLastOneFirst) {
  const auto rules = read_fabric_rules("/home/fabric.yml", kRules);
  ASSERT_TRUE(rules) << rules.error().message;
  ASSERT_EQ(rules->size(), 3u);

  const OperatorSettings plain = settings_of(*rules, {"local", "", {{"rack", "r7"}}});
  EXPECT_EQ(plain.variables, (std::vector<OperatorVariable>{{"NCCL_IB_TC", "106", "fabric.yml:2"},
                                                            {"UCX_TLS", "tcp", "fabric.yml:2"}}));
  EXPECT_EQ(plain.interface, (OperatorInterface{{"eth0"}, {}, "fabric.yml:2"}));
  EXPECT_FALSE(plain.rdma) << "it has only one of the labels";

  const OperatorSettings gpus = settings_of(*rules, {"spot-gpus", "Standard_ND96asr_v4", {}});
  EXPECT_EQ(gpus.variables, (std::vector<OperatorVariable>{
                                {"NCCL_IB_TC", "41", "fabric.yml:4"},
                                {"NCCL_TOPO_FILE", "/opt/microsoft/ndv4-topo.xml", "fabric.yml:4"},
                                {"UCX_TLS", "tcp", "fabric.yml:2"}}));
  EXPECT_EQ(gpus.interface, (OperatorInterface{{}, {"10.1.0.0/16", "fd00::/8"}, "fabric.yml:4"}));
  EXPECT_EQ(gpus.rdma, (OperatorRdma{{"mlx5_0", "mlx5_1:1"}, "fabric.yml:4"}));

  const OperatorSettings rack =
      settings_of(*rules, {"gpus", "Standard_ND96asr_v4", {{"rack", "r7"}, {"zone", ""}}});
  EXPECT_EQ(rack.rdma, (OperatorRdma{{}, "fabric.yml:11"})) << "no port at all";
  EXPECT_TRUE(settings_of({}, {"gpus", "", {}}).empty());
}

TEST(FabricFile, MayBeEmptyOrAbsent) {
  for (const char* text : {"", "# none yet\n\n", "rules: []\n"}) {
    const auto rules = read_fabric_rules("f", text);
    ASSERT_TRUE(rules) << text;
    EXPECT_TRUE(rules->empty()) << text;
  }
  const test::TempDir temp;
  EXPECT_TRUE(load_fabric_rules(temp.path() + "/fabric.yml")->empty());
}

TEST(FabricFile, SaysWhatIsWrongAndWhere) {
  struct Case {
    const char* text;
    const char* says;
  };
  const Case kCases[] = {
      {"- interface: eth0\n", "a file of network rules must be a mapping"},
      {"rule:\n  - interface: eth0\n", "f:1:1: unknown key 'rule'; did you mean 'rules'?"},
      {"rules: {interface: eth0}\n", "f:1:1: 'rules' must be a list, not a mapping"},
      {"rules:\n  - eth0\n", "f:2:5: a rule must be a mapping, not a value"},
      {"rules:\n  - interfce: eth0\n", "f:2:5: unknown key 'interfce'; did you mean 'interface'?"},
      {"rules:\n  - target: gpus\n", "this rule sets nothing: it needs 'interface', 'network'"},
      {"rules:\n  - {target: '../etc', interface: eth0}\n", "f:2:14: 'target':"},
      {"rules:\n  - {target: [], interface: eth0}\n", "'target' must have 1 to 64 names"},
      {"rules:\n  - {size: 'Standard D4', interface: eth0}\n",
       "f:2:12: 'size': Standard D4 is not a size's name"},
      {"rules:\n  - {labels: r7, interface: eth0}\n",
       "'labels' must be a mapping of labels to values, as {rack: r7}"},
      {"rules:\n  - {labels: {'a b': x}, interface: eth0}\n", "f:2:15: 'labels':"},
      {"rules:\n  - {labels: {rack: 'r 7'}, interface: eth0}\n", "f:2:21: 'labels':"},
      {"rules:\n  - {labels: {rack: [r7]}, interface: eth0}\n",
       "'labels.rack' must be a text, not a list"},
      {"rules:\n  - interface: '=eth0'\n",
       "f:2:16: 'interface': '=eth0' is NCCL's way of writing; write the name alone"},
      {"rules:\n  - interface: a-name-that-is-too-long\n",
       "'interface': a-name-that-is-too-long is not an interface's name, such as eth1"},
      {"rules:\n  - interface: [eth0, eth0]\n", "f:2:23: 'interface': eth0 is there twice"},
      {"rules:\n  - interface: {name: eth0}\n",
       "'interface' must be a name, or a list of names, not a mapping"},
      {"rules:\n  - interface: ''\n", "or a list of names, not an empty text"},
      {"rules:\n  - network: 10.1.0.0\n", "f:2:14: 'network': 10.1.0.0 is not a network"},
      {"rules:\n  - network: 10.1.0.7/16\n", "without bits behind the prefix"},
      {"rules:\n  - network: 10.1.0.0/33\n", "is not a network"},
      {"rules:\n  - network: eth0/24\n", "is not a network"},
      {"rules:\n  - rdma: 'mlx5_0:'\n", "is not an RDMA port: write DEVICE or DEVICE:PORT"},
      {"rules:\n  - rdma: 'mlx5 0'\n", "is not an RDMA port"},
      {"rules:\n  - rdma: [mlx5_0, none]\n", "'rdma': none stands alone"},
      {"rules:\n  - environment_variables: NCCL_IB_TC=106\n",
       "'environment_variables' must be a mapping of 1 to 64 variables to values"},
      {"rules:\n  - environment_variables: {}\n", "must be a mapping of 1 to 64 variables"},
      {"rules:\n  - environment_variables: {LD_PRELOAD: /x.so}\n",
       "f:2:29: LD_PRELOAD is not a variable of the network; those begin with NCCL_"},
      {"rules:\n  - environment_variables: {PATH: /x}\n", "PATH is not a variable of the network"},
      {"rules:\n  - environment_variables: {'NCCL IB': 1}\n", "is not a variable's name"},
      {"rules:\n  - environment_variables: {NCCL_IB_TC: [1]}\n",
       "the value of NCCL_IB_TC must be a text, not a list"},
      {"rules:\n  - environment_variables: {NCCL_IB_TC: }\n", "must be a text, not nothing"},
      {"rules:\n  - environment_variables: {UCX_TLS: \"tcp\\nX\"}\n",
       "the value of UCX_TLS has control characters"},
      {"rules:\n  - interface: eth0\n    interface: eth1\n", "duplicate key 'interface'"},
  };
  for (const Case& one : kCases) {
    const auto rules = read_fabric_rules("f", one.text);
    ASSERT_FALSE(rules) << one.text;
    EXPECT_THAT(rules.error().message, HasSubstr(one.says)) << one.text;
  }
}

TEST(FabricFile, NamesAllFaultsAtOnce) {
  const auto rules = read_fabric_rules("f",
                                       "rules:\n"
                                       "  - network: x\n"
                                       "  - rdma: 'a b'\n"
                                       "  - target: gpus\n");
  ASSERT_FALSE(rules);
  EXPECT_THAT(rules.error().message, HasSubstr("f:2:14: 'network'"));
  EXPECT_THAT(rules.error().message, HasSubstr("\nf:3:11: 'rdma'"));
  EXPECT_THAT(rules.error().message, HasSubstr("\nf:4:5: this rule sets nothing"));
}

TEST(FabricFile, HasBounds) {
  std::string many = "rules:\n", variables = "rules:\n  - environment_variables:\n";
  for (std::size_t i = 0; i <= kMaxFabricRules; ++i) many += "  - rdma: none\n";
  for (std::size_t i = 0; i <= kMaxOperatorVariables; ++i)
    variables += "      NCCL_" + std::to_string(i) + ": x\n";
  const std::string text =
      "rules:\n  - environment_variables: {UCX_TLS: " + std::string(kMaxSettingTextBytes + 1, 'x') +
      "}\n";
  EXPECT_THAT(read_fabric_rules("f", many).error().message,
              HasSubstr("'rules' has more than 1000 rules"));
  EXPECT_THAT(read_fabric_rules("f", variables).error().message, HasSubstr("1 to 64 variables"));
  EXPECT_THAT(read_fabric_rules("f", text).error().message, HasSubstr("more than 1024 bytes"));
}

TEST(FabricFile, ThatOthersCanChangeIsNotUsed) {
  const test::TempDir temp;
  const std::string path = temp.path() + "/fabric.yml";
  ASSERT_TRUE(io::write_file_atomically(path, kRules));
  EXPECT_EQ(load_fabric_rules(path)->size(), 3u);
  ASSERT_EQ(::chmod(path.c_str(), 0666), 0);
  EXPECT_EQ(load_fabric_rules(path).error().code, ErrorCode::permission_denied);
}

}  // namespace
}  // namespace lockstep::spec
