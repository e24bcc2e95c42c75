#include "launcher/logs/pending_logs.h"

namespace lockstep::launcher {

PendingLogs::Turn PendingLogs::turn_of(const LogKey& key, Instant at) {
  return {key.attempt, key.stream != LogStream::environment, at, key};
}

void PendingLogs::set(const LogKey& key, Instant at) {
  remove(key);
  times_[key] = at;
  order_.insert(turn_of(key, at));
}

void PendingLogs::remove(const LogKey& key) {
  const auto known = times_.find(key);
  if (known == times_.end()) return;
  order_.erase(turn_of(key, known->second));
  times_.erase(known);
}

LogKey PendingLogs::next(const LogKey& last) const {
  const Turn& first = *order_.begin();
  if (turn_of(last, first.at).is_rank != first.is_rank) return first.key;
  const auto after = order_.upper_bound({first.attempt, first.is_rank, first.at, last});
  const bool is_equal = after != order_.end() && after->attempt == first.attempt &&
                        after->is_rank == first.is_rank && after->at == first.at;
  return is_equal ? after->key : first.key;
}

}  // namespace lockstep::launcher
