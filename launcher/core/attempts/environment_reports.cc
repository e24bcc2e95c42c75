#include "launcher/core/attempts/environment_reports.h"

#include "common/base/cut.h"
#include "common/domain/why/all/convert.h"
#include "common/domain/why/nodes/losses.h"
#include "launcher/core/attempts/environment_locks.h"

namespace lockstep::launcher {

namespace {

// Whether the node was told to solve. All jobs of the account with this definition use the lock, so
// it is accepted from that node alone, for any of its parts, because all of them wait for one
// build.
bool was_asked(const State& state, const EnvironmentId& id, const std::string& platform,
               NodeId node) {
  const auto solver = solver_of(state, id, platform);
  return solver &&
         state.attempt(solver->attempt)->parts[static_cast<std::size_t>(solver->node_rank)].node ==
             node;
}

// Records one event for each part, because its node may repeat the refusal.
void record_refusal(Context& core, const AttemptId& id, NodeId node, const Why& why) {
  if (const auto* notes = core.notes.of(owner_of_notes(*core.state.job(id.job))))
    for (const Notes::Note& note : *notes)
      if (note.event.kind == Event::Kind::lock_refused && note.event.node == node &&
          note.event.attempt == id.number)
        return;
  core.act(ReportRefused{node, "job " + id.job.value, why});
  core.record(id.job, {core.now, Event::Kind::lock_refused, id.number, node, why});
}

void record_refused_lock(Context& core, const AttemptId& id, NodeId node,
                         const std::string& platform) {
  record_refusal(core, id, node, LockNotAsked{platform});
}

// Whether a part may ask for a platform. A node reports its own platform, so a part may ask for one
// only: otherwise it would get the locks of the account's other nodes. If the node's platform has
// changed, the job needs another attempt.
bool may_ask_for(Context& core, const Part& part, const AttemptId& id,
                 const std::string& platform) {
  if (!part.lock_request || part.asks_for(platform)) return true;
  record_refusal(core, id, part.node, LockOfAnotherPlatform{platform, part.lock_request->platform});
  return false;
}

void record_no_room(Context& core, const AttemptId& id, NodeId node, const std::string& platform) {
  record_refusal(core, id, node,
                 NoRoomForLock{platform, static_cast<int>(kMaxEnvironmentPlatforms)});
}

// Cuts a reason of a node to the size that the journal keeps. A reason that is too large keeps its
// name, and its values as far as they fit.
Why bounded(const Why& why) {
  const std::string whole = log_text(why);
  return whole.size() <= kMaxNotSolvedBytes ? why : told(cut(whole, kMaxNotSolvedBytes));
}

void take_lock(Context& core, NodeId node, const PartReport& report, const EnvironmentId& id) {
  const EnvironmentReport& news = *report.environment;
  const Environment& environment = *core.state.environment(id);
  if (!news.lock || environment.generation != news.generation) return;
  const auto known = environment.locks.find(news.platform);
  if (known != environment.locks.end()) {
    if (known->second.tree != *news.lock)
      record_refused_lock(core, report.attempt, node, news.platform);
    return;
  }
  if (environment.locks.size() >= kMaxEnvironmentPlatforms)
    return record_no_room(core, report.attempt, node, news.platform);
  // The launcher may have been restored from a backup that lacks the request. The report proves
  // that the node asked, so the request is recorded now.
  if (!core.state.assigned_part(report.attempt, node)->lock_request)
    core.emit(EnvironmentWanted{report.attempt, node, news.platform});
  if (!was_asked(core.state, id, news.platform, node))
    return record_refused_lock(core, report.attempt, node, news.platform);
  core.emit(EnvironmentLocked{id.definition,
                              news.generation,
                              {news.platform, *news.lock},
                              report.attempt,
                              node,
                              id.account,
                              id.family});
}

}  // namespace

void take_environment(Context& core, NodeId node, const PartReport& report) {
  if (!report.environment) return;
  const EnvironmentReport& news = *report.environment;
  const Job& job = *core.state.job(report.attempt.job);
  const Part* part = core.state.assigned_part(report.attempt, node);
  if (!job.environment || part == nullptr || news.platform.empty()) return;
  using Step = EnvironmentReport::Step;
  const bool asks = news.step == Step::wants_lock || news.step == Step::not_solved;
  if (asks && !may_ask_for(core, *part, report.attempt, news.platform)) return;
  if (asks && !part->lock_request)
    core.emit(EnvironmentWanted{report.attempt, node, news.platform});
  const Environment& environment = *core.state.environment(*job.environment);
  const bool is_of_now = environment.generation == news.generation;
  if (news.step == Step::not_solved && is_of_now && !could_not_solve(environment, *part))
    core.emit(EnvironmentNotSolved{report.attempt, node, news.generation, news.platform,
                                   bounded(news.why)});
  if (news.step == Step::solved) take_lock(core, node, report, *job.environment);
}

}  // namespace lockstep::launcher
