#pragma once
// The questions that the log services ask about jobs and nodes. The daemon answers them from the
// core's state.

#include <cstdint>
#include <optional>
#include <string>

#include "common/base/ids.h"
#include "common/base/time.h"
#include "common/domain/messages/bulk_protocol.h"

namespace lockstep::launcher {

class LogDirectory {
 public:
  struct JobInfo {
    std::uint32_t attempts = 0;  // the newest attempt's number; 0: none yet
    bool final = false;
    std::string status;  // "Running", …
  };
  struct Place {
    NodeId node;
    int node_rank = 0;
    std::string node_name;
    Duration clock_ahead{0};  // the node's clock minus ours, as far as it is known
  };
  virtual ~LogDirectory() = default;
  virtual std::optional<JobInfo> job(const JobId& job) const = 0;
  // The id of a job's attempt with this number.
  virtual AttemptId attempt(const JobId& job, std::uint32_t number) const = 0;
  // The node that writes this log; nullopt: the attempt does not exist, or it has no such rank or
  // node.
  virtual std::optional<Place> place(const LogKey& log) const = 0;
};

}  // namespace lockstep::launcher
