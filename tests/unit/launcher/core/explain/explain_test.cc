// Tables of inventories and jobs: on which nodes a job is placed, and what `job explain` says of
// each node. A node is "NAME key=value …": cpus, memory (GiB), gpus, host, ib (STATE/PREFIX/PKEY,
// several with '+'); any other key is a label. A job is words of the same kind: nodes, cpus, gpus,
// rdma, isolated, on (names with '+'); any other key is a label that it wants.

#include <sstream>

#include "tests/unit/launcher/core/launcher_fixture.h"

namespace lockstep::launcher {
namespace {

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> words;
  std::istringstream in(text);
  for (std::string word; std::getline(in, word, at);)
    if (!word.empty()) words.push_back(word);
  return words;
}

RdmaPort port_of(const std::string& text, int number) {
  const auto fields = split(text, '/');
  RdmaPort port;
  port.device = "mlx5_" + std::to_string(number);
  port.state = fields.at(0);
  port.link_layer = "InfiniBand";
  if (fields.size() > 1) port.subnet_prefix = fields[1];
  for (std::size_t i = 2; i < fields.size(); ++i)
    port.pkeys.push_back(std::stoi(fields[i], nullptr, 16));
  return port;
}

struct NodeLine {
  std::string name;
  Inventory inventory;
  NodeLabels labels;
};
NodeLine node_of(const std::string& line) {
  NodeLine node;
  int cpus = 4, memory = 8, gpus = 0;
  for (const std::string& word : split(line, ' ')) {
    const auto equals = word.find('=');
    const std::string key = word.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : word.substr(equals + 1);
    if (equals == std::string::npos)
      node.name = word;
    else if (key == "cpus")
      cpus = std::stoi(value);
    else if (key == "memory")
      memory = std::stoi(value);
    else if (key == "gpus")
      gpus = std::stoi(value);
    else if (key == "host")
      node.inventory.host_id = value;
    else if (key == "ib")
      for (const std::string& port : split(value, '+'))
        node.inventory.rdma_ports.push_back(
            port_of(port, static_cast<int>(node.inventory.rdma_ports.size())));
    else
      node.labels[key] = value;
  }
  const std::vector<RdmaPort> ports = node.inventory.rdma_ports;
  const std::string host = node.inventory.host_id;
  node.inventory = inventory(cpus, gibibytes(static_cast<std::uint64_t>(memory)), gpus);
  node.inventory.rdma_ports = ports;
  node.inventory.host_id = host;
  return node;
}

JobSpec job_of(const std::string& line) {
  JobSpec spec = job_spec("job");
  ResourceRequest& asked = spec.resources;
  for (const std::string& word : split(line, ' ')) {
    const auto equals = word.find('=');
    const std::string key = word.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : word.substr(equals + 1);
    if (key == "nodes")
      asked.instance_count = std::stoi(value);
    else if (key == "cpus")
      asked.cpus = std::stoi(value);
    else if (key == "gpus")
      asked.gpus = std::stoi(value);
    else if (key == "rdma")
      asked.rdma = rdma_from(value).value();
    else if (key == "isolated")
      asked.isolated = true;
    else if (key == "on")
      asked.nodes = split(value, '+');
    else
      asked.labels[key] = value;
  }
  return spec;
}

// A launcher with the nodes of some lines.
struct World {
  explicit World(const std::vector<std::string>& lines) {
    for (const std::string& line : lines) {
      NodeLine wanted = node_of(line);
      nodes.push_back(launcher.join(wanted.name, wanted.inventory));
      if (wanted.labels.empty()) continue;
      launcher.send(
          LabelInput{launcher.next_reply(), {wanted.name, wanted.labels, {}}, UserCaller{"root"}});
      launcher.expect_one<ReplyDone>();
    }
  }
  // "n1 n2", or "" for a job that waits.
  std::string placed(const JobId& job) const {
    std::string text;
    for (const NodeId id : launcher.placed_on(attempt(job)))
      text += (text.empty() ? "" : " ") + launcher.core->state().node_name(id);
    return text;
  }
  // The lines on the nodes.
  std::string explained(const JobId& job) const {
    std::string text;
    bool begun = false;
    const ExplainView view = launcher.explain(job);
    for (const std::string& line : view.lines) {
      begun = begun || line.starts_with("asks for");
      if (begun) text += line + "\n";
    }
    return text;
  }

  TestLauncher launcher;
  std::vector<FakeNode> nodes;
};

struct PlacedCase {
  const char* about;
  std::vector<std::string> nodes;
  const char* job;
  const char* on;
};
const PlacedCase kPlaced[] = {
    {"a label", {"n1", "n2 rack=7"}, "rack=7", "n2"},
    {"all labels", {"n1 rack=7", "n2 rack=7 zone=a"}, "rack=7 zone=a", "n2"},
    {"names", {"n1", "n2", "n3"}, "nodes=2 on=n3+n2", "n2 n3"},
    {"some of the names", {"n1", "n2", "n3"}, "on=n3+n2", "n2"},
    {"one node with RDMA", {"n1 ib=DOWN", "n2 ib=ACTIVE/fe80"}, "rdma=required", "n2"},
    {"a gang in one subnet",
     {"n1 ib=ACTIVE/a/8001", "n2 ib=ACTIVE/b/8001", "n3 ib=ACTIVE/b/8001"},
     "nodes=2 rdma=required",
     "n2 n3"},
    {"a gang in one partition",
     {"n1 ib=ACTIVE/a/8001", "n2 ib=ACTIVE/a/8002", "n3 ib=ACTIVE/a/8001"},
     "nodes=2 rdma=required",
     "n1 n3"},
    {"a node of two partitions joins either",
     {"n1 ib=ACTIVE/a/8001", "n2 ib=ACTIVE/a/8002/8001"},
     "nodes=2 rdma=required",
     "n1 n2"},
    {"a node with two ports joins either subnet",
     {"n1 ib=ACTIVE/a/8001", "n2 ib=ACTIVE/b/8001+ACTIVE/a/8001"},
     "nodes=2 rdma=required",
     "n1 n2"},
    {"preferred takes nodes with RDMA first",
     {"n1", "n2", "n3 ib=ACTIVE/a/8001", "n4 ib=ACTIVE/a/8001"},
     "nodes=2 rdma=preferred",
     "n3 n4"},
    {"preferred takes what there is",
     {"n1", "n2 ib=ACTIVE/a/8001"},
     "nodes=2 rdma=preferred",
     "n1 n2"},
    {"off looks at no port", {"n1", "n2 ib=ACTIVE/a/8001"}, "rdma=off", "n1"},
    {"isolated leaves out nodes that share a machine",
     {"n1 host=a", "n2 host=a", "n3 host=b"},
     "isolated",
     "n3"},
};

TEST(Explain, WhereJobsArePlaced) {
  for (const PlacedCase& one : kPlaced) {
    World world(one.nodes);
    EXPECT_EQ(world.placed(world.launcher.submit(job_of(one.job))), one.on) << one.about;
  }
}

struct WaitingCase {
  const char* about;
  std::vector<std::string> nodes;
  const char* job;
  const char* reason;
  const char* explained;
};
const WaitingCase kWaiting[] = {
    {"labels",
     {"n1", "n2 rack=8"},
     "rack=7",
     "needs 1 node with label rack=7, but 0 of the 2 nodes of target 'local' can take it (n1 has "
     "no "
     "label rack; n2 has the label rack=8, rack=7 asked for); no node of target 'local' can ever "
     "take it; to change that, give a node the label: `lockstep node label NODE rack=7`, or join "
     "nodes that have it: `lockstep node token --compute local`",
     "asks for 1 node with label rack=7; target local:\n"
     "  n1 has no label rack\n"
     "  n2 has the label rack=8, rack=7 asked for\n"},
    {"no fabric for the gang",
     {"n1 ib=ACTIVE/a/8001", "n2 ib=ACTIVE/b/8001", "n3", "n4 ib=DOWN", "n5 ib=ACTIVE/a/7fff"},
     "nodes=2 rdma=required",
     "needs 2 nodes, in one RDMA fabric, but 1 of the 5 nodes of target 'local' together, "
     "in one RDMA fabric, can take it (n3 has no RDMA device; n4 has no active RDMA port (mlx5_0:1 "
     "is DOWN); n5 is a full member of no InfiniBand partition (pkey), so other nodes cannot reach "
     "it by RDMA)",
     "asks for 2 nodes, in one RDMA fabric; target local:\n"
     "  n1 could run the job now\n"
     "  n2 could run the job now\n"
     "  n3 has no RDMA device\n"
     "  n4 has no active RDMA port (mlx5_0:1 is DOWN)\n"
     "  n5 is a full member of no InfiniBand partition (pkey), so other nodes cannot reach it by "
     "RDMA\n"},
    {"shared machines",
     {"n1 host=a", "n2 host=a"},
     "isolated cpus=1",
     "needs 1 isolated node with 1 cpu, but 0 of the 2 nodes of target 'local' can take it (n1 "
     "shares its machine with node n2, but the job asks for isolation; n2 shares its machine with "
     "node n1, but the job asks for isolation); no node of target 'local' can ever take it; to "
     "change that, leave out --isolated (lockstep.isolated in a job file), or join nodes that have "
     "it: `lockstep node token --compute local`",
     "asks for 1 isolated node with 1 cpu; target local:\n"
     "  n1 shares its machine with node n2, but the job asks for isolation\n"
     "  n2 shares its machine with node n1, but the job asks for isolation\n"},
    {"names and hardware",
     {"n1 cpus=8", "n2 cpus=2", "n3 gpus=1 cpus=8"},
     "on=n2+n3 nodes=2 cpus=4",
     "needs 2 nodes of n2, n3 with 4 cpus each, but 1 of the 3 nodes of target 'local' can take it "
     "(n1 is not among the nodes that the job names; n2 has 2 cpus, 4 asked for); only 1 node of "
     "target 'local' can ever take it; to change that, ask for less (--cpus; "
     "lockstep.resources.cpus in a job file), or join nodes that have it: `lockstep node token "
     "--compute "
     "local`",
     "asks for 2 nodes of n2, n3 with 4 cpus each; target local:\n"
     "  n1 is not among the nodes that the job names\n"
     "  n2 has 2 cpus, 4 asked for\n"
     "  n3 could run the job now\n"},
};

TEST(Explain, WhyJobsWaitNodeByNode) {
  for (const WaitingCase& one : kWaiting) {
    SCOPED_TRACE(one.about);
    World world(one.nodes);
    const JobId job = world.launcher.submit(job_of(one.job));
    EXPECT_EQ(world.launcher.view(job).reason, one.reason);
    EXPECT_EQ(world.explained(job), one.explained);
  }
}

TEST(Explain, AnIsolatedJobHoldsTheWholeNode) {
  World world({"n1", "n2"});
  const JobId first = world.launcher.submit(job_of("isolated cpus=1 gpus=0"));
  EXPECT_EQ(world.placed(first), "n1");
  EXPECT_EQ(world.launcher.assignment(world.nodes[0], attempt(first)).allotment.cpus.size(), 4U);
  JobSpec small = job_of("cpus=1 gpus=0 on=n1");
  small.name = "small";
  const JobId second = world.launcher.submit(small);
  EXPECT_EQ(world.explained(second),
            "asks for 1 node of n1 with 1 cpu, 0 gpus; target local:\n"
            "  n1 is held as a whole by job 'job'\n"
            "  n2 is not among the nodes that the job names\n");
  world.launcher.run_solo(world.nodes[0], attempt(first), node_exit({rank_exit(0)}));
  EXPECT_EQ(world.placed(second), "n1");
}

TEST(Explain, PreferredRdmaSaysWhichNodesHaveIt) {
  World world({"n1 gpus=1", "n2 gpus=1 ib=ACTIVE/a/8001"});
  JobSpec both = job_of("nodes=2");
  both.name = "both";
  world.launcher.submit(both);
  const JobId job = world.launcher.submit(job_of("rdma=preferred"));
  EXPECT_EQ(world.explained(job),
            "asks for 1 node; target local:\n"
            "  n1 is held as a whole by job 'both'\n"
            "  n2 is held as a whole by job 'both'\n");
}

TEST(Explain, ALabelThatComesLaterLetsTheJobStart) {
  World world({"n1", "n2"});
  const JobId job = world.launcher.submit(job_of("rack=7"));
  EXPECT_EQ(world.placed(job), "");
  const auto label = [&](LabelNode ask) {
    world.launcher.send(
        LabelInput{world.launcher.next_reply(), std::move(ask), UserCaller{"root"}});
    return world.launcher.expect_one<ReplyDone>().message;
  };
  EXPECT_EQ(label({"n2", {{"rack", "7"}, {"old", "x"}}, {}}),
            "node n2 has the labels old=x, rack=7");
  world.launcher.drop_notices();
  EXPECT_EQ(world.placed(job), "n2");
  EXPECT_EQ(label({"n2", {}, {"rack", "old", "never"}}), "node n2 has no labels");
  EXPECT_EQ(world.launcher.facts<NodeLabelsChanged>().size(), 2U);
}

TEST(Explain, NodesThatAreNotThereAreRefused) {
  World world({"n1"});
  EXPECT_EQ(world.launcher.submit_refused(job_of("on=n9")).message,
            "lockstep.nodes: there is no node 'n9'; `lockstep node list` shows all");
}

}  // namespace
}  // namespace lockstep::launcher
