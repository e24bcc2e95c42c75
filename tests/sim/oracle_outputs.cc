// What ranks left, and what became of it: as the oracle knows it, and as the launcher is told.

#include "tests/sim/oracle.h"

namespace lockstep::sim {

std::vector<CollectedOutput> Oracle::outputs_on(const AttemptId& attempt, int node) const {
  const Digest tree = sha256(fmt::format("{} on {}", to_string(attempt), node));
  if (logs_on(attempt, node).empty() || tree.view()[0] % 4 == 0) return {};
  CollectedOutput outputs;
  outputs.tree = tree;
  outputs.files = 1;
  std::vector<CollectedOutput> all = {outputs};
  const auto asked = asked_.find(attempt.job);
  if (asked != asked_.end())
    for (const OutputSpec& wanted : asked->second.outputs) {
      CollectedOutput named;
      named.kind = OutputKind::named;
      named.name = wanted.name;
      named.tree = sha256(wanted.name + tree.hex());
      named.files = 1;
      all.push_back(named);
    }
  if (tree.view()[0] % 4 == 1) return all;
  CollectedOutput checkpoint;
  checkpoint.kind = OutputKind::checkpoint;
  checkpoint.tree = sha256("checkpoint " + tree.hex());
  checkpoint.order = UINT64_MAX;
  all.push_back(checkpoint);
  return all;
}

void Oracle::outputs_arrived(const AttemptId& attempt, int node) {
  arrived_.insert({attempt, node});
  for (const CollectedOutput& output : outputs_on(attempt, node)) {
    if (output.kind != OutputKind::checkpoint) continue;
    checkpoint_written(attempt, node, output);
    checkpoint_arrived(*output.tree);
  }
}

// Only of a job that somebody canceled, or of a child whose parent's attempt has ended; and not
// before half a minute without space is over.
void Oracle::settling(const AttemptId& attempt, int node, Instant no_space_since) {
  if (!is_canceled(attempt.job))
    world_.violate("oracle:settled", fmt::format("what {} left on node {} was given up, though "
                                                 "nobody canceled it",
                                                 to_string(attempt), node));
  if (world_.now - no_space_since < seconds(30))
    world_.violate(
        "oracle:settled",
        fmt::format("what {} left on node {} was given up after {} without space",
                    to_string(attempt), node, format_duration(world_.now - no_space_since)));
}

void Oracle::outputs_settled(const AttemptId& attempt, int node) {
  settled_.insert({attempt, node});
}

std::vector<CollectedOutput> Oracle::outputs_kept(const AttemptId& attempt, int node) const {
  std::vector<CollectedOutput> outputs = outputs_on(attempt, node);
  if (settled_.count({attempt, node}) == 0) return outputs;
  for (CollectedOutput& output : outputs) {
    output.tree.reset();
    output.files = 0;
    output.problems = {"it was not kept"};
  }
  return outputs;
}

// ---- logs that find no space
// ---------------------------------------------------------------------

void Oracle::logs_refused(const AttemptId& attempt, NodeId node, std::uint64_t episode,
                          bool is_awaited) {
  const Refused first{episode, false, polled_, polled_, polled_, {}};
  Refused& refused = refused_.try_emplace({attempt, node}, first).first->second;
  if (!is_canceled(attempt.job) || refused.episode != episode) refused = first;
  const launcher::Job* job = state_.job(attempt.job);
  const bool is_known = job != nullptr && job->cancel_by && refused.last >= started_since_;
  refused.last = polled_;
  if (!is_known || !refused.is_known) {
    refused.known_since = polled_;
    refused.overdue.reset();
  }
  refused.is_known = is_known;
  if (!is_awaited || !is_known || state_.assigned_part(attempt, node) == nullptr) return;
  // The one that came when half a minute was over should have been the last.
  if (refused.overdue && polled_ - *refused.overdue > seconds(3))
    world_.violate("oracle:logs-late", fmt::format("the logs of {} on node {} still wait for space "
                                                   "though somebody canceled it",
                                                   to_string(attempt), node_index(node)));
  if (polled_ - refused.known_since > seconds(31) && !refused.overdue) refused.overdue = polled_;
}

// Only of a job that somebody canceled, and not before half a minute without space is over. True
// when that is how they were given up.
bool Oracle::judge_given_up(const launcher::PartReleased& fact) {
  const auto found = refused_.find({fact.attempt, fact.node});
  if (found == refused_.end()) return false;
  const Refused& refused = found->second;
  const bool was_canceled = is_canceled(fact.attempt.job);
  if (fact.lost_bytes == 0) {
    // Others are given up when nothing is heard of them; these were heard of.
    if (polled_ - refused.last < logs_timeout_ && refused.last >= started_since_ && !was_canceled)
      world_.violate("oracle:logs",
                     fmt::format("the logs of {} on node {} were given up while they "
                                 "waited for space",
                                 to_string(fact.attempt), node_index(fact.node)));
    return false;
  }
  world_.count("launcher:gives_up_logs");
  if (!was_canceled || polled_ - refused.since < seconds(30))
    world_.violate("oracle:logs", fmt::format("the logs of {} on node {} were given up after {} "
                                              "without space, {}canceled",
                                              to_string(fact.attempt), node_index(fact.node),
                                              format_duration(polled_ - refused.since),
                                              was_canceled ? "" : "not "));
  return true;
}

// What a part left is told with its end, is what its ranks wrote, and is in the store by then.
void Oracle::judge(const launcher::PartChanged& fact) {
  if (fact.report.state != PartState::finished) return;
  const int node = node_index(fact.node);
  if (cloned_.count(node) != 0 || files_lost_.count(node) != 0) return;
  if (fact.report.outputs != outputs_kept(fact.attempt, node))
    world_.violate("oracle:outputs", fmt::format("{} on node {} ended with other outputs than its "
                                                 "ranks wrote",
                                                 to_string(fact.attempt), node));
  const bool is_kept = arrived_.count({fact.attempt, node}) != 0;
  if (!fact.report.outputs.empty() && !is_kept && settled_.count({fact.attempt, node}) == 0)
    world_.violate("oracle:outputs", fmt::format("{} on node {} ended before its outputs were kept",
                                                 to_string(fact.attempt), node));
}

}  // namespace lockstep::sim
