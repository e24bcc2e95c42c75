// What the oracle knows of retries: fences, back-off, and what an attempt may begin with.

#include <algorithm>

#include "tests/sim/oracle.h"

namespace lockstep::sim {

using launcher::Attempt;
using launcher::Job;
using launcher::Part;

// Of a job that waits for the end of the attempt before, no rank of that may live. A deleted job
// that had the name is another.
void Oracle::check_fence(const AttemptId& attempt, int node) {
  if (asked_[attempt.job].retry.on_lost != OnLost::after_fence || !cloned_.empty()) return;
  for (const auto& [place, live] : live_)
    if (place.second.job == attempt.job && place.second.incarnation == attempt.incarnation &&
        place.second != attempt && !live.ranks.empty())
      world_.violate("oracle:fence",
                     fmt::format("{} starts on node {} while {} still runs on node {}",
                                 to_string(attempt), node, to_string(place.second), place.first));
}

void Oracle::checkpoint_written(const AttemptId& attempt, int node,
                                const CollectedOutput& checkpoint) {
  written_[*checkpoint.tree] = {attempt, node, checkpoint.order};
}

// A node that was given up may go on with what was deleted meanwhile.
bool Oracle::was_deleted(const AttemptId& attempt) const {
  const auto deleted = state_.deleted().last().find(attempt.job);
  return deleted != state_.deleted().last().end() &&
         attempt.incarnation < deleted->second.incarnation;
}

void Oracle::restored(const Assignment& assignment) {
  const Attempt* attempt = state_.attempt(assignment.attempt);
  if (attempt == nullptr && was_deleted(assignment.attempt)) return;
  if (attempt == nullptr || attempt->checkpoint != assignment.checkpoint)
    world_.violate(
        "oracle:checkpoint",
        to_string(assignment.attempt) + " begins with another checkpoint than it was placed with");
}

// The nth charged retry waits for the first one's time doubled n - 1 times.
void Oracle::check_backoff(const Job& job, const launcher::JobRequeued& fact) {
  const RetryPolicy& policy = asked_[fact.job].retry;
  const double due = static_cast<double>(policy.backoff.count()) *
                     static_cast<double>(std::uint64_t{1} << job.charged_retries);
  const bool waits = fact.charged && policy.backoff.count() > 0;
  const Instant expected =
      waits ? decided_ + Duration(static_cast<std::int64_t>(std::min(due, 60e9))) : Instant{};
  if (fact.not_before != expected)
    world_.violate("oracle:backoff", fmt::format("{} waits until {}, not {}", fact.job.value,
                                                 to_string(fact.not_before), to_string(expected)));
}

// The newest attempt that saved anything, and of each of its nodes the newest that is known.
void Oracle::check_source(const Job& job, const launcher::AttemptPlaced& fact) {
  const Attempt* from = nullptr;
  for (const Attempt& attempt : job.attempts)
    for (const Part& part : attempt.parts)
      if (part.saved) from = &attempt;
  if (fact.checkpoint.has_value() != (from != nullptr))
    return world_.violate("oracle:checkpoint",
                          to_string(fact.attempt) + " does not begin with what was saved before");
  if (from == nullptr) return;
  for (const NodeTree& tree : fact.checkpoint->trees)
    if (stored_.count(tree.root) == 0)
      world_.violate("oracle:checkpoint",
                     to_string(fact.attempt) + " begins with a checkpoint that is not stored");
  for (const Part& part : from->parts) {
    const auto& trees = fact.checkpoint->trees;
    const bool used =
        !part.saved || std::any_of(trees.begin(), trees.end(), [&](const NodeTree& tree) {
          return tree.root == *part.saved->checkpoint.tree;
        });
    if (fact.checkpoint->attempt != from->id.number || !used)
      world_.violate("oracle:checkpoint",
                     to_string(fact.attempt) + " begins with an older checkpoint than there is");
  }
}

void Oracle::check_saved(const AttemptId& attempt, NodeId node, const CollectedOutput& checkpoint) {
  const auto truth = written_.find(*checkpoint.tree);
  const bool real = truth != written_.end() && truth->second.attempt == attempt &&
                    truth->second.node == node_index(node) &&
                    truth->second.order == checkpoint.order;
  if (!real)
    world_.violate("oracle:checkpoint", to_string(attempt) + " saved what its ranks never wrote");
  if (stored_.count(*checkpoint.tree) == 0)
    world_.violate("oracle:checkpoint", to_string(attempt) + " saved what is not stored yet");
}

void Oracle::judge(const launcher::CheckpointSaved& fact) {
  check_saved(fact.attempt, fact.node, fact.checkpoint);
  const Part* part = state_.assigned_part(fact.attempt, fact.node);
  if (part == nullptr)
    return world_.violate("oracle:checkpoint", to_string(fact.attempt) + " saved when it was over");
  if (part->saved && part->saved->checkpoint.order >= fact.checkpoint.order)
    world_.violate("oracle:checkpoint", to_string(fact.attempt) + " went back to an older one");
}

// Failed for good, although the job asks for another attempt after such an end.
void Oracle::check_given_up(const Job& job, const ExitReport& report) {
  const RetryPolicy& policy = asked_[job.id].retry;
  const auto covers = [&](RetryOn on) {
    if (on == RetryOn::infrastructure) return is_infrastructure(report.cause);
    return to_string(on) == to_string(report.cause);
  };
  if (!job.cancel_by && job.charged_retries < policy.max &&
      std::any_of(policy.on.begin(), policy.on.end(), covers))
    world_.violate("oracle:given-up", job.id.value + " failed although it is to be tried again");
}

}  // namespace lockstep::sim
