// What ranks left, and what became of it: as the oracle knows it, and as the launcher is told.

#include "tests/sim/oracle.h"

namespace lockstep::sim {

std::vector<CollectedOutput> Oracle::outputs_on(const AttemptId& attempt, int node) const {
  const Digest tree = sha256(fmt::format("{} on {}", to_string(attempt), node));
  if (logs_on(attempt, node).empty() || tree.view()[0] % 4 == 0) return {};
  CollectedOutput outputs;
  outputs.tree = tree;
  outputs.files = 1;
  if (tree.view()[0] % 4 == 1) return {outputs};
  CollectedOutput checkpoint;
  checkpoint.kind = OutputKind::checkpoint;
  checkpoint.tree = sha256("checkpoint " + tree.hex());
  checkpoint.order = UINT64_MAX;
  return {outputs, checkpoint};
}

void Oracle::outputs_arrived(const AttemptId& attempt, int node) {
  arrived_.insert({attempt, node});
  for (const CollectedOutput& output : outputs_on(attempt, node)) {
    if (output.kind != OutputKind::checkpoint) continue;
    checkpoint_written(attempt, node, output);
    checkpoint_arrived(*output.tree);
  }
}

// Only of a job that somebody canceled, and not before half a minute without space is over.
void Oracle::settling(const AttemptId& attempt, int node, Instant no_space_since) {
  if (canceled_.count(attempt.job) == 0)
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
