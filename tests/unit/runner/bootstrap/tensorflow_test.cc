#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <nlohmann/json.hpp>

#include "runner/bootstrap/bootstrap.h"

namespace lockstep::runner {
namespace {

using Json = nlohmann::json;

// The bootstraps of all nodes of one job, whose messages a test delivers.
class TensorflowGang {
 public:
  TensorflowGang(int nodes, int workers, int parameter_servers) {
    GangTable table;
    for (int node = 0; node < nodes; ++node) {
      GangMember member;
      member.address = "10.0.0." + std::to_string(node + 1);
      table.members.push_back(member);
    }
    for (int node = 0; node < nodes; ++node) {
      auto gang = std::make_unique<GangContext>();
      gang->assignment.node_rank = node;
      gang->assignment.spec.resources.instance_count = nodes;
      gang->assignment.spec.distribution = tensorflow_on(nodes, workers, parameter_servers);
      gang->assignment.gang = table;
      for (int local = 0; local < gang->assignment.ranks_here(); ++local)
        gang->rank_ports.push_back(static_cast<std::uint16_t>(6105 + local));
      BootstrapEvents events;
      events.send = [this](GangMessage message) { sent_.push_back(std::move(message)); };
      nodes_.push_back(make_tensorflow_bootstrap(*gang, std::move(events)));
      gangs_.push_back(std::move(gang));
    }
  }

  void begin(int node) {
    nodes_[static_cast<std::size_t>(node)]->begin([](const Status& begun) { ASSERT_TRUE(begun); });
    const Assignment& assignment = gangs_[static_cast<std::size_t>(node)]->assignment;
    for (int local = 0; local < assignment.ranks_here(); ++local) {
      const int rank = assignment.first_rank() + local;
      nodes_[static_cast<std::size_t>(node)]->environment(
          rank, local, [this, rank](Result<Bootstrap::RankVariables> variables) {
            ASSERT_TRUE(variables);
            configs_[rank] = Json::parse(variables->at("TF_CONFIG"));
          });
    }
  }
  // As the gang's links do: parts go to the parent, the union to all below.
  void deliver() {
    while (!sent_.empty()) {
      const GangMessage message = std::move(sent_.front());
      sent_.pop_front();
      const bool goes_up = std::holds_alternative<FencePart>(message);
      for (std::size_t node = goes_up ? 0 : 1; node < (goes_up ? 1 : nodes_.size()); ++node)
        nodes_[node]->receive(message);
    }
  }
  const std::map<int, Json>& configs() const { return configs_; }

 private:
  std::vector<std::unique_ptr<GangContext>> gangs_;
  std::vector<std::unique_ptr<Bootstrap>> nodes_;
  std::deque<GangMessage> sent_;
  std::map<int, Json> configs_;
};

std::string task_of(const Json& config) {
  return config["task"]["type"].get<std::string>() + " " +
         std::to_string(config["task"]["index"].get<int>());
}

TEST(Tensorflow, EachRankKnowsAllAndItsOwnTask) {
  TensorflowGang gang(2, 2, 1);
  gang.begin(1);
  gang.deliver();
  EXPECT_TRUE(gang.configs().empty());  // node 0 has not said its ports yet
  gang.begin(0);
  gang.deliver();
  ASSERT_EQ(gang.configs().size(), 3u);
  EXPECT_EQ(task_of(gang.configs().at(0)), "worker 0");
  EXPECT_EQ(task_of(gang.configs().at(1)), "ps 0");
  EXPECT_EQ(task_of(gang.configs().at(2)), "worker 1");
  const Json& cluster = gang.configs().at(0)["cluster"];
  for (const auto& [rank, config] : gang.configs()) EXPECT_EQ(config["cluster"], cluster);
  ASSERT_EQ(cluster["worker"].size(), 2u);
  EXPECT_EQ(cluster["worker"][0].get<std::string>().rfind("10.0.0.1:", 0), 0u) << cluster;
  EXPECT_EQ(cluster["worker"][1].get<std::string>().rfind("10.0.0.2:", 0), 0u) << cluster;
  EXPECT_EQ(cluster["ps"][0].get<std::string>().rfind("10.0.0.1:", 0), 0u) << cluster;
  EXPECT_EQ(cluster["worker"][0], "10.0.0.1:6105") << cluster;
  EXPECT_EQ(cluster["ps"][0], "10.0.0.1:6106") << cluster;
  EXPECT_EQ(gang.configs().at(0)["environment"], "cloud");
}

TEST(Tensorflow, OneNodeNeedsNobody) {
  TensorflowGang gang(1, 2, 0);
  gang.begin(0);
  ASSERT_EQ(gang.configs().size(), 2u);
  EXPECT_EQ(gang.configs().at(0)["cluster"].count("ps"), 0u);  // an empty list fails
  EXPECT_EQ(task_of(gang.configs().at(1)), "worker 1");
}

}  // namespace
}  // namespace lockstep::runner
