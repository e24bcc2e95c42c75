#pragma once
// Whether the launcher takes more logs of a part: its owner's quota may be used up although the
// disk has space. It counts the logs that come in of parts that have not ended, and tells the core;
// and it tells the core which logs are refused, and since when.

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "launcher/daemon/stores/durable_core.h"
#include "launcher/logs/log_intake.h"

namespace lockstep::launcher {

class LogRoom {
 public:
  LogRoom(DurableCore& durable, LogIntake& intake) : durable_(durable), intake_(intake) {}

  // Why the job's owner may have no more files here; "": they may, or little is left to send of
  // logs of ranks that have ended.
  std::string why_none(const AttemptId& attempt, NodeId node);
  void taken(const LogAppend& logs, NodeId node);
  // Notes a refusal. `by_quota`: because of why_none(); otherwise because the launcher's disk is
  // full.
  void refused(const AttemptId& attempt, NodeId node, const std::string& why, bool by_quota);
  // Called at the end of each turn. At intervals it tells the core how many bytes of logs arrived.
  void turn_end();
  void forget(const JobId& job);

 private:
  using PartKey = std::pair<AttemptId, NodeId>;
  struct Sizes {
    std::map<std::pair<int, LogStream>, std::uint64_t> ends;
    std::uint64_t bytes = 0;
    std::uint64_t told = 0;  // the part of `bytes` that the core knows
  };
  void tell(const PartKey& part, Sizes& sizes);

  DurableCore& durable_;
  LogIntake& intake_;
  std::map<PartKey, Sizes> sizes_;  // the parts of jobs that are not final
  Instant told_;
  bool is_full_ = false;            // the last logs that came found no space
  std::uint64_t full_episode_ = 0;  // the number of the present time without space
  // The number of the time without space for each part whose owner has reached a quota.
  std::map<PartKey, std::uint64_t> over_quota_;
  std::uint64_t episodes_ = 0;  // the number of such times so far
};

}  // namespace lockstep::launcher
