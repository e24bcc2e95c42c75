// What ranks leave, and how an agent brings it to the launcher: outputs, ./logs and checkpoints.

#include "tests/sim/cluster.h"
#include "tests/sim/node.h"

namespace lockstep::sim {

void AgentProcess::act(const agent::CollectOutputs& action) {
  const AttemptId attempt = action.assignment.attempt;
  if (!collecting_.insert(attempt).second) return;
  auto& random = cluster_.world.random;
  const bool is_empty = clone_ || cluster_.oracle.outputs_on(attempt, node_.index).empty();
  Duration takes = random.between(milliseconds(1), milliseconds(20));
  if (!is_empty && random.chance(cluster_.weather.collecting_slow)) {
    cluster_.world.count("fault:collecting_slow");
    takes = random.between(seconds(2), seconds(40));
  }
  later(takes / 4, [this, attempt, is_empty] {
    if (collecting_.count(attempt) == 0) return;
    if (!is_empty) return give(agent::OutputsProgress{attempt, "collecting ./outputs"});
    collecting_.erase(attempt);
    give(agent::OutputsCollected{attempt});
  });
  if (is_empty) return;
  if (cluster_.saboteur.has(Defect::outputs_not_awaited)) {
    collecting_.erase(attempt);
    return give(agent::OutputsCollected{attempt, cluster_.oracle.outputs_on(attempt, node_.index)});
  }
  later(takes, [this, attempt] { push_outputs(attempt); });
}

void AgentProcess::act(const agent::CaptureFolders& action) {
  const AttemptId attempt = action.assignment.attempt;
  cluster_.world.count("agent:capture_folders");
  if (!cluster_.world.random.chance(0.5)) return;
  CollectedOutput logs;
  logs.kind = OutputKind::logs;
  logs.tree = sha256(std::to_string(cluster_.world.random.next()));
  later(milliseconds(10), [this, attempt, logs] { give(agent::FolderCaptured{attempt, logs}); });
}

void AgentProcess::act(const agent::CaptureCheckpoint& action) {
  const AttemptId attempt = action.assignment.attempt;
  auto& random = cluster_.world.random;
  const auto answer = [this](agent::CheckpointCaptured captured, Duration takes) {
    later(takes, [this, captured = std::move(captured)] { give(captured); });
  };
  cluster_.world.count(action.insist ? "agent:insist_on_checkpoint" : "agent:capture_checkpoint");
  if (clone_ || random.chance(0.3)) return answer({attempt}, milliseconds(5));
  if (!action.insist && random.chance(0.3)) return answer({attempt, {}, true}, milliseconds(5));
  CollectedOutput checkpoint;
  checkpoint.kind = OutputKind::checkpoint;
  checkpoint.tree = sha256(std::to_string(random.next()));
  checkpoint.order = static_cast<std::uint64_t>(cluster_.world.now.ns);
  Duration takes = random.between(milliseconds(5), milliseconds(200));
  if (random.chance(cluster_.weather.checkpoint_slow)) {
    cluster_.world.count("fault:checkpoint_slow");
    takes = random.between(seconds(1), seconds(10));
  }
  cluster_.oracle.checkpoint_written(attempt, node_.index, checkpoint);
  if (cluster_.saboteur.has(Defect::checkpoint_not_awaited))
    return give(agent::CheckpointCaptured{attempt, checkpoint});
  later(takes, [this, attempt, checkpoint] {
    agent::CheckpointCaptured captured{attempt};
    if (!stopped_ && node_.reachable() && cluster_.launcher.up()) {
      cluster_.oracle.checkpoint_arrived(*checkpoint.tree);
      captured.checkpoint = checkpoint;
    }
    give(std::move(captured));
  });
}

// Goes on until the launcher is there; a stopped process learns nothing of it.
void AgentProcess::push_outputs(const AttemptId& attempt) {
  if (collecting_.count(attempt) == 0) return;
  if (stopped_) return later(seconds(1), [this, attempt] { push_outputs(attempt); });
  if (!node_.reachable() || !cluster_.launcher.up()) {
    cluster_.world.count("agent:outputs_wait");
    no_space_since_.erase(attempt);
    give(agent::OutputsProgress{attempt, "waits to send its outputs"});
    return later(seconds(1), [this, attempt] { push_outputs(attempt); });
  }
  if (cluster_.has_no_space(cluster_.weather.no_space)) return wait_for_space(attempt);
  no_space_since_.erase(attempt);
  cluster_.oracle.outputs_arrived(attempt, node_.index);
  collecting_.erase(attempt);
  give(agent::OutputsCollected{attempt, cluster_.oracle.outputs_on(attempt, node_.index)});
}

// Of two trees one may have fitted; here nothing does.
void AgentProcess::wait_for_space(const AttemptId& attempt) {
  auto& world = cluster_.world;
  no_space_since_.emplace(attempt, world.now);
  if (settling_.count(attempt) == 0) {
    world.count("agent:no_space");
    give(agent::OutputsProgress{attempt, "the launcher has no space", true});
    return later(seconds(2), [this, attempt] { push_outputs(attempt); });
  }
  cluster_.oracle.outputs_settled(attempt, node_.index);
  collecting_.erase(attempt);
  no_space_since_.erase(attempt);
  settling_.erase(attempt);
  give(agent::OutputsCollected{attempt, cluster_.oracle.outputs_kept(attempt, node_.index)});
}

void AgentProcess::act(const agent::SettleOutputs& action) {
  if (collecting_.count(action.attempt) == 0) return;
  cluster_.world.count("agent:settle_outputs");
  const auto since = no_space_since_.find(action.attempt);
  cluster_.oracle.settling(action.attempt, node_.index,
                           since == no_space_since_.end() ? cluster_.world.now : since->second);
  settling_.insert(action.attempt);
}

}  // namespace lockstep::sim
