#pragma once
// The writing side of the logs: stores chunks from nodes, acknowledges durable offsets, and reports
// when all logs of a part are durable. An offset is acknowledged only after its fsync, which the
// caller runs (turn_end, synced). The times of the bytes come by the node's clock and are stored by
// the launcher's, corrected once, so that no reader needs to know how far that clock was off. It
// owns no socket and no thread.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/result.h"
#include "common/domain/runners/assignment.h"
#include "common/domain/messages/bulk_protocol.h"
#include "launcher/logs/log_directory.h"
#include "launcher/logs/log_store.h"

namespace lockstep::launcher {

class LogIntake {
 public:
  struct Sinks {
    std::function<void(const std::string& peer, std::uint64_t reply_to, const LogAck&)> ack;
    std::function<void(const LogKey&)> grew;  // called for followers
    // called when all logs that await() named are durable
    std::function<void(const AttemptId&, NodeId)> logs_durable;
  };
  LogIntake(LogStore& store, const LogDirectory& directory, Sinks sinks);

  // Stores a chunk. `sender`: the node whose key signed the message; `now`: when it came. Returns
  // permission_denied if the rank, or for an environment's log the node rank, is not on that node.
  Status append(const std::string& peer, std::uint64_t sequence, NodeId sender,
                const LogAppend& message, Instant now);
  // Acknowledges the extent of each of the sender's own logs once it is durable. The error is about
  // the first log that it refused or could not read.
  Status resume(const std::string& peer, std::uint64_t sequence, NodeId sender,
                const LogResume& message);
  // Calls Sinks::logs_durable once the logs are durable up to these sizes. Idempotent.
  void await(const AttemptId& attempt, NodeId node, const std::vector<LogSize>& sizes);

  // The number of bytes that await() named and that are not durable; 0 when nothing is awaited.
  std::uint64_t lacking(const AttemptId& attempt, NodeId node);

  // Called at the end of a loop turn: the batch to make durable now, unless one is under way.
  std::optional<SyncBatch> turn_end();
  void synced(const SyncBatch& batch);

 private:
  struct Waiting {
    std::string peer;
    std::uint64_t sequence = 0;
  };
  // The sender's place, if it writes this log.
  Result<LogDirectory::Place> place_of(const LogKey& key, NodeId sender, NodeId claimed) const;
  void acknowledge_later(const LogKey& key, const std::string& peer, std::uint64_t sequence,
                         const LogExtent& extent);
  // The number of durable bytes among the log's first `size` bytes.
  std::uint64_t durable(const LogKey& key, std::uint64_t size);
  void check_awaited(const AttemptId& attempt);

  LogStore& store_;
  const LogDirectory& directory_;
  Sinks sinks_;
  std::map<LogKey, Waiting> waiting_;  // the last sender of each log that is not durable yet
  std::map<std::pair<AttemptId, NodeId>, std::vector<LogSize>> awaited_;
  bool syncing_ = false;
};

}  // namespace lockstep::launcher
