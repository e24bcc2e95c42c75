#include "launcher/logs/log_intake.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace lockstep::launcher {

namespace {

// Converts times to our clock. The node read the line before now, so an offset that is unknown, or
// a clock that was just set, cannot move the line into the future.
std::vector<LogTime> corrected(std::vector<LogTime> times, Duration clock_ahead, Instant now) {
  for (LogTime& time : times) {
    if (time.at > now + clock_ahead)
      time.at = now;
    else if (time.at.ns > clock_ahead.count())
      time.at = time.at - clock_ahead;
  }
  return times;
}

}  // namespace

LogIntake::LogIntake(LogStore& store, const LogDirectory& directory, Sinks sinks)
    : store_(store), directory_(directory), sinks_(std::move(sinks)) {}

Result<LogDirectory::Place> LogIntake::place_of(const LogKey& key, NodeId sender,
                                                NodeId claimed) const {
  const auto place = directory_.place(key);
  if (place && place->node == sender && claimed == sender) return *place;
  return make_error(
      ErrorCode::permission_denied,
      key.stream == LogStream::environment
          ? fmt::format("node rank {} of {} is not on node {}: its environment log is refused",
                        key.rank, to_string(key.attempt), sender.value)
          : fmt::format("rank {} of {} does not run on node {}: its log is refused", key.rank,
                        to_string(key.attempt), sender.value));
}

void LogIntake::acknowledge_later(const LogKey& key, const std::string& peer,
                                  std::uint64_t sequence, const LogExtent& extent) {
  if (extent.durable == extent.written)
    sinks_.ack(peer, sequence, LogAck{key, extent.durable});
  else
    waiting_[key] = {peer, sequence};
}

Status LogIntake::append(const std::string& peer, std::uint64_t sequence, NodeId sender,
                         const LogAppend& message, Instant now) {
  TRY_ASSIGN(const auto place, place_of(message.key, sender, message.node));
  TRY_ASSIGN(const LogExtent extent,
             store_.append(message.key, message.offset, message.data,
                           corrected(message.times, place.clock_ahead, now)));
  acknowledge_later(message.key, peer, sequence, extent);
  sinks_.grew(message.key);
  return {};
}

Status LogIntake::resume(const std::string& peer, std::uint64_t sequence, NodeId sender,
                         const LogResume& message) {
  Status all;
  for (const auto& key : message.keys) {
    const auto allowed = place_of(key, sender, message.node);
    const auto extent = allowed ? store_.extent(key) : Result<LogExtent>(allowed.error());
    if (extent)
      acknowledge_later(key, peer, sequence, *extent);
    else if (all)
      all = extent.error();
  }
  return all;
}

void LogIntake::await(const AttemptId& attempt, NodeId node, const std::vector<LogSize>& sizes) {
  awaited_[{attempt, node}] = sizes;
  check_awaited(attempt);
}

std::uint64_t LogIntake::lacking(const AttemptId& attempt, NodeId node) {
  const auto awaited = awaited_.find({attempt, node});
  if (awaited == awaited_.end()) return 0;
  std::uint64_t bytes = 0;
  for (const LogSize& sizes : awaited->second)
    for (const auto& [key, size] : logs_of(attempt, sizes)) bytes += size - durable(key, size);
  return bytes;
}

std::uint64_t LogIntake::durable(const LogKey& key, std::uint64_t size) {
  const auto extent = store_.extent(key);
  return std::min(size, extent ? extent->durable : 0);
}

void LogIntake::check_awaited(const AttemptId& attempt) {
  const auto are_durable = [this, &attempt](const LogSize& sizes) {
    for (const auto& [key, size] : logs_of(attempt, sizes))
      if (durable(key, size) < size) return false;
    return true;
  };
  auto it = awaited_.lower_bound({attempt, NodeId(0)});
  while (it != awaited_.end() && it->first.first == attempt) {
    if (!std::all_of(it->second.begin(), it->second.end(), are_durable)) {
      ++it;
      continue;
    }
    const auto done = it->first;
    it = awaited_.erase(it);
    sinks_.logs_durable(done.first, done.second);
  }
}

std::optional<SyncBatch> LogIntake::turn_end() {
  if (syncing_) return std::nullopt;
  auto batch = store_.take_dirty();
  if (batch.empty()) return std::nullopt;
  syncing_ = true;
  return batch;
}

void LogIntake::synced(const SyncBatch& batch) {
  syncing_ = false;
  store_.synced(batch);
  std::set<AttemptId> attempts;
  for (const auto& item : batch.items) {
    attempts.insert(item.key.attempt);
    const auto waiting = waiting_.find(item.key);
    if (waiting == waiting_.end()) continue;
    sinks_.ack(waiting->second.peer, waiting->second.sequence, LogAck{item.key, item.size});
    const auto extent = store_.extent(item.key);
    if (extent && extent->durable == extent->written) waiting_.erase(waiting);
  }
  for (const auto& attempt : attempts) check_awaited(attempt);
}

}  // namespace lockstep::launcher
