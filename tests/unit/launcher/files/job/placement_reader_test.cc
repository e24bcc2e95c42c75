// The keys of a job file that choose nodes.

#include "launcher/files/job/placement_reader.h"

#include <gtest/gtest.h>

#include "common/domain/targets/node_labels.h"
#include "launcher/files/job_file.h"

namespace lockstep::spec {
namespace {

std::string errors_in(const std::string& text) {
  const auto read = parse_job("job.yml", text);
  return read ? "none" : read.error().message;
}

TEST(PlacementReader, EveryKey) {
  const auto read = parse_job("job.yml",
                              "command: x\n"
                              "compute: azureml:serverless\n"
                              "resources: {instance_count: 2, instance_type: Standard_NC24rs_v3}\n"
                              "lockstep:\n"
                              "  isolated: true\n"
                              "  rdma: Required\n"
                              "  labels: {rack: 7, example.com/zone: a}\n"
                              "  nodes: [n1, n2, n3]\n");
  ASSERT_TRUE(read) << read.error().message;
  const ResourceRequest& asked = read->spec.resources;
  EXPECT_EQ(asked.instance_type, "Standard_NC24rs_v3");
  EXPECT_TRUE(asked.isolated);
  EXPECT_EQ(asked.rdma, Rdma::required);
  EXPECT_EQ(asked.labels, (NodeLabels{{"rack", "7"}, {"example.com/zone", "a"}}));
  EXPECT_EQ(asked.nodes, (std::vector<std::string>{"n1", "n2", "n3"}));
  EXPECT_EQ(asked.instance_count, 2);
  EXPECT_EQ(read->spec.compute, "") << "serverless names no target, as on Azure";
}

TEST(PlacementReader, NodesWithoutANumberMeansAllOfThem) {
  const auto read = parse_job("job.yml", "command: x\nlockstep: {nodes: 'n1, n2'}\n");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->spec.resources.instance_count, 2);
  EXPECT_EQ(read->spec.resources.nodes, (std::vector<std::string>{"n1", "n2"}));
}

TEST(PlacementReader, AzuresPropertiesAreTakenAndSaidNotToBeUsed) {
  const auto read = parse_job("job.yml",
                              "command: x\nresources:\n  properties:\n"
                              "    AISuperComputer: {interactive: false}\n    other: 1\n");
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->notes.size(), 1U);
  EXPECT_EQ(read->notes[0],
            "job.yml:4:5: resources.properties is not used (AISuperComputer, other)");
}

TEST(PlacementReader, BadValuesAreRefusedWithThePlace) {
  const struct {
    const char* text;
    const char* error;
  } kCases[] = {
      {"lockstep: {isolated: yes please}",
       "job.yml:2:22: 'lockstep.isolated': 'yes please' is neither true nor false"},
      {"lockstep: {rdma: maybe}",
       "job.yml:2:18: 'lockstep.rdma': unknown word 'maybe'; it must be required, preferred or "
       "off"},
      {"lockstep: {labels: [a]}",
       "job.yml:2:20: 'lockstep.labels' must be a mapping of keys to values, not a list"},
      {"lockstep: {labels: {a b: c}}",
       "job.yml:2:20: lockstep.labels: 'a b' is not a label's key: write 1 to 63 letters, digits, "
       "'-', '_' and '.', beginning and ending with a letter or a digit, perhaps after a DNS name "
       "and '/', as in example.com/rack"},
      {"lockstep: {nodes: {a: b}}",
       "job.yml:2:19: 'lockstep.nodes' must be a list of names, such as [n1, n2]; this is a "
       "mapping"},
      {"lockstep: {nodes: [n1, n1]}", "job.yml:2:19: lockstep.nodes: names n1 twice"},
      {"lockstep: {nodes: ['a b']}",
       "job.yml:2:19: lockstep.nodes: 'a b' is not the name of a node; `lockstep node list` shows "
       "the names"},
      {"resources: {instance_count: 3}\nlockstep: {nodes: [n1, n2]}",
       "job.yml:2:29: resources.instance_count: is 3, but lockstep.nodes names only 2"},
      {"resources: {instance_type: ''}",
       "job.yml:2:28: 'resources.instance_type' is empty; name a size, or leave it out"},
      {"resources: {properties: [a]}",
       "job.yml:2:25: 'resources.properties' must be a mapping of keys to values, not a list"},
  };
  for (const auto& one : kCases)
    EXPECT_EQ(errors_in(std::string("command: x\n") + one.text + "\n"), one.error) << one.text;
}

}  // namespace
}  // namespace lockstep::spec
