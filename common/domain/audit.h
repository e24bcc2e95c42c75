#pragma once
// The launcher's audit log as plain values: who asked for what, over which object, and what came of
// it. Values of variables and secrets are never in it. How it is stored and chained is in
// launcher/audit.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/time.h"

namespace lockstep {

enum class AuditOutcome {
  done,     // it changed something, or nothing had to change
  refused,  // it did not; `detail` says why
  read,     // somebody read data that belongs to another user
  note,     // of the log about itself
};
std::string_view to_string(AuditOutcome outcome);

struct AuditEntry {
  std::uint64_t number = 0;  // 1, 2, … without gaps
  Instant at;
  std::string who;      // "alice", "node gpu-1", "lockstepd"
  std::string key;      // that signed it, as one word; "": none did
  std::string address;  // "": not known
  std::string what;     // "cancel job"
  std::string object;   // "job train"
  AuditOutcome outcome = AuditOutcome::note;
  std::string detail;
  friend bool operator==(const AuditEntry&, const AuditEntry&) = default;
};

// The number and the digest of an entry. Whoever keeps one elsewhere can tell later whether the log
// still has it.
struct AuditMark {
  std::uint64_t number = 0;
  std::string digest;  // 64 hexadecimal digits
  friend bool operator==(const AuditMark&, const AuditMark&) = default;
};

// ---- requests ----------------------------------------------------------------------------------

struct QueryAudit {          // answered by AuditReply, a page at a time, from the newest on
  Instant since;             // those at this time or later
  std::string user, node;    // "": all; else what they did, and what was done to them
  std::uint64_t before = 0;  // goes on with those before this number; 0: the newest
  std::uint32_t limit = 0;   // 0: as many as one reply holds
  friend bool operator==(const QueryAudit&, const QueryAudit&) = default;
};
struct VerifyAudit {  // answered by AuditVerified
  AuditMark mark;     // that the log shall have; number 0: none
  friend bool operator==(const VerifyAudit&, const VerifyAudit&) = default;
};

// ---- replies -----------------------------------------------------------------------------------

struct AuditReply {
  std::vector<AuditEntry> entries;  // oldest first
  std::uint64_t before = 0;         // ask for those before this one next; 0: there are none
  friend bool operator==(const AuditReply&, const AuditReply&) = default;
};
struct AuditVerified {
  std::uint64_t entries = 0, first = 0;  // how many were looked at, and the number of the first
  AuditMark last;
  std::string problem;             // file, line and what is wrong there, of the first; "": none
  std::vector<std::string> notes;  // nothing to worry about
  friend bool operator==(const AuditVerified&, const AuditVerified&) = default;
};

inline constexpr std::size_t kMaxAuditEntriesInReply = 1'000;

}  // namespace lockstep
