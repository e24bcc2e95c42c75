#include "tests/sim/oracle.h"
#include "launcher/words/why.h"

#include <algorithm>

namespace lockstep::sim {

using launcher::Attempt;
using launcher::Job;
using launcher::Part;

std::string_view to_string(Ending ending) {
  switch (ending) {
    case Ending::ok: return "ok";
    case Ending::exit_code: return "exit_code";
    case Ending::signal: return "signal";
    case Ending::out_of_memory: return "out_of_memory";
    case Ending::abort: return "abort";
    case Ending::no_finalize: return "no_finalize";
    case Ending::never_connected: return "never_connected";
    case Ending::not_found: return "not_found";
    case Ending::start_failed: return "start_failed";
    case Ending::aftermath: return "aftermath";
    case Ending::killed: return "killed";
  }
  return "killed";
}

// ---- what the world does -----------------------------------------------------------------------

void Oracle::rank_started(const Assignment& assignment, int rank, int node) {
  const AttemptId& attempt = assignment.attempt;
  RankTruth& truth = truth_[attempt][rank];
  if (truth.alive)
    world_.violate("oracle:twice",
                   fmt::format("rank {} of {} runs twice at once: on nodes {} and {}", rank,
                               to_string(attempt), truth.node, node));
  if (++truth.starts > 1)
    world_.violate("oracle:again",
                   fmt::format("rank {} of {} started again", rank, to_string(attempt)));
  truth.alive = truth.ran = true;
  truth.node = node;
  truth.started = world_.now;
  check_fence(attempt, node);
  Live& live = live_[{node, attempt}];
  live.ranks.insert(rank);
  live.cpus = {assignment.allotment.cpus.begin(), assignment.allotment.cpus.end()};
  for (const auto& [place, other] : live_) {
    if (place.first != node || place.second == attempt || other.ranks.empty()) continue;
    for (int cpu : other.cpus)
      if (live.cpus.count(cpu) != 0)
        world_.violate("oracle:overlap",
                       fmt::format("{} and {} run on node {} with cpu {} both", to_string(attempt),
                                   to_string(place.second), node, cpu));
  }
  const Attempt* known = state_.attempt(attempt);
  if (known == nullptr && was_deleted(attempt)) return;
  if (known == nullptr)
    world_.violate("oracle:unknown", to_string(attempt) + " runs but was never placed");
  else if (known->size() > 1 && !known->gang)
    world_.violate("oracle:gang", to_string(attempt) + " runs before its gang was formed");
}

void Oracle::rank_never_ran(const AttemptId& attempt, int rank, int node, Ending ending) {
  RankTruth& truth = truth_[attempt][rank];
  truth.node = node;
  truth.ending = ending;
  truth.code = ending == Ending::not_found ? 127 : 125;
  truth.started = truth.ended = world_.now;
  ++truth.starts;
  failed_.insert(attempt);
}

void Oracle::rank_ended(const AttemptId& attempt, int rank, Ending ending, int code) {
  RankTruth& truth = truth_[attempt][rank];
  if (!truth.alive) return;
  truth.alive = false;
  truth.ending = ending;
  truth.code = code;
  truth.ended = world_.now;
  live_[{truth.node, attempt}].ranks.erase(rank);
  if (ending != Ending::ok && ending != Ending::killed) failed_.insert(attempt);
  const auto asked = asked_.find(attempt.job);
  if (asked != asked_.end() && asked->second.timeout &&
      truth.ended - truth.started > *asked->second.timeout + seconds(10))
    world_.violate("oracle:timeout", fmt::format("rank {} of {} ran long after its time was up",
                                                 rank, to_string(attempt)));
}

void Oracle::strays_changed(const AttemptId& attempt, int node, int strays) {
  live_[{node, attempt}].strays = strays;
}

void Oracle::logs_became_durable(const AttemptId& attempt, NodeId node) {
  if (durable_.insert({attempt, node}).second) durable_since_[{attempt, node}] = polled_;
}

void Oracle::runner_told(const Assignment& assignment, NodeId node) {
  const bool has_table =
      assignment.gang || (assignment.share && assignment.node_rank != 0) || assignment.solo;
  if (assignment.phase == WantedPhase::run && !has_table)
    world_.violate("oracle:gang-table",
                   to_string(assignment.attempt) + " is told to run without its gang's table");
  if (assignment.phase != WantedPhase::stop) return;
  const Part* part = state_.assigned_part(assignment.attempt, node);
  const Attempt* attempt = state_.attempt(assignment.attempt);
  if (part == nullptr || attempt == nullptr || attempt->ended) return;
  if (state_.job(assignment.attempt.job)->cancel_by) return;
  if (attempt->doomed && assignment.grace < attempt->doomed->grace.value_or(Duration::zero()))
    world_.violate("oracle:taken", to_string(assignment.attempt) + " is stopped without grace");
  if (attempt->doomed) return;
  world_.violate("oracle:stop", to_string(assignment.attempt) +
                                    " is stopped on a node although the launcher wants it there");
}

void Oracle::table_used(const Assignment& assignment, const GangTable& table) {
  const Attempt* attempt = state_.attempt(assignment.attempt);
  if (attempt == nullptr) return;  // deleted
  if (!attempt->gang || !(*attempt->gang == table))
    world_.violate("oracle:gang-table",
                   to_string(assignment.attempt) + " uses a table that is not the launcher's");
}

void Oracle::runner_killed(const AttemptId& attempt, WantedPhase told) {
  if (told == WantedPhase::stop) return;
  world_.violate("oracle:kill", "the agent killed the live runner of " + to_string(attempt) +
                                    ", which was not told to stop");
}

std::vector<LogSize> Oracle::logs_on(const AttemptId& attempt, int node) const {
  std::vector<LogSize> logs;
  const auto ranks = truth_.find(attempt);
  if (ranks == truth_.end()) return logs;
  for (const auto& [rank, truth] : ranks->second)
    if (truth.node == node && truth.ran) logs.push_back({rank, 100, 10});
  return logs;
}

bool Oracle::running(const AttemptId& attempt, int node) const {
  const auto it = live_.find({node, attempt});
  return it != live_.end() && (!it->second.ranks.empty() || it->second.strays > 0);
}

bool Oracle::anything_runs(int node) const {
  return std::any_of(live_.begin(), live_.end(), [&](const auto& item) {
    return item.first.first == node && (!item.second.ranks.empty() || item.second.strays > 0);
  });
}

int Oracle::node_index(NodeId id) const {
  const auto it = indexes_.find(id);
  return it == indexes_.end() ? -1 : it->second;
}

// ---- what the launcher hears -------------------------------------------------------------------

void Oracle::launcher_started() {
  launcher_since_ = world_.now;
  last_poll_.reset();
  started_since_ = polled_;
  restarted_ = !state_.nodes().empty();
  for (auto& [node, heard] : heard_) {
    heard.polled = polled_;
    heard.since_start = false;
    heard.low_disk = heard.low_disk_before =
        false;  // the new one learns it with the first heartbeat
  }
}

// Time counts only while the launcher polls: of a stall of more than two beats one counts.
void Oracle::launcher_polled(Instant at, bool stalled_before) {
  if (last_poll_) {
    const Duration gap = at - *last_poll_;
    const bool stall = stalled_before && gap > milliseconds(2500);
    polled_ += stall ? Duration(seconds(1)) : gap;
  }
  last_poll_ = at;
  for (auto& [node, heard] : heard_) heard.low_disk_before = heard.low_disk_lately = heard.low_disk;
}

void Oracle::launcher_heard(NodeId node) {
  Heard& heard = heard_[node];
  if (!heard.since_start || polled_ - heard.polled >= kHeardLately) heard.lately_from = world_.now;
  heard.polled = polled_;
  heard.since_start = true;
}

void Oracle::liveness_changed(NodeId node, Liveness now) {
  if (calm_ && now != Liveness::alive)
    world_.violate("oracle:false-unknown",
                   fmt::format("n{} became {} in a calm world", node_index(node), to_string(now)));
}

// ---- what the launcher commits -----------------------------------------------------------------

void Oracle::committing(const launcher::StampedFact& fact) {
  decided_ = fact.at;
  std::visit([this](const auto& f) { judge(f); }, fact.fact);
}

void Oracle::committed(const launcher::StampedFact& fact) {
  if (const auto* changed = std::get_if<launcher::PartChanged>(&fact.fact))
    if (changed->report.state == PartState::finished)
      finished_at_.emplace(std::pair(changed->attempt, changed->node), fact.at);
  if (const auto* ended = std::get_if<launcher::AttemptEnded>(&fact.fact))
    ended_since_[ended->attempt] = polled_;
  if (const auto* started = std::get_if<launcher::NodeSessionStarted>(&fact.fact))
    heard_[started->node].new_boot = false;
  if (const auto* started = std::get_if<launcher::NodeSessionStarted>(&fact.fact))
    noticed_.erase(started->node);
}

bool Oracle::asks_for_lab(const JobId& job) const {
  const auto asked = asked_.find(job);
  return has_lab_ && asked != asked_.end() && asked->second.compute == kLab;
}

void Oracle::check_pool(const launcher::AttemptPlaced& fact) {
  if (!has_lab_) return;
  for (const auto& part : fact.parts)
    if (is_of_lab(node_index(part.node)) != asks_for_lab(fact.attempt.job))
      world_.violate("oracle:pool",
                     fmt::format("{} is placed on node {}, which is not of its target",
                                 to_string(fact.attempt), part.node.value));
}

void Oracle::judge(const launcher::AttemptPlaced& fact) {
  const Job& job = *state_.job(fact.attempt.job);
  if (job.cancel_by || job.finish())
    world_.violate("oracle:placed", to_string(fact.attempt) + " was placed after its job's end");
  const Attempt* last = job.last_attempt();
  if (last != nullptr && !last->ended)
    world_.violate("oracle:placed", to_string(fact.attempt) + " was placed beside a live attempt");
  if (job.waiting().not_before > decided_)
    world_.violate("oracle:backoff", to_string(fact.attempt) + " was placed before its time");
  check_source(job, fact);
  check_quotas(job, fact);
  check_pool(fact);
  check_parent(fact);
  check_order(job, fact);
  check_after(job, fact);
  check_backfill(job, fact);
  record_platform(fact);
  std::set<NodeId> nodes;
  for (const auto& part : fact.parts) {
    if (!nodes.insert(part.node).second)
      world_.violate("oracle:placed", to_string(fact.attempt) + " has two parts on one node");
    const ResourceRequest& asked = job.spec.resources;
    if (part.whole != (asked.isolated || (!asked.cpus && !asked.memory && !asked.gpus)))
      world_.violate("oracle:placed", to_string(fact.attempt) + " says wrongly what it takes");
    check_free(part, fact.attempt);
  }
}

// UNKNOWN after 3 s and a poll; a short stall, which counts here, may not count there.
constexpr Duration kSilentAtMost = milliseconds(6500);

void Oracle::check_free(const launcher::PartPlacement& placement, const AttemptId& attempt) {
  const launcher::Node& node = *state_.node(placement.node);
  if (node.drain || node.lost)
    world_.violate("oracle:placed", to_string(attempt) + " was placed on a node that is " +
                                        (node.drain ? "draining" : "lost"));
  if (needs_approval_ && approved_.count(node.id) == 0)
    world_.violate("oracle:placed", to_string(attempt) + " was placed on node " + node.name +
                                        ", which nobody has approved");
  const Heard& heard = heard_[node.id];
  if (!heard.since_start || polled_ - heard.polled > kSilentAtMost)
    world_.violate("oracle:placed", fmt::format("{} was placed on node {}, which is silent for {}",
                                                to_string(attempt), node.name,
                                                format_duration(polled_ - heard.polled)));
  if (heard.low_disk_before && heard.low_disk)
    world_.violate("oracle:placed", fmt::format("{} was placed on node {}, whose disk is low",
                                                to_string(attempt), node.name));
  const auto noticed = noticed_.find(node.id);
  if (noticed != noticed_.end() && noticed->second < decided_)
    world_.violate("oracle:placed", fmt::format("{} was placed on node {}, which is taken away",
                                                to_string(attempt), node.name));
  for (int cpu : placement.allotment.cpus)
    if (cpu < 0 || cpu >= 4)
      world_.violate("oracle:hardware", fmt::format("{} holds cpu {}, which node {} has not",
                                                    to_string(attempt), cpu, node.name));
  const auto asks_isolation = [&](const JobId& job) {
    const auto asked = asked_.find(job);
    return asked != asked_.end() && asked->second.resources.isolated;
  };
  const bool isolated = asks_isolation(attempt.job);
  if (isolated) world_.count("launcher:isolated");
  for (const auto& [id, rank] : node.parts) {
    const Part& other = state_.attempt(id)->parts[static_cast<std::size_t>(rank)];
    if (other.ended()) continue;
    if (isolated || asks_isolation(id.job))
      world_.violate("oracle:isolated", fmt::format("{} is beside {} on node {}",
                                                    to_string(attempt), to_string(id), node.name));
    for (int cpu : other.allotment.cpus)
      if (std::count(placement.allotment.cpus.begin(), placement.allotment.cpus.end(), cpu) != 0)
        world_.violate("oracle:allotment",
                       fmt::format("{} and {} both hold cpu {} of node {}", to_string(attempt),
                                   to_string(id), cpu, node.name));
  }
}

void Oracle::judge(const launcher::GangFormed& fact) {
  const Attempt& attempt = *state_.attempt(fact.attempt);
  if (attempt.doomed || attempt.ended)
    world_.violate("oracle:gang", to_string(fact.attempt) + " was started after it was doomed");
  if (fact.rows && *fact.rows != digest_of(fact.attempt, fact.gang))
    world_.violate("oracle:gang-table", to_string(fact.attempt) + " names another table's digest");
}

void Oracle::launcher_lost(const launcher::NodeLost& fact) {
  given_up_[fact.node] = world_.now;
  const Heard& heard = heard_[fact.node];
  if (heard.new_boot) return;
  if (calm_)
    world_.violate("oracle:false-lost",
                   "a healthy node was declared lost: " + words::text_of(fact.why));
  if (restarted_ && world_.now - launcher_since_ < reconnect_grace_)
    world_.violate("oracle:grace", "a node was declared lost before reconnect_grace was over");
  if (polled_ - heard.polled <
      lost_after_ - seconds(1))  // how much of a stall counts is its affair
    world_.violate("oracle:false-lost",
                   fmt::format("a node was declared lost after {} of the launcher's own time",
                               format_duration(polled_ - heard.polled)));
}

bool Oracle::was_lost(const AttemptId& attempt, NodeId node) const {
  const Attempt* const known = state_.attempt(attempt);
  if (known == nullptr) return true;  // it was deleted since
  return std::any_of(known->parts.begin(), known->parts.end(), [&](const Part& part) {
    return part.node == node && part.gone() && part.gone()->cause == Cause::node_lost;
  });
}

void Oracle::judge(const launcher::JobRequeued& fact) {
  const Job& job = *state_.job(fact.job);
  if (job.cancel_by || job.finish())
    world_.violate("oracle:requeued", fact.job.value + " was tried again after it was canceled");
  if (fact.charged && job.charged_retries >= job.spec.retry.max)
    world_.violate("oracle:requeued",
                   fact.job.value + " was tried more often than retry.max allows");
  check_backoff(job, fact);
  check_preemption(job, fact);
  const ExitReport& report = *job.attempts.back().ended;
  if (calm_ && is_infrastructure(report.cause) && !nobody_could_solve(job, report))
    world_.violate(
        "oracle:requeued",
        fact.job.value + " was tried again though nothing happened: " + words::text_of(fact.why));
}

void Oracle::judge(const launcher::PartReleased& fact) {
  const int node = node_index(fact.node);
  if (cloned_.count(node) != 0) return;
  if (running(fact.attempt, node))
    world_.violate("oracle:released", fmt::format("{} still runs on node {} but was released",
                                                  to_string(fact.attempt), node));
  if (logs_durable(fact.attempt, fact.node) && ended_since_.count(fact.attempt) != 0) {
    const Duration since = std::max(
        {durable_since_[{fact.attempt, fact.node}], ended_since_[fact.attempt], started_since_});
    if (polled_ - since > seconds(10))
      world_.violate("oracle:logs-late",
                     to_string(fact.attempt) + " was released long after its logs were durable");
  }
  if (logs_durable(fact.attempt, fact.node) || logs_on(fact.attempt, node).empty()) return;
  if (files_lost_.count(node) != 0) return;
  const auto given_up = given_up_.find(fact.node);
  if (given_up != given_up_.end() && given_up->second == decided_) return;
  if (state_.node(fact.node)->lost) return;  // before the attempt ended
  if (gives_up(fact.node)) return;           // nothing is awaited of it
  if (judge_given_up(fact)) return;
  const auto finished = finished_at_.find({fact.attempt, fact.node});
  if (finished != finished_at_.end() && decided_ - finished->second < logs_timeout_)
    world_.violate("oracle:logs",
                   to_string(fact.attempt) + " was released before its logs were durable");
}

void Oracle::judge(const launcher::AttemptEnded& fact) {
  const Attempt& attempt = *state_.attempt(fact.attempt);
  for (const Part& part : attempt.parts) {
    if (part.gone() && part.gone()->cause == Cause::node_lost) continue;  // nobody can know
    if (cloned_.count(node_index(part.node)) != 0) continue;  // the clone speaks for another
    if (running(fact.attempt, node_index(part.node)))
      world_.violate("oracle:ended", fmt::format("{} ended but still runs on node {}",
                                                 to_string(fact.attempt), node_index(part.node)));
    if (!part.gone() && !part.finished())
      world_.violate("oracle:ended", to_string(fact.attempt) + " ended while a part had not");
  }
}

bool Oracle::gives_up(NodeId node) const {
  return revoking_.count(node) != 0 || detaching_.count(node_index(node)) != 0;
}

void Oracle::judge(const launcher::PartGone& fact) {
  if (!fact.revoked) return;
  with_revoked_.insert(fact.attempt);
  if (!gives_up(fact.node))
    world_.violate("oracle:revoked", fmt::format("node {} was revoked, but nobody asked for it",
                                                 node_index(fact.node)));
}

void Oracle::judge(const launcher::JobDeleted& fact) {
  const Job* job = state_.job(fact.job);
  if (job == nullptr || !job->finish())
    return world_.violate("oracle:deleted", fact.job.value + " was deleted before its end");
  finished_.erase(fact.job);
  const auto child = children_.find(fact.job);
  const bool with_parent = child != children_.end() && deleted_.count(child->second.job) != 0;
  if (!fact.by.empty() && deleted_.count(fact.job) == 0 && !with_parent)
    world_.violate("oracle:deleted", fact.job.value + " was deleted, but nobody asked for it");
  const bool old = kept_for_ > Duration(0) && decided_ - job->finish()->at >= kept_for_;
  if (fact.by.empty() && !old)
    world_.violate("oracle:deleted", fact.job.value + " was not kept as long as it should be");
  for (const Attempt& attempt : job->attempts)
    if (attempt.id.incarnation >= fact.incarnation)
      world_.violate("oracle:deleted", fact.job.value + " may have its incarnations again");
}

void Oracle::judge(const launcher::JobSubmitted& fact) {
  const auto before = state_.deleted().last().find(fact.job);
  if (before != state_.deleted().last().end() && fact.incarnation < before->second.incarnation)
    world_.violate("oracle:submitted", fact.job.value + " has the incarnation of a job before it");
  check_submission(fact);
  check_step(fact);
  check_child(fact);
}

void Oracle::judge(const launcher::JobFinished& fact) {
  const Job& job = *state_.job(fact.job);
  if (!finished_.insert(fact.job).second)
    world_.violate("oracle:final", fact.job.value + " finished twice");
  ends_[job.order] = fact.status;
  if (job.steps) return check_pipeline_end(job, fact);
  switch (fact.status) {
    case JobStatus::completed: return check_completed(job);
    case JobStatus::failed: check_given_up(job, fact.report); return check_blame(job, fact.report);
    case JobStatus::canceled:
      if (!is_canceled(fact.job) && !can_never_run(fact.job) && !is_stopped_step(job))
        world_.violate("oracle:canceled", fact.job.value + " is Canceled but nobody canceled it");
      return;
    case JobStatus::queued:
    case JobStatus::preparing:
    case JobStatus::starting:
    case JobStatus::running:
    case JobStatus::finalizing:
    case JobStatus::cancel_requested: break;
  }
  world_.violate("oracle:final", fact.job.value + " finished with a status that is not final");
}

void Oracle::check_completed(const Job& job) {
  const AttemptId last = job.attempts.empty() ? AttemptId{job.id} : job.attempts.back().id;
  if (with_revoked_.count(last) != 0)
    return world_.violate("oracle:revoked",
                          to_string(last) + " is Completed by the word of a revoked node");
  const auto& ranks = truth_[last];
  for (int rank = 0; rank < job.spec.world_size(); ++rank) {
    const auto it = ranks.find(rank);
    if (it == ranks.end())
      return world_.violate("oracle:completed", fmt::format("{} is Completed but rank {} never ran",
                                                            to_string(last), rank));
    const RankTruth& truth = it->second;
    if (truth.alive || truth.starts != 1 || truth.ending != Ending::ok)
      return world_.violate(
          "oracle:completed",
          fmt::format("{} is Completed but rank {} {} ({}, started {} times)", to_string(last),
                      rank, truth.alive ? "lives" : "ended otherwise", to_string(truth.ending),
                      truth.starts));
  }
}

}  // namespace lockstep::sim
