#pragma once
// A gang's table, by which its nodes know each other, and its tree by node rank, down which the
// table goes: the launcher gives the whole of it to node rank 0 alone, and to each other node a
// share, with which it joins the tree. From its parent there it gets the rows, and a digest in the
// share tells whether they are the launcher's. Plain values and arithmetic.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/digest.h"
#include "common/base/ids.h"
#include "common/base/table.h"
#include "common/domain/ranks/bounds.h"
#include "common/domain/targets/fabric.h"

namespace lockstep {

// One node of a gang, the same for all runners. Its index in GangTable::members is its rank.
struct GangMember {
  NodeId node;
  std::string hostname;
  std::string address;            // the node's address for MASTER_ADDR and AZ_BATCH_*
  std::string host_id;            // equal = same host
  std::uint16_t runner_port = 0;  // ZeroMQ CURVE ROUTER of that node's runner
  PublicKey runner_key;
  int gpus = 0;
  static void table(auto& s, auto&& see) {
    see(field<1>, "node", s.node);
    see(field<2>, "hostname", s.hostname);
    see(field<3>, "address", s.address);
    see(field<4>, "host_id", s.host_id);
    see(field<5>, "runner_port", s.runner_port);
    see(field<6>, "runner_key", s.runner_key);
    see(field<7>, "gpus", s.gpus, {.low = 0, .high = 1 << 16});
  }
  friend bool operator==(const GangMember&, const GangMember&) = default;
};

struct GangTable {
  std::vector<GangMember> members;
  std::uint16_t master_port = 0;          // leased and held by node rank 0's runner
  std::optional<GangFabric> fabric = {};  // absent: the launcher did not measure it
  static void table(auto& s, auto&& see) {
    see(field<1>, "members", s.members, {.count = kMaxNodesPerJob});
    see(field<2>, "master_port", s.master_port);
    see(field<700>, "fabric", s.fabric);
  }
  friend bool operator==(const GangTable&, const GangTable&) = default;
};

// Whether it has nodes on more than one host: only then is there a network between them.
bool spans_hosts(const GangTable& gang);

// A gang's table that many assignments share: a table of a thousand members would otherwise be
// copied for each of its thousand nodes. Never changes once it is made.
class SharedGang {
 public:
  SharedGang() = default;
  SharedGang(GangTable table)  // NOLINT(google-explicit-constructor): used like an optional
      : table_(std::make_shared<const GangTable>(std::move(table))) {}
  explicit operator bool() const { return table_ != nullptr; }
  bool has_value() const { return table_ != nullptr; }
  const GangTable& operator*() const { return *table_; }
  const GangTable* operator->() const { return table_.get(); }
  friend bool operator==(const SharedGang& a, const SharedGang& b) {
    return a.table_ == b.table_ || (a.table_ && b.table_ && *a.table_ == *b.table_);
  }

 private:
  std::shared_ptr<const GangTable> table_;
};

// ---- the tree: k-ary by node rank, its root is node rank 0 --------------------------------------
inline constexpr int kGangTreeRadix = 32;
inline constexpr int kMaxGangTreeRadix = 1'024;

int tree_parent(int node_rank, int radix);  // The parent's node rank; -1 for the root.
struct TreeChildren {
  int first = 0;
  int count = 0;
};
TreeChildren tree_children(int node_rank, int nodes, int radix);

// ---- the table, down the tree -------------------------------------------------------------------
// What one node is told of the table.
struct GangShare {
  int nodes = 0;  // the number of nodes of the gang
  int radix = kGangTreeRadix;
  Digest digest;                     // the digest_of() the whole table
  std::optional<GangMember> parent;  // the parent's row; none at the root
  // The keys of its children, by node rank: only these keys may connect to it.
  std::vector<PublicKey> children;
  static void table(auto& s, auto&& see) {
    see(field<1>, "nodes", s.nodes, {.low = 1, .high = kMaxNodesPerJob});
    see(field<2>, "radix", s.radix, {.low = 1, .high = kMaxGangTreeRadix});
    see(field<3>, "digest", s.digest);
    see(field<4>, "parent", s.parent);
    see(field<5>, "children", s.children, {.count = kMaxGangTreeRadix});
  }
  friend bool operator==(const GangShare&, const GangShare&) = default;
};

// Hashes the table and the attempt that it belongs to. The bytes that are hashed are described in
// gang.cc and never change: runners of later versions check the tables of earlier ones.
Digest digest_of(const AttemptId& attempt, const GangTable& table);
// The share of one node. `digest`: the digest of the table, the same for all nodes.
GangShare share_of(const GangTable& table, int node_rank, int radix, const Digest& digest);
// Why it cannot be the share of this node of a gang of so many; "": it can.
std::string_view fault_of(const GangShare& share, int node_rank, int nodes);

// PartReport::gang_rows of a runner of this version.
inline constexpr std::uint32_t kGangRowsVersion = 1;

}  // namespace lockstep
