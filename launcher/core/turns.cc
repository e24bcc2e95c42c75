#include "launcher/core/turns.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "common/base/check.h"

namespace lockstep::launcher {

namespace {

// The key of the node that sent the input; null: a node did not send it, and it must not be
// dropped.
const PublicKey* sender_of(const Input& input) {
  if (const auto* session = std::get_if<SessionInput>(&input)) return &session->key;
  if (const auto* beat = std::get_if<HeartbeatInput>(&input)) return &beat->key;
  if (const auto* observed = std::get_if<ObservedInput>(&input)) return &observed->key;
  if (const auto* unread = std::get_if<UnreadInput>(&input)) return &unread->key;
  return nullptr;
}

// Whether an action depends on facts; false for actions that only acknowledge a message.
bool rests_on_facts(const Action& action) { return !std::holds_alternative<AckHeartbeat>(action); }

}  // namespace

Turns::Turns(Core core) : core_(std::move(core)) {}

void Turns::resume(std::vector<Action> actions) { actions_ = std::move(actions); }

// ---- what comes in ------------------------------------------------------------------------------

void Turns::feed(const Input& input) {
  if (takes_now()) return handle(input);
  const auto* beat = std::get_if<HeartbeatInput>(&input);
  if (beat == nullptr) return put_off(input);
  const Heard heard = core_.hear(core_.now(), *beat);
  if (heard.ack) urgent_.push_back(*heard.ack);
  if (heard.is_all) return;
  HeartbeatInput later = *beat;
  later.beat.wall_clock = {};  // the measured time would be out of date by then
  put_off(later);
}

void Turns::handle(const Input& input, bool more) {
  const Instant now = core_.now();
  Step step = core_.handle(now, input, more);
  owes_ = more;
  for (Fact& fact : step.facts) facts_.push_back({now, std::move(fact)});
  std::move(step.actions.begin(), step.actions.end(), std::back_inserter(actions_));
  std::move(step.news.begin(), step.news.end(), std::back_inserter(news_));
  if (!core_.write_ahead || facts_.size() < kFactsAhead) return;
  core_.write_ahead(std::exchange(facts_, {}));
  went_ahead_ = true;
}

void Turns::put_off(const Input& input) {
  if (const PublicKey* sender = sender_of(input)) {
    std::size_t& count = waiting_of_node_[*sender];
    if (count >= kMaxWaitingOfNode) return;
    ++count;
  }
  waiting_.emplace_back(input);
}

void Turns::ask(std::function<void()> request) {
  if (takes_now()) return request();
  waiting_.emplace_back(std::move(request));
}

void Turns::when_durable(std::function<void()> work) {
  if (is_durable() && until_durable_.empty()) return work();
  until_durable_.push_back(std::move(work));
}

void Turns::tick() {
  if (phase_ == Phase::open && core_.next_deadline() <= core_.now()) handle(TickInput{});
}

// ---- turns --------------------------------------------------------------------------------------

Turns::Turn Turns::end() {
  CHECK(phase_ != Phase::performing, "performed() is called after the actions of end()");
  if (phase_ == Phase::writing) return {false, {}, std::exchange(urgent_, {})};
  if (phase_ == Phase::open && has_facts()) {
    phase_ = Phase::writing;
    went_ahead_ = false;
    const auto at_once = std::stable_partition(actions_.begin(), actions_.end(), rests_on_facts);
    std::vector<Action> actions(std::make_move_iterator(at_once),
                                std::make_move_iterator(actions_.end()));
    actions_.erase(at_once, actions_.end());
    return {true, std::exchange(facts_, {}), std::move(actions)};
  }
  phase_ = Phase::performing;
  std::vector<Action> actions = std::exchange(urgent_, {});
  std::move(actions_.begin(), actions_.end(), std::back_inserter(actions));
  actions_.clear();
  return {false, {}, std::move(actions)};
}

void Turns::written() {
  CHECK(phase_ == Phase::writing, "facts that were handed out are written");
  phase_ = Phase::written;
}

void Turns::stand_still() {
  CHECK(is_durable(), "nothing is being written");
  phase_ = Phase::writing;
}

void Turns::performed() {
  if (phase_ != Phase::performing) return;  // a write is in progress
  phase_ = Phase::open;
  while (is_durable() && !until_durable_.empty()) {
    const auto work = std::move(until_durable_.front());
    until_durable_.pop_front();
    work();
  }
  for (std::size_t i = 0; phase_ == Phase::open && i < kMaxInputsOfTurn && !waiting_.empty(); ++i) {
    const Waiting next = std::move(waiting_.front());
    waiting_.pop_front();
    run(next);
  }
  if (owes_) handle(TickInput{});
}

void Turns::run(const Waiting& waiting) {
  running_ = true;
  if (const auto* input = std::get_if<Input>(&waiting)) {
    if (const PublicKey* sender = sender_of(*input)) {
      const auto count = waiting_of_node_.find(*sender);
      if (--count->second == 0) waiting_of_node_.erase(count);
    }
    handle(*input, !waiting_.empty());
  } else {
    std::get<std::function<void()>>(waiting)();
  }
  running_ = false;
}

bool Turns::idle() const {
  if (phase_ == Phase::writing) return urgent_.empty();
  return phase_ == Phase::open && !has_facts() && actions_.empty() && waiting_.empty() &&
         until_durable_.empty();
}

Duration Turns::wait() const {
  if (!idle()) return Duration::zero();
  if (phase_ == Phase::writing) return Duration::max();
  const Instant due = core_.next_deadline();
  if (due == Instant::never()) return Duration::max();
  return std::max(due - core_.now(), Duration::zero());
}

}  // namespace lockstep::launcher
