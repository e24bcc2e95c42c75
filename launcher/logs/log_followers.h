#pragma once
// The reading side of the logs: clients that follow a job's ranks and environments. For each
// follower it keeps only a credit of chunks and positions in files, so a client that never reads
// costs no more than its credit. It sends written bytes at once, durable or not. A client that
// follows again names the offsets at which to continue.

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>

#include "common/base/result.h"
#include "common/domain/messages/bulk_protocol.h"
#include "launcher/logs/log_directory.h"
#include "launcher/logs/log_store.h"
#include "launcher/logs/pending_logs.h"

namespace lockstep::launcher {

inline constexpr std::size_t kMaxFollowers = 4'000;
inline constexpr std::size_t kMaxFollowersPerUser = 1'000;
inline constexpr std::uint32_t kMaxFollowCredit = 256;
inline constexpr std::size_t kFollowChunkBytes = 64u << 10;

class LogFollowers {
 public:
  // Sends to a peer. False: the peer is gone or its queue is full; its follow is then dropped.
  using Send = std::function<bool(const std::string& peer, std::uint64_t reply_to, BulkMessage)>;
  LogFollowers(LogStore& store, const LogDirectory& directory, Send send);

  // Begins, or replaces, the peer's follow. Returns not_found if the job does not exist, and
  // resource_exhausted if the peer has too many.
  Status follow(const std::string& peer, std::uint64_t sequence, const LogFollow& request,
                const std::string& user = "");
  void credit(const std::string& peer, std::uint32_t chunks);
  void end(const std::string& peer);  // ends the follow of a peer that may no longer follow
  void drop_gone(const std::function<bool(const std::string& peer)>& is_gone);
  std::optional<JobId> followed_by(const std::string& peer) const;

  void grew(const LogKey& key);        // tells that a log got longer
  void job_changed(const JobId& job);  // tells that a job is perhaps final now
  std::size_t count() const { return followers_.size(); }

 private:
  struct Follower {
    LogFollow filter;
    std::string user;
    std::uint64_t sequence = 0;
    std::uint32_t first_attempt = 1, last_attempt = UINT32_MAX;
    std::uint32_t credit = 0;
    std::map<LogKey, std::uint64_t> positions;
    PendingLogs pending;
    LogKey last_sent;
  };
  bool wants(const Follower& follower, const LogKey& key) const;
  Status start(Follower& follower);
  Status start_attempt(Follower& follower, const AttemptId& attempt);
  Result<std::uint64_t> begin_of(const LogFollow& filter, const LogKey& key);
  void wait(Follower& follower, const LogKey& key);
  // Sends chunks. False: the follow is over.
  bool pump(const std::string& peer, Follower& follower);
  bool send_next(const std::string& peer, Follower& follower);
  bool send_end(const std::string& peer, const Follower& follower);
  void drop_if_over(const std::string& peer);
  void forget(std::map<std::string, Follower>::iterator follower);

  LogStore& store_;
  const LogDirectory& directory_;
  Send send_;
  std::map<std::string, Follower> followers_;
  std::map<std::string, std::size_t> of_user_;
  std::map<JobId, std::set<std::string>> by_job_;
};

}  // namespace lockstep::launcher
