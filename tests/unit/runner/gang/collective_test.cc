#include "runner/gang/collective.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <random>

namespace lockstep::runner {
namespace {

// A whole gang of fence trees; messages wait in `mail` until they are carried.
class Gang {
 public:
  Gang(int nodes, int ranks_per_node, int radix) {
    for (int node = 0; node < nodes; ++node) {
      shapes_.emplace_back(node, nodes, radix);
      trees_.emplace_back(shapes_.back(), ranks_per_node);
    }
  }
  std::uint64_t contribute(int node, const std::string& signature, const std::string& blob) {
    std::uint64_t sequence = 0;
    take(node, trees_[node].contribute(signature, blob, &sequence));
    return sequence;
  }
  // Carries everything; between one sender and one receiver order holds, else it is random.
  void carry(std::mt19937& random) {
    while (!mail_.empty()) {
      const std::size_t pick = random() % mail_.size();
      std::size_t first = 0;
      while (mail_[first].from != mail_[pick].from || mail_[first].to != mail_[pick].to) ++first;
      const Mail mail = mail_[first];
      mail_.erase(mail_.begin() + static_cast<std::ptrdiff_t>(first));
      if (const auto* part = std::get_if<FencePart>(&mail.message)) {
        take(mail.to, trees_[mail.to].receive(*part));
      } else {
        take(mail.to, trees_[mail.to].receive(std::get<FenceDone>(mail.message)));
      }
    }
  }
  struct Completed {
    int node;
    FenceTree::Complete fence;
  };
  std::vector<Completed> completed;
  std::size_t open() const {
    std::size_t open = 0;
    for (const auto& tree : trees_) open += tree.open();
    return open;
  }
  int carried_to_root = 0;

 private:
  struct Mail {
    int from, to;
    std::variant<FencePart, FenceDone> message;
  };
  void take(int node, std::vector<FenceTree::Step> steps) {
    for (auto& step : steps) {
      if (auto* climb = std::get_if<FenceTree::Climb>(&step)) {
        const int parent = shapes_[node].parent();
        ASSERT_GE(parent, 0);
        carried_to_root += parent == 0 ? 1 : 0;
        mail_.push_back({node, parent, climb->part});
      } else if (auto* descend = std::get_if<FenceTree::Descend>(&step)) {
        for (int child : shapes_[node].children()) mail_.push_back({node, child, descend->done});
      } else {
        completed.push_back({node, std::get<FenceTree::Complete>(step)});
      }
    }
  }
  std::vector<GangTree> shapes_;
  std::vector<FenceTree> trees_;
  std::deque<Mail> mail_;
};

TEST(GangTree, ParentsChildrenAndHopsAgree) {
  for (int nodes : {1, 2, 3, 33, 34, 100}) {
    for (int node = 0; node < nodes; ++node) {
      const GangTree tree(node, nodes);
      for (int child : tree.children()) EXPECT_EQ(GangTree(child, nodes).parent(), node);
      for (int other = 0; other < nodes; ++other) {
        if (other == node) continue;
        int at = node, hops = 0;
        while (at != other && hops < 10) {
          at = GangTree(at, nodes).next_hop(other);
          ++hops;
        }
        EXPECT_EQ(at, other) << "from " << node;
      }
    }
  }
}

TEST(FenceSignature, RoundTrips) {
  EXPECT_EQ(fence_signature("fence", {0, 1, 2, 3, 7, 9, 10}, false), "fence|0-3,7,9-10");
  EXPECT_EQ(ranks_of_signature("fence|0-3,7,9-10", 11), (std::set<int>{0, 1, 2, 3, 7, 9, 10}));
  EXPECT_EQ(fence_signature("fence", {}, true), "fence|*");
  EXPECT_EQ(ranks_of_signature("fence|*", 3), (std::set<int>{0, 1, 2}));
}

TEST(FenceSignature, MalformedNamesNobody) {
  for (const char* bad : {"", "fence", "fence|", "fence|4", "fence|2-1", "fence|a", "fence|1,",
                          "fence|-1", "fence|1-99", "fence|1--2", "fence|99999999999"}) {
    EXPECT_TRUE(ranks_of_signature(bad, 4).empty()) << bad;
  }
}

TEST(FenceTree, OneNodeCompletesAtOnce) {
  Gang gang(1, 4, 32);
  EXPECT_EQ(gang.contribute(0, "fence|*", "x"), 1u);
  ASSERT_EQ(gang.completed.size(), 1u);
  EXPECT_EQ(gang.completed[0].fence.blobs, (std::map<int, std::string>{{0, "x"}}));
  EXPECT_EQ(gang.contribute(0, "fence|*", "y"), 2u);
  EXPECT_EQ(gang.completed.size(), 2u);
}

TEST(FenceTree, EveryNodeGetsTheUnionOwnIncluded) {
  for (int nodes : {2, 3, 7, 40}) {
    for (int radix : {2, 32}) {
      std::mt19937 random(static_cast<unsigned>(nodes * 100 + radix));
      Gang gang(nodes, 2, radix);
      std::map<int, std::string> expected;
      for (int node = nodes - 1; node >= 0; --node) {
        expected[node] = "blob" + std::to_string(node);
        gang.contribute(node, "fence|*", expected[node]);
        if (node == 0) break;
        gang.carry(random);
        EXPECT_TRUE(gang.completed.empty());
      }
      gang.carry(random);
      ASSERT_EQ(gang.completed.size(), static_cast<std::size_t>(nodes));
      for (const auto& done : gang.completed) EXPECT_EQ(done.fence.blobs, expected);
      EXPECT_EQ(gang.open(), 0u);
    }
  }
}

// Node 1 may enter its second fence, and its part arrive, before node 0 has entered its first.
TEST(FenceTree, PartsThatComeBeforeTheLocalCallAreKept) {
  std::mt19937 random(1);
  Gang gang(2, 1, 32);
  gang.contribute(1, "fence|*", "b1");
  gang.contribute(1, "fence|0-1", "other");
  gang.carry(random);
  EXPECT_TRUE(gang.completed.empty());
  gang.contribute(0, "fence|0-1", "mine");
  gang.carry(random);
  ASSERT_EQ(gang.completed.size(), 2u);
  EXPECT_EQ(gang.completed[0].fence.blobs, (std::map<int, std::string>{{0, "mine"}, {1, "other"}}));
  gang.contribute(0, "fence|*", "b0");
  gang.carry(random);
  ASSERT_EQ(gang.completed.size(), 4u);
  EXPECT_EQ(gang.completed[3].fence.blobs, (std::map<int, std::string>{{0, "b0"}, {1, "b1"}}));
}

TEST(FenceTree, AGroupInOneSubtreeNeverClimbsToTheRoot) {
  std::mt19937 random(7);
  Gang gang(15, 2, 2);  // node 3's children are 7 and 8
  gang.contribute(7, "fence|14-17", "seven");
  gang.contribute(8, "fence|14-17", "eight");
  gang.carry(random);
  ASSERT_EQ(gang.completed.size(), 2u);
  for (const auto& done : gang.completed) {
    EXPECT_TRUE(done.node == 7 || done.node == 8);
    EXPECT_EQ(done.fence.blobs.size(), 2u);
  }
  EXPECT_EQ(gang.carried_to_root, 0);
  EXPECT_EQ(gang.open(), 0u);
}

// Many fences over several groups, entered by each node in its own order, with messages in any
// order that links allow.
TEST(FenceTree, RandomSchedulesCompleteEveryFenceOnce) {
  const std::vector<std::string> groups = {"fence|*", "fence|0-3", "fence|2,7,11", "fence|20-25"};
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    const int nodes = 13;
    Gang gang(nodes, 2, 3);
    std::size_t expected = 0;
    std::vector<std::vector<std::string>> todo(nodes);
    for (int node = 0; node < nodes; ++node) {
      for (const auto& group : groups) {
        const auto ranks = ranks_of_signature(group, nodes * 2);
        if (!ranks.count(node * 2) && !ranks.count(node * 2 + 1)) continue;
        for (int i = 0; i < 3; ++i) todo[node].push_back(group);
      }
      expected += todo[node].size();
      std::shuffle(todo[node].begin(), todo[node].end(), random);
    }
    for (bool left = true; left;) {
      left = false;
      for (int node = 0; node < nodes; ++node) {
        if (todo[node].empty()) continue;
        left = true;
        if (random() % 2) continue;
        gang.contribute(node, todo[node].back(), std::to_string(node));
        todo[node].pop_back();
      }
      if (random() % 3 == 0) gang.carry(random);
    }
    gang.carry(random);
    ASSERT_EQ(gang.completed.size(), expected) << "seed " << seed;
    for (const auto& done : gang.completed) {
      for (const auto& [node, blob] : done.fence.blobs) EXPECT_EQ(blob, std::to_string(node));
    }
    EXPECT_EQ(gang.open(), 0u);
  }
}

TEST(FenceTree, AForgedPartChangesNothing) {
  FenceTree root(GangTree(0, 3, 2), 1);
  EXPECT_TRUE(root.receive(FencePart{"fence|nonsense", 1, {{1, "x"}}}).empty());
  EXPECT_TRUE(root.receive(FencePart{"fence|*", 1, {{0, "forged"}, {77, "x"}}}).empty());
  EXPECT_EQ(root.open(), 0u);
}

}  // namespace
}  // namespace lockstep::runner
