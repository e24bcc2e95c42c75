#pragma once
// A set of deadlines with keys; the earliest is found cheaply. It reads no clock: its owner decides
// to which clock the instants belong. A key has at most one deadline.

#include <compare>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "common/base/ids.h"
#include "common/base/time.h"

namespace lockstep::launcher {

struct TimerKey {
  enum class Kind { node, prepare, logs, shutdown, retry, machines, merge, write };
  Kind kind = Kind::node;
  NodeId node;  // for the kinds node and logs
  // Set for the kinds prepare and logs; for retry, merge and write only its job is set.
  AttemptId attempt;
  std::string target = {};  // set for the kind machines
  friend auto operator<=>(const TimerKey&, const TimerKey&) = default;
};

class Timers {
 public:
  void set(const TimerKey& key, Instant due) {
    clear(key);
    due_.emplace(key, due);
    order_.emplace(due, key);
  }
  void clear(const TimerKey& key) {
    const auto it = due_.find(key);
    if (it == due_.end()) return;
    order_.erase({it->second, key});
    due_.erase(it);
  }
  bool is_set(const TimerKey& key) const { return due_.count(key) != 0; }
  // Removes and returns the earliest timer due at `now`; nullopt when none is.
  std::optional<TimerKey> pop_due(Instant now) {
    if (order_.empty() || order_.begin()->first > now) return std::nullopt;
    TimerKey key = order_.begin()->second;
    clear(key);
    return key;
  }
  Instant next() const { return order_.empty() ? Instant::never() : order_.begin()->first; }

 private:
  std::map<TimerKey, Instant> due_;
  std::set<std::pair<Instant, TimerKey>> order_;
};

}  // namespace lockstep::launcher
