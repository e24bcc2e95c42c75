#include "launcher/daemon/durable_core.h"

#include <algorithm>

namespace lockstep::launcher {

Result<DurableCore> DurableCore::recover(const std::string& journal_path, const CoreConfig& config,
                                         const std::string& sign) {
  TRY_ASSIGN(auto journal, Journal::open(journal_path, sign));
  Core core(config);
  Instant last;
  TRY(journal.replay([&](const StampedFact& fact) {
    core.replay(fact);
    last = std::max(last, fact.at);
  }));
  DurableCore durable(std::move(core), std::move(journal), last);
  durable.started_ = durable.now();
  durable.core_.recovered(durable.started_);
  durable.actions_ = durable.core_.resume();
  return durable;
}

void DurableCore::feed(const Input& input) {
  const Instant now = clock_.now();
  auto step = core_.handle(now, input);
  for (auto& fact : step.facts) facts_.push_back({now, std::move(fact)});
  std::move(step.actions.begin(), step.actions.end(), std::back_inserter(actions_));
}

void DurableCore::tick() {
  if (core_.next_deadline() <= clock_.now()) feed(TickInput{});
}

Duration DurableCore::wait() {
  if (!idle()) return Duration::zero();
  const Instant due = core_.next_deadline();
  if (due == Instant::never()) return Duration::max();
  return std::max(due - clock_.now(), Duration::zero());
}

Status DurableCore::adopt(const CompactedJournal& compacted) {
  Status done = journal_.replace_with(compacted);
  if (!done && done.error().code != ErrorCode::unavailable) broken_ = done.error();
  return done;
}

Result<std::vector<Action>> DurableCore::commit() {
  if (broken_) return *broken_;
  TRY(journal_.append(facts_));
  facts_.clear();
  return std::exchange(actions_, {});
}

}  // namespace lockstep::launcher
