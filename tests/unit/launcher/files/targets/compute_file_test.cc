// Compute files: what is read, and that each bad one is refused with its place.

#include "launcher/files/targets/compute_file.h"

#include <gtest/gtest.h>

#include "tests/unit/launcher/files/bad_input.h"

namespace lockstep::spec {
namespace {

constexpr const char* kSources = "node sources: ssh, join";

TEST(ComputeFile, AnAliasOfThisMachine) {
  const auto spec = parse_compute("compute.yml",
                                  "$schema: https://azuremlschemas.azureedge.net/latest/x.json\n"
                                  "name: cpu-cluster\n"
                                  "type: local\n"
                                  "description: my laptop\n"
                                  "location: westeurope\n"
                                  "tags: {team: vision, n: 3}\n"
                                  "properties: {}\n");
  ASSERT_TRUE(spec) << spec.error().message;
  ComputeSpec alias;
  alias.name = "cpu-cluster";
  alias.description = "my laptop";
  alias.location = "westeurope";
  alias.tags = {{"team", "vision"}, {"n", "3"}};
  EXPECT_EQ(*spec, alias);
}

TEST(ComputeFile, MachinesThatJoinWithAToken) {
  const auto spec = parse_compute(
      "compute.yml", "name: lab\ntype: VirtualMachine\nlockstep: {node_source: join}\n");
  ASSERT_TRUE(spec) << spec.error().message;
  EXPECT_EQ(spec->type, ComputeType::virtualmachine);
  EXPECT_EQ(spec->source, NodeSource::join);
}

TEST(ComputeFile, AClusterOfContainers) {
  const auto spec = parse_compute("compute.yml",
                                  "name: cpu-cluster\n"
                                  "type: amlcompute\n"
                                  "size: Standard_D2\n"
                                  "tier: low_priority\n"
                                  "min_instances: 1\n"
                                  "max_instances: 4\n"
                                  "idle_time_before_scale_down: 90\n"
                                  "lockstep:\n"
                                  "  docker: {image: 'debian:12', cpus: 1.5, args: [--init]}\n",
                                  {"lockstep.docker.memory=2g"});
  ASSERT_TRUE(spec) << spec.error().message;
  EXPECT_EQ(spec->type, ComputeType::amlcompute);
  EXPECT_EQ(spec->source, NodeSource::docker) << "its section says so";
  EXPECT_EQ(spec->size, "Standard_D2");
  const Scale expected{Tier::low_priority, 1, 4, seconds(90)};
  EXPECT_EQ(spec->scale, expected);
  const std::map<std::string, std::vector<std::string>> settings{
      {"image", {"debian:12"}}, {"cpus", {"1.5"}}, {"args", {"--init"}}, {"memory", {"2g"}}};
  EXPECT_EQ(spec->settings, settings);
}

TEST(ComputeFile, LabelsOfItsNodes) {
  const std::string head = "name: lab\ntype: virtualmachine\nlockstep:\n  node_source: join\n";
  const auto spec =
      parse_compute("compute.yml", head + "  labels: {rack: 7, example.com/zone: a}\n");
  ASSERT_TRUE(spec) << spec.error().message;
  EXPECT_EQ(spec->labels, (NodeLabels{{"rack", "7"}, {"example.com/zone", "a"}}));
  for (const char* wrong : {"  labels: [rack]\n", "  labels: {'a b': 1}\n",
                            "  labels: {rack: {}}\n", "  labels: {rack: 'a b'}\n"}) {
    const auto refused = parse_compute("compute.yml", head + wrong);
    ASSERT_FALSE(refused) << wrong;
    EXPECT_NE(refused.error().message.find("compute.yml:5:"), std::string::npos)
        << refused.error().message;
    EXPECT_NE(refused.error().message.find("lockstep.labels"), std::string::npos);
  }
}

TEST(ComputeFile, AClusterOfHosts) {
  const auto spec = parse_compute(
      "compute.yml",
      "name: lab\ntype: amlcompute\nmax_instances: 5\nlockstep: {hosts: [vm1, ann@vm2]}\n");
  ASSERT_TRUE(spec) << spec.error().message;
  EXPECT_EQ(spec->source, NodeSource::ssh);
  EXPECT_EQ(most_machines(*spec), 2);
}

TEST(ComputeFile, AProviderOfTheSite) {
  const auto spec = parse_compute(
      "compute.yml",
      "name: lab\ntype: amlcompute\nlockstep: {command: {program: ec2, region: eu, zones: [a, "
      "b]}}\n");
  ASSERT_TRUE(spec) << spec.error().message;
  EXPECT_EQ(spec->source, NodeSource::command);
  EXPECT_EQ(spec->settings.at("zones"), (std::vector<std::string>{"a", "b"}));
}

TEST(ComputeFile, AClusterOfPods) {
  const auto spec = parse_compute(
      "compute.yml",
      "name: lab\ntype: kubernetes\nresource_id: azureml:/x\nnamespace: ml\nmax_instances: 4\n"
      "lockstep: {kubernetes: {image: a, gpus: 2, host_network: true, tolerations: ['*'], "
      "node_selector: {zone: a}}}\n");
  ASSERT_TRUE(spec) << spec.error().message;
  EXPECT_EQ(spec->type, ComputeType::kubernetes);
  EXPECT_EQ(spec->source, NodeSource::kubernetes) << "its type says so";
  EXPECT_TRUE(is_elastic(*spec));
  EXPECT_EQ(spec->scale.max_instances, 4);
  const decltype(spec->settings) settings{{"image", {"a"}},       {"namespace", {"ml"}},
                                          {"gpus", {"2"}},        {"host_network", {"true"}},
                                          {"tolerations", {"*"}}, {"node_selector", {"zone=a"}}};
  EXPECT_EQ(spec->settings, settings);
  const auto other = parse_compute(
      "compute.yml", "name: lab\ntype: amlcompute\nlockstep: {kubernetes: {image: a}}\n");
  ASSERT_TRUE(other) << other.error().message;
  EXPECT_EQ(other->source, NodeSource::kubernetes);
}

TEST(ComputeFile, OverridesComeBeforeTheFile) {
  const auto spec = parse_compute("compute.yml", "name: lab\ntype: kubernetes\n",
                                  {"type=local", "name=laptop", "tags.owner=ann"});
  ASSERT_TRUE(spec) << spec.error().message;
  EXPECT_EQ(spec->name, "laptop");
  EXPECT_EQ(spec->tags.at("owner"), "ann");
}

std::vector<BadInput> bad_computes() {
  const std::string name_rule =
      " cannot be the name of a compute target: it needs 3 to 24 letters, digits and '-', and "
      "begins with a letter";
  return {
      {"empty",
       "",
       {},
       "compute.yml:1:1: is empty; a compute file needs at least a 'name' and a "
       "'type'"},
      {"no_type",
       "name: lab\n",
       {},
       "compute.yml:1:1: a compute target needs a 'type'; supported types: local, virtualmachine, "
       "amlcompute, kubernetes, computeinstance"},
      {"no_name", "type: local\n", {}, "compute.yml:1:1: a compute target needs a 'name'"},
      {"type_list",
       "name: lab\ntype: [local]\n",
       {},
       "compute.yml:2:7: 'type' must be a string, not a list"},
      {"cluster_without_source",
       "name: lab\ntype: AmlCompute\nsize: Standard_D2\n",
       {},
       "compute.yml:2:7: a target of this type needs something that makes its machines; node "
       "sources: docker, ssh, slurm, kubernetes, command. In a file, for example `lockstep: "
       "{docker: {image: IMAGE}}`; in a "
       "command --node-source docker --image IMAGE"},
      {"pods_without_image",
       "name: lab\ntype: amlcompute\nlockstep: {node_source: kubernetes}\n",
       {},
       "compute.yml:1:1: node source kubernetes needs the setting 'image'"},
      {"pods_of_docker",
       "name: lab\ntype: kubernetes\nlockstep: {node_source: docker}\n",
       {},
       "compute.yml:3:25: the machines of a target of type kubernetes are pods; leave the node "
       "source 'docker' out, or make the target an amlcompute"},
      {"pods_with_a_kubeconfig_of_anywhere",
       "name: lab\ntype: kubernetes\nlockstep: {kubernetes: {image: a, kubeconfig: ../x}}\n",
       {},
       "compute.yml:3:47: kubeconfig: '../x' is not the name of a file: it may not have '/', nor "
       "begin with . or -"},
      {"pods_with_pairs_in_a_list",
       "name: lab\ntype: kubernetes\nlockstep: {kubernetes: {image: a, labels: [x]}}\n",
       {},
       "compute.yml:3:43: labels: 'x' is not KEY=VALUE"},
      {"pods_with_a_deep_mapping",
       "name: lab\ntype: kubernetes\nlockstep: {kubernetes: {image: a, labels: {x: {y: z}}}}\n",
       {},
       "compute.yml:3:47: 'lockstep.kubernetes.labels' must be a mapping of keys to values"},
      {"pods_with_a_flag",
       "name: lab\ntype: kubernetes\nlockstep: {kubernetes: {image: a, host_network: 1}}\n",
       {},
       "compute.yml:3:49: host_network: '1' is not true or false"},
      {"pods_with_a_name_that_is_no_label",
       "name: lab-\ntype: kubernetes\nlockstep: {kubernetes: {image: a}}\n",
       {},
       "compute.yml:1:1: the name of a target whose machines are pods must end with a letter or a "
       "digit, because it becomes a label of theirs"},
      {"namespace_of_a_cluster_without_pods",
       "name: lab\ntype: amlcompute\nnamespace: a\nlockstep: {docker: {image: a}}\n",
       {},
       "compute.yml:3:1: 'namespace' is of a target whose machines are pods; leave it out"},
      {"cluster_that_joins",
       "name: lab\ntype: amlcompute\nlockstep: {node_source: join}\n",
       {},
       "compute.yml:3:25: nodes that join with a token make a virtualmachine, not a cluster; node "
       "sources: docker, ssh, slurm, kubernetes, command"},
      {"cluster_on_the_moon",
       "name: lab\ntype: amlcompute\nlockstep: {node_source: moon}\n",
       {},
       "compute.yml:3:25: 'moon' is not a node source; node sources: docker, ssh, slurm, "
       "kubernetes, command"},
      {"cluster_without_image",
       "name: lab\ntype: amlcompute\nlockstep: {docker: {cpus: 1}}\n",
       {},
       "compute.yml:1:1: node source docker needs the setting 'image'"},
      {"cluster_numbers",
       "name: lab\ntype: amlcompute\nmin_instances: -1\nmax_instances: many\ntier: cheap\n"
       "idle_time_before_scale_down: soon\nsize: [a]\nlockstep: {docker: {image: a}}\n",
       {},
       "compute.yml:3:16: 'min_instances': '-1' is not a number from 0 to 10000\n"
       "compute.yml:4:16: 'max_instances': 'many' is not a number from 1 to 10000\n"
       "compute.yml:5:7: 'tier': 'cheap' is not a tier; there are dedicated and low_priority\n"
       "compute.yml:6:30: 'idle_time_before_scale_down': 'soon' is not a time of at most 30 days: "
       "seconds, or a time such as 5m\n"
       "compute.yml:7:7: 'size' must be a value, not a list"},
      {"cluster_min_above_max",
       "name: lab\ntype: amlcompute\nmin_instances: 3\nlockstep: {docker: {image: a}}\n",
       {},
       "compute.yml:1:1: min_instances is 3; it must be from 0 to max_instances, which is 1"},
      {"cluster_settings",
       "name: lab\ntype: amlcompute\nlockstep: {docker: {imag: a, cpus: 0, memory: big, image: "
       "[a, b], args: {a: 1}, network: --privileged}}\n",
       {},
       "compute.yml:3:27: node source docker has no setting 'imag'; did you mean 'image'?\n"
       "compute.yml:3:36: cpus: '0' is not a number above 0\n"
       "compute.yml:3:47: memory: 'big' is not a size, such as 2g or 512m\n"
       "compute.yml:3:59: image takes one value, not 2\n"
       "compute.yml:3:73: 'lockstep.docker.args' must be a value or a list, not a mapping\n"
       "compute.yml:3:90: network: '--privileged' begins with '-'"},
      {"cluster_settings_of_another_source",
       "name: lab\ntype: amlcompute\nlockstep: {node_source: docker, docker: {image: a}, slurm: "
       "{}}\n",
       {},
       "compute.yml:3:53: 'lockstep.slurm' is of the node source slurm; leave it out here"},
      {"cluster_settings_are_text",
       "name: lab\ntype: amlcompute\nlockstep: {docker: debian}\n",
       {},
       "compute.yml:3:20: 'lockstep.docker' must be a mapping of keys to values, not a value"},
      {"program_is_a_path",
       "name: lab\ntype: amlcompute\nlockstep: {command: {program: /bin/sh}}\n",
       {},
       "compute.yml:3:31: program: '/bin/sh' is not the name of a file: it may not have '/', nor "
       "begin with . or -"},
      {"slurm_folder_is_relative",
       "name: lab\ntype: amlcompute\nlockstep: {slurm: {directory: here}}\n",
       {},
       "compute.yml:3:31: directory: 'here' is not an absolute path"},
      {"batch",
       "name: lab\ntype: batch\n",
       {},
       "compute.yml:2:7: 'type': 'batch' is not supported yet; supported types: local, "
       "virtualmachine, amlcompute, kubernetes, computeinstance",
       kNotYet},
      {"misspelt_type",
       "name: lab\ntype: virtualmashine\n",
       {},
       "compute.yml:2:7: 'type': 'virtualmashine' is not a type of compute target; supported "
       "types: local, virtualmachine, amlcompute, kubernetes, computeinstance; did you mean "
       "'virtualmachine'?"},
      {"unknown_type",
       "name: lab\ntype: mainframe\n",
       {},
       "compute.yml:2:7: 'type': 'mainframe' is not a type of compute target; supported types: "
       "local, virtualmachine, amlcompute, kubernetes, computeinstance"},
      {"vm_without_source",
       "name: lab\ntype: virtualmachine\n",
       {},
       "compute.yml:2:7: a virtualmachine needs machines: name them (in a file below "
       "`lockstep.hosts`; in a command: --host ADDRESS), and the launcher attaches them over ssh; "
       "or "
       "`node_source: join` (in a file below `lockstep:`; in a command: --node-source join) makes "
       "a "
       "target whose nodes join with a token"},
      {"vm_on_docker",
       "name: lab\ntype: virtualmachine\nlockstep: {node_source: docker}\n",
       {},
       std::string("compute.yml:3:25: node source 'docker' is for a target of type amlcompute; ") +
           kSources},
      {"unknown_source",
       "name: lab\ntype: virtualmachine\nlockstep: {node_source: moon}\n",
       {},
       std::string("compute.yml:3:25: 'moon' is not a node source; ") + kSources},
      {"source_is_a_list",
       "name: lab\ntype: virtualmachine\nlockstep: {node_source: [ssh]}\n",
       {},
       "compute.yml:3:25: 'lockstep.node_source' must be a string, not a list"},
      {"source_of_an_alias",
       "name: lab\ntype: local\nlockstep: {node_source: join}\n",
       {},
       "compute.yml:3:25: a target of type local has the nodes of target 'local' and takes no node "
       "source; leave the node source out"},
      {"unknown_key_of_ours",
       "name: lab\ntype: local\nlockstep: {node_sorce: join}\n",
       {},
       "compute.yml:3:12: unknown key 'lockstep.node_sorce'; did you mean 'lockstep.node_source'?"},
      {"lockstep_is_text",
       "name: lab\ntype: local\nlockstep: join\n",
       {},
       "compute.yml:3:11: 'lockstep' must be a mapping of keys to values, not a value"},
      {"unknown_key",
       "name: lab\ntype: local\ndescripton: x\n",
       {},
       "compute.yml:3:1: unknown key 'descripton'; did you mean 'description'?"},
      {"key_of_azure",
       "name: lab\ntype: local\nmax_instances: 4\n",
       {},
       "compute.yml:3:1: 'max_instances' is of a target of type amlcompute or kubernetes; leave it "
       "out"},
      {"short_name", "name: ab\ntype: local\n", {}, "compute.yml:1:7: 'name': 'ab'" + name_rule},
      {"long_name",
       "name: abcdefghijklmnopqrstuvwxy\ntype: local\n",
       {},
       "compute.yml:1:7: 'name': 'abcdefghijklmnopqrstuvwxy'" + name_rule},
      {"name_with_space",
       "name: my lab\ntype: local\n",
       {},
       "compute.yml:1:7: 'name': 'my lab'" + name_rule},
      {"name_with_digit",
       "name: 3lab\ntype: local\n",
       {},
       "compute.yml:1:7: 'name': '3lab'" + name_rule},
      {"name_is_path",
       "name: ../../etc\ntype: local\n",
       {},
       "compute.yml:1:7: 'name': '../../etc'" + name_rule},
      {"name_is_local",
       "name: local\ntype: local\n",
       {},
       "compute.yml:1:7: target 'local' always exists; choose another name"},
      {"name_is_list",
       "name: [a]\ntype: local\n",
       {},
       "compute.yml:1:7: 'name' must be a string, not a list"},
      {"tags_are_a_list",
       "name: lab\ntype: local\ntags: [a]\n",
       {},
       "compute.yml:3:7: 'tags' must be a mapping of keys to values, not a list"},
      {"tag_is_a_list",
       "name: lab\ntype: local\ntags: {a: [1]}\n",
       {},
       "compute.yml:3:8: 'tags.a' must be a string, not a list"},
      {"description_is_a_mapping",
       "name: lab\ntype: local\ndescription: {a: b}\n",
       {},
       "compute.yml:3:14: 'description' must be a string, not a mapping"},
      {"a_job",
       "command: python train.py\ncompute: lab\n",
       {},
       "compute.yml:1:1: 'command' is a key of a job file, but this must be a compute target; "
       "`lockstep job create -f compute.yml` submits a job"},
      {"bad_override",
       "name: lab\ntype: local\n",
       {"type=mainframe"},
       "--set type=mainframe: 'type': 'mainframe' is not a type of compute target; supported "
       "types: local, virtualmachine, amlcompute, kubernetes, computeinstance"},
      {"all_at_once",
       "name: x\ntype: local\nfoo: 1\nsize: big\ntags: 3\n",
       {},
       "compute.yml:1:7: 'name': 'x'" + name_rule +
           "\ncompute.yml:3:1: unknown key 'foo'\ncompute.yml:4:1: 'size' is of a target of "
           "type amlcompute or kubernetes; leave it out\ncompute.yml:5:7: 'tags' must be a mapping "
           "of keys to "
           "values, not a value"},
  };
}

class BadComputeFile : public testing::TestWithParam<BadInput> {};

TEST_P(BadComputeFile, IsRefusedWithItsPlace) {
  const BadInput& bad = GetParam();
  const auto spec = parse_compute("compute.yml", bad.text, bad.overrides);
  ASSERT_FALSE(spec) << "was accepted";
  EXPECT_EQ(spec.error().message, bad.message);
  EXPECT_EQ(spec.error().code, bad.code);
}

INSTANTIATE_TEST_SUITE_P(Computes, BadComputeFile, testing::ValuesIn(bad_computes()),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace lockstep::spec
