// Applies facts about attempts and their parts to the state.

#include <optional>
#include <utility>

#include "common/domain/why/jobs/events.h"
#include "launcher/state/applier.h"
#include "launcher/state/found_state.h"
#include "launcher/state/old_facts.h"
#include "launcher/words/found/say_found.h"
#include "launcher/words/why.h"

namespace lockstep::launcher {

namespace {

OutputsCollected sizes_of(const std::vector<CollectedOutput>& outputs) {
  OutputsCollected collected;
  for (const CollectedOutput& output : outputs)
    collected.outputs.push_back({output.kind, output.name, output.tree.has_value(), output.files,
                                 output.size, static_cast<int>(output.problems.size())});
  return collected;
}

}  // namespace

// Records the part's report in the attempt. `before`: the tally of the attempt until now.
void State::Applier::record_part(const PartChanged& fact, const Attempt& attempt,
                                 const Attempt::Tally& before) const {
  Job& job = state.job_ref(fact.attempt.job);
  const auto crossed = [&](int Attempt::Tally::*count) {
    return before.*count < attempt.size() && attempt.tally.*count == attempt.size();
  };
  const bool first = job.events.events.back().kind == Event::Kind::placed;
  if (first && fact.report.state == PartState::staging)
    record(job, Event::Kind::preparing, fact.attempt, fact.node);
  if (crossed(&Attempt::Tally::running) && fact.report.state == PartState::running)
    record(job, Event::Kind::running, fact.attempt);
  else if (crossed(&Attempt::Tally::prepared) && fact.report.state == PartState::prepared)
    record(job, Event::Kind::prepared, fact.attempt);
  else if (crossed(&Attempt::Tally::over) && fact.report.state == PartState::collecting)
    record(job, Event::Kind::ranks_ended, fact.attempt);
  if (fact.report.state == PartState::finished && !fact.report.outputs.empty())
    record(job, Event::Kind::collected, fact.attempt, fact.node, sizes_of(fact.report.outputs));
}

// Keeps the data of the report on a part's end beside its result.
void State::Applier::record_end(const PartChanged& fact, Part& part) const {
  part.so_far.clear();
  for (const CollectedOutput& output : fact.report.outputs)
    if (output.kind == OutputKind::checkpoint && output.tree) part.saved = Part::Saved{output, at};
  if (!fact.report.exit || fact.report.exit->cause != Cause::account_missing) return;
  const Job& job = state.job_ref(fact.attempt.job);
  state.node_ref(fact.node).cannot_run_as[{job.spec.run_as, job.id}] = fact.report.exit->why;
}

// Updates the sizes of the job's files. `before`: the size of the part's files until now.
void State::Applier::files_changed(const JobId& job, const Part& part, std::uint64_t before) const {
  const std::uint64_t more = files_of(size_of(part)) - before;
  if (more != 0) state.usage_.add(state.job_ref(job).spec, {.job_files = more});
}

void State::Applier::operator()(const AttemptPlaced& fact) const {
  Job& job = state.job_ref(fact.attempt.job);
  CHECK(fact.attempt.number == job.attempts.size() + 1, "attempts are numbered 1, 2, …");
  Attempt attempt;
  attempt.id = fact.attempt;
  attempt.placed = at;
  attempt.why = fact.why;
  attempt.checkpoint = fact.checkpoint;
  attempt.virtual_packages = fact.virtual_packages;
  attempt.tally.assigned = static_cast<int>(fact.parts.size());
  for (const PartPlacement& placement : fact.parts) {
    Node& node = state.node_ref(placement.node);
    node.parts.emplace(fact.attempt, attempt.size());
    ++node.revision;
    Part part;
    part.node = placement.node;
    part.allotment = placement.allotment;
    part.whole = placement.whole.value_or(took_whole_node_in_0_5(job.spec));
    use(node, part, job.spec, +1);
    state.usage_.add(job.spec, usage_of(part));
    state.shares_.hold(at, job.pool, job.spec.submitter, part.allotment, 1);
    part.revision = placement.revision == 0 ? node.revision : placement.revision;
    attempt.parts.push_back(std::move(part));
  }
  job.attempts.push_back(std::move(attempt));
  record(job, Event::Kind::placed, fact.attempt);
  job.phase = Job::Placed{};
  state.usage_.add(job.spec, {.running = 1});
  state.computes_.count(job.spec, {.running = 1});
  state.dequeue(job);
}

void State::Applier::operator()(const GangFormed& fact) const {
  Attempt& attempt = state.attempt_ref(fact.attempt);
  attempt.gang = fact.gang;
  attempt.rows = fact.rows;
  record(state.job_ref(fact.attempt.job), Event::Kind::connecting, fact.attempt);
  state.touch_nodes(attempt);
}

void State::Applier::operator()(const PartChanged& fact) const {
  Attempt& attempt = state.attempt_ref(fact.attempt);
  Part& part = state.part_ref(attempt, fact.node);
  const Attempt::Tally before = attempt.tally;
  const std::uint64_t files_before = files_of(size_of(part));
  count(attempt.tally, part, -1);
  const std::optional<PartReport> known = std::exchange(part.report, fact.report);
  if (known) keep_known(*known, *part.report);
  count(attempt.tally, part, +1);
  if (attempt.tally.ended > before.ended) free(fact.attempt.job, part);
  if (part.finished()) record_end(fact, part);
  files_changed(fact.attempt.job, part, files_before);
  record_part(fact, attempt, before);
  solver_may_change(state.job_ref(fact.attempt.job));
}

// Copies into the report what an earlier one had and later ones need not repeat.
void State::Applier::keep_known(const PartReport& known, PartReport& report) {
  if (!report.restored) report.restored = known.restored;
  if (!report.environment) report.environment = known.environment;
  if (!report.probe) report.probe = known.probe;
  if (!report.settings.empty()) return;
  report.settings = known.settings;
  report.other_settings = known.other_settings;
}

void State::Applier::operator()(const FoundChanged& fact) const {
  Attempt& attempt = state.attempt_ref(fact.attempt);
  Job& job = state.job_ref(fact.attempt.job);
  const words::FoundDifference difference = words::difference_of(attempt.found, fact.found);
  for (const Found& found : difference.over)
    record(job, Event::Kind::found_over, fact.attempt, node_of(attempt, found),
           RanksGoOn{named(state, attempt, found)});
  for (const Found& found : difference.fresh) {
    const bool hangs = found.verdict == FoundVerdict::hangs;
    record(job, hangs ? Event::Kind::hang : Event::Kind::found, fact.attempt,
           node_of(attempt, found), RanksFound{named(state, attempt, found)});
  }
  attempt.found = fact.found;
}

NodeId State::Applier::node_of(const Attempt& attempt, const Found& found) {
  const int rank = found.ranks.empty() ? -1 : found.ranks.front().node_rank;
  if (rank < 0 || rank >= attempt.size()) return {};
  return attempt.parts[static_cast<std::size_t>(rank)].node;
}

void State::Applier::operator()(const PartGone& fact) const {
  Attempt& attempt = state.attempt_ref(fact.attempt);
  Part& part = state.part_ref(attempt, fact.node);
  if (!part.ended()) free(fact.attempt.job, part);
  count(attempt.tally, part, -1);
  part.standing = Part::Gone{fact.cause, fact.why, at, fact.fenced_until, fact.revoked};
  if (part.fenced()) state.fenced_[fact.node].insert(fact.attempt);
  count(attempt.tally, part, +1);
  state.unassign(attempt, part);
  Job& job = state.job_ref(fact.attempt.job);
  record(job, Event::Kind::part_gone, fact.attempt, fact.node, fact.why);
  solver_may_change(job);
}

void State::Applier::operator()(const AttemptDoomed& fact) const {
  Attempt& attempt = state.attempt_ref(fact.attempt);
  attempt.doomed = Attempt::Doom{fact.report, fact.reason, fact.grace};
  Job& job = state.job_ref(fact.attempt.job);
  // A node that stopped its ranks because of a failure may report before the node that failed.
  if (is_explained(fact.report)) record(job, Event::Kind::failed, fact.attempt, fact.report.node);
  state.touch_nodes(attempt);
  solver_may_change(job);
}

void State::Applier::operator()(const AttemptEnded& fact) const {
  Attempt& attempt = state.attempt_ref(fact.attempt);
  Job& job = state.job_ref(fact.attempt.job);
  if (!attempt.ended) {
    state.usage_.add(job.spec, {.running = -1});
    state.computes_.count(job.spec, {.running = -1});
  }
  attempt.ended = fact.report;
  attempt.ended_at = at;
  if (fact.report.cause == Cause::completed) attempt.found.clear();
  job.phase = Job::Ending{};
  for (Event& event : job.events.events)
    if (event.kind == Event::Kind::failed && event.attempt == fact.attempt.number &&
        fact.report.cause != Cause::canceled)
      event.node = fact.report.node;
  record(job, Event::Kind::ended, fact.attempt);
}

void State::Applier::operator()(const JobRequeued& fact) const {
  Job& job = state.job_ref(fact.job);
  Attempt& attempt = state.attempt_ref(fact.after);
  job.phase = Job::Waiting{{}, fact.not_before, false, {}};
  attempt.retried = retried_of(attempt, fact);
  record(job, Event::Kind::requeued, fact.after, {}, attempt.retried);
  ++(fact.charged ? job.charged_retries : job.uncharged_retries);
  if (!job.cancel_by) state.enqueue(job);
}

void State::Applier::operator()(const PartReleased& fact) const {
  Attempt& attempt = state.attempt_ref(fact.attempt);
  Part& part = state.part_ref(attempt, fact.node);
  const std::uint64_t before = files_of(size_of(part));
  Part::Released released;
  if (fact.logs_lost) released.lost_logs = Bytes{fact.lost_bytes};
  if (part.assigned()) part.standing = released;
  files_changed(fact.attempt.job, part, before);
  state.unassign(attempt, part);
  if (!fact.logs_lost) return;
  record(state.job_ref(fact.attempt.job), Event::Kind::logs_lost, fact.attempt, fact.node,
         LastLogsLost{Bytes{fact.lost_bytes}});
}

void State::Applier::operator()(const CheckpointSaved& fact) const {
  Part& part = state.part_ref(state.attempt_ref(fact.attempt), fact.node);
  const std::uint64_t before = files_of(size_of(part));
  part.saved = Part::Saved{fact.checkpoint, at};
  files_changed(fact.attempt.job, part, before);
}

void State::Applier::operator()(const OutputsSoFar& fact) const {
  Part& part = state.part_ref(state.attempt_ref(fact.attempt), fact.node);
  const std::uint64_t before = files_of(size_of(part));
  part.so_far = fact.outputs;
  files_changed(fact.attempt.job, part, before);
}

void State::Applier::operator()(const FenceLifted& fact) const {
  state.unfence(state.part_ref(state.attempt_ref(fact.attempt), fact.node), fact.attempt);
}

void State::Applier::use(Node& node, const Part& part, const JobSpec& spec, int by) const {
  node.use.parts += by;
  if (part.whole) node.use.wholes += by;
  if (spec.resources.isolated) {
    node.use.isolated += by;
    state.note_isolated(node);
  }
  node.use.cpus += by * static_cast<int>(part.allotment.cpus.size());
  node.use.gpus += by * static_cast<int>(part.allotment.gpus.size());
  node.use.memory.count += static_cast<std::uint64_t>(by) * part.allotment.memory.count;
}

Usage State::Applier::usage_of(const Part& part) {
  return {.nodes = 1,
          .cpus = static_cast<std::int64_t>(part.allotment.cpus.size()),
          .gpus = static_cast<std::int64_t>(part.allotment.gpus.size())};
}

void State::Applier::free(const JobId& job, const Part& part) const {
  const Job& holder = state.job_ref(job);
  use(state.node_ref(part.node), part, holder.spec, -1);
  state.usage_.add(holder.spec, -usage_of(part));
  state.shares_.hold(at, holder.pool, holder.spec.submitter, part.allotment, -1);
}

void State::Applier::count(Attempt::Tally& tally, const Part& part, int by) {
  if (part.at_least(PartState::prepared)) tally.prepared += by;
  if (part.at_least(PartState::running)) tally.running += by;
  if (part.at_least(PartState::collecting) || part.gone() != nullptr) tally.over += by;
  if (part.ended()) tally.ended += by;
  if (part.failed()) tally.failed += by;
}

}  // namespace lockstep::launcher
