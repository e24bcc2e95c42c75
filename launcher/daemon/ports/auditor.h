#pragma once
// The audit log of a running launcher. Servers record entries here. It limits those that anybody
// can cause at will (refusals, repeated reads), writes all to the file before any answer leaves,
// and lets a worker make them durable a moment later. It also answers admins' queries of the log.
// It never decides who may do something.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "common/base/rate_limit.h"
#include "common/domain/messages/client_protocol.h"
#include "common/io/event_loop.h"
#include "launcher/api/ports/audit_trail.h"
#include "launcher/audit/log.h"
#include "launcher/core/base/action.h"
#include "launcher/daemon/work/worker.h"
#include "launcher/state/people/principals.h"

namespace lockstep::launcher {

class Auditor final : public AuditTrail {
 public:
  // `now`: real time, from the core's clock.
  Auditor(io::EventLoop& loop, AuditLog log, std::function<Instant()> now);

  // Refusals are limited for each source: those beyond are counted, and the count is written.
  // A repeated read by the same key is written once a minute.
  void record(AuditEntry entry) override;
  // Counts a refusal that gets no entry of its own.
  void left_out(const std::string& source);
  // Records the keys that a change of keys/authorized_users added and removed.
  void record_keys(const std::map<PublicKey, std::string>& before,
                   const std::map<PublicKey, std::string>& after);

  // Called before answers leave: writes all entries to the file. Those that find no space wait in
  // memory, and an error is logged.
  void write();
  // Called at the end of each turn: writes, and starts a sync when one is due.
  void turn_end();
  Duration wait() const;  // time until turn_end() has something to do
  // The entries that wait in memory for disk space have reached their limit.
  std::string is_stuck() const override;

  void query(const QueryAudit& query, std::function<void(ClientReply)> then) override;
  void verify(const VerifyAudit& ask, std::function<void(ClientReply)> then) override;

  // Records that a retention limit deleted the job.
  void perform(const ForgetJob& action);

 private:
  // How many refusals are recorded: the fewest of one key, more of one network address, the most of
  // all together, so that one address cannot use up the total.
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
  std::map<std::string, std::uint64_t> left_out_;  // refusals not written, by source
  std::uint64_t left_out_of_others_ = 0;           // entries of sources that are not in left_out_
  Instant left_out_since_, tell_at_ = Instant::never();
  using Read = std::tuple<std::string, std::string, std::string>;  // key, what, object
  std::map<Read, Instant> reads_;
  std::map<std::string, std::string> words_;  // key_word() of keys: a cache, as it is expensive
  bool is_failing_ = false;                   // the last write failed
  Instant sync_at_, retry_at_;
  bool is_syncing_ = false;
  AuditMark synced_;  // the newest entry that is synced or being synced
  int answering_ = 0;
  Worker reader_;
  Worker syncer_;  // last member, so that it is destroyed first
};

}  // namespace lockstep::launcher
