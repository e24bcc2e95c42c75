#include "common/domain/runners/gang.h"

#include <gtest/gtest.h>

#include <set>

namespace lockstep {
namespace {

const AttemptId kAttempt{JobId("job"), 2, 7};

GangTable table_of(int nodes) {
  GangTable table;
  table.master_port = 6105;
  for (int i = 0; i < nodes; ++i) {
    GangMember member;
    member.node = NodeId(static_cast<std::uint64_t>(100 + i));
    member.hostname = "n" + std::to_string(i);
    member.address = "10.0.0." + std::to_string(i);
    member.host_id = "host-" + std::to_string(i);
    member.runner_port = static_cast<std::uint16_t>(7'000 + i);
    member.runner_key = PublicKey("key-" + std::to_string(i));
    member.gpus = i % 3;
    table.members.push_back(member);
  }
  return table;
}

TEST(Gang, EachNodeButTheRootIsAChildOfItsParentOnce) {
  for (const int radix : {1, 2, 3, 32})
    for (const int nodes : {1, 2, 3, 33, 34, 1'000}) {
      std::set<int> seen;
      for (int node = 0; node < nodes; ++node) {
        const TreeChildren children = tree_children(node, nodes, radix);
        for (int child = children.first; child < children.first + children.count; ++child) {
          EXPECT_TRUE(seen.insert(child).second) << child << " of " << nodes;
          EXPECT_EQ(tree_parent(child, radix), node);
        }
      }
      EXPECT_EQ(seen.size(), static_cast<std::size_t>(nodes - 1));
    }
}

TEST(Gang, TheLastNodesOfTheLargestTreeHaveNoChildren) {
  EXPECT_EQ(tree_children(9'999, 10'000, kMaxGangTreeRadix).count, 0);
  EXPECT_EQ(tree_children(1 << 30, 10'000, kMaxGangTreeRadix).count, 0) << "no overflow";
}

TEST(Gang, AShareIsOfItsPlaceAlone) {
  const GangTable table = table_of(40);
  const Digest digest = digest_of(kAttempt, table);
  const GangShare root = share_of(table, 0, 32, digest);
  EXPECT_FALSE(root.parent);
  EXPECT_EQ(root.children.size(), 32U);
  const GangShare inner = share_of(table, 1, 32, digest);
  EXPECT_EQ(inner.parent, table.members[0]);
  EXPECT_EQ(inner.nodes, 40);
  ASSERT_EQ(inner.children.size(), 7U);
  EXPECT_EQ(inner.children.front(), table.members[33].runner_key);
  EXPECT_EQ(inner.children.back(), table.members[39].runner_key);
  const GangShare leaf = share_of(table, 39, 32, digest);
  EXPECT_EQ(leaf.parent, table.members[1]);
  EXPECT_TRUE(leaf.children.empty());
  for (int node = 0; node < 40; ++node)
    EXPECT_EQ(fault_of(share_of(table, node, 32, digest), node, 40), "");
  EXPECT_NE(fault_of(inner, 2, 40), "");
  EXPECT_NE(fault_of(inner, 0, 40), "");
  EXPECT_NE(fault_of(root, 1, 40), "");
  EXPECT_NE(fault_of(inner, 1, 41), "");
}

// What a node that is not told to may change.
TEST(Gang, EveryFieldIsInTheDigest) {
  const GangTable table = table_of(3);
  std::set<Digest> digests{digest_of(kAttempt, table)};
  const auto differs = [&](const char* what, const GangTable& other,
                           const AttemptId& attempt = kAttempt) {
    EXPECT_TRUE(digests.insert(digest_of(attempt, other)).second) << what;
  };
  GangTable other = table;
  other.members[1].node = NodeId(9);
  differs("node", other);
  other = table;
  other.members[1].hostname += "x";
  differs("hostname", other);
  other = table;
  other.members[1].address += "x";
  differs("address", other);
  other = table;
  other.members[1].host_id += "x";
  differs("host_id", other);
  other = table;
  other.members[1].runner_port += 1;
  differs("runner_port", other);
  other = table;
  other.members[1].runner_key = PublicKey("other");
  differs("runner_key", other);
  other = table;
  other.members[1].gpus += 1;
  differs("gpus", other);
  other = table;
  other.master_port += 1;
  differs("master_port", other);
  other = table;
  other.fabric.emplace();
  differs("a fabric", other);
  other.fabric->link_layer = "Ethernet";
  differs("link_layer", other);
  other.fabric->subnet = "fe80:0000:0000:0001";
  differs("subnet", other);
  other.fabric->pkey = 0x7fff;
  differs("pkey", other);
  other = table;
  std::swap(other.members[1], other.members[2]);
  differs("order", other);
  other = table;
  other.members.pop_back();
  differs("a row less", other);
  other = table;
  other.members[1].hostname = table.members[1].hostname + table.members[1].address;
  other.members[1].address.clear();
  differs("where a text ends", other);
  differs("job", table, {JobId("jo"), 2, 7});
  differs("attempt", table, {JobId("job"), 1, 7});
  differs("incarnation", table, {JobId("job"), 2, 0});
}

// A runner of a later version checks the tables of an earlier launcher.
TEST(Gang, TheBytesOfTheDigestNeverChange) {
  GangTable table;
  table.master_port = 258;
  GangMember member;
  member.node = NodeId(3);
  member.hostname = "h";
  member.address = "a";
  member.host_id = "i";
  member.runner_port = 5;
  member.runner_key = PublicKey("k");
  member.gpus = 2;
  table.members.push_back(member);
  GangTable with_fabric = table;
  with_fabric.fabric = GangFabric{"InfiniBand", "fe80::", 1};
  const auto number = [](std::uint64_t value) {
    std::string bytes(8, '\0');
    for (std::size_t i = 0; i < 8; ++i) bytes[i] = static_cast<char>(value >> (8 * i));
    return bytes;
  };
  const auto text = [&](const std::string& value) { return number(value.size()) + value; };
  const std::string head =
      text("lockstep gang 1") + text("j") + number(4) + number(6) + number(258);
  const std::string rows =
      number(1) + number(3) + text("h") + text("a") + text("i") + number(5) + text("k") + number(2);
  const AttemptId attempt{JobId("j"), 4, 6};
  EXPECT_EQ(digest_of(attempt, table), sha256(head + number(0) + rows));
  EXPECT_EQ(digest_of(attempt, with_fabric),
            sha256(head + number(1) + text("InfiniBand") + text("fe80::") + number(1) + rows));
}

}  // namespace
}  // namespace lockstep
