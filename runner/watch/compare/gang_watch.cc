#include "runner/watch/compare/gang_watch.h"

#include <algorithm>
#include <utility>

namespace lockstep::runner {
namespace {

// The least id of looks without a question of the comparison, above the ids of all questions.
constexpr std::uint64_t kFirstOwnLook = std::uint64_t{1} << 48;

bool has_children(const Assignment& assignment, int radix) {
  const std::int64_t first_child = std::int64_t{assignment.node_rank} * radix + 1;
  return first_child < assignment.nodes();
}

std::string meeting_of(Distribution::Kind kind) {
  switch (kind) {
    case Distribution::Kind::mpi: return "MPI_Init";
    case Distribution::Kind::pytorch: return "the rendezvous";
    case Distribution::Kind::none:
    case Distribution::Kind::tensorflow:
    case Distribution::Kind::ray: break;
  }
  return "";
}

GangShape shape_of(const Assignment& assignment, const GangTable& gang) {
  GangShape shape;
  shape.ranks = assignment.spec.first_rank_on(assignment.nodes());
  shape.meeting = meeting_of(assignment.spec.distribution.kind);
  if (assignment.spec.distribution.kind == Distribution::Kind::pytorch)
    shape.meets = FoundAbout::rendezvous;
  shape.store_port = gang.master_port;
  for (std::size_t node = 0; node < gang.members.size(); ++node)
    if (!gang.members[node].address.empty())
      shape.add_address(gang.members[node].address, static_cast<int>(node));
  return shape;
}

}  // namespace

GangWatch::GangWatch(const Assignment& assignment, const GangTable& gang, Callbacks callbacks,
                     int radix)
    : assignment_(assignment),
      callbacks_(std::move(callbacks)),
      telling_(has_children(assignment, radix)) {
  GangShape shape = shape_of(assignment, gang);
  const bool is_compared = is_root() && shape.ranks <= static_cast<int>(kMaxWatchedRanks);
  if (is_compared) comparison_.emplace(assignment.spec.hang, std::move(shape));
}

void GangWatch::add_addresses(const std::vector<ChosenPath>& chosen) {
  if (!comparison_) return;
  for (const ChosenPath& path : chosen)
    if (path.node_rank >= 0 && path.node_rank < assignment_.nodes() && !path.address.empty())
      comparison_->add_address(path.address, path.node_rank);
}

// ---- what comes ---------------------------------------------------------------------------------

// Whether a standing is of this subtree. A node reports only ranks of its own subtree. It is enough
// to check that the rank belongs to the node that it names.
bool GangWatch::is_of(const RankStanding& standing) const {
  return standing.rank < assignment_.spec.first_rank_on(assignment_.nodes()) &&
         assignment_.spec.node_of_rank(standing.rank) == standing.node_rank;
}

void GangWatch::sampled(Instant now, const RankStandings& standings) {
  telling_.sampled(now, standings);
  if (comparison_ && compare_at_ == Instant::never()) compare_at_ = now + kCompareEvery;
}

void GangWatch::take(Instant now, const GangStandings& told) {
  GangStandings known = told;
  std::erase_if(known.standings, [this](const RankStanding& one) { return !is_of(one); });
  telling_.take(now, known);
}

void GangWatch::take(Instant now, const GangSeen& seen) {
  GangSeen known = seen;
  std::erase_if(known.standings, [this](const RankStanding& one) { return !is_of(one); });
  telling_.take(now, known);
}

void GangWatch::take(Instant now, const GangLook& look) {
  if (look.keep) return callbacks_.keep_stacks();
  telling_.look(now, look);
  const std::set<int> wanted = telling_.wanted_stacks();
  if (look.stacks && !wanted.empty()) callbacks_.take_stacks({wanted.begin(), wanted.end()});
}

void GangWatch::neighbour_lost(Instant now, int node_rank) { telling_.lost(now, node_rank); }

void GangWatch::node_done(Instant now, int node_rank) {
  if (!comparison_ || node_rank < 0 || node_rank >= assignment_.nodes()) return;
  comparison_->node_done(now, node_rank, assignment_.spec.first_rank_on(node_rank),
                         assignment_.spec.ranks_on(node_rank));
  if (compare_at_ == Instant::never()) compare_at_ = now + kCompareEvery;
}

void GangWatch::take_counts(Instant now,
                            const std::map<int, std::vector<CollectiveCount>>& counts) {
  if (comparison_) comparison_->take_counts(now, counts);
}

std::vector<GangWatch::Process> GangWatch::processes() const {
  std::vector<Process> found;
  if (!comparison_) return found;
  for (const auto& standing : comparison_->standings())
    if (standing && standing->doing != Doing::exited)
      found.push_back({standing->rank, standing->node_rank, standing->pid});
  return found;
}

// ---- what goes ----------------------------------------------------------------------------------

void GangWatch::send(Instant now) {
  for (const GangMessage& message : telling_.due(now)) {
    if (!is_root()) {
      callbacks_.send_up(message);
    } else if (comparison_) {
      if (const auto* told = std::get_if<GangStandings>(&message)) comparison_->take(now, *told);
      if (const auto* seen = std::get_if<GangSeen>(&message)) comparison_->take(now, *seen);
    }
  }
}

void GangWatch::ask(Instant now, const GangLook& look) {
  if (assignment_.nodes() > 1) callbacks_.broadcast(look);
  take(now, look);
}

void GangWatch::keep_all_stacks(Instant now) {
  GangLook look;
  look.id = kFirstOwnLook + ++last_own_look_;
  look.all = look.stacks = look.keep = true;
  ask(now, look);
}

void GangWatch::compare(Instant now) {
  compare_at_ = now + kCompareEvery;
  found_ = comparison_->look(now);
  if (const auto look = comparison_->question(now)) ask(now, *look);
  if (comparison_->wants_counts(now)) callbacks_.ask_counts();
  const auto alarm = std::find_if(found_.begin(), found_.end(), [](const Found& found) {
    return found.verdict == FoundVerdict::hangs;
  });
  if (alarm == found_.end() || std::exchange(has_hung_, true)) return;
  publish(now);  // published before anything is done about it
  callbacks_.hangs(*alarm);
}

void GangWatch::publish(Instant now) {
  if (says_same(found_, published_)) return;
  published_ = found_;
  published_at_ = now;
  callbacks_.published();
}

bool GangWatch::finds_left() const {
  return std::any_of(found_.begin(), found_.end(), [](const Found& found) {
    return found.kind == FoundKind::left_early || found.kind == FoundKind::missed_fence;
  });
}

void GangWatch::expire(Instant now) {
  if (now >= telling_.next()) send(now);
  if (now >= compare_at_) compare(now);
  if (comparison_ && now - published_at_ >= kPublishEvery) publish(now);
}

Instant GangWatch::next_deadline() const { return std::min(telling_.next(), compare_at_); }

}  // namespace lockstep::runner
