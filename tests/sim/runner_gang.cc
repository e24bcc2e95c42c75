// A simulated runner's place in its gang's tree: what runner/gang/gang_link does over sockets,
// with the same relay for the table (runner/core/gang_rows). Words between two neighbours arrive in
// order, as often as it takes; a parent may pass on another table than it got.

#include <algorithm>

#include "common/domain/why/all/convert.h"
#include "tests/sim/cluster.h"
#include "tests/sim/runner.h"

namespace lockstep::sim {

namespace {

constexpr Duration kDialAgain = milliseconds(100);

PublicKey key_at(std::uint16_t port) { return PublicKey("runner-" + std::to_string(port)); }

}  // namespace

void Runner::violate_gang(const std::string& what) {
  cluster_.world.violate("oracle:gang-table", fmt::format("node rank {} of {}: {}", node_rank(),
                                                          to_string(attempt()), what));
}

PartReport Runner::as_told(PartReport report) const {
  if (is_old_) report.gang_rows = 0;
  return report;
}

// ---- the tree ----------------------------------------------------------------------------------

void Runner::act(const runner::LeasePorts& action) {
  port_ = cluster_.next_port();
  const auto master = action.master_port ? cluster_.next_port() : std::uint16_t{0};
  later(cluster_.world.random.between(milliseconds(1), milliseconds(20)), [this, master] {
    give(runner::Endpoint{port_, key_at(port_), master});
  });
}

void Runner::act(const runner::ConnectGang& action) {
  cluster_.world.count(action.share ? "gang:by_tree" : "gang:whole_tables");
  if (action.gang && action.share && node_rank() != 0)
    violate_gang("it was sent the whole table, although it gets the rows from its parent");
  connecting_ = true;
  table_.emplace(attempt(), node_rank(), action.gang, action.share);
  const GangShare& share = table_->share();
  const TreeChildren children = tree_children(node_rank(), share.nodes, share.radix);
  for (int i = 0; i < children.count; ++i) unready_.insert(children.first + i);
  if (share.parent) dial();
  later(Duration(0), [this] { start_when_ready(); });
}

void Runner::dial() {
  const GangShare& share = table_->share();
  const auto parent = cluster_.runner_at(share.parent->runner_port);
  const int parent_rank = tree_parent(node_rank(), share.radix);
  if (parent && (parent->attempt() != attempt() || parent->node_rank() != parent_rank))
    return violate_gang("the row of its parent leads to another runner");
  if (!parent || !parent->connecting() || !cluster_.linked(node_, share.parent->node))
    return later(kDialAgain, [this] { dial(); });
  if (!parent->admits(*this)) return violate_gang("its parent does not know its key");
  parent_ = parent;
  const bool awaits_rows = !table_->whole();
  say(parent, [self = weak_from_this(), awaits_rows](Runner& to) {
    if (const auto child = self.lock()) to.hear_hello(child, awaits_rows);
  });
  start_when_ready();
}

bool Runner::admits(const Runner& child) const {
  const auto& keys = table_->share().children;
  return std::find(keys.begin(), keys.end(), key_at(child.port())) != keys.end();
}

void Runner::say(const std::shared_ptr<Runner>& to, Word word) {
  auto& queue = outgoing_[to->node_rank()];
  queue.push_back({to, std::move(word)});
  if (queue.size() == 1) carry(to->node_rank());
}

void Runner::carry(int rank) {
  later(cluster_.world.random.between(milliseconds(1), milliseconds(10)), [this, rank] {
    auto& queue = outgoing_[rank];
    const auto to = queue.front().to.lock();
    if (!to || to->dead()) return;  // nor does the rest arrive
    if (!cluster_.linked(node_, to->node_.id)) return carry(rank);
    const Word word = std::move(queue.front().word);
    queue.pop_front();
    if (!queue.empty()) carry(rank);
    word(*to);
  });
}

void Runner::hear_hello(const std::shared_ptr<Runner>& child, bool awaits_rows) {
  children_[child->node_rank()] = child;
  if (awaits_rows) table_->ask(child->node_rank());
  pass_table_on();
}

void Runner::hear_ready(int child) {
  unready_.erase(child);
  start_when_ready();
}

// ---- the table ---------------------------------------------------------------------------------

void Runner::take_rows(GangRows rows) {
  if (cluster_.saboteur.has(Defect::digest_unchecked)) return take_unchecked(std::move(rows));
  if (const Why wrong = table_->take(std::move(rows))) {
    if (cluster_.altered.count(attempt()) == 0)
      violate_gang("a table that nobody altered is refused: " + log_text(wrong));
    cluster_.world.count("runner:refuses_table");
    table_refused_ = true;
    return give(runner::SetupFailed{Cause::start_failed, wrong});
  }
  pass_table_on();
  start_when_ready();
}

void Runner::take_unchecked(GangRows rows) {
  for (GangMember& row : rows.rows) unchecked_.members.push_back(std::move(row));
  unchecked_.master_port = rows.master_port;
  unchecked_.fabric = std::move(rows.fabric);
  const GangShare share = table_->share();
  if (unchecked_.members.size() != static_cast<std::size_t>(share.nodes)) return;
  table_.emplace(attempt(), node_rank(), unchecked_, share);
  for (const auto& [rank, child] : children_) table_->ask(rank);
  pass_table_on();
  start_when_ready();
}

std::vector<GangRows> Runner::rows_for_child() {
  auto& random = cluster_.world.random;
  GangTable table = *table_->whole();
  if (!cluster_.winding_down && random.chance(cluster_.weather.rows_altered)) {
    cluster_.world.count("fault:rows_altered");
    cluster_.altered.insert(attempt());
    const int rank = random.between(0, static_cast<int>(table.members.size()) - 1);
    table.members[static_cast<std::size_t>(rank)].address += "9";
  }
  auto rows = runner::cut_into_rows(attempt(), table,
                                    static_cast<std::size_t>(cluster_.weather.rows_in_message));
  cluster_.saboteur.passes_rows(rows);
  return rows;
}

void Runner::pass_table_on() {
  for (const int rank : table_->due()) {
    const auto child = children_[rank].lock();
    if (!child) continue;
    if (node_rank() != 0) cluster_.world.count("gang:passed_on");
    for (GangRows& rows : rows_for_child())
      say(child, [rows = std::move(rows)](Runner& to) { to.take_rows(rows); });
  }
}

// ---- the start ---------------------------------------------------------------------------------

void Runner::start_when_ready() {
  const bool has_table =
      table_->whole() || cluster_.saboteur.has(Defect::ranks_do_not_wait_for_rows);
  if (!unready_.empty() || !has_table || said_ready_) return;
  if (node_rank() == 0) {
    said_ready_ = true;
    return start_gang();
  }
  const auto parent = parent_.lock();
  if (!parent) return;  // not dialled yet
  said_ready_ = true;
  say(parent, [rank = node_rank()](Runner& to) { to.hear_ready(rank); });
}

void Runner::start_gang() {
  if (table_refused_) return;
  const SharedGang& gang = table_->whole();
  if (gang) cluster_.oracle.table_used(assignment_, *gang);
  for (std::size_t i = 0; gang && i < gang->members.size(); ++i) {
    const auto peer = cluster_.runner_at(gang->members[i].runner_port);
    if (peer && (peer->attempt() != attempt() || peer->node_rank() != static_cast<int>(i)))
      violate_gang(fmt::format("row {} of its table leads to another runner", i));
    if (peer && node_rank() == 0 && !peer->table_->whole())
      violate_gang(fmt::format("it starts before node rank {} has the whole table", i));
  }
  if (gang && gang->master_port == 0 && has_master_port(assignment_.spec.distribution.kind))
    violate_gang("its table has no master port");
  for (const auto& [rank, child] : children_)
    if (const auto to = child.lock()) say(to, [](Runner& one) { one.start_gang(); });
  later(cluster_.world.random.between(milliseconds(1), milliseconds(10)), [this] {
    give(runner::GangConnected{table_->whole(), is_old_ ? 0 : kGangKnows});
  });
}

void Runner::act(const runner::ProbeGang&) {
  later(cluster_.world.random.between(milliseconds(1), milliseconds(40)),
        [this] { give(runner::ProbeDone{}); });
}

}  // namespace lockstep::sim
