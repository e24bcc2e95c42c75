#pragma once
// Keeps one attempt from filling the disk of this node: measures the folders of running attempts,
// and the removed files that their processes hold open, and chooses the attempt that must end.
// Attempts with a disk limit are measured all the time, the others only while the disk is nearly
// full. A measurement walks all files, so pauses keep it to a twentieth of the time. Logs are not
// counted: they have their own limit, and ranks wait while the disk is too full for them.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "agent/supervise/agent_home.h"
#include "agent/supervise/workers.h"
#include "common/domain/ranks/limits.h"
#include "common/domain/why/why.h"
#include "common/io/clock.h"
#include "common/io/event_loop.h"
#include "common/io/files/disk_space.h"

namespace lockstep::agent {

struct AttemptDisk {
  AttemptId attempt;
  Bytes used;
  Bytes limit;         // 0 = none
  Bytes removed = {};  // the part of `used` in files without a name that are still open
};

struct MustEnd {
  AttemptId attempt;
  Why why;
};

// Returns an attempt over its limit. If none is, and less than a quarter of `low` is free, returns
// the attempt with the most data, provided that removing it makes enough space. Otherwise other
// programs filled the disk, and no attempt has to end.
std::optional<MustEnd> who_must_end(const std::vector<AttemptDisk>& attempts,
                                    const io::DiskSpace& space, Bytes low);

class DiskWatch {
 public:
  struct Events {
    std::function<bool(const AttemptId&)> is_running;  // whether the attempt's runner is alive
    std::function<void(const MustEnd&)> end;
  };
  // `low`: AgentConfig::low_space; 0 = io::default_low_space.
  DiskWatch(io::EventLoop& loop, io::Clock& clock, Workers& workers, AgentHome home, Bytes low,
            Bytes cap, Events events);
  ~DiskWatch();
  DiskWatch(const DiskWatch&) = delete;
  DiskWatch& operator=(const DiskWatch&) = delete;

  void watch(const AttemptId& attempt, const LimitRequest& asked);
  void forget(const AttemptId& attempt);

  Instant next_deadline() const { return limits_.empty() ? Instant::never() : look_at_; }
  void tick(Instant now);

 private:
  std::vector<AttemptDisk> to_measure(bool all) const;
  void measured(const std::vector<AttemptDisk>& attempts, Instant began);

  io::EventLoop& loop_;
  io::Clock& clock_;
  Workers& workers_;
  const AgentHome home_;
  const Bytes low_, cap_;
  const Events events_;
  std::map<AttemptId, Bytes> limits_;
  std::set<AttemptId> ended_;  // attempts whose space is freed only when they are removed
  Instant look_at_;
  Instant measure_at_;     // do not measure earlier; never() while a worker measures
  Instant limits_due_at_;  // the next measurement of attempts with a limit
  // set to false so that late worker results are dropped
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace lockstep::agent
