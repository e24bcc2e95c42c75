#pragma once
// The audit log of a running launcher: collects entries from the servers, limits those that anybody
// can cause (refusals, repeated reads), writes them to the file before any answer is sent, and has
// a worker sync them shortly after. It answers admins' queries, and never decides who may do
// something.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "common/domain/client_messages.h"
#include "common/io/event_loop.h"
#include "launcher/audit/log.h"
#include "launcher/core/principals.h"
#include "launcher/daemon/rate_limit.h"
#include "launcher/daemon/worker.h"

namespace lockstep::launcher {

class Auditor {
 public:
  // `now`: real time, as the core counts it.
  Auditor(io::EventLoop& loop, AuditLog log, std::function<Instant()> now);

  // An entry with who, what, object and outcome, and the key as it is on the wire. Refusals are
  // limited per source; those beyond the limit are counted, and the count is logged. A repeated
  // read by the same key is logged once a minute.
  void record(AuditEntry entry);
  // A refusal of a request that was not even examined.
  void left_out(const std::string& source);
  // Records the changes of keys/authorized_users.
  void record_keys(const std::map<PublicKey, std::string>& before,
                   const std::map<PublicKey, std::string>& after);

  // Before answers leave: everything that was noted is in the file, or waits for space and is said.
  void write();
  // The end of a turn.
  void turn_end();
  Duration wait() const;  // until turn_end() has something to do
  // Why no change is allowed now: the entries that wait for disk space have reached their limit in
  // memory. "": changes are allowed.
  std::string is_stuck() const;

  void query(const QueryAudit& query, std::function<void(ClientReply)> then);
  void verify(const VerifyAudit& ask, std::function<void(ClientReply)> then);

 private:
  // Little for one key, more for an address, and that is little of what all may.
  struct Limits {
    RateLimit<std::string> of_key{{50, 0.2}};
    RateLimit<std::string> of_address{{200, 1}};
    RateLimit<int> of_all{{1'000, 5}};
  };
  std::string word_of(const std::string& key);
  bool may_refuse(const AuditEntry& entry);
  bool is_repeated(const AuditEntry& entry);
  void add(AuditEntry entry);
  void tell_left_out();
  void sync();
  void answer(std::function<ClientReply()> work, std::function<void(ClientReply)> then);

  io::EventLoop& loop_;
  AuditLog log_;
  std::function<Instant()> now_;
  Limits limits_;
  std::map<std::string, std::uint64_t> left_out_;  // by source
  std::uint64_t left_out_of_others_ = 0;           // beyond the sources that are remembered
  Instant left_out_since_, tell_at_ = Instant::never();
  using Read = std::tuple<std::string, std::string, std::string>;  // key, what, object
  std::map<Read, Instant> reads_;
  std::map<std::string, std::string> words_;  // of keys: making one costs as much as all else
  bool is_failing_ = false;                   // the last write did
  Instant sync_at_, retry_at_;
  bool is_syncing_ = false;
  AuditMark synced_;  // or being synced
  int answering_ = 0;
  Worker reader_;
  Worker syncer_;  // last: it ends first
};

}  // namespace lockstep::launcher
