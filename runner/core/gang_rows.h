#pragma once
// A gang's table on its way down the tree, as values: cut into messages, and put together again by
// nodes that have only a share of it. The result is used and passed on only if it has the digest of
// the launcher's table: a parent can hold it back, but it cannot change it.

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/domain/runners/runner_protocol.h"
#include "common/domain/why/ranks/parts.h"

namespace lockstep::runner {

// Cuts the table into messages of at most `at_most` rows, in order.
std::vector<GangRows> cut_into_rows(const AttemptId& attempt, const GangTable& table,
                                    std::size_t at_most = kMaxRowsInMessage);

// The table at one node of the tree. It is there from the beginning, or comes from the parent in
// rows; then it is due to each child that has asked for it.
class TableRelay {
 public:
  // Takes the whole table, a share of it, or both. Without a share the tree has the usual radix.
  TableRelay(AttemptId attempt, int node_rank, SharedGang whole, std::optional<GangShare> share);

  // This node's place in the tree, from the share or computed.
  const GangShare& share() const { return share_; }
  // The whole table, once it is there.
  const SharedGang& whole() const { return whole_; }

  // The parent's next message. A reason: it is not part of the launcher's table, or was not due;
  // nothing more is taken then. What comes when the table is there is ignored.
  Why take(GangRows rows);
  // Why this node cannot start although its parent orders it: the table is not there yet.
  Why incomplete() const;
  // Notes that a child awaits the table. It is sent once, however often the child asks.
  void ask(int child);
  // The children to which the whole table is to be sent now.
  std::vector<int> due();

 private:
  Why refuse(GangTableRefused why);

  AttemptId attempt_;
  int node_rank_;
  GangShare share_;
  SharedGang whole_;
  GangTable partial_;
  bool is_refused_ = false;
  std::set<int> asking_, served_;  // children
};

}  // namespace lockstep::runner
