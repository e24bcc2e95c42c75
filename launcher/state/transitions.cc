// What each fact changes in the state.

#include <algorithm>
#include <utility>

#include "common/base/check.h"
#include "common/base/utf8.h"
#include "common/domain/environment/definition.h"
#include "common/domain/why/jobs/events.h"
#include "common/domain/why/jobs/orders.h"
#include "launcher/state/found_state.h"
#include "launcher/state/jobs/step_key.h"
#include "launcher/state/old_facts.h"
#include "launcher/state/state.h"
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

// One overload for each fact: the whole transition table of the launcher.
struct State::Applier {
  State& state;
  Instant at;

  void record(Job& job, Event::Kind kind, const AttemptId& attempt = {}, NodeId node = {},
              Why why = {}) const {
    job.events.add({at, kind, attempt.number, node, std::move(why)});
  }
  // Records in the attempt what the part's report says about it. `before`: the tally of the attempt
  // until now.
  void record_part(const PartChanged& fact, const Attempt& attempt,
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

  // Keeps what the report on a part's end says beside its result.
  void record_end(const PartChanged& fact, Part& part) const {
    part.so_far.clear();
    for (const CollectedOutput& output : fact.report.outputs)
      if (output.kind == OutputKind::checkpoint && output.tree)
        part.saved = Part::Saved{output, at};
    if (!fact.report.exit || fact.report.exit->cause != Cause::account_missing) return;
    const Job& job = state.job_ref(fact.attempt.job);
    state.node_ref(fact.node).cannot_run_as[{job.spec.run_as, job.id}] = fact.report.exit->why;
  }

  void record(Node& node, std::string what, Why why = {}) const {
    if (node.history.size() >= kMaxNodeEvents) node.history.erase(node.history.begin());
    node.history.push_back({at, std::move(what), std::move(why)});
  }
  // The first words of a user's text, for an event.
  static Why beginning(std::string_view text) {
    return told(std::string(head(text, kMaxNodeEventBytes)));
  }

  // The pool of a fact. Facts from before pools existed have none, and mean "local".
  template <typename Of>
  static std::string pool_in(const Of& fact) {
    return fact.pool.empty() ? std::string(kLocalCompute) : fact.pool;
  }

  void operator()(const TokenCreated& fact) const {
    state.tokens_.emplace(fact.secret_hash, Token{fact.expires, fact.uses, 0, fact.approval,
                                                  pool_in(fact), fact.machine, at, fact.by});
  }

  void operator()(const TokenForgotten& fact) const { state.tokens_.erase(fact.secret_hash); }

  void operator()(const NodeRevised& fact) const {
    Node& node = state.node_ref(fact.node);
    node.revision = fact.revision;
    if (!fact.history.empty()) node.history = fact.history;
  }

  // After a restore, a node may have applied revisions that the backup does not have. Incarnations
  // are milliseconds, so they are greater than any count of revisions.
  void operator()(const IncarnationBegan& fact) const {
    state.incarnation_ = std::max(state.incarnation_, fact.incarnation);
    if (!fact.restored) return;
    state.restored_at_ = at;
    for (auto& [id, node] : state.nodes_) node.revision = std::max(node.revision, fact.incarnation);
  }

  void operator()(const NodeJoined& fact) const {
    Node node;
    node.id = fact.node;
    node.name = fact.name;
    node.key = fact.key;
    node.joined = at;
    node.waits_for_approval = fact.waits_for_approval;
    node.pool = pool_in(fact);
    node.machine = fact.machine;
    node.machine_id = fact.machine_id;
    state.computes_.add_node(node.pool, fact.node);
    if (!node.machine.empty()) {
      state.computes_.machine_joined(at, node.pool, node.machine, fact.node);
      node.labels = state.computes_.kept_labels(node.pool, node.machine);
    }
    state.keys_[fact.key] = fact.node;
    state.names_[fact.name] = fact.node;
    state.next_node_ = std::max(state.next_node_, fact.node.value + 1);
    const auto token = state.tokens_.find(fact.token);
    if (token != state.tokens_.end()) ++token->second.used;
    record(node, "Joined", node.waits_for_approval ? Why(ApprovalPending{}) : Why());
    state.nodes_.emplace(fact.node, std::move(node));
  }

  void operator()(const NodeApproved& fact) const {
    Node& node = state.node_ref(fact.node);
    node.waits_for_approval = false;
    record(node, "Approved", fact.by.empty() ? Why() : Why(DoneBy{AskedBy{fact.by}}));
  }

  void operator()(const NodeSessionStarted& fact) const {
    Node& node = state.node_ref(fact.node);
    record_session(node, fact);
    node.agent_version = fact.version;
    if (node.session && *node.session != fact.session) {
      node.past_sessions.push_back(*node.session);
      if (node.past_sessions.size() > kMaxPastSessions)
        node.past_sessions.erase(node.past_sessions.begin());
    }
    state.shares_.node_changed(node.pool, node.inventory, fact.inventory);
    node.session = fact.session;
    node.boot = fact.boot;
    claim_host(node, fact);
    state.leave_host(node);
    node.inventory = fact.inventory;
    if (!node.inventory.host_id.empty()) state.hosts_[node.inventory.host_id].insert(node.id);
    state.note_isolated(node);
    node.lost.reset();
    node.notice.reset();
    node.cannot_run_as.clear();
  }

  // A fact of a known session only brings a new inventory.
  void record_session(Node& node, const NodeSessionStarted& fact) const {
    const Why agent = fact.version.empty() ? Why() : Why(AgentHasVersion{fact.version});
    if (node.lost)
      record(node, "Returned", agent);
    else if (node.session && node.boot != fact.boot)
      record(node, "Rebooted", agent);
    else if (node.session != fact.session)
      record(node, "AgentStarted", agent);
  }

  void claim_host(Node& node, const NodeSessionStarted& fact) const {
    const std::string& host = fact.inventory.host_id;
    const bool is_first = node.host_claim.group.value == 0 && !host.empty();
    if (fact.claim) node.host_claim = *fact.claim;
    if (fact.claim || host == node.inventory.host_id) return;
    node.host_claim.since = at;
    if (!is_first) return;
    node.host_claim.group = node.id;
    for (const NodeId other : state.nodes_on_host(host)) {
      const Node& there = *state.node(other);
      if (there.lost) continue;
      node.host_claim.group = there.host_claim.group;
      return;
    }
  }

  void operator()(const NodeLost& fact) const {
    Node& node = state.node_ref(fact.node);
    node.lost = fact.why;
    record(node, "Lost", fact.why);
  }

  void operator()(const NodeDrainChanged& fact) const {
    Node& node = state.node_ref(fact.node);
    node.drain.reset();
    if (fact.draining) node.drain = fact.reason;
    record(node, fact.draining ? "Drained" : "Resumed", beginning(fact.reason));
  }

  void operator()(const NodeNoticed& fact) const {
    Node& node = state.node_ref(fact.node);
    node.notice = Node::Notice{fact.until, fact.why};
    record(node, "TakenAway", TakenAwayAt{fact.until, fact.why});
  }

  void operator()(const NodeRemoved& fact) const {
    const Node& node = state.node_ref(fact.node);
    CHECK(node.parts.empty(), "a node is removed only when it holds nothing");
    state.removed_[fact.node] = RemovedNode{node.name, node.key, fact.by, at};
    if (fact.labels.empty())
      state.labels_of_removed_.erase({node.machine_id, node.name});
    else
      state.labels_of_removed_[{node.machine_id, node.name}] = fact.labels;
    state.revoked_[node.key] = fact.node;
    state.keys_.erase(node.key);
    state.names_.erase(node.name);
    state.fenced_.erase(fact.node);
    state.leave_host(node);
    state.computes_.remove_node(node.pool, fact.node);
    state.shares_.node_changed(node.pool, node.inventory, {});
    if (!node.machine.empty()) state.computes_.machine_left(at, node.pool, node.machine, fact.node);
    state.nodes_.erase(fact.node);
  }

  void operator()(const JobSubmitted& fact) const {
    Job job;
    job.id = fact.job;
    job.order = fact.order;
    if (job.order == 0)
      job.order = state.submitted_.empty() ? 1 : state.submitted_.rbegin()->first + 1;
    job.incarnation = fact.incarnation;
    job.family = fact.family;
    job.submission = fact.submission;
    job.spec = fact.spec;
    job.pool = state.computes_.pool_of(job.spec.compute);
    job.first_checkpoint = fact.checkpoint;
    job.submitted = at;
    if (job.spec.is_pipeline()) {
      job.phase = Job::RunsSteps{};
      job.steps.emplace(*job.spec.pipeline);
    } else {
      job.phase = Job::Waiting{job.spec.queue.after, job.spec.queue.not_before, false, {}};
    }
    for (const After& after : job.waiting().waits_for)
      state.dependents_[after.job].insert(job.order);
    state.submitted_.emplace(job.order, job.id);
    state.index_.submitted(job.order, job.spec.submitter);
    if (job.is_waiting()) state.enqueue(job);
    state.usage_.add(job.spec, {.spec_bytes = spec_bytes(job.spec)});
    job.sources = fact.sources;
    hold_sources(job);
    state.unfinished_.insert(job.id);
    state.computes_.count(job.spec, {.unfinished = 1});
    record(job, Event::Kind::submitted);
    join_pipeline(job);
    join_parent(job);
    if (!fact.submission.empty()) state.submissions_.emplace(fact.submission, job.id);
    if (job.spec.environment) {
      job.environment = {digest_of(job.spec.environment->definition), job.spec.run_as, job.family};
      Environment& environment = state.environments_[*job.environment];
      environment.jobs.insert(job.order);
      environment.live.insert(job.order);
    }
    each_named_version(job.spec, [&](NameKind kind, std::string version) {
      state.named_by_[{kind, std::move(version)}].insert(job.order);
    });
    state.jobs_.add(fact.job, std::move(job));
  }

  void hold_sources(const Job& job) const {
    for (const JobSource& source : job.sources)
      for (const QuotaHolder& holder : holders_of(job.spec))
        if (state.sources_.add(holder, source))
          state.usage_.add(holder, {.job_files = source.size.count});
  }
  void release_sources(const Job& job) const {
    for (const JobSource& source : job.sources)
      for (const QuotaHolder& holder : holders_of(job.spec))
        if (state.sources_.remove(holder, source))
          state.usage_.add(holder, {.job_files = 0 - source.size.count});
  }
  static std::uint64_t files_of(const JobSize& size) {
    return size.logs.count + size.outputs.count;
  }
  // Updates the sizes of the job's files. `before`: the size of the part's files until now.
  void files_changed(const JobId& job, const Part& part, std::uint64_t before) const {
    const std::uint64_t more = files_of(size_of(part)) - before;
    if (more != 0) state.usage_.add(state.job_ref(job).spec, {.job_files = more});
  }

  void operator()(const CancelRequested& fact) const {
    Job& job = state.job_ref(fact.job);
    job.cancel_by = fact.by;
    leave_head(job);
    record(job, Event::Kind::cancel_requested);
    state.dequeue(job);
    if (job.is_placed()) state.touch_nodes(job.attempts.back());
    solver_may_change(job);
  }

  void operator()(const JobPriorityChanged& fact) const {
    Job& job = state.job_ref(fact.job);
    job.spec.queue.priority = fact.priority;
    leave_head(job);
    record(job, Event::Kind::updated, {}, {}, PriorityIs{fact.priority, fact.by});
  }

  void operator()(const DependencyMet& fact) const {
    state.meet(state.job_ref(fact.job), fact.after);
  }

  void operator()(const JobAtHead& fact) const {
    auto* waiting = std::get_if<Job::Waiting>(&state.job_ref(fact.job).phase);
    if (waiting == nullptr) return;
    if (waiting->at_head || waiting->head_since.ns == 0) waiting->head_since = at;
    waiting->at_head = true;
  }
  static void leave_head(Job& job) {
    if (auto* waiting = std::get_if<Job::Waiting>(&job.phase)) waiting->at_head = false;
  }

  void operator()(const RecentUseSet& fact) const {
    state.shares_.set_recent(fact.pool, fact.user, fact.recent, fact.until);
  }

  void operator()(const JobShared& fact) const {
    Job& job = state.job_ref(fact.job);
    job.shared = fact.shared;
    if (job.steps)
      for (const JobId& step : job.steps->jobs()) state.job_ref(step).shared = fact.shared;
  }

  void operator()(const JobArchived& fact) const {
    state.job_ref(fact.job).archived = fact.archived;
  }

  void operator()(const JobAnnotated& fact) const {
    Job& job = state.job_ref(fact.job);
    state.usage_.add(job.spec, {.spec_bytes = -spec_bytes(job.spec)});
    job.spec.display_name = fact.display_name;
    job.spec.description = fact.description;
    job.spec.experiment_name = fact.experiment_name;
    job.spec.tags = fact.tags;
    state.usage_.add(job.spec, {.spec_bytes = spec_bytes(job.spec)});
  }

  void operator()(const AttemptPlaced& fact) const {
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

  void operator()(const GangFormed& fact) const {
    Attempt& attempt = state.attempt_ref(fact.attempt);
    attempt.gang = fact.gang;
    attempt.rows = fact.rows;
    record(state.job_ref(fact.attempt.job), Event::Kind::connecting, fact.attempt);
    state.touch_nodes(attempt);
  }

  void operator()(const PartChanged& fact) const {
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
  static void keep_known(const PartReport& known, PartReport& report) {
    if (!report.restored) report.restored = known.restored;
    if (!report.environment) report.environment = known.environment;
    if (!report.probe) report.probe = known.probe;
    if (!report.settings.empty()) return;
    report.settings = known.settings;
    report.other_settings = known.other_settings;
  }

  void operator()(const FoundChanged& fact) const {
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
  static NodeId node_of(const Attempt& attempt, const Found& found) {
    const int rank = found.ranks.empty() ? -1 : found.ranks.front().node_rank;
    if (rank < 0 || rank >= attempt.size()) return {};
    return attempt.parts[static_cast<std::size_t>(rank)].node;
  }

  void operator()(const PartGone& fact) const {
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

  void operator()(const AttemptDoomed& fact) const {
    Attempt& attempt = state.attempt_ref(fact.attempt);
    attempt.doomed = Attempt::Doom{fact.report, fact.reason, fact.grace};
    Job& job = state.job_ref(fact.attempt.job);
    // A node that stopped its ranks because of a failure may report before the node that failed.
    if (is_explained(fact.report)) record(job, Event::Kind::failed, fact.attempt, fact.report.node);
    state.touch_nodes(attempt);
    solver_may_change(job);
  }

  void operator()(const AttemptEnded& fact) const {
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

  void operator()(const JobRequeued& fact) const {
    Job& job = state.job_ref(fact.job);
    Attempt& attempt = state.attempt_ref(fact.after);
    job.phase = Job::Waiting{{}, fact.not_before, false, {}};
    attempt.retried = retried_of(attempt, fact);
    record(job, Event::Kind::requeued, fact.after, {}, attempt.retried);
    ++(fact.charged ? job.charged_retries : job.uncharged_retries);
    if (!job.cancel_by) state.enqueue(job);
  }

  void operator()(const PartReleased& fact) const {
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

  void operator()(const CheckpointSaved& fact) const {
    Part& part = state.part_ref(state.attempt_ref(fact.attempt), fact.node);
    const std::uint64_t before = files_of(size_of(part));
    part.saved = Part::Saved{fact.checkpoint, at};
    files_changed(fact.attempt.job, part, before);
  }

  void operator()(const OutputsSoFar& fact) const {
    Part& part = state.part_ref(state.attempt_ref(fact.attempt), fact.node);
    const std::uint64_t before = files_of(size_of(part));
    part.so_far = fact.outputs;
    files_changed(fact.attempt.job, part, before);
  }

  void operator()(const FenceLifted& fact) const {
    state.unfence(state.part_ref(state.attempt_ref(fact.attempt), fact.node), fact.attempt);
  }

  void operator()(const JobFinished& fact) const {
    Job& job = state.job_ref(fact.job);
    for (Attempt& attempt : job.attempts)  // no rank waits for them any more
      for (Part& part : attempt.parts) state.unfence(part, attempt.id);
    for (const After& after : std::vector<After>(job.waiting().waits_for))
      state.meet(job, after.job);
    job.phase = Job::Finish{fact.status, fact.report, at};
    record(job, Event::Kind::finished);
    state.dequeue(job);
    state.index_.finished(job.order, fact.status);
    state.unfinished_.erase(job.id);
    each_named_version(job.spec, [&](NameKind kind, std::string version) {
      const auto named = state.named_by_.find({kind, std::move(version)});
      if (named == state.named_by_.end()) return;
      named->second.erase(job.order);
      if (named->second.empty()) state.named_by_.erase(named);
    });
    state.computes_.count(job.spec, {.unfinished = -1});
    if (job.environment) state.environments_[*job.environment].live.erase(job.order);
    note_ended(job);
    leave_pipeline(job);
    state.ended_.count(job.spec.submitter, size_of(job));
    // The account may be created before the user's next job, so each node is asked again.
    if (fact.report.cause == Cause::account_missing || fact.report.cause == Cause::canceled)
      for (auto& [id, node] : state.nodes_) node.cannot_run_as.erase({job.spec.run_as, job.id});
  }

  void operator()(const OutputsMerged& fact) const {
    Job& job = state.job_ref(fact.job);
    job.merged = fact.outputs;
    for (const OutputSpec& output : job.spec.outputs) {
      const auto merged =
          std::find_if(fact.outputs.begin(), fact.outputs.end(),
                       [&](const MergedOutput& one) { return one.name == output.name; });
      if (output.remote.empty() || merged == fact.outputs.end() || !merged->tree) continue;
      job.writes.push_back({output.name, path_of(output, job.id.value)});
    }
    if (job.writes.empty()) return;
    state.unwritten_.insert(job.id);
    count_unwritten(job, static_cast<int>(job.writes.size()));
  }

  void operator()(const OutputWritten& fact) const {
    Job& job = state.job_ref(fact.job);
    OutputWrite& write = write_ref(job, fact.output);
    write = {write.output, write.to, OutputWrite::State::written, 0, "", at};
    record(job, Event::Kind::written, {}, {}, OutputIsWritten{write.output, write.to});
    write_settled(job);
  }

  void operator()(const OutputNotWritten& fact) const {
    Job& job = state.job_ref(fact.job);
    OutputWrite& write = write_ref(job, fact.output);
    write.tries = fact.tries;
    write.why_data = fact.why;
    write.at = fact.again;
    if (fact.again.ns != 0) return;
    write.state = OutputWrite::State::given_up;
    write.at = at;
    record(job, Event::Kind::written, {}, {},
           OutputGivenUp{write.output, write.to, write.tries, write.why_data});
    write_settled(job);
  }

  static OutputWrite& write_ref(Job& job, const std::string& output) {
    const auto found =
        std::find_if(job.writes.begin(), job.writes.end(),
                     [&](const OutputWrite& write) { return write.output == output; });
    CHECK(found != job.writes.end(), "only what is to be written is written");
    return *found;
  }
  // Counts the outputs that wait to be written, also for the pipeline: it stays until the outputs
  // of its steps are written.
  void count_unwritten(Job& job, int more) const {
    job.unwritten += more;
    if (state.steps_around(job) != nullptr) state.job_ref(job.spec.parent).unwritten += more;
  }
  void write_settled(Job& job) const {
    count_unwritten(job, -1);
    if (job.unwritten == 0) state.unwritten_.erase(job.id);
    note_ended(job);
    if (state.steps_around(job) != nullptr) note_ended(state.job_ref(job.spec.parent));
  }
  void note_ended(const Job& job) const {
    if (!job.finish() || !job.spec.step.empty() || job.unwritten > 0) return;
    const EndedJobs::Place place{job.finish()->at, job.order};
    if (state.ended_.add(job.spec.submitter, place, job.id, state.gives(job)))
      state.usage_.add(job.spec, {.kept_jobs = 1});
  }

  void operator()(const StepReused& fact) const {
    Job& job = state.job_ref(fact.job);
    job.steps->reused(fact.step, fact.from, fact.outputs);
    record(job, Event::Kind::step, {}, {}, StepReusesJob{fact.step, fact.from});
  }

  void operator()(const StepSkipped& fact) const {
    Job& job = state.job_ref(fact.job);
    job.steps->skipped(fact.step, fact.why);
    record(job, Event::Kind::step, {}, {}, StepLeftOut{fact.step, fact.why});
  }

  // Adds the job of a step to its pipeline, unless the pipeline was deleted before the jobs of its
  // steps.
  void join_pipeline(Job& job) const {
    if (job.spec.step.empty()) return;
    job.reuse_key = reuse_key(job.spec);
    Steps* steps = state.steps_around(job);
    if (steps == nullptr) return;
    steps->submitted(job.spec.step, job.id);
    Job& parent = state.job_ref(job.spec.parent);
    job.shared = parent.shared;
    job.child_of = parent.child_of;
    job.family = parent.family;
    record(parent, Event::Kind::step, {}, {}, StepHasJob{job.spec.step, job.id});
  }
  // Adds a child to its parent. If the parent was deleted, a later job may have its name.
  void join_parent(Job& job) const {
    if (!job.spec.is_child()) return;
    const Job* parent = state.job(job.spec.parent);
    const bool is_there = parent != nullptr && parent->order < job.order;
    if (job.family == 0) job.family = is_there ? family_below(*parent) : job.order;
    if (!is_there) return;
    job.child_of = parent->id;
    state.children_[parent->id].insert(job.order);
  }
  // The family of jobs that an attempt of this job submits.
  std::uint64_t family_below(const Job& job) const {
    if (job.family != 0) return job.family;
    const Job* pipeline = job.spec.step.empty() ? nullptr : state.job(job.spec.parent);
    return pipeline != nullptr ? pipeline->order : job.order;
  }
  // Removes the job from its parent's children. Its own children continue without a parent.
  void leave_family(const Job& job) const {
    if (const auto left = state.children_.extract(job.id); !left.empty())
      for (const std::uint64_t order : left.mapped()) forget_parent(state.submitted_.at(order));
    if (!job.spec.is_child() || job.child_of.value.empty()) return;
    const auto siblings = state.children_.find(job.child_of);
    siblings->second.erase(job.order);
    if (siblings->second.empty()) state.children_.erase(siblings);
  }
  void forget_parent(const JobId& child) const {
    Job& job = state.job_ref(child);
    job.child_of = {};
    if (!job.steps) return;
    for (const JobId& step : job.steps->jobs()) state.job_ref(step).child_of = {};
  }
  void leave_pipeline(const Job& job) const {
    const bool completed = job.finish()->status == JobStatus::completed;
    if (completed && job.reuse_key && job.merged && is_whole(*job.merged))
      state.reusable_[{job.family, *job.reuse_key}].insert(job.order);
    if (Steps* steps = state.steps_around(job))
      steps->ended(job.spec.step, completed, job.merged.value_or(std::vector<MergedOutput>()));
  }
  // True if no output is missing. An output that could not be kept may be kept the next time, so
  // such a job is not reused.
  static bool is_whole(const std::vector<MergedOutput>& outputs) {
    return std::none_of(outputs.begin(), outputs.end(), [](const MergedOutput& output) {
      return !output.tree && !output.problems.empty();
    });
  }
  void forget_reusable(const Job& job) const {
    if (!job.reuse_key) return;
    const auto known = state.reusable_.find({job.family, *job.reuse_key});
    if (known == state.reusable_.end()) return;
    known->second.erase(job.order);
    if (known->second.empty()) state.reusable_.erase(known);
  }

  // If the job does not exist, compaction has dropped its other facts.
  void operator()(const JobDeleted& fact) const {
    if (const Job* found = state.jobs_.find(fact.job)) {
      const Job& job = *found;
      CHECK(job.is_final(), "a job can be deleted only after it has ended");
      state.ended_.discount(job.spec.submitter, size_of(job));
      state.usage_.add(
          job.spec, {.spec_bytes = -spec_bytes(job.spec), .job_files = 0 - files_of(size_of(job))});
      release_sources(job);
      if (state.ended_.remove(job.spec.submitter, {job.finish()->at, job.order}))
        state.usage_.add(job.spec, {.kept_jobs = -1});
      forget_reusable(job);
      leave_family(job);
      state.unwritten_.erase(job.id);
      state.submitted_.erase(job.order);
      state.index_.deleted(job.order, job.spec.submitter, job.finish()->status);
      state.submissions_.erase(job.submission);
      if (job.environment) {
        state.environments_[*job.environment].jobs.erase(job.order);
        state.drop_environment(*job.environment);
      }
      for (auto& [id, node] : state.nodes_) node.cannot_run_as.erase({job.spec.run_as, job.id});
      state.jobs_.remove(fact.job);
    }
    const DeletedJob deleted{fact.submission, fact.incarnation};
    state.incarnation_ = std::max(state.incarnation_, state.deleted_.add(fact.job, deleted));
  }

  // Other parts may have waited for what this job's node would have solved: see solver_of in
  // attempts/environment_locks.h.
  void solver_may_change(const Job& job) const {
    if (job.has_asked()) state.touch_environment(*job.environment);
  }

  void operator()(const EnvironmentRegistered& fact) const {
    const EnvironmentSpec& spec = fact.environment.spec;
    const Digest definition = digest_of(spec.definition);
    auto& versions = state.registered_[spec.name];
    const std::string project = versions.empty() ? fact.project : versions.front().project;
    versions.push_back(
        {fact.environment, definition, at, fact.by, project, false, false, fact.files});
    versions.back().foreign = state.owned_names_.registered(version_of(versions.back()), fact.owner,
                                                            project, fact.foreign, state.usage_);
    ++state.named_[definition];
  }
  void operator()(const EnvironmentArchived& fact) const {
    const auto known = state.registered_.find(fact.name);
    if (known == state.registered_.end()) return;
    for (EnvironmentVersion& version : known->second)
      if (fact.version.empty() || version.environment.spec.version == fact.version)
        version.archived = fact.archived;
  }
  void operator()(const VersionAnnotated& fact) const {
    if (fact.kind == NameKind::environment) return annotate_environment(fact);
    const AssetKind kind = asset_kind_of(fact.kind);
    const AssetName* name = state.assets_.find(kind, fact.name);
    const AssetVersion* known = name == nullptr ? nullptr : name->find(fact.version);
    if (known == nullptr) return;
    const std::int64_t before = version_bytes(known->asset);
    state.assets_.annotate(kind, fact);
    grow(fact, known->by, version_bytes(known->asset) - before);
  }
  void annotate_environment(const VersionAnnotated& fact) const {
    const auto known = state.registered_.find(fact.name);
    if (known == state.registered_.end()) return;
    for (auto it = known->second.rbegin(); it != known->second.rend(); ++it) {
      RegisteredEnvironment& environment = it->environment;
      if (environment.spec.version != fact.version) continue;
      const std::int64_t before = version_bytes(environment);
      environment.description = fact.description;
      environment.tags = fact.tags;
      return grow(fact, it->by, version_bytes(environment) - before);
    }
  }
  void grow(const VersionAnnotated& fact, const std::string& by, std::int64_t bytes) const {
    state.owned_names_.grown({fact.kind, fact.name}, by, bytes, state.usage_);
  }
  static Names::Version version_of(const EnvironmentVersion& version) {
    const RegisteredEnvironment& environment = version.environment;
    return {{NameKind::environment, environment.spec.name},
            environment.spec.version,
            version.by,
            version_bytes(environment),
            version.files.value_or(Bytes{})};
  }
  // `Registered` is AssetRegistered or AssetVersion.
  template <typename Registered>
  static Names::Version version_of_asset(const Registered& one) {
    const RegisteredAsset& asset = one.asset;
    return {{name_kind_of(kind_of(asset)), asset.name},
            asset.version,
            one.by,
            version_bytes(asset),
            one.files.value_or(Bytes{})};
  }

  void operator()(const VersionsDeleted& fact) const {
    while (remove_version(fact)) {
      if (!fact.version.empty()) return;
    }
    if (fact.version.empty()) state.owned_names_.released({fact.kind, fact.name}, state.usage_);
  }
  // False: there is no such version.
  bool remove_version(const VersionsDeleted& fact) const {
    switch (fact.kind) {
      case NameKind::environment: return remove_environment(fact.name, fact.version);
      case NameKind::data: return remove_asset(AssetKind::data, fact.name, fact.version);
      case NameKind::model: return remove_asset(AssetKind::model, fact.name, fact.version);
      case NameKind::component: return remove_asset(AssetKind::component, fact.name, fact.version);
    }
    return false;
  }
  bool remove_asset(AssetKind kind, const std::string& name, const std::string& version) const {
    const auto removed = state.assets_.remove(kind, name, version);
    if (removed) state.owned_names_.deleted(version_of_asset(*removed), state.usage_);
    return removed.has_value();
  }
  // `version` "": the newest one.
  bool remove_environment(const std::string& name, const std::string& version) const {
    const auto known = state.registered_.find(name);
    if (known == state.registered_.end()) return false;
    std::vector<EnvironmentVersion>& all = known->second;
    auto found = std::prev(all.end());
    if (!version.empty())
      found = std::find_if(all.begin(), all.end(), [&](const EnvironmentVersion& one) {
        return one.environment.spec.version == version;
      });
    if (found == all.end()) return false;
    const Digest definition = found->definition;
    state.owned_names_.deleted(version_of(*found), state.usage_);
    all.erase(found);
    if (all.empty()) state.registered_.erase(known);
    if (const auto names = state.named_.find(definition); --names->second == 0)
      state.named_.erase(names);
    for (const EnvironmentId& id : state.environments_of(definition)) state.drop_environment(id);
    return true;
  }
  void operator()(const NameShared& fact) const { state.owned_names_.apply(fact); }
  void operator()(const NameSettled& fact) const { state.owned_names_.apply(fact, state.usage_); }

  void operator()(const EnvironmentWanted& fact) const {
    Attempt& attempt = state.attempt_ref(fact.attempt);
    Part& part = state.part_ref(attempt, fact.node);
    if (!part.lock_request) ++attempt.tally.asked;
    part.lock_request = Part::LockRequest{fact.platform, at, {}};
    if (const Job& job = state.job_ref(fact.attempt.job); job.environment)
      state.touch_environment(*job.environment);
  }

  void operator()(const EnvironmentNotSolved& fact) const {
    Part& part = state.part_ref(state.attempt_ref(fact.attempt), fact.node);
    if (part.asks_for(fact.platform))
      part.lock_request->not_solved = Part::LockRequest::NotSolved{fact.generation, fact.why};
    solver_may_change(state.job_ref(fact.attempt.job));
  }

  void operator()(const EnvironmentLocked& fact) const {
    const auto account = account_of(state, fact);
    if (!account) return;
    const EnvironmentId id{fact.definition, *account, family_of(state, fact)};
    Environment& environment = state.environments_[id];
    environment.generation = fact.generation;
    environment.locks[fact.lock.platform] = {fact.lock.tree, at, fact.attempt, fact.node};
    state.touch_environment(id);
  }

  void operator()(const EnvironmentReset& fact) const {
    if (fact.account) return reset({fact.definition, *fact.account, fact.family}, fact.generation);
    for (const EnvironmentId& id : state.environments_of(fact.definition)) {
      reset(id, fact.generation);
      state.drop_environment(id);
    }
  }
  void reset(const EnvironmentId& id, std::uint64_t generation) const {
    Environment& environment = state.environments_[id];
    environment.generation = generation;
    environment.locks.clear();
    state.touch_environment(id);
  }

  void operator()(const EnvironmentsPruned& fact) const {
    state.environments_unused_since_ = fact.unused_since;
    for (auto& [id, node] : state.nodes_) ++node.revision;
  }

  // Users, keys, roles and projects.
  void operator()(const ProjectCreated& fact) const { state.principals_.apply(at, fact); }
  void operator()(const ProjectRemoved& fact) const { state.principals_.apply(at, fact); }
  void operator()(const UserAdded& fact) const { state.principals_.apply(at, fact); }
  void operator()(const UserAccountSet& fact) const { state.principals_.apply(at, fact); }
  void operator()(const UserRemoved& fact) const { state.principals_.apply(at, fact); }
  void operator()(const RoleGranted& fact) const { state.principals_.apply(at, fact); }
  void operator()(const RoleWithdrawn& fact) const { state.principals_.apply(at, fact); }
  void operator()(const UserKeyAdded& fact) const { state.principals_.apply(at, fact); }
  void operator()(const UserKeyRevoked& fact) const { state.principals_.apply(at, fact); }
  void operator()(const QuotaSet& fact) const { state.principals_.apply(at, fact); }

  void operator()(const ComputeCreated& fact) const { state.computes_.apply(at, fact); }
  void operator()(const ComputeUpdated& fact) const { state.computes_.apply(at, fact); }
  void operator()(const ComputeDeleted& fact) const {
    state.computes_.apply(at, fact);
    state.shares_.forget_pool(fact.name);
  }
  void operator()(const ComputeLeaving& fact) const { state.computes_.apply(at, fact); }
  void operator()(const InstanceStarted& fact) const { state.computes_.apply(at, fact); }
  void operator()(const InstanceStopped& fact) const { state.computes_.apply(at, fact); }
  void operator()(const MachineWanted& fact) const { state.computes_.apply(at, fact); }
  void operator()(const MachineFound& fact) const { state.computes_.apply(at, fact); }
  void operator()(const MachineCreated& fact) const { state.computes_.apply(at, fact); }
  void operator()(const MachineFailed& fact) const { state.computes_.apply(at, fact); }
  void operator()(const MachineLeaving& fact) const { state.computes_.apply(at, fact); }
  void operator()(const MachineGone& fact) const { state.computes_.apply(at, fact); }

  void operator()(const NodeLabelsChanged& fact) const {
    Node& node = state.node_ref(fact.node);
    node.labels = fact.labels;
    if (!node.machine.empty()) state.computes_.keep_labels(node.pool, node.machine, fact.labels);
    record(node, "Labelled", beginning(labels_text(fact.labels)));
  }

  void operator()(const AssetRegistered& fact) const {
    const bool foreign = state.owned_names_.registered(version_of_asset(fact), fact.owner,
                                                       fact.project, fact.foreign, state.usage_);
    state.assets_.apply(at, fact, foreign);
  }
  void operator()(const AssetArchived& fact) const { state.assets_.apply(fact); }
  void operator()(const SizeDefined& fact) const { state.sizes_.apply(fact); }
  void operator()(const SizeRemoved& fact) const { state.sizes_.apply(fact); }
  void operator()(const SizeGranted& fact) const { state.sizes_.apply(fact); }

  void use(Node& node, const Part& part, const JobSpec& spec, int by) const {
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
  static Usage usage_of(const Part& part) {
    return {.nodes = 1,
            .cpus = static_cast<std::int64_t>(part.allotment.cpus.size()),
            .gpus = static_cast<std::int64_t>(part.allotment.gpus.size())};
  }
  void free(const JobId& job, const Part& part) const {
    const Job& holder = state.job_ref(job);
    use(state.node_ref(part.node), part, holder.spec, -1);
    state.usage_.add(holder.spec, -usage_of(part));
    state.shares_.hold(at, holder.pool, holder.spec.submitter, part.allotment, -1);
  }

  static void count(Attempt::Tally& tally, const Part& part, int by) {
    if (part.at_least(PartState::prepared)) tally.prepared += by;
    if (part.at_least(PartState::running)) tally.running += by;
    if (part.at_least(PartState::collecting) || part.gone() != nullptr) tally.over += by;
    if (part.ended()) tally.ended += by;
    if (part.failed()) tally.failed += by;
  }
};

void State::apply(Instant at, const Fact& fact) { std::visit(Applier{*this, at}, fact); }

}  // namespace lockstep::launcher
