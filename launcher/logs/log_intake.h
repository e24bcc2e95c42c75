#pragma once
// The writing side of the logs: stores chunks from nodes, acknowledges durable offsets, and reports
// when all logs of a part are durable. An offset is acknowledged only after its fsync, which the
// caller runs (turn_end, synced). It owns no socket and no thread.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/result.h"
#include "common/domain/assignment.h"
#include "common/domain/bulk.h"
#include "launcher/logs/log_directory.h"
#include "launcher/logs/log_store.h"

namespace lockstep::launcher {

class LogIntake {
 public:
  struct Sinks {
    std::function<void(const std::string& peer, std::uint64_t reply_to, const LogAck&)> ack;
    std::function<void(const LogKey&)> grew;                     // for followers
    std::function<void(const AttemptId&, NodeId)> logs_durable;  // what await() asked for
  };
  LogIntake(LogStore& store, const LogDirectory& directory, Sinks sinks);

  // `sender`: the node whose key signed the message. permission_denied when the rank, or the node
  // rank of an environment, is not its own.
  Status append(const std::string& peer, std::uint64_t sequence, NodeId sender,
                const LogAppend& message);
  // Answers for every log that the sender may write; the error names the first that it may not.
  Status resume(const std::string& peer, std::uint64_t sequence, NodeId sender,
                const LogResume& message);
  // Expect these sizes; idempotent.
  void await(const AttemptId& attempt, NodeId node, const std::vector<LogSize>& sizes);

  // Bytes of what is expected that are not durable; 0 when nothing is.
  std::uint64_t lacking(const AttemptId& attempt, NodeId node);

  // At the end of a loop turn: what to make durable now, if no batch is under way.
  std::optional<SyncBatch> turn_end();
  void synced(const SyncBatch& batch);

 private:
  struct Waiting {
    std::string peer;
    std::uint64_t sequence = 0;
  };
  Status check_sender(const LogKey& key, NodeId sender, NodeId claimed) const;
  void acknowledge_later(const LogKey& key, const std::string& peer, std::uint64_t sequence,
                         const LogExtent& extent);
  // How many of the log's first `size` bytes are.
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
