#include "tests/unit/runner/watch/compare/gang_world.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace lockstep::runner {
namespace {

constexpr Duration kStep = seconds(1);
constexpr Duration kNeighbourSays = seconds(5);

GangShape shape_of(int nodes, int ranks) {
  GangShape shape;
  shape.ranks = ranks;
  shape.meeting = "MPI_Init";
  shape.store_port = GangWorld::kStorePort;
  for (int node = 0; node < nodes; ++node)
    shape.add_address("10.0.0." + std::to_string(node + 1), node);
  return shape;
}

}  // namespace

void SimRank::computes(const std::string& at) {
  now.doing = Doing::computes;
  now.call = now.on = now.own_end = now.within = "";
  now.at = at;
  now.by_stack = !at.empty();
  now.has_timeout = false;
  now.threads_running = 1;
}

void SimRank::reads(const std::string& path) {
  computes();
  now.doing = Doing::reads;
  now.call = "read";
  now.on = path;
  now.threads_running = 0;
}

void SimRank::sleeps() {
  computes();
  now.doing = Doing::sleeps;
  now.call = "clock_nanosleep";
  now.has_timeout = true;
  now.threads_running = 0;
}

void SimRank::waits(const std::string& within, const std::string& at) {
  computes(at);
  now.doing = Doing::waits_peer;
  now.within = within;
  now.by_stack = true;
}

void SimRank::waits_on(const std::string& far, const std::string& near) {
  computes();
  now.doing = Doing::waits_peer;
  now.call = "recvfrom";
  now.on = far;
  now.own_end = near;
  now.threads_running = 0;
}

void SimRank::locks() {
  computes();
  now.doing = Doing::locks;
  now.call = "futex";
  now.threads_running = 0;
}

void SimRank::exits(int code) {
  computes();
  now.doing = Doing::exited;
  now.exit_code = code;
  now.in_fence = false;
  now.threads_running = 0;
}

GangWorld::GangWorld(int nodes, int ranks_per_node, HangPolicy policy, int radix)
    : ranks_per_node_(ranks_per_node),
      radix_(radix),
      ranks_(static_cast<std::size_t>(nodes * ranks_per_node)),
      comparison_(policy, shape_of(nodes, nodes * ranks_per_node)) {
  for (int rank = 0; rank < ranks(); ++rank) {
    RankStanding& standing = this->rank(rank).now;
    standing.rank = rank;
    standing.node_rank = rank / ranks_per_node;
    standing.pid = 1000 + rank;
    standing.processes = 1;
    standing.peer_sockets = 1;
    this->rank(rank).computes();
  }
  for (int node = 0; node < nodes; ++node) {
    const bool has_children = node * radix + 1 < nodes;
    nodes_.push_back(
        Node{seconds(17 * node), node % 5, {}, {}, false, Telling(has_children), {}, {}});
  }
}

bool GangWorld::runs(const Node& node) const {
  return !node.lost && now_ >= node.silent_until && now_ >= node.paused_until;
}

void GangWorld::pause_node(int node, Duration time) {
  nodes_[static_cast<std::size_t>(node)].paused_until = now_ + time;
}

void GangWorld::lose_node(int node) {
  nodes_[static_cast<std::size_t>(node)].lost = true;
  run(kNeighbourSays);
  const int parent = parent_of(node);
  for (int other = 0; other < static_cast<int>(nodes_.size()); ++other)
    if (other == parent || parent_of(other) == node) {
      Node& neighbour = nodes_[static_cast<std::size_t>(other)];
      neighbour.telling.lost(clock_of(neighbour), node);
    }
}

// A sampler that knows nothing of pauses: what the machine stood still counts as stillness.
RankStanding GangWorld::standing_of(SimRank& rank, Node& node) const {
  RankStanding standing = rank.now;
  if (node.telling.wanted_stacks().count(standing.rank) != 0) rank.needs_stack = false;
  if (rank.needs_stack) {
    standing.doing = Doing::computes;
    standing.within = standing.at = "";
    standing.by_stack = false;
  }
  const auto known = node.before.find(standing.rank);
  const Instant now = clock_of(node);
  standing.taken = standing.since = standing.doing_since = now;
  standing.counts_since = now;
  standing.counted = standing.collectives.empty() ? Instant{} : now;
  if (standing.by_stack) standing.stack_at = now;
  if (known != node.before.end()) {
    const RankStanding& before = known->second;
    standing.window = now - before.taken;
    const bool differs = before.by_stack && standing.by_stack &&
                         (before.within != standing.within || before.at != standing.at);
    const bool has_moved = std::exchange(rank.moved, false) || rank.flows || differs;
    if (!has_moved) standing.since = before.since;
    if (before.doing == standing.doing && before.on == standing.on)
      standing.doing_since = before.doing_since;
    if (before.collectives == standing.collectives) standing.counts_since = before.counts_since;
  }
  node.before[standing.rank] = standing;
  return standing;
}

void GangWorld::sample(int number) {
  Node& node = nodes_[static_cast<std::size_t>(number)];
  if (now_ - node.sampled < kWatchEvery) return;
  if (node.sampled.ns == 0 && (now_.ns / kStep.count() + node.phase) % 5 != 0) return;
  node.sampled = now_;
  RankStandings standings;
  for (int i = 0; i < ranks_per_node_; ++i)
    standings.push_back(standing_of(rank(number * ranks_per_node_ + i), node));
  node.telling.sampled(clock_of(node), standings);
}

void GangWorld::send(int number) {
  Node& node = nodes_[static_cast<std::size_t>(number)];
  for (GangMessage& message : node.telling.due(clock_of(node)))
    letters_.push_back({number, parent_of(number), std::move(message)});
}

// What was written in this second. A machine that stands still gets its letters later.
void GangWorld::deliver() {
  std::deque<Letter> kept;
  for (Letter& letter : std::exchange(letters_, {})) {
    const int to = std::max(letter.to, 0);
    Node& node = nodes_[static_cast<std::size_t>(to)];
    if (node.lost || nodes_[static_cast<std::size_t>(std::max(letter.from, 0))].lost) continue;
    if (!runs(node)) {
      kept.push_back(std::move(letter));
      continue;
    }
    const Instant now = clock_of(node);
    if (to == 0 && letter.from > 0) ++messages_to_root_;
    if (const auto* look = std::get_if<GangLook>(&letter.message)) {
      node.telling.look(now, *look);
    } else if (const auto* told = std::get_if<GangStandings>(&letter.message)) {
      letter.to < 0 ? comparison_.take(now, *told) : node.telling.take(now, *told);
    } else if (const auto* seen = std::get_if<GangSeen>(&letter.message)) {
      letter.to < 0 ? comparison_.take(now, *seen) : node.telling.take(now, *seen);
    }
  }
  for (Letter& letter : kept) letters_.push_back(std::move(letter));
}

void GangWorld::compare() {
  if (now_ < compare_at_ || !runs(nodes_[0])) return;
  compare_at_ = now_ + kCompareEvery;
  found_ = comparison_.look(clock_of(nodes_[0]));
  for (const Found& found : found_)
    if (found.verdict == FoundVerdict::hangs && !alarm_) {
      alarm_ = now_;
      alarm_found_ = found;
    }
  const auto look = comparison_.question(clock_of(nodes_[0]));
  if (!look) return;
  ++looks_;
  for (int node = 0; node < static_cast<int>(nodes_.size()); ++node)
    letters_.push_back({0, node, *look});
}

void GangWorld::second() {
  if (script) script(now_);
  for (int node = 0; node < static_cast<int>(nodes_.size()); ++node)
    if (runs(nodes_[static_cast<std::size_t>(node)])) sample(node);
  for (int node = 0; node < static_cast<int>(nodes_.size()); ++node)
    if (runs(nodes_[static_cast<std::size_t>(node)])) send(node);
  deliver();
  compare();
  now_ = now_ + kStep;
}

void GangWorld::run(Duration time) {
  for (const Instant end = now_ + time; now_ < end;) second();
}

const Found* GangWorld::find(FoundKind kind) const {
  for (const Found& found : found_)
    if (found.kind == kind) return &found;
  return nullptr;
}

std::string shown(const Found& found) {
  std::string text = fmt::format("{} {}", to_string(found.verdict), to_string(found.kind));
  for (const FoundRank& one : found.ranks) text += fmt::format(" {}:{}", one.rank, one.doing);
  return text + fmt::format(" ({} wait)", found.waiting.size());
}

}  // namespace lockstep::runner
