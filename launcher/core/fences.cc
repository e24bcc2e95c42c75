// When a retry may start: back-off, and what may still run of an attempt that was given up.
//
// An attempt with a lease (on_lost: after_fence) runs on a node only until `lease` after the node
// sent the newest heartbeat that was acknowledged with a desired state that wants it there. The
// launcher heard that heartbeat after it was sent, and wants no part again that it gave up; so
// `lease` after it last heard the node, counted here, is later. docs/decisions/009-retry.md.

#include <algorithm>

#include "launcher/core/reactor.h"

namespace lockstep::launcher {

namespace {

constexpr int kClockDrift = 100;  // two clocks differ by up to this part

}  // namespace

void Reactor::enqueue(const Job& job) {
  const Instant due = ready_at(cluster(), job);
  const TimerKey timer{TimerKey::Kind::retry, {}, {job.id, 0}};
  retries_.clear(timer);
  if (due <= now_)
    scheduler_.add(job);
  else
    retries_.set(timer, due);
  job_changed(job.id);
}

void Reactor::dequeue(const Job& job) {
  retries_.clear({TimerKey::Kind::retry, {}, {job.id, 0}});
  scheduler_.remove(job);
}

// Of a part that is given up now, without proof of its end.
Instant Reactor::fence_of(const Attempt& attempt, const Part& part) const {
  if (state_.job(attempt.id.job)->spec.retry.on_lost != OnLost::after_fence) return {};
  const bool may_run = attempt.solo() || attempt.gang;  // else no rank was ever ordered to start
  if (!may_run || part.finished()) return {};
  const NodeWatch* watch = watches_.find(part.node);
  // What an earlier launcher heard, it heard before this one began.
  const Instant heard = std::max(watch == nullptr ? now_ : watch->last_heard, recovered_at_);
  return heard + config_.fence_lease + config_.fence_lease / kClockDrift + config_.fence_margin;
}

void Reactor::lift_fence(const AttemptId& id, NodeId node, const std::string& why) {
  const auto there = state_.fenced().find(node);
  if (there != state_.fenced().end() && there->second.count(id) != 0)
    emit(FenceLifted{id, node, why});
}

// What a node's full report lacks runs there no more. A copy of an opening that may be late proves
// that only of parts that its agent had been told of before.
void Reactor::lift_fences(NodeId node, const SessionOpen& open, bool is_late) {
  const auto there = state_.fenced().find(node);
  if (there == state_.fenced().end()) return;
  const std::set<AttemptId> fenced = there->second;
  for (const AttemptId& id : fenced) {
    const auto listed =
        std::find_if(open.parts.begin(), open.parts.end(),
                     [&](const PartReport& report) { return report.attempt == id; });
    if (listed != open.parts.end()) {
      if (listed->state == PartState::finished) lift_fence(id, node, "the node says that it ended");
      continue;
    }
    const auto& parts = state_.attempt(id)->parts;
    const auto part =
        std::find_if(parts.begin(), parts.end(), [&](const Part& one) { return one.node == node; });
    if (!is_late || open.desired_revision >= part->revision)
      lift_fence(id, node, "the node's full report lacks it");
  }
}

}  // namespace lockstep::launcher
