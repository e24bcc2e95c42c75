#include "runner/core/gang_rows.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "common/base/check.h"

namespace lockstep::runner {

std::vector<GangRows> cut_into_rows(const AttemptId& attempt, const GangTable& table,
                                    std::size_t at_most) {
  CHECK(at_most > 0, "a message has rows");
  std::vector<GangRows> messages;
  const auto& all = table.members;
  for (std::size_t first = 0; first < all.size(); first += at_most) {
    const std::size_t end = std::min(all.size(), first + at_most);
    GangRows& rows = messages.emplace_back();
    rows.attempt = attempt;
    rows.first = static_cast<int>(first);
    rows.rows.assign(all.begin() + static_cast<std::ptrdiff_t>(first),
                     all.begin() + static_cast<std::ptrdiff_t>(end));
    rows.master_port = table.master_port;
    rows.fabric = table.fabric;
  }
  return messages;
}

TableRelay::TableRelay(AttemptId attempt, int node_rank, SharedGang whole,
                       std::optional<GangShare> share)
    : attempt_(std::move(attempt)), node_rank_(node_rank), whole_(std::move(whole)) {
  CHECK(whole_ || share, "a node has the gang's table or a share of it");
  share_ = share ? *std::move(share) : share_of(*whole_, node_rank, kGangTreeRadix, {});
  CHECK(whole_ || share_.parent, "the root has the whole table");
}

Why TableRelay::refuse(GangTableRefused why) {
  is_refused_ = true;
  why.parent = tree_parent(node_rank_, share_.radix);
  why.nodes = share_.nodes;
  return why;
}

Why TableRelay::incomplete() const {
  GangTableRefused why;
  why.parent = tree_parent(node_rank_, share_.radix);
  why.fault = TableFault::incomplete;
  why.nodes = share_.nodes;
  return why;
}

Why TableRelay::take(GangRows rows) {
  if (whole_ || is_refused_) return {};
  GangTableRefused wrong;
  auto& members = partial_.members;
  if (rows.attempt != attempt_) {
    wrong.fault = TableFault::other_attempt;
    wrong.attempt = to_string(rows.attempt);
    return refuse(std::move(wrong));
  }
  if (rows.first != static_cast<int>(members.size())) {
    wrong.fault = TableFault::out_of_order;
    wrong.first = rows.first;
    wrong.due = static_cast<int>(members.size());
    return refuse(std::move(wrong));
  }
  const auto nodes = static_cast<std::size_t>(share_.nodes);
  if (rows.rows.empty() || members.size() + rows.rows.size() > nodes) {
    wrong.fault = TableFault::wrong_count;
    return refuse(std::move(wrong));
  }
  partial_.master_port = rows.master_port;
  partial_.fabric = std::move(rows.fabric);
  members.insert(members.end(), std::make_move_iterator(rows.rows.begin()),
                 std::make_move_iterator(rows.rows.end()));
  if (members.size() < nodes) return {};
  if (digest_of(attempt_, partial_) != share_.digest) {
    wrong.fault = TableFault::altered;
    return refuse(std::move(wrong));
  }
  whole_ = std::exchange(partial_, {});
  return {};
}

void TableRelay::ask(int child) {
  if (served_.count(child) == 0) asking_.insert(child);
}

std::vector<int> TableRelay::due() {
  if (!whole_) return {};
  const std::vector<int> children(asking_.begin(), asking_.end());
  served_.merge(asking_);
  asking_.clear();
  return children;
}

}  // namespace lockstep::runner
