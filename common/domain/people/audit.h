#pragma once
// Entries of the launcher's audit log, as plain values: who requested what on which object, and the
// outcome. An entry never holds values of variables or secrets. launcher/audit stores the log and
// chains its entries.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/time.h"

namespace lockstep {

enum class AuditOutcome {
  done,     // it changed something, or there was nothing left to change
  refused,  // it changed nothing; `detail` says why
  read,     // somebody read an object of another user
  note,     // a remark about the log itself, or something that the launcher noticed
};
std::string_view to_string(AuditOutcome outcome);

struct AuditEntry {
  std::uint64_t number = 0;  // 1, 2, … without gaps
  Instant at;
  std::string who;      // "alice", "alice (attempt train.1)", "node gpu-1", "lockstepd"
  std::string key;      // the requester's, as in key_word.h; "": none
  std::string address;  // "": unknown
  std::string what;     // "cancel job"
  std::string object;   // "job train"
  AuditOutcome outcome = AuditOutcome::note;
  std::string detail;
  std::string project = {};  // that the object belongs to; "": none, or an entry of before
  friend bool operator==(const AuditEntry&, const AuditEntry&) = default;
};

// The number and the digest of an entry. Somebody who keeps a mark outside the log can check later
// whether the log still has that entry.
struct AuditMark {
  std::uint64_t number = 0;
  std::string digest;  // 64 hexadecimal digits
  friend bool operator==(const AuditMark&, const AuditMark&) = default;
};

// ---- requests ----------------------------------------------------------------------------------

struct QueryAudit {          // answered by AuditReply, a page at a time, the newest page first
  Instant since;             // only entries from this time on
  std::string user, node;    // only entries by or about it; "": all
  std::uint64_t before = 0;  // only entries before this number; 0: up to the newest
  std::uint32_t limit = 0;   // 0: as many as one reply holds
  std::string verb = {};     // "cancel job", "cancel"; "": all. See has_verb()
  std::string object = {};   // "job train", "train"; "": all. See has_object()
  std::string project = {};  // only entries about what belongs to it
  friend bool operator==(const QueryAudit&, const QueryAudit&) = default;
};
struct VerifyAudit {  // answered by AuditVerified
  AuditMark mark;     // the log must have this entry; number 0: no such check
  friend bool operator==(const VerifyAudit&, const VerifyAudit&) = default;
};

// ---- replies -----------------------------------------------------------------------------------

struct AuditReply {
  std::vector<AuditEntry> entries;  // oldest first
  std::uint64_t before = 0;         // QueryAudit::before for the next page; 0: this is the last
  friend bool operator==(const AuditReply&, const AuditReply&) = default;
};
struct AuditVerified {
  std::uint64_t entries = 0, first = 0;  // how many were checked, and the number of the first
  AuditMark last;
  std::string problem;             // the first one: file, line and what is wrong; "": none
  std::vector<std::string> notes;  // harmless remarks
  friend bool operator==(const AuditVerified&, const AuditVerified&) = default;
};

// Whether all words of `verb` are in what was asked for, in any order: "cancel", "job cancel".
bool has_verb(const AuditEntry& entry, std::string_view verb);
// Whether one of the entry's objects is called so, with its kind or without, and of an environment
// or an asset also without the version: "job train", "train", "data faces".
bool has_object(const AuditEntry& entry, std::string_view object);

inline constexpr std::size_t kMaxAuditEntriesInReply = 1'000;

}  // namespace lockstep
