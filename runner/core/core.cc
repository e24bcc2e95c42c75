#include "runner/core/core.h"

#include <algorithm>

#include "common/base/check.h"
#include "common/domain/why/ranks/ranks.h"
#include "runner/core/impl.h"

namespace lockstep::runner {

using State = RankRecord::State;
using Client = RankRecord::Client;

// ---- getting ready -----------------------------------------------------------------------------

void Core::Impl::on(const Begin& input) {
  CHECK(phase == Phase::fresh, "a runner begins once");
  assignment = input.assignment;
  self = input.self;
  ranks = RankTable(assignment.first_rank(), assignment.ranks_here());
  phase = Phase::leasing;
  if (assignment.phase == WantedPhase::stop) return stop();
  const auto kind = assignment.spec.distribution.kind;
  const bool serves_each_rank = kind == Distribution::Kind::tensorflow;
  out.emplace_back(LeasePorts{assignment.node_rank == 0 && has_master_port(kind),
                              serves_each_rank ? assignment.ranks_here() : 0});
}

void Core::Impl::on(const Endpoint& input) {
  if (phase != Phase::leasing) return;
  endpoint = input;
  phase = Phase::prepared;
  const bool is_told = assignment.solo || assignment.gang || assignment.share;
  if (assignment.phase == WantedPhase::run && is_told) return proceed();
  show(PartState::prepared);
}

void Core::Impl::on(const AssignmentChanged& input) {
  if (phase == Phase::fresh || input.assignment.attempt != assignment.attempt) return;
  // The message was overtaken or came twice.
  if (input.assignment.phase <= assignment.phase) return;
  assignment = input.assignment;
  switch (assignment.phase) {
    case WantedPhase::prepare: break;
    case WantedPhase::run:
      if (phase == Phase::prepared) proceed();
      break;
    case WantedPhase::stop: stop(); break;
  }
}

void Core::Impl::proceed() {
  if (terminating) return;
  gang = assignment.gang;
  if (assignment.nodes() == 1) {
    if (!gang) gang = table_of_one();
    return start_ranks();
  }
  if (!gang && (!assignment.share || assignment.node_rank == 0))
    return fail_without_rank(Cause::start_failed, OrderLacksGang{});
  phase = Phase::connecting;
  connecting_since = now;
  ready_by = now + kConnectWithin;
  out.push_back(ConnectGang{gang, assignment.share});
}

GangTable Core::Impl::table_of_one() const {
  GangMember member = self;
  member.runner_port = endpoint.runner_port;
  member.runner_key = endpoint.runner_key;
  return GangTable{{member}, endpoint.master_port};
}

void Core::Impl::start_ranks() {
  phase = Phase::running;
  for (auto& record : ranks.all()) {
    record.state = State::starting;
    out.emplace_back(StartRank{record.exit.rank, record.exit.local_rank});
  }
}

// ---- ranks -------------------------------------------------------------------------------------

void Core::Impl::on(const RankStarted& input) {
  auto* record = ranks.find(input.rank);
  if (record == nullptr || record->state != State::starting) return;
  record->state = State::live;
  record->exit.started = true;
  if (started.ns == 0) started = now;
  if (terminating) {
    // The rank started after the others were signalled.
    out.push_back(SignalRanks{terminating->signal});
  } else if (ranks.all_started()) {
    show(PartState::running);
  }
}

void Core::Impl::on(const RankStartFailed& input) {
  auto* record = ranks.find(input.rank);
  if (record == nullptr || record->state != State::starting) return;
  record->state = State::ended;
  record->exit.started = false;
  record->exit.exit_code = input.exit_code;
  record->exit.why = input.why;
  record->exit.time = now;
  record->exit.terminated_by_us = terminating.has_value();
  record->exit.cause = input.exit_code == 127   ? Cause::command_not_found
                       : input.exit_code == 126 ? Cause::command_not_executable
                                                : Cause::start_failed;
  fail_rank(*record);
}

void Core::Impl::on(const RankConnected& input) {
  auto* record = ranks.find(input.rank);
  if (record == nullptr) return;
  record->client = Client::connected;  // a rank may run one MPI program after another
  fail_for_unconnected();
  suspect_the_unconnected();
}

void Core::Impl::on(const PeerDone& input) {
  const auto& [node_rank, connected] = input.done;
  peers_left.insert(node_rank);
  if (is_ray() && node_rank == 0) return dismiss();
  if (!is_mpi() || !connected) return;
  if (*connected) {
    peers_connected = true;
    return suspect_the_unconnected();
  }
  if (!unconnected) unconnected = assignment.spec.first_rank_on(node_rank);
  fail_for_unconnected();
}

// Suspects ranks of this node when some rank of the gang has connected to PMIx: ranks that ended
// without connecting each ran as "rank 0 of 1".
void Core::Impl::suspect_the_unconnected() {
  if (over() || terminating || !is_mpi()) return;
  for (auto& record : ranks.all()) {
    if (record.state != State::ended || record.client != Client::none) continue;
    record.state = State::settling;
    record.settle_at = now + kSettle;
  }
}

// Ranks of this node have connected and wait in their first fence for a rank that has ended.
void Core::Impl::fail_for_unconnected() {
  if (over() || terminating || !is_mpi() || !unconnected || !ranks.any_connected()) return;
  RankExit exit;
  exit.rank = *unconnected;
  exit.cause = Cause::never_connected;
  exit.why = NeverJoinedMpi{};
  exit.time = now;
  fail({exit.cause, exit.rank, rank_ended(exit)}, exit);
}

void Core::Impl::on(const RankFinalized& input) {
  auto* record = ranks.find(input.rank);
  if (record == nullptr) return;
  record->client = Client::finalized;
  if (record->state == State::settling) record->state = State::ended;
}

void Core::Impl::on(const RankAborted& input) {
  auto* record = ranks.find(input.rank);
  if (record == nullptr || record->abort) return;
  record->abort = input;
  if (!terminating && !over()) {
    record->exit = describe_abort(record->exit, input, now, false);
    if (record->state == State::settling) record->state = State::ended;
    return fail_rank(*record);
  }
  // The event may come after waitpid's report: then the death that it caused was taken for the
  // failure.
  if (failure && failure->rank == input.rank) {
    record->exit = describe_abort(record->exit, input, now, false);
    failure->cause = Cause::mpi_abort;
    failure->why = rank_ended(record->exit);
  }
}

void Core::Impl::on(const RankExited& input) {
  auto* record = ranks.find(input.rank);
  if (record == nullptr || !record->active()) return;
  const bool culprit = failure && failure->rank == input.rank;
  record->exit = describe_exit(*record, input, now, terminating.has_value() && !culprit);
  if (!terminating && record->exit.cause == Cause::signal && input.signal == SIGKILL)
    record->exit.why = who_killed(input);
  if (dismissed) record->exit = dismissed_exit(record->exit);
  record->state = State::ended;
  if (started.ns == 0) started = now;
  if (terminating) return;
  if (record->exit.cause == Cause::completed) return ended_well(*record);
  fail_rank(*record);
}

void Core::Impl::ended_well(RankRecord& record) {
  // Peers may fail because of the report on a rank's end, so a doubtful end is settled first.
  const bool told = assignment.nodes() > 1;
  const bool odd =
      record.client == Client::connected ||
      (record.client == Client::none && (told || ranks.other_connected(record.exit.rank)));
  if (!is_mpi() || !odd) return;
  record.state = State::settling;
  record.settle_at = now + kSettle;
}

void Core::Impl::judge(RankRecord& record) {
  record.state = State::ended;
  if (terminating) return;
  if (record.client == Client::connected) {
    record.exit.cause = Cause::exit_without_finalize;
    record.exit.why = NotFinalized{};
    fail_rank(record);
  } else if (record.client == Client::none &&
             (peers_connected || ranks.other_connected(record.exit.rank))) {
    record.exit.cause = Cause::never_connected;
    record.exit.why = NeverJoinedMpi{};
    fail_rank(record);
  }
}

void Core::Impl::show(PartState state) {
  if (state <= shown) return;
  shown = state;
  out.emplace_back(Report{report()});
}

PartReport Core::Impl::report() const {
  PartReport report;
  report.attempt = assignment.attempt;
  report.state = shown;
  report.runner_port = assignment.solo ? std::uint16_t{0} : endpoint.runner_port;
  report.runner_key = endpoint.runner_key;
  if (!assignment.solo) report.gang_rows = kGangRowsVersion;
  report.master_port = endpoint.master_port;
  report.started = started;
  report.exit = final_report;
  report.probe = shown_probe();
  if (!final_report)
    for (const RankRecord& record : ranks.all())
      if (record.state == State::ended) report.ended.push_back(end_of(record.exit));
  return report;
}

// ---- the function ------------------------------------------------------------------------------

Core::Core() : impl_(std::make_unique<Impl>()) {}
Core::~Core() = default;
Core::Core(Core&&) noexcept = default;
Core& Core::operator=(Core&&) noexcept = default;

std::vector<Action> Core::handle(Instant now, const Input& input) {
  auto& impl = *impl_;
  impl.now = now;
  impl.out.clear();
  if (impl.phase == Phase::done) return {};
  std::visit([&](const auto& in) { impl.on(in); }, input);
  if (impl.phase == Phase::fresh) return std::move(impl.out);
  impl.expire_timers();
  impl.finish_if_ended();
  return std::move(impl.out);
}

Instant Core::next_deadline() const {
  const auto& impl = *impl_;
  if (impl.phase == Phase::fresh || impl.phase == Phase::done) return Instant::never();
  const bool quoted = impl.phase == Phase::quoting && impl.unquoted.empty();
  if (impl.over()) return quoted ? impl.news_until : impl.insist_at;
  Instant next = std::min(impl.timeout_at(), impl.ranks.next_settle());
  next = std::min(next, impl.warning_at());
  if (impl.is_getting_ready() && !impl.terminating) next = std::min(next, impl.ready_by);
  if (impl.terminating) next = std::min(next, impl.terminating->insist_at);
  next = std::min(next, impl.lease_ends_at());
  return next;
}

PartReport Core::report() const { return impl_->report(); }

const SharedGang& Core::gang() const { return impl_->gang; }

const std::optional<ProbeResult>& Core::probe() const { return impl_->probe; }

}  // namespace lockstep::runner
