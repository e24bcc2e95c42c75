#pragma once
// An audit log in memory, which keeps every entry. It answers at once, and pages without filters.

#include <algorithm>
#include <vector>

#include "launcher/api/ports/audit_trail.h"
#include "launcher/api/ports/clock_and_random.h"

namespace lockstep::test {

class FakeAuditTrail final : public launcher::AuditTrail {
 public:
  explicit FakeAuditTrail(launcher::ClockAndRandom& clock) : clock_(clock) {}

  void record(AuditEntry entry) override {
    entry.number = ++last_;
    entry.at = clock_.now();
    entries.push_back(std::move(entry));
  }
  std::string is_stuck() const override { return stuck; }
  void query(const QueryAudit& query, std::function<void(ClientReply)> then) override {
    const std::size_t most = query.limit == 0 ? kMaxAuditEntriesInReply : query.limit;
    AuditReply reply;
    for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry) {
      if (query.before != 0 && entry->number >= query.before) continue;
      if (reply.entries.size() == most) {
        reply.before = reply.entries.back().number;
        break;
      }
      reply.entries.push_back(*entry);
    }
    std::reverse(reply.entries.begin(), reply.entries.end());
    then(std::move(reply));
  }
  void verify(const VerifyAudit&, std::function<void(ClientReply)> then) override {
    AuditVerified verified;
    verified.entries = entries.size();
    verified.first = entries.empty() ? 0 : entries.front().number;
    verified.last.number = last_;
    then(std::move(verified));
  }

  std::vector<AuditEntry> entries;  // a test may clear them
  std::string stuck;

 private:
  launcher::ClockAndRandom& clock_;
  std::uint64_t last_ = 0;
};

}  // namespace lockstep::test
