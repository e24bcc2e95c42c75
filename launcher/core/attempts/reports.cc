#include "launcher/core/attempts/reports.h"

#include <algorithm>

#include "common/domain/why/jobs/events.h"
#include "common/domain/why/nodes/losses.h"
#include "common/domain/why/ranks/parts.h"
#include "launcher/core/attempts/environment_reports.h"
#include "launcher/core/attempts/fences.h"
#include "launcher/core/attempts/gang_findings.h"
#include "launcher/core/attempts/rank_settings.h"
#include "launcher/core/queue/wake.h"

namespace lockstep::launcher {

namespace {

// Converts a time of the node's clock to the launcher's, if the offset is known. Nothing after this
// uses times of nodes.
void correct(Instant& time, const std::optional<ClockOffset>& clock) {
  if (clock && time.ns != 0 && time.ns > clock->ahead.count()) time = time - clock->ahead;
}

void correct_times(PartReport& report, const std::optional<ClockOffset>& clock) {
  report.clock = clock;
  correct(report.started, clock);
  if (!report.exit) return;
  correct(report.exit->started, clock);
  correct(report.exit->ended, clock);
  for (RankExit& rank : report.exit->ranks) correct(rank.time, clock);
}

// Checks a report. A finished part must say how each of its ranks ended: the state "completed"
// alone is not accepted. Start times that an earlier report had are kept if this one lacks them.
PartReport checked(PartReport report, const std::optional<PartReport>& known, int ranks,
                   const std::optional<ClockOffset>& clock) {
  correct_times(report, clock);
  report.ended.clear();  // the final report has all ends; until then they are not facts
  report.found.clear();  // findings become facts of their own, FoundChanged
  if (known && known->started.ns != 0) report.started = known->started;
  if (report.started.ns == 0 && report.exit) report.started = report.exit->started;
  if (report.state != PartState::finished) return report;
  if (!report.exit) {
    report.exit.emplace();
    report.exit->cause = Cause::runner_lost;
    report.exit->why = NoFinalReport{};
    return report;
  }
  NodeExitReport& exit = *report.exit;
  const auto wanted = static_cast<std::size_t>(ranks);
  if (exit.cause == Cause::completed && exit.ranks.size() != wanted) {
    exit.cause = Cause::start_failed;
    exit.why = IncompleteReport{static_cast<int>(exit.ranks.size()), ranks};
  }
  return report;
}

// Whether ranks run. Text in a report of such a state says that the output of ranks cannot be
// written or sent.
bool runs(PartState state) { return state == PartState::running || state == PartState::stopping; }

bool is_new(const std::optional<PartReport>& known, const PartReport& report) {
  return !known || report.state > known->state;
}

// Tells the shell that newer trees replaced these. It checks whether they are still in use before
// it removes them.
void tell_replaced(Context& core, const AttemptId& attempt,
                   const std::vector<CollectedOutput>& before,
                   const std::vector<CollectedOutput>& now) {
  TreesReplaced action{attempt, {}, {}};
  for (const CollectedOutput& output : before) {
    const CollectedOutput* newer = same_output(now, output);
    if (!has_files(output) ||
        (newer != nullptr && newer->tree == output.tree && newer->pieces == output.pieces))
      continue;
    each_tree(output, [&](const Digest& tree) { action.trees.push_back(tree); });
    action.size.count += output.size.count;
  }
  if (!action.trees.empty()) core.act(std::move(action));
}

// Reports may arrive late or twice, so a checkpoint counts only if it is newer than the known one.
void take_checkpoint(Context& core, NodeId node, const PartReport& report) {
  for (const CollectedOutput& output : report.outputs) {
    if (output.kind != OutputKind::checkpoint || !output.tree) continue;
    const Part* part = core.state.assigned_part(report.attempt, node);
    const bool news = !part->saved || (output.order > part->saved->checkpoint.order &&
                                       output.tree != part->saved->checkpoint.tree);
    if (!news) continue;
    std::vector<CollectedOutput> before;
    if (part->saved) before.push_back(part->saved->checkpoint);
    core.emit(CheckpointSaved{report.attempt, node, output});
    tell_replaced(core, report.attempt, before, {output});
  }
}

// Records an event, once for each output folder whose files cannot be kept while the ranks run.
void tell_of_lost(Context& core, NodeId node, const AttemptId& attempt,
                  const std::vector<CollectedOutput>& before, const CollectedOutput& output) {
  if (has_files(output) || output.problems.empty()) return;
  const bool is_known = std::any_of(before.begin(), before.end(), [&](const auto& one) {
    return one.kind == output.kind && one.name == output.name && one.problems == output.problems;
  });
  if (is_known) return;
  core.record(attempt.job, {core.now, Event::Kind::not_kept, attempt.number, node,
                            OutputNotKept{output.kind, output.name, output.problems.front()}});
}

// Keeps outputs that were sent earlier and that the new report lacks: the folder may be gone, or
// the agent may have just restarted.
void add_known(const std::vector<CollectedOutput>& before, std::vector<CollectedOutput>& fresh) {
  for (const CollectedOutput& known : before) {
    const auto same = std::find_if(fresh.begin(), fresh.end(), [&](const auto& one) {
      return one.kind == known.kind && one.name == known.name;
    });
    if (same == fresh.end()) {
      fresh.push_back(known);
    } else if (!has_files(*same)) {
      std::vector<std::string> problems = std::move(same->problems);
      *same = known;
      same->problems = std::move(problems);
    }
  }
  if (fresh.size() > kMaxCollectedOutputs) fresh.resize(kMaxCollectedOutputs);
}

void keep(Context& core, NodeId node, const AttemptId& attempt, NodeWatch::SoFar& so_far) {
  const Part* part = core.state.assigned_part(attempt, node);
  if (part == nullptr || part->so_far == so_far.outputs) return;
  so_far.kept = core.now;
  const std::vector<CollectedOutput> before = part->so_far;
  core.emit(OutputsSoFar{attempt, node, so_far.outputs});
  tell_replaced(core, attempt, before, so_far.outputs);
}

// Outputs of a running part change often. So the journal gets them at intervals, and when their
// node is lost.
void take_outputs(Context& core, NodeId node, const PartReport& report) {
  std::vector<CollectedOutput> fresh = report.outputs;
  std::erase_if(fresh, [](const auto& output) {
    return output.kind == OutputKind::checkpoint && output.tree;
  });
  NodeWatch& watch = core.watches.at(node);
  const bool is_first = watch.so_far.count(report.attempt) == 0;
  if (fresh.empty() && is_first) return;
  NodeWatch::SoFar& so_far = watch.so_far[report.attempt];
  if (is_first) so_far.outputs = core.state.assigned_part(report.attempt, node)->so_far;
  for (const CollectedOutput& output : fresh)
    tell_of_lost(core, node, report.attempt, so_far.outputs, output);
  add_known(so_far.outputs, fresh);
  if (so_far.outputs != fresh) core.pending.job_changed(report.attempt.job);
  tell_replaced(core, report.attempt, so_far.outputs, fresh);
  so_far.outputs = std::move(fresh);
  const bool is_due = so_far.kept.ns == 0 || core.now >= so_far.kept + kOutputsKeptEvery;
  if (is_due) keep(core, node, report.attempt, so_far);
}

// The outputs that the final report could not keep, in the versions that the node sent while the
// ranks ran. After a job of days this is most of the output.
std::vector<CollectedOutput> sent_before(const Context& core, NodeId node, const PartReport& end) {
  std::vector<CollectedOutput> sent = core.state.assigned_part(end.attempt, node)->so_far;
  const auto& all = core.watches.all().at(node).so_far;
  if (const auto fresh = all.find(end.attempt); fresh != all.end()) sent = fresh->second.outputs;
  std::erase_if(sent, [&](const CollectedOutput& known) {
    const CollectedOutput* lost = same_output(end.outputs, known);
    return !has_files(known) || lost == nullptr || has_files(*lost) || lost->problems.empty();
  });
  return sent;
}

// The newest known outputs of the part: from its last report and from the last fact.
std::vector<CollectedOutput> sent_so_far(const Context& core, NodeId node, const Part& part,
                                         const AttemptId& attempt) {
  std::vector<CollectedOutput> sent = part.so_far;
  const auto& all = core.watches.all().at(node).so_far;
  if (const auto fresh = all.find(attempt); fresh != all.end())
    sent.insert(sent.end(), fresh->second.outputs.begin(), fresh->second.outputs.end());
  return sent;
}

void take_words(Context& core, NodeId node, const PartReport& report) {
  take_outputs(core, node, report);
  NodeWatch& watch = core.watches.at(node);
  const auto known = watch.progress.find(report.attempt);
  const std::string before = known != watch.progress.end()
                                 ? known->second
                                 : core.state.assigned_part(report.attempt, node)->report->progress;
  if (before == report.progress) return;
  watch.progress[report.attempt] = report.progress;
  core.pending.job_changed(report.attempt.job);
  if (!runs(report.state)) return;
  const bool waits = !report.progress.empty();
  core.record(report.attempt.job,
              {core.now, waits ? Event::Kind::logs_wait : Event::Kind::logs_go_on,
               report.attempt.number, node, waits ? told(report.progress) : RanksWriteAgain{}});
}

// Refuses a report about a part that was never assigned to the node. A report about a part that was
// assigned earlier is not refused: an honest node may send it late.
void refuse_foreign(Context& core, NodeId node, const PartReport& report) {
  const Attempt* attempt = core.state.attempt(report.attempt);
  if (attempt == nullptr) return;
  for (const Part& part : attempt->parts)
    if (part.node == node) return;
  core.act(ReportRefused{node, "job " + report.attempt.job.value, ForeignAttempt{report.attempt}});
}

// Records one event for each limit. The list of limits only grows; a known limit may have a larger
// count.
void take_limits(Context& core, NodeId node, const PartReport& report) {
  const std::vector<Why>& reached = report.exit ? report.exit->limits : report.limits;
  auto& all = core.watches.at(node).limits;
  if (reached.empty() && all.count(report.attempt) == 0) return;
  std::vector<Why>& known = all[report.attempt];
  if (reached == known) return;
  for (std::size_t i = known.size(); i < reached.size(); ++i)
    core.record(report.attempt.job,
                {core.now, Event::Kind::limit_reached, report.attempt.number, node, reached[i]});
  known = reached;
  core.pending.job_changed(report.attempt.job);
}

// Takes how the ranks that have ended so far did end. The list only grows.
void take_ended(Context& core, NodeId node, const PartReport& report) {
  NodeWatch& watch = core.watches.at(node);
  auto& all = watch.ended;
  const auto known = all.find(report.attempt);
  if (report.ended.size() <= (known == all.end() ? 0 : known->second.size())) return;
  const JobSpec& spec = core.state.job(report.attempt.job)->spec;
  const int node_rank = core.state.node(node)->parts.at(report.attempt);
  const int first = spec.first_rank_on(node_rank), end_of_part = spec.first_rank_on(node_rank + 1);
  std::vector<RankEnd> ended = report.ended;
  std::erase_if(ended,
                [&](const RankEnd& one) { return one.rank < first || one.rank >= end_of_part; });
  std::sort(ended.begin(), ended.end(),
            [](const RankEnd& a, const RankEnd& b) { return a.rank < b.rank; });
  for (RankEnd& end : ended) correct(end.time, watch.clock.offset());
  all[report.attempt] = std::move(ended);
  core.pending.job_changed(report.attempt.job);
}

// Handles a report on a part that is not assigned to the node.
void take_foreign(Context& core, NodeId node, const PartReport& report) {
  const bool ended = report.state == PartState::finished;
  if (ended && core.watches.at(node).leftovers.erase(report.attempt) != 0)
    usability_changed(core, *core.state.node(node));
  if (ended) lift_fence(core, report.attempt, node, RunnerEnded{});
  refuse_foreign(core, node, report);
}

// Makes a fact of a report that brings the part into a new state.
void take_new_state(Context& core, NodeId node, const Part& part, const PartReport& report) {
  take_limits(core, node, report);
  const auto node_rank = static_cast<int>(&part - core.state.attempt(report.attempt)->parts.data());
  const int ranks = core.state.job(report.attempt.job)->spec.ranks_on(node_rank);
  const auto clock = core.watches.at(node).clock.offset();
  std::vector<CollectedOutput> kept;
  std::vector<CollectedOutput> before;
  if (report.state == PartState::finished) {
    kept = sent_before(core, node, report);
    before = sent_so_far(core, node, part, report.attempt);
  }
  PartReport news = checked(report, part.report, ranks, clock);
  trim_settings(news, part.report, node_rank);
  core.emit(PartChanged{report.attempt, node, std::move(news)});
  if (!kept.empty()) core.emit(OutputsSoFar{report.attempt, node, std::move(kept)});
  tell_replaced(core, report.attempt, before, report.outputs);
}

}  // namespace

void keep_outputs_so_far(Context& core, NodeId node, const AttemptId& attempt) {
  auto& all = core.watches.at(node).so_far;
  if (const auto found = all.find(attempt); found != all.end())
    keep(core, node, attempt, found->second);
}

void take_report(Context& core, NodeId node, const PartReport& report, bool newest) {
  const Part* part = core.state.assigned_part(report.attempt, node);
  if (part == nullptr) return take_foreign(core, node, report);
  if (is_new(part->report, report)) {
    take_new_state(core, node, *part, report);
    if (report.state == PartState::finished) return;
    take_ended(core, node, report);
    take_found(core, node, report);
    take_settings(core, node, report);
    take_outputs(core, node, report);
  } else if (report.state < PartState::finished && part->report->state == report.state) {
    if (newest) take_words(core, node, report);
    if (newest) take_limits(core, node, report);
    if (newest) take_ended(core, node, report);
    if (newest) take_found(core, node, report);
    if (newest) take_settings(core, node, report);
  } else {
    return;
  }
  take_checkpoint(core, node, report);
  take_environment(core, node, report);
}

}  // namespace lockstep::launcher
