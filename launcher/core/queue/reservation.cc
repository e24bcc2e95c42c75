#include "launcher/core/queue/reservation.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "common/domain/why/jobs/waits.h"
#include "common/domain/why/nodes/placement.h"
#include "launcher/core/placement/node_fit.h"

namespace lockstep::launcher {

namespace {

// The time at which something ends. Without a time it is not known to end, and sorts behind all
// times.
struct End {
  std::optional<Instant> at;
  // The job that ends then, or that has no time limit; null: nothing has to end.
  const Job* job = nullptr;
  Why why = {};  // why the end is unknown, or what ends if that is not a job
  friend bool operator<(const End& a, const End& b) {
    if (a.at && b.at) return *a.at < *b.at;
    return a.at.has_value() && !b.at.has_value();
  }
};

struct RunningPart {
  End end;
  Node::Use use;
};

// The time at which one node can take a part of the job, and the use of the node at that time.
struct Candidate {
  const Node* node = nullptr;
  End end;
  std::vector<RunningPart> parts;  // in the order of their ends
  Node::Use use;                   // the use at that time
};

Duration preparation_of(const JobSpec& spec) {
  return spec.environment ? kPreparationOfEnvironment : kPreparation;
}

// The end of a part. Its start was measured by its node's clock, which may be wrong.
End end_of(const Cluster& cluster, const Job& job, const Attempt& attempt, const Part& part) {
  End end{{}, &job};
  const Duration grace = job.spec.stop.grace.value_or(cluster.config.stop_grace);
  if (job.cancel_by || attempt.doomed) {
    end.at = cluster.now + grace;
  } else if (job.spec.timeout) {
    Instant start = attempt.placed + preparation_of(job.spec);
    if (part.at_least(PartState::running) && part.report->started.ns != 0)
      start = std::clamp(part.report->started, attempt.placed, start);
    else if (!part.at_least(PartState::running))
      start = std::max(start, cluster.now);
    end.at = std::max(start + *job.spec.timeout + grace, cluster.now);
  }
  return end;
}

// The reason for one end. It is made only for the end that was chosen, because many are compared.
Why what_ends(const End& end) {
  if (end.job == nullptr) return end.why;
  if (end.at) return JobReachesItsLimit{end.job->id};
  return JobHasNoLimit{end.job->id};
}

void add(Node::Use& use, const Node::Use& more, int times) {
  use.parts += times * more.parts;
  use.wholes += times * more.wholes;
  use.cpus += times * more.cpus;
  use.gpus += times * more.gpus;
  use.memory.count += static_cast<std::uint64_t>(times) * more.memory.count;
}

Node::Use use_of(const Allotment& allotment, bool whole) {
  Node::Use use;
  use.parts = 1;
  use.wholes = whole ? 1 : 0;
  use.cpus = static_cast<int>(allotment.cpus.size());
  use.gpus = static_cast<int>(allotment.gpus.size());
  use.memory = allotment.memory;
  return use;
}

std::vector<RunningPart> parts_of(const Cluster& cluster, const Node& node) {
  std::vector<RunningPart> parts;
  for (const auto& [id, rank] : node.parts) {
    const Attempt& attempt = *cluster.state.attempt(id);
    const Part& part = attempt.parts[static_cast<std::size_t>(rank)];
    if (part.ended()) continue;
    parts.push_back({end_of(cluster, *cluster.state.job(id.job), attempt, part),
                     use_of(part.allotment, part.whole)});
  }
  std::stable_sort(parts.begin(), parts.end(),
                   [](const RunningPart& a, const RunningPart& b) { return a.end < b.end; });
  return parts;
}

// Whether the node is UNKNOWN, or still stops parts from before it was LOST.
bool is_out_for_a_moment(const NodeWatch& watch) {
  return watch.liveness == Liveness::unknown || !watch.leftovers.empty() || watch.must_answer;
}

// The time at which the node could take a part. An UNKNOWN node soon reports again or becomes LOST,
// and until then the job keeps its claim on it: a job that started first would delay it for longer
// than the node is silent.
Candidate candidate_of(const Cluster& cluster, const Node& node, const Shape& shape) {
  Candidate candidate{&node, {cluster.now}, {}, node.use};
  const NodeWatch* watch = cluster.watches.find(node.id);
  const bool is_out = watch != nullptr && is_out_for_a_moment(*watch);
  if (is_out) candidate.end.why = NodeIsReadyAgain{node.name};
  if (Why why = is_out ? never_fits(cluster, node, Shape{}) : why_unusable(cluster, node)) {
    candidate.end = {{}, nullptr, NodePassedOver{node.name, std::move(why)}};
    return candidate;
  }
  candidate.parts = parts_of(cluster, node);
  if (has_room(node, node.use, shape)) return candidate;
  for (const RunningPart& part : candidate.parts) {
    add(candidate.use, part.use, -1);
    candidate.end = part.end;
    if (has_room(node, candidate.use, shape)) break;
  }
  return candidate;
}

bool sooner(const Candidate& a, const Candidate& b) { return a.end < b.end; }

// True if the node has no room only because of this user's own jobs, which as far as is known do
// not end soon.
bool is_held_by(const Cluster& cluster, const Candidate& candidate, const Shape& shape,
                const std::string& user) {
  Node::Use use;
  for (const RunningPart& part : candidate.parts) {
    const bool is_far = !part.end.at || *part.end.at > cluster.now + kFarEnd;
    if (is_far && part.end.job->spec.submitter == user) add(use, part.use, 1);
  }
  return use.parts > 0 && !has_room(*candidate.node, use, shape);
}

// True if the user's own jobs leave fewer nodes than the job needs.
bool waits_for_own(const Cluster& cluster, const std::vector<Candidate>& candidates,
                   const Shape& shape, const Job& job) {
  const auto held =
      std::count_if(candidates.begin(), candidates.end(), [&](const Candidate& candidate) {
        return is_held_by(cluster, candidate, shape, job.spec.submitter);
      });
  return held > static_cast<std::ptrdiff_t>(candidates.size()) - shape.nodes;
}

// The nodes of one group, in the order in which they can take a part of the job.
struct Choice {
  std::vector<Candidate> candidates;
  bool waits_for_own = false;
};

bool better(const Choice& a, const Choice& b, std::size_t last) {
  if (sooner(a.candidates[last], b.candidates[last])) return true;
  if (sooner(b.candidates[last], a.candidates[last])) return false;
  return !a.waits_for_own && b.waits_for_own;
}

// The candidates of the group in the order in which they can take a part.
std::vector<Candidate> candidates_of(const Cluster& cluster, const NodeGroup& group,
                                     const Shape& shape) {
  std::vector<Candidate> candidates;
  for (const Node* node : group) candidates.push_back(candidate_of(cluster, *node, shape));
  std::stable_sort(candidates.begin(), candidates.end(), sooner);
  return candidates;
}

// The resources that are still in use on the node when the job starts.
Node::Use use_at(const Candidate& candidate, const End& start) {
  Node::Use use = candidate.use;
  if (!start.at) return use;
  use = candidate.node->use;
  for (const RunningPart& part : candidate.parts)
    if (!(start < part.end)) add(use, part.use, -1);
  return use;
}

Reservation on(const std::vector<Candidate>& candidates, const Shape& shape, const JobId& job) {
  const auto count = static_cast<std::ptrdiff_t>(shape.nodes);
  const Candidate& last = candidates[static_cast<std::size_t>(count - 1)];
  Reservation reservation;
  reservation.at = last.end.at;
  reservation.until = what_ends(last.end);
  reservation.kept.job = job;
  reservation.kept.shape = shape;
  // Of the nodes that it can have at that time, the job takes those that become free last, so that
  // others may use the rest in between.
  auto end = candidates.begin() + count;
  if (last.end.at) end = std::upper_bound(end, candidates.end(), last, sooner);
  for (auto it = end - count; it != end; ++it)
    reservation.kept.uses.emplace(it->node->id, use_at(*it, last.end));
  return reservation;
}

}  // namespace

std::optional<Duration> longest_hold(const CoreConfig& config, const JobSpec& spec) {
  if (!spec.timeout) return std::nullopt;
  return preparation_of(spec) + *spec.timeout + spec.stop.grace.value_or(config.stop_grace);
}

Reservation reserve(const Cluster& cluster, const Job& job) {
  const Shape shape = shape_of(job);
  const auto last = static_cast<std::size_t>(shape.nodes - 1);
  Choice best;
  for (const NodeGroup& group : groups_of(cluster, job.pool, shape)) {
    if (group.size() <= last) continue;
    Choice choice{candidates_of(cluster, group, shape), false};
    choice.waits_for_own = waits_for_own(cluster, choice.candidates, shape, job);
    if (best.candidates.empty() || better(choice, best, last)) best = std::move(choice);
  }
  if (best.candidates.empty()) {
    Reservation none;
    none.kept.job = job.id;
    return none;
  }
  Reservation reservation = on(best.candidates, shape, job.id);
  reservation.waits_for_own = best.waits_for_own;
  const Instant since = job.waiting().head_since;
  reservation.take_turns(since.ns != 0 ? since : cluster.now, cluster.now);
  return reservation;
}

void Reservation::take_turns(Instant since, Instant now) {
  is_open = waits_for_own;
  changes_at = Instant::never();
  if (waits_for_own || at) return;
  Duration turn = kFirstTurn;
  for (changes_at = since + turn; changes_at <= now; changes_at = changes_at + turn) {
    if (is_open) turn *= 2;
    is_open = !is_open;
  }
}

bool Reservation::ends_before(Instant now, std::optional<Duration> longest) const {
  if (!longest) return false;
  return at ? now + *longest <= *at : *longest <= kLongestBackfill;
}

void Reservation::take(const Placed& placed) {
  for (const PartPlacement& part : placed.parts)
    if (const auto use = kept.uses.find(part.node); use != kept.uses.end())
      add(use->second, use_of(part.allotment, part.whole.value_or(false)), 1);
}

}  // namespace lockstep::launcher
