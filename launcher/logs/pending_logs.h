#pragma once
// The logs with bytes that one follower was not sent yet, in the order in which they are sent: an
// earlier attempt before a later one; environments before ranks, because ranks start after them;
// then the log whose next byte is the oldest. Logs of equal age, and those without times, take
// turns.

#include <compare>
#include <map>
#include <set>

#include "common/base/time.h"
#include "common/domain/messages/bulk_protocol.h"

namespace lockstep::launcher {

class PendingLogs {
 public:
  bool empty() const { return order_.empty(); }
  std::size_t size() const { return order_.size(); }
  bool contains(const LogKey& key) const { return times_.count(key) != 0; }

  // Sets a log's next byte. `at`: when it was written; Instant{}: unknown. Replaces the earlier
  // value.
  void set(const LogKey& key, Instant at);
  void remove(const LogKey& key);
  // The log to send from after one of `last`; there must be one.
  LogKey next(const LogKey& last) const;

 private:
  struct Turn {
    AttemptId attempt;
    bool is_rank = false;
    Instant at;
    LogKey key;
    friend auto operator<=>(const Turn&, const Turn&) = default;
  };
  static Turn turn_of(const LogKey& key, Instant at);

  std::set<Turn> order_;
  std::map<LogKey, Instant> times_;
};

}  // namespace lockstep::launcher
