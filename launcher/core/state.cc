#include "launcher/core/state.h"

#include <algorithm>

#include "common/base/check.h"
#include "launcher/core/placement.h"

namespace lockstep::launcher {

namespace {

// "./outputs: 3 files, 8.4 MiB; ./logs: 1 file, 12 B".
std::string in_words(const std::vector<CollectedOutput>& outputs) {
  std::string text;
  for (const CollectedOutput& output : outputs) {
    if (!text.empty()) text += "; ";
    text += describe(output.kind, output.name) + ": ";
    text += output.tree ? std::to_string(output.files) +
                              (output.files == 1 ? " file, " : " files, ") + to_string(output.size)
                        : "not collected";
    if (!output.problems.empty())
      text += ", " + std::to_string(output.problems.size()) + " left out";
  }
  return text;
}

}  // namespace

bool Part::failed() const {
  if (finished()) {
    if (!report->exit || report->exit->cause != Cause::completed) return true;
    const auto& ranks = report->exit->ranks;
    return std::any_of(ranks.begin(), ranks.end(),
                       [](const RankExit& rank) { return rank.cause != Cause::completed; });
  }
  return gone.has_value();
}

bool Job::logs_settled() const {
  return std::all_of(attempts.begin(), attempts.end(),
                     [](const Attempt& attempt) { return attempt.tally.assigned == 0; });
}

JobSize size_of(const Job& job) {
  JobSize size;
  for (const Attempt& attempt : job.attempts) {
    for (const Part& part : attempt.parts) {
      if (!part.finished()) continue;
      if (part.report->exit)
        for (const LogSize& log : part.report->exit->logs)
          size.logs.count += log.stdout_bytes + log.stderr_bytes;
      for (const CollectedOutput& output : part.report->outputs)
        size.outputs.count += output.size.count;
    }
  }
  return size;
}

JobStatus Job::status() const {
  if (finish) return finish->status;
  if (cancel_by) return JobStatus::cancel_requested;
  switch (phase) {
    case Phase::waiting: return JobStatus::queued;
    case Phase::ended:
    case Phase::final: return JobStatus::finalizing;
    case Phase::placed: break;
  }
  const Attempt& attempt = attempts.back();
  const Attempt::Tally& tally = attempt.tally;
  if (tally.over == attempt.size()) return JobStatus::finalizing;
  if (tally.running == attempt.size()) return JobStatus::running;
  if (attempt.gang || tally.prepared == attempt.size()) return JobStatus::starting;
  return JobStatus::preparing;
}

const Job* State::job(const JobId& id) const {
  const auto it = jobs_.find(id);
  return it == jobs_.end() ? nullptr : &it->second;
}

const Attempt* State::attempt(const AttemptId& id) const {
  const Job* job = this->job(id.job);
  if (job == nullptr || id.number == 0 || id.number > job->attempts.size()) return nullptr;
  const Attempt& attempt = job->attempts[id.number - 1];
  return attempt.id.era == id.era ? &attempt : nullptr;
}

const Node* State::node(NodeId id) const {
  const auto it = nodes_.find(id);
  return it == nodes_.end() ? nullptr : &it->second;
}

const Node* State::node_with_key(const PublicKey& key) const {
  const auto it = keys_.find(key);
  return it == keys_.end() ? nullptr : node(it->second);
}

const Node* State::node_called(const std::string& name_or_id) const {
  const auto it = names_.find(name_or_id);
  if (it != names_.end()) return node(it->second);
  const bool digits = !name_or_id.empty() && name_or_id.size() < 19 &&
                      name_or_id.find_first_not_of("0123456789") == std::string::npos;
  return digits ? node(NodeId(std::stoull(name_or_id))) : nullptr;
}

const Job* State::job_of_submission(const std::string& submission) const {
  const auto it = submissions_.find(submission);
  return it == submissions_.end() ? nullptr : job(it->second);
}

const JobId* State::deleted_submission(const std::string& submission) const {
  const auto it = deleted_submissions_.find(submission);
  return it == deleted_submissions_.end() ? nullptr : &it->second;
}

const Part* State::assigned_part(const AttemptId& id, NodeId node) const {
  const Node* holder = this->node(node);
  if (holder == nullptr) return nullptr;
  const auto it = holder->parts.find(id);
  if (it == holder->parts.end()) return nullptr;
  return &attempt(id)->parts[static_cast<std::size_t>(it->second)];
}

const RemovedNode* State::removed_with_key(const PublicKey& key) const {
  const auto it = revoked_.find(key);
  return it == revoked_.end() ? nullptr : &removed_.at(it->second);
}

std::string State::node_name(NodeId id) const {
  if (const Node* node = this->node(id)) return node->name;
  const auto removed = removed_.find(id);
  return removed != removed_.end() ? removed->second.name : "node " + std::to_string(id.value);
}

Job& State::job_ref(const JobId& id) {
  const auto it = jobs_.find(id);
  CHECK(it != jobs_.end(), "a fact speaks of a job that was never submitted");
  return it->second;
}

Attempt& State::attempt_ref(const AttemptId& id) {
  Job& job = job_ref(id.job);
  CHECK(id.number >= 1 && id.number <= job.attempts.size() &&
            job.attempts[id.number - 1].id.era == id.era,
        "a fact speaks of an attempt that was never placed");
  return job.attempts[id.number - 1];
}

Node& State::node_ref(NodeId id) {
  const auto it = nodes_.find(id);
  CHECK(it != nodes_.end(), "a fact speaks of a node that never joined");
  return it->second;
}

Part& State::part_ref(Attempt& attempt, NodeId node) {
  const Node& holder = node_ref(node);
  const auto index = holder.parts.find(attempt.id);
  if (index != holder.parts.end()) return attempt.parts[static_cast<std::size_t>(index->second)];
  const auto it = std::find_if(attempt.parts.begin(), attempt.parts.end(),
                               [&](const Part& part) { return part.node == node; });
  CHECK(it != attempt.parts.end(), "a fact speaks of a part on a node outside the attempt");
  return *it;
}

void State::touch_nodes(const Attempt& attempt) {
  for (const Part& part : attempt.parts)
    if (part.assigned()) ++node_ref(part.node).revision;
}

// To be called when `part` has just stopped being assigned.
void State::unassign(Attempt& attempt, Part& part) {
  Node& node = node_ref(part.node);
  if (node.parts.erase(attempt.id) == 0) return;
  ++node.revision;
  --attempt.tally.assigned;
}

// A name deleted so long ago that it is forgotten is not told from a new one: from then on all
// attempts have an era later than any that it had.
void State::remember_deleted(const JobDeleted& fact) {
  const auto forget = [this](std::map<JobId, DeletedJob>::iterator it) {
    deleted_submissions_.erase(it->second.submission);
    deleted_.erase(it);
  };
  if (const auto before = deleted_.find(fact.job); before != deleted_.end()) {
    forget(before);
    deletions_.erase(std::find(deletions_.begin(), deletions_.end(), fact.job));
  }
  deleted_[fact.job] = DeletedJob{fact.submission, fact.era};
  deletions_.push_back(fact.job);
  if (!fact.submission.empty()) deleted_submissions_[fact.submission] = fact.job;
  if (deletions_.size() <= kMaxDeletedJobs) return;
  const auto oldest = deleted_.find(deletions_.front());
  era_ = std::max(era_, oldest->second.era);
  forget(oldest);
  deletions_.pop_front();
}

void State::unfence(Part& part, const AttemptId& attempt) {
  if (!part.fenced()) return;
  part.gone->fenced_until = {};
  const auto there = fenced_.find(part.node);
  if (there == fenced_.end()) return;
  there->second.erase(attempt);
  if (there->second.empty()) fenced_.erase(there);
}

// One overload per fact: the whole transition table of the launcher.
struct State::Applier {
  State& state;
  Instant at;

  void note(Job& job, Event::Kind kind, const AttemptId& attempt = {}, NodeId node = {},
            std::string text = "") const {
    job.events.add({at, kind, attempt.number, node, std::move(text)});
  }
  // What a part's news means for the whole attempt. `before`: its tally until now.
  void note_part(const PartChanged& fact, const Attempt& attempt,
                 const Attempt::Tally& before) const {
    Job& job = state.job_ref(fact.attempt.job);
    const auto crossed = [&](int Attempt::Tally::*count) {
      return before.*count < attempt.size() && attempt.tally.*count == attempt.size();
    };
    const bool first = job.events.events.back().kind == Event::Kind::placed;
    if (first && fact.report.state == PartState::staging)
      note(job, Event::Kind::preparing, fact.attempt, fact.node);
    if (crossed(&Attempt::Tally::running) && fact.report.state == PartState::running)
      note(job, Event::Kind::running, fact.attempt);
    else if (crossed(&Attempt::Tally::prepared) && fact.report.state == PartState::prepared)
      note(job, Event::Kind::prepared, fact.attempt);
    else if (crossed(&Attempt::Tally::over) && fact.report.state == PartState::collecting)
      note(job, Event::Kind::ranks_ended, fact.attempt);
    if (fact.report.state == PartState::finished && !fact.report.outputs.empty())
      note(job, Event::Kind::collected, fact.attempt, fact.node, in_words(fact.report.outputs));
  }

  // What is remembered of a part's end beside its report.
  void note_end(const PartChanged& fact, Part& part) const {
    for (const CollectedOutput& output : fact.report.outputs)
      if (output.kind == OutputKind::checkpoint && output.tree)
        part.saved = Part::Saved{output, at};
    if (!fact.report.exit || fact.report.exit->cause != Cause::account_missing) return;
    const Job& job = state.job_ref(fact.attempt.job);
    state.node_ref(fact.node).lacks[{job.spec.run_as, job.id}] = fact.report.exit->message;
  }

  void operator()(const TokenCreated& fact) const {
    state.tokens_.emplace(fact.secret_hash, Token{fact.expires, fact.uses, 0});
  }

  void operator()(const TokenForgotten& fact) const { state.tokens_.erase(fact.secret_hash); }

  void operator()(const NodeRevised& fact) const {
    state.node_ref(fact.node).revision = fact.revision;
  }

  // A node may have applied revisions that the backup knows nothing of; eras are milliseconds, so
  // that they are far above any count.
  void operator()(const EraBegan& fact) const {
    state.era_ = std::max(state.era_, fact.era);
    if (!fact.restored) return;
    state.restored_at_ = at;
    for (auto& [id, node] : state.nodes_) node.revision = std::max(node.revision, fact.era);
  }

  void operator()(const NodeJoined& fact) const {
    Node node;
    node.id = fact.node;
    node.name = fact.name;
    node.key = fact.key;
    node.joined = at;
    state.keys_[fact.key] = fact.node;
    state.names_[fact.name] = fact.node;
    state.next_node_ = std::max(state.next_node_, fact.node.value + 1);
    const auto token = state.tokens_.find(fact.token);
    if (token != state.tokens_.end()) ++token->second.used;
    state.nodes_.emplace(fact.node, std::move(node));
  }

  void operator()(const NodeSessionStarted& fact) const {
    Node& node = state.node_ref(fact.node);
    if (node.session && *node.session != fact.session) {
      node.past_sessions.push_back(*node.session);
      if (node.past_sessions.size() > kMaxPastSessions)
        node.past_sessions.erase(node.past_sessions.begin());
    }
    node.session = fact.session;
    node.boot = fact.boot;
    node.inventory = fact.inventory;
    node.lost.reset();
    node.lacks.clear();
  }

  void operator()(const NodeLost& fact) const { state.node_ref(fact.node).lost = fact.reason; }

  void operator()(const NodeDrainChanged& fact) const {
    Node& node = state.node_ref(fact.node);
    node.drain.reset();
    if (fact.draining) node.drain = fact.reason;
  }

  void operator()(const NodeRemoved& fact) const {
    const Node& node = state.node_ref(fact.node);
    CHECK(node.parts.empty(), "a node is removed only when it holds nothing");
    state.removed_[fact.node] = RemovedNode{node.name, node.key, fact.by, at};
    state.revoked_[node.key] = fact.node;
    state.keys_.erase(node.key);
    state.names_.erase(node.name);
    state.fenced_.erase(fact.node);
    state.nodes_.erase(fact.node);
  }

  void operator()(const JobSubmitted& fact) const {
    Job job;
    job.id = fact.job;
    job.order = fact.order;
    if (job.order == 0)
      job.order = state.submitted_.empty() ? 1 : state.submitted_.rbegin()->first + 1;
    job.era = fact.era;
    job.submission = fact.submission;
    job.spec = fact.spec;
    job.submitted = at;
    state.submitted_.emplace(job.order, job.id);
    state.queue_.emplace(job.order, job.id);
    state.unfinished_.insert(job.id);
    note(job, Event::Kind::submitted);
    if (!fact.submission.empty()) state.submissions_.emplace(fact.submission, job.id);
    state.jobs_.emplace(fact.job, std::move(job));
  }

  void operator()(const CancelRequested& fact) const {
    Job& job = state.job_ref(fact.job);
    job.cancel_by = fact.by;
    note(job, Event::Kind::cancel_requested);
    state.queue_.erase(job.order);
    if (job.phase == Job::Phase::placed) state.touch_nodes(job.attempts.back());
  }

  void operator()(const AttemptPlaced& fact) const {
    Job& job = state.job_ref(fact.attempt.job);
    CHECK(fact.attempt.number == job.attempts.size() + 1, "attempts are numbered 1, 2, …");
    Attempt attempt;
    attempt.id = fact.attempt;
    attempt.placed = at;
    attempt.why = fact.why;
    attempt.checkpoint = fact.checkpoint;
    attempt.tally.assigned = static_cast<int>(fact.parts.size());
    for (const PartPlacement& placement : fact.parts) {
      Node& node = state.node_ref(placement.node);
      node.parts.emplace(fact.attempt, attempt.size());
      use(node, job, placement.allotment, +1);
      ++node.revision;
      Part part;
      part.node = placement.node;
      part.allotment = placement.allotment;
      part.revision = placement.revision == 0 ? node.revision : placement.revision;
      attempt.parts.push_back(std::move(part));
    }
    job.attempts.push_back(std::move(attempt));
    note(job, Event::Kind::placed, fact.attempt);
    job.phase = Job::Phase::placed;
    state.queue_.erase(job.order);
  }

  void operator()(const GangFormed& fact) const {
    Attempt& attempt = state.attempt_ref(fact.attempt);
    attempt.gang = fact.gang;
    note(state.job_ref(fact.attempt.job), Event::Kind::gang_formed, fact.attempt);
    state.touch_nodes(attempt);
  }

  void operator()(const PartChanged& fact) const {
    Attempt& attempt = state.attempt_ref(fact.attempt);
    Part& part = state.part_ref(attempt, fact.node);
    const Attempt::Tally before = attempt.tally;
    count(attempt.tally, part, -1);
    std::optional<CollectedOutput> restored = fact.report.restored;
    if (!restored && part.report) restored = part.report->restored;
    part.report = fact.report;
    part.report->restored = std::move(restored);
    count(attempt.tally, part, +1);
    if (attempt.tally.ended > before.ended) free(fact.attempt, part);
    if (part.finished()) note_end(fact, part);
    note_part(fact, attempt, before);
  }

  void operator()(const PartGone& fact) const {
    Attempt& attempt = state.attempt_ref(fact.attempt);
    Part& part = state.part_ref(attempt, fact.node);
    if (!part.ended()) free(fact.attempt, part);
    count(attempt.tally, part, -1);
    part.gone = Part::Gone{fact.cause, fact.why, at, fact.fenced_until};
    if (part.fenced()) state.fenced_[fact.node].insert(fact.attempt);
    count(attempt.tally, part, +1);
    state.unassign(attempt, part);
    note(state.job_ref(fact.attempt.job), Event::Kind::part_gone, fact.attempt, fact.node,
         fact.why);
  }

  void operator()(const AttemptDoomed& fact) const {
    Attempt& attempt = state.attempt_ref(fact.attempt);
    attempt.doomed = Attempt::Doom{fact.report, fact.reason};
    note(state.job_ref(fact.attempt.job), Event::Kind::failed, fact.attempt, fact.report.node);
    state.touch_nodes(attempt);
  }

  void operator()(const AttemptEnded& fact) const {
    Attempt& attempt = state.attempt_ref(fact.attempt);
    attempt.ended = fact.report;
    attempt.ended_at = at;
    Job& job = state.job_ref(fact.attempt.job);
    job.phase = Job::Phase::ended;
    note(job, Event::Kind::ended, fact.attempt);
  }

  void operator()(const JobRequeued& fact) const {
    Job& job = state.job_ref(fact.job);
    job.phase = Job::Phase::waiting;
    job.requeued_because = fact.why;
    note(job, Event::Kind::requeued, fact.after, {}, fact.why);
    job.not_before = fact.not_before;
    state.attempt_ref(fact.after).retried = fact.why;
    ++(fact.charged ? job.charged_retries : job.uncharged_retries);
    if (!job.cancel_by) state.queue_.emplace(job.order, job.id);
  }

  void operator()(const PartReleased& fact) const {
    Attempt& attempt = state.attempt_ref(fact.attempt);
    Part& part = state.part_ref(attempt, fact.node);
    part.released = true;
    part.logs_lost = fact.logs_lost;
    state.unassign(attempt, part);
  }

  void operator()(const CheckpointSaved& fact) const {
    Part& part = state.part_ref(state.attempt_ref(fact.attempt), fact.node);
    part.saved = Part::Saved{fact.checkpoint, at};
  }

  void operator()(const FenceLifted& fact) const {
    state.unfence(state.part_ref(state.attempt_ref(fact.attempt), fact.node), fact.attempt);
  }

  void operator()(const JobFinished& fact) const {
    Job& job = state.job_ref(fact.job);
    for (Attempt& attempt : job.attempts)  // nobody waits for them any more
      for (Part& part : attempt.parts) state.unfence(part, attempt.id);
    job.phase = Job::Phase::final;
    job.finish = Job::Finish{fact.status, fact.report, at};
    note(job, Event::Kind::finished);
    state.queue_.erase(job.order);
    state.unfinished_.erase(job.id);
    state.ended_.emplace(std::pair(at, job.order), job.id);
    const JobSize size = size_of(job);
    state.ended_size_.logs.count += size.logs.count;
    state.ended_size_.outputs.count += size.outputs.count;
  }

  // Of one that is not there, compaction has dropped the rest.
  void operator()(const JobDeleted& fact) const {
    const auto it = state.jobs_.find(fact.job);
    if (it != state.jobs_.end()) {
      const Job& job = it->second;
      CHECK(job.finish.has_value(), "a job is deleted only when it is final");
      const JobSize size = size_of(job);
      state.ended_size_.logs.count -= size.logs.count;
      state.ended_size_.outputs.count -= size.outputs.count;
      state.ended_.erase(std::pair(job.finish->at, job.order));
      state.submitted_.erase(job.order);
      state.submissions_.erase(job.submission);
      for (auto& [id, node] : state.nodes_) node.lacks.erase({job.spec.run_as, job.id});
      state.jobs_.erase(it);
    }
    state.remember_deleted(fact);
  }

  static void use(Node& node, const Job& job, const Allotment& allotment, int by) {
    node.use.parts += by;
    if (shape_of(job.spec).whole_node()) node.use.wholes += by;
    node.use.cpus += by * static_cast<int>(allotment.cpus.size());
    node.use.gpus += by * static_cast<int>(allotment.gpus.size());
    node.use.memory.count += static_cast<std::uint64_t>(by) * allotment.memory.count;
  }

  void free(const AttemptId& attempt, const Part& part) const {
    use(state.node_ref(part.node), state.job_ref(attempt.job), part.allotment, -1);
  }

  static void count(Attempt::Tally& tally, const Part& part, int by) {
    if (part.at_least(PartState::prepared)) tally.prepared += by;
    if (part.at_least(PartState::running)) tally.running += by;
    if (part.at_least(PartState::collecting) || part.gone) tally.over += by;
    if (part.ended()) tally.ended += by;
    if (part.failed()) tally.failed += by;
  }
};

void State::apply(Instant at, const Fact& fact) { std::visit(Applier{*this, at}, fact); }

}  // namespace lockstep::launcher
