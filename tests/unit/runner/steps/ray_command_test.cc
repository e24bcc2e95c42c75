// The scripts of Ray's ranks, run by a real shell with a stand-in for `ray`.

#include "runner/steps/ray_command.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "common/io/file_system.h"
#include "runner/bootstrap/bootstrap.h"
#include "runner/bootstrap/ray_folder.h"
#include "tests/unit/runner/process_probe.h"

namespace lockstep::runner::testing {
namespace {

GangContext gang_of(int nodes, int node_rank, const std::string& tmp) {
  GangContext gang;
  gang.assignment.attempt = {JobId("ray-" + std::to_string(getpid())), 1};
  gang.assignment.node_rank = node_rank;
  gang.assignment.spec.resources.instance_count = nodes;
  gang.assignment.spec.distribution.kind = Distribution::Kind::ray;
  gang.assignment.allotment.cpus = {0, 1, 2};
  GangTable table;
  for (int node = 0; node < nodes; ++node) {
    GangMember member;
    member.address = "10.0.0." + std::to_string(node + 1);
    table.members.push_back(member);
  }
  table.master_port = 6105;
  gang.assignment.gang = std::move(table);
  gang.tmp_directory = tmp;
  return gang;
}

// What the script prints, with a `ray` that prints its words.
std::string run(const std::vector<std::string>& words, const std::string& folder,
                const GangContext& gang) {
  const std::string ray = "#!/bin/sh\necho ray $#: \"$@\"\n";
  EXPECT_TRUE(io::write_file_atomically(folder + "/ray", ray, 0755));
  std::string line = "PATH=" + folder + ":/usr/bin:/bin RAY_TMPDIR=" + ray_folder(gang);
  for (const std::string& word : words) {
    line += " '";
    for (const char c : word) line += c == '\'' ? std::string("'\\''") : std::string(1, c);
    line += "'";
  }
  FILE* const pipe = popen(line.c_str(), "r");
  std::string out;
  for (int c = fgetc(pipe); c != EOF; c = fgetc(pipe)) out += static_cast<char>(c);
  EXPECT_EQ(pclose(pipe), 0);
  return out;
}

TEST(RayWords, TheHeadBecomesTheCommand) {
  TemporaryDirectory folder;
  GangContext gang = gang_of(2, 0, folder.path());
  gang.assignment.spec.distribution.ray.head_arguments = {"--labels", "it's a"};
  gang.assignment.spec.distribution.ray.include_dashboard = true;
  const std::string out =
      run(ray_words(gang, "/bin/sh", {"sh", "-c", "echo $RAY_ADDRESS \"$1\"", "x", "a  b"}),
          folder.path(), gang);
  EXPECT_EQ(out,
            "ray 11: start --head --node-ip-address=10.0.0.1 --port=6105 --disable-usage-stats "
            "--num-cpus=3 --num-gpus=0 --include-dashboard=true --dashboard-host=0.0.0.0 --labels "
            "it's a\n10.0.0.1:6105 a  b\n");
  make_ray_bootstrap(gang, {})->end();
  EXPECT_FALSE(io::exists(ray_folder(gang) + "/ray")) << "the link is left";
}

TEST(RayWords, AWorkerWaitsForTheHead) {
  TemporaryDirectory folder;
  GangContext gang = gang_of(2, 1, folder.path());
  gang.assignment.spec.distribution.ray.port = 7777;
  const std::string out = run(ray_words(gang, "/bin/sh", {"never"}), folder.path(), gang);
  EXPECT_EQ(out,
            "ray 6: start --address=10.0.0.1:7777 --node-ip-address=10.0.0.2 --block --num-cpus=3 "
            "--num-gpus=0\n");
  make_ray_bootstrap(gang, {})->end();
}

// The address is another machine's word.
TEST(RayWords, NothingOfAnAddressIsRun) {
  TemporaryDirectory folder;
  GangContext gang = gang_of(1, 0, folder.path());
  GangTable table = *gang.assignment.gang;
  table.members[0].address = "$(touch " + folder.path() + "/ran)'`touch ran`";
  gang.assignment.gang = std::move(table);
  run(ray_words(gang, "/bin/sh", {"true"}), folder.path(), gang);
  EXPECT_FALSE(io::exists(folder.path() + "/ran"));
  make_ray_bootstrap(gang, {})->end();
}

// Whoever reaches the head runs code as the job's user, if Ray asks for no token.
TEST(RayBootstrap, AllNodesHaveTheFirstOnesToken) {
  std::vector<GangMessage> sent;
  const GangContext gangs[] = {gang_of(2, 0, "/tmp"), gang_of(2, 1, "/tmp")};
  std::vector<std::unique_ptr<Bootstrap>> nodes;
  std::map<int, Bootstrap::RankVariables> variables;
  for (int node = 0; node < 2; ++node) {
    BootstrapEvents events;
    events.send = [&](GangMessage message) { sent.push_back(std::move(message)); };
    nodes.push_back(make_ray_bootstrap(gangs[node], std::move(events)));
    nodes.back()->begin([](const Status& begun) { ASSERT_TRUE(begun); });
    nodes.back()->environment(node, 0, [&, node](auto all) { variables[node] = *all; });
  }
  EXPECT_TRUE(variables.empty());
  ASSERT_EQ(sent.size(), 1u);  // node 1 has told the head
  nodes[0]->receive(GangMessage(sent[0]));
  ASSERT_EQ(sent.size(), 2u);
  nodes[1]->receive(GangMessage(sent[1]));
  ASSERT_EQ(variables.size(), 2u);
  EXPECT_EQ(variables[0]["RAY_AUTH_TOKEN"].size(), 64u);
  EXPECT_EQ(variables[0], variables[1]);
  EXPECT_EQ(variables[0]["RAY_AUTH_MODE"], "token");
}

}  // namespace
}  // namespace lockstep::runner::testing
