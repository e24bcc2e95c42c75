#include "launcher/core/nodes/preemption.h"

#include <algorithm>

#include "common/domain/why/jobs/ends.h"
#include "common/domain/why/nodes/losses.h"
#include "common/domain/why/nodes/machines.h"
#include "launcher/core/placement/machine_end.h"

namespace lockstep::launcher {

namespace {

// The most of the remaining time that is reserved for collecting outputs.
constexpr Duration kMostForCollecting = seconds(10);
// The least difference by which a second notice must be sooner to count; smaller differences come
// from the time of messages.
constexpr Duration kSooner = seconds(2);

Duration grace_within(const CoreConfig& config, const JobSpec& spec, Duration left) {
  const Duration for_collecting = std::min<Duration>(left / 3, kMostForCollecting);
  return std::min(spec.stop.grace.value_or(config.stop_grace), left - for_collecting);
}

ExitReport preempted_on(const State& state, const Node& node, Instant now) {
  ExitReport report;
  report.cause = Cause::preempted;
  report.exit_code = 125;
  report.node = node.id;
  report.node_name = node.name;
  report.time = now;
  report.lifetime = ended_with_machine(state, node.id, node.notice->until);
  report.why = NodePreempted{node.name, node.notice->why};
  return report;
}

// Stops attempts with a grace time, by the reason `superseded`. Runners of older versions know no
// other such reason.
void stop_attempts(Context& core, const Node& node) {
  const std::map<AttemptId, int> parts = node.parts;
  const Duration left = std::max<Duration>(node.notice->until - core.now, Duration::zero());
  for (const auto& [id, rank] : parts) {
    const Attempt& attempt = *core.state.attempt(id);
    const bool runs = !attempt.parts[static_cast<std::size_t>(rank)].finished();
    if (!runs || attempt.ended || attempt.doomed || core.state.job(id.job)->cancel_by) continue;
    core.emit(AttemptDoomed{id, preempted_on(core.state, node, core.now), StopReason::superseded,
                            grace_within(core.config, core.state.job(id.job)->spec, left)});
  }
}

// Gives the machine back at once, so that another one can be made while the ranks of this one still
// stop.
void give_back_machine(Context& core, const Node& node) {
  const Compute* compute = core.state.computes().find(node.pool);
  const Machine* machine = core.state.computes().find_machine(node.pool, node.machine);
  if (compute == nullptr || machine == nullptr || !is_elastic(compute->spec)) return;
  if (machine->is_leaving()) return;
  core.emit(MachineLeaving{node.pool, node.machine, MachineTakenAway{node.notice->why}, false});
}

}  // namespace

void take_notice(Context& core, NodeId id, Duration left, const Why& why) {
  const Node& node = *core.state.node(id);
  const Instant until = core.now + std::min<Duration>(left, kLongestNotice);
  const bool is_news = !node.notice || until + kSooner < node.notice->until;
  if (is_news) core.emit(NodeNoticed{id, until, why});
  stop_attempts(core, node);
  if (!node.machine.empty()) give_back_machine(core, node);
}

void take_notice(Context& core, NodeId id, const PreemptionNotice& notice) {
  take_notice(core, id, notice.left, notice.reason.empty() ? AgentWasTold{} : told(notice.reason));
}

}  // namespace lockstep::launcher
