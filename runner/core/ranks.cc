#include "common/domain/why/ranks/ranks.h"
#include "runner/core/ranks.h"

#include <algorithm>
#include <cctype>

#include "common/domain/why/ranks/ranks.h"

namespace lockstep::runner {

using State = RankRecord::State;

RankTable::RankTable(int first_rank, int count) : first_rank_(first_rank) {
  records_.resize(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    auto& exit = records_[static_cast<std::size_t>(i)].exit;
    exit.rank = first_rank + i;
    exit.local_rank = i;
    exit.started = false;
  }
}

RankRecord* RankTable::find(int rank) {
  const int index = rank - first_rank_;
  if (index < 0 || index >= static_cast<int>(records_.size())) return nullptr;
  return &records_[static_cast<std::size_t>(index)];
}

bool RankTable::all_ended() const {
  return std::all_of(records_.begin(), records_.end(),
                     [](const auto& r) { return r.state == State::ended; });
}

bool RankTable::all_started() const {
  return std::all_of(records_.begin(), records_.end(),
                     [](const auto& r) { return r.exit.started; });
}

bool RankTable::any_active() const {
  return std::any_of(records_.begin(), records_.end(), [](const auto& r) { return r.active(); });
}

bool RankTable::any_started() const {
  return std::any_of(records_.begin(), records_.end(),
                     [](const auto& r) { return r.exit.started; });
}

bool RankTable::any_live() const {
  return std::any_of(records_.begin(), records_.end(),
                     [](const auto& r) { return r.state == State::live; });
}

bool RankTable::any_connected() const {
  return std::any_of(records_.begin(), records_.end(),
                     [](const auto& r) { return r.client != RankRecord::Client::none; });
}

bool RankTable::other_connected(int rank) const {
  return std::any_of(records_.begin(), records_.end(), [rank](const auto& r) {
    return r.exit.rank != rank && r.client != RankRecord::Client::none;
  });
}

bool RankTable::any_needs_server() const {
  return std::any_of(records_.begin(), records_.end(), [](const auto& r) {
    return r.state != State::ended && r.client != RankRecord::Client::finalized;
  });
}

Instant RankTable::next_settle() const {
  Instant next = Instant::never();
  for (const auto& r : records_)
    if (r.state == State::settling) next = std::min(next, r.settle_at);
  return next;
}

RankExit describe_exit(const RankRecord& record, const RankExited& exited, Instant now,
                       bool terminating) {
  if (record.abort) return describe_abort(record.exit, *record.abort, now, terminating);
  RankExit exit = record.exit;
  exit.started = true;
  exit.exit_code = exited.exit_code;
  exit.signal = exited.signal;
  exit.terminated_by_us = terminating;
  exit.time = now;
  if (exited.signal == 0 && exited.exit_code == 0) {
    exit.cause = Cause::completed;
  } else if (exited.oom) {
    exit.cause = Cause::out_of_memory;
    exit.why = KilledForMemory{};
  } else {
    exit.cause = exited.signal != 0 ? Cause::signal : Cause::exit_code;
  }
  return exit;
}

Why who_killed(const RankExited& exited) {
  if (exited.killed_by_user) return KilledByUser{};
  return KilledFromOutside{exited.kernel};
}

RankExit describe_abort(const RankExit& base, const RankAborted& abort, Instant now,
                        bool terminating) {
  RankExit exit = base;
  exit.started = true;
  exit.cause = Cause::mpi_abort;
  exit.signal = 0;
  exit.exit_code = (abort.code & 0xff) != 0 ? abort.code & 0xff : 1;
  exit.terminated_by_us = terminating;
  if (exit.time.ns == 0) exit.time = now;
  exit.why = CalledMpiAbort{abort.code, abort.message};
  return exit;
}

RankExit dismissed_exit(const RankExit& base) {
  RankExit exit = base;
  exit.cause = Cause::completed;
  exit.exit_code = exit.signal = 0;
  exit.terminated_by_us = false;
  return exit;
}

RankExit never_started(const RankExit& base, Instant now) {
  RankExit exit = base;
  exit.started = false;
  exit.cause = Cause::canceled;
  exit.terminated_by_us = true;
  exit.time = now;
  return exit;
}

Why why_not_joined(const std::string& stderr_tail) {
  std::string tail = stderr_tail;
  for (char& c : tail) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  const auto says = [&](const char* word) { return tail.find(word) != tail.npos; };
  const bool is_mpich = says("pmi_init") || says("pmi version");
  return is_mpich || says("mpi_init") ? Why(MpiInitFailed{is_mpich}) : Why();
}

Why rank_ended(const RankExit& exit) {
  return RankEnded{exit.rank, exit.cause, exit.exit_code, exit.signal, exit.started, exit.why};
}

Why gang_hung(const Found& found) {
  GangHung hung{found.kind, {}};
  for (const FoundRank& one : found.ranks) hung.ranks.push_back(one.rank);
  return hung;
}

}  // namespace lockstep::runner
