#include "runner/core/core.h"

#include <algorithm>
#include <csignal>

#include "common/base/check.h"
#include "runner/core/ranks.h"

namespace lockstep::runner {

using State = RankRecord::State;
using Client = RankRecord::Client;

namespace {

enum class Phase { fresh, leasing, prepared, connecting, running, draining, quoting, done };

struct Failure {  // the first one here
  Cause cause = Cause::start_failed;
  std::optional<int> rank;
  std::string message;
};

struct Termination {
  Instant insist_at;       // then SIGKILL, and again
  int signal = SIGTERM;
};

}  // namespace

struct Core::Impl {
  Assignment assignment;
  GangMember self;
  std::optional<GangTable> gang;
  Endpoint endpoint;
  Phase phase = Phase::fresh;
  PartState shown = PartState::staging;
  RankTable ranks;
  std::optional<Failure> failure;
  std::optional<std::string> stopped;       // by order, in words; no failure of ours came first
  std::optional<Termination> terminating;
  Instant started;                          // of the first rank; 0 = none
  Instant insist_at = Instant::never();     // draining, quoting
  std::vector<int> unquoted;                // ranks whose stderr tail is awaited
  Instant news_until;                       // the first failure may still prove an MPI_Abort
  std::vector<LogSize> logs;
  std::optional<NodeExitReport> final_report;

  Instant now;
  std::vector<Action> out;

  void on(const Begin& input);
  void on(const Endpoint& input);
  void on(const AssignmentChanged& input);
  void on(const GangConnected&);
  void on(const PeerLost&) {}               // what a vanished peer means, the launcher says
  void on(const AbortFromPeer& input);
  void on(const DrainedByGang&) {}          // nobody waits for the others to leave
  void on(const RankStarted& input);
  void on(const RankStartFailed& input);
  void on(const RankConnected& input);
  void on(const RankFinalized& input);
  void on(const RankAborted& input);
  void on(const RankExited& input);
  void on(const StderrTail& input);
  void on(const LogsDrained& input);
  void on(const MasterPortTaken&);
  void on(const SpawnLost&);
  void on(const SetupFailed& input);
  void on(const Tick&) {}

  void proceed();
  void start_ranks();
  void show(PartState state);
  PartReport report() const;

  bool over() const { return phase >= Phase::draining; }
  bool is_mpi() const { return assignment.spec.distribution.kind == Distribution::Kind::mpi; }
  Instant timeout_at() const;
  void stop();
  void fail(Failure first, RankExit exit, Duration grace);
  void fail_without_rank(Cause cause, std::string message);
  void fail_rank(RankRecord& record);
  void terminate(Duration grace);
  void tell_gang(const RankExit& first, const std::string& message);
  void ended_well(RankRecord& record);
  void judge(RankRecord& record);
  void expire_timers();
  void finish_if_ended();
  void quote();
  void finish_if_quoted();
  void finish();
  NodeExitReport final_words() const;
};

// ---- getting ready -----------------------------------------------------------------------------

void Core::Impl::on(const Begin& input) {
  CHECK(phase == Phase::fresh, "a runner begins once");
  assignment = input.assignment;
  self = input.self;
  ranks = RankTable(assignment.first_rank(), assignment.ranks_here());
  phase = Phase::leasing;
  if (assignment.phase == WantedPhase::stop) return stop();
  out.push_back(LeasePorts{assignment.node_rank == 0});
}

void Core::Impl::on(const Endpoint& input) {
  if (phase != Phase::leasing) return;
  endpoint = input;
  phase = Phase::prepared;
  if (assignment.phase == WantedPhase::run && (assignment.solo || assignment.gang))
    return proceed();
  show(PartState::prepared);
}

void Core::Impl::on(const AssignmentChanged& input) {
  if (phase == Phase::fresh || input.assignment.attempt != assignment.attempt) return;
  if (input.assignment.phase <= assignment.phase) return;  // late or doubled
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
  if (!gang) {
    GangMember member = self;
    member.runner_port = endpoint.runner_port;
    member.runner_key = endpoint.runner_key;
    gang = GangTable{{member}, endpoint.master_port};
  }
  if (assignment.nodes() == 1) return start_ranks();
  phase = Phase::connecting;
  out.push_back(ConnectGang{*gang});
}

void Core::Impl::on(const GangConnected&) {
  if (phase == Phase::connecting && !terminating) start_ranks();
}

void Core::Impl::start_ranks() {
  phase = Phase::running;
  for (auto& record : ranks.all()) {
    record.state = State::starting;
    out.push_back(StartRank{record.exit.rank, record.exit.local_rank});
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
    out.push_back(SignalRanks{terminating->signal});  // it started after the others were told
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
  record->exit.detail = input.why;
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
  record->client = Client::connected;  // again, when a rank runs one MPI program after another
  if (over() || terminating || !is_mpi()) return;
  for (auto& other : ranks.all()) {    // these were "rank 0 of 1": this one would wait for ever
    if (other.state != State::ended || other.client != Client::none) continue;
    other.state = State::settling;
    other.settle_at = now + kSettle;
  }
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
  // The event may come after waitpid's: then the death it caused was taken for the failure.
  if (failure && failure->rank == input.rank) {
    record->exit = describe_abort(record->exit, input, now, false);
    failure->cause = Cause::mpi_abort;
    failure->message = sentence(record->exit);
  }
}

void Core::Impl::on(const RankExited& input) {
  auto* record = ranks.find(input.rank);
  if (record == nullptr || !record->active()) return;
  const bool culprit = failure && failure->rank == input.rank;
  record->exit = describe_exit(*record, input, now, terminating.has_value() && !culprit);
  record->state = State::ended;
  if (started.ns == 0) started = now;
  if (terminating) return;
  if (record->exit.cause == Cause::completed) return ended_well(*record);
  fail_rank(*record);
}

void Core::Impl::ended_well(RankRecord& record) {
  const bool odd = record.client == Client::connected ||
                   (record.client == Client::none && ranks.other_connected(record.exit.rank));
  if (!is_mpi() || !odd) return;
  record.state = State::settling;
  record.settle_at = now + kSettle;
}

void Core::Impl::judge(RankRecord& record) {
  record.state = State::ended;
  if (terminating) return;
  if (record.client == Client::connected) {
    record.exit.cause = Cause::exit_without_finalize;
    record.exit.detail = "it exited with code 0 after MPI_Init but did not call MPI_Finalize";
    fail_rank(record);
  } else if (record.client == Client::none && ranks.other_connected(record.exit.rank)) {
    record.exit.cause = Cause::never_connected;
    record.exit.detail =
        "it ended without joining the job's MPI world although other ranks did: it saw itself as "
        "rank 0 of 1; check that all ranks run the same MPI library";
    fail_rank(record);
  }
}

// ---- what ends it ------------------------------------------------------------------------------

void Core::Impl::stop() {
  if (over()) return;
  const bool at_once = assignment.stop_reason == StopReason::gang_failed;
  if (!failure && !stopped) {
    stopped = "stopped by order: " + std::string(to_string(assignment.stop_reason));
    RankExit first;
    first.cause = Cause::canceled;
    first.rank = assignment.first_rank();
    first.time = now;
    tell_gang(first, *stopped);
  }
  terminate(at_once ? std::min<Duration>(assignment.grace, kFailureGrace) : assignment.grace);
}

void Core::Impl::on(const AbortFromPeer& input) {
  if (over() || terminating || phase == Phase::fresh) return;
  stopped = "node rank " + std::to_string(input.abort.node_rank) + " ended the gang: " +
            input.abort.message;
  const Cause cause = input.abort.first.cause;
  const bool patient = cause == Cause::timeout || cause == Cause::canceled;
  terminate(patient ? assignment.grace : Duration(kFailureGrace));
}

void Core::Impl::on(const MasterPortTaken&) {
  fail_without_rank(Cause::port_taken, "MASTER_PORT " + std::to_string(endpoint.master_port) +
                                           " was taken before rank 0 listened");
}

void Core::Impl::on(const SetupFailed& input) { fail_without_rank(input.cause, input.why); }

void Core::Impl::on(const SpawnLost&) {
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
  fail_without_rank(ran ? Cause::runner_lost : Cause::start_failed,
                    "lockstep-spawn died, and this node's ranks with it");
}

void Core::Impl::fail_rank(RankRecord& record) {
  const Cause cause = record.exit.cause;
  const bool abort_like = cause == Cause::signal || cause == Cause::exit_code;
  if (!terminating && record.client == Client::connected && abort_like) news_until = now + kAbortNews;
  fail({cause, record.exit.rank, sentence(record.exit)}, record.exit, kFailureGrace);
}

void Core::Impl::fail_without_rank(Cause cause, std::string message) {
  RankExit exit;
  exit.cause = cause;
  exit.rank = assignment.first_rank();
  exit.started = false;
  exit.time = now;
  fail({cause, std::nullopt, std::move(message)}, exit, kFailureGrace);
}

void Core::Impl::fail(Failure first, RankExit exit, Duration grace) {
  if (over() || terminating || phase == Phase::fresh) return;
  failure = std::move(first);
  tell_gang(exit, failure->message);
  terminate(grace);
}

void Core::Impl::tell_gang(const RankExit& first, const std::string& message) {
  if (assignment.nodes() > 1 && (phase == Phase::connecting || phase == Phase::running))
    out.push_back(TellGang{GangAbort{assignment.node_rank, first, message}});
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

void Core::Impl::expire_timers() {
  for (auto& record : ranks.all())
    if (record.state == State::settling && now >= record.settle_at) judge(record);
  if (now >= timeout_at() && !ranks.all_ended()) {
    RankExit first;
    first.cause = Cause::timeout;
    first.rank = assignment.first_rank();
    first.time = now;
    fail({Cause::timeout, std::nullopt,
          "ran longer than limits.timeout, " + format_duration(*assignment.spec.timeout)},
         first, assignment.grace);
  }
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
    out.push_back(TellGang{GangDrained{assignment.node_rank}});
  phase = Phase::draining;
  insist_at = now + kInsistEvery;
  out.push_back(KillEverything{});  // what double-forked may hold our pipes open
  out.push_back(DrainLogs{});
}

void Core::Impl::on(const LogsDrained& input) {
  if (phase != Phase::draining) return;
  logs = input.sizes;
  phase = Phase::quoting;
  insist_at = now + kTailPatience;
  quote();
}

void Core::Impl::quote() {
  if (failure && failure->rank) unquoted.push_back(*failure->rank);
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
  const std::size_t excess =
      input.text.size() > kStderrTailBytes ? input.text.size() - kStderrTailBytes : 0;
  ranks.find(input.rank)->exit.stderr_tail = input.text.substr(excess);
  finish_if_quoted();
}

void Core::Impl::finish_if_quoted() {
  if (phase == Phase::quoting && unquoted.empty() && now >= news_until) finish();
}

NodeExitReport Core::Impl::final_words() const {
  NodeExitReport report;
  if (failure) {
    report.cause = failure->cause;
    report.first_failed_rank = failure->rank;
    report.message = failure->message;
  } else if (stopped) {
    report.cause = Cause::canceled;
    report.message = *stopped;
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

void Core::Impl::show(PartState state) {
  if (state <= shown) return;
  shown = state;
  out.push_back(Report{report()});
}

PartReport Core::Impl::report() const {
  PartReport report;
  report.attempt = assignment.attempt;
  report.state = shown;
  report.runner_port = assignment.solo ? std::uint16_t{0} : endpoint.runner_port;
  report.runner_key = endpoint.runner_key;
  report.master_port = endpoint.master_port;
  report.started = started;
  report.exit = final_report;
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
  if (impl.terminating) next = std::min(next, impl.terminating->insist_at);
  return next;
}

PartReport Core::report() const { return impl_->report(); }

const std::optional<GangTable>& Core::gang() const { return impl_->gang; }

}  // namespace lockstep::runner
