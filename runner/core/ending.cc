// The end of the ranks: what ends them, which rank failed first, and how the runner stops the
// others.

#include <algorithm>

#include "common/base/utf8.h"
#include "runner/core/impl.h"
#include "runner/core/lost_peer.h"

namespace lockstep::runner {

using State = RankRecord::State;
using Client = RankRecord::Client;

// ---- what ends it ------------------------------------------------------------------------------

void Core::Impl::stop() {
  if (over()) return;
  if (!failure && !stopped) {
    stopped = StoppedByOrder{assignment.stop_reason};
    RankExit first;
    first.cause = Cause::canceled;
    first.rank = assignment.first_rank();
    first.time = now;
    tell_gang(first, stopped);
  }
  terminate(assignment.grace);
}

// The job's command ran on the head only, so a worker is ended without an outcome of its own.
void Core::Impl::dismiss() {
  if (over() || terminating) return;
  dismissed = true;
  terminate(assignment.grace);
}

namespace {

// Whether a rank's own end caused the gang's end. A node also ends the gang on a time-out, an order
// to stop, or an error that no rank caused.
bool ended_by_itself(const RankExit& first) {
  return first.started && (first.cause == Cause::exit_code || first.cause == Cause::signal ||
                           first.cause == Cause::out_of_memory || first.cause == Cause::mpi_abort ||
                           first.cause == Cause::exit_without_finalize);
}

}  // namespace

void Core::Impl::on(const AbortFromPeer& input) {
  if (ended_by_itself(input.abort.first))
    peers_ends.emplace(input.abort.node_rank, input.abort.first);
  if (over() || terminating || phase == Phase::fresh) return;
  stopped = PeerEndedGang{input.abort.node_rank, input.abort.why};
  aborted_by = PeerAbort{input.abort.node_rank, input.abort.first, input.abort.why};
  terminate(assignment.grace);
}

void Core::Impl::on(const MasterPortTaken&) {
  fail_without_rank(Cause::port_taken, PortWasTaken{endpoint.master_port});
}

void Core::Impl::on(const SetupFailed& input) { fail_without_rank(input.cause, input.why); }

void Core::Impl::on(const GangHangs& input) {
  if (phase != Phase::running || terminating) return;
  hang = input.found;
  fail_without_rank(Cause::hang, gang_hung(input.found));
}

void Core::Impl::on(const SpawnLost& input) {
  if (over() || phase == Phase::fresh) return;
  const bool ran = ranks.any_started();
  for (auto& record : ranks.all()) {
    if (!record.active()) continue;
    if (record.state == State::live) record.exit.signal = SIGKILL;
    record.exit.cause = Cause::runner_lost;
    record.exit.terminated_by_us = terminating.has_value();
    record.exit.time = now;
    record.state = State::ended;
  }
  fail_without_rank(ran ? Cause::runner_lost : Cause::start_failed, RanksDiedWithSpawn{input.end});
}

void Core::Impl::on(const BootstrapLost& input) {
  if (!ranks.any_needs_server()) return;
  fail_without_rank(ranks.any_started() ? Cause::runner_lost : Cause::start_failed,
                    RankServerDied{input.said});
}

void Core::Impl::fail_rank(RankRecord& record) {
  const Cause cause = record.exit.cause;
  const bool abort_like = cause == Cause::signal || cause == Cause::exit_code;
  if (!terminating && record.client == Client::connected && abort_like)
    news_until = now + kAbortNews;
  fail({cause, record.exit.rank, rank_ended(record.exit)}, record.exit);
}

void Core::Impl::fail_without_rank(Cause cause, Why why) {
  RankExit exit;
  exit.cause = cause;
  exit.rank = assignment.first_rank();
  exit.started = false;
  exit.time = now;
  fail({cause, std::nullopt, std::move(why)}, exit);
}

void Core::Impl::fail(Failure first, RankExit exit) {
  if (over() || terminating || phase == Phase::fresh) return;
  failure = std::move(first);
  tell_gang(exit, failure->why);
  terminate(assignment.grace);
}

void Core::Impl::tell_gang(const RankExit& first, const Why& why) {
  if (assignment.nodes() > 1 && (is_getting_ready() || phase == Phase::running))
    out.push_back(TellGang{GangAbort{assignment.node_rank, first, why}});
}

void Core::Impl::terminate(Duration grace) {
  if (terminating) {
    terminating->insist_at = std::min(terminating->insist_at, now + grace);
    return;
  }
  terminating = Termination{now + grace, SIGTERM};
  for (auto& record : ranks.all()) {
    if (record.state == State::settling) record.state = State::ended;
    if (record.state != State::waiting) continue;
    record.exit = never_started(record.exit, now);
    record.state = State::ended;
  }
  if (ranks.any_active()) show(PartState::stopping);
  if (ranks.any_live()) out.push_back(SignalRanks{SIGTERM});
}

// ---- the end -----------------------------------------------------------------------------------

Instant Core::Impl::timeout_at() const {
  if (phase != Phase::running || terminating || started.ns == 0 || !assignment.spec.timeout)
    return Instant::never();
  return started + *assignment.spec.timeout;
}

Instant Core::Impl::warning_at() const {
  const auto& signal = assignment.spec.stop.signal;
  const Instant end = timeout_at();
  if (!signal || warned || end == Instant::never()) return Instant::never();
  return std::max(started, end - signal->before);
}

// The lease ends all other work, too: after it nothing of the part may run.
Instant Core::Impl::lease_ends_at() const {
  const bool holds = assignment.lease > Duration::zero() && phase != Phase::fresh && !over();
  const bool is_killed = terminating && terminating->signal == SIGKILL;
  return holds && !is_killed ? lease_until + kLeaseTimeout : Instant::never();
}

void Core::Impl::end_lease() {
  fail_without_rank(Cause::node_lost, LeaseRanOut{assignment.lease, true});
  terminate(Duration::zero());  // the grace time expires in this step
}

void Core::Impl::expire_timers() {
  if (now >= lease_ends_at()) end_lease();
  for (auto& record : ranks.all())
    if (record.state == State::settling && now >= record.settle_at) judge(record);
  if (now >= warning_at()) {
    warned = true;
    if (ranks.any_live()) out.push_back(WarnRanks{assignment.spec.stop.signal->number});
  }
  if (now >= timeout_at() && !ranks.all_ended()) {
    RankExit first;
    first.cause = Cause::timeout;
    first.rank = assignment.first_rank();
    first.time = now;
    fail({Cause::timeout, std::nullopt, RanTooLong{*assignment.spec.timeout}}, first);
  }
  if (is_getting_ready() && !terminating && now >= ready_by)
    fail_without_rank(Cause::start_failed, why_not_ready());
  if (!over() && terminating && now >= terminating->insist_at) {
    terminating->insist_at = now + kInsistEvery;
    terminating->signal = SIGKILL;
    out.push_back(SignalRanks{SIGKILL});
    out.push_back(KillEverything{});
  }
  if (phase == Phase::draining && now >= insist_at) {
    insist_at = now + kInsistEvery;
    out.push_back(KillEverything{});
    out.push_back(DrainLogs{});
  }
  if (phase == Phase::quoting && now >= insist_at) unquoted.clear();
  finish_if_quoted();
}

void Core::Impl::finish_if_ended() {
  if (over() || !ranks.all_ended()) return;
  if (phase != Phase::running && !terminating) return;
  if (assignment.nodes() > 1 && phase == Phase::running && !failure && !stopped)
    out.push_back(TellGang{GangNodeDone{
        assignment.node_rank, is_mpi() ? std::optional(ranks.any_connected()) : std::nullopt}});
  phase = Phase::draining;
  insist_at = now + kInsistEvery;
  out.push_back(KillEverything{});  // double-forked processes may hold our pipes open
  out.push_back(DrainLogs{});
}

void Core::Impl::on(const LogsDrained& input) {
  if (phase != Phase::draining) return;
  logs = input.sizes;
  phase = Phase::quoting;
  insist_at = now + kTailTimeout;
  quote();
}

void Core::Impl::quote() {
  if (failure && failure->rank && ranks.find(*failure->rank) != nullptr)
    unquoted.push_back(*failure->rank);
  for (const auto& record : ranks.all()) {
    const auto& exit = record.exit;
    if (exit.cause == Cause::completed || exit.terminated_by_us || !exit.started) continue;
    if (failure && failure->rank == exit.rank) continue;
    if (unquoted.size() < kMaxTails) unquoted.push_back(exit.rank);
  }
  for (int rank : unquoted) out.push_back(ReadStderrTail{rank});
  finish_if_quoted();
}

void Core::Impl::on(const StderrTail& input) {
  if (phase != Phase::quoting || std::erase(unquoted, input.rank) == 0) return;
  auto& record = *ranks.find(input.rank);
  record.exit.stderr_tail = tail(input.text, kStderrTailBytes);
  explain_init(record);
  explain_peer(record);
  finish_if_quoted();
}

void Core::Impl::explain_init(RankRecord& record) {
  const auto cause = record.exit.cause;
  const bool ended_badly = cause == Cause::exit_code || cause == Cause::signal;
  if (!is_mpi() || record.client != Client::none || !ended_badly) return;
  Why why = why_not_joined(record.exit.stderr_tail);
  if (!why) return;
  record.exit.why = std::move(why);
  if (failure && failure->rank == record.exit.rank) failure->why = rank_ended(record.exit);
}

// The first end among ranks of this node that ended by themselves.
std::optional<RankEnd> Core::Impl::first_end_here(int other_than) const {
  const RankExit* first = nullptr;
  for (const auto& record : ranks.all()) {
    const RankExit& exit = record.exit;
    if (exit.rank == other_than || !exit.started || exit.terminated_by_us) continue;
    if (first == nullptr || exit.time < first->time) first = &exit;
  }
  return first == nullptr ? std::nullopt : std::optional(end_of(*first));
}

// Explains a lost peer. If several nodes have one address, the one whose rank has ended is meant.
void Core::Impl::explain_peer(RankRecord& record) {
  const bool ended_badly = record.exit.cause != Cause::completed && record.exit.started;
  if (!gang || assignment.nodes() == 1 || !ended_badly || record.exit.terminated_by_us) return;
  const int own = assignment.node_rank;
  NamedPeer peer =
      peer_named_in(record.exit.stderr_tail, nodes_by_name(*gang, launchers_gang), own);
  if (peer.address.empty()) return;
  const auto has_ended = [&](int node) {
    return peers_ends.count(node) != 0 || peers_left.count(node) != 0 ||
           (node == own && first_end_here(record.exit.rank));
  };
  if (peer.nodes.size() > 1) std::erase_if(peer.nodes, [&](int node) { return !has_ended(node); });
  LostPeer& lost = record.exit.lost_peer.emplace();
  lost.address = std::move(peer.address);
  if (peer.nodes.size() != 1) return;
  lost.node_rank = peer.nodes.front();
  lost.left = peers_left.count(lost.node_rank) != 0;
  const auto failed = peers_ends.find(lost.node_rank);
  if (lost.node_rank == own)
    lost.end = first_end_here(record.exit.rank);
  else if (failed != peers_ends.end())
    lost.end = end_of(failed->second);
}

void Core::Impl::finish_if_quoted() {
  if (phase == Phase::quoting && unquoted.empty() && now >= news_until) finish();
}

NodeExitReport Core::Impl::final_words() const {
  NodeExitReport report;
  if (failure) {
    report.cause = failure->cause;
    report.first_failed_rank = failure->rank;
    report.why = failure->why;
    if (failure->cause == Cause::hang) report.hang = hang;
  } else if (stopped) {
    report.cause = Cause::canceled;
    report.why = stopped;
    report.aborted_by = aborted_by;
  }
  for (const auto& record : ranks.all()) report.ranks.push_back(record.exit);
  report.logs = logs;
  report.started = started;
  report.ended = now;
  return report;
}

void Core::Impl::finish() {
  final_report = final_words();
  phase = Phase::done;
  out.push_back(WriteFinalReport{*final_report});
  show(PartState::finished);
  out.push_back(Leave{});
}

}  // namespace lockstep::runner
